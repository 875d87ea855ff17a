"""The classifiers for Dask collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import gkm
from ..gkm.anchored import anchored_model
from ..kernels import Kernel
from ..machines.namespaces import own_names
from .base import Distributed


class DistributedClassifier(Distributed, ClassifierMixin, BaseEstimator):
    """What classifiers share."""

    def predict_proba(self, X: Any) -> Any:
        """Return estimates of the classes' probabilities, lazily, of shape (n, n_classes).

        For a frame it is a frame, whose columns are the classes.
        """
        return self._answer(X, "predict_proba", self._class_names(), np.dtype(np.float64))

    def decision_function(self, X: Any) -> Any:
        """Return a score per class, lazily; for two classes their difference, of shape (n,)."""
        names = self._class_names()
        return self._answer(
            X, "decision_function", None if len(names) == 2 else names, np.dtype(np.float64)
        )

    def _class_names(self) -> list[Any]:
        check_is_fitted(self, "estimator_")
        return list(self.classes_.tolist())


@own_names
class GraphCorrectedClassifier(DistributedClassifier):
    """A classifier corrected over a graph of all rows, which lie in the partitions of a cluster.

    As `graphkm.GraphCorrectedClassifier` with ``graph=Anchors(n_anchors, passes)``, and with the
    same result up to rounding, whatever the partitions and the workers are. One worker fits the
    classifier to the labelled rows. The field lives on anchors, means of rows, which passes over
    all partitions find. How strong it is, and whether there is one at all, is chosen on held-out
    labels.

    Parameters
    ----------
    estimator : classifier, optional
        Anything with `predict_proba` or `decision_function`. None is
        `graphkm.machines.KernelRidgeClassifierCV`, the library's own machine.
    n_anchors : int or "auto", default="auto"
        Nodes of the field. "auto" is a third of the rows, 20,000 at most.
    passes : int, default=2
        How often anchors move to the means of the rows nearest to them. Each is a pass over all
        rows. One more pass joins the anchors, and one finds the labels.
    Cs, epsilons, degree, cv, scoring, unlabeled
        As in `graphkm.GraphCorrectedClassifier`.
    label_memory : int or str, default="2 GiB"
        How much memory the labelled rows may take on one worker. With more there is an error.
    random_state : int, RandomState or None, default=None
        Decides the anchors, the folds, and the own machine's draws.

    Attributes
    ----------
    estimator_, field_, estimator_weight_, unlabeled_gain_, best_score_, best_params_
        As in `graphkm.GraphCorrectedClassifier`.
    best_index_, cv_results_, held_out_by_, n_held_out_
        As in `graphkm.GraphCorrectedClassifier`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm.dask import GraphCorrectedClassifier
    >>> X, truth = make_moons(400, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(400) < 20, truth, -1)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = GraphCorrectedClassifier(n_anchors=60, random_state=0).fit(rows, labels)
    >>> answers = model.predict(rows)
    >>> answers.chunks
    ((100, 100, 100, 100),)
    >>> print(f"{(answers == truth).mean().compute():.2f}")
    0.99
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_anchors: int | str = "auto",
        passes: int = 2,
        Cs: Sequence[float] | None = None,
        epsilons: Sequence[float] | None = None,
        degree: int = 1,
        cv: Any = None,
        scoring: Any = None,
        unlabeled: Any = -1,
        label_memory: int | str = "2 GiB",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_anchors = n_anchors
        self.passes = passes
        self.Cs = Cs
        self.epsilons = epsilons
        self.degree = degree
        self.cv = cv
        self.scoring = scoring
        self.unlabeled = unlabeled
        self.label_memory = label_memory
        self.random_state = random_state

    def local_models(self) -> list[Any]:
        """Return the local estimator with the same parameters, unfitted."""
        return [gkm.GraphCorrectedClassifier(self.estimator, **self._corrected_parameters())]


@own_names
class GKMClassifier(DistributedClassifier):
    """A kernel machine on the labels, and a field over all rows, which lie in partitions.

    As `graphkm.GKMClassifier` with ``graph=Anchors(n_anchors, passes)``, and with the same result
    up to rounding. Its parameters, the strength of the field, and whether there is one at all are
    chosen on held-out labels. `to_local` returns a `graphkm.GraphCorrectedClassifier`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `graphkm.GKMClassifier`.
    gamma : float or None, default=None
        The kernel's gamma; None lets leave-one-out find one.
    n_landmarks : int or "auto", default="auto"
        Labelled rows that the machine is made of; "auto" is all up to 8,000, and 2,000 beyond.
    class_weight : dict, "balanced" or None, default=None
        Factors of the labels' weights in the kernel machine. A class of weight 0 counts for
        nothing: it is none of `classes_`.
    n_anchors, passes, scoring, unlabeled, label_memory, random_state
        As in `GraphCorrectedClassifier`.

    Attributes
    ----------
    estimator_, field_, estimator_weight_, unlabeled_gain_, best_score_, best_params_
        As in `GraphCorrectedClassifier`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm.dask import GKMClassifier
    >>> X, truth = make_moons(400, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(400) < 20, truth, -1)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = GKMClassifier(n_anchors=60, random_state=0).fit(rows, labels)
    >>> print(f"{model.to_local().score(X, truth):.2f}")
    0.99
    """

    def __init__(
        self,
        *,
        kernel: str | Kernel | Any = "rbf",
        gamma: float | None = None,
        n_landmarks: int | str = "auto",
        class_weight: dict[Any, float] | str | None = None,
        n_anchors: int | str = "auto",
        passes: int = 2,
        scoring: Any = None,
        unlabeled: Any = -1,
        label_memory: int | str = "2 GiB",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.class_weight = class_weight
        self.n_anchors = n_anchors
        self.passes = passes
        self.scoring = scoring
        self.unlabeled = unlabeled
        self.label_memory = label_memory
        self.random_state = random_state

    def local_models(self) -> list[Any]:
        """Return the local estimator with the same parameters, unfitted."""
        model = anchored_model(
            True,
            kernel=self.kernel,
            gamma=self.gamma,
            n_landmarks=self.n_landmarks,
            class_weight=self.class_weight,
            **self._field_parameters(),
        )
        return [model]

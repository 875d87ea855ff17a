"""The estimators for Dask collections."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from dask.utils import parse_bytes
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from .. import gkm
from ..graphs import Anchors
from ..kernels import Kernel
from ..machines import KernelRidgeClassifierCV, KernelRidgeCV
from .answers import SharedModel, with_given
from .collections import Partitioned, are_rows
from .passes import Passes
from .runner import Runner
from .tasks import add_moments, score_part

_FITTED = (
    *("estimator_", "field_", "estimator_weight_", "unlabeled_gain_", "best_score_"),
    *("best_params_", "best_index_", "cv_results_", "held_out_by_", "n_held_out_"),
    *("classes_", "n_features_in_", "feature_names_in_"),
)


class Distributed(ABC):
    """What all of them share: the fit by passes over partitions, and lazy answers."""

    n_anchors: int | str
    passes: int
    unlabeled: Any
    label_memory: int | str
    random_state: Any
    classes_: NDArray[Any]

    @abstractmethod
    def _local(self) -> Any:
        """Return the local estimator with the same parameters, unfitted."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator to the labelled rows, and its errors as a field on the anchors.

        This is not lazy: it runs on the cluster of the default client, or in this process if there
        is none. Rows that are no Dask collection go to the local estimator.

        Parameters
        ----------
        X : Dask array or frame of shape (n_samples, n_features)
            All rows, numbers in every place. Lengths of partitions need not be known. Every pass
            reads them again; persist them first if they fit in the workers' memory.
        y : Dask array or series of shape (n_samples,)
            Labels or targets; `unlabeled`, NaN, None or NA where unknown. It may have other
            partitions than X.
        sample_weight : Dask array or series of shape (n_samples,), optional
            Weights of the labelled rows. A row of weight 0 counts as unlabelled.

        Returns
        -------
        self
        """
        model, anchors = self._local(), Anchors(self.n_anchors, self.passes)
        label_memory = parse_bytes(self.label_memory)
        if are_rows(X):
            seed, runner = model.checked_seed(), Runner()
            data = Partitioned.of(X, y, sample_weight, runner)
            model = Passes(data, runner).fit(
                model, anchors, seed, label_memory, classes=is_classifier(self)
            )
        else:
            model.fit(X, y, sample_weight)
        self._shared = SharedModel(model)
        for name in _FITTED:
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        return self

    def to_local(self) -> Any:
        """Return the fitted model as an ordinary estimator, which needs no Dask.

        It predicts the same, can be saved, and knows the labelled rows only: these are what its
        `transduction_` is of.
        """
        check_is_fitted(self, "estimator_")
        return self._shared.model

    def predict(self, X: Any) -> Any:
        """Return the label or the target of every row of X.

        The answer for a Dask array is a lazy array, and for a frame a lazy series with its index.
        Both have the partitions of X.
        """
        kind = self.classes_.dtype if is_classifier(self) else np.dtype(np.float64)
        return self._answer(X, "predict", None, kind)

    def transduction(self, X: Any, y: Any) -> Any:
        """Return the label or the target of every row of X; those given in y are kept.

        Parameters
        ----------
        X : Dask array or frame
            The rows.
        y : Dask array or series
            Their labels, with the partitions of X.

        Returns
        -------
        Dask array or series
        """
        answers = self.predict(X)
        if not are_rows(X):
            raise ValueError("X is no Dask collection; to_local().predict(X) says what it holds.")
        return with_given(answers, y, self.unlabeled, is_classifier(self))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or R^2 of a regressor, on the labelled rows of (X, y).

        This is not lazy. Rows that are no Dask collection go to the local estimator.
        """
        check_is_fitted(self, "estimator_")
        if not are_rows(X):
            return float(self._shared.model.score(X, y, sample_weight))
        classes, runner = is_classifier(self), Runner()
        data = Partitioned.of(X, y, sample_weight, runner)
        weights: list[Any] = data.weights or [None] * len(data.rows)
        about = (self._shared.task(), self.unlabeled, classes)
        parts = [
            runner.task("score-rows", score_part, *each, *about)
            for each in zip(data.rows, data.labels, weights, strict=True)
        ]
        (found,) = runner.bring([runner.tree("add-scores", add_moments, parts)])
        if not found.weight:
            raise ValueError("None of the rows to score is labelled; pass some with a label.")
        return 1.0 - found.lost / (found.weight if classes else found.squares)

    def _answer(self, X: Any, method: str, columns: Any, kind: Any) -> Any:
        check_is_fitted(self, "estimator_")
        if are_rows(X):
            return self._shared.answer(X, method, columns, kind)
        return getattr(self._shared.model, method)(X)


class _Classifier(Distributed, ClassifierMixin, BaseEstimator):
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


class GraphCorrectedClassifier(_Classifier):
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
    >>> from sklearn.datasets import make_moons
    >>> from graphkm.dask import GraphCorrectedClassifier
    >>> X, truth = make_moons(400, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(400) < 20, truth, -1)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = GraphCorrectedClassifier(n_anchors=60, random_state=0).fit(rows, labels)
    >>> answers = model.predict(rows)
    >>> answers.chunks
    ((100, 100, 100, 100),)
    >>> bool((answers == truth).mean().compute() > 0.9)
    True
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

    def _local(self) -> Any:
        return gkm.GraphCorrectedClassifier(self.estimator, **_corrected(self))


class GKMClassifier(_Classifier):
    """A kernel machine on the labels, and a field over all rows, which lie in partitions.

    As `graphkm.GKMClassifier` with ``solver="field"``, on anchors instead of all rows. Its
    parameters, the strength of the field, and whether there is one at all are chosen on held-out
    labels. `to_local` returns a `graphkm.GraphCorrectedClassifier`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `graphkm.GKMClassifier`.
    gamma : float or None, default=None
        The kernel's gamma; None lets leave-one-out find one.
    n_landmarks : int or "auto", default="auto"
        Labelled rows that the machine is made of; "auto" is all up to 8,000, and 2,000 beyond.
    class_weight : dict, "balanced" or None, default=None
        Factors of the labels' weights in the kernel machine.
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
    >>> from sklearn.datasets import make_moons
    >>> from graphkm.dask import GKMClassifier
    >>> X, truth = make_moons(400, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(400) < 20, truth, -1)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = GKMClassifier(n_anchors=60, random_state=0).fit(rows, labels)
    >>> bool(model.to_local().score(X, truth) > 0.9)
    True
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

    def _local(self) -> Any:
        machine = KernelRidgeClassifierCV(
            None if self.gamma is None else [self.gamma],
            kernel=self.kernel,
            n_landmarks=self.n_landmarks,
            class_weight=self.class_weight,
            random_state=self.random_state,
            n_jobs=1,
        )
        return gkm.GraphCorrectedClassifier(machine, **_field(self))


class GraphCorrectedRegressor(Distributed, RegressorMixin, BaseEstimator):
    """A regressor corrected over a graph of all rows, which lie in the partitions of a cluster.

    As `GraphCorrectedClassifier`, for quantities.

    Parameters
    ----------
    estimator : regressor, optional
        Any regressor. None is `graphkm.machines.KernelRidgeCV`, the library's own machine.
    n_anchors, passes, label_memory, random_state
        As in `GraphCorrectedClassifier`.
    Cs, epsilons, degree, cv, scoring, unlabeled
        As in `graphkm.GraphCorrectedRegressor`.

    Attributes
    ----------
    estimator_, field_, estimator_weight_, unlabeled_gain_, best_score_, best_params_
        As in `graphkm.GraphCorrectedRegressor`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import dask.array as da
    >>> from graphkm.dask import GraphCorrectedRegressor
    >>> t = np.linspace(0, 6, 300)
    >>> X = da.from_array(np.column_stack([np.cos(t), np.sin(t), t / 6]), chunks=(100, 3))
    >>> y = da.from_array(np.where(np.arange(300) % 10 == 0, t, np.nan), chunks=100)
    >>> model = GraphCorrectedRegressor(random_state=0).fit(X, y)
    >>> bool(abs(model.predict(X) - t).max().compute() < 0.3)
    True
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
        unlabeled: Any = None,
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

    def _local(self) -> Any:
        return gkm.GraphCorrectedRegressor(self.estimator, **_corrected(self))


class GKMRegressor(Distributed, RegressorMixin, BaseEstimator):
    """A kernel machine on the targets, and a field over all rows, which lie in partitions.

    Its parameters, the strength of the field, and whether there is one at all are chosen on
    held-out targets. `to_local` returns a `graphkm.GraphCorrectedRegressor`.

    Parameters
    ----------
    kernel, gamma, n_landmarks
        As in `GKMClassifier`.
    n_anchors, passes, scoring, label_memory, random_state
        As in `GraphCorrectedRegressor`.
    unlabeled : default=None
        As in `graphkm.GraphCorrectedRegressor`.

    Attributes
    ----------
    estimator_, field_, estimator_weight_, unlabeled_gain_, best_score_, best_params_
        As in `GraphCorrectedRegressor`.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    def __init__(
        self,
        *,
        kernel: str | Kernel | Any = "rbf",
        gamma: float | None = None,
        n_landmarks: int | str = "auto",
        n_anchors: int | str = "auto",
        passes: int = 2,
        scoring: Any = None,
        unlabeled: Any = None,
        label_memory: int | str = "2 GiB",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.n_anchors = n_anchors
        self.passes = passes
        self.scoring = scoring
        self.unlabeled = unlabeled
        self.label_memory = label_memory
        self.random_state = random_state

    def _local(self) -> Any:
        machine = KernelRidgeCV(
            None if self.gamma is None else [self.gamma],
            kernel=self.kernel,
            n_landmarks=self.n_landmarks,
            random_state=self.random_state,
            n_jobs=1,
        )
        return gkm.GraphCorrectedRegressor(machine, **_field(self))


def _field(model: Any) -> dict[str, Any]:
    """Return the parameters of a local model that say what its field is like.

    A task has one thread; Dask has many tasks.
    """
    return {
        "graph": Anchors(model.n_anchors, model.passes),
        "scoring": model.scoring,
        "unlabeled": model.unlabeled,
        "random_state": model.random_state,
        "n_jobs": 1,
    }


def _corrected(model: Any) -> dict[str, Any]:
    """Return the parameters that corrected models have beside the estimator."""
    names = ("Cs", "epsilons", "degree", "cv")
    return _field(model) | {name: getattr(model, name) for name in names}

"""The front door for classes, for Dask collections."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .. import semi
from ..estimators.array_kinds import own_names
from ..estimators.nested_parameters import Composed
from .base import Distributed


@own_names
class SemiSupervisedClassifier(Distributed, ClassifierMixin, Composed):
    """A classifier that learns from few labels and many unlabelled rows, which lie in partitions.

    It gives the result of `graphkm.SemiSupervisedClassifier` with ``graph=Anchors(...)``, up to
    rounding, whatever the partitions and the workers are. Passes over all partitions find anchors,
    which are means of rows and the nodes of the graph. Then one worker fits all members to the
    labelled rows, and held-out labels decide how much each counts.

    Parameters
    ----------
    estimator, cv
        As in `graphkm.SemiSupervisedClassifier`. Models that learn from unlabelled rows are
        refused.
    graph : "auto" or Anchors, default="auto"
        "auto" is ``Anchors()``: a third of the rows, 20,000 at most. Each of its ``passes`` is a
        pass over all rows. One more pass joins the anchors, and one finds the labels.
    views : dict, optional
        How encoders see the rows of a frame, as in `graphkm.SemiSupervisedClassifier`: such as
        ``{"vectors": (TextEmbedder(), "review")}``. Texts and images become vectors inside the
        partitions. Encoders that learn from rows must be fitted before.
    class_sizes : "auto", None, "labels" or mapping, default="auto"
        As in `graphkm.SemiSupervisedClassifier`; the anchors stand for the rows.
    targets, thresholds, ordered
        As in `graphkm.SemiSupervisedClassifier`: what y holds, which probabilities are labels where
        a row may have several, and whether classes have an order.
    unlabeled : default=-1
        The mark of unlabelled rows in y. NaN, None and NA always count as unlabelled.
    label_memory : int or str, default="2 GiB"
        How much memory the labelled rows may take on one worker. If they take more, the members
        learn from a random part of them that fits, and a warning tells how many it has.
    random_state : int, RandomState or None, default=None
        Decides the anchors, the folds and all draws. Given models have their own.
    verbose : int, default=0
        Whether bars show how many tasks of every pass are done.

    Attributes
    ----------
    members_, best_score_, unlabeled_gain_, class_sizes_, thresholds_, order_
        As in `graphkm.SemiSupervisedClassifier`.
    transduction_, label_distributions_
        Labels and probabilities of the training rows, after a fit with an affinity alone.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm.dask import SemiSupervisedClassifier
    >>> from graphkm.graphs import Anchors
    >>> X, truth = make_moons(400, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(400) < 20, truth, -1)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = SemiSupervisedClassifier(graph=Anchors(60), random_state=0).fit(rows, labels)
    >>> answers = model.predict(rows)
    >>> answers.chunks
    ((100, 100, 100, 100),)
    >>> print(f"{(answers == truth).mean().compute():.2f}")
    0.99
    """

    def __init__(
        self,
        estimator: Any = "auto",
        *,
        graph: Any = "auto",
        views: Any = None,
        class_sizes: Any = "auto",
        targets: Any = "auto",
        thresholds: Any = None,
        ordered: Any = "auto",
        unlabeled: Any = -1,
        cv: Any = None,
        label_memory: int | str = "2 GiB",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            graph=graph,
            views=views,
            unlabeled=unlabeled,
            cv=cv,
            label_memory=label_memory,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_sizes = class_sizes
        self.targets = targets
        self.thresholds = thresholds
        self.ordered = ordered

    def _local_kind(self) -> Any:
        return partial(
            semi.SemiSupervisedClassifier,
            class_sizes=self.class_sizes,
            targets=self.targets,
            thresholds=self.thresholds,
            ordered=self.ordered,
        )

    def predict_proba(self, X: Any, affinity: Any = None, ids: Any = None) -> Any:
        """Return the probabilities of classes or labels, lazily, of shape (n, n_classes).

        For a frame it is a frame, whose columns are these. Parameters are as of predict.
        """
        kind = np.dtype(np.float64)
        return self._answer(X, "predict_proba", self._class_names(), kind, affinity, ids)

    def decision_function(self, X: Any, affinity: Any = None, ids: Any = None) -> Any:
        """Return a score per class, lazily; for two classes their difference, of shape (n,).

        Several labels have one each, of shape (n, n_labels).
        """
        names, kind = self._class_names(), np.dtype(np.float64)
        columns = None if len(names) == 2 and self._told.kind == "classes" else names
        return self._answer(X, "decision_function", columns, kind, affinity, ids)

    def _class_names(self) -> list[Any]:
        check_is_fitted(self, "members_")
        return list(self.classes_.tolist())

"""What the estimators share: the fit by passes over partitions, and lazy answers."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from dask.base import is_dask_collection
from dask.utils import parse_bytes
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from ..estimators.nested_parameters import Resolver
from ..graphs import Anchors
from ..semi.labelled import HELD
from .answers import SharedModel, with_given
from .collections import Partitioned, are_rows, without_ids
from .edge_fit import EdgeFit
from .edges import affinities_of
from .fusing import fused
from .passes import Passes
from .runner import Runner
from .tasks import Moments, add_moments, score_part
from .told import Told
from .view_fit import ViewFit, ready_views, sample_of_rows

_FITTED = (
    *("members_", "best_score_", "unlabeled_gain_", "class_sizes_", "label_distributions_"),
    *("thresholds_", "order_", "classes_", "n_features_in_", "feature_names_in_"),
    *HELD,
)


class Distributed(ABC):
    """What both estimators share; a subclass makes the local one."""

    classes_: NDArray[Any]

    def __init__(
        self,
        estimator: Any = "auto",
        *,
        graph: Any = "auto",
        views: Any = None,
        unlabeled: Any = -1,
        cv: Any = None,
        label_memory: int | str = "2 GiB",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.graph = graph
        self.views = views
        self.unlabeled = unlabeled
        self.cv = cv
        self.label_memory = label_memory
        self.random_state = random_state
        self.verbose = verbose

    def _resolvers(self) -> Mapping[str, Resolver]:
        return {"graph": _anchors}

    @abstractmethod
    def _local_kind(self) -> Any:
        """Return what makes the local estimator from the parameters that both kinds have."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        affinity: Any = None,
        ids: Any = None,
    ) -> Self:
        """Learn from labelled and unlabelled rows, and from graphs of them, if there are any.

        This is not lazy: it runs on the cluster of the default client, or in this process if there
        is none. Rows that are no Dask collection go to the local estimator.

        Parameters
        ----------
        X : Dask array or frame of shape (n_samples, n_features), or None
            All rows, numbers in every place; with `views`, what encoders take. Lengths of
            partitions need not be known. Every pass reads them again; persist them first if they
            fit in the workers' memory. With an affinity X may be None: the edges alone are learnt
            from.
        y : Dask array, series or frame of shape (n_samples,) or (n_samples, n_columns)
            Labels or targets; `unlabeled`, NaN, None or NA where unknown. A row may have several: a
            column for each label, share or quantity, or a list of names. It may have other
            partitions than X.
        sample_weight : Dask array or series of shape (n_samples,), optional
            Weights of the labelled rows. A label of weight 0 counts for nothing.
        affinity : Dask array or frame of edges, or list or dict of them, optional
            Which rows belong together: pairs of rows, or triples with weights; or a frame of the
            columns source, target and, if you like, weight. They may lie in any partition, count
            as in `graphkm.SemiSupervisedClassifier`, and stay on the workers, sorted by rows.
            This process fits the members, and holds tables of float32 with a line for each row:
            the largest have 2^26 numbers, or one for each row.
        ids : Dask array or series of shape (n_samples,) or str, optional
            What edges call the rows: one id each, or the name of a column of X, which is then no
            feature. Every worker gets all ids. By default edges have the numbers of the rows from
            0 over all partitions of X.

        Returns
        -------
        self
        """
        model, label_memory = self._local(), parse_bytes(self.label_memory)
        model.models_for_nodes()  # raises before rows are read
        affinities = affinities_of(affinity, X)
        if ids is not None and affinity is None:
            raise ValueError("ids name the rows of an affinity; pass both, or none of them.")
        if affinities:
            X, ids = without_ids(X, ids)
        if self.views is not None and affinities:
            raise ValueError("views and an affinity do not go together here; pass one of them.")
        if self._are_rows(X) or affinities:
            model = self._fitted(model, X, y, sample_weight, label_memory, affinities, ids)
        else:
            model.fit(X, y, sample_weight, affinity=affinity, ids=ids)
        self._shared, self._told = SharedModel(model), Told.by(model, y)
        for name in _FITTED:
            self.__dict__.pop(name, None)  # of an earlier fit
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        return self

    def _local(self) -> Any:
        """Return the local estimator, unfitted, with one thread: Dask runs many tasks at once."""
        return self._local_kind()(
            self.estimator,
            graph=_anchors(self.graph),
            views=self.views,
            unlabeled=self.unlabeled,
            cv=self.cv,
            random_state=self.random_state,
            n_jobs=1,
        )

    def _fitted(
        self,
        model: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        label_memory: int,
        affinities: dict[str, Any],
        ids: Any,
    ) -> Any:
        """Return the local estimator, fitted to collections."""
        seed, classes, runner = model.draw_seed(), is_classifier(self), Runner(shown=self.verbose)
        if affinities:
            edges = EdgeFit(model, seed, label_memory, classes, runner)
            fitted = edges.fit(X, y, sample_weight, affinities, ids)
        else:
            data = Partitioned.of(X, y, sample_weight, runner, classes=classes)
            passes: Passes | ViewFit = Passes(data, runner)
            if self.views is not None:
                views = ready_views(self.views, sample_of_rows(data, runner))
                passes = ViewFit(data, views, runner)
            (fitted,) = runner.bring([passes.fit(model, seed, label_memory)])
        for category, message in fitted.warnings:
            warnings.warn(message, category, stacklevel=3)
        return fitted.model

    def _are_rows(self, X: Any) -> bool:
        """Return whether X is a Dask collection; what encoders take need not be numbers."""
        return are_rows(X) if self.views is None else is_dask_collection(X)

    def to_local(self) -> Any:
        """Return the fitted model as an ordinary estimator, which needs no Dask.

        It predicts the same, and can be saved. Only after a fit with an affinity it has
        `transduction_`: otherwise the rows are elsewhere.
        """
        check_is_fitted(self, "members_")
        return self._shared.model

    @property
    def transduction_(self) -> NDArray[Any]:
        """Labels or targets of the training rows after a fit with an affinity, in this process."""
        return np.asarray(self.to_local().transduction_)

    def predict(self, X: Any, affinity: Any = None, ids: Any = None) -> Any:
        """Return the label or the target of every row of X.

        The answer for a Dask array is a lazy array, and for a frame a lazy series with its index;
        several labels or quantities have columns, and those of a frame have names. All have the
        partitions of X, and their rows are told by their features alone. Rows that are no Dask
        collection go to the local estimator, with their edges to known rows and ids.
        """
        check_is_fitted(self, "members_")
        told = self._told
        return self._answer(X, "predict", told.columns, told.dtype, affinity, ids)

    def transduction(self, X: Any, y: Any) -> Any:
        """Return the label or the target of every row of X; those given in y are kept.

        Features alone tell them; after a fit with an affinity `transduction_` has more to say.

        Parameters
        ----------
        X : Dask array or frame
            The rows.
        y : Dask array, series or frame
            Their labels, with the partitions of X. Of several labels or quantities those that are
            known are kept, and of shares the class with more than one half.

        Returns
        -------
        Dask array, series or frame
        """
        answers = self.predict(X)
        if not self._are_rows(X):
            raise ValueError("X is no Dask collection; pass one, or call to_local().predict(X).")
        return with_given(answers, y, self.unlabeled, self._told)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or R^2 of a regressor, on the labelled rows of (X, y).

        A share of a class counts as that much of a label. With several labels it is the share of
        rows of which all labels are right; rows with unknown labels do not count. With several
        quantities it is the mean over the columns. This is not lazy. Rows that are no Dask
        collection go to the local estimator.
        """
        check_is_fitted(self, "members_")
        if not self._are_rows(X):
            return float(self._shared.model.score(X, y, sample_weight))
        classes, runner, told = is_classifier(self), Runner(), self._told
        data = Partitioned.of(X, y, sample_weight, runner, classes=classes)
        told.check(y)
        weights: list[Any] = data.weights or [None] * len(data.rows)
        about = (self._shared.task(), self.unlabeled, told)
        parts = [
            runner.task("score-rows", score_part, *each, *about)
            for each in zip(data.rows, data.labels, weights, strict=True)
        ]
        (found,) = runner.bring([runner.tree("add-scores", add_moments, fused(parts))])
        if not found.weight.any():
            raise ValueError("None of the rows to score is labelled; pass some with a label.")
        return float(1.0 - found.lost[0] / found.weight[0]) if classes else _r2(found)

    def _answer(self, X: Any, method: str, columns: Any, kind: Any, affinity: Any, ids: Any) -> Any:
        check_is_fitted(self, "members_")
        if any(map(is_dask_collection, (affinity, ids))) or (
            self._are_rows(X) and affinity is not None
        ):
            raise ValueError(
                "Rows in partitions are predicted by their features alone; pass new rows, their "
                "edges and ids as arrays or frames of this process, or X without an affinity."
            )
        if self._are_rows(X):
            return self._shared.answer(X, method, columns, kind)
        return getattr(self._shared.model, method)(X, affinity, ids)


def _anchors(graph: Any) -> Anchors:
    """Return the anchors that a graph stands for: no other graph can be made from sums."""
    if isinstance(graph, Anchors):
        return graph
    if isinstance(graph, str) and graph == "auto":
        return Anchors()
    raise ValueError(
        "graph must be 'auto' or Anchors(...): rows in partitions are joined by anchors alone; "
        f"got {graph!r}."
    )


def _r2(found: Moments) -> float:
    """Return R^2 as scikit-learn does: for constant targets 1 if predictions are exact, else 0.

    That of several quantities is the mean over those with two rows or more.
    """
    told = found.n_rows > 1
    if not told.any():
        warnings.warn(
            "R^2 is not defined for one labelled row; pass two or more.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return np.nan
    squares, lost = found.squares[told], found.lost[told]
    share = np.divide(lost, squares, out=(lost > 0).astype(float), where=squares > 0)
    return float(np.mean(1.0 - share))

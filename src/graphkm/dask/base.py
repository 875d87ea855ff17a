"""What the estimators share: the fit by passes over partitions, and lazy answers."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from dask.utils import parse_bytes
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from ..graphs import Anchors
from .answers import SharedModel, with_given
from .collections import Partitioned, are_rows
from .passes import Passes
from .runner import Runner
from .search import Found, Results, results_of
from .tasks import Fitted, Moments, add_moments, score_part

_FITTED = (
    *("estimator_", "field_", "estimator_weight_", "unlabeled_gain_", "best_score_"),
    *("best_params_", "best_index_", "cv_results_", "held_out_by_", "n_held_out_"),
    *("classes_", "n_features_in_", "feature_names_in_"),
)


class Distributed(ABC):
    """What all estimators share; a subclass makes the local one."""

    n_anchors: int | str
    passes: int
    scoring: Any
    unlabeled: Any
    label_memory: int | str
    random_state: Any
    classes_: NDArray[Any]

    @abstractmethod
    def local_models(self) -> list[Any]:
        """Return the local estimators to choose from, unfitted, in order of preference."""

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
            Weights of the labelled rows. A label of weight 0 counts for nothing.

        Returns
        -------
        self
        """
        models, label_memory = self.local_models(), parse_bytes(self.label_memory)
        seed, *_ = [model.checked_seed() for model in models]  # all of them are checked
        if are_rows(X):
            classes, runner = is_classifier(self), Runner()
            passes = Passes(Partitioned.of(X, y, sample_weight, runner, classes=classes), runner)
            fits = passes.fit(models, seed, label_memory, classes=classes)
            results = runner.bring([runner.task("results", results_of, each) for each in fits])
            found = self._choose(results)
            (fitted,) = runner.bring([fits[found.best]])
        else:
            every = [Fitted(model.fit(X, y, sample_weight), []) for model in models]
            found = self._choose([results_of(each) for each in every])
            fitted = every[found.best]
        for category, message in fitted.warnings:
            warnings.warn(message, category, stacklevel=2)
        self._shared = SharedModel(fitted.model)
        own = {name: getattr(fitted.model, name) for name in _FITTED if hasattr(fitted.model, name)}
        for name, value in (own | found.attributes).items():
            setattr(self, name, value)
        return self

    def _choose(self, results: list[Results]) -> Found:
        """Return which of the fitted models to take, and what is to be known of the choice."""
        return Found(0, {})

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
        data = Partitioned.of(X, y, sample_weight, runner, classes=classes)
        weights: list[Any] = data.weights or [None] * len(data.rows)
        about = (self._shared.task(), self.unlabeled, classes)
        parts = [
            runner.task("score-rows", score_part, *each, *about)
            for each in zip(data.rows, data.labels, weights, strict=True)
        ]
        (found,) = runner.bring([runner.tree("add-scores", add_moments, parts)])
        if not found.weight:
            raise ValueError("None of the rows to score is labelled; pass some with a label.")
        return 1.0 - found.lost / found.weight if classes else _r2(found)

    def _field_parameters(self) -> dict[str, Any]:
        """Return the parameters of the local estimator that say what its field is like.

        A task has one thread; Dask has many tasks.
        """
        return {
            "graph": Anchors(self.n_anchors, self.passes),
            "scoring": self.scoring,
            "unlabeled": self.unlabeled,
            "random_state": self.random_state,
            "n_jobs": 1,
        }

    def _corrected_parameters(self) -> dict[str, Any]:
        """Return the parameters of a corrected estimator beside the one inside it."""
        names = ("Cs", "epsilons", "degree", "cv")
        return self._field_parameters() | {name: getattr(self, name) for name in names}

    def _answer(self, X: Any, method: str, columns: Any, kind: Any) -> Any:
        check_is_fitted(self, "estimator_")
        if are_rows(X):
            return self._shared.answer(X, method, columns, kind)
        return getattr(self._shared.model, method)(X)


def _r2(found: Moments) -> float:
    """Return R^2 as scikit-learn defines it: of constant targets it is 1 if they are met, or 0."""
    if found.n_rows < 2:
        warnings.warn(
            "R^2 is not defined for one labelled row; pass two or more.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return np.nan
    if not found.squares:
        return 0.0 if found.lost else 1.0
    return 1.0 - found.lost / found.squares

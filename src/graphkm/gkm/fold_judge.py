"""Judging candidates by fits on folds: slower than the closed form, but for any p and solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor

from .._util.warnings import quiet
from ..estimators.data_checks import GraphWarning
from ..estimators.labels import as_label_array, plain_labels
from ..neighbours.index import Neighbours
from .base import BaseGKM, Problem
from .candidates import Family
from .criterion import Judgement

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Labelled rows whose labels a fit does not see, and the rows on which it is scored."""


class FoldJudge:
    """Judges candidates by fits that do not see the labels of a fold.

    Rows of a fold stay in the data without their labels: every fit sees all rows, and affinities
    and precomputed kernels are used whole. Weights count in fits and scores.

    Parameters
    ----------
    template : BaseGKM
        The estimator, with everything that is not searched.
    problem : Problem
        All of the data.
    splits : iterable of (train, test)
        Rows to train on and rows to test on.
    y, sample_weight
        As they were passed to `fit`.
    neighbours : callable
        Returns the nearest rows of every row, the same for every fold, or None.
    scoring : str, callable or None, default=None
        What is best; None is the estimator's own score.
    """

    def __init__(
        self,
        template: BaseGKM,
        problem: Problem,
        splits: Any,
        y: Any,
        sample_weight: Any,
        neighbours: Callable[[], Neighbours | None],
        scoring: Any = None,
    ) -> None:
        self._scoring, self._scorer = scoring, _scorer(scoring)
        self._template = template
        self._problem = problem
        self._y = as_label_array(y)
        self._weight: NDArray[np.float64] | None = None
        if sample_weight is not None:  # a single number is the weight of all rows
            weight = np.asarray(sample_weight, dtype=np.float64)
            self._weight = np.broadcast_to(weight, problem.labeled.shape)
        self._neighbours = neighbours
        self._splits = self._usable(splits)

    def judge(self, family: Family) -> list[Judgement]:
        """Return every candidate's mean score over the folds."""
        judged = []
        for candidate in family.candidates():
            scores = [self._score(candidate, split) for split in self._splits]
            _require_scores(scores, self._scoring, f"a fold, with {candidate}")
            mean = float(np.mean(scores))
            judged.append(Judgement(-mean, mean))
        return judged

    def _usable(self, splits: Any) -> list[Split]:
        """Return the splits with the rows that can be scored: labelled, with a weight above 0."""
        usable = []
        labeled = np.flatnonzero(self._problem.labeled)
        for train, test in splits:
            test = np.intersect1d(test, labeled)
            if self._weight is not None:
                test = test[self._weight[test] > 0]
            if len(test) == 1 and is_regressor(self._template):
                raise ValueError(
                    f"A fold of the {len(labeled)} known targets holds a single target, and "
                    "R^2 needs two; pass a smaller cv."
                )
            if len(test):
                usable.append((np.setdiff1d(labeled, train), test))
        if not usable:
            raise ValueError(
                "No test fold of cv holds a labelled row of positive weight; label more rows, or "
                "pass another cv or sample_weight."
            )
        return usable

    def _score(self, candidate: dict[str, Any], split: Split) -> float:
        """Score a fit that did not see this fold's labels."""
        hidden, test = split
        X, y = self._problem.X, self._y.astype(object)
        y[hidden] = None
        model: Any = clone(self._template).set_params(**candidate, verbose=0, transduce=False)
        problem = model.encode(X, y, self._weight)._replace(affinity=self._problem.affinity)
        # Hidden labels may cause this warning. The final fit sees all labels and warns if needed.
        with quiet(category=GraphWarning):
            given: dict[str, Any] = {"neighbours": self._neighbours()}
            if self._scorer is None and not is_regressor(model):
                given["calibrate"] = False  # accuracy needs no probabilities
            model.learn(problem, **given)
        weight = None if self._weight is None else self._weight[test]
        if self._scorer is None:
            return float(model.score(X[test], self._y[test], weight))
        known = plain_labels(self._y[test])
        if weight is None:
            return float(self._scorer(model, X[test], known))
        return float(self._scorer(model, X[test], known, sample_weight=weight))


def _scorer(scoring: Any) -> Any:
    """Return what scores a model, or None for its own score."""
    if scoring is None or callable(scoring):
        return scoring
    from sklearn.metrics import get_scorer  # slow to import

    return get_scorer(scoring)


def _require_scores(scores: Any, scoring: Any, where: str) -> None:
    """Raise if a score is NaN, which is neither better nor worse than another."""
    if np.isnan(scores).any():
        raise ValueError(
            f"scoring={scoring!r} gives NaN for the held-out labels of {where}; pass a scoring "
            "that is defined there, or a cv with larger folds."
        )

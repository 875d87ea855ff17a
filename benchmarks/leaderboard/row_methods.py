"""Usual models of the labelled rows alone, from scikit-learn.

logistic  logistic regression, with columns of unit spread or as they are: 2 x 4 costs
forest    a random forest of 100 trees: 4 candidates
boosting  histogram gradient boosting: 4 candidates; rows become dense

Where columns x scores of a model (one for two classes) are more than 2,000, logistic regression
chooses among the costs for columns as they are, and boosting takes its first candidate: all of
them would take minutes there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .problem import Problem
from .tuning import Answer, Parameters, best, grid

LOGISTIC_GRID = grid(scaled=(True, False), C=(1, 10, 0.1, 100))
FOREST_GRID = grid(max_features=("sqrt", 0.3), min_samples_leaf=(1, 3))
BOOSTING_GRID = grid(min_samples_leaf=(5, 2), learning_rate=(0.1, 0.03))
WIDE = 2000  # columns x scores


def supervised(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Return labels of all rows, by a model of the labelled ones."""
    rows = np.flatnonzero(y != -1)
    return np.ravel(clone(model).fit(X[rows], y[rows]).predict(X))


def tuned(
    make: Callable[..., Any], candidates: Sequence[Parameters], X: Any, y: np.ndarray, seed: int
) -> Answer:
    """Return predictions and parameters of a model of the labelled rows, the best of a grid."""
    rows = np.flatnonzero(y != -1)
    small = X[rows]  # the folds need no others

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        return supervised(make(**candidate), small, known)

    chosen = best(predict, candidates, y[rows], seed)
    return supervised(make(**chosen), X, y), chosen


def is_wide(X: Any, y: np.ndarray) -> bool:
    """Return whether a model has so many columns and scores that its grid is cut."""
    n_classes = int(y.max()) + 1
    return X.shape[1] * (n_classes if n_classes > 2 else 1) > WIDE


def logistic(problem: Problem) -> Answer:
    """Return predictions and parameters of logistic regression."""
    X, y, seed = problem.X, problem.y, problem.seed

    def make(scaled: bool, C: float) -> Any:
        model = LogisticRegression(C=C, max_iter=300)
        return make_pipeline(StandardScaler(with_mean=False), model) if scaled else model

    plain = [each for each in LOGISTIC_GRID if not each["scaled"]]
    return tuned(make, plain if is_wide(X, y) else LOGISTIC_GRID, X, y, seed)


def forest(problem: Problem) -> Answer:
    """Return predictions and parameters of a random forest."""
    X, y, seed = problem.X, problem.y, problem.seed

    def make(**candidate: Any) -> Any:
        return RandomForestClassifier(random_state=seed, **candidate)

    return tuned(make, FOREST_GRID, X, y, seed)


def boosting(problem: Problem) -> Answer:
    """Return predictions and parameters of boosted trees."""
    X, y, seed = problem.X, problem.y, problem.seed

    def make(**candidate: Any) -> Any:
        return HistGradientBoostingClassifier(random_state=seed, **candidate)

    X = X.toarray() if sparse.issparse(X) else X
    return tuned(make, BOOSTING_GRID[:1] if is_wide(X, y) else BOOSTING_GRID, X, y, seed)

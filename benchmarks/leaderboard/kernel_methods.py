"""Peers around a support vector machine or another classifier of single rows.

svc            the SVM on the labelled rows: 5 gammas x 8 costs = 40 candidates
self_training  scikit-learn's SelfTrainingClassifier around that SVM. 30 of (gamma, C) are compared
               on the labelled rows; the best two then meet 5 thresholds, with unlabelled rows
tsvm           this library's TransductiveSVC (Collobert et al., 2006). 30 of (gamma, C) are
               compared on the labelled rows; the best meets 3 weights of the unlabelled rows

gamma is a multiple of scikit-learn's "scale", which is 1 / (features x variance), here of all
rows. Without tuning the libraries' own defaults are taken: gamma "scale" and C = 1; a threshold
of 0.75.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC

from .problem import Problem
from .row_methods import supervised
from .tuning import LARGE, Answer, Parameters, best, grid, scores

SVC_GRID = grid(gamma=(1, 0.25, 4, 0.0625, 16), C=(1, 10, 0.1, 100, 1e3, 0.01, 1e4, 1e5))
SELF_BASE_GRID = grid(gamma=(1, 0.25, 4, 0.0625, 16), C=(1, 10, 0.1, 100, 1e3, 1e4))
THRESHOLDS = (0.75, 0.9, 0.6, 0.99, 0.5)
UNLABELED = (1.0, 0.1, 0.01)  # weights of unlabelled rows, in units of that of labelled ones


class MarginSVC(ClassifierMixin, BaseEstimator):
    """SVC whose confidence comes from its margins, so that one label per class is enough.

    SVC's own probabilities are deprecated and need labels to calibrate on. Here the first class
    gets (1 + g) / 2, where g is its lead over the second, at most 1: two classes, |f(x)|; more,
    the difference of the one-against-rest values. The others share what is left.
    """

    def __init__(self, gamma: float = 1.0, C: float = 1.0, kernel: Any = "rbf"):
        self.gamma = gamma
        self.C = C
        self.kernel = kernel

    def fit(self, X: Any, y: np.ndarray) -> MarginSVC:
        """Fit the SVC."""
        self.svc_ = SVC(kernel=self.kernel, gamma=self.gamma, C=self.C, cache_size=500).fit(X, y)
        self.classes_ = self.svc_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the SVC's labels."""
        return self.svc_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the confidence in every class."""
        f = self.svc_.decision_function(X)
        if f.ndim == 1:
            f = np.column_stack([-f, f]) / 2
        second, first = np.sort(f, axis=1)[:, -2:].T
        top = (1 + np.minimum(first - second, 1)) / 2
        answer = np.repeat((1 - top)[:, None] / (f.shape[1] - 1), f.shape[1], axis=1)
        answer[np.arange(len(f)), f.argmax(axis=1)] = top
        return answer


def scale(X: Any) -> float:
    """Return scikit-learn's gamma="scale"."""
    variance = X.power(2).mean() - X.mean() ** 2 if sparse.issparse(X) else X.var()
    return 1 / (X.shape[1] * variance)


def make_svc(candidate: Parameters, unit: float) -> MarginSVC:
    """Return the SVC of a candidate; `unit` is what its gamma is a multiple of."""
    return MarginSVC(gamma=candidate["gamma"] * unit, C=candidate["C"])


class LookedUp:
    """SVMs that are fitted many times on parts of the same rows.

    Unless there are too many rows, a kernel matrix is computed once and the SVM is given row
    numbers: the same models, in less time.
    """

    def __init__(self, X: Any, unit: float):
        self.X, self.unit = X, unit
        self._kernel = functools.lru_cache(maxsize=2)(self._make_kernel)

    def __call__(self, candidate: Parameters) -> tuple[MarginSVC, Any]:
        """Return the SVM and what to fit it on."""
        model = make_svc(candidate, self.unit)
        if self.X.shape[0] > LARGE:
            return model, self.X
        model.kernel = self._kernel(model.gamma)
        return model, np.arange(self.X.shape[0])[:, None]

    def _make_kernel(self, gamma: float) -> Any:
        K = rbf_kernel(self.X, gamma=gamma)
        return lambda A, B: K[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))]


def svc(problem: Problem) -> Answer:
    """Return predictions and parameters of an SVM that sees labelled rows only."""
    X, y, seed = problem.X, problem.y, problem.seed
    rows, unit = np.flatnonzero(y != -1), scale(X)
    small = X[rows]  # the folds need no others

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        return supervised(make_svc(candidate, unit), small, known)

    chosen = best(predict, SVC_GRID, y[rows], seed)
    return supervised(make_svc(chosen, unit), X, y), chosen


def tsvm(problem: Problem) -> Answer:
    """Return predictions and parameters of the transductive SVM."""
    X, y, seed = problem.X, problem.y, problem.seed
    from graphkm.baselines import TransductiveSVC

    rows, unit = np.flatnonzero(y != -1), scale(X)
    small = X[rows]

    def alone(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        return supervised(make_svc(candidate, unit), small, known)

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        C, known_rows = candidate["C"], known != -1
        share = candidate["unlabeled"] * known_rows.sum() / (~known_rows).sum()
        model = TransductiveSVC(
            C=C, C_unlabeled=C * share, gamma=candidate["gamma"] * unit, n_jobs=1
        )
        return model.fit(X, known).predict(X)

    chosen = best(alone, SELF_BASE_GRID, y[rows], seed)
    chosen = best(predict, [{**chosen, "unlabeled": share} for share in UNLABELED], y, seed)
    return predict(chosen, y), chosen


def self_training(problem: Problem) -> Answer:
    """Return predictions and parameters of self-training."""
    X, y, seed = problem.X, problem.y, problem.seed
    rows, unit = np.flatnonzero(y != -1), scale(X)
    small = X[rows]

    def alone(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        return supervised(make_svc(candidate, unit), small, known)

    looked_up = LookedUp(X, unit)

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        base, rows_in = looked_up(candidate)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one says that the first round labelled every row
            model = SelfTrainingClassifier(base, threshold=candidate["threshold"])
            return model.fit(rows_in, known).predict(rows_in)

    ranked = np.argsort(-scores(alone, SELF_BASE_GRID, y[rows], seed), kind="stable")
    finalists = [
        {**SELF_BASE_GRID[i], "threshold": threshold}
        for threshold in THRESHOLDS
        for i in ranked[:2]
    ]
    chosen = best(predict, finalists, y, seed)
    return predict(chosen, y), chosen

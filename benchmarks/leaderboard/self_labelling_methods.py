"""Methods of other packages in which models label rows for each other.

tri_training  sslearn's TriTraining. 38 bases (trees, SVMs, nearest neighbours) are compared on
              the labelled rows; the best of each kind is then compared with unlabelled rows.
              Without tuning its base is a decision tree
co_forest     sslearn's CoForest (Li and Zhou, 2007): 2 confidences
democratic    ModSSC's democratic co-learning (Zhou and Goldman, 2004): 2 confidence levels

Rows become dense: these take no others.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from .kernel_methods import LookedUp, make_svc, scale
from .problem import Problem
from .row_methods import supervised
from .tuning import Answer, Parameters, best, grid, scores

CO_FOREST_GRID = grid(threshold=(0.75, 0.5))
DEMOCRATIC_GRID = grid(confidence_level=(0.95, 0.8))
TRI_GRID = [
    *grid(kind=["tree"], min_samples_leaf=(1, 2, 4), max_features=(None, "sqrt")),
    *grid(kind=["svc"], gamma=(1, 0.25, 4, 0.0625), C=(1, 10, 0.1, 100, 1e3)),
    *grid(kind=["neighbours"], n_neighbors=(5, 3, 1, 7, 9, 2), weights=("uniform", "distance")),
]


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def _base(candidate: Parameters, unit: float, seed: int) -> Any:
    options = {key: value for key, value in candidate.items() if key != "kind"}
    if candidate["kind"] == "tree":
        return DecisionTreeClassifier(random_state=seed, **options)
    if candidate["kind"] == "neighbours":
        return KNeighborsClassifier(**options)
    return make_svc(options, unit)


def tri_training(problem: Problem) -> Answer:
    """Return predictions and parameters of tri-training."""
    from sslearn.wrapper import TriTraining

    X, y, seed = _dense(problem.X), problem.y, problem.seed
    rows, unit = np.flatnonzero(y != -1), scale(X)
    small = X[rows]
    base = functools.partial(_base, unit=unit, seed=seed)

    def alone(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        return supervised(base(candidate), small, known)

    looked_up = LookedUp(X, unit)

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        model, rows_in = base(candidate), X
        if candidate["kind"] == "svc":
            model, rows_in = looked_up(candidate)
        return TriTraining(model, random_state=seed).fit(rows_in, known).predict(rows_in)

    values = scores(alone, TRI_GRID, y[rows], seed)
    finalists: dict[str, Parameters] = {}
    for i in np.argsort(-values, kind="stable"):
        finalists.setdefault(TRI_GRID[i]["kind"], TRI_GRID[i])
    chosen = best(predict, list(finalists.values()), y, seed)
    return predict(chosen, y), chosen


def co_forest(problem: Problem) -> Answer:
    """Return predictions and parameters of co-forest."""
    from sslearn.wrapper import CoForest

    X = _dense(problem.X)

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        model = CoForest(random_state=problem.seed, n_jobs=1, **candidate)
        return model.fit(X, known).predict(X)

    chosen = best(predict, CO_FOREST_GRID, problem.y, problem.seed)
    return predict(chosen, problem.y), chosen


def democratic(problem: Problem) -> Answer:
    """Return predictions and parameters of democratic co-learning."""
    from modssc.inductive.methods.democratic_co_learning import (
        DemocraticCoLearningMethod,
        DemocraticCoLearningSpec,
    )
    from modssc.inductive.types import DeviceSpec, InductiveDataset

    X = _dense(problem.X)

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        told = known != -1
        classes, codes = np.unique(known[told], return_inverse=True)
        model = DemocraticCoLearningMethod(DemocraticCoLearningSpec(**candidate))
        model.fit(
            InductiveDataset(X[told], codes, X[~told]), device=DeviceSpec(), seed=problem.seed
        )
        return classes[np.asarray(model.predict_proba(X)).argmax(axis=1)]

    chosen = best(predict, DEMOCRATIC_GRID, problem.y, problem.seed)
    return predict(chosen, problem.y), chosen

"""What is fitted, and what is measured of a fit."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from few_labels.methods import METHODS
from few_labels.neighbours import Search
from fields.sets import split
from graphkm import GKMClassifier, SemiSupervisedClassifier


def tuned_svc(X: Any, y: np.ndarray, seed: int) -> Any:
    """Return an SVC on the labelled rows, chosen by grid search; gammas in units of the spread."""
    rows, known = X[y >= 0], y[y >= 0]
    squares = rows.multiply(rows) if sp.issparse(rows) else np.square(rows, dtype=np.float64)
    spread = float((np.asarray(squares.mean(axis=0)) - np.square(rows.mean(axis=0))).sum())
    folds = int(min(5, np.bincount(known).min()))
    grid = {"gamma": np.array([0.3, 1, 3, 10, 30]) / spread, "C": [0.1, 1, 10, 100, 1000]}
    if folds < 2:
        return SVC(gamma=1 / spread).fit(rows, known)
    if len(known) > 10_000:  # the grid on a tenth of the labels: all would take hours
        some = np.random.default_rng(seed).permutation(len(known))[: len(known) // 10]
        best = GridSearchCV(SVC(), grid, cv=3).fit(rows[some], known[some]).best_params_
        return SVC(**best, cache_size=500).fit(rows, known)
    return GridSearchCV(SVC(cache_size=500), grid, cv=folds).fit(rows, known)


BASES: dict[str, Callable[[], Any]] = {
    "svc": lambda: SVC(),
    "forest": lambda: RandomForestClassifier(random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=1000),
}


PEERS = ("spreading", "laplace", "poisson", "self_training", "tri_training")


def fitted(method: str, X: Any, y: np.ndarray, seed: int) -> Any:
    if method == "tuned svc":
        return tuned_svc(X, y, seed)
    if method == "gkm":
        return GKMClassifier(random_state=seed).fit(X, y)
    models = BASES[method]() if method in BASES else "auto"
    graph = "anchors" if method == "anchors" else "auto"
    return SemiSupervisedClassifier(models, graph=graph, random_state=seed).fit(X, y)


def measured(X: Any, y: np.ndarray, labels: str, seed: int, method: str) -> dict[str, Any]:
    """Return accuracies and costs of one fit."""
    train, test, labeled = split(y, labels, seed)
    A, partly = X[train], np.where(labeled, y[train], -1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    model = fitted(method, A, partly, seed)
    row: dict[str, Any] = {
        "labels": int(labeled.sum()),
        "rows": len(train),
        "cpu": time.process_time() - start,
        "mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }
    if method == "tuned svc" and len(test) > 20_000:  # predicting half a million rows takes hours
        test = test[:20_000]
    start = time.process_time()
    row["test"] = float(np.mean(model.predict(X[test]) == y[test]))
    row["cpu_test"] = time.process_time() - start
    if method != "tuned svc":
        hidden = ~labeled
        row["hidden"] = float(np.mean(model.transduction_[hidden] == y[train][hidden]))
    if isinstance(model, SemiSupervisedClassifier):
        row["members"] = {each.name: round(each.weight, 3) for each in model.members_[:5]}
        row["gain"] = model.unlabeled_gain_
        row |= calibration(model, X[test], y[test])
    if method in BASES:
        start = time.process_time()
        alone = BASES[method]().fit(A[labeled], partly[labeled])
        row["cpu_base"] = time.process_time() - start
        row["base_test"] = float(np.mean(alone.predict(X[test]) == y[test]))
        some = np.flatnonzero(~labeled)[:50_000]
        row["base_hidden"] = float(np.mean(alone.predict(A[some]) == y[train][some]))
    return row


def peer(X: Any, y: np.ndarray, labels: str, seed: int, method: str) -> dict[str, Any]:
    """Return accuracy and cost of a peer, which labels the training rows only."""
    train, _, labeled = split(y, labels, seed)
    partly = np.where(labeled, y[train], -1)
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        found, _ = METHODS[method](X[train], partly, Search(X[train], Path(folder) / "a.npz"), seed)
    return {
        "labels": int(labeled.sum()),
        "rows": len(train),
        "cpu": time.process_time() - start,
        "hidden": float(np.mean(found[~labeled] == y[train][~labeled])),
    }


def calibration(model: Any, X: Any, y: np.ndarray) -> dict[str, float]:
    """Return the mean top probability, and the expected calibration error over ten bins."""
    X, y = X[:20_000], y[:20_000]
    shares = model.predict_proba(X)
    top, right = shares.max(axis=1), model.classes_[shares.argmax(axis=1)] == y
    place = np.minimum((10 * top).astype(int), 9)
    error = sum(
        abs(top[place == b].mean() - right[place == b].mean()) * np.mean(place == b)
        for b in np.unique(place)
    )
    return {"confidence": float(top.mean()), "ece": float(error)}

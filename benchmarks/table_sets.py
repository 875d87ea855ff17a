"""The data sets, and which of their rows are labelled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from _common import data_file, load_libsvm
from leaderboard.row_sets import SETS as SMALL

DRAWN_AT_RANDOM = ("50", "200")


def codes(y: np.ndarray) -> np.ndarray:
    return np.unique(y, return_inverse=True)[1]


def covtype(classes: int) -> tuple[Any, np.ndarray]:
    import pandas as pd

    table = pd.read_csv(data_file("covtype.csv.xz")).to_numpy()
    X = table[:, :-1].astype(np.float32)
    y = table[:, -1]
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), codes(y == 2 if classes == 2 else y)


def dense(name: str, d: int) -> tuple[Any, np.ndarray]:
    X, y = load_libsvm(f"{name}.libsvm.bz2", d)
    return X.toarray(), codes(y)


def sparse(names: tuple[str, ...], d: int) -> tuple[Any, np.ndarray]:
    parts = [load_libsvm(f"{name}.libsvm.bz2", d) for name in names]
    return sp.csr_matrix(sp.vstack([X for X, _ in parts])), codes(
        np.concatenate([y for _, y in parts])
    )


def standardised(name: str, d: int) -> tuple[Any, np.ndarray]:
    X, y = dense(name, d)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), y


def small(name: str) -> tuple[Any, np.ndarray]:
    cell = SMALL[name]()[0]
    return cell.X, cell.y


LARGE: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "mushrooms": lambda: sparse(("mushrooms",), 112),
    "ijcnn1": lambda: dense("ijcnn1", 22),
    "cod-rna": lambda: dense("cod-rna_scale", 8),
    "a1a": lambda: sparse(("a1a", "a1a.t"), 123),
    "w8a": lambda: sparse(("w8a",), 300),
    "mnist": lambda: small("mnist"),
    "covtype-2": lambda: covtype(2),
    "covtype-7": lambda: covtype(7),
}
TABULAR: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "australian": lambda: dense("australian_scale", 14),
    "svmguide1": lambda: standardised("svmguide1", 4),
    "svmguide2": lambda: dense("svmguide2", 20),
    "svmguide3": lambda: dense("svmguide3", 22),
} | {
    name: (lambda name=name: small(name))
    for name in ("g50c", "uspst", "digit1", "usps", "g241c", "text", "coil20")
}
SETS = TABULAR | LARGE


def split(y: np.ndarray, labels: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows, test rows, and which training rows are labelled."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    cut = int(0.9 * len(y))
    train, test = order[:cut], order[cut:]
    if labels == "10%":
        return train, test, rng.random(cut) < 0.1
    labeled = np.zeros(cut, dtype=bool)
    classes, count = np.unique(y[train]), int(labels)
    if labels in DRAWN_AT_RANDOM:  # but at least one of every class
        for c in classes:
            labeled[rng.choice(np.flatnonzero(y[train] == c))] = True
        others = rng.permutation(np.flatnonzero(~labeled))
        labeled[others[: max(0, count - len(classes))]] = True
        return train, test, labeled
    for c in classes:
        own = np.flatnonzero(y[train] == c)
        size = min(count // len(classes), len(own))
        labeled[rng.choice(own, size, replace=False)] = True
    return train, test, labeled

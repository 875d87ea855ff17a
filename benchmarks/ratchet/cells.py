"""The fixed list of cells: rows, labels and which rows are asked for, split by split.

==============  ====================================================================================
development     26 cells of `leaderboard`: 500 hidden rows of the splits 2 to 5
small           50 to 150 rows, all of them in training
new rows        up to 5,000 rows in training, and others to test
regression      a numeric column of a table that the others tell, and made rows; 500 hidden rows
==============  ====================================================================================

Columns of X are standardised over all rows, except in the cells of `leaderboard`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets

from leaderboard.row_sets import SETS as FEW_LABELS
from table_sets import SETS as TABLES

TESTED = 500  # hidden rows whose predictions count
NEW = 1000  # new rows, where rows are tested that no fit has seen
_BUNDLED = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast_cancer": datasets.load_breast_cancer,
}


@dataclass(frozen=True)
class Draw:
    """What one fit gets, and what it is asked."""

    X: Any
    y: np.ndarray  # -1 where a class is hidden, NaN where a quantity is
    X_test: Any
    truth: np.ndarray
    hidden: np.ndarray | None  # the places of the tested rows in X; None: they are new


@dataclass(frozen=True)
class Cell:
    """A task with its splits."""

    name: str
    group: str
    splits: tuple[int, ...]
    draw: Callable[[int], Draw]
    classes: bool = True


# ---------------------------------------------------------------- classification


@cache
def _few_labels(name: str) -> dict[int, Any]:
    return {cell.n_labels: cell for cell in FEW_LABELS[name]()}


def _development(name: str, n_labels: int) -> Callable[[int], Draw]:
    def draw(split: int) -> Draw:
        cell = _few_labels(name)[n_labels]
        return _hide(cell.X, cell.y, cell.partly(split), split)

    return draw


def _hide(X: Any, truth: np.ndarray, y: np.ndarray, seed: int) -> Draw:
    """Return the draw whose tested rows are up to 500 of those without a label."""
    missing = np.flatnonzero(np.isnan(y) if y.dtype.kind == "f" else y == -1)
    hidden = np.sort(np.random.default_rng(seed).permutation(missing)[:TESTED])
    return Draw(X, y, X[hidden], truth[hidden], hidden)


@cache
def _table(name: str) -> tuple[Any, np.ndarray]:
    """Return at most 10,000 rows of a table, standardised, and the codes of its classes."""
    X, y = _BUNDLED[name](return_X_y=True) if name in _BUNDLED else TABLES[name]()
    rows = np.random.default_rng(zlib.crc32(name.encode())).permutation(len(y))[:10_000]
    X, y = X[rows], y[rows]
    return (X if sp.issparse(X) else _standardised(X)), np.unique(y, return_inverse=True)[1]


def _standardised(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)


def _labelled(y: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return codes with all but some hidden; two of every class are known, if there are two."""
    order = rng.permutation(len(y))
    first = np.concatenate([order[y[order] == c][:2] for c in np.unique(y)])
    others = order[~np.isin(order, first)]
    known = np.concatenate([first, others[: max(0, count - len(first))]])
    return np.where(np.isin(np.arange(len(y)), known), y, -1)


def _classes(name: str, n_rows: int, n_labels: int, *, new: bool = False) -> Callable[[int], Draw]:
    """Return the draws of some rows of a table; the tested ones are hidden, or new."""

    def draw(split: int) -> Draw:
        X, truth = _table(name)
        rng = np.random.default_rng([zlib.crc32(name.encode()), split])
        order = rng.permutation(len(truth))
        train, test = order[:n_rows], order[n_rows : n_rows + NEW]
        y = _labelled(truth[train], n_labels, rng)
        if new:
            return Draw(X[train], y, X[test], truth[test], None)
        return _hide(X[train], truth[train], y, split)

    return draw


# --------------------------------------------------------------------- regression


def _column(name: str, target: int, _: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table without one of its columns, and this column."""
    X, _ = _table(name)
    return np.delete(X, target, axis=1), X[:, target]


def _made(name: str, n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    if name == "diabetes":
        return datasets.load_diabetes(return_X_y=True)
    if name == "friedman1":
        return datasets.make_friedman1(n_rows, noise=1.0, random_state=seed)
    return datasets.make_swiss_roll(n_rows, noise=0.5, random_state=seed)


def _values(
    rows: Callable[[int], tuple[np.ndarray, np.ndarray]], n_rows: int, n_targets: int
) -> Callable[[int], Draw]:
    """Return the draws of a regression; their seed is the split's number."""

    def draw(split: int) -> Draw:
        X, truth = rows(split)
        order = np.random.default_rng(split).permutation(len(truth))[:n_rows]
        X, truth = _standardised(X[order]), truth[order]
        y = np.where(np.arange(len(truth)) < n_targets, truth, np.nan)
        return _hide(X, truth, y, split)

    return draw


# ----------------------------------------------------------------------- the list

_DEVELOPMENT = {
    "moons": (4, 10),
    "g50c": (50,),
    "uspst": (50,),
    "digit1": (10, 100),
    "usps": (10, 100),
    "g241c": (10, 100),
    "text": (10, 100),
    "australian": (50, 200),
    "svmguide3": (50, 200),
    "a1a": (50, 200),
    "mushrooms": (50, 200),
    "ijcnn1": (50, 200),
    "cod-rna": (50, 200),
    "coil20": (40, 120),
}
# Set, rows and labels.
_SMALL = (
    ("iris", 150, 12),
    ("wine", 150, 15),
    ("breast_cancer", 120, 20),
    ("svmguide2", 150, 40),
    ("australian", 60, 20),
)
_NEW_ROWS = (
    ("svmguide1", 2000, 50),
    ("ijcnn1", 5000, 500),
    ("covtype-7", 5000, 500),
    ("a1a", 5000, 200),
    ("mnist", 5000, 100),
)
_MADE = (
    ("diabetes", 442, 60),
    ("diabetes", 100, 40),
    ("friedman1", 600, 100),
    ("swiss roll", 1000, 50),
)
# The same, and which column is the target.
_COLUMNS = (
    ("cod-rna's first column", "cod-rna", 0, 2000, 100),
    ("svmguide1's first column", "svmguide1", 0, 3000, 100),
    ("ijcnn1's last column", "ijcnn1", 21, 5000, 200),
    ("covtype's elevation", "covtype-7", 0, 5000, 300),
)
# Cells that take a second or so and stand for their group: the short form has these.
SHORT = {
    *("moons 4", "moons 10", "g50c 50", "digit1 10", "digit1 100"),
    *("australian 50", "australian 200", "svmguide3 50"),
    *(f"{name} {n} of {rows}" for name, rows, n in (*_SMALL, _NEW_ROWS[0], *_MADE)),
    "svmguide1's first column 100 of 3000",
}


def _list() -> Iterator[Cell]:
    for name, counts in _DEVELOPMENT.items():
        for n in counts:
            draw = _development(name, n)
            yield Cell(f"{name} {n}", "development", (2, 3, 4, 5), draw)
    for name, rows, n in _SMALL:
        draw, splits = _classes(name, rows, n), tuple(range(8))  # quick fits, few rows to test
        yield Cell(f"{name} {n} of {rows}", "small", splits, draw)
    for name, rows, n in _NEW_ROWS:
        draw = _classes(name, rows, n, new=True)
        yield Cell(f"{name} {n} of {rows}", "new rows", (0, 1, 2, 3), draw)
    five = tuple(range(5))
    for name, rows, n in _MADE:
        draw = _values(partial(_made, name, rows), rows, n)
        title = f"{name} {n} of {rows}"
        yield Cell(title, "regression", five, draw, classes=False)
    for title, name, column, rows, n in _COLUMNS:
        draw = _values(partial(_column, name, column), rows, n)
        yield Cell(f"{title} {n} of {rows}", "regression", five, draw, classes=False)


CELLS = {cell.name: cell for cell in _list()}

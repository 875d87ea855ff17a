"""The paper's data sets, and generated ones that need no download."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_s_curve
from sklearn.model_selection import train_test_split

from graphkm.datasets import fetch_dataset, hide_labels, make_g50c, make_two_moons

TEST_SHARES = {"tenth": 0.1, "fifth": 0.2}
_BASE_SEED = 1606  # part of every seed


@dataclass(frozen=True)
class ExperimentSet:
    """A data set, and what the paper's Table 1 says of it."""

    name: str
    rows: int
    load: Callable[[], tuple[Any, NDArray[np.int64]]]
    printed: tuple[int, int] | None = None  # rows and columns in Table 1


class Split(NamedTuple):
    """Training rows with partly hidden labels, and test rows."""

    X: Any
    y: NDArray[np.int64]  # -1 where hidden
    truth: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]


def _fetched(name: str, rows: int, printed: tuple[int, int], **options: Any) -> ExperimentSet:
    load = partial(fetch_dataset, name, return_X_y=True, **options)
    return ExperimentSet(name, rows, load, printed)


def _svm2() -> tuple[Any, NDArray[np.int64]]:
    """Return svmguide2's classes 1 and 2: the paper's numbers are hits among 67 of their rows."""
    X, y = fetch_dataset("svmguide2", return_X_y=True)
    return X[y < 2], y[y < 2]


def _make_curve() -> tuple[Any, NDArray[np.int64]]:
    """Return a bent sheet in three dimensions; its two halves are the classes."""
    X, along = make_s_curve(500, noise=0.05, random_state=_BASE_SEED)
    return X, (along > 0).astype(np.int64)


_ALL = (
    ExperimentSet("made_moons", 400, partial(make_two_moons, 400, random_state=_BASE_SEED)),
    ExperimentSet("made_g50c", 550, partial(make_g50c, random_state=_BASE_SEED)),
    ExperimentSet("made_curve", 500, _make_curve),
    _fetched("coil20", 144, (145, 1014), classes=(0, 1)),
    ExperimentSet("svm2", 338, _svm2),
    _fetched("g50c", 550, (551, 50)),
    _fetched("uspst", 600, (601, 256), classes=(0, 1)),
    _fetched("australian", 690, (690, 14)),
    _fetched("svmguide3", 1243, (1243, 21)),
    _fetched("a1a", 1605, (1605, 123)),
    _fetched("svmguide1", 3089, (3089, 4)),
    _fetched("mushrooms", 8124, (8124, 112)),
    _fetched("w5a", 9888, (9888, 300)),
    _fetched("w8a", 49749, (49749, 300)),
    _fetched("ijcnn1", 49990, (49990, 22)),
    _fetched("cod_rna", 59535, (59535, 8)),
    _fetched("covtype", 581012, (581012, 54)),
)

SETS: dict[str, ExperimentSet] = {each.name: each for each in _ALL}
"""All sets, small ones first."""

MADE = tuple(name for name in SETS if name.startswith("made_"))  # which need no download
PAPER_SETS = tuple(name for name in SETS if name not in MADE)
"""The sets of the paper. SVMGUIDE1 is in Table 1 alone, SVM2 in Tables 2 and 3 alone."""


def make_split(
    X: Any, y: NDArray[np.int64], name: str, hidden: int, run: int, part: str = "tenth"
) -> Split:
    """Hold out a part of each class, and hide so many per cent of the other labels.

    The seed depends on name, run and `hidden` alone: all methods of a run get the same rows.
    """
    seed, share = seed_of(name, run), TEST_SHARES[part]
    train, test = train_test_split(
        np.arange(len(y)), test_size=share, stratify=y, random_state=seed
    )
    truth = partly = y[train]
    if hidden > 0:
        partly = hide_labels(truth, hidden / 100, random_state=seed_of(name, run, hidden))
    return Split(X[train], partly, truth, X[test], y[test])


def seed_of(name: str, *numbers: int) -> int:
    """Return a seed that depends on the arguments alone."""
    entropy = [_BASE_SEED, *name.encode(), *numbers]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0] >> 1)

"""The paper's data sets, and generated ones that need no download."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_s_curve
from sklearn.model_selection import train_test_split

from graphkm.datasets import fetch_dataset, hide_labels, make_g50c, make_two_moons

_TEST_SHARE = 0.1
_BASE_SEED = 1606  # part of every seed


@dataclass(frozen=True)
class ExperimentSet:
    """A data set, and how many steps the paper takes on it."""

    name: str
    rows: int
    load: Callable[[], tuple[Any, NDArray[np.int64]]]
    large: bool = False  # the paper then takes T = 0.2 (l + u) steps instead of l + u

    def steps(self, n: int) -> int:
        """Return the paper's number of steps T for n training rows."""
        return max(1, n // 5) if self.large else n


class Split(NamedTuple):
    """Training rows with partly hidden labels, and test rows."""

    X: Any
    y: NDArray[np.int64]  # -1 where hidden
    truth: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]


def _fetched(name: str, rows: int, *, large: bool = False, **options: Any) -> ExperimentSet:
    return ExperimentSet(name, rows, lambda: fetch_dataset(name, return_X_y=True, **options), large)


def _make_curve() -> tuple[Any, NDArray[np.int64]]:
    """Return a bent sheet in three dimensions; its two halves are the classes."""
    X, along = make_s_curve(500, noise=0.05, random_state=_BASE_SEED)
    return X, (along > 0).astype(np.int64)


_ALL = (
    ExperimentSet("made_moons", 400, lambda: make_two_moons(400, random_state=_BASE_SEED)),
    ExperimentSet("made_g50c", 550, lambda: make_g50c(random_state=_BASE_SEED)),
    ExperimentSet("made_curve", 500, _make_curve),
    _fetched("coil20", 144, classes=(0, 1)),
    _fetched("svmguide2", 391),
    _fetched("g50c", 550),
    _fetched("uspst", 600, classes=(0, 1)),
    _fetched("australian", 690),
    _fetched("svmguide3", 1243),
    _fetched("a1a", 1605),
    _fetched("mushrooms", 8124, large=True),
    _fetched("w5a", 9888, large=True),
    _fetched("w8a", 49749, large=True),
    _fetched("ijcnn1", 49990, large=True),
    _fetched("cod_rna", 59535, large=True),
    _fetched("covtype", 581012, large=True),
)

SETS: dict[str, ExperimentSet] = {each.name: each for each in _ALL}
"""All sets, small ones first."""

MADE = tuple(name for name in SETS if name.startswith("made_"))
"""Generated sets, which need no download."""

PAPER_13 = tuple(name for name in SETS if name not in MADE)
"""The sets of Tables 2 and 3."""

PAPER_12 = tuple(name for name in PAPER_13 if name != "svmguide2")
"""The sets of Tables 4 and 5."""


def make_split(X: Any, y: NDArray[np.int64], name: str, hidden: int, run: int) -> Split:
    """Hold out a tenth of each class, and hide so many per cent of the other labels.

    The seed depends on name, run and `hidden` alone: all methods of a run get the same rows.
    """
    train, test = train_test_split(
        np.arange(len(y)), test_size=_TEST_SHARE, stratify=y, random_state=seed_of(name, run)
    )
    truth = partly = y[train]
    if hidden > 0:
        partly = hide_labels(truth, hidden / 100, random_state=seed_of(name, run, hidden))
    return Split(X[train], partly, truth, X[test], y[test])


def seed_of(name: str, *numbers: int) -> int:
    """Return a seed that depends on the arguments alone.

    Examples
    --------
    >>> seed_of("g50c", 0) == seed_of("g50c", 0), seed_of("g50c", 0) == seed_of("g50c", 1)
    (True, False)
    """
    entropy = [_BASE_SEED, *name.encode(), *numbers]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0] >> 1)

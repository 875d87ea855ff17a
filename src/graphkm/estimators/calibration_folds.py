"""Which labels are held out so that scores can become probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .._util.warnings import quiet
from ..neighbours.distinct import Copies
from .calibration import FEWEST

Folds = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
"""Positions among the labelled rows: those to train on, and those held out."""

_FEW = 200  # with more labels, half as many folds are enough
_FOLDS = 10
_ENOUGH = 300  # no slope gains from more held-out labels: further folds are left out


def calibration_folds(
    codes: NDArray[np.int64], weights: NDArray[np.float64], copies: Copies | None = None
) -> Folds:
    """Return folds of the labels; none if too few can be held out.

    Equal rows share a fold. Rows of weight 0 are not held out, nor is the only row of a class. Up
    to 300 labels are all held out. With more than 1,500 labels there is one fold.

    Parameters
    ----------
    codes : ndarray of int of shape (n_labeled,)
        Class numbers.
    weights : ndarray of shape (n_labeled,)
        Weights.
    copies : Copies, optional
        Which of the rows are equal.

    Examples
    --------
    >>> folds = calibration_folds(np.arange(20) % 2, np.ones(20))
    >>> len(folds), sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(20))
    (10, True)
    """
    from sklearn.model_selection import StratifiedKFold  # slow to import

    copies = Copies.of(np.arange(len(codes))) if copies is None else copies
    own = codes[copies.first]
    sums = np.bincount(copies.place, weights)
    counts = np.bincount(own, sums > 0)
    held = np.flatnonzero((counts[own] > 1) & (sums > 0))
    if len(held) < FEWEST:
        return []
    n_splits = min(_FOLDS if len(held) <= _FEW else _FOLDS // 2, int(counts.max()))
    with quiet("The least populated class"):
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=0)
        tests = [held[test] for _, test in folds.split(held, own[held])]
    sizes = np.cumsum([len(test) for test in tests])
    needed = int(np.searchsorted(sizes, min(_ENOUGH, len(held)))) + 1
    everyone = np.arange(len(own))
    parts = [(np.setdiff1d(everyone, test), test) for test in tests[:needed] if len(test)]
    return [(train, test[weights[test] > 0]) for train, test in copies.together(parts)]

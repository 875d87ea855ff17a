"""Folds of the labelled rows, whose labels are held out in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.parameters import check_count
from .._util.warnings import quiet
from ..neighbours.distinct import Copies

Folds = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
"""Positions among the labelled rows: those to train on, and those held out."""

Splitter = Callable[[int], Any]
"""Returns scikit-learn's splitter into so many folds, or None if labels are too few for it."""

SplitterOf = Callable[[NDArray[Any]], Splitter]
"""Takes labels, and returns the `Splitter` for them."""

FEWEST = 8
"""Fewer held-out labels than these decide nothing: a prior does."""

_FEW = 200  # with more labels, half as many folds are enough
_FOLDS = 10
_ENOUGH = 300  # no slope of a calibration gains from more held-out labels


def check_folds(cv: Any) -> None:
    """Raise if `cv` is a word, or a number of folds below 2; this needs no rows.

    Examples
    --------
    >>> check_folds(1)
    Traceback (most recent call last):
    ...
    ValueError: cv must be a whole number >= 2, got 1.
    """
    if isinstance(cv, Integral | str):
        check_count("cv", cv, least=2)


def make_folds(
    cv: Any,
    X: Any,
    known: NDArray[Any],
    splitter: Callable[[NDArray[Any]], Splitter],
    copies: Copies,
) -> Folds:
    """Return folds of the labelled rows; none if they are too few. Equal rows share a fold.

    Parameters
    ----------
    cv : int, splitter, list of (train, test) or None
        As it was given.
    X : array or frame
        The labelled rows.
    known : ndarray
        Their labels.
    splitter : callable
        Makes folds of labels where `cv` is a number or None.
    copies : Copies
        Which of the rows are equal, in the order from which `splitter` draws.
    """
    if cv is None or isinstance(cv, Integral | str):
        check_folds(cv)
        most = usual_folds(len(copies.first)) if cv is None else int(cv)
        return most_folds(known, most, splitter, copies)
    from sklearn.model_selection import check_cv  # slow to import

    splits = check_cv(cv).split(X, known)
    folds = [(_as_numbers(train), _as_numbers(test)) for train, test in splits]
    every = np.concatenate([np.empty(0, np.int64), *(rows for fold in folds for rows in fold)])
    wrong = every[(every < 0) | (every >= len(known))]
    if len(wrong):
        raise ValueError(
            f"cv={cv!r} names row {wrong.max()}, but its folds count the labelled rows only, "
            f"and there are {len(known)}."
        )
    held = np.zeros(len(known), np.int64)
    for train, test in folds:
        if len(np.intersect1d(train, test)):
            raise ValueError(f"cv={cv!r} trains on rows that it holds out; pass disjoint folds.")
        held[test] += 1
    if (held == 0).any():
        raise ValueError(
            f"cv={cv!r} never holds out {int((held == 0).sum())} of the {len(known)} labelled "
            "rows; pass a splitter whose test folds cover them all, or a number."
        )
    return folds


def usual_folds(n: int) -> int:
    """Return how many folds n labels have."""
    return _FOLDS if n <= _FEW else _FOLDS // 2


def _as_numbers(rows: Any) -> NDArray[np.int64]:
    """Return the numbers of rows, which may be given by a mask."""
    found = np.asarray(rows)
    return np.flatnonzero(found) if found.dtype == bool else found.astype(np.int64)


def most_folds(known: NDArray[Any], most: int, splitter: SplitterOf, copies: Copies) -> Folds:
    """Return as many folds as the labels allow, up to `most`; none if labels do not allow two.

    Folds are drawn from the sets of copies, in the order of `copies_in_order`. So they do not
    depend on the order in which rows come.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> copies = Copies.of(np.array([7, 8, 9, 8]))
    >>> folds = most_folds(
    ...     np.arange(4), 10, lambda known: lambda n: KFold(n) if n <= len(known) else None, copies
    ... )
    >>> [test.tolist() for _, test in folds]
    [[0], [1, 3], [2]]
    """
    own = known[copies.first]
    make = splitter(own)
    for n_splits in range(most, 1, -1):
        found = make(n_splits)
        if found is not None:
            with quiet("The least populated class"):
                return copies.together(found.split(np.zeros(len(own)), own))
    return []


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
    n_splits = min(usual_folds(len(held)), int(counts.max()))
    with quiet("The least populated class"):
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=0)
        tests = [held[test] for _, test in folds.split(held, own[held])]
    sizes = np.cumsum([len(test) for test in tests])
    needed = int(np.searchsorted(sizes, min(_ENOUGH, len(held)))) + 1
    everyone = np.arange(len(own))
    parts = [(np.setdiff1d(everyone, test), test) for test in tests[:needed] if len(test)]
    return [(train, test[weights[test] > 0]) for train, test in copies.together(parts)]

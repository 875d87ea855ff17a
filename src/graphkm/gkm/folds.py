"""Folds of the labelled rows, whose labels are held out in turn."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from .._parameters import check_count

Folds = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
"""Positions among the labelled rows: those to train on, and those held out."""

Splitter = Callable[[int], Any]
"""Returns scikit-learn's splitter into so many folds, or None if labels are too few for it."""

_FEW = 200  # labels; with more, half as many folds do
_FOLDS = 10


def make_folds(cv: Any, X: Any, known: NDArray[Any], splitter: Splitter) -> Folds:
    """Return folds of the labelled rows; none if they are too few.

    Parameters
    ----------
    cv : int, splitter, list of (train, test) or None
        As it was given.
    X : array or frame
        The labelled rows.
    known : ndarray
        Their labels.
    splitter : callable
        Makes folds where `cv` is a number or None.
    """
    if cv is None or isinstance(cv, Integral | str):
        usual = _FOLDS if len(known) <= _FEW else _FOLDS // 2
        return most_folds(known, usual if cv is None else check_count("cv", cv, least=2), splitter)
    splits = check_cv(cv).split(X, known)
    folds = [(np.asarray(train), np.asarray(test)) for train, test in splits]
    held = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(known))
    if len(held) > len(known):
        raise ValueError(
            f"cv={cv!r} holds out row {len(held) - 1}, but its folds count the labelled rows only, "
            f"and there are {len(known)}."
        )
    if (held == 0).any():
        raise ValueError(
            f"cv={cv!r} never holds out {int((held == 0).sum())} of the {len(known)} labelled "
            "rows; pass a splitter whose test folds cover them all, or a number."
        )
    return folds


def most_folds(known: NDArray[Any], most: int, splitter: Splitter) -> Folds:
    """Return the most folds that the labels allow, up to a number; none if not even two.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> len(most_folds(np.arange(4), 10, lambda n: KFold(n) if n <= 4 else None))
    4
    """
    for n_splits in range(most, 1, -1):
        found = splitter(n_splits)
        if found is not None:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The least populated class")
                return list(found.split(np.zeros(len(known)), known))
    return []

"""Rows sorted by what they hold, so that the order in which they come does not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

_BLOCK = 1 << 20  # entries converted to float64 at once


def middle_of(X: Any) -> NDArray[np.float64]:
    """Return the mean row of X.

    Examples
    --------
    >>> middle_of(np.array([[0.0, 1.0], [2.0, 3.0]]))
    array([1., 2.])
    """
    total = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
    return np.asarray(total / max(1, X.shape[0]))


def places_of(X: Any, middle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers by which rows are sorted: their squared distances from the middle.

    What does not change a model does not change the order either: the order of rows and columns,
    columns that are there twice, and units, except for rounding. Equal rows have equal numbers.
    """
    with np.errstate(over="ignore"):  # infinite distances are equal ones
        if issparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=1, dtype=np.float64)).ravel()
            return np.asarray(squares - 2.0 * (X @ middle))
        step = max(1, _BLOCK // max(1, X.shape[1]))
        parts = (X[i : i + step] - middle for i in range(0, X.shape[0], step))
        own = (np.einsum("ij,ij->i", part, part) for part in parts)
        return np.concatenate([np.empty(0), *own])


def rows_in_order(X: Any) -> NDArray[np.int64]:
    """Return the numbers of all rows, sorted by what the rows hold.

    Random draws from rows in this order are the same in whichever order the rows come. Only rows
    at exactly the same distance from the middle keep the order in which they come.

    Examples
    --------
    >>> X = np.array([[5.0], [1.0], [3.0], [0.0]])
    >>> X[rows_in_order(X)].ravel().tolist(), X[::-1][rows_in_order(X[::-1])].ravel().tolist()
    ([3.0, 1.0, 0.0, 5.0], [3.0, 1.0, 0.0, 5.0])
    """
    return np.argsort(places_of(X, middle_of(X)), kind="stable")

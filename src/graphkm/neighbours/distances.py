"""Squared distances and Gaussian weights of given pairs of rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backends import pair_distances

_SLICE = 2**18  # numbers per temporary array: 2 MiB, about a core's cache


def gaussian_weights(
    X: Any, u: NDArray[np.int64], v: NDArray[np.int64], gamma: float
) -> NDArray[np.float64]:
    """Return mu_uv = exp(-gamma ||x_u - x_v||^2) for each pair (u_k, v_k) of rows of X.

    Examples
    --------
    >>> gaussian_weights(np.array([[0.0], [2.0]]), np.array([0, 0]), np.array([0, 1]), 0.25)
    array([1.        , 0.36787944])
    """
    d2 = squared_distances(X, u, v)
    with np.errstate(over="ignore", under="ignore"):
        np.multiply(d2, -gamma, out=d2)
        return np.exp(d2, out=d2)


def squared_distances(
    X: Any, u: NDArray[np.int64], v: NDArray[np.int64], Y: Any = None
) -> NDArray[np.float64]:
    """Return ||x_u - y_v||^2 for each pair (u_k, v_k) of a row of X and one of Y, in float64.

    The squared differences of the rows are summed, in slices of bounded memory. This avoids the
    cancellation in ||x_u||^2 - 2 <x_u, y_v> + ||y_v||^2. Overflow gives the largest float.

    Parameters
    ----------
    X : ndarray or canonical CSR matrix
        The rows; wide sparse ones stay sparse.
    u, v : ndarray of int64
        Row numbers.
    Y : ndarray or canonical CSR matrix, optional
        Of the same kind as X; None is X itself.

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0]), np.array([1]))
    array([25.])
    """
    Y = X if Y is None else Y
    dense = isinstance(X, np.ndarray)
    if dense and _readable(X) and _readable(Y) and X.dtype == Y.dtype:
        out = pair_distances(X, Y, u, v)
    else:
        out = np.empty(len(u), dtype=np.float64)
        measure, slices = (_dense, _equal_slices) if dense else (_sparse, _sparse_slices)
        with np.errstate(over="ignore", under="ignore"):
            for part in slices(X, Y, u, v):
                out[part] = measure(X[u[part]], Y[v[part]])
    # An infinite distance times gamma = 0 would be NaN.
    return np.minimum(out, np.finfo(np.float64).max, out=out)


def _readable(rows: NDArray[Any]) -> bool:
    """Return whether compiled code reads these rows where they are."""
    return rows.dtype in (np.float32, np.float64) and rows.flags.c_contiguous


def _dense(x: Any, y: Any) -> NDArray[np.float64]:
    each = np.arange(len(x))
    x, y = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (x, y))
    return pair_distances(x, y, each, each)


def _sparse(x: Any, y: Any) -> NDArray[np.float64]:
    difference = x.astype(np.float64) - y.astype(np.float64)
    row = np.repeat(np.arange(x.shape[0]), np.diff(difference.indptr))
    squares: NDArray[np.float64] = np.bincount(
        row, weights=difference.data**2, minlength=x.shape[0]
    ).astype(np.float64, copy=False)
    return squares


def _equal_slices(X: Any, Y: Any, u: NDArray[np.int64], v: NDArray[np.int64]) -> Iterator[slice]:
    step = max(1, _SLICE // max(1, X.shape[1]))
    for start in range(0, len(u), step):
        yield slice(start, start + step)


def _sparse_slices(X: Any, Y: Any, u: NDArray[np.int64], v: NDArray[np.int64]) -> Iterator[slice]:
    """Cut by how many numbers are stored: rows may differ widely in length."""
    cost = np.cumsum(_stored(X)[u] + _stored(Y)[v] + 1)
    if len(cost) == 0:
        return
    cuts = np.unique(np.searchsorted(cost, np.arange(_SLICE, cost[-1], _SLICE), side="right"))
    bounds = [0, *(int(c) for c in cuts if 0 < c < len(cost)), len(cost)]
    for start, stop in pairwise(bounds):
        yield slice(start, stop)


def _stored(rows: Any) -> NDArray[np.int64]:
    return np.diff(rows.indptr).astype(np.int64)

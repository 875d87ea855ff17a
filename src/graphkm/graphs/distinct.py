"""Which rows are copies of others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_BLOCK = 1 << 22  # numbers that are read at once


def distinct_rows(rows: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first of every set of equal rows, and the place of each row among these.

    Parameters
    ----------
    rows : ndarray of float32 or float64, or canonical CSR matrix, of shape (n, d)
        The rows.

    Returns
    -------
    first : ndarray of int64 of shape (m,)
        Rows that are all different, in rising order.
    place : ndarray of int64 of shape (n,)
        rows[first[place]] equals rows.

    Examples
    --------
    >>> distinct_rows(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [-0.0, 0.0]]))
    (array([0, 1]), array([0, 1, 0, 1]))
    """
    marks = _marks(rows)
    _, first, place = np.unique(marks, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[place.ravel()]


def _marks(rows: Any) -> NDArray[np.uint64]:
    """Return a number for every row: equal rows have equal ones.

    Different rows have equal ones with a chance of 2^-64 per pair.
    """
    n, d = rows.shape
    random = np.random.default_rng(0).integers(1 << 63, size=(2, d), dtype=np.uint64)
    random = 2 * random + 1
    if sp.issparse(rows):
        terms = _mixed(_bits(rows.data) * random[0, rows.indices] + random[1, rows.indices])
        ends = np.append(np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64))
        return ends[rows.indptr[1:]] - ends[rows.indptr[:-1]]
    marks = np.empty(n, np.uint64)
    step = max(1, _BLOCK // max(1, d))
    for start in range(0, n, step):
        block = _bits(rows[start : start + step])
        marks[start : start + step] = _mixed(block * random[0] + random[1]).sum(axis=1)
    return marks


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers; those of -0 are those of 0."""
    values = np.ascontiguousarray(values + values.dtype.type(0))
    return values.view(np.uint32 if values.itemsize == 4 else np.uint64).astype(np.uint64)


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the bits stirred, so that sums of them differ."""
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(29)
    return bits

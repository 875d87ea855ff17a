"""The compiled search among rows in cells, and distances of pairs of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._native import RowCells32, RowCells64
from .._native import pair_distances as _pair_distances

_STORES = {"f": RowCells32, "d": RowCells64}


class RowCells:
    """Rows in cells, of which a search reads a few.

    Rows are compared in their own precision, as differences from the centre of a cell. What a
    query finds does not depend on the queries that are asked with it.

    Parameters
    ----------
    rows : ndarray of float32 or float64 of shape (n, d)
        The rows. They are copied.
    cell : ndarray of shape (n,)
        The cell of every row.
    centres : ndarray of shape (n_cells, d)
        A point in the middle of every cell.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [5.0]])
    >>> cells = RowCells(rows, np.array([0, 0, 1]), np.array([[0.5], [5.0]]))
    >>> cells.nearest(np.array([[2.0]]), np.array([[0]]), 3)
    array([[ 1,  0, -1]])
    >>> RowCells.of_one(rows).nearest(np.array([[4.0]]), None, 2)
    array([[2, 1]])
    """

    def __init__(self, rows: NDArray[Any], cell: NDArray[Any], centres: NDArray[Any]) -> None:
        self._dtype = rows.dtype
        self._rows = _STORES[rows.dtype.char](
            np.ascontiguousarray(rows),
            np.ascontiguousarray(cell, np.int32),
            np.ascontiguousarray(centres, rows.dtype),
        )

    @classmethod
    def of_one(cls, rows: NDArray[Any]) -> RowCells:
        """Return rows in a single cell, with its centre at 0."""
        return cls(rows, np.zeros(len(rows)), np.zeros((1, rows.shape[1])))

    def nearest(
        self, queries: NDArray[Any], probes: NDArray[Any] | None, k: int
    ) -> NDArray[np.int64]:
        """Return the k nearest rows of the cells that each query probes, nearest first.

        Parameters
        ----------
        queries : ndarray of shape (m, d)
            In the precision of the rows.
        probes : ndarray of shape (m, p) or None
            Cells; -1 stands for none. None is the first cell.
        k : int
            How many rows; -1 fills the places that are left where the cells hold fewer.

        Returns
        -------
        ndarray of int64 of shape (m, k)
        """
        if probes is None:
            probes = np.zeros((len(queries), 1), np.int32)
        out = np.empty((len(queries), k), np.int64)
        self._rows.nearest(
            np.ascontiguousarray(queries, self._dtype), np.ascontiguousarray(probes, np.int32), out
        )
        return out


def pair_distances(
    X: NDArray[Any], Y: NDArray[Any], u: NDArray[np.int64], v: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return ||x_u - y_v||^2 of pairs of rows of two C-contiguous arrays of one precision.

    Examples
    --------
    >>> pair_distances(np.eye(2), np.eye(2), np.array([0, 0]), np.array([0, 1]))
    array([0., 2.])
    """
    out = np.empty(len(u))
    _pair_distances(X, Y, np.ascontiguousarray(u), np.ascontiguousarray(v), out)
    return out

"""The exact search among sparse rows, by inner products in compiled code.

The row s is nearest to the query q if <q, s> - |s|^2 / 2 is largest. One more column holds
|s|^2 / 2 in the rows and -1 in the queries. So the nearest rows are those with the largest inner
products.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..backends import InnerProducts
from .candidates import Indices, Search, blocks

_WHOLE = 2**22  # largest squared norm at which sums of whole numbers and halves fit in float32
_SPARE = 8  # so many more rows are found where rounding could change the order
_FAR = 1e150  # larger entries of a query count as this: their products would overflow
_STORED = 2**20  # rows handed to compiled code at once


class SparseSearch(Search):
    """The nearest rows of a CSR matrix.

    Whole numbers, like counts and one-hot columns, are searched in float32: no sum is rounded.
    Other rows are searched in float64, which takes twice as long.

    Parameters
    ----------
    rows : canonical CSR matrix
        The rows.

    Examples
    --------
    >>> rows = sp.csr_array([[1.0, 0.0], [0.0, 2.0], [0.0, 2.0]])
    >>> SparseSearch(rows)(sp.csr_array([[0.0, 1.0]]), 2)
    array([[1, 2]])
    """

    block = 1024
    """Queries per call."""
    one_thread = True

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._whole = _is_whole(rows)
        # The unit is a power of two, so that no digit is lost.
        largest = float(np.abs(rows.data).max(initial=0.0))
        self._unit = 1.0 if self._whole else 2.0 ** (np.frexp(largest)[1] - 1)
        self._stores: dict[Any, InnerProducts] = {}
        self._building = Lock()  # queries come from several threads

    def __call__(self, queries: Any, k: int) -> Indices:
        """Return the nearest rows of every query, nearest first: k of them, and perhaps more."""
        exact = self._whole and _is_whole(queries)
        store = self._store(np.float32 if exact else np.float64)
        taken = k if exact else min(k + _SPARE, self._rows.shape[0])
        minus_one = np.full(queries.shape[0], -1.0)
        with np.errstate(over="ignore"):
            data = np.clip(queries.data.astype(np.float64) / self._unit, -_FAR, _FAR)
        return store.largest(_with_column(queries, data, minus_one), taken).astype(np.int64)

    def _store(self, dtype: Any) -> InnerProducts:
        """Return the rows in this precision, which are kept."""
        with self._building:
            if dtype not in self._stores:
                self._stores[dtype] = self._built(dtype)
            return self._stores[dtype]

    def _built(self, dtype: Any) -> InnerProducts:
        store = InnerProducts(self._rows.shape[1] + 1, dtype)
        for part in blocks(self._rows.shape[0], _STORED):
            rows = self._rows[part]
            data = rows.data.astype(np.float64) / self._unit
            store.append(_with_column(rows, data, _squared_norms(rows, data) / 2))
        return store


def _with_column(rows: Any, data: NDArray[Any], column: NDArray[np.float64]) -> Any:
    """Return rows with these data, and a last column."""
    ends = rows.indptr[1:]
    return sp.csr_array(
        (
            np.insert(data, ends, column),
            np.insert(rows.indices, ends, rows.shape[1]),
            rows.indptr + np.arange(rows.shape[0] + 1, dtype=rows.indptr.dtype),
        ),
        shape=(rows.shape[0], rows.shape[1] + 1),
    )


def _squared_norms(rows: Any, data: NDArray[np.float64]) -> NDArray[np.float64]:
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    norms = np.bincount(row, weights=data**2, minlength=rows.shape[0])
    return norms.astype(np.float64, copy=False)  # bincount of no rows returns whole numbers


def _is_whole(rows: Any) -> bool:
    """Return whether inner products of these rows in float32 are exact."""
    if np.abs(rows.data).max(initial=0.0) > _WHOLE or (rows.data != np.rint(rows.data)).any():
        return False
    norms = _squared_norms(rows, rows.data.astype(np.float64))
    return bool(norms.max(initial=0.0) <= _WHOLE)

"""Centres with the two sums of the stochastic solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from ..backends import make_store
from ..kernels import Kernel


class Centres:
    """Rows s_j with the sums A_j and B_j: W = sum_j A_j (k(., s_j) + offset).

    Each row has a number, and may leave again. In a `KernelExpansion` the rows belong to one data
    set, and stay.

    Parameters
    ----------
    kernel : Kernel
        With its gamma filled in.
    n_features, n_outputs : int
        Sizes of a row and of a coefficient.
    offset : float
        Added to every kernel value.
    sparse : bool
        Whether rows are CSR.
    dtype : dtype
        Precision of rows and kernel values.
    n_threads : int
        Threads; the result is the same, bit for bit, for any number.
    keep_rows : bool, default=True
        Whether the centres are kept, and can be read as `rows`.

    Examples
    --------
    >>> from graphkm.kernels import Linear
    >>> W = Centres(Linear(), 1, 1, offset=0.0, sparse=False, dtype=np.float64, n_threads=1)
    >>> one = np.ones((1, 1))
    >>> W.add(np.array([7]), 3 * one, 2 * one, one)
    >>> W.add(np.array([7]), 3 * one, 2 * one, one)
    >>> W.ids, W.sums
    (array([7]), array([[4., 2.]]))
    >>> W.scores(5 * one)
    array([[60.]])
    """

    _parts: list[Any]

    def __init__(
        self,
        kernel: Kernel,
        n_features: int,
        n_outputs: int,
        *,
        offset: float,
        sparse: bool,
        dtype: Any,
        n_threads: int,
        keep_rows: bool = True,
    ) -> None:
        self.kernel, self.n_outputs, self.offset = kernel, n_outputs, offset
        self.n_features, self.sparse = n_features, sparse
        self.dtype, self.n_threads = np.dtype(dtype), n_threads
        self._keep_rows = keep_rows
        self.replace(np.empty(0, np.int64), self.no_rows(), np.empty((0, 2 * n_outputs)))

    def __len__(self) -> int:
        """Return the number of centres."""
        return self._size

    @property
    def ids(self) -> NDArray[np.int64]:
        """The numbers of the rows."""
        return self._ids[: len(self)]

    @property
    def sums(self) -> NDArray[np.float64]:
        """A and B side by side, of shape (n_centres, 2 n_outputs)."""
        return self._sums[: len(self)]

    @property
    def rows(self) -> Any:
        """The centres, where they are kept."""
        if len(self._parts) > 1:
            self._parts = [stack(self._parts)]
        return self._parts[0]

    def no_rows(self) -> Any:
        """Return an empty set of rows."""
        return no_rows(self.n_features, self.sparse, self.dtype)

    def new_store(self, n_outputs: int = 1) -> Any:
        """Return an empty store for rows such as these."""
        return make_store(
            self.kernel,
            self.n_features,
            n_outputs,
            sparse=self.sparse,
            dtype=self.dtype,
            n_threads=self.n_threads,
        )

    def prepared(self, queries: Any) -> Any:
        """Return queries in the form in which `values` and `scores` both take them at once."""
        return self._store.prepared(queries)

    def values(self, queries: Any, centres: Any) -> NDArray[Any]:
        """Return the kernel between two sets of rows, offset included."""
        store = self.new_store()
        store.append(centres)
        K = store.values(queries)
        return K + K.dtype.type(self.offset) if self.offset else K

    def scores(self, queries: Any) -> NDArray[np.float64]:
        """Return <W, Phi(q)> for every query, of shape (n_queries, n_outputs)."""
        scores: NDArray[np.float64] = self._store.product(queries)
        if self.offset:
            scores += self.offset * self.sums[:, : self.n_outputs].sum(axis=0)
        return scores

    def add(self, ids: NDArray[np.int64], rows: Any, change: Any, weighted: Any) -> None:
        """Add to the sums of distinct rows; rows that are not centres become centres.

        Rows to which nothing is added are left out.
        """
        moved = np.flatnonzero(change.any(axis=1) | weighted.any(axis=1))
        slot = np.array([self._slot.get(i, -1) for i in ids[moved].tolist()], np.int64)
        new = np.flatnonzero(slot < 0)
        if len(new):
            slot[new] = len(self) + np.arange(len(new))
            came = ids[moved[new]]
            self._slot.update(zip(came.tolist(), slot[new].tolist(), strict=True))
            self._grow(len(new))
            self._ids[slot[new]] = came
            centres = rows[moved[new]]
            self._store.append(centres)
            if self._keep_rows:
                self._parts.append(centres)
        self._sums[slot] += np.hstack([change[moved], weighted[moved]])
        self._store.set(slot, np.ascontiguousarray(self._sums[slot, : self.n_outputs]))

    def replace(self, ids: NDArray[np.int64], rows: Any, sums: NDArray[np.float64]) -> None:
        """Replace all centres by these."""
        self._ids, self._sums, self._size = ids.copy(), sums.copy(), len(ids)
        self._parts = [rows]
        self._slot = {row: slot for slot, row in enumerate(ids.tolist())}
        self._store = self.new_store(n_outputs=self.n_outputs)
        if len(ids):
            self._store.append(rows)
            A = np.ascontiguousarray(sums[:, : self.n_outputs])
            self._store.set(np.arange(len(ids)), A)

    def _grow(self, count: int) -> None:
        self._size += count
        if self._size > len(self._ids):
            more = max(self._size, 2 * len(self._ids), 64) - len(self._ids)
            self._ids = np.concatenate([self._ids, np.full(more, -1)])
            self._sums = np.concatenate([self._sums, np.zeros((more, self._sums.shape[1]))])


def no_rows(n_features: int, sparse: bool, dtype: Any) -> Any:
    """Return an empty set of rows, dense or CSR."""
    empty = np.empty((0, n_features), dtype)
    return csr_array(empty) if sparse else empty


def stack(parts: list[Any]) -> Any:
    """Return sets of rows, dense or CSR, as one.

    Examples
    --------
    >>> stack([np.zeros((1, 2)), np.ones((1, 2))]).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    return vstack(parts, format="csr") if issparse(parts[0]) else np.concatenate(parts)

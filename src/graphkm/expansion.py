"""f(x) = sum_j a_j (k(x, s_j) + offset): centres, coefficients, scores."""

from __future__ import annotations

import os
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from ._util.spread import without_outliers
from .backends import active, as_centres, make_store, query_rows
from .kernels import Kernel

_ROWS = 8192  # rows of a large X converted at once
_MOVING = Lock()  # only one thread at a time makes a new store


def default_threads() -> int:
    """Return the default number of threads: the cores of this process.

    ``OMP_NUM_THREADS``, which joblib sets in its workers, is respected.

    Examples
    --------
    >>> default_threads() >= 1
    True
    """
    wish = os.environ.get("OMP_NUM_THREADS", "")
    if wish.isdecimal() and int(wish) > 0:
        return int(wish)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


class KernelExpansion:
    """A growing sum of kernels over rows of one data set.

    Parameters
    ----------
    kernel : Kernel
        With its gamma filled in.
    X : ndarray or CSR of shape (n, n_features)
        The data whose rows become centres.
    n_outputs : int, default=1
        Number of functions that share the centres.
    offset : float, default=0.0
        Added to every kernel value; 1 gives the functions an intercept.
    constant : ndarray of shape (n_outputs,), optional
        Added to the functions themselves.
    dtype : dtype, default=float32
        Precision of kernel values; sums over centres are in float64.
    n_threads : int, default=1
        Threads used; the result is the same, bit for bit, for any number.
    shift : ndarray of shape (n_features,), optional
        Subtracted from all rows. None is the mean row where that keeps digits (`mean_row`).

    Examples
    --------
    >>> from graphkm.kernels import SquaredExponential
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> f = KernelExpansion(SquaredExponential(gamma=1.0), X, dtype=np.float64)
    >>> f.set(np.array([0, 2]), np.array([[1.0], [-1.0]]))
    >>> f.scores(X).ravel().round(4).tolist()
    [0.9817, 0.0, -0.9817]
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        n_outputs: int = 1,
        *,
        offset: float = 0.0,
        constant: NDArray[np.float64] | None = None,
        dtype: Any = np.float32,
        n_threads: int = 1,
        shift: NDArray[Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.offset = offset
        self.dtype = np.dtype(dtype)
        self.n_threads = n_threads
        self.n_outputs = n_outputs
        self.constant = np.zeros(n_outputs) if constant is None else constant
        self._X = X
        self._sparse = issparse(X)
        self._shift = mean_row(kernel, X) if shift is None else shift
        self._home = active(), self._new_store()  # together, for threads that look at both
        self._slot = np.full(X.shape[0], -1, np.int64)
        self._rows = np.empty(64, np.int64)
        self._coefficients = np.empty((64, n_outputs))

    def __len__(self) -> int:
        """Return the number of centres."""
        return len(self._store)

    @property
    def _store(self) -> Any:
        return self._home[1]

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows of X that are centres, in the order they came."""
        return self._rows[: len(self)]

    @property
    def centres(self) -> Any:
        """The centres in the order they came; without columns if the kernel is precomputed."""
        rows = self.rows
        whole = len(rows) == self._X.shape[0] and bool((rows[1:] > rows[:-1]).all())
        return self._X if whole else self._X[rows]

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """The centres' coefficients, of shape (n_centres, n_outputs)."""
        return self._coefficients[: len(self)]

    def set(self, rows: NDArray[np.int64], coefficients: NDArray[np.float64]) -> None:
        """Give distinct rows of X these coefficients; rows that are not centres become ones."""
        new = rows[self._slot[rows] < 0]
        if len(new):
            first, size = len(self), len(self) + len(new)
            if size > len(self._rows):
                more = max(size, 2 * len(self._rows)) - len(self._rows)
                self._rows = np.concatenate([self._rows, np.empty(more, np.int64)])
                empty = np.empty((more, self.n_outputs))
                self._coefficients = np.concatenate([self._coefficients, empty])
            self._append(self._store, new)
            self._slot[new] = np.arange(first, size)
            self._rows[first:size] = new
        slots = self._slot[rows]
        self._coefficients[slots] = coefficients
        self._store.set(slots, np.ascontiguousarray(coefficients, np.float64))

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Return f at the rows of X, of shape (n, n_outputs)."""
        if self._sparse and not issparse(X):
            X = csr_array(X)
        store = self._store_of_active_backend()
        out = np.empty((X.shape[0], self.n_outputs))
        for start in range(0, X.shape[0], _ROWS):
            part = slice(start, min(start + _ROWS, X.shape[0]))
            block = X[part].toarray() if issparse(X) and not self._sparse else X[part]
            out[part] = store.product(self._queries(block, slice(None)))
        return out + self.intercept

    def values(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Return the kernel between some rows of the data and all centres, offset included."""
        return self._with_offset(self._store.values(self._queries(self._X, rows)))

    def matrix_at(self, X: Any) -> Any:
        """Return the kernel between the rows of X and all centres, as an array of the backend."""
        return self._with_offset(self._store.matrix(self.rows_of(X)))

    def between(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[Any]:
        """Return the kernel between two lists of rows of the data, offset included."""
        return active().get(self.matrix(rows, others))

    def matrix(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> Any:
        """Return the kernel between two lists of rows as an array of the backend."""
        small = self._new_store()
        queries = self._queries(self._X, rows)
        centres = queries if others is rows else self._queries(self._X, others)
        small.append(as_centres(self.kernel, others, centres))
        return self._with_offset(small.matrix(queries))

    def diagonal(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return k(x, x) at some rows of the data, offset included."""
        if not self.kernel.has_rows:
            return self._X.diagonal()[rows].astype(np.float64) + self.offset
        return self.kernel.diagonal(self._X[rows]) + self.offset

    @property
    def intercept(self) -> NDArray[np.float64]:
        """The constant part of f, of shape (n_outputs,)."""
        if not self.offset:
            return self.constant.copy()
        return self.offset * self.coefficients.sum(axis=0) + self.constant

    def _with_offset(self, K: Any) -> Any:
        if self.offset:
            K += K.dtype.type(self.offset)
        return K

    def rows_of(self, X: Any) -> Any:
        """Return all rows of X as compiled code takes them."""
        return self._queries(X, slice(None))

    def _queries(self, X: Any, rows: Any) -> Any:
        return query_rows(self.kernel, X, rows, self.dtype, self._shift)

    def _append(self, store: Any, rows: NDArray[np.int64]) -> None:
        # The centres of a precomputed kernel are row numbers: its rows may be gone.
        queries = self._queries(self._X, rows) if self.kernel.has_rows else None
        store.append(as_centres(self.kernel, rows, queries))

    def _store_of_active_backend(self) -> Any:
        """Return the store; if the backend has changed since it was made, make a new one.

        Other threads may compute at the same time, even on another backend: each has its own store,
        or finds a complete one.
        """
        home, backend = self._home, active()
        if home[0] is backend or self.kernel.native_code is None:
            return home[1]
        with _MOVING:
            if self._home[0] is not backend:
                store, rows = self._new_store(), self.rows
                if len(rows):
                    self._append(store, rows)
                    store.set(np.arange(len(rows)), np.ascontiguousarray(self.coefficients))
                self._home = backend, store
            return self._store

    def _new_store(self) -> Any:
        return make_store(
            self.kernel,
            self._X.shape[1],
            self.n_outputs,
            sparse=self._sparse,
            dtype=self.dtype,
            n_threads=self.n_threads,
        )

    def state(self) -> dict[str, Any]:
        """Return everything that defines f; `from_state` rebuilds the same f, bit for bit."""
        return {
            "kernel": self.kernel,
            "X": self._X,
            "offset": self.offset,
            "constant": self.constant,
            "dtype": self.dtype,
            "shift": self._shift,
            "rows": self.rows.copy(),
            "coefficients": self.coefficients.copy(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_threads: int = 1) -> KernelExpansion:
        """Return the f that `state` described.

        Examples
        --------
        >>> from graphkm.kernels import SquaredExponential
        >>> f = KernelExpansion(SquaredExponential(gamma=1.0), np.array([[0.0], [1.0]]))
        >>> f.set(np.array([1]), np.array([[2.0]]))
        >>> KernelExpansion.from_state(f.state()).coefficients
        array([[2.]])
        """
        parts = dict(state)
        rows, coefficients = parts.pop("rows"), parts.pop("coefficients")
        f = cls(**parts, n_outputs=coefficients.shape[1], n_threads=n_threads)
        f.set(rows, coefficients)
        return f

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is rebuilt: the compiled store and the slots."""
        return self.state() | {"n_threads": self.n_threads}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Rebuild the store from the centres."""
        parts = dict(state)
        n_threads = parts.pop("n_threads")
        self.__dict__.update(vars(self.from_state(parts, n_threads)))


def mean_row(kernel: Kernel, X: Any) -> NDArray[Any] | None:
    """Return the mean row where centring keeps digits: dense rows of a stationary kernel.

    Outliers do not count: one may move the mean so far that all other rows lose their digits.

    Examples
    --------
    >>> from graphkm.kernels import SquaredExponential
    >>> mean_row(SquaredExponential(gamma=1.0), np.array([[1.0], [3.0]]))
    array([2.])
    """
    if issparse(X) or X.shape[0] == 0 or not kernel.stationary:
        return None
    return np.asarray(without_outliers(X).mean(axis=0, dtype=np.float64)).astype(X.dtype)

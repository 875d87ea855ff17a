"""Which store serves which kernel and rows, and how rows are handed to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..kernels import Kernel
from .base import CentreStore
from .device import active
from .tiles import TileStore


def make_store(
    kernel: Kernel,
    n_features: int,
    n_outputs: int,
    *,
    sparse: bool,
    dtype: Any = np.float32,
    n_threads: int = 1,
) -> CentreStore:
    """Return an empty store: the active backend's, or Python tiles for a kernel without a code.

    Examples
    --------
    >>> from graphkm.kernels import SquaredExponential
    >>> store = make_store(SquaredExponential(gamma=0.5), 2, 1, sparse=False, dtype=np.float64)
    >>> store.append(np.array([[0.0, 0.0], [1.0, 1.0]]))
    >>> store.set(np.array([0, 1]), np.array([[1.0], [2.0]]))
    >>> store.product(np.array([[0.0, 0.0]])).round(6)
    array([[1.735759]])
    """
    precision = np.dtype(dtype)
    if kernel.native_code is None:
        return TileStore(kernel, n_outputs, precision)
    return active().store(
        kernel, n_features, n_outputs, sparse=sparse, dtype=precision, n_threads=n_threads
    )


def query_rows(
    kernel: Kernel, X: Any, rows: Any, dtype: Any, shift: NDArray[Any] | None = None
) -> Any:
    """Return some rows of X, an index array or a slice, as the store wants its queries.

    Compiled code takes rows in its own precision, and dense rows minus the shift. The shift does
    not change a stationary kernel, but its distances keep more digits. Kernels in Python see the
    rows as they are.

    Examples
    --------
    >>> from graphkm.kernels import Linear
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> query_rows(Linear(), X, np.array([1]), np.float32)
    array([[3., 4.]], dtype=float32)
    """
    taken = X[rows]
    if kernel.native_code is None:
        return taken
    if issparse(taken):
        return taken.astype(dtype, copy=False)
    return np.ascontiguousarray(taken if shift is None else taken - shift, dtype=dtype)


def as_centres(kernel: Kernel, rows: NDArray[np.int64], queries: Any) -> Any:
    """Return the centres that queries become: column numbers for a precomputed kernel.

    Examples
    --------
    >>> from graphkm.kernels import Precomputed
    >>> as_centres(Precomputed(), np.array([1]), np.eye(3)[[1]])
    array([1])
    """
    return queries if kernel.has_rows else rows

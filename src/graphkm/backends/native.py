"""Stores over compiled code: dense and CSR rows in single or double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._native import (
    DenseCentres32,
    DenseCentres64,
    DenseSmo32,
    DenseSmo64,
    GramSmo32,
    GramSmo64,
    SparseCentres32,
    SparseCentres64,
    SparseSmo32,
    SparseSmo64,
    largest_columns,
    project_centres,
)
from .._native import instruction_set as _instruction_set
from ..kernels import Kernel, Linear
from .base import CentreStore

__all__ = [
    "InnerProducts",
    "NativeStore",
    "instruction_set",
    "largest_columns",
    "make_smo",
    "project_centres",
]

_DENSE = {"f": DenseCentres32, "d": DenseCentres64}
_SPARSE = {"f": SparseCentres32, "d": SparseCentres64}
_DENSE_SMO = {"f": DenseSmo32, "d": DenseSmo64}
_SPARSE_SMO = {"f": SparseSmo32, "d": SparseSmo64}
_GRAM_SMO = {"f": GramSmo32, "d": GramSmo64}


def instruction_set() -> str:
    """Return the instruction set in use: avx512, avx2, neon or portable.

    The environment variable ``GRAPHKM_ISA`` names another one, if the machine has it.

    Examples
    --------
    >>> instruction_set() in {"avx512", "avx2", "neon", "portable"}
    True
    """
    return _instruction_set()


class NativeStore(CentreStore):
    """Centres in compiled code.

    Parameters
    ----------
    kernel : Kernel
        One with a native code.
    n_features, n_outputs : int
        Sizes of a row and of a coefficient.
    sparse : bool
        Whether rows are CSR.
    dtype : dtype
        float32 or float64: the precision of rows and kernel values; sums are in float64.
    n_threads : int
        Threads used; the result is the same, bit for bit, for any number.
    """

    def __init__(
        self,
        kernel: Kernel,
        n_features: int,
        n_outputs: int,
        *,
        sparse: bool,
        dtype: np.dtype[Any],
        n_threads: int,
    ) -> None:
        store: Any = (_SPARSE if sparse else _DENSE)[dtype.char]
        self._centres = store(*_parameters(kernel), n_features, n_outputs)
        self._sparse = sparse
        self._dtype = dtype
        self._n_outputs = n_outputs
        self._n_threads = n_threads
        # In compiled code every amplitude is 1: the kernel's multiplies sums and values here.
        self._amplitude = float(getattr(kernel, "sigma_f", 1.0)) ** 2

    def __len__(self) -> int:
        return len(self._centres)

    def append(self, rows: Any) -> None:
        self._centres.append(*self._arrays(rows))

    def set(self, index: NDArray[np.int64], coefficients: NDArray[np.float64]) -> None:
        self._centres.set(index, coefficients)

    def product(self, queries: Any) -> NDArray[np.float64]:
        out = np.empty((queries.shape[0], self._n_outputs))
        self._centres.product(*self._arrays(queries), out, self._n_threads)
        return out if self._amplitude == 1.0 else np.multiply(out, self._amplitude, out=out)

    def values(self, queries: Any) -> NDArray[Any]:
        out = np.empty((queries.shape[0], len(self)), self._dtype)
        self._centres.values(*self._arrays(queries), out, self._n_threads)
        return out if self._amplitude == 1.0 else np.multiply(out, self._amplitude, out=out)

    def _arrays(self, rows: Any) -> tuple[Any, ...]:
        return (rows.indptr, rows.indices, rows.data) if self._sparse else (rows,)


class InnerProducts:
    """Sparse rows, and which of them have the largest inner products with others.

    Parameters
    ----------
    n_features : int
        Size of a row.
    dtype : dtype
        float32 or float64: the precision of rows and inner products.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = InnerProducts(2, np.float64)
    >>> rows.append(csr_array([[1.0, 0.0], [0.0, 2.0], [0.0, 2.0]]))
    >>> rows.largest(csr_array([[1.0, 1.0]]), 2)
    array([[1, 2]], dtype=int32)
    """

    def __init__(self, n_features: int, dtype: Any) -> None:
        self._dtype = np.dtype(dtype)
        store: Any = _SPARSE[self._dtype.char]
        self._rows = store(*_parameters(Linear()), n_features, 1)

    def append(self, rows: Any) -> None:
        """Add rows of a canonical CSR matrix."""
        self._rows.append(*self._arrays(rows))

    def largest(self, queries: Any, k: int) -> NDArray[np.int32]:
        """Return the k rows with the largest inner products with each query.

        The largest is first, and of equals the earliest.
        """
        out = np.empty((queries.shape[0], k), np.int32)
        self._rows.largest(*self._arrays(queries), out, 1)
        return out

    def _arrays(self, rows: Any) -> tuple[Any, ...]:
        indptr, indices = (a.astype(np.int32, copy=False) for a in (rows.indptr, rows.indices))
        return indptr, indices, rows.data.astype(self._dtype, copy=False)


def make_smo(
    kernel: Kernel,
    rows: Any,
    diagonal: NDArray[np.float64],
    mean: NDArray[np.float64],
    dtype: Any,
    cache_bytes: int,
) -> Any:
    """Return a compiled solver of dual problems over these rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel; one without a native code takes its matrix of values as rows.
    rows : ndarray or CSR
        As the kernel's store takes them.
    diagonal : ndarray of shape (n,) or (n + 1,)
        k(x, x) of every row, then of the mean of some rows if there is one.
    mean : ndarray of shape (n,) or (0,)
        The mean's kernel with every row.
    dtype : dtype
        float32 or float64.
    cache_bytes : int
        Memory for kernel rows.
    """
    given = (diagonal, mean, cache_bytes)
    char = np.dtype(dtype).char
    if kernel.native_code is None:
        return _GRAM_SMO[char](rows, *given)
    if issparse(rows):
        arrays = (rows.shape[1], rows.indptr, rows.indices, rows.data)
        return _SPARSE_SMO[char](*_parameters(kernel), *arrays, *given)
    return _DENSE_SMO[char](*_parameters(kernel), rows, *given)


def _parameters(kernel: Kernel) -> tuple[int, float, float, int]:
    """Return a kernel as compiled code knows it: code, gamma, coef0, degree."""
    assert kernel.native_code is not None
    gamma = getattr(kernel, "gamma", None)
    return (
        kernel.native_code,
        1.0 if gamma is None else float(gamma),
        float(getattr(kernel, "coef0", 0.0)),
        int(getattr(kernel, "degree", 1)),
    )

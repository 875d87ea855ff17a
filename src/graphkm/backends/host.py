"""The processor's backend: compiled stores, and the passes of conjugate gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, get_lapack_funcs, solve_triangular
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..kernels import Kernel
from .base import Backend, CentreStore, ColumnSystem, NeighbourSearch
from .columns import SparseColumns, columns_step, columns_turn
from .native import NativeStore

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


class HostBackend(Backend):
    """Everything on the processor."""

    name = "cpu"
    block_rows = 2**16
    block_steps = 256

    def store(
        self,
        kernel: Kernel,
        n_features: int,
        n_outputs: int,
        *,
        sparse: bool,
        dtype: np.dtype[Any],
        n_threads: int,
    ) -> CentreStore:
        """Return an empty store in compiled code."""
        return NativeStore(
            kernel, n_features, n_outputs, sparse=sparse, dtype=dtype, n_threads=n_threads
        )

    def searches(self, n: int, d: int) -> bool:
        """Return False: `NeighbourIndex` chooses among the processor's own searches."""
        return False

    def search(self, rows: NDArray[Any]) -> NeighbourSearch:
        """Graphs have their own searches on the processor."""
        raise NotImplementedError("graphs search on the processor by themselves")

    def columns(self, matrix: Any, n_threads: int) -> ColumnSystem:
        """Return tables in an order that keeps neighbours together."""
        return HostColumns(matrix, n_threads)

    def sparse_product(self, A: Any, B: Any) -> Any:
        return A @ B

    def put(self, array: NDArray[Any], dtype: Any = None) -> Any:
        return np.asarray(array, dtype=dtype)

    def get(self, array: Any) -> NDArray[Any]:
        return np.asarray(array)

    def cholesky(self, A: Any) -> Any | None:
        # The transpose of a symmetric matrix is the same matrix in the order that LAPACK likes.
        factor, info = get_lapack_funcs("potrf", dtype=A.dtype)(
            A.T if A.flags.c_contiguous else A, lower=1, clean=1, overwrite_a=1
        )
        return None if info else factor

    def solve_lower(self, L: Any, B: Any, *, transposed: bool = False) -> Any:
        return solve_triangular(
            L, B, lower=True, trans=int(transposed), overwrite_b=True, check_finite=False
        )

    def inverse_lower(self, L: Any) -> Any:
        return get_lapack_funcs("trtri", dtype=L.dtype)(L, lower=1, overwrite_c=1)[0]

    def eigh(self, A: Any) -> tuple[Any, Any]:
        values, vectors = eigh(A, driver="evd", overwrite_a=True, check_finite=False)
        return values, vectors


class HostTables(ColumnSystem):
    """Tables of the processor, whose rows are in the order of the matrix."""

    most_columns = 2**16

    def __init__(self, n_threads: int) -> None:
        self._n_threads = n_threads

    def put(self, table: Any) -> Float32:
        return np.ascontiguousarray(table, dtype=np.float32)

    def get(self, table: Any) -> Float32:
        return np.asarray(table)

    def reader(self, matrix: Any) -> Any:
        return matrix

    def read(self, reader: Any, table: Any) -> Float64:
        return np.asarray(reader @ table, dtype=np.float64)

    def square(self, matrix: Any) -> Any:
        return matrix

    def step(
        self,
        solution: Any,
        residual: Any,
        direction: Any,
        image: Any,
        length: Float32,
        inverse_diagonal: Any,
    ) -> tuple[Float64, Float64]:
        tables = (solution, residual, direction, image)
        return columns_step(*tables, length, inverse_diagonal, n_threads=self._n_threads)

    def turn(self, direction: Any, residual: Any, inverse_diagonal: Any, ratio: Float32) -> None:
        columns_turn(direction, residual, inverse_diagonal, ratio, n_threads=self._n_threads)

    def sums(self, a: Any, b: Any) -> Float64:
        return np.einsum("ij,ij->j", a, b, dtype=np.float64)


class HostColumns(HostTables):
    """Tables whose rows are in the order of Cuthill and McKee: products find them in the cache."""

    def __init__(self, matrix: Any, n_threads: int) -> None:
        super().__init__(n_threads)
        self._order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
        self._matrix = SparseColumns(self.square(matrix))

    def put(self, table: Any) -> Float32:
        return super().put(table[self._order])

    def get(self, table: Any) -> Float32:
        found = np.empty_like(table)
        found[self._order] = table
        return found

    def reader(self, matrix: Any) -> Any:
        return matrix[:, self._order]

    def square(self, matrix: Any) -> Any:
        return matrix[self._order][:, self._order]

    def product(self, diagonal: Any, scale: float, X: Any, out: Any) -> Float64:
        return self._matrix.product(diagonal, scale, X, out, n_threads=self._n_threads)

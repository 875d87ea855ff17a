"""The passes of conjugate gradients on the card."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import ColumnSystem
from .modules import kernel, multiprocessors, require_card

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]

_THREADS = 256


class CudaColumns(ColumnSystem):
    """Tables on the card, with rows in the order of the matrix.

    Parameters
    ----------
    matrix : CSR of shape (n, n)
        It is copied to the card.
    """

    most_columns = 2 * _THREADS  # a row of a table is one block at most

    def __init__(self, matrix: Any) -> None:
        cupy = self._cupy = require_card()
        self._n = matrix.shape[0]
        self._indptr = cupy.asarray(matrix.indptr, dtype=np.int32)
        self._indices = cupy.asarray(matrix.indices, dtype=np.int32)
        self._data = cupy.asarray(matrix.data, dtype=np.float32)

    def put(self, table: Any) -> Any:
        return self._cupy.asarray(table, dtype=np.float32, order="C")

    def get(self, table: Any) -> Float32:
        return np.asarray(table.get())

    def reader(self, matrix: Any) -> Any:
        return self.square(matrix)

    def read(self, reader: Any, table: Any) -> Float64:
        return np.asarray((reader @ table).get(), dtype=np.float64)

    def square(self, matrix: Any) -> Any:
        from cupyx.scipy.sparse import csr_matrix

        cupy = self._cupy
        parts = (matrix.data.astype(np.float32), matrix.indices, matrix.indptr)
        return csr_matrix(tuple(map(cupy.asarray, parts)), shape=matrix.shape)

    def product(self, diagonal: Any, scale: float, X: Any, out: Any) -> Float64:
        K = X.shape[1]
        sums, shape = self._scratch(1, K)
        matrix = (self._indptr, self._indices, self._data)
        given = (diagonal, np.float32(scale), X, out, np.int64(self._n), np.int32(K), sums[0])
        self._run("columns_product", shape, *matrix, *given)
        return self._added(sums)[0]

    def step(
        self,
        solution: Any,
        residual: Any,
        direction: Any,
        image: Any,
        length: Float32,
        inverse_diagonal: Any,
    ) -> tuple[Float64, Float64]:
        K = solution.shape[1]
        sums, shape = self._scratch(2, K)
        tables = (solution, residual, direction, image, self._cupy.asarray(length))
        given = (inverse_diagonal, np.int64(self._n), np.int32(K), sums[0], sums[1])
        self._run("columns_step", shape, *tables, *given)
        scaled, plain = self._added(sums)
        return scaled, plain

    def turn(self, direction: Any, residual: Any, inverse_diagonal: Any, ratio: Float32) -> None:
        K = direction.shape[1]
        given = (direction, residual, inverse_diagonal, self._cupy.asarray(ratio))
        grid = (-(-self._n * K // _THREADS),)
        turn = kernel("columns.cu", "columns_turn")
        turn(grid, (_THREADS,), (*given, np.int64(self._n), np.int32(K)))

    def sums(self, a: Any, b: Any) -> Float64:
        total = self._cupy.multiply(a, b, dtype=np.float64).sum(axis=0)
        return np.asarray(total.get())

    # ------------------------------------------------------------------ blocks and their sums

    def _scratch(self, kinds: int, K: int) -> tuple[Any, tuple[int, int]]:
        """Return room for the sums of blocks, and the shape of the grid."""
        threads = max(1, _THREADS // K) * K
        blocks = max(1, min(8 * multiprocessors(), -(-self._n * K // threads)))
        return self._cupy.empty((kinds, blocks, K), np.float64), (blocks, threads)

    def _run(self, name: str, shape: tuple[int, int], *given: Any) -> None:
        blocks, threads = shape
        kernel("columns.cu", name)((blocks,), (threads,), given, shared_mem=8 * threads)

    def _added(self, sums: Any) -> Float64:
        kinds, blocks, K = sums.shape
        out = self._cupy.empty((kinds, K), np.float64)
        for kind in range(kinds):
            add = kernel("columns.cu", "block_sums")
            add((K,), (256,), (sums[kind], np.int32(blocks), np.int32(K), out[kind]))
        return np.asarray(out.get())

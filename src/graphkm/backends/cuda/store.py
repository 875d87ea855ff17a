"""Centres on the card: fused sums of kernels over them, and kernel values."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels import Kernel
from ..base import CentreStore
from .modules import STAGES, TILE, TILE_BYTES, multiprocessors, require_card, require_card_memory
from .modules import kernel as cuda_kernel
from .rows import on_card, padded

_RBF, _LAPLACIAN = 0, 3
_OUTPUTS = 32  # of one pass over the centres
_SIDE = 64  # rows of a block in plain arithmetic
_WAVES = 8  # blocks for each multiprocessor: with fewer, some would be idle at the end
_LOG2_E = log2(np.e)


class CudaStore(CentreStore):
    """Centres on the card.

    Products of single-precision rows are computed on tensor cores, with 21 bits of each product.
    Others are computed in plain arithmetic. Sums over tiles of centres are in float64. The same
    calls give the same bits.

    Parameters
    ----------
    kernel : Kernel
        One with a native code.
    n_features, n_outputs : int
        Sizes of a row and of a coefficient.
    sparse : bool
        Whether rows are CSR. They become dense on the card.
    dtype : dtype
        float32 or float64: the precision of rows and kernel values.
    """

    def __init__(
        self, kernel: Kernel, n_features: int, n_outputs: int, *, sparse: bool, dtype: np.dtype[Any]
    ) -> None:
        cupy = self._cupy = require_card()
        assert kernel.native_code is not None
        self._code, self._dtype, self._n_outputs = kernel.native_code, dtype, n_outputs
        self._gamma = 1.0 if (gamma := getattr(kernel, "gamma", None)) is None else float(gamma)
        self._coef0 = float(getattr(kernel, "coef0", 0.0))
        self._degree = int(getattr(kernel, "degree", 1))
        self._amplitude = float(getattr(kernel, "sigma_f", 1.0)) ** 2
        self._number = "float" if dtype == np.float32 else "double"
        self._tensor = dtype == np.float32 and self._code != _LAPLACIAN
        self._width = padded(n_features) if self._tensor else n_features
        self._n = 0
        self._rows = cupy.empty((0, self._width), dtype)
        self._half = cupy.empty(0, dtype)
        self._a = cupy.empty((n_outputs, 0), dtype)

    def __len__(self) -> int:
        return self._n

    def append(self, rows: Any) -> None:
        if not rows.shape[0]:
            return
        new, size = self.on_card(rows), self._n + rows.shape[0]
        if not self._n:
            self._rows, self._half = new, self._halves(new)
            self._a = self._cupy.zeros((self._n_outputs, size), self._dtype)
        else:
            if size > len(self._rows):
                self._grow(max(size, 2 * len(self._rows)))
            added = slice(self._n, size)
            self._rows[added], self._half[added], self._a[:, added] = new, self._halves(new), 0
        self._n = size

    def set(self, index: NDArray[np.int64], coefficients: NDArray[np.float64]) -> None:
        cupy = self._cupy
        self._a[:, cupy.asarray(index)] = cupy.asarray(coefficients.T.astype(self._dtype))

    def prepared(self, queries: Any) -> Any:
        return self.on_card(queries)

    def product(self, queries: Any) -> NDArray[np.float64]:
        if not self._n or not queries.shape[0]:
            return np.zeros((queries.shape[0], self._n_outputs))
        return np.asarray(self.product_on_card(self.on_card(queries)).get())

    def product_on_card(self, rows: Any) -> Any:
        """Return `product` of rows that `on_card` has put there, on the card."""
        half, outputs = self._halves(rows), range(0, self._n_outputs, _OUTPUTS)
        parts = [self._sums(rows, half, self._a[i : i + _OUTPUTS]) for i in outputs]
        out = parts[0] if len(parts) == 1 else self._cupy.concatenate(parts, axis=1)
        return out if self._amplitude == 1.0 else out * self._amplitude

    def values(self, queries: Any) -> NDArray[Any]:
        return np.asarray(self.matrix(queries).get())

    def matrix(self, queries: Any) -> Any:
        cupy, n, m = self._cupy, queries.shape[0], self._n
        require_card_memory(
            n * m * self._dtype.itemsize,
            f"a matrix of {n:,} x {m:,} kernel values",
            "Pass fewer rows or landmarks, or device='cpu'.",
        )
        out = cupy.empty((n, m), self._dtype)
        if n and m:
            rows = self.on_card(queries)
            shared = 4 * TILE * (1 + STAGES[4])
            self._call("kernel_matrix", self._grid(n, m), shared, *self._between(rows), out=out)
        return out if self._amplitude == 1.0 else out * self._dtype.type(self._amplitude)

    # ------------------------------------------------------------------ on the card

    def on_card(self, rows: Any) -> Any:
        """Return rows as a table on the card, as wide as its tiles want it."""
        return on_card(rows, self._dtype, self._width)

    def _halves(self, rows: Any) -> Any:
        """Return what a kernel needs of a row alone: a part of its exponent, or 1 / ||x||."""
        n, of = len(rows), self._dtype.type
        out = self._cupy.empty(n, self._dtype)
        sizes = (np.int64(n), np.int32(self._width), of(-self._gamma * _LOG2_E))
        halves = cuda_kernel("exact.cu", "row_halves", KERNEL=self._code, NUMBER=self._number)
        halves((-(-n // 8),), (256,), (rows, *sizes, out))
        return out

    def _grow(self, size: int) -> None:
        cupy, kept = self._cupy, slice(0, self._n)
        rows, half = cupy.empty((size, self._width), self._dtype), cupy.empty(size, self._dtype)
        a = cupy.empty((self._n_outputs, size), self._dtype)
        rows[kept], half[kept], a[:, kept] = self._rows[kept], self._half[kept], self._a[:, kept]
        self._rows, self._half, self._a = rows, half, a

    def _sums(self, rows: Any, half: Any, a: Any) -> Any:
        """Return the sums for a few outputs, of shape (n, n_outputs)."""
        n, outputs = len(rows), len(a)
        across, parts = self._grid(n, self._n)
        out = self._cupy.empty((parts, n, outputs), np.float64)
        a = self._cupy.ascontiguousarray(a)
        if self._tensor:
            shared = 8 * TILE * outputs + 4 * TILE * (5 + STAGES[4] * (1 + outputs))
        else:
            shared = 8 * _SIDE * outputs
        given = (*self._between(rows, half), a, np.int64(a.shape[1]), np.int32(outputs))
        name = "kernel_sum" if self._tensor and outputs == 1 else "kernel_sums"
        self._call(name, (across, parts), shared, *given, out=out)
        return out[0] if parts == 1 else out.sum(axis=0)

    def _grid(self, n: int, m: int) -> tuple[int, int]:
        """Return the number of blocks of queries, and of blocks that share the centres of each."""
        side = TILE if self._tensor else _SIDE
        across, tiles = -(-n // side), -(-m // side)
        return across, max(1, min(tiles, _WAVES * multiprocessors() // across))

    def _between(self, rows: Any, half: Any = None) -> tuple[Any, ...]:
        half = self._halves(rows) if half is None else half
        n, m, width = np.int64(len(rows)), np.int64(self._n), np.int32(self._width)
        return rows, half, n, self._rows, self._half, m, width

    def _call(self, name: str, grid: tuple[int, int], shared: int, *given: Any, out: Any) -> None:
        if self._tensor:
            function = cuda_kernel("tiles.cu", name, KERNEL=self._code)
            shared += TILE_BYTES[4]
            function.max_dynamic_shared_size_bytes = shared
            gamma = self._gamma * (_LOG2_E if self._code == _RBF else 1.0)
        else:
            function = cuda_kernel("exact.cu", name, KERNEL=self._code, NUMBER=self._number)
            shared = shared if name == "kernel_sums" else 0
            gamma = self._gamma
        of = self._dtype.type
        constants = (of(gamma), of(self._coef0), np.int32(self._degree))
        function(grid, (256,), (*given, *constants, out), shared_mem=shared)

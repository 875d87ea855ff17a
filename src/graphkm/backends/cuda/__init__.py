"""The backend of NVIDIA cards, on CuPy. Importing it needs no card; using it does.

===========  ========================================================================
modules      CUDA sources beside this file, compiled when first used and kept by CuPy
rows         rows on the card, filled up to a width that suits it
store        centres with coefficients: fused sums of kernels, and kernel values
tables       rows around a middle, rounded to floats or to 16 bits
lists        kernels that fill lists of nearest rows, and put them in order
search       exact nearest rows, without a matrix of distances
cells        nearly all of the nearest rows, where only near cells are read
columns      the passes of conjugate gradients
===========  ========================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from ...kernels import Kernel
from ..base import Backend, CentreStore, ColumnSystem, NeighbourSearch
from .modules import require_card

_FEW = 4096  # rows up to which a search on the processor is as fast


class CudaBackend(Backend):
    """Everything that pays on a card. NumPy arrays come in, and NumPy arrays go out."""

    name = "cuda"
    block_rows = 2**20
    block_steps = 768  # each block has the costs of a dozen calls and transfers

    def __init__(self) -> None:
        self._cupy = require_card()

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
        """Return an empty store on the card."""
        from .store import CudaStore

        return CudaStore(kernel, n_features, n_outputs, sparse=sparse, dtype=dtype)

    def searches(self, n: int, d: int) -> bool:
        """Return whether there are enough rows for the card."""
        return n > _FEW

    def search(self, rows: NDArray[Any]) -> NeighbourSearch:
        """Return the exact search on the card."""
        from .search import CudaSearch

        return CudaSearch(rows)

    def columns(self, matrix: Any, n_threads: int) -> ColumnSystem:
        """Return tables on the card."""
        from .columns import CudaColumns

        return CudaColumns(matrix)

    def sparse_product(self, A: Any, B: Any) -> Any:
        if not issparse(B):
            return (self._sparse(A) @ self._doubles(B)).get()
        return csr_array((self._sparse(A) @ self._sparse(B)).get())

    def _sparse(self, matrix: Any) -> Any:
        """Return a sparse matrix as CSR on the card, where a transposed one is sorted faster."""
        from cupyx.scipy import sparse

        rows = matrix if matrix.format == "csc" else matrix.tocsr()
        places = map(self._cupy.asarray, (rows.indices, rows.indptr))
        kind = getattr(sparse, f"{rows.format}_matrix")
        return kind((self._doubles(rows.data), *places), shape=rows.shape).tocsr()

    def _doubles(self, array: NDArray[Any]) -> Any:
        """Return an array in float64 on the card. It is converted there: fewer bytes are copied."""
        return self._cupy.asarray(array).astype(np.float64, copy=False)

    def put(self, array: NDArray[Any], dtype: Any = None) -> Any:
        return self._cupy.asarray(array, dtype=dtype)

    def get(self, array: Any) -> NDArray[Any]:
        return np.asarray(array.get() if hasattr(array, "get") else array)

    def cholesky(self, A: Any) -> Any | None:
        factor = self._cupy.linalg.cholesky(A)
        # cuSOLVER stops at the first pivot that is not positive, and CuPy does not report it.
        pivots = factor.diagonal().get()
        return factor if np.isfinite(pivots).all() and (pivots > 0).all() else None

    def solve_lower(self, L: Any, B: Any, *, transposed: bool = False) -> Any:
        from cupyx.scipy.linalg import solve_triangular

        return solve_triangular(L, B, lower=True, trans=int(transposed), check_finite=False)

    def inverse_lower(self, L: Any) -> Any:
        return self.solve_lower(L, self._cupy.eye(len(L), dtype=L.dtype))

    def eigh(self, A: Any) -> tuple[Any, Any]:
        values, vectors = self._cupy.linalg.eigh(A)
        return values, vectors

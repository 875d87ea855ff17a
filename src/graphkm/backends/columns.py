"""The compiled passes of conjugate gradients: many right-hand sides, one sparse matrix.

Tables are C-contiguous float32 arrays of shape (n, K), with a row per node and a column per
right-hand side. Sums over rows are in float64. Any number of threads gives the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._native import SparseColumns as _Matrix
from .._native import columns_step as _step
from .._native import columns_turn as _turn

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


class SparseColumns:
    """A sparse matrix for products with tables; it is checked once, here.

    Parameters
    ----------
    matrix : CSR of shape (n, n)
        Its arrays are used as they are, and must not change, if they are float32 values and int32
        indices. Others are converted.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> matrix = SparseColumns(csr_array([[0, 1], [1, 0]]))
    >>> X, out = np.array([[1], [2]], np.float32), np.empty((2, 1), np.float32)
    >>> matrix.product(np.array([3, 3], np.float32), -1.0, X, out, n_threads=1).tolist()
    [11.0]
    >>> out.tolist()
    [[1.0], [5.0]]
    """

    def __init__(self, matrix: Any) -> None:
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"the matrix must be square, not of shape {matrix.shape}")
        self._matrix = _Matrix(
            np.ascontiguousarray(matrix.indptr, np.int32),
            np.ascontiguousarray(matrix.indices, np.int32),
            np.ascontiguousarray(matrix.data, np.float32),
        )

    def product(
        self, diagonal: Float32, scale: float, X: Float32, out: Float32, *, n_threads: int
    ) -> Float64:
        """Set out = diagonal[:, None] * X + scale * (matrix @ X).

        Parameters
        ----------
        diagonal : ndarray of float32 of shape (n,)
            What is added to the scaled matrix's diagonal.
        scale : float
            The factor of the matrix.
        X, out : ndarray of float32 of shape (n, K)
            Tables that share no memory.
        n_threads : int
            Threads used.

        Returns
        -------
        ndarray of shape (K,)
            The column sums of X * out.
        """
        sums = np.empty(X.shape[-1])
        self._matrix.product(diagonal, scale, X, out, sums, n_threads)
        return sums


def columns_step(
    solution: Float32,
    residual: Float32,
    direction: Float32,
    image: Float32,
    length: Float32,
    inverse_diagonal: Float32,
    *,
    n_threads: int,
) -> tuple[Float64, Float64]:
    """Add length * direction to the solution, and subtract length * image from the residual.

    Parameters
    ----------
    solution, residual : ndarray of float32 of shape (n, K)
        Changed in place.
    direction, image : ndarray of float32 of shape (n, K)
        The direction of the step, and its product with the system's matrix.
    length : ndarray of float32 of shape (K,)
        The step of every column.
    inverse_diagonal : ndarray of float32 of shape (n,)
        The preconditioner.
    n_threads : int
        Threads used.

    Returns
    -------
    scaled, plain : ndarray of shape (K,)
        Column sums, after the step, of inverse_diagonal[:, None] * residual**2 and of residual**2.
    """
    sums = np.empty((2, solution.shape[-1]))
    _step(solution, residual, direction, image, length, inverse_diagonal, sums, n_threads)
    return sums[0], sums[1]


def columns_turn(
    direction: Float32,
    residual: Float32,
    inverse_diagonal: Float32,
    ratio: Float32,
    *,
    n_threads: int,
) -> None:
    """Set direction = inverse_diagonal[:, None] * residual + ratio * direction.

    Parameters
    ----------
    direction : ndarray of float32 of shape (n, K)
        Changed in place.
    residual : ndarray of float32 of shape (n, K)
        The residual after the step.
    inverse_diagonal : ndarray of float32 of shape (n,)
        The preconditioner.
    ratio : ndarray of float32 of shape (K,)
        The old direction's factor in every column.
    n_threads : int
        Threads used.
    """
    _turn(direction, residual, inverse_diagonal, ratio, n_threads)

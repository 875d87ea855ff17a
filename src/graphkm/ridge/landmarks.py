"""Kernel ridge fits on landmarks, whose rows may come in parts: their sums serve every fit.

K is the kernel between rows and landmarks, and L L' the kernel between the landmarks. A row of
K L^-T has the features phi of a row: in these the fit is an ordinary ridge regression.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backends import Backend, active
from ..expansion import KernelExpansion
from ..kernels import Kernel
from .factors import kernel_factor
from .left_out import without_own

Matrix = NDArray[np.float64]

_BLOCK = 4096  # rows whose kernel values are computed together


class LandmarkSums(NamedTuple):
    """What a fit on landmarks needs from the rows. Sums of parts add up."""

    gram: Matrix
    """phi'W phi, of shape (m, m)."""
    right: Matrix
    """phi'W targets, of shape (m, n_outputs)."""


class LandmarkFit(NamedTuple):
    """A fit with one alpha, and what its held-out scores are computed from."""

    alpha: float
    coefficients: Matrix  # of shape (m, n_outputs)
    whole: Matrix  # one solve with it gives scores and leverages
    half: Matrix


class LandmarkBasis:
    """Fits on few landmarks. The rows may come in parts: their sums serve every alpha.

    Parameters
    ----------
    kernel : Kernel
        With its gamma filled in.
    landmarks : ndarray or CSR of shape (m, n_features)
        Rows that span f.
    dtype : dtype
        Precision of products within a block of rows. Sums over blocks are in double precision.
    n_threads : int, default=1
        Threads that compute kernel values.
    """

    def __init__(self, kernel: Kernel, landmarks: Any, dtype: Any, n_threads: int = 1) -> None:
        every = np.arange(landmarks.shape[0])
        exact = KernelExpansion(kernel, landmarks, dtype=np.float64, n_threads=n_threads)
        self.landmarks, self.dtype = landmarks, np.dtype(dtype)
        self._factor = active().get(kernel_factor(exact.matrix(every, every), self.dtype))
        self._kernel = KernelExpansion(kernel, landmarks, dtype=dtype, n_threads=n_threads)
        self._kernel.set(every, np.zeros((len(every), 1)))

    def sums(self, X: Any, targets: Matrix, weights: NDArray[np.float64]) -> LandmarkSums:
        """Return the sums over some rows."""
        backend, m = active(), len(self._factor)
        factor = backend.put(self._factor)
        gram = backend.put(np.zeros((m, m)))
        right = backend.put(np.zeros((m, targets.shape[1])))
        for rows, K in self._blocks(X):
            root = np.sqrt(weights[rows])[:, None]
            phi = landmark_features(backend, K, factor) * backend.put(root, self.dtype)
            gram += phi.T @ phi
            right += phi.T @ backend.put(root * targets[rows], self.dtype)
        return LandmarkSums(backend.get(gram), backend.get(right))

    def fit(self, sums: LandmarkSums, alpha: float) -> LandmarkFit:
        """Return the fit with this alpha."""
        backend = active()
        factor = backend.put(self._factor)
        inner = backend.cholesky(backend.put(sums.gram + alpha * np.eye(len(sums.gram))))
        assert inner is not None  # a sum of squares and alpha
        half = backend.solve_lower(inner, backend.put(sums.right).copy())
        v = backend.solve_lower(inner, half.copy(), transposed=True)
        a = backend.solve_lower(factor, v, transposed=True)
        return LandmarkFit(alpha, *map(backend.get, (a, factor @ inner, half)))

    def held_out(
        self, fit: LandmarkFit, X: Any, targets: Matrix, weights: NDArray[np.float64]
    ) -> Matrix:
        """Return what a fit says of rows that it was fitted to, each without its own target."""
        backend = active()
        whole, half = backend.put(fit.whole), backend.put(fit.half, self.dtype)
        held = [np.empty((0, targets.shape[1]))]
        for rows, K in self._blocks(X):
            phi = landmark_features(backend, K, whole)
            leverages = weights[rows] * backend.get(_row_squares(phi))
            held.append(without_own(backend.get(phi @ half), targets[rows], leverages))
        return np.concatenate(held)

    def _blocks(self, X: Any) -> Iterator[tuple[slice, Any]]:
        for start in range(0, X.shape[0], _BLOCK):
            rows = slice(start, min(start + _BLOCK, X.shape[0]))
            yield rows, self._kernel.matrix_at(X[rows])


def landmark_features(backend: Backend, K: Any, factor: Any) -> Any:
    """Return K L^-T, computed in the precision of K, which may be overwritten."""
    own = factor.astype(K.dtype, order="F", copy=False)
    return backend.solve_lower(own, K.T).T


def _row_squares(A: Any) -> Any:
    return np.einsum("ij,ij->i", A, A).astype(np.float64)

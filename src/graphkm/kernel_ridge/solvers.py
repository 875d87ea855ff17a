"""Kernel ridge fits, and what they say of each row without that row's own target.

A fit minimises ``sum_i s_i ||t_i - f(x_i)||^2 + alpha ||f||^2`` over the span of some rows, its
landmarks. If row i has the leverage h_i, a fit without its target gives it the score
(f_i - h_i t_i) / (1 - h_i).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.memory import require_memory
from ..backends import active
from ..estimators.data_checks import largest_kernel_value, rounding_of_exponents, smallest_scale
from ..expansion import KernelExpansion
from ..kernels import Kernel
from ..ridge.factors import kernel_factor
from ..ridge.landmarks import landmark_features
from ..ridge.left_out import without_own

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]

_BLOCK = 4096  # rows whose kernel values are computed together
_SMALL = 1000  # rows up to which everything is in double precision
_NOISE = 0.01  # share of alpha that rounding may take
_COARSE = 1e-3  # error of a kernel value's exponent from which double precision is needed


class RidgeFit(NamedTuple):
    """A fit with one alpha."""

    alpha: float
    landmarks: Rows
    coefficients: Matrix  # of shape (n_landmarks, n_outputs)
    held_out: Matrix  # every row's scores without its own target
    dtype: np.dtype[Any]  # the precision that the kernel values had


@dataclass(frozen=True)
class RidgeProblem:
    """Rows with targets, for one kernel.

    Parameters
    ----------
    kernel : Kernel
        With its gamma filled in.
    X : ndarray or CSR of shape (n, n_features)
        All rows.
    targets : ndarray of shape (n, n_outputs)
        What f learns.
    weights : ndarray of shape (n,)
        All positive.
    n_threads : int
        Threads that compute kernel values.
    """

    kernel: Kernel
    X: Any
    targets: Matrix
    weights: NDArray[np.float64]
    n_threads: int = 1

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.targets)

    def dtype(self, alpha: float, n: int) -> np.dtype[Any]:
        """Return the precision that matrices of n rows need with this alpha."""
        if len(self) <= _SMALL or not _fits_single(self.X):
            return np.dtype(np.float64)
        single = np.finfo(np.float32)
        largest = largest_kernel_value(self.kernel, self.X, np.float64)
        noise = single.eps * np.sqrt(n) * largest * self.weights.max()
        coarse = rounding_of_exponents(self.kernel, self.X, np.float32) > _COARSE
        return np.dtype(np.float64 if coarse or noise > _NOISE * alpha else np.float32)

    def values(self, dtype: Any) -> Callable[[Rows, Rows], Any]:
        """Return the function that computes kernel values between two lists of rows.

        They are an array of the active backend.
        """
        f = KernelExpansion(self.kernel, self.X, dtype=dtype, n_threads=self.n_threads)
        return f.matrix


def held_out_by_alpha(
    problem: RidgeProblem, rows: Rows, landmarks: Rows, alphas: NDArray[np.float64]
) -> Iterator[Matrix]:
    """Yield the held-out scores of some rows for every alpha, from one eigendecomposition."""
    backend = active()
    dtype = problem.dtype(float(alphas.min()), len(landmarks))
    factor = kernel_factor(problem.values(np.float64)(landmarks, landmarks), dtype)
    root = np.sqrt(problem.weights[rows])[:, None]
    y = root * problem.targets[rows]
    K = problem.values(dtype)(rows, landmarks)
    phi = landmark_features(backend, K, factor) * backend.put(root, dtype)
    values, vectors = backend.eigh((phi.T @ phi).astype(np.float64))
    phi = phi @ vectors.astype(dtype)
    right = phi.T @ backend.put(y, dtype)
    shrink = 1.0 / (np.maximum(values, 0.0)[:, None] + backend.put(alphas))
    leverages = backend.get(np.square(phi) @ shrink.astype(dtype))
    for j in range(len(alphas)):
        scores = backend.get(phi @ (shrink[:, j, None] * right).astype(dtype))
        yield without_own(scores, y, leverages[:, j].astype(np.float64)) / root


class FullRidge:
    """Fits whose landmarks are all rows; every alpha takes one factorisation.

    Parameters
    ----------
    problem : RidgeProblem
        The rows, their targets and the kernel.
    dtype : dtype
        Precision of the kernel matrix and its factorisation. In single precision the coefficients
        are refined.
    """

    def __init__(self, problem: RidgeProblem, dtype: Any) -> None:
        n = len(problem)
        require_memory(
            2 * np.dtype(dtype).itemsize * n * n,
            f"a kernel matrix of {n:,} rows",
            "Pass a smaller n_landmarks.",
        )
        self._problem, self._dtype = problem, np.dtype(dtype)
        every = np.arange(n)
        self._K = problem.values(dtype)(every, every)

    def fit(self, alpha: float) -> RidgeFit:
        """Return the fit with this alpha."""
        problem, dtype, backend = self._problem, self._dtype, active()
        ridge = alpha / problem.weights
        A = self._K.copy()
        A.ravel()[:: len(A) + 1] += backend.put(ridge, dtype)
        factor = backend.cholesky(A)
        if factor is None:
            return self._in_double().fit(alpha)
        a = np.zeros_like(problem.targets)
        for _ in range(1 if dtype == np.float64 else 3):
            residual = problem.targets - ridge[:, None] * a - (self._product(a) if a.any() else 0.0)
            half = backend.solve_lower(factor, backend.put(residual, dtype))
            a += backend.get(backend.solve_lower(factor, half, transposed=True))
        inverse = backend.inverse_lower(factor)
        held_out = problem.targets - a / backend.get(_column_squares(inverse))[:, None]
        return RidgeFit(alpha, np.arange(len(problem)), a, held_out, dtype)

    def _in_double(self) -> FullRidge:
        if self._dtype == np.float64:
            raise ValueError(
                f"The kernel matrix of {self._problem.kernel!r} plus alpha is not positive "
                "definite. Pass larger alphas, or a kernel that is positive semi-definite."
            )
        return FullRidge(self._problem, np.float64)

    def _product(self, a: Matrix) -> Matrix:
        """Return K a, with sums in double precision."""
        backend, starts = active(), range(0, len(a), _BLOCK)
        blocks = (self._K[i : i + _BLOCK].astype(np.float64) for i in starts)
        right = backend.put(a)
        return np.concatenate([backend.get(block @ right) for block in blocks])


def _fits_single(X: Any) -> bool:
    """Return whether sums of squares of the features stay in range in single precision."""
    largest = max(abs(float(X.max())), abs(float(X.min())))
    most = np.sqrt(float(np.finfo(np.float32).max) / (4 * X.shape[1]))
    return bool(smallest_scale(np.float32) <= largest < most)


def _column_squares(A: Any) -> Any:
    starts = range(0, A.shape[1], 256)
    sums = [np.square(A[:, i : i + 256]).sum(axis=0, dtype=np.float64) for i in starts]
    return np.concatenate(sums)

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
from scipy.linalg import cholesky, eigh, get_lapack_funcs, solve_triangular
from scipy.linalg.blas import dtrmm

from .._memory import require_memory
from ..expansion import KernelExpansion
from ..kernels import Kernel
from .checks import largest_kernel_value, rounding_of_exponents

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]

_BLOCK = 4096  # rows whose kernel values are computed together
_SMALL = 1000  # rows up to which everything is in double precision
_NOISE = 0.01  # share of alpha that rounding may take
_COARSE = 1e-3  # error of a kernel value's exponent from which double precision is needed
_LARGEST_LEVERAGE = 1.0 - 1e-12


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

    def values(self, dtype: Any) -> Callable[[Rows, Rows], NDArray[Any]]:
        """Return the function that computes kernel values between two lists of rows."""
        f = KernelExpansion(self.kernel, self.X, dtype=dtype, n_threads=self.n_threads)
        return f.between


def held_out_by_alpha(
    problem: RidgeProblem, rows: Rows, landmarks: Rows, alphas: NDArray[np.float64]
) -> Iterator[Matrix]:
    """Yield the held-out scores of some rows for every alpha, from one eigendecomposition."""
    dtype = problem.dtype(float(alphas.min()), len(landmarks))
    factor = _landmark_factor(problem, landmarks, dtype)
    root = np.sqrt(problem.weights[rows])[:, None]
    y = root * problem.targets[rows]
    phi = _features(problem.values(dtype)(rows, landmarks), factor) * root.astype(dtype)
    values, vectors = eigh(
        (phi.T @ phi).astype(np.float64), driver="evd", overwrite_a=True, check_finite=False
    )
    phi = phi @ vectors.astype(dtype)
    right = phi.T @ y.astype(dtype)
    shrink = 1.0 / (np.maximum(values, 0.0)[:, None] + alphas)
    leverages = np.square(phi) @ shrink.astype(dtype)
    for j in range(len(alphas)):
        scores = phi @ (shrink[:, j, None] * right).astype(dtype)
        yield _without_own(scores, leverages[:, j], y) / root


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
        problem, dtype = self._problem, self._dtype
        factorise, solve, invert = get_lapack_funcs(("potrf", "potrs", "trtri"), dtype=dtype)
        ridge = alpha / problem.weights
        A = np.array(self._K.T, order="F")  # symmetric
        A.ravel("K")[:: len(A) + 1] += ridge.astype(dtype)
        factor, info = factorise(A, lower=1, clean=1, overwrite_a=1)
        if info:
            return self._in_double().fit(alpha)
        a = np.zeros_like(problem.targets)
        for _ in range(1 if dtype == np.float64 else 3):
            residual = problem.targets - ridge[:, None] * a - (self._product(a) if a.any() else 0.0)
            a += solve(factor, residual.astype(dtype), lower=1)[0]
        inverse, _ = invert(factor, lower=1, overwrite_c=1)
        held_out = problem.targets - a / _column_squares(inverse)[:, None]
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
        starts = range(0, len(a), _BLOCK)
        blocks = (self._K[i : i + _BLOCK] for i in starts)
        return np.concatenate([block.astype(np.float64) @ a for block in blocks])


class LandmarkRidge:
    """Fits on few landmarks; the sums over all rows serve every alpha.

    Parameters
    ----------
    problem : RidgeProblem
        The rows, their targets and the kernel.
    landmarks : ndarray of int
        Rows that span f.
    dtype : dtype
        Precision of products within a block of rows. Sums over blocks are in double precision.
    """

    def __init__(self, problem: RidgeProblem, landmarks: Rows, dtype: Any) -> None:
        self._problem, self._landmarks, self._dtype = problem, landmarks, np.dtype(dtype)
        self._factor = _landmark_factor(problem, landmarks, self._dtype)
        m = len(landmarks)
        self._gram, self._right = np.zeros((m, m)), np.zeros((m, problem.targets.shape[1]))
        for rows, K in self._blocks(np.arange(len(problem))):
            root = np.sqrt(problem.weights[rows])[:, None]
            phi = _features(K, self._factor) * root.astype(self._dtype)
            self._gram += phi.T @ phi
            self._right += phi.T @ (root * problem.targets[rows]).astype(self._dtype)

    def _blocks(self, rows: Rows) -> Iterator[tuple[Rows, NDArray[Any]]]:
        values = self._problem.values(self._dtype)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            yield block, values(block, self._landmarks)

    def fit(self, alpha: float, judged: Rows | None = None) -> RidgeFit:
        """Return the fit with this alpha; its held-out scores are those of the rows `judged`.

        None is all rows.
        """
        problem = self._problem
        judged = np.arange(len(problem)) if judged is None else judged
        A = self._gram + alpha * np.eye(len(self._gram))
        inner = cholesky(A, lower=True, overwrite_a=True, check_finite=False)
        half = solve_triangular(inner, self._right, lower=True, check_finite=False)
        v = solve_triangular(inner, half, lower=True, trans=1, check_finite=False)
        a = solve_triangular(self._factor, v, lower=True, trans=1, check_finite=False)
        # One solve with the product gives scores and leverages.
        whole = dtrmm(1.0, self._factor, inner, lower=1)
        held = []
        for rows, K in self._blocks(judged):
            phi = _features(K, whole)
            leverages = problem.weights[rows] * _row_squares(phi)
            scores = phi @ half.astype(self._dtype)
            held.append(_without_own(scores, leverages, problem.targets[rows]))
        return RidgeFit(alpha, self._landmarks, a, np.concatenate(held), self._dtype)


def _fits_single(X: Any) -> bool:
    """Return whether sums of squares of the features stay in range in single precision."""
    largest = max(abs(float(X.max())), abs(float(X.min())))
    return largest < np.sqrt(float(np.finfo(np.float32).max) / (4 * X.shape[1]))


def _landmark_factor(problem: RidgeProblem, landmarks: Rows, dtype: np.dtype[Any]) -> Matrix:
    """Return L with L L' = the kernel between the landmarks, and a little on the diagonal."""
    gram = np.asarray(problem.values(np.float64)(landmarks, landmarks), dtype=np.float64)
    level = 10 * np.finfo(dtype).eps * max(float(gram.diagonal().mean()), np.finfo(float).tiny)
    factorise = get_lapack_funcs("potrf", dtype=np.float64)
    while True:
        gram.ravel("K")[:: len(gram) + 1] += level
        factor, info = factorise(gram, lower=1, clean=1)
        if not info:
            return np.asarray(factor)
        level *= 10


def _features(K: NDArray[Any], factor: Matrix) -> NDArray[Any]:
    """Return K L^-T, computed in the precision of K, which is overwritten."""
    factor = np.asfortranarray(factor, dtype=K.dtype)
    return np.asarray(
        solve_triangular(factor, K.T, lower=True, overwrite_b=True, check_finite=False).T
    )


def _without_own(scores: Any, leverages: Any, targets: Matrix) -> Matrix:
    h = np.minimum(leverages.astype(np.float64), _LARGEST_LEVERAGE)[:, None]
    return np.asarray((scores - h * targets) / (1.0 - h), dtype=np.float64)


def _column_squares(A: NDArray[Any]) -> NDArray[np.float64]:
    starts = range(0, A.shape[1], 256)
    sums = [np.square(A[:, i : i + 256]).sum(axis=0, dtype=np.float64) for i in starts]
    return np.concatenate(sums)


def _row_squares(A: NDArray[Any]) -> NDArray[np.float64]:
    return np.einsum("ij,ij->i", A, A).astype(np.float64)

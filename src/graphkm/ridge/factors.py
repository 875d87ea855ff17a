"""Linear systems with positive definite matrices; if rounding requires it, diagonals are raised."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from .._util.threads import blas_threads_for
from ..backends import active

Vector = NDArray[np.float64]

_LARGE = 1e4  # with larger entries of R, R' R is far larger than 1
_TINY = float(np.finfo(np.float64).tiny)  # the least that a diagonal is raised by: zeros have roots


def solve_rows(rows: NDArray[np.float64], g: Vector) -> Vector:
    """Return (1 + R' R)^(-1) g, by a system of the smaller dimension of R.

    Examples
    --------
    >>> solve_rows(np.array([[1.0, 1.0]]), np.array([3.0, 0.0])).round(6)
    array([ 2., -1.])
    """
    # The smaller system loses digits where R' R is far larger than 1.
    if len(rows) < rows.shape[1] and float(np.abs(rows).max(initial=0.0)) < _LARGE:
        return g - rows.T @ solve_matrix(rows @ rows.T, rows @ g)
    return solve_matrix(rows.T @ rows, g)


def solve_matrix(H: NDArray[np.float64], g: Vector) -> Vector:
    """Return (1 + H)^(-1) g, overwriting H.

    Examples
    --------
    >>> solve_matrix(np.array([[3.0]]), np.array([8.0]))
    array([2.])
    """
    if not len(H):
        return g
    H.flat[:: len(H) + 1] += 1.0
    return np.asarray(dpotrs(safe_cholesky(H), g, lower=1)[0])


def safe_cholesky(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lower factor of A; if rounding made A indefinite, of A plus a small diagonal.

    Examples
    --------
    >>> safe_cholesky(np.array([[4.0, 2.0], [2.0, 1.0]])).round(6)
    array([[2., 0.],
           [1., 0.]])
    """
    largest, lift = float(np.abs(A).max(initial=0.0)), 0.0
    if not np.isfinite(largest):
        raise OverflowError(
            "A matrix of the fit is beyond the range of double precision. Weights that are too "
            "large cause it (C or C_graph, gamma_I, sample_weight), or rows with huge values; pass "
            "smaller ones."
        )
    while True:
        lifted = A + lift * np.eye(len(A)) if lift else A
        with blas_threads_for(*A.shape):
            factor, failed = dpotrf(lifted, lower=1, clean=1)
        if not failed:
            return np.asarray(factor)
        lift = max(10 * lift, 1e-15 * largest, _TINY)


def raised_cholesky(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the upper factor of sums over rows, whose upper triangle is given.

    Landmarks that are nearly alike make the sums nearly singular. A factor may then exist and have
    no correct digits. So the diagonal of `matrix` is always raised, by as little as is enough.
    `safe_cholesky` raises it only where there is no factor.

    Examples
    --------
    >>> np.triu(raised_cholesky(np.array([[4.0, 2.0], [0.0, 2.0]]))).round(6)
    array([[2., 1.],
           [0., 1.]])
    """
    diagonal = np.einsum("jj->j", matrix)
    raised = max(len(matrix) * np.finfo(np.float64).eps * float(diagonal.mean()), _TINY)
    failed = 1
    while failed:
        if not np.isfinite(raised):
            raise ValueError(
                "The sums over the rows are too large for double precision; scale the rows, the "
                "targets or the weights down."
            )
        diagonal += raised
        factor, failed = dpotrf(matrix)
        raised *= 10.0
    return np.asarray(factor)


def kernel_factor(gram: Any, dtype: np.dtype[Any]) -> Any:
    """Return L with L L' = a kernel matrix and a little on its diagonal, which is raised in place.

    The matrix is an array of the active backend. How much its diagonal is raised depends on the
    precision in which L will be used.

    Examples
    --------
    >>> kernel_factor(np.array([[4.0, 2.0], [2.0, 1.0]]), np.dtype(np.float32)).round(2)
    array([[2., 0.],
           [1., 0.]])
    """
    backend = active()
    mean = float(backend.get(gram.diagonal()).mean())
    level = 10 * np.finfo(dtype).eps * max(mean, _TINY)
    while True:
        gram.ravel()[:: len(gram) + 1] += level
        factor = backend.cholesky(gram.copy())
        if factor is not None:
            return factor
        level *= 10


def solve_raised(
    gram: NDArray[np.float64], right: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """Return the inverse of a kernel matrix times `right`.

    The diagonal is raised by `share` of its mean, so that nearly equal rows do not make the result
    large.

    Examples
    --------
    >>> solve_raised(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0], [1.0]]), 1e-8).round(3)
    array([[0.5],
           [0.5]])
    """
    raised = gram.copy()
    raised[np.diag_indices(len(gram))] += share * float(raised.diagonal().mean())
    return np.asarray(cho_solve(cho_factor(raised), right))


def spd_inverse(A: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inverse of a symmetric positive definite matrix, from its Cholesky factor.

    The diagonal is never raised: the inverse would be that of another matrix, and large.

    Examples
    --------
    >>> spd_inverse(np.array([[2.0, 1.0], [1.0, 2.0]]))
    array([[ 0.66666667, -0.33333333],
           [-0.33333333,  0.66666667]])
    """
    factor, info = dpotrf(A, lower=1)
    if info:
        raise np.linalg.LinAlgError("The matrix is not positive definite; raise its diagonal.")
    lower = dpotri(factor, lower=1, overwrite_c=1)[0]  # the other half is 0
    found = np.asarray(lower + lower.T)
    np.fill_diagonal(found, lower.diagonal())
    return found

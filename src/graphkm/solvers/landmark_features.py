"""Features on landmarks: <z(x), z(y)> is k(x, y) for all x and y in the landmarks' span."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.sparse.csgraph import reverse_cuthill_mckee

from .._util.progress import SILENT
from ..backends import active
from ..objective import Objective

_BLOCK = 2**23  # kernel values looked at together: 64 MiB
_STRIP = 2**27  # kernel values of a strip for high powers: 1 GiB, and twice that for a product


class LandmarkFeatures:
    """z(x) = F^(-1) k_S(x), where S are landmarks and F F' is their kernel matrix.

    The factorisation is pivoted, and a landmark whose kernel the others span up to `tolerance` is
    dropped. So duplicate rows do no harm. Every function in the landmarks' span is <w, z(x)>,
    with the norm ||w||. With all rows as landmarks, no function is lost.

    Z, the features of all rows, is never stored. Sums over blocks of rows replace it.

    Parameters
    ----------
    objective : Objective
        Its X, kernel and offset.
    rows : ndarray of int
        The landmarks.
    tolerance : float
        A landmark is dropped if its pivot is below tolerance * max k(x, x).
    n_threads : int, default=1
        For kernel values.
    """

    def __init__(
        self,
        objective: Objective,
        rows: NDArray[np.int64],
        tolerance: float,
        n_threads: int = 1,
    ) -> None:
        self._n = objective.X.shape[0]
        kernels = objective.expansion(np.float64, n_threads)
        K = kernels.between(rows, rows)
        limit = tolerance * float(K.diagonal().max(initial=0.0))
        factor, pivots, rank, _ = dpstrf(K, tol=limit, lower=1)
        self.rows: NDArray[np.int64] = rows[pivots[:rank] - 1]
        self._factor = np.asfortranarray(np.tril(factor[:rank, :rank]))
        kept = pivots[:rank] - 1
        self.gram: NDArray[np.float64] = K[np.ix_(kept, kept)]
        self._kernels = kernels
        self._kernels.set(self.rows, np.zeros((rank, objective.n_outputs)))

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.rows)

    def kernels_at(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the kernel between some rows of X and the landmarks."""
        return self._kernels.values(rows)

    def at(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return z at some rows of X, of shape (len(rows), n_features)."""
        values = self._kernels.values(rows)
        return solve_triangular(self._factor, values.T, lower=True, check_finite=False).T

    def coefficients(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the landmarks' coefficients of the functions with weights w (by column)."""
        return solve_triangular(self._factor, w, lower=True, trans="T", check_finite=False)

    def scores(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return <w, z(x)> at all rows of X."""
        out = np.empty(self._n)
        a = self.coefficients(w)
        for block in self.blocks():
            out[block] = self._kernels.values(block) @ a
        return out

    def adjoint(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Z' u for a vector over all rows of X."""
        total = np.zeros(len(self))
        for block in self._blocks(np.flatnonzero(u)):
            total += self._kernels.values(block).T @ u[block]
        return solve_triangular(self._factor, total, lower=True, check_finite=False)

    def quadratic_form(self, matrix: Any, degree: int = 1) -> NDArray[np.float64]:
        """Return Z' L^degree Z for a symmetric n x n matrix L, sparse or dense."""
        total = self.kernel_form(matrix, degree)
        total = solve_triangular(self._factor, total, lower=True, check_finite=False)
        total = solve_triangular(self._factor, total.T, lower=True, check_finite=False)
        return (total + total.T) / 2

    def kernel_form(self, matrix: Any, degree: int = 1, bar: Any = SILENT) -> NDArray[np.float64]:
        """Return K' L^degree K, with K the kernel between all rows and the landmarks.

        Up to degree 2 this takes one pass over blocks of rows, in an order that keeps
        neighbours together. Kernel values of a block and of its neighbours give its rows of L K.
        With higher powers a row depends on too many others for that. They are applied to strips
        of columns as wide as memory allows.

        Parameters
        ----------
        matrix : csr_array or ndarray of shape (n, n)
            L.
        degree : int, default=1
            Its power.
        bar : progress bar, optional
            Told of every row done.
        """
        form = self._by_rows if degree <= 2 else self._by_columns
        return form(matrix, degree, bar)

    def _by_rows(self, matrix: Any, degree: int, bar: Any) -> NDArray[np.float64]:
        """Return K' L K or (L K)' (L K), with K the kernel between all rows and landmarks."""
        order = np.arange(self._n)
        if sp.issparse(matrix) and self._n > self._size:
            order = reverse_cuthill_mckee(matrix, symmetric_mode=True).astype(np.int64)
        total = np.zeros((len(self), len(self)))
        for block in self._blocks(order):
            own = matrix[block]
            reached = np.unique(own.indices) if sp.issparse(own) else np.arange(self._n)
            right = np.zeros((len(block), len(self)))
            for near in self._blocks(reached.astype(np.int64)):
                right += own[:, near] @ self._kernels.values(near)
            left = right if degree == 2 else self._kernels.values(block)
            total += product(left, right)
            bar.update(len(block))
        return total

    def _by_columns(self, matrix: Any, degree: int, bar: Any) -> NDArray[np.float64]:
        """Return K' L^degree K from strips of columns of L^(degree/2) K."""
        m, width = len(self), max(64, _STRIP // self._n)
        strips = [slice(start, min(start + width, m)) for start in range(0, m, width)]
        total = np.zeros((m, m))
        for i, columns in enumerate(strips):
            left = self._powered(matrix, degree // 2, columns)
            right = matrix @ left if degree % 2 else left
            total[columns, columns] = product(left, right)
            for others in strips[:i]:
                other = self._powered(matrix, degree // 2, others)
                total[others, columns] = product(other, right)
                total[columns, others] = total[others, columns].T
            bar.update(self._n * (columns.stop - columns.start) // m)
        return total

    def _powered(self, matrix: Any, degree: int, columns: slice) -> NDArray[np.float64]:
        """Return columns of L^degree K."""
        strip = np.empty((self._n, columns.stop - columns.start))
        for block in self.blocks():
            strip[block] = self._kernels.between(block, self.rows[columns])
        for _ in range(degree):
            strip = matrix @ strip
        return strip

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """Yield all rows of X in blocks whose kernels are looked at together."""
        return self._blocks(np.arange(self._n))

    @property
    def _size(self) -> int:
        return max(256, _BLOCK // max(1, len(self)))

    def _blocks(self, rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        for start in range(0, len(rows), self._size):
            yield rows[start : start + self._size]


def product(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return left' right. A large fit spends nearly all its time here.

    Examples
    --------
    >>> product(np.ones((3, 1)), np.ones((3, 2)))
    array([[3., 3.]])
    """
    backend = active()
    return backend.get(backend.put(left).T @ backend.put(right))

"""The leading eigenvectors of graphs: functions of the rows that hardly change along edges.

Where rows lie in groups, the leading eigenvectors are nearly constant on each of them. They tell
the groups apart without a single label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from ..expansion import KernelExpansion
from ..kernels import SquaredExponential

Vectors = NDArray[np.float64]
Table = NDArray[np.float32]

_SMALL = 400  # with at most so many rows, all eigenvectors are computed
_TOLERANCE = 1e-3  # largest relative error of the eigenvalues
_TINY = 1e-6  # smaller eigenvalues count as 0
_SPARE = 10  # columns of a random subspace beyond those that are wanted
_PRODUCTS = 12  # of a random subspace with the matrix


def leading_vectors(similarity: Any, m: int) -> Vectors:
    """Return eigenvectors of the m largest eigenvalues of a symmetric matrix, largest first.

    Parameters
    ----------
    similarity : sparse or dense matrix of shape (n, n)
        S = D^(-1/2) W D^(-1/2), whose largest eigenvalue is 1.
    m : int
        How many; n if that is less.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> two_pairs = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> found = leading_vectors(two_pairs, 2)
    >>> (found @ found.T).round(6)
    array([[0.5, 0.5, 0. , 0. ],
           [0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0.5, 0.5],
           [0. , 0. , 0.5, 0.5]])
    """
    n = similarity.shape[0]
    if n <= _SMALL or 3 * m > n:
        whole = similarity.toarray() if hasattr(similarity, "toarray") else similarity
        return np.asarray(eigh(np.asarray(whole, np.float64))[1][:, ::-1][:, :m])
    start = np.random.default_rng(0).normal(size=n)  # no constant vector: it may be an eigenvector
    values, vectors = eigsh(
        similarity.astype(np.float64), m, which="LA", tol=_TOLERANCE, v0=start, maxiter=100 * n
    )
    return np.asarray(vectors[:, np.argsort(-values)])


def leading_subspace(step: Callable[[Table], Table], n: int, m: int) -> Table:
    """Return about the eigenvectors of the m largest eigenvalues in size, the largest first.

    A random subspace is multiplied by the matrix some times (Halko, Martinsson and Tropp, 2011,
    "Finding structure with randomness"). So the time is known before, whatever the eigenvalues
    are. Vectors whose eigenvalues are close to each other are mixed.

    Parameters
    ----------
    step : callable
        Returns the product of a symmetric matrix and a table of float32 of shape (n, n_columns).
    n, m : int
        Rows of the matrix, and how many vectors are wanted; n if that is less.

    Returns
    -------
    ndarray of float32 of shape (n, m)

    Examples
    --------
    >>> found = leading_subspace(np.diag(np.float32([0.1, 0.9, 0.2, -0.5])).__matmul__, 4, 2)
    >>> np.abs(found).round(3)
    array([[0., 0.],
           [1., 0.],
           [0., 0.],
           [0., 1.]], dtype=float32)
    """
    width = min(n, m + _SPARE)
    drawn = np.random.default_rng(0).normal(size=(n, width)).astype(np.float32)
    for _ in range(_PRODUCTS):
        base = np.linalg.qr(drawn)[0]
        drawn = step(base)
    values, turned = eigh(np.asarray(base.T @ drawn, np.float64))
    order = np.argsort(-np.abs(values))[:m]
    return np.asarray(base @ turned[:, order].astype(np.float32))


class KernelSpectrum:
    """Leading eigenvectors of the graph of all pairs with weights exp(-gamma d^2).

    At another row, an eigenvector has the value that fulfils its own equation there (Nystroem).

    Parameters
    ----------
    rows : ndarray or CSR of shape (n, n_features)
        All pairs of them are joined.
    gamma : float
        The gamma of the weights.
    m : int
        How many eigenvectors.
    n_threads : int, default=1
        Threads of the products with other rows.

    Attributes
    ----------
    vectors : ndarray of shape (n, m)
        The eigenvectors at the rows themselves.
    """

    def __init__(self, rows: Any, gamma: float, m: int, n_threads: int = 1) -> None:
        from sklearn.metrics.pairwise import rbf_kernel  # slow to import

        # To divide by a power of two rounds nothing, and keeps squares of small rows above 0.
        largest = max(abs(float(rows.max())), abs(float(rows.min()))) or 1.0
        self._size = float(2.0 ** np.floor(np.log2(largest)))
        self._points, gamma = self._in_units(rows), gamma * self._size**2
        kernel = rbf_kernel(self._points, gamma=gamma)
        self._kernel, self._n_threads = SquaredExponential(gamma=gamma), n_threads
        self._scale = 1.0 / np.sqrt(kernel.sum(axis=1))
        kernel *= self._scale[:, None]
        kernel *= self._scale
        self.vectors = leading_vectors(kernel, m)
        self._values = np.einsum("ij,ij->j", self.vectors, kernel @ self.vectors)

    def at(self, X: Any) -> Vectors:
        """Return the eigenvectors' values at the rows of X."""
        n, m = self.vectors.shape
        sums = KernelExpansion(self._kernel, self._points, m + 1, n_threads=self._n_threads)
        values = np.where(self._values > _TINY, self._values, np.inf)  # tiny: hardly an eigenvector
        own = self._scale[:, None] * self.vectors / values
        sums.set(np.arange(n), np.hstack([own, np.ones((n, 1))]))
        found = sums.scores(self._in_units(X))
        degrees = np.maximum(found[:, -1:], 1e-300)  # a row far from all others has zeros
        return np.asarray(found[:, :-1] / np.sqrt(degrees))

    def _in_units(self, rows: Any) -> Any:
        # Frames store columns, and sums over columns would round differently.
        rows = np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows
        return rows / self._size

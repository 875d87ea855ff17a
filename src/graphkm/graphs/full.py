"""All pairs of rows except the labelled-labelled ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .implicit import ImplicitGraph


class FullGraph(ImplicitGraph):
    """E = {labelled, unlabelled} pairs and {unlabelled, unlabelled} pairs.

    With l labelled and u unlabelled rows, |E| = l u + u (u - 1) / 2. Nothing is stored.

    Parameters
    ----------
    X : ndarray of float32 or float64, or CSR matrix, of shape (n_vertices, n_features)
        The rows, held by reference.
    labeled : ndarray of bool of shape (n_vertices,)
        True where a row has a label.
    gamma : float
        Bandwidth of the weights mu_uv = exp(-gamma ||x_u - x_v||^2).

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> graph = FullGraph(X, np.array([True, False, False]), gamma=1.0)
    >>> u, v, mu = graph.edges()
    >>> [(int(a), int(b)) for a, b in zip(u, v)]
    [(0, 1), (0, 2), (1, 2)]
    >>> mu.round(3)
    array([0.368, 0.018, 0.368])
    """

    @property
    def n_edges(self) -> int:
        """Number of edges, l u + u (u - 1) / 2."""
        n_l, n_u = len(self.labeled), len(self.unlabeled)
        return n_l * n_u + n_u * (n_u - 1) // 2

    def _decode(self, index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        n_u = len(self.unlabeled)
        n_mixed = len(self.labeled) * n_u
        mixed = index < n_mixed
        u, v = np.empty_like(index), np.empty_like(index)
        first, second = np.divmod(index[mixed], max(1, n_u))
        u[mixed], v[mixed] = self.labeled[first], self.unlabeled[second]
        first, second = triangular_pair(index[~mixed] - n_mixed)
        u[~mixed], v[~mixed] = self.unlabeled[first], self.unlabeled[second]
        return u, v


def triangular_pair(index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (a, b), a < b, with index = b (b - 1) / 2 + a: all pairs, ordered by b, then a.

    Examples
    --------
    >>> triangular_pair(np.arange(4))
    (array([0, 0, 1, 0]), array([1, 2, 2, 3]))
    """
    b = (0.5 + np.sqrt(0.25 + 2.0 * index)).astype(np.int64)
    # The float root is off by one at most near a perfect square; integers decide.
    b -= b * (b - 1) // 2 > index
    b += b * (b + 1) // 2 <= index
    return index - b * (b - 1) // 2, b

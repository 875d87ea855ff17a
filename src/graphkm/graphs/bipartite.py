"""Pairs of one labelled and one unlabelled row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .implicit import ImplicitGraph


class BipartiteGraph(ImplicitGraph):
    """E = {labelled, unlabelled} pairs: the edges that the paper's released code draws.

    With l labelled and u unlabelled rows, |E| = l u. Nothing is stored.

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
    >>> graph = BipartiteGraph(X, np.array([True, False, False]), gamma=1.0)
    >>> u, v, mu = graph.edges()
    >>> [(int(a), int(b)) for a, b in zip(u, v)]
    [(0, 1), (0, 2)]
    """

    _remedy = "pass at least one labelled row, or use the graph 'full' or 'knn'"

    @property
    def n_edges(self) -> int:
        """Number of edges, l u."""
        return len(self.labeled) * len(self.unlabeled)

    def _decode(self, index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first, second = np.divmod(index, max(1, len(self.unlabeled)))
        return self.labeled[first], self.unlabeled[second]

"""A graph given by the list of its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from .arguments import check_labeled
from .base import Edges, EdgeSampler, Graph, generators
from .nodes import Nodes


class ListedGraph(Graph):
    """Edges (u_k, v_k) with weights mu_k, all stored.

    Parameters
    ----------
    n_vertices : int
        Number of vertices.
    u, v : array-like of int of shape (n_edges,)
        Ends of the edges; every undirected edge once, no loops.
    weight : array-like of float of shape (n_edges,)
        Weights, finite and not negative.
    nodes : Nodes, optional
        Gives new rows their weights at the vertices, if edges come from a search of neighbours.

    Examples
    --------
    >>> graph = ListedGraph(4, [0, 1], [1, 2], [1.0, 0.5])
    >>> graph.to_sparse().toarray()
    array([[0. , 1. , 0. , 0. ],
           [1. , 0. , 0.5, 0. ],
           [0. , 0.5, 0. , 0. ],
           [0. , 0. , 0. , 0. ]])
    >>> graph.components()
    (2, array([0, 0, 0, 1], dtype=int32))
    >>> graph.unlabeled_components(np.array([True, False, False, False]))
    (1, 1)
    """

    def __init__(
        self,
        n_vertices: int,
        u: ArrayLike,
        v: ArrayLike,
        weight: ArrayLike,
        nodes: Nodes | None = None,
    ) -> None:
        self._n_vertices = int(n_vertices)
        self.nodes = nodes
        self._edges = Edges(
            np.asarray(u, dtype=np.int64),
            np.asarray(v, dtype=np.int64),
            np.asarray(weight, dtype=np.float64),
        )
        _check_edges(self._n_vertices, self._edges)

    @property
    def n_vertices(self) -> int:
        """Number of vertices, with and without edges."""
        return self._n_vertices

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self._edges.u)

    @property
    def max_weight(self) -> float:
        """Upper bound on mu: 1, or the largest weight where that is more.

        Weights of distances are at most 1. Their own maximum is no bound to use: different
        processors round it differently.
        """
        return float(self._edges.weight.max(initial=1.0))

    def take(self, index: NDArray[np.int64]) -> Edges:
        """Return the edges with the numbers `index` and their mu."""
        u, v, weight = self._edges
        return Edges(u[index], v[index], weight[index])

    def edges(self) -> Edges:
        """Return all edges with their mu: the stored arrays, not copies."""
        return self._edges

    def to_sparse(self) -> Any:
        """Return the symmetric n_vertices x n_vertices CSR array of the weights."""
        u, v, weight = self._edges
        ends = (np.concatenate([u, v]), np.concatenate([v, u]))
        shape = (self._n_vertices, self._n_vertices)
        return sp.coo_array((np.concatenate([weight, weight]), ends), shape=shape).tocsr()

    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Return how many connected components there are, and the component of each vertex.

        An edge of weight 0 connects nothing.
        """
        u, v, weight = self._edges
        joins = weight > 0
        shape = (self._n_vertices, self._n_vertices)
        joined = sp.csr_array((weight[joins], (u[joins], v[joins])), shape=shape)
        n_components, component = connected_components(joined, directed=False)
        return int(n_components), component

    def unlabeled_components(self, labeled: ArrayLike) -> tuple[int, int]:
        """Return how many components hold no labelled vertex, and their vertices in all.

        No label reaches these vertices along the graph.

        Parameters
        ----------
        labeled : ndarray of bool of shape (n_vertices,)
            True where a vertex has a label.
        """
        mask = check_labeled(labeled, self._n_vertices)
        n_components, component = self.components()
        reached = np.zeros(n_components, dtype=bool)
        reached[component[mask]] = True
        return int((~reached).sum()), int((~reached[component]).sum())

    def _weight_sampler(self, seed: np.random.SeedSequence) -> EdgeSampler:
        return CumulativeSampler(self._edges, seed)


class CumulativeSampler(EdgeSampler):
    """Draw the edge k with probability mu_k / sum_j mu_j; the factor is the mean of mu.

    E[factor g] = sum_k (mu_k / sum_j mu_j) (1/|E| sum_j mu_j) g_k = 1/|E| sum_k mu_k g_k.
    If all weights are 0 the last edge is drawn, with factor 0.

    Examples
    --------
    >>> edges = Edges(np.array([0, 1]), np.array([1, 2]), np.array([0.0, 0.5]))
    >>> CumulativeSampler(edges, np.random.SeedSequence(0)).draw(2)
    Edges(u=array([1, 1]), v=array([2, 2]), weight=array([0.25, 0.25]))
    """

    def __init__(self, edges: Edges, seed: np.random.SeedSequence) -> None:
        self._edges = edges
        self._sums = np.cumsum(edges.weight)
        (self._choice,) = generators(seed, 1)

    def draw(self, size: int) -> Edges:
        """Return the next `size` edges."""
        total = self._sums[-1]
        # Rounding may push the product up to the total, past the last edge with mu > 0.
        level = np.minimum(self._choice.random(size) * total, np.nextafter(total, 0.0))
        index = np.searchsorted(self._sums, level, side="right")
        index = np.minimum(index, len(self._sums) - 1)
        factor = np.full(size, total / len(self._sums))
        return Edges(self._edges.u[index], self._edges.v[index], factor)


def _check_edges(n_vertices: int, edges: Edges) -> None:
    u, v, weight = edges
    if u.ndim != 1 or not u.shape == v.shape == weight.shape:
        raise ValueError(
            f"u, v and weight have shapes {u.shape}, {v.shape} and {weight.shape}; "
            "pass three 1-dimensional arrays of equal length"
        )
    if len(u) == 0:
        return
    low, high = min(u.min(), v.min()), max(u.max(), v.max())
    if low < 0 or high >= n_vertices:
        raise ValueError(
            f"edge ends run from {low} to {high}; pass vertices from 0 to {n_vertices - 1}"
        )
    if (u == v).any():
        raise ValueError(f"vertex {u[u == v][0]} has an edge to itself; leave loops out")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        raise ValueError(
            f"{bad.sum()} edge weights are negative or not finite, the first is "
            f"{weight[bad][0]}; pass finite weights >= 0"
        )
    key = np.minimum(u, v) * n_vertices + np.maximum(u, v)
    if not (np.diff(key) > 0).all():  # sorted lists need no second sort
        unique, counts = np.unique(key, return_counts=True)
        if len(unique) < len(key):
            a, b = divmod(int(unique[counts > 1][0]), n_vertices)
            raise ValueError(f"the edge ({a}, {b}) is listed more than once; pass each edge once")

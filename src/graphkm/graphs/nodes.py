"""Nodes: the points on which a field lives, their graph, and their weights at any row.

A row reaches its few nearest nodes. Their weights sum to one. Far from all nodes they sum to less,
so that a field fades: see `faded`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..neighbours.index import NeighbourIndex, Neighbours

SHARPNESS = 6.0
"""Sharp weights are exp(-6 d^2 / (s_u s_v)): they follow thin structures. With the factors 1, 4, 6
and 8, fields alone were right on 94.0, 95.3, 95.8 and 95.9 % of MNIST with 100 labels, on 94.0,
94.8, 94.8 and 94.6 % of IJCNN1, and on 89.3, 90.1, 90.2 and 90.0 % of COVTYPE
(`benchmarks/edge_weights.py --part rows`, one seed)."""

REACH = 2.0
"""A field fades only where the nearest node is farther than this times the nodes' mean reach."""

_LEAST_DEGREE = 0.01  # smaller degrees count as this share of the mean degree


class Nodes(ABC):
    """Points s_1..s_m, and a sparse map from any row to its nearest points."""

    points: Any
    """The points, of shape (m, n_features)."""

    @abstractmethod
    def weights(self, X: Any) -> Any:
        """Return the weights of the nodes for every row of X, a CSR array of shape (n, m)."""


class NodeGraph(NamedTuple):
    """Nodes with the graph that joins them, and the weights of training rows."""

    nodes: Nodes
    similarity: Any
    """S = D^(-1/2) W D^(-1/2) without diagonal, CSR of float32. The Laplacian is I - S."""
    rows: Any
    """z(x) of the training rows that are kept, a CSR array of shape (n_kept, m)."""
    scale: NDArray[np.float64]
    """The root of (mean degree / degree) of every node, at most 10."""

    @property
    def laplacian(self) -> Any:
        """The normalised Laplacian, a CSR array."""
        return (sp.eye_array(self.similarity.shape[0], dtype=np.float32) - self.similarity).tocsr()


class NearNodes(Nodes):
    """Nodes of which a row reaches the k nearest.

    The weights are exp(-b d^2 / (s_u s_v)), where s is the distance to the k-th node, and b is the
    sharpness. A row that equals a node reaches only that node.

    Parameters
    ----------
    index : NeighbourIndex
        The nodes.
    n_neighbors : int
        k.
    reach : ndarray of shape (m,)
        s of every node.
    sharpness : float
        b.
    """

    def __init__(
        self,
        index: NeighbourIndex,
        n_neighbors: int,
        reach: NDArray[np.float64],
        sharpness: float = SHARPNESS,
    ) -> None:
        self.index, self.n_neighbors = index, n_neighbors
        self.reach, self.sharpness = reach, sharpness

    @property
    def points(self) -> Any:  # type: ignore[override]
        """The nodes."""
        return self.index.rows

    def weights(self, X: Any) -> Any:
        """Return the weights of the nodes for every row of X."""
        near, d2 = self.index.nearest_to(X, min(self.n_neighbors, len(self.reach)))
        # If the k-th node is at distance 0, all k nodes equal the row, and only d = 0 counts.
        own = np.where(d2[:, -1] > 0, np.sqrt(d2[:, -1]), 1.0)
        exponent = -self.sharpness * scaled(d2, own[:, None], self.reach[near])
        exponent[(d2[:, :1] == 0) & (d2 > 0)] = -np.inf
        return faded(near, exponent, d2[:, 0], self.reach)


class RowNodes(NearNodes):
    """Every training row is a node. Edges to its k nearest have the weights that new rows have.

    Equal rows must be given once: each of a thousand copies would have only other copies as
    neighbours.
    """

    counts: NDArray[np.int64] | None = None
    """How many rows every node stands for; None for one each."""
    numbers: NDArray[np.int64] | None = None
    """The number of the first of these rows; None where nodes are numbered like rows."""

    @classmethod
    def of(cls, neighbours: Neighbours, sharpness: float = SHARPNESS) -> RowNodes:
        """Return the nodes of rows whose neighbours are known."""
        reach = positive(np.sqrt(neighbours.d2[:, -1]))
        return cls(neighbours.index, neighbours.d2.shape[1], reach, sharpness)

    @classmethod
    def graph(
        cls, index: NeighbourIndex, n_neighbors: int, sharpness: float = SHARPNESS
    ) -> NodeGraph:
        """Return the nodes of these rows with their graph.

        Examples
        --------
        >>> X = np.array([[0.0], [1.0], [2.0], [9.0]])
        >>> graph = RowNodes.graph(NeighbourIndex(X), 1)
        >>> graph.nodes.weights(np.array([[1.0], [8.0]])).toarray()
        array([[0., 1., 0., 0.],
               [0., 0., 0., 1.]])
        """
        if index.rows.shape[0] == 1:  # copies of one row
            nodes = cls(index, 1, np.ones(1), sharpness)
            return NodeGraph(nodes, _no_edges(), _identity(1), np.ones(1))
        return cls.graph_of(Neighbours.of(index, n_neighbors), sharpness)

    @classmethod
    def graph_of(cls, neighbours: Neighbours, sharpness: float = SHARPNESS) -> NodeGraph:
        """Return the nodes of rows whose neighbours are known, with their graph."""
        nodes, near = cls.of(neighbours, sharpness), neighbours.near
        n, k = near.shape
        reach = nodes.reach
        weight = np.exp(-sharpness * scaled(neighbours.d2, reach[:, None], reach[near]))
        place = (weight.ravel().astype(np.float32), near.ravel(), np.arange(0, n * k + 1, k))
        one_way = sp.csr_array(place, shape=(n, n))
        similarity, scale = normalized((one_way + one_way.T) * np.float32(0.5))
        return NodeGraph(nodes, similarity, _identity(n), scale)


def faded(
    near: NDArray[np.int64],
    exponent: NDArray[np.float64],
    nearest: NDArray[np.float64],
    reach: NDArray[np.float64],
) -> Any:
    """Return the weights exp(exponent) as a CSR array, whose rows sum to one or, far out, to less.

    They sum to (2 s / d)^2 where the distance d to the nearest node is more than 2 s, with s the
    mean reach of the nodes.

    Examples
    --------
    >>> near, exponent = np.array([[0, 1]]), np.zeros((1, 2))
    >>> faded(near, exponent, np.array([16.0]), np.ones(2)).toarray()
    array([[0.125, 0.125]])
    """
    weight = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    typical = np.einsum("ij,ij->i", weight, reach[near])
    far = nearest > (REACH * typical) ** 2
    weight[far] *= ((REACH * typical[far]) ** 2 / nearest[far])[:, None]
    n, k = near.shape
    place = (weight.ravel(), near.ravel(), np.arange(0, n * k + 1, k))
    return sp.csr_array(place, shape=(n, len(reach)))


def scaled(d2: NDArray[Any], s: NDArray[Any], t: NDArray[Any]) -> NDArray[np.float64]:
    """Return d^2 / (s t), divided one by one: the product of two scales may underflow.

    Examples
    --------
    >>> scaled(np.array([1e-300]), np.array([1e-150]), np.array([2e-150]))
    array([0.5])
    """
    d = np.sqrt(d2)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray((d / s) * (d / t))


def positive(reach: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distances. Rows that coincide have the distance 0: it becomes the median.

    Examples
    --------
    >>> positive(np.array([0.0, 1.0, 3.0]))
    array([2., 1., 3.])
    """
    usual = np.median(reach[reach > 0]) if (reach > 0).any() else 1.0
    return np.where(reach > 0, reach, usual)


def normalized(weights: Any) -> tuple[Any, NDArray[np.float64]]:
    """Return D^(-1/2) W D^(-1/2) in float32, and the root of (mean degree / degree).

    Examples
    --------
    >>> similarity, scale = normalized(sp.csr_array([[0.0, 4.0], [4.0, 0.0]]))
    >>> similarity.toarray(), scale
    (array([[0., 1.],
           [1., 0.]], dtype=float32), array([1., 1.]))
    """
    degree = np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()
    scale = np.zeros(len(degree))
    np.divide(1.0, np.sqrt(degree), out=scale, where=degree > 0)
    matrix = sp.csr_array(weights, dtype=np.float32, copy=True)
    matrix.sort_indices()
    own = np.repeat(scale, np.diff(matrix.indptr))
    matrix.data = (matrix.data * own * scale[matrix.indices]).astype(np.float32)
    usual = degree.mean() or 1.0
    return matrix, np.sqrt(usual / np.maximum(degree, _LEAST_DEGREE * usual))


def _no_edges() -> Any:
    return sp.csr_array((1, 1), dtype=np.float32)


def _identity(n: int) -> Any:
    return sp.eye_array(n, dtype=np.float64, format="csr")

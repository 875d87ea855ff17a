"""Graphs whose edges follow a formula: no edge is stored, and weights are computed when needed."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..neighbours.arguments import check_rows
from ..neighbours.distances import gaussian_weights
from .arguments import check_gamma, check_labeled
from .base import Edges, EdgeSampler, Graph, generators


class ImplicitGraph(Graph):
    """A graph over the rows of X whose edges are numbered by a formula.

    Weights are mu_uv = exp(-gamma ||x_u - x_v||^2), computed in float64 when they are needed.

    Parameters
    ----------
    X : ndarray of float32 or float64, or CSR matrix, of shape (n_vertices, n_features)
        The rows, held by reference.
    labeled : ndarray of bool of shape (n_vertices,)
        True where a row has a label.
    gamma : float
        Bandwidth of the weights.
    """

    def __init__(self, X: Any, labeled: ArrayLike, gamma: float) -> None:
        self.X = check_rows(X)
        mask = check_labeled(labeled, self.X.shape[0])
        self.gamma = check_gamma(gamma)
        self.labeled: NDArray[np.int64] = np.flatnonzero(mask).astype(np.int64)
        self.unlabeled: NDArray[np.int64] = np.flatnonzero(~mask).astype(np.int64)
        if len(self.unlabeled) > 0 and self.n_edges == 0:
            raise ValueError(
                f"{type(self).__name__} has no edge: {len(self.labeled)} labelled and "
                f"{len(self.unlabeled)} unlabelled rows; {self._remedy}"
            )

    _remedy = "pass at least one more row"

    @abstractmethod
    def _decode(self, index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends of the edges numbered `index`, all known to be in range."""

    def decode(self, index: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ends (u, v) of the edges numbered `index`: a bijection from 0..n_edges-1."""
        numbers = np.asarray(index, dtype=np.int64)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < self.n_edges):
            raise IndexError(
                f"edge numbers {numbers.min()}..{numbers.max()} are out of range; "
                f"pass numbers from 0 to {self.n_edges - 1}"
            )
        return self._decode(numbers)

    @property
    def n_vertices(self) -> int:
        """Number of rows of X."""
        return int(self.X.shape[0])

    @property
    def max_weight(self) -> float:
        """Upper bound on mu: 1, the weight at distance 0."""
        return 1.0

    def take(self, index: NDArray[np.int64]) -> Edges:
        """Return the edges with the numbers `index` and their mu."""
        u, v = self.decode(index)
        return Edges(u, v, gaussian_weights(self.X, u, v, self.gamma))

    def _weight_sampler(self, seed: np.random.SeedSequence) -> EdgeSampler:
        return CandidateSampler(self, seed)


class CandidateSampler(EdgeSampler):
    """Draw M uniform candidates, keep one with probability mu_j / sum_k mu_k.

    The factor is m = 1/M sum_k mu_k. This is exactly unbiased, and needs no sum over all edges:
    given the candidates, E[m g] = sum_j (mu_j / sum_k mu_k) m g_j = 1/M sum_j mu_j g_j, and each
    candidate is uniform. If all mu_j are 0 the last candidate is kept, with factor 0.

    Examples
    --------
    >>> from graphkm.graphs import FullGraph
    >>> X = np.array([[0.0], [0.1], [50.0]])
    >>> graph = FullGraph(X, np.array([True, False, False]), gamma=1.0)
    >>> drawn = CandidateSampler(graph, np.random.SeedSequence(0)).draw(3)
    >>> drawn.u, drawn.v
    (array([0, 0, 0]), array([1, 1, 1]))
    """

    M = 32
    _STEPS = 4096

    def __init__(self, graph: Graph, seed: np.random.SeedSequence) -> None:
        self._graph = graph
        self._index, self._choice = generators(seed, 2)

    def draw(self, size: int) -> Edges:
        """Return the next `size` edges."""
        steps = [self._STEPS] * (size // self._STEPS) + [size % self._STEPS]
        parts = [self._draw(n) for n in steps]
        return Edges(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _draw(self, size: int) -> Edges:
        index = self._index.integers(self._graph.n_edges, size=size * self.M)
        u, v, mu = self._graph.take(index)
        sums = np.cumsum(mu.reshape(size, self.M), axis=1)
        total = sums[:, -1]
        # Rounding may push the product up to the total, past the last candidate with mu > 0.
        level = np.minimum(self._choice.random(size) * total, np.nextafter(total, 0.0))
        kept = np.minimum((sums <= level[:, None]).sum(axis=1), self.M - 1)
        kept += np.arange(size) * self.M
        return Edges(u[kept], v[kept], total / self.M)

"""What every graph can do: number its edges, list them, and draw them at random."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.memory import require_memory

Rule = Literal["uniform", "weight"]
"""How edges are drawn: uniformly, or in proportion to their weight."""

_BLOCK = 2**18
_STREAMS = 0x67726170  # keeps our streams apart from those a caller spawns from the same seed


class Edges(NamedTuple):
    """Edges (u_k, v_k) and one number for each.

    The number is mu_uv where edges are listed, and the factor of `EdgeSampler` where drawn.

    Examples
    --------
    >>> edges = Edges(np.array([0]), np.array([1]), np.array([0.5]))
    >>> edges.weight
    array([0.5])
    """

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    weight: NDArray[np.float64]


class EdgeSampler(ABC):
    r"""An endless stream of random edges.

    For every function g of an edge, the edges (u, v) and factors drawn satisfy exactly

    .. math::

        \mathbb{E}[\mathrm{factor} \, g(u, v)] = \frac{1}{|E|} \sum_{(u,v)} \mu_{uv} \, g(u, v) .
    """

    @abstractmethod
    def draw(self, size: int) -> Edges:
        """Return the next `size` edges; ``draw(3)`` then ``draw(5)`` equals ``draw(8)``."""


class Graph(ABC):
    """An undirected weighted graph: each edge counted once, no loops.

    Examples
    --------
    >>> from graphkm.graphs import FullGraph
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> graph = FullGraph(X, np.array([True, True, False]), gamma=1.0)
    >>> graph
    FullGraph(n_vertices=3, n_edges=2)
    >>> [block.u.tolist() for block in graph.edge_blocks(size=1)]
    [[0], [1]]
    >>> graph.sampler("uniform", np.random.SeedSequence(0)).draw(4).v
    array([2, 2, 2, 2])
    """

    @property
    @abstractmethod
    def n_vertices(self) -> int:
        """Number of vertices, labelled and unlabelled."""

    @property
    @abstractmethod
    def n_edges(self) -> int:
        """Number of edges |E|."""

    @property
    @abstractmethod
    def max_weight(self) -> float:
        """Upper bound on mu, at least 1. For weights of distances it is 1 on every processor."""

    @abstractmethod
    def take(self, index: NDArray[np.int64]) -> Edges:
        """Return the edges with the numbers `index`, each in 0..n_edges-1, and their mu."""

    @abstractmethod
    def _weight_sampler(self, seed: np.random.SeedSequence) -> EdgeSampler:
        """Return the sampler of the rule "weight"."""

    def sampler(self, rule: Rule, seed: np.random.SeedSequence) -> EdgeSampler:
        """Return a new stream of random edges; `seed` alone decides it, and is not changed.

        Parameters
        ----------
        rule : {"uniform", "weight"}
            Draw edges uniformly, or favour heavy ones. Both are unbiased (`EdgeSampler`); the
            second has the smaller variance where most weights are near 0.
        seed : numpy.random.SeedSequence
            Source of all randomness.

        Returns
        -------
        EdgeSampler
        """
        if rule not in ("uniform", "weight"):
            raise ValueError(f"unknown edge sampling rule {rule!r}; pass 'uniform' or 'weight'")
        if self.n_edges == 0:
            raise ValueError(
                "the graph has no edges, so none can be drawn; "
                "add unlabelled rows, or leave the graph term out"
            )
        return UniformSampler(self, seed) if rule == "uniform" else self._weight_sampler(seed)

    def edge_blocks(self, size: int) -> Iterator[Edges]:
        """Yield all edges with their mu, at most `size` at a time, in O(size) memory."""
        if size < 1:
            raise ValueError(f"size={size} edges per block is too few; pass at least 1")
        for start in range(0, self.n_edges, size):
            yield self.take(np.arange(start, min(start + size, self.n_edges), dtype=np.int64))

    def edges(self) -> Edges:
        """Return all edges with their mu; a MemoryError if they do not fit."""
        n = self.n_edges
        require_memory(
            24 * n,
            f"listing all {n:,} edges of {type(self).__name__}",
            "Iterate over edge_blocks(size), draw edges with sampler(), or use a kNN graph.",
        )
        all_edges = Edges(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.float64))
        start = 0
        for block in self.edge_blocks(_BLOCK):
            stop = start + len(block.u)
            for whole, part in zip(all_edges, block, strict=True):
                whole[start:stop] = part
            start = stop
        return all_edges

    def __repr__(self) -> str:
        """Return the kind of graph and its size."""
        return f"{type(self).__name__}(n_vertices={self.n_vertices}, n_edges={self.n_edges})"


class UniformSampler(EdgeSampler):
    """Draw every edge with probability 1/|E|; the factor is mu.

    E[mu_uv g(u, v)] = sum_(u,v) 1/|E| mu_uv g(u, v), by definition.

    Examples
    --------
    >>> from graphkm.graphs import ListedGraph
    >>> graph = ListedGraph(3, [0, 1], [1, 2], [0.5, 1.0])
    >>> drawn = UniformSampler(graph, np.random.SeedSequence(0)).draw(100)
    >>> sorted(set(drawn.weight.tolist()))
    [0.5, 1.0]
    """

    def __init__(self, graph: Graph, seed: np.random.SeedSequence) -> None:
        self._graph = graph
        (self._index,) = generators(seed, 1)

    def draw(self, size: int) -> Edges:
        """Return the next `size` edges."""
        return self._graph.take(self._index.integers(self._graph.n_edges, size=size))


def generators(seed: np.random.SeedSequence, count: int) -> list[np.random.Generator]:
    """Return independent generators, one per random variable, that depend on `seed` alone.

    If two variables shared a generator, their values would depend on how draws are cut into
    calls. ``seed.spawn`` is avoided, because it changes the seed.

    Examples
    --------
    >>> seed = np.random.SeedSequence(7)
    >>> generators(seed, 1)[0].random() == generators(seed, 2)[0].random()
    True
    """
    return [
        np.random.default_rng(
            np.random.SeedSequence(
                seed.entropy,
                spawn_key=(*seed.spawn_key, _STREAMS, i),
                pool_size=seed.pool_size,
            )
        )
        for i in range(count)
    ]

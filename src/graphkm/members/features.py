"""Features from graphs of all rows: leading eigenvectors, and kernels that fade along edges.

U holds the m leading eigenvectors of a graph. The functions of the step kernel U U' are nearly
constant on each of about m groups of nodes (Chapelle, Weston and Schoelkopf, 2003). A graph of
nearest neighbours finds groups of any shape. A graph of all pairs with Gaussian weights is better
for clouds in many dimensions, where it is chance which rows are nearest.

Groups may be small and many, as in images of many objects. So there is a third kind, the kernel
(eps + L)^(-1) of nearest neighbours: the influence of a label fades along the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..fields.kernel import FieldKernel
from ..fields.spectra import KernelSpectrum, leading_vectors
from ..fields.system import FieldSystem
from ..graphs import NodeGraph, RowNodes
from ..kernels import resolve_gamma
from ..neighbours.index import Neighbours
from .member import Array

_BROAD = (1.2, 5.0)  # neighbours for eigenvectors, as multiples of the nodes' own number
_NEAR = (0.2, 0.6, 1.2)  # neighbours for kernels that fade, as such multiples
_GAMMAS = (1.0, 4.0)  # gamma of all pairs, as multiples of the spread
_STEPS = (2, 5, 10, 20, 40, 80)  # numbers of eigenvectors; from n_classes to 10 n_classes are used
EPSILONS = (0.1, 0.01, 0.001)
"""How soon the influence of a label fades: after about ten, a hundred or a thousand steps."""

LANDMARKS = 2000
"""All pairs of nodes are joined; if there are more nodes than this, all pairs of a sample."""

MOST = 4000
"""With more nodes, only the graph at hand is used: no other numbers of neighbours are tried."""

LARGEST = 300
"""Kernels fade from at most so many labelled rows: with more, from a sample of them."""

ENTRIES = 2**25
"""Nodes times labels: no larger kernel is computed."""


class Features(NamedTuple):
    """Features of the nodes, scaled so that the kernel's mean diagonal is about 1."""

    name: str
    """Its first word is the kind: neighbours, kernel or near."""
    phi: Array
    """Features of the labelled rows, of shape (l, m)."""
    values: Callable[[Array], Array]
    """Takes coefficients, and returns their sums of features at all nodes."""

    @property
    def kind(self) -> str:
        """The kind of graph that they come from."""
        return self.name.split()[0]


def can_have_features(n: int, n_labeled: int) -> bool:
    """Return whether features of n nodes can be computed: for few nodes or few labels.

    Examples
    --------
    >>> can_have_features(4000, 3000), can_have_features(5000, 3000)
    (True, False)
    >>> can_have_features(70_000, 100), can_have_features(10**6, 100)
    (True, False)
    """
    return n <= MOST or (n_labeled <= LARGEST and n * n_labeled <= ENTRIES)


def graph_features(
    graph: NodeGraph, n_classes: int, n_threads: int = 1, *, several: bool = True
) -> Iterator[Features]:
    """Yield the features of every kind over the nodes of a graph, and at its labelled rows.

    Parameters
    ----------
    graph : NodeGraph
        The graph of all rows; its `rows` join the labelled rows to the nodes.
    n_classes : int
        How many classes are to be told apart; 2 for quantities.
    n_threads : int, default=1
        Threads of sparse products.
    several : bool, default=True
        Whether graphs with other numbers of neighbours are tried, if there are up to `MOST` nodes.
    """
    steps = step_counts(n_classes)
    nodes, rows = graph.nodes, graph.rows
    assert isinstance(nodes, RowNodes)
    points, n = nodes.points, nodes.points.shape[0]
    yield from features_of_all_pairs(points, rows, steps, n_threads)
    if n > MOST or not several:  # the graph at hand: neighbours are searched once
        yield from features_of_neighbours(graph, rows, steps)
        yield from fading_features(graph, rows, EPSILONS[1:], n_threads)
        return
    broad, near = (neighbour_counts(nodes, factors) for factors in (_BROAD, _NEAR))
    found = Neighbours.of(nodes.index, max(broad + near))
    for k in broad:
        local = RowNodes.graph_of(found.first(k), sharpness=1.0)
        yield from features_of_neighbours(local, rows, steps)
    for k in near:
        yield from fading_features(RowNodes.graph_of(found.first(k)), rows, EPSILONS, n_threads)


def step_counts(n_classes: int) -> list[int]:
    """Return how many eigenvectors are used: from as many as classes to ten times as many."""
    return [m for m in _STEPS if n_classes <= m <= 10 * n_classes] or [n_classes]


def neighbour_counts(nodes: RowNodes, factors: Sequence[float]) -> list[int]:
    """Return multiples of the nodes' own number of neighbours, as whole numbers."""
    most = nodes.points.shape[0] - 1
    counts = (min(max(1, round(factor * nodes.n_neighbors)), most) for factor in factors)
    return list(dict.fromkeys(counts))


def features_of_neighbours(graph: NodeGraph, rows: Any, steps: Sequence[int]) -> Iterator[Features]:
    """Yield the step kernels of a graph of nearest neighbours."""
    assert isinstance(graph.nodes, RowNodes)
    vectors = leading_vectors(graph.similarity, steps[-1])
    name = f"neighbours k={graph.nodes.n_neighbors}"
    yield from _steps(name, rows @ vectors, partial(np.asarray, vectors), len(vectors), steps)


def features_of_all_pairs(
    points: Any, rows: Any, steps: Sequence[int], n_threads: int
) -> Iterator[Features]:
    """Yield the step kernels of all pairs, or of all pairs of a sample, extended to all nodes."""
    n, spread = points.shape[0], resolve_gamma("spread", points)
    drawn = None
    if n > LANDMARKS:
        drawn = np.sort(np.random.default_rng(0).choice(n, LANDMARKS, replace=False))
    for factor in _GAMMAS:
        sample = points if drawn is None else points[drawn]
        spectrum = KernelSpectrum(sample, factor * spread, steps[-1], n_threads)
        if drawn is None:
            known, everywhere = rows @ spectrum.vectors, partial(np.asarray, spectrum.vectors)
        else:
            known, everywhere = spectrum.at(points[rows.indices]), partial(spectrum.at, points)
        yield from _steps(f"kernel gamma={factor:g}", known, everywhere, sample.shape[0], steps)


def _steps(
    name: str, known: Array, everywhere: Callable[[], Array], n: int, steps: Sequence[int]
) -> Iterator[Features]:
    """Yield the step kernels of eigenvectors of n rows: at the labelled rows, and everywhere."""
    once = cache(everywhere)
    for m in dict.fromkeys(min(m, known.shape[1]) for m in steps):
        size = np.sqrt(n / m)

        def values(v: Array, m: int = m, size: float = size) -> Array:
            return np.asarray(once()[:, :m] @ (size * v))

        yield Features(f"{name} m={m}", size * known[:, :m], values)


def fading_features(
    graph: NodeGraph, rows: Any, epsilons: Sequence[float], n_threads: int
) -> Iterator[Features]:
    """Yield kernels that fade along a graph from the labelled rows, or from a sample of them."""
    assert isinstance(graph.nodes, RowNodes)
    k = graph.nodes.n_neighbors
    system = FieldSystem(graph.similarity, n_threads=n_threads)
    marked = np.unique(rows.indices)
    if len(marked) > LARGEST:
        marked = np.sort(np.random.default_rng(0).permutation(marked)[:LARGEST])
    for eps in epsilons:
        kernel = FieldKernel(system, 1.0 / eps, marked, graph.scale)
        size = np.sqrt(kernel.scale)

        def values(v: Array, kernel: FieldKernel = kernel, size: float = size) -> Array:
            return kernel.values(v / size).astype(np.float64)

        yield Features(f"near k={k} eps={eps:g}", kernel.at(rows.indices) / size, values)

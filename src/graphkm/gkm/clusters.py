"""Fields that follow clusters: ridge regressions on features of graphs.

With the m leading eigenvectors U of a graph of all nodes, the kernel U U' is that of functions
which are nearly constant on each of about m groups of nodes. Chapelle, Weston and Schoelkopf
(2003) call it the step kernel. It is that of nearest neighbours, for groups of any shape, or of
all pairs with Gaussian weights, for clouds in many dimensions, where neighbours are found by
chance.

Groups may be small and many, as images of many objects are. So there is a third kind, the kernel
(eps + L)^(-1) of nearest neighbours: what a label says fades along the graph.

All pairs cost the square of the nodes. So beyond `LANDMARKS` nodes the step kernel of all pairs is
that of a sample of them, the landmarks, extended to the others. There are fewer graphs of nearest
neighbours then: two with eigenvectors, and one along which labels fade. Beyond `MOST` nodes
eigenvectors of nearest neighbours are left out: neighbours in a sample are far apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ..graphs import NodeGraph, RowNodes
from ..graphs.distinct import Copies
from ..graphs.search import Neighbours
from ..kernels import resolve_gamma
from ..solvers.field import FieldSystem
from ..solvers.field_kernel import FieldKernel
from ..solvers.refits import left_out
from ..solvers.spectrum import KernelSpectrum, neighbour_vectors

Columns = NDArray[np.float64]

MOST = 4000
"""Nodes up to which there are eigenvectors of nearest neighbours."""

LANDMARKS = 2000
"""Nodes up to which all graphs are tried, and all pairs are joined; of more, so many are drawn."""

_REACH = 2**25  # nodes times labels up to which what a label says is computed for every node

_NEIGHBOURS = (0.6, 1.2, 5.0)  # in units of the nodes' own
_NEIGHBOURS_OF_MANY = (1.2, 5.0)  # with few labels the first counts, with many the second
_GAMMAS = (1.0, 4.0)  # in units of one over the spread
_STEPS = (5, 10, 20, 40, 80)  # eigenvectors
_STEPS_OF_KERNELS = (2, 5, 10, 20, 40)
_NEAR = (0.2, 0.6, 1.2)  # in units of the nodes' own neighbours
_EPSILONS = (0.1, 0.01, 0.001)  # how soon what a label says fades
_EPSILONS_OF_MANY = (0.01, 0.003)
LARGEST = 300
"""Features of a fit at most."""

_CS = (0.01, 1.0, 10.0, 100.0)
FITS = len(_CS)
"""Fits on the same features."""


def are_few(n: int, n_labeled: int) -> bool:
    """Return whether fields that follow clusters can be computed: for few nodes or few labels.

    Examples
    --------
    >>> are_few(4000, 3000), are_few(5000, 3000), are_few(70_000, 100), are_few(10**6, 100)
    (True, False, True, False)
    """
    return n <= MOST or (n_labeled <= LARGEST and n * n_labeled <= _REACH)


class Features(NamedTuple):
    """Features of the nodes, scaled so that the kernel's mean diagonal is 1."""

    kind: str
    phi: Columns
    """Features of the labelled rows, of shape (l, m)."""
    values: Callable[[Columns], Columns]
    """Takes coefficients, and returns the field at all nodes."""


class ClusterFits:
    """Ridge regressions on features, each for several C.

    Each has a mean of its own: that of the labels it has seen. Around it outputs are enlarged by
    the factor that fits held-out labels best.

    Parameters
    ----------
    features : list of ndarray of shape (l, m)
        Features of labelled rows, one array for each regression.
    weights : ndarray of shape (l,)
        Weights of the rows.
    targets : ndarray of shape (l, n_columns)
        What they should say.
    copies : Copies, optional
        Which of the rows are equal.

    Attributes
    ----------
    held_out : ndarray of shape (n_fits, l, n_columns)
        What each says of a row without its label, and without those of equal rows.
    """

    def __init__(
        self,
        features: Sequence[Columns],
        weights: NDArray[np.float64],
        targets: Columns,
        copies: Copies | None = None,
    ) -> None:
        self.mean = np.average(targets, axis=0, weights=weights)
        total = (weights[:, None] * targets).sum(axis=0)
        means, sums = targets, weights
        if copies is not None:
            means, sums = (each[copies.place] for each in copies.pooled(targets, weights))
        left = np.maximum(weights.sum() - sums, 1e-300)[:, None]
        others = (total - sums[:, None] * means) / left  # the mean without each row
        known = np.hstack([targets, np.ones((len(targets), 1))])
        held_out, self._coefficients = [], []
        for phi in features:
            for held, v in _ridges(phi, weights, known, copies):
                own = held[:, :-1] - held[:, -1:] * others
                size = _size(own, targets - others, weights)
                held_out.append(others + size * own)
                self._coefficients.append(size * (v[:, :-1] - v[:, -1:] * self.mean))
        self.held_out = np.array(held_out)

    def at(self, features: Sequence[Columns]) -> Columns:
        """Return what each fit says of other rows, of shape (n_fits, n, n_columns)."""
        steps = [phi for phi in features for _ in _CS]
        pairs = zip(steps, self._coefficients, strict=True)
        return np.array([self.mean + phi @ v for phi, v in pairs])

    def blended(self, features: Sequence[Features], shares: NDArray[np.float64]) -> Columns:
        """Return the sum of all fits at all nodes, each times its share, without their mean."""
        total = features[0].values(np.zeros_like(self._coefficients[0]))
        for i in np.flatnonzero(shares).tolist():
            total += features[i // FITS].values(shares[i] * self._coefficients[i])
        return total


def _size(held: Columns, wanted: Columns, weights: NDArray[np.float64]) -> float:
    """Return the factor of held-out outputs that fits them best; 1 if that is less.

    What a label says of rows far away is right and small. A factor makes it comparable.
    """
    squares = float(weights @ np.square(held).sum(axis=1))
    return max(1.0, float(weights @ (held * wanted).sum(axis=1)) / squares) if squares else 1.0


def _ridges(
    phi: Columns, weights: NDArray[np.float64], targets: Columns, copies: Copies | None
) -> Iterator[tuple[Columns, Columns]]:
    """Yield, for every C, leave-one-out outputs and the coefficients of a ridge regression."""
    root = np.sqrt(weights)[:, None]
    rows, y = root * phi, root * targets
    values, vectors = eigh(rows.T @ rows, check_finite=False)
    turned = rows @ vectors
    right = turned.T @ y
    for C in _CS:
        factors = 1.0 / (np.maximum(values, 0.0) + 1.0 / C)
        v = factors[:, None] * right
        yield left_out(turned @ v, y, turned * factors, turned, copies) / root, vectors @ v


def cluster_features(graph: NodeGraph, n_threads: int = 1) -> Iterator[Features]:
    """Yield the features of every kind over the nodes of a graph, and at its rows."""
    nodes, rows = graph.nodes, graph.rows
    assert isinstance(nodes, RowNodes)
    n = nodes.points.shape[0]
    few = n <= LANDMARKS
    steps = _numbers(nodes, _NEIGHBOURS if few else _NEIGHBOURS_OF_MANY)
    fading = _numbers(nodes, _NEAR) if few else []
    if n <= MOST:
        near = Neighbours.of(nodes.index, max(steps + fading))
        for k in steps:
            vectors = neighbour_vectors(near.first(k), _STEPS[-1])
            everywhere = partial(np.asarray, vectors)
            yield from _steps("neighbours", rows @ vectors, everywhere, n, _STEPS)
    yield from _kernels(nodes.points, rows, n_threads)
    for k in fading:
        yield from _fading(RowNodes.graph_of(near.first(k)), rows, _EPSILONS, n_threads)
    if not few:
        yield from _fading(graph, rows, _EPSILONS_OF_MANY, n_threads)


def _numbers(nodes: RowNodes, factors: Sequence[float]) -> list[int]:
    """Return numbers of neighbours, in units of the nodes' own."""
    most = nodes.points.shape[0] - 1
    counts = (min(max(1, round(factor * nodes.n_neighbors)), most) for factor in factors)
    return list(dict.fromkeys(counts))


def _kernels(points: Any, rows: Any, n_threads: int) -> Iterator[Features]:
    """Yield the step kernels of all pairs of nodes, or of landmarks."""
    n, spread, most = points.shape[0], resolve_gamma("spread", points), _STEPS_OF_KERNELS[-1]
    drawn = np.arange(n)
    if n > LANDMARKS:
        drawn = np.sort(np.random.default_rng(0).choice(n, LANDMARKS, replace=False))
    for factor in _GAMMAS:
        known: Columns
        everywhere: Callable[[], Columns]
        if n > LANDMARKS:
            spectrum = KernelSpectrum(points[drawn], factor * spread, most, n_threads)
            known, everywhere = spectrum.at(points[rows.indices]), partial(spectrum.at, points)
        else:
            vectors = KernelSpectrum(points, factor * spread, most).vectors
            known, everywhere = rows @ vectors, partial(np.asarray, vectors)
        yield from _steps("kernel", known, everywhere, len(drawn), _STEPS_OF_KERNELS)


def _steps(
    kind: str, known: Columns, everywhere: Callable[[], Columns], n: int, numbers: Sequence[int]
) -> Iterator[Features]:
    """Yield the step kernels of eigenvectors of n rows: at the labelled rows, and everywhere."""
    once = cache(everywhere)
    for m in dict.fromkeys(min(m, known.shape[1]) for m in numbers):
        size = np.sqrt(n / m)

        def values(v: Columns, m: int = m, size: float = size) -> Columns:
            return np.asarray(once()[:, :m] @ (size * v))

        yield Features(kind, size * known[:, :m], values)


def _fading(
    graph: NodeGraph, rows: Any, epsilons: Sequence[float], n_threads: int
) -> Iterator[Features]:
    """Yield kernels that fade along a graph from the labelled rows, or some of them."""
    system = FieldSystem(graph.similarity, n_threads=n_threads)
    marked = np.unique(rows.indices)
    if len(marked) > LARGEST:
        marked = np.sort(np.random.default_rng(0).permutation(marked)[:LARGEST])
    for eps in epsilons:
        kernel = FieldKernel(system, 1.0 / eps, marked, graph.scale)
        size = np.sqrt(kernel.scale)

        def values(v: Columns, kernel: FieldKernel = kernel, size: float = size) -> Columns:
            return kernel.values(v / size).astype(np.float64)

        yield Features("near", kernel.at(rows.indices) / size, values)

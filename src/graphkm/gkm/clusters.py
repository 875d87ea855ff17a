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

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..graphs import NodeGraph, RowNodes
from ..graphs.distinct import Copies
from ..graphs.search import Neighbours
from ..members.clusters import means_without, ridges
from ..members.features import (
    LANDMARKS,
    MOST,
    Features,
    fading_features,
    features_of_all_pairs,
    features_of_neighbours,
    neighbour_counts,
)

Columns = NDArray[np.float64]

_NEIGHBOURS = (0.6, 1.2, 5.0)  # in units of the nodes' own
_NEIGHBOURS_OF_MANY = (1.2, 5.0)  # with few labels the first counts, with many the second
_STEPS = (5, 10, 20, 40, 80)  # eigenvectors
_STEPS_OF_KERNELS = (2, 5, 10, 20, 40)
_NEAR = (0.2, 0.6, 1.2)  # in units of the nodes' own neighbours
_EPSILONS = (0.1, 0.01, 0.001)  # how soon what a label says fades
_EPSILONS_OF_MANY = (0.01, 0.003)

_CS = (0.01, 1.0, 10.0, 100.0)
FITS = len(_CS)
"""Fits on the same features."""


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
        self.mean, others = means_without(targets, weights, copies)
        known = np.hstack([targets, np.ones((len(targets), 1))])
        held_out, self._coefficients = [], []
        for phi in features:
            for held, v in ridges(phi, weights, known, copies, _CS):
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


def cluster_features(graph: NodeGraph, n_threads: int = 1) -> Iterator[Features]:
    """Yield the features of every kind over the nodes of a graph, and at its rows."""
    nodes, rows = graph.nodes, graph.rows
    assert isinstance(nodes, RowNodes)
    n = nodes.points.shape[0]
    few = n <= LANDMARKS
    broad = neighbour_counts(nodes, _NEIGHBOURS if few else _NEIGHBOURS_OF_MANY)
    fading = neighbour_counts(nodes, _NEAR) if few else []
    if n <= MOST:
        near = Neighbours.of(nodes.index, max(broad + fading))
        for k in broad:
            yield from features_of_neighbours(near.first(k), rows, _STEPS)
    yield from features_of_all_pairs(nodes.points, rows, _STEPS_OF_KERNELS, n_threads)
    for k in fading:
        yield from fading_features(RowNodes.graph_of(near.first(k)), rows, _EPSILONS, n_threads)
    if not few:
        yield from fading_features(graph, rows, _EPSILONS_OF_MANY, n_threads)

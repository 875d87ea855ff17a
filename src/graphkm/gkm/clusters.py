"""Fields that follow clusters: ridge regressions on the leading eigenvectors of graphs.

With the m leading eigenvectors U of a graph of all nodes, the kernel U U' is that of functions
which are nearly constant on each of about m groups of nodes. Chapelle, Weston and Schoelkopf
(2003) call it the step kernel. There are two kinds of graphs: nearest neighbours, for groups of
any shape, and all pairs with Gaussian weights, for clouds in many dimensions, where neighbours are
found by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ..graphs import RowNodes
from ..graphs.search import Neighbours
from ..graphs.spectrum import kernel_vectors, neighbour_vectors
from ..kernels import resolve_gamma

Columns = NDArray[np.float64]

KINDS = ("neighbours", "kernel")
"""The kinds of graphs."""

MOST = 4000
"""Nodes up to which eigenvectors are computed: there is a matrix of all pairs."""

_NEIGHBOURS = (0.6, 1.2, 5.0)  # in units of the nodes' own
_GAMMAS = (1.0, 4.0)  # in units of one over the spread
_STEPS = (5, 10, 20, 40, 80)  # eigenvectors
_STEPS_OF_KERNELS = (2, 5, 10, 20, 40)
LARGEST = _STEPS[-1]
"""Features of a fit at most."""

_CS = (0.01, 1.0, 10.0, 100.0)
FITS = len(_CS)
"""Fits on every one of the steps."""


class Steps(NamedTuple):
    """The first m of some eigenvectors, scaled so that the kernel's mean diagonal is 1."""

    kind: str
    phi: Columns
    """Features of the nodes, of shape (n_nodes, m)."""


class ClusterFits:
    """Ridge regressions on steps, each for several C.

    Each has a mean of its own: that of the labels it has seen.

    Parameters
    ----------
    features : list of ndarray of shape (l, m)
        Features of labelled rows, one array for each of the steps.
    weights : ndarray of shape (l,)
        Weights of the rows.
    targets : ndarray of shape (l, n_columns)
        What they should say.

    Attributes
    ----------
    held_out : ndarray of shape (n_fits, l, n_columns)
        What each says of a row without its label.
    """

    def __init__(
        self, features: Sequence[Columns], weights: NDArray[np.float64], targets: Columns
    ) -> None:
        self.mean = np.average(targets, axis=0, weights=weights)
        total = (weights[:, None] * targets).sum(axis=0)
        left = np.maximum(weights.sum() - weights, 1e-300)[:, None]
        others = (total - weights[:, None] * targets) / left  # the mean without each row
        known = np.hstack([targets, np.ones((len(targets), 1))])
        held_out, self._coefficients = [], []
        for phi in features:
            for held, v in _ridges(phi, weights, known):
                held_out.append(held[:, :-1] + (1.0 - held[:, -1:]) * others)
                self._coefficients.append(v[:, :-1] - v[:, -1:] * self.mean)
        self.held_out = np.array(held_out)

    def at(self, features: Sequence[Columns]) -> Columns:
        """Return what each fit says of other rows, of shape (n_fits, n, n_columns)."""
        steps = [phi for phi in features for _ in _CS]
        pairs = zip(steps, self._coefficients, strict=True)
        return np.array([self.mean + phi @ v for phi, v in pairs])

    def blended(self, features: Sequence[Columns], shares: NDArray[np.float64]) -> Columns:
        """Return the sum of all fits at other rows, each times its share, without their mean."""
        total = np.zeros((len(features[0]), len(self.mean)))
        for i in np.flatnonzero(shares).tolist():
            total += features[i // len(_CS)] @ (shares[i] * self._coefficients[i])
        return total


def _ridges(
    phi: Columns, weights: NDArray[np.float64], targets: Columns
) -> Iterator[tuple[Columns, Columns]]:
    """Yield, for every C, leave-one-out outputs and the coefficients of a ridge regression."""
    root = np.sqrt(weights)[:, None]
    rows, y = root * phi, root * targets
    values, vectors = eigh(rows.T @ rows, check_finite=False)
    turned = rows @ vectors
    right = turned.T @ y
    for C in _CS:
        factors = 1.0 / (np.maximum(values, 0.0) + 1.0 / C)
        leverage = np.minimum(np.square(turned) @ factors, 1.0 - 1e-12)[:, None]
        v = factors[:, None] * right
        yield (turned @ v - leverage * y) / (1.0 - leverage) / root, vectors @ v


def cluster_steps(nodes: Any) -> Iterator[Steps]:
    """Yield the steps of every kind of graph over some nodes."""
    assert isinstance(nodes, RowNodes)
    points, n = nodes.points, nodes.points.shape[0]
    own = nodes.n_neighbors
    counts = dict.fromkeys(min(max(1, round(factor * own)), n - 1) for factor in _NEIGHBOURS)
    near = Neighbours.of(nodes.index, max(counts))
    for k in counts:
        yield from _steps("neighbours", neighbour_vectors(near.first(k), _STEPS[-1]), _STEPS)
    spread = resolve_gamma("spread", points)
    for factor in _GAMMAS:
        vectors = kernel_vectors(points, factor * spread, _STEPS_OF_KERNELS[-1])
        yield from _steps("kernel", vectors, _STEPS_OF_KERNELS)


def _steps(kind: str, vectors: Columns, numbers: Sequence[int]) -> Iterator[Steps]:
    for m in dict.fromkeys(min(m, vectors.shape[1]) for m in numbers):
        yield Steps(kind, vectors[:, :m] * np.sqrt(len(vectors) / m))

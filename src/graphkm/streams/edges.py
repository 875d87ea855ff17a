"""Edges between kept rows of a stream: which pairs, and their weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backends import make_store
from ..kernels import SquaredExponential
from ..neighbours.distances import gaussian_weights
from .reservoir import Kept, pick

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Moment(NamedTuple):
    """The places of steps in the stream, and the labels and other rows seen until then."""

    time: Ints
    labels: Ints
    unlabeled: Ints


class Pairs(NamedTuple):
    """Ends of edges, u = -1 where there is none, and their weights mu."""

    u: Ints
    v: Ints
    weight: Floats


class StreamEdges:
    """Random edges between kept rows, none of them between two labelled ones.

    - "full" and "bipartite" draw every pair of the graph over everything seen with the same
      probability. Kept rows stand for the others of their kind.
    - "knn" takes a kept row without a label as u. It draws m / n_neighbors of the m kept rows, in
      the proportions of labelled and other rows seen, and takes the nearest of them as v. On
      average v has the rank n_neighbors among the kept rows, or a higher one if `n_candidates`
      limits the draws.

    Parameters
    ----------
    kind : {"full", "bipartite", "knn"}
        The graph.
    gamma : float
        Bandwidth of the weights mu_uv = exp(-gamma ||x_u - x_v||^2).
    n_candidates : int
        For "knn": rows drawn for each step, of which only the first may be needed.
    n_neighbors : int
        For "knn".
    rng : numpy.random.Generator
        Used by nobody else.
    """

    def __init__(
        self,
        kind: str,
        gamma: float,
        n_candidates: int,
        n_neighbors: int,
        rng: np.random.Generator,
    ) -> None:
        self.rng = rng
        self._kind, self._gamma = kind, gamma
        self._n_neighbors = n_neighbors
        self._n_draws = 1 + (n_candidates if kind == "knn" else 2)

    def draw(self, at: Moment, labels: Kept, others: Kept, rows: Any) -> Pairs:
        """Return an edge for every step; entries are places in the table `rows`."""
        draws = self.rng.random((len(at.time), self._n_draws))
        count = others.count(at.time)
        slot = pick(draws[:, 0], count)
        u = others.entry(slot, at.time)
        if self._kind == "knn":
            v, weight = self._nearest(draws[:, 1:], at, labels, others, u, rows)
        else:
            v, exists = self._partner(draws[:, 1:], at, labels, others, slot)
            exists &= count > 0
            u = np.where(exists, u, -1)
            weight = np.zeros(len(u))
            weight[exists] = gaussian_weights(rows, u[exists], v[exists], self._gamma)
        return Pairs(np.where(count > 0, u, -1), v, weight)

    def _partner(
        self, draws: Floats, at: Moment, labels: Kept, others: Kept, slot: Ints
    ) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the other end of a pair, and whether there is one."""
        n_labels, count = labels.count(at.time), others.count(at.time)
        # l u mixed pairs and u (u - 1) / 2 others.
        share = 2.0 * at.labels / np.maximum(2.0 * at.labels + at.unlabeled - 1.0, 1.0)
        mixed = draws[:, 1] < share
        if self._kind == "bipartite":
            mixed[:] = True
        # Another slot than the first: any of the count - 1 that follow it in a circle.
        second = (slot + 1 + pick(draws[:, 0], count - 1)) % np.maximum(count, 1)
        one = labels.draw(draws[:, 0], at.time)
        other = others.entry(second, at.time)
        return np.where(mixed, one, other), np.where(mixed, n_labels > 0, count > 1)

    def _nearest(
        self, draws: Floats, at: Moment, labels: Kept, others: Kept, u: Ints, rows: Any
    ) -> tuple[Ints, Floats]:
        """Return the nearest of some kept rows drawn for every u, and its weight."""
        n_labels, count = labels.count(at.time), others.count(at.time)
        wanted = -(-(n_labels + count) // self._n_neighbors)
        draws = draws[:, : int(wanted.max(initial=0))]
        time = np.broadcast_to(at.time[:, None], draws.shape)
        share = (at.labels / np.maximum(at.labels + at.unlabeled, 1))[:, None]
        labelled = draws < share
        with np.errstate(divide="ignore", invalid="ignore"):
            again = np.where(labelled, draws / share, (draws - share) / (1.0 - share))
        candidates = np.where(labelled, labels.draw(again, time), others.draw(again, time))
        live = np.arange(draws.shape[1]) < wanted[:, None]
        live &= (candidates != u[:, None]) & (labelled | (count[:, None] > 0))
        if not live.any():
            return u, np.zeros(len(u))
        mu = np.where(live, self._weights(rows, u, candidates), -1.0)
        best = mu.argmax(axis=1)
        each = np.arange(len(u))
        return candidates[each, best], np.maximum(mu[each, best], 0.0)

    def _weights(self, rows: Any, u: Ints, candidates: Ints) -> NDArray[Any]:
        """Return mu between every u and its candidates. Steps share many candidates."""
        used = np.zeros(rows.shape[0], bool)
        used[candidates] = True
        place = np.cumsum(used) - 1
        store = make_store(
            SquaredExponential(gamma=self._gamma),
            rows.shape[1],
            1,
            sparse=not isinstance(rows, np.ndarray),
            dtype=rows.dtype,
        )
        store.append(rows[np.flatnonzero(used)])
        return np.take_along_axis(store.values(rows[u]), place[candidates], axis=1)

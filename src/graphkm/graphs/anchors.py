"""Anchors: nodes that are means of rows, fewer than there are rows.

Anchors need only sums over the rows. Sums and counts of the rows nearest to each anchor move the
anchors, and Z'Z joins them. Sums of blocks add up, and nothing as large as the data is kept. So the
anchors depend on the rows and their order, but not on how the rows are cut into blocks, except for
rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..backends import active
from ..neighbours.distances import squared_distances
from ..neighbours.index import NeighbourIndex
from .nodes import NearNodes, NodeGraph, faded, normalized, positive, scaled

JOINED = 3
"""How many anchors a row joins."""

NEAR = 10
"""How many anchors a row reaches if there are more than `FEW`."""

FEW = 1000
"""More anchors than so many are sharp. On MNIST with 100 labels, 20,000 sharp anchors were right on
95.1 % of new rows, and mild ones on 93.9 %. But 600 anchors of USPST were right on 88.3 and 89.7 %:
few sharp anchors fall apart (`benchmarks/edge_weights.py --part anchors`, 3 and 10 draws)."""

_NUMBERS = 2**20  # row numbers that are hashed together


class AnchorNodes(NearNodes):
    """Nodes that are means of rows, fewer than there are rows.

    A row joins its three nearest anchors, with shares exp(-d^2 / d_4^2), where d_4 is the distance
    to the fourth. So two anchors are joined the more, the more rows are near both (Liu, He and
    Chang, 2010). These shares are also the weights of a row.

    More than 1,000 anchors are sharp, as rows are (`RowNodes`). The edge between two of them is
    lighter the farther they are apart: it is multiplied by exp(-6 d^2 / (s_u s_v)). A row reaches
    its ten nearest, with the weights of `NearNodes`.

    Parameters
    ----------
    index : NeighbourIndex
        The anchors.
    reach : ndarray of shape (m,)
        s of every anchor: the distance from its tenth neighbour, or from its third if they are few.
    """

    def __init__(self, index: NeighbourIndex, reach: NDArray[np.float64]) -> None:
        super().__init__(index, NEAR, reach)

    @classmethod
    def at(cls, anchors: Any, n_jobs: int | None = None) -> AnchorNodes:
        """Return nodes at these anchors."""
        index, m = NeighbourIndex(anchors, n_jobs=n_jobs), anchors.shape[0]
        if m == 1:
            return cls(index, np.ones(1))
        near = index.neighbours(NEAR if m > FEW else min(JOINED, m - 1))[1][:, -1]
        return cls(index, positive(np.sqrt(near)))

    @classmethod
    def graph(
        cls,
        X: Any,
        n_anchors: int,
        *,
        passes: int,
        seed: int,
        kept: NDArray[np.int64] | None = None,
        n_jobs: int | None = None,
    ) -> NodeGraph:
        """Return anchors for the rows of X, moved to the means of their rows in some passes.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            The rows. They are looked at in blocks.
        n_anchors : int
            From 1 to n.
        passes : int
            How often the anchors move.
        seed : int
            Decides which rows the anchors start from.
        kept : ndarray of int, optional
            Rows whose weights are kept; None is all.
        n_jobs : int, optional
            Parallel searches.

        Examples
        --------
        >>> X = np.arange(12.0)[:, None]
        >>> graph = AnchorNodes.graph(X, 4, passes=2, seed=0, kept=np.array([0, 5]))
        >>> graph.similarity.shape, graph.rows.shape
        ((4, 4), (2, 4))
        """
        anchors = X[drawn_rows(X.shape[0], n_anchors, seed)]
        for _ in range(passes):
            anchors = moved(anchors, rows_by_anchor(NeighbourIndex(anchors, n_jobs=n_jobs), X))
        nodes = cls.at(anchors, n_jobs)
        return nodes.graph_of(nodes.joins(X), nodes.weights(X if kept is None else X[kept]))

    def weights(self, X: Any) -> Any:
        """Return the weights of the anchors for every row of X."""
        return super().weights(X) if len(self.reach) > FEW else self._shares(X)

    def _shares(self, X: Any) -> Any:
        """Return the shares Z of the anchors that each row of X joins."""
        m = len(self.reach)
        near, d2 = self.index.nearest_to(X, min(JOINED + 1, m))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            exponent = -np.where(d2 > 0, d2 / d2[:, -1:], 0.0)
        used = min(JOINED, m)
        return faded(near[:, :used], exponent[:, :used], d2[:, 0], self.reach)

    def joins(self, X: Any) -> Any:
        """Return Z'Z of some rows without its diagonal, a CSR array. Those of blocks add up.

        Examples
        --------
        >>> nodes = AnchorNodes.at(np.array([[0.0], [1.0]]))
        >>> nodes.joins(np.array([[0.5]])).toarray()
        array([[0.  , 0.25],
               [0.25, 0.  ]])
        """
        product = active().sparse_product
        squares = (product(z.T, z).tocsr() for z in map(self._shares, _blocks(X)))
        found = sp.coo_array(reduce(lambda one, other: one + other, squares))
        across = found.row != found.col
        place = (found.row[across], found.col[across])
        return sp.coo_array((found.data[across], place), shape=found.shape).tocsr()

    def graph_of(self, joins: Any, rows: Any) -> NodeGraph:
        """Return the graph of the anchors.

        Parameters
        ----------
        joins : csr_array of shape (m, m)
            `joins` of all rows.
        rows : csr_array of shape (n_kept, m)
            Weights of the rows that are kept.
        """
        similarity, scale = normalized(self._sharpened(joins) if len(self.reach) > FEW else joins)
        return NodeGraph(self, similarity, rows, scale)

    def _sharpened(self, joins: Any) -> Any:
        """Return the edges, lighter the farther two anchors are apart."""
        pairs = sp.triu(joins, format="coo")  # the other half has the same distances
        u, v = pairs.row.astype(np.int64), pairs.col.astype(np.int64)
        d2 = squared_distances(self.points, u, v)
        weight = pairs.data * np.exp(-self.sharpness * scaled(d2, self.reach[u], self.reach[v]))
        half = sp.coo_array((weight, (u, v)), shape=joins.shape).tocsr()
        return (half + half.T).tocsr()


# ------------------------------------------------------------------ where anchors start


def drawn_rows(n: int, n_drawn: int, seed: int) -> NDArray[np.int64]:
    """Return numbers of rows drawn at random without replacement, in rising order.

    These rows have the least hashes of their numbers. So no block has to know of another.

    Examples
    --------
    >>> drawn_rows(1000, 3, seed=0), drawn_rows(3, 3, seed=0)
    (array([405, 579, 776]), array([0, 1, 2]))
    """
    wanted = n_drawn + 8.0 * np.sqrt(n_drawn)  # nearly always enough hashes lie below
    while True:
        limit = np.uint64(min(1.0, wanted / n) * (2**64 - 2**12))
        below = list(_below(limit, n, seed)) if wanted < n else [_hashed(0, n, seed)]
        numbers, hashes = map(np.concatenate, zip(*below, strict=True))
        if len(numbers) >= n_drawn:
            return np.sort(numbers[np.argsort(hashes)[:n_drawn]])
        wanted *= 2.0


class RowDraw:
    """Draws rows as `drawn_rows` does, from blocks whose number is not known before.

    Parameters
    ----------
    most : int
        Rows that are drawn at most.
    seed : int
        Decides which.

    Examples
    --------
    >>> X, draw = np.arange(1000.0)[:, None], RowDraw(5, seed=0)
    >>> for block in (X[:300], X[300:]):
    ...     draw.add(block)
    >>> draw.first(3).ravel()
    array([405., 579., 776.])
    """

    def __init__(self, most: int, seed: int) -> None:
        self.n_rows = 0
        self._most, self._seed = most, seed
        self._numbers, self._hashes = np.empty(0, np.int64), np.empty(0, np.uint64)
        self._rows: Any = None

    def add(self, X: Any) -> None:
        """Look at the next rows, numbers in every place."""
        numbers, hashes = _hashed(self.n_rows, self.n_rows + X.shape[0], self._seed)
        before = len(self._numbers)
        numbers, hashes = np.append(self._numbers, numbers), np.append(self._hashes, hashes)
        kept = np.sort(np.argsort(hashes)[: self._most])
        old, new = kept[kept < before], kept[kept >= before] - before
        if self._rows is None:
            self._rows = X[new]
        elif len(new):
            stack = np.concatenate if isinstance(X, np.ndarray) else _stack_sparse
            self._rows = stack([self._rows[old], X[new]])
        self._numbers, self._hashes = numbers[kept], hashes[kept]
        self.n_rows += X.shape[0]

    def first(self, n_drawn: int) -> Any:
        """Return `n_drawn` of all rows seen, in their order."""
        return self._rows[np.sort(np.argsort(self._hashes)[:n_drawn])]


def _stack_sparse(parts: list[Any]) -> Any:
    return sp.vstack(parts, format="csr")


def _below(limit: np.uint64, n: int, seed: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yield numbers of rows whose hashes are below a limit, and the hashes."""
    for start in range(0, n, _NUMBERS):
        numbers, hashes = _hashed(start, min(start + _NUMBERS, n), seed)
        low = hashes < limit
        yield numbers[low], hashes[low]


def _hashed(start: int, stop: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return numbers and their hashes; no two hashes are alike.

    The seed is mixed as well. Otherwise the draws of a seed and of the next one would be the same
    but for a shift.
    """
    numbers = np.arange(start, stop, dtype=np.int64)
    origin = _mixed(np.array([seed], dtype=np.uint64))
    return numbers, _mixed(numbers.astype(np.uint64) + origin)


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return splitmix64 of numbers."""
    z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


# ------------------------------------------------------------------ how they move


class RowsByAnchor(NamedTuple):
    """Sums of rows by their nearest anchor. Anchors without rows are left out."""

    anchors: NDArray[np.int64]
    """Numbers of the anchors, in rising order."""
    counts: NDArray[np.float64]
    """How many rows are nearest to each."""
    totals: Any
    """The sums of these rows, an ndarray or CSR array of float64 of shape (len(anchors), d)."""


def rows_by_anchor(index: NeighbourIndex, X: Any) -> RowsByAnchor:
    """Return the sums of some rows. Those of several blocks add up.

    Examples
    --------
    >>> index = NeighbourIndex(np.array([[0.0], [9.0], [50.0]]))
    >>> rows_by_anchor(index, np.array([[1.0], [2.0], [8.0]])).totals
    array([[3.],
           [8.]])
    """
    return reduce(add_by_anchor, (_block_by_anchor(index, block) for block in _blocks(X)))


def _block_by_anchor(index: NeighbourIndex, X: Any) -> RowsByAnchor:
    n = X.shape[0]
    nearest = index.nearest_to(X, 1)[0][:, 0]
    counts = np.bincount(nearest)
    anchors = np.flatnonzero(counts)
    place = np.cumsum(counts > 0) - 1
    pick = sp.csr_array((np.ones(n), (place[nearest], np.arange(n))), shape=(len(anchors), n))
    rows = X if isinstance(X, np.ndarray) else sp.csr_array(X)
    totals = active().sparse_product(pick, rows)
    return RowsByAnchor(anchors, counts[anchors].astype(np.float64), totals)


def add_by_anchor(one: RowsByAnchor, other: RowsByAnchor) -> RowsByAnchor:
    """Return the sums over the rows of both."""
    anchors = np.union1d(one.anchors, other.anchors)
    counts: Any = 0.0
    totals: Any = 0.0
    for part in (one, other):
        k = len(part.anchors)
        place = np.searchsorted(anchors, part.anchors)
        put = sp.csr_array((np.ones(k), (place, np.arange(k))), shape=(len(anchors), k))
        counts, totals = put @ part.counts + counts, put @ part.totals + totals
    return RowsByAnchor(anchors, counts, totals)


def moved(anchors: Any, sums: RowsByAnchor) -> Any:
    """Return every anchor at the mean of the rows nearest to it, if it has any."""
    share = 1.0 / sums.counts
    if isinstance(anchors, np.ndarray):
        found = anchors.copy()
        found[sums.anchors] = sums.totals * share[:, None]
        return found
    m, k = anchors.shape[0], len(sums.anchors)
    stay = np.ones(m)
    stay[sums.anchors] = 0.0
    put = sp.csr_array((share, (sums.anchors, np.arange(k))), shape=(m, k))
    rows = sp.csr_array(put @ sums.totals + sp.diags_array(stay) @ anchors, dtype=anchors.dtype)
    rows.sum_duplicates()  # an index searches canonical rows
    return rows


def _blocks(X: Any) -> Iterator[Any]:
    size = active().block_rows
    for start in range(0, max(1, X.shape[0]), size):
        yield X[start : start + size]

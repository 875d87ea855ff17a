"""Exact nearest rows on the card: distances in tiles, and lists that are kept beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._util.spread import without_outliers
from .modules import STAGES, TILE, TILE_BYTES, kernel, multiprocessors, require_card
from .rows import on_card, padded

_LIST = 64  # the most candidates that a block keeps for a query
_MORE = 6  # candidates beyond k, because distances are rounded
_QUEUE = 1024  # candidates that wait to be put into lists
_BUSY = 0.9  # share of the card that must be at work
_BLOCK = 2**18  # queries searched at a time
_WIDE = 128  # from so many columns on products, not lists, take most of the time
_PILOT = 4096  # first queries, which show whether a kind of distances proves enough lists
_WORTH = 0.75  # share of the first queries whose lists it must prove
_SAMPLE = 256  # rows that show where the middle is
_ROUGH_LISTS = 4  # least lists of a query for rough distances: together they keep more candidates
_MOST_LISTS = 32  # largest number of lists of a query


@dataclass(frozen=True)
class _Queries:
    given: Any  # as they came
    rows: Any  # around the middle of the rows, in single precision
    squares: Any  # their squared norms
    own: Any  # the row that a query is itself, -1 for none

    def take(self, some: Any) -> _Queries:
        return _Queries(self.given[some], self.rows[some], self.squares[some], self.own[some])


class CudaSearch:
    """Rows on the card, whose nearest rows are found by brute force.

    Candidates are found by distances in single precision, after the middle of the rows has been
    subtracted. Distances in double precision, between the rows as they came, decide. No row outside
    a query's list is nearer than the farthest row of the list, less the largest rounding error.
    Where that does not prove the neighbours, all distances are computed in double precision.

    Rough distances, of one product on tensor cores instead of three, come first if rows are wide.
    If a kind of distances proves few lists of the first queries, it is left out.

    Parameters
    ----------
    rows : ndarray of float32 or float64 of shape (n, d)
        The rows.
    """

    most = _LIST

    def __init__(self, rows: NDArray[Any]) -> None:
        self._cupy = require_card()
        given = on_card(rows, rows.dtype, rows.shape[1])
        # An outlier would move the middle so far away that the others had no digits left.
        few = without_outliers(rows[:: -(-len(rows) // _SAMPLE)])
        middle = few.mean(axis=0, dtype=np.float64)
        self._middle = self._cupy.asarray(middle.astype(rows.dtype))
        self._unit = _unit(float(abs(given - self._middle).max()))
        self._all = self._queries(given, self._cupy.arange(len(given), dtype=np.int32))
        self._largest = float(self._all.squares.max())

    def nearest(
        self, queries: NDArray[Any] | None, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the k nearest rows of every query, nearest first, and squared distances.

        Parameters
        ----------
        queries : ndarray of shape (m, d) or None
            None takes the rows themselves, none of which is its own neighbour.
        k : int
            From 1 to the number of rows that may be found.
        """
        m = len(self._all.given) if queries is None else len(queries)
        near, d2 = np.empty((m, k), np.int64), np.empty((m, k))
        for start in range(0, m, _BLOCK):
            part = slice(start, min(start + _BLOCK, m))
            if queries is None:
                found = self.nearest_on_card(None, k, part)
            else:
                given = on_card(queries[part], self._all.given.dtype, self._all.given.shape[1])
                found = self.nearest_on_card(given, k)
            near[part], d2[part] = (each.get() for each in found)
        return near, d2

    def nearest_on_card(self, queries: Any, k: int, part: slice = slice(None)) -> tuple[Any, Any]:
        """Return `nearest` of queries on the card, or of a part of the rows, on the card."""
        cupy = self._cupy
        if queries is None:
            asked = self._all.take(part)
        else:
            asked = self._queries(queries, cupy.full(len(queries), -1, np.int32))
        m = len(asked.given)
        near, d2 = cupy.empty((m, k), np.int64), cupy.empty((m, k), np.float64)
        ways = [self._by_fine_distances, self._by_all_distances]
        if asked.rows.shape[1] >= _WIDE:
            ways.insert(0, self._by_rough_distances)
        for start, stop in ((0, _PILOT), (_PILOT, m)):
            unsure = cupy.arange(start, min(stop, m))
            for way in list(ways):
                if not len(unsure):
                    break
                near[unsure], d2[unsure], sure = way(asked.take(unsure), k)
                if float(sure.mean()) < _WORTH:
                    ways.remove(way)
                unsure = unsure[~sure]
        return near, d2

    def _queries(self, given: Any, own: Any) -> _Queries:
        """Return queries with their rows around the middle.

        The unit of these keeps the norms in range, whatever the unit of the rows is.
        """
        cupy = self._cupy
        table = cupy.zeros((len(given), padded(given.shape[1])), np.float32)
        table[:, : given.shape[1]] = (given - self._middle) / self._unit
        return _Queries(given, table, cupy.einsum("ij,ij->i", table, table), own)

    # Three searches. Each returns the nearest rows, their squared distances, and which are proved.

    def _by_rough_distances(self, asked: _Queries, k: int) -> tuple[Any, Any, Any]:
        lists = max(_ROUGH_LISTS, self._lists(len(asked.given)))
        # Each factor of a product is rounded by 2**-11 of itself.
        return self._proved(asked, k, 2.0**-9, *self._candidates(asked, k, lists, ROUGH=1))

    def _by_fine_distances(self, asked: _Queries, k: int) -> tuple[Any, Any, Any]:
        lists = self._lists(len(asked.given))
        return self._proved(asked, k, 0.0, *self._candidates(asked, k, lists))

    def _by_all_distances(self, asked: _Queries, k: int) -> tuple[Any, Any, Any]:
        cupy, n, m = self._cupy, len(self._all.given), len(asked.given)
        lists, columns = self._lists(m), cupy.ascontiguousarray(asked.given.T)
        found = cupy.empty((m, lists * k), np.int32)
        number = "float" if columns.dtype == np.float32 else "double"
        function = kernel("neighbours.cu", "nearest_of_all", NUMBER=number)
        sizes = np.int64(m), self._all.given, np.int64(n), np.int32(columns.shape[0])
        function((-(-m // TILE), lists), (TILE,), (columns, *sizes, asked.own, np.int32(k), found))
        return *self._in_order(asked.given, found, k), cupy.ones(m, bool)

    def _proved(
        self, asked: _Queries, k: int, rounding: float, found: Any, reach: Any
    ) -> tuple[Any, Any, Any]:
        """Return the nearest of the candidates, and of which queries the lists prove them.

        A row nearer than the k-th candidate has a norm of at most ||q|| plus that distance. For
        norms a and b, rounded products err by a share `rounding` of a b, and rounded sums by a
        share of a^2 + b^2 that grows with the number of columns.
        """
        cupy = self._cupy
        near, d2 = self._in_order(asked.given, found, k)
        farthest = d2[:, -1] / self._unit / self._unit
        own = asked.squares.astype(np.float64)
        other = cupy.minimum((cupy.sqrt(own) + cupy.sqrt(farthest)) ** 2, self._largest)
        error = rounding * cupy.sqrt(own * other)
        error += 2.0**-22 * (asked.rows.shape[1] + 16) * (own + other)
        return near, d2, farthest < reach.min(axis=1) - error

    def _lists(self, m: int) -> int:
        """Return the number of blocks among which the rows are divided, for m queries."""
        return _parts(-(-m // TILE), self._tiles(), 2 * multiprocessors())

    def _tiles(self) -> int:
        return -(-len(self._all.given) // TILE)

    def _candidates(self, asked: _Queries, k: int, lists: int, **macros: int) -> tuple[Any, Any]:
        """Return row numbers that hold the nearest, -1 for none, and how far each list reaches.

        Their shapes are (m, at least k) and (m, lists).
        """
        cupy, n, m = self._cupy, len(self._all.given), len(asked.given)
        most = min(k + _MORE, _LIST)
        found, reach = cupy.empty((m, lists * most), np.int32), cupy.empty((m, lists), np.float32)
        function = kernel("tiles.cu", "nearest_rows", KERNEL=9, **macros)
        shared = TILE_BYTES + 12 * _QUEUE + 4 * TILE * (3 + STAGES) + 8 * TILE * most
        function.max_dynamic_shared_size_bytes = shared
        between = (asked.rows, asked.squares, np.int64(m), self._all.rows, self._all.squares)
        sizes = np.int64(n), np.int32(asked.rows.shape[1])
        kept = asked.own, np.int32(most), np.int64(_stride(self._tiles()))
        grid, given = (-(-m // TILE), lists), (*between, *sizes, *kept, found, reach)
        function(grid, (256,), given, shared_mem=shared)
        return found, reach

    def _in_order(self, given: Any, found: Any, k: int) -> tuple[Any, Any]:
        cupy = self._cupy
        m, each = found.shape
        number = "float" if given.dtype == np.float32 else "double"
        distances = kernel("neighbours.cu", "found_distances", NUMBER=number)
        squares = cupy.empty((m, each), np.float64)
        pairs = np.int64(m * each)
        rows = (given, self._all.given, found, pairs, np.int32(each), np.int32(given.shape[1]))
        distances((-(-m * each // 8),), (256,), (*rows, squares))
        near, d2 = cupy.empty((m, k), np.int64), cupy.empty((m, k), np.float64)
        order = kernel("neighbours.cu", "sorted_neighbours", NUMBER=number)
        sizes = np.int64(m), np.int32(each), np.int32(k)
        order((-(-m // 128),), (128,), (found, squares, *sizes, near, d2))
        return near, d2


def _unit(largest: float) -> float:
    """Return a power of two near a number; 1 for 0.

    Examples
    --------
    >>> _unit(3e-30) < 3e-30 < 2 * _unit(3e-30), _unit(0.0)
    (True, 1.0)
    """
    return float(np.exp2(np.floor(np.log2(largest)))) if largest > 0 else 1.0


def _parts(across: int, tiles: int, at_once: int) -> int:
    """Return the number of blocks among which the tiles of a query are divided.

    Few blocks are best, because each has its own lists. But with too few the card is idle at the
    end.

    Examples
    --------
    >>> _parts(4096, 4096, 264), _parts(300, 4096, 264)
    (1, 4)
    """
    for parts in range(1, min(_MOST_LISTS, tiles)):
        waves = across * parts / at_once
        if waves > _BUSY * np.ceil(waves):
            return parts
    return min(_MOST_LISTS, tiles)


def _stride(tiles: int) -> int:
    """Return a step that visits all tiles in a scattered order: it has no divisor in common.

    Examples
    --------
    >>> sorted(i * _stride(10) % 10 for i in range(10)) == list(range(10))
    True
    """
    step = max(1, int(0.618 * tiles))
    while np.gcd(step, tiles) != 1:
        step += 1
    return step

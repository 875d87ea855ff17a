"""Exact nearest rows on the card: distances in tiles, and lists that are kept beside them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cells import CudaCells
from .lists import LIST, candidates, in_order, lists_for, nearest_by_all_distances
from .modules import require_card
from .rows import on_card
from .tables import Table, Units

_BLOCK = 2**18  # queries searched at a time
_PILOT = 4096  # queries of the first block, which show whether a way proves enough lists
_WORTH = 0.75  # share of the first queries whose lists it must prove


class _Way(NamedTuple):
    """A kind of distances, and the least lists of a query: together they keep more candidates."""

    dtype: Any
    lists: int = 1


_WAYS = (_Way(np.float16), _Way(np.float16, 4), _Way(np.float32), _Way(np.float64))


class CudaSearch:
    """Rows on the card, whose nearest rows are found by brute force.

    Candidates are found by rounded distances, after the middle of the rows has been subtracted.
    Distances in double precision, between the rows as they came, decide. No row outside a query's
    list is nearer than the farthest row of the list, less what rounding may have changed. Where
    that does not prove the neighbours, the next way is taken: distances between rows of 16-bit
    numbers come first, the same with more candidates next, then single precision, and all distances
    in double precision last. A way that proves few lists of a pilot is left out.

    Whole numbers, like one-hot columns, are not rounded at all, up to a squared norm of 2^22.

    Parameters
    ----------
    rows : ndarray of float32 or float64 of shape (n, d)
        The rows.
    """

    most = LIST

    def __init__(self, rows: NDArray[Any]) -> None:
        self._cupy = require_card()
        self._given = on_card(rows, rows.dtype, rows.shape[1])
        self._units = Units(self._given)
        self._tables: dict[Any, Table] = {}

    @cached_property
    def cells(self) -> CudaCells:
        """The same rows in cells, of which a search reads a few."""
        return CudaCells(self._given, self._units, self._table(np.float16))

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
        m = len(self._given) if queries is None else len(queries)
        near, d2 = np.empty((m, k), np.int64), np.empty((m, k))
        ways = list(_WAYS)
        for start in range(0, m, _BLOCK):
            part = slice(start, min(start + _BLOCK, m))
            if queries is None:
                given = self._given[part]
                own = self._cupy.arange(part.start, part.stop, dtype=np.int32)
            else:
                given = on_card(queries[part], self._given.dtype, self._given.shape[1])
                own = self._cupy.full(len(given), -1, np.int32)
            near[part], d2[part] = self._nearest(given, own, k, ways, 0 if start else _PILOT)
        return near, d2

    def nearest_of(
        self, own: NDArray[np.int64], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the k nearest other rows of some of the rows, given by their numbers."""
        numbers = self._cupy.asarray(own, np.int32)
        return self._nearest(self._given[numbers], numbers, k, list(_WAYS), _PILOT)

    def _nearest(
        self, given: Any, own: Any, k: int, ways: list[_Way], pilot: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the nearest rows of some queries.

        About so many of them are a pilot: they come first, with as many lists as all have, and ways
        that prove few of them are left out.
        """
        m = len(given)
        near, d2 = np.empty((m, k), np.int64), np.empty((m, k))
        lists = lists_for(m, len(self._given))
        first = np.arange(m) % max(1, m // pilot) == 0 if pilot else np.zeros(m, bool)
        for judging, asked in ((True, first), (False, ~first)):
            unsure = np.flatnonzero(asked)
            for way in list(ways):
                if not len(unsure):
                    break
                some = self._cupy.asarray(unsure)
                found, squares, sure = self._by(way, given[some], own[some], k, lists)
                near[unsure], d2[unsure] = found.get(), squares.get()
                if judging and sure.mean() < _WORTH:
                    ways.remove(way)
                unsure = unsure[~sure]
        return near, d2

    def _by(
        self, way: _Way, given: Any, own: Any, k: int, lists: int
    ) -> tuple[Any, Any, NDArray[np.bool_]]:
        """Return the nearest rows in one way, and for which queries they are proved."""
        if way.dtype is np.float64:
            near, d2 = nearest_by_all_distances(given, own, self._given, k)
            return near, d2, np.ones(len(given), bool)
        rows, asked = self._table(way.dtype), self._units.table(given, way.dtype)
        found, reach = candidates(asked, own, rows, k, max(lists, way.lists))
        near, d2 = in_order(given, self._given, found, k)
        return near, d2, self._proved(asked, rows, d2[:, -1].get(), reach.min(axis=1).get())

    def _proved(
        self,
        asked: Table,
        rows: Table,
        farthest: NDArray[np.float64],
        reach: NDArray[np.float32],
    ) -> NDArray[np.bool_]:
        """Return for which queries no row outside the lists is nearer than the k-th inside.

        A row nearer than that has a norm of at most ||q|| plus that distance. Rounding moves it by
        a share of its norm, and no row is moved farther than `moved`; so a rounded distance differs
        from the true one by what rounding moved both rows. Sums of squares a^2 and b^2 and of
        products err by a share of a^2 + b^2 that grows with the number of columns.
        """
        farthest = farthest / self._units.unit / self._units.unit
        if asked.exact and rows.exact:
            return farthest <= reach
        own, own_moved = asked.squares.get().astype(np.float64), asked.moved.get()
        norm = np.sqrt(own) + own_moved + np.sqrt(farthest)
        other = np.minimum(norm**2, (rows.largest**0.5 + rows.farthest) ** 2)
        d = asked.rows.shape[1]
        share, least = (2.0**-11, 2.0**-25) if rows.rows.itemsize == 2 else (2.0**-24, 2.0**-149)
        moved = np.minimum(share * np.sqrt(other) + least * d**0.5, rows.farthest) + own_moved
        summed = 2.0**-22 * (d + 16) * (own + other)
        return np.asarray(farthest + (2.0 * np.sqrt(farthest) + moved) * moved < reach - summed)

    def _table(self, dtype: Any) -> Table:
        """Return all rows, rounded to this type."""
        if dtype not in self._tables:
            self._tables[dtype] = self._units.table(self._given, dtype)
        return self._tables[dtype]

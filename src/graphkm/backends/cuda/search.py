"""Exact nearest rows on the card: distances in tiles, and lists that are kept beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .modules import STAGES, TILE, TILE_BYTES, kernel, multiprocessors, require_card
from .rows import on_card, padded

_LIST = 64  # candidates that a block keeps for a query, at most
_MORE = 6  # candidates beyond k: their distances are rounded
_QUEUE = 1024  # candidates that wait to be put into lists
_BUSY = 0.9  # share of the card that must be at work
_BLOCK = 2**18  # queries searched at a time


class CudaSearch:
    """Rows on the card, whose nearest rows are found by brute force.

    Candidates are found by distances in single precision, from rows around their mean. Distances
    in double precision, between the rows as they are, decide.

    Parameters
    ----------
    rows : ndarray of float32 or float64 of shape (n, d)
        The rows.
    """

    most = _LIST

    def __init__(self, rows: NDArray[Any]) -> None:
        self._cupy = require_card()
        self._given = on_card(rows, rows.dtype, rows.shape[1])
        self._mean = self._given.mean(axis=0, dtype=np.float64).astype(rows.dtype)
        self._unit = _unit(float(abs(self._given - self._mean).max()))
        self._rows, self._squares = self._rounded(self._given)

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
        for start in range(0, m, _BLOCK):
            part = slice(start, min(start + _BLOCK, m))
            if queries is None:
                found = self.nearest_on_card(None, k, part)
            else:
                given = on_card(queries[part], self._given.dtype, self._given.shape[1])
                found = self.nearest_on_card(given, k)
            near[part], d2[part] = (each.get() for each in found)
        return near, d2

    def nearest_on_card(self, queries: Any, k: int, part: slice = slice(None)) -> tuple[Any, Any]:
        """Return `nearest` of queries on the card, or of a part of the rows, on the card."""
        if queries is None:
            start = part.indices(len(self._given))[0]
            found = self._candidates(self._rows[part], self._squares[part], start, k)
            return self._in_order(self._given[part], found, k)
        found = self._candidates(*self._rounded(queries), -1, k)
        return self._in_order(queries, found, k)

    def _rounded(self, rows: Any) -> tuple[Any, Any]:
        """Return rows around the mean, in single precision, and their squared norms.

        Their unit keeps the norms in range, whatever the unit of the rows is.
        """
        cupy = self._cupy
        table = cupy.zeros((len(rows), padded(rows.shape[1])), np.float32)
        table[:, : rows.shape[1]] = (rows - self._mean) / self._unit
        return table, cupy.einsum("ij,ij->i", table, table)

    def _candidates(self, rows: Any, squares: Any, base: int, k: int) -> Any:
        """Return row numbers that hold the nearest, -1 for none, of shape (m, at least k)."""
        n, m = len(self._rows), len(rows)
        most = min(k + _MORE, _LIST)
        across, tiles = -(-m // TILE), -(-n // TILE)
        parts = _parts(across, tiles, 2 * multiprocessors())
        found = self._cupy.empty((m, parts * most), np.int32)
        function = kernel("tiles.cu", "nearest_rows", KERNEL=9)
        shared = TILE_BYTES + 12 * _QUEUE + 4 * TILE * (3 + STAGES) + 8 * TILE * most
        function.max_dynamic_shared_size_bytes = shared
        sizes = np.int32(rows.shape[1]), np.int64(base), np.int32(most), np.int64(_stride(tiles))
        between = (rows, squares, np.int64(m), self._rows, self._squares, np.int64(n))
        function((across, parts), (256,), (*between, *sizes, found), shared_mem=shared)
        return found

    def _in_order(self, given: Any, found: Any, k: int) -> tuple[Any, Any]:
        cupy = self._cupy
        m, each = found.shape
        number = "float" if given.dtype == np.float32 else "double"
        distances = kernel("neighbours.cu", "found_distances", NUMBER=number)
        squares = cupy.empty((m, each), np.float64)
        pairs = np.int64(m * each)
        rows = (given, self._given, found, pairs, np.int32(each), np.int32(given.shape[1]))
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
    """Return among how many blocks the tiles of a query are dealt.

    Few are best, because each has its own lists. But the card should not wait for the last blocks.

    Examples
    --------
    >>> _parts(4096, 4096, 264), _parts(300, 4096, 264)
    (1, 4)
    """
    for parts in range(1, min(8, tiles)):
        waves = across * parts / at_once
        if waves > _BUSY * np.ceil(waves):
            return parts
    return min(8, tiles)


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

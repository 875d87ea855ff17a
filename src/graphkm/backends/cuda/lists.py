"""Lists of the nearest rows of many queries: kernels that fill them and put them in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .modules import STAGES, TILE, TILE_BYTES, kernel, multiprocessors, require_card
from .tables import Table, number_of

LIST = 64
"""The most candidates that a block keeps for a query."""

MORE = 6
"""Candidates beyond k, because distances are rounded."""

_QUEUE = 1024  # candidates that wait to be put into lists
_BUSY = 0.9  # share of the card that must be at work
_MOST_LISTS = 32  # largest number of lists of a query


class Listed(NamedTuple):
    """Tiles of rows that each block of queries visits: `tiles[first[x]:last[x]]` for block x."""

    tiles: Any
    first: Any
    last: Any


def candidates(
    asked: Table, own: Any, rows: Table, k: int, lists: int, listed: Listed | None = None
) -> tuple[Any, Any]:
    """Return row numbers that hold the nearest, -1 for none, and how far each list reaches.

    Their shapes are (m, lists * most) and (m, lists), for m queries and most >= k.

    Parameters
    ----------
    asked, rows : Table
        Queries and rows, rounded alike.
    own : CuPy array of int32 of shape (m,)
        The row that a query is itself; -1 for none; -2 where there is no query.
    k : int
        How many candidates a list keeps, and `MORE`, up to `LIST`.
    lists : int
        Lists of a query: so many blocks share its tiles.
    listed : Listed, optional
        Which tiles are visited; all if it is not given.
    """
    cupy, m, n = require_card(), len(asked.rows), len(rows.rows)
    most = min(k + MORE, LIST)
    found, reach = cupy.empty((m, lists * most), np.int32), cupy.empty((m, lists), np.float32)
    size = rows.rows.itemsize
    macros = {"HALF": 1} if size == 2 else {}
    function = kernel("tiles.cu", "nearest_rows", KERNEL=9, **macros)
    of_lists = 12 * _QUEUE + 4 * TILE * (3 + STAGES[size]) + 8 * TILE * most
    shared = TILE_BYTES[size] + of_lists
    function.max_dynamic_shared_size_bytes = shared
    nothing = np.uint64(0)
    visited = (nothing, nothing, nothing) if listed is None else listed
    queries = asked.rows, asked.squares, np.int64(m)
    others = rows.rows, rows.squares, np.int64(n), np.int32(rows.words)
    order = np.int64(_stride(-(-n // TILE)))
    kept = np.int32(lists), found, reach
    given = (*queries, *others, own, np.int32(most), *visited, order, *kept)
    function((-(-m // TILE) * lists,), (256,), given, shared_mem=shared)
    return found, reach


def nearest_by_all_distances(given: Any, own: Any, rows: Any, k: int) -> tuple[Any, Any]:
    """Return the k nearest rows, nearest first, by all distances in double precision."""
    cupy, m, n = require_card(), len(given), len(rows)
    lists, columns = lists_for(m, n), cupy.ascontiguousarray(given.T)
    found = cupy.empty((m, lists * k), np.int32)
    function = kernel("neighbours.cu", "nearest_of_all", NUMBER=number_of(columns))
    sizes = np.int64(m), rows, np.int64(n), np.int32(columns.shape[0])
    function((-(-m // TILE), lists), (TILE,), (columns, *sizes, own, np.int32(k), found))
    return in_order(given, rows, found, k)


def in_order(given: Any, rows: Any, found: Any, k: int) -> tuple[Any, Any]:
    """Return the k nearest of the rows that were found, nearest first, and squared distances."""
    cupy, (m, each) = require_card(), found.shape
    number = number_of(given)
    distances = kernel("neighbours.cu", "found_distances", NUMBER=number)
    squares = cupy.empty((m, each), np.float64)
    sizes = np.int64(m * each), np.int32(each), np.int32(given.shape[1])
    distances((-(-m * each // 8),), (256,), (given, rows, found, *sizes, squares))
    near, d2 = cupy.empty((m, k), np.int64), cupy.empty((m, k), np.float64)
    order = kernel("neighbours.cu", "sorted_neighbours", NUMBER=number)
    lengths = np.int64(m), np.int32(each), np.int32(k)
    order((-(-m // 128),), (128,), (found, squares, *lengths, near, d2))
    return near, d2


def lists_for(m: int, n: int) -> int:
    """Return the number of blocks among which n rows are divided, for m queries."""
    return _parts(-(-m // TILE), -(-n // TILE), 2 * multiprocessors())


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

"""Nearly all of the nearest rows on the card: rows lie in cells, and only near cells are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .lists import Listed, candidates, in_order
from .modules import TILE, kernel, require_card
from .rows import on_card
from .tables import Table, Units

_CELLS = 4.0  # cells, in units of sqrt(2 n): tiles of a cell are read together, so cells are small
_TRAINING = 64  # rows per cell that k-means looks at
_MOVES = 10  # of the centres
_TILES = 2048  # tiles of queries searched at a time
_BLOCK = 2**18  # rows put into cells at a time


@dataclass(frozen=True)
class _Layout:
    """Rows cell by cell, where every cell starts a tile. Empty places fill its last tile up."""

    names: Any
    """The row at every place, -1 where there is none."""
    cell: Any
    """The cell of every tile, in rising order."""
    first: Any
    """The first tile of every cell, and one beyond the last cell's."""

    @classmethod
    def of(cls, cell: Any, n_cells: int) -> _Layout:
        cupy = require_card()
        counts = cupy.bincount(cell, minlength=n_cells)
        tiles = -(-counts // TILE)
        first = cupy.zeros(n_cells + 1, np.int64)
        cupy.cumsum(tiles, out=first[1:])
        order = cupy.argsort(cell)
        of_rows = cell[order]
        within = cupy.arange(len(cell)) - (cupy.cumsum(counts) - counts)[of_rows]
        total = int(first[-1])
        names = cupy.full(total * TILE, -1, np.int32)
        names[first[of_rows] * TILE + within] = order
        owner = cupy.searchsorted(first[1:], cupy.arange(total), side="right")
        return cls(names, owner, first)

    def table(self, rows: Table) -> Table:
        """Return the rows in this order. No row is found at an empty place."""
        cupy, there = require_card(), self.names >= 0
        taken = rows.take(cupy.maximum(self.names, 0))
        squares = cupy.where(there, taken.squares, np.float32(np.inf))
        return Table(taken.rows, squares, taken.moved, rows.largest, rows.farthest, rows.whole)


class CudaCells:
    """Rows in cells, of which a search reads those nearest to the cell of a query.

    All queries of a cell read the same cells, so that tiles of queries meet tiles of rows. Rounded
    distances of 16-bit numbers choose candidates, and distances in double precision decide among
    them.

    Parameters
    ----------
    given : CuPy array of shape (n, d)
        The rows.
    units : Units
        Their middle and unit.
    rounded : Table
        The rows as 16-bit numbers.
    """

    def __init__(self, given: Any, units: Units, rounded: Table) -> None:
        self._cupy = cupy = require_card()
        self._given, self._units = given, units
        n = len(given)
        self._centres = _centres(rounded, max(1, int(_CELLS * np.sqrt(2 * n))))
        self.n_cells = len(self._centres.rows)
        self._cell = _nearest_centre(self._centres, rounded)
        self._layout = _Layout.of(self._cell, self.n_cells)
        self._rows = self._layout.table(rounded)
        self._place = cupy.empty(n, np.int32)
        there = cupy.flatnonzero(self._layout.names >= 0)
        self._place[self._layout.names[there]] = there

    def nearest(
        self, queries: NDArray[Any] | None, k: int, probes: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return nearly the k nearest rows of every query, nearest first, and squared distances.

        Where the cells that are read hold fewer than k rows, -1 and an infinite distance fill up.

        Parameters
        ----------
        queries : ndarray of shape (m, d) or None
            None takes the rows themselves, none of which is its own neighbour.
        k : int
            From 1 to 64.
        probes : int
            How many cells are read.
        """
        if queries is None:
            found = self._search(self._given, self._place, self._layout, k, probes)
        else:
            given = on_card(queries, self._given.dtype, self._given.shape[1])
            own = self._cupy.full(len(given), -1, np.int32)
            cell = _nearest_centre(self._centres, self._units.table(given, np.float16))
            found = self._search(given, own, _Layout.of(cell, self.n_cells), k, probes)
        return found[0].get(), found[1].get()

    def nearest_of(
        self, own: NDArray[np.int64], k: int, probes: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return nearly the k nearest other rows of some of the rows, given by their numbers."""
        numbers = self._cupy.asarray(own)
        layout = _Layout.of(self._cell[numbers], self.n_cells)
        near, d2 = self._search(self._given[numbers], self._place[numbers], layout, k, probes)
        return near.get(), d2.get()

    def _search(
        self, given: Any, place: Any, layout: _Layout, k: int, probes: int
    ) -> tuple[Any, Any]:
        """Return the nearest rows of queries that are laid out, and lie at a place or at -1."""
        cupy, m = self._cupy, len(given)
        near, d2 = cupy.empty((m, k), np.int64), cupy.empty((m, k), np.float64)
        names = self._layout.names
        for start in range(0, len(layout.cell), _TILES):
            asked = layout.names[start * TILE : (start + _TILES) * TILE]
            there = asked >= 0
            some = cupy.maximum(asked, 0)
            rows, own = given[some], cupy.where(there, place[some], np.int32(-2))
            table = self._units.table(rows, np.float16)
            listed = self._near_tiles(layout.cell[start : start + _TILES], probes)
            found, _ = candidates(table, own, self._rows, k, 1, listed)
            found = cupy.where(found >= 0, names[cupy.maximum(found, 0)], np.int32(-1))
            best = in_order(rows, self._given, found, k)
            kept = asked[there]
            near[kept], d2[kept] = best[0][there], best[1][there]
        return near, d2

    def _near_tiles(self, cell: Any, probes: int) -> Listed:
        """Return the tiles of the cells nearest to each tile's own, the nearest cell's first."""
        cupy = self._cupy
        cells, of_tile = cupy.unique(cell, return_inverse=True)
        centres = self._centres.rows.astype(np.float32)
        squares = self._centres.squares
        distances = squares - 2.0 * (centres[cells] @ centres.T)
        distances[cupy.arange(len(cells)), cells] = -np.inf
        probed = cupy.argsort(distances, axis=1)[:, :probes].ravel()
        starts = self._layout.first[probed]
        ends = cupy.cumsum(self._layout.first[probed + 1] - starts)
        number = cupy.arange(int(ends[-1]))
        which = cupy.searchsorted(ends, number, side="right")
        tiles = (self._layout.first[probed + 1] - ends)[which] + number
        last = ends[probes - 1 :: probes]
        first = cupy.concatenate([cupy.zeros(1, np.int64), last[:-1]])
        return Listed(tiles.astype(np.int32), first[of_tile], last[of_tile])


def _centres(rounded: Table, n_cells: int) -> Table:
    """Return the centres of cells, by k-means on a sample. The cells of some may be empty."""
    cupy, n = require_card(), len(rounded.rows)
    size = min(n, _TRAINING * n_cells)
    drawn = np.random.default_rng(1).choice(n, size, replace=False)
    sample = rounded.take(cupy.asarray(drawn))
    centres = sample.take(slice(n_cells))
    means = kernel("neighbours.cu", "cell_means", NUMBER="float")
    width = rounded.rows.shape[1]
    for _ in range(_MOVES):
        cell = _nearest_centre(centres, sample)
        first = cupy.zeros(n_cells + 1, np.int64)
        cupy.cumsum(cupy.bincount(cell, minlength=n_cells), out=first[1:])
        order, rows = cupy.argsort(cell), centres.rows.copy()
        given = sample.rows, np.int32(width), order, first, rows
        means((n_cells,), (min(1024, -(-width // 32) * 32),), given)
        whole = rows.astype(np.float32)
        squares = cupy.einsum("ij,ij->i", whole, whole)
        centres = Table(rows, squares, centres.moved, rounded.largest, rounded.farthest, False)
    return centres


def _nearest_centre(centres: Table, rows: Table) -> Any:
    cupy, n = require_card(), len(rows.rows)
    cell = cupy.empty(n, np.int32)
    for start in range(0, n, _BLOCK):
        asked = rows.take(slice(start, start + _BLOCK))
        own = cupy.full(len(asked.rows), -1, np.int32)
        cell[start : start + _BLOCK] = candidates(asked, own, centres, 1, 1)[0][:, 0]
    return cell

"""Nearly all of the nearest rows: rows lie in cells, and only near cells are read.

k-means cuts the space into about sqrt(2n) cells, and a query is compared with the rows of the few
cells nearest to it. How many cells are needed depends on the data. So it is measured: the smallest
number that finds enough of a sample's true neighbours.

Queries of one cell are asked together. They read nearly the same cells, and their distances are a
product of two small matrices, in compiled code.

Wide rows are first projected on their main directions. The search there proposes candidates, and
the distances between the whole rows decide among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._util.memory import require_memory
from .._util.threads import one_thread
from ..backends import RowCells
from .candidates import Indices, Queries, Search, blocks, nearest_of
from .exact import FewQueries, middle_and_size
from .recall import enough_probes, sample_of

DIRECTIONS = 64
"""Rows with more than twice as many columns are projected on so many main directions."""

_TRAINING = 64  # rows per cell that k-means looks at; more gained no recall
_MOVES = 10  # of the centres
_SIDE = 10_000  # rows looked at to find the main directions
_FAR = 1e18  # no point is farther: squares of larger numbers overflow in float32


class Calibration(NamedTuple):
    """The settings of a search that finds enough neighbours."""

    k: int
    """The number of neighbours that it was measured for."""
    width: int
    """Columns of the points in cells."""
    probes: int
    """Cells read for a query; 0 if most would have to be read: an exact search is faster then."""


class Cells(Search):
    """Rows in cells.

    Parameters
    ----------
    rows : ndarray
        The rows.
    width : int
        Main directions that the rows are projected on, or the number of columns.
    """

    block = 1024
    one_thread = True
    probes = 1
    """How many cells are read for a query."""

    def __init__(self, rows: NDArray[Any], width: int) -> None:
        n, d = rows.shape
        require_memory(
            8 * n * (width + 1),
            f"the approximate neighbours of {n:,} rows",
            "Pass the exact search, or fewer rows.",
        )
        self.width = width
        self._mean, self._size = middle_and_size(rows)
        self._basis = None if width == d else self._main_directions(rows)
        points = self._points(rows)
        centres = _centres(points)
        used, self._cell = np.unique(_nearest_centre(centres, points), return_inverse=True)
        self._centres = RowCells.of_one(centres[used])
        self._rows = RowCells(points, self._cell, centres[used])
        self.n_cells = len(used)

    def probing(self, number: int) -> Self:
        """Return a copy that reads `number` cells for a query; this object is unchanged."""
        cells = copy(self)
        cells.probes = number
        return cells

    def __call__(self, queries: NDArray[Any], k: int) -> Indices:
        """Return k candidates; three times as many if the rows are projected."""
        points = self._points(queries)
        probes = self._centres.nearest(points, None, min(self.probes, self.n_cells))
        return self._rows.nearest(points, probes, k if self._basis is None else 3 * k)

    def order(self, queries: Queries) -> Indices:
        """Return the queries by their cells: near queries read the same ones."""
        if queries.own is not None:
            cell = self._cell[queries.own]
        else:
            cell = np.empty(len(queries.X), np.int64)
            for part in blocks(len(cell), self.block):
                cell[part] = self._centres.nearest(self._points(queries.X[part]), None, 1)[:, 0]
        return np.argsort(cell, kind="stable")

    def _points(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Return rows in float32, centred, scaled and projected; values in cells are at most 1."""
        points = np.empty((len(rows), self.width), dtype=np.float32)
        for part in blocks(len(rows), self.block):
            scaled = (rows[part] - self._mean) / self._size
            scaled = scaled if self._basis is None else scaled @ self._basis
            points[part] = np.clip(scaled, -_FAR, _FAR)
        return points

    def _main_directions(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        from sklearn.utils.extmath import randomized_svd

        some = np.sort(np.random.default_rng(0).permutation(len(rows))[:_SIDE])
        scaled = (rows[some] - self._mean) / self._size
        return np.ascontiguousarray(randomized_svd(scaled, self.width, random_state=0)[2].T)


def build_cells(rows: NDArray[Any], width: int) -> Cells:
    """Return the rows in cells, made in one thread: more would round differently."""
    with one_thread():
        return Cells(rows, width)


# -------------------------------------------------------------------- centres


def _centres(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the centres of cells, by k-means on a sample. The cells of some may be empty."""
    n_cells = max(1, int(np.sqrt(2 * len(points))))
    # Not the draw of `calibrate`: rows that are themselves centres are found too easily.
    sample = points[np.random.default_rng(1).permutation(len(points))[: _TRAINING * n_cells]]
    centres = sample[:n_cells].copy()
    for _ in range(_MOVES):
        cell = _nearest_centre(centres, sample)
        order, sizes = np.argsort(cell, kind="stable"), np.bincount(cell, minlength=n_cells)
        first, full = np.cumsum(sizes) - sizes, sizes > 0
        sums = np.add.reduceat(sample[order], first[full], axis=0, dtype=np.float64)
        centres[full] = sums / sizes[full, None]
        # An empty cell starts again in a large one, at a row drawn from it: the sample is shuffled.
        large = np.argsort(-sizes, kind="stable")[: min(np.sum(~full), np.sum(full))]
        centres[np.flatnonzero(~full)[: len(large)]] = sample[order[first[large]]]
    return centres


def _nearest_centre(centres: NDArray[np.float32], points: NDArray[np.float32]) -> Indices:
    search, cell = RowCells.of_one(centres), np.empty(len(points), np.int64)
    for part in blocks(len(points), Cells.block):
        cell[part] = search.nearest(points[part], None, 1)[:, 0]
    return cell


# ------------------------------------------------------------------ calibration


def calibrate(
    rows: NDArray[Any], k: int, built: Mapping[int, Cells] | None = None
) -> tuple[Calibration, Cells | None]:
    """Return settings that find enough of the k nearest other rows of a sample, and the cells.

    `built` holds cells of these rows by their width, if there are any. If most cells would have to
    be read, none are returned.
    """
    n, d = rows.shape
    own = sample_of(n)
    sample = Queries(rows[own], own)
    true = nearest_of(FewQueries(rows), rows, sample, k, None)[1]
    for width in (DIRECTIONS, d) if d > 2 * DIRECTIONS else (d,):
        cells = (built or {}).get(width) or build_cells(rows, width)

        def found(probes: int, cells: Cells = cells) -> NDArray[np.float64]:
            return nearest_of(cells.probing(probes), rows, sample, k, None)[1]

        probes = enough_probes(cells.n_cells, true, found)
        if probes:
            return Calibration(k, width, probes), cells.probing(probes)
    return Calibration(k, d, 0), None

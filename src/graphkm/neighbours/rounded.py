"""The exact search among some thousand dense rows, by products in single precision.

A product in single precision tells all distances at once, nearly. How wrong it may be is known, so
all rows that may be among the nearest are proposed, and distances in float64 decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backends import RowCells
from .candidates import Indices, Search
from .distances import squared_distances

MOST = 2**14
"""Up to so many rows. A block of products stays in the second-level cache (2^19 numbers), and with
more rows it would have fewer than 32 queries, for which a product of matrices is slow."""

FEW_WANTED = 32
"""Up to so many wanted rows, compiled code keeps the nearest of every query in order. It puts each
into its place among the others, which takes the longer, the more they are."""

_NUMBERS = 2**19  # of a block of products
_GROUPS = 8  # rows whose least distance is found first
_ROUNDING = 2.0**-24  # of single precision


class RoundedSearch(Search):
    """The rows that are nearest to queries, found by products in single precision.

    **Most queries** are answered by compiled code, which finds k + 1 rows in single precision. A
    row that it leaves out is at least as far as the last of them, but for twice the largest error
    of a squared distance. If the k-th distance in float64 is less than that, nothing is missing.

    **The others**, which have several rows at nearly the same distance, ask once more. The squared
    distance of a row a from a query x is |x|^2 plus t = |a|^2 - 2 x'a, and t is found in single
    precision. Rows are cut into groups. The k-th of the least t of all groups is at least
    the k-th least t. So every row that may be among the k nearest has a t of at most this plus
    twice the largest error of a product, and all these rows are proposed.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
        The rows.

    Examples
    --------
    >>> RoundedSearch(np.array([[0.0], [1.0], [3.0]]))(np.array([[2.5], [0.4]]), 1)
    array([[2],
           [0]])
    """

    block = 2**12
    one_thread = True

    def __init__(self, rows: NDArray[Any]) -> None:
        m, d = rows.shape
        self._mean = rows.mean(axis=0, dtype=np.float64)
        points = rows - self._mean
        largest = float(np.abs(points).max(initial=0.0))
        self._scale = 2.0 ** -np.frexp(largest)[1]  # no square overflows, or is too small
        points *= self._scale
        squares = np.einsum("ij,ij->i", points, points)
        self._most = float(squares.max(initial=0.0))
        width = -(-m // _GROUPS) * _GROUPS
        table = np.zeros((d + 1, width), dtype=np.float32)
        table[:d, :m], table[d, :m], table[d, m:] = -2.0 * points.T, squares, np.inf
        self._table, self._m, self._rows = table, m, rows
        self._cells = RowCells.of_one(points.astype(np.float32))

    def __call__(self, queries: NDArray[Any], k: int) -> Indices:
        """Return the k nearest rows of every query, and those that may be; -1 stands for none."""
        if k > FEW_WANTED or k >= self._m:
            return self._all_that_may_be(queries, k)
        found, proven = self._proven(queries, k)
        rest = np.flatnonzero(~proven)
        if not len(rest):
            return found
        more = self._all_that_may_be(queries[rest], k)
        wide = np.full((len(queries), more.shape[1]), -1, dtype=np.int64)
        wide[:, :k], wide[rest] = found, more
        return wide

    def _proven(self, queries: NDArray[Any], k: int) -> tuple[Indices, NDArray[np.bool_]]:
        """Return the k nearest rows of every query, and where it is proven that they are it."""
        shifted = (queries - self._mean) * self._scale
        norms = np.sqrt(np.einsum("ij,ij->i", shifted, shifted))
        with np.errstate(over="ignore"):
            found = self._cells.nearest(shifted.astype(np.float32), None, k + 1)
        each = np.repeat(np.arange(len(queries)), k + 1)
        d2 = squared_distances(queries, each, np.maximum(found, 0).ravel(), self._rows)
        d2 = d2.reshape(found.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            left_out = d2[:, k] * self._scale**2 - 2.0 * self._distance_error(norms)
            proven = d2[:, :k].max(axis=1) * self._scale**2 < left_out
        return found[:, :k], proven & (found[:, k] >= 0)

    def _all_that_may_be(self, queries: NDArray[Any], k: int) -> Indices:
        """Return the k nearest rows of every query, and those that may be; -1 stands for none."""
        size = max(32, _NUMBERS // self._table.shape[1])
        parts = [self._places(queries[i : i + size], k) for i in range(0, len(queries), size)]
        counts = np.concatenate([count for count, _ in parts])
        found = np.full((len(queries), max(k, int(counts.max(initial=0)))), -1, dtype=np.int64)
        found[np.arange(found.shape[1]) < counts[:, None]] = np.concatenate(
            [own for _, own in parts]
        )
        return found

    def _places(self, queries: NDArray[Any], k: int) -> tuple[Indices, Indices]:
        """Return how many rows may be the nearest of every query, and which, query by query."""
        n, d = queries.shape
        width = self._table.shape[1]
        x = np.ones((n, d + 1), dtype=np.float32)
        shifted = (queries - self._mean) * self._scale
        # A query that is too far for single precision finds none, and is searched otherwise.
        with np.errstate(over="ignore", invalid="ignore"):
            x[:, :d] = shifted
            t = x @ self._table
            least = self._least(t, k)
            norms = np.sqrt(np.einsum("ij,ij->i", shifted, shifted))
            far = least.astype(np.float64) + 2.0 * self._error(norms, d)
            near = t <= np.nextafter(far.astype(np.float32), np.float32(np.inf))[:, None]
        places = np.flatnonzero(near)
        return np.bincount(places // width, minlength=n), places % width

    def _least(self, t: NDArray[np.float32], k: int) -> NDArray[np.float32]:
        """Return numbers that at least k of each query's t do not exceed."""
        if k == 1:
            return t.min(axis=1)
        groups = t.shape[1] // _GROUPS
        if k > groups // 2:
            return np.partition(t, k - 1, axis=1)[:, k - 1]
        least = t.reshape(len(t), _GROUPS, groups).min(axis=1)
        return np.partition(least, k - 1, axis=1)[:, k - 1]

    def _error(self, norms: NDArray[np.float64], d: int) -> NDArray[np.float64]:
        """Return by how much a t may be wrong at most.

        Both factors of d products and |a|^2 are rounded, and then d sums (Higham, Accuracy and
        Stability of Numerical Algorithms, section 3.1).
        """
        terms = 2.0 * norms * np.sqrt(self._most) + self._most
        return 1.1 * (d + 4) * _ROUNDING * terms + 2.0**-120

    def _distance_error(self, norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much a squared distance of compiled code may be wrong at most.

        Rounded entries move a query and a row by 2^-24 of their norms, and the sum of d products
        and two squares is rounded d + 2 times.
        """
        d = self._rows.shape[1]
        return 1.1 * (d + 4) * _ROUNDING * (norms + np.sqrt(self._most)) ** 2 + 2.0**-118

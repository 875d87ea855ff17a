"""Rows on the card as products take them: around a middle, in a unit, and rounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._util.spread import without_outliers
from .modules import kernel, require_card
from .rows import padded

_SAMPLE = 256  # rows that show where the middle is
_WHOLE = 2**22  # largest squared norm of whole numbers whose distances are exact in a float
_LARGEST_WHOLE = 2.0**11  # whole numbers up to this have 16 bits

HALVES = 16
"""Rows of 16-bit numbers are filled up with zeros to a multiple of this."""


@dataclass(frozen=True)
class Table:
    """Rows in units around the middle, rounded to floats or to 16 bits."""

    rows: Any
    squares: Any
    """Squared norms of the rounded rows."""
    moved: Any
    """How far rounding moved each row."""
    largest: float
    """The largest of the squared norms."""
    farthest: float
    """How far rounding moved any row at most."""
    whole: bool
    """Whether all numbers are whole, and none was rounded."""

    @property
    def exact(self) -> bool:
        """Whether nothing was rounded, and products and distances of these rows are exact."""
        return self.whole and self.largest <= _WHOLE

    @property
    def words(self) -> int:
        """The width of a row in words of 4 bytes."""
        return int(self.rows.shape[1]) * self.rows.itemsize // 4

    def take(self, some: Any) -> Table:
        """Return some rows."""
        taken = self.rows[some], self.squares[some], self.moved[some]
        return Table(*taken, self.largest, self.farthest, self.whole)


class Units:
    """The middle of some rows, and a unit that keeps norms in range.

    Outliers do not count for the middle: it would lie so far from the others that they had no
    digits left. Whole numbers stay whole.

    Parameters
    ----------
    given : CuPy array of shape (n, d)
        The rows.
    """

    def __init__(self, given: Any) -> None:
        cupy = require_card()
        some = given[:: -(-len(given) // _SAMPLE)].get()
        few = without_outliers(some).astype(np.float64)
        whole = bool((few == np.rint(few)).all())
        middle = np.rint(few.mean(axis=0)) if whole else few.mean(axis=0)
        self.middle = cupy.asarray(middle)
        largest = cupy.zeros(1, np.int32)
        function = kernel("neighbours.cu", "largest_difference", NUMBER=number_of(given))
        sizes = np.int64(given.size), np.int32(given.shape[1])
        function((2048,), (256,), (given, *sizes, self.middle, largest))
        most = float(largest.view(np.float32)[0])
        self.unit = 1.0 if whole and most <= _LARGEST_WHOLE else unit_of(most)

    def table(self, given: Any, dtype: Any) -> Table:
        """Return rows in these units, as floats or 16-bit numbers."""
        cupy, (n, d) = require_card(), given.shape
        halves = dtype == np.float16
        width = -(-max(1, d) // HALVES) * HALVES if halves else padded(d)
        rows, squares = cupy.empty((n, width), dtype), cupy.empty(n, np.float32)
        moved, fraction = cupy.empty(n, np.float32), cupy.zeros(1, np.int32)
        function = kernel("neighbours.cu", "rounded_rows", NUMBER=number_of(given))
        nothing = np.uint64(0)
        kept = (nothing, rows) if halves else (rows, nothing)
        where = self.middle, np.float64(self.unit), np.int32(width)
        sizes = np.int64(n), np.int32(d)
        outputs = (*kept, squares, moved, fraction)
        function((-(-n // 8),), (256,), (given, *sizes, *where, *outputs))
        most = float(squares.max()), float(moved.max())
        return Table(rows, squares, moved, *most, not int(fraction[0]))


def number_of(given: Any) -> str:
    """Return the C type of the numbers of an array."""
    return "float" if given.dtype == np.float32 else "double"


def unit_of(largest: float) -> float:
    """Return a power of two near a number; 1 for 0.

    Examples
    --------
    >>> unit_of(3e-30) < 3e-30 < 2 * unit_of(3e-30), unit_of(0.0)
    (True, 1.0)
    """
    return float(np.exp2(np.floor(np.log2(largest)))) if largest > 0 else 1.0

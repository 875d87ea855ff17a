"""The units in which quantities are learnt."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class Units(NamedTuple):
    """Where quantities begin and how far they spread: a number, or one for each column.

    Examples
    --------
    >>> Units(10.0, 2.0).coded(np.array([14.0])), Units(10.0, 2.0).decoded(np.array([2.0]))
    (array([2.]), array([14.]))
    """

    origin: Any = 0.0
    spread: Any = 1.0

    def coded(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return quantities in spreads from their origin."""
        return np.asarray((values - self.origin) / self.spread)

    def decoded(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what `coded` was given."""
        return np.asarray(self.origin + self.spread * values)

    def column(self, place: int) -> Self:
        """Return the units of a column."""
        return type(self)(*(float(each[place]) if np.ndim(each) else each for each in self))


PLAIN = Units()
"""Quantities as they are."""

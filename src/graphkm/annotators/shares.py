"""Shares of classes as a classifier takes them: a table with a line for every row of X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .posterior import Posterior

Array = NDArray[np.float64]

LIGHT = 0.01
"""Smaller shares are not learnt from: every share costs as much as a label."""


DULL = 0.02
"""Rows whose answers tell less count as much as this."""


def training_shares(found: Posterior) -> Array:
    """Return the shares that are learnt from: small ones are left out.

    A line adds up to what the answers tell about its row. If only people answered it who guess, its
    shares are what the model said of it. The model must not learn from that.
    """
    shares = np.where(found.shares < LIGHT, 0.0, found.shares)
    weights = np.maximum(found.weights, DULL) / shares.sum(axis=1)
    return np.asarray(shares * weights[:, None])


@dataclass(frozen=True)
class SharesOfRows:
    """Shares of all rows with the names of the classes; what `fit` needs of a frame.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_classes)
        Lines of NaN are unlabelled rows.
    columns : list
        The classes.

    Examples
    --------
    >>> SharesOfRows.of(np.array([[0.8, 0.2]]), np.array([1]), 3, np.array(["a", "b"])).values
    array([[nan, nan],
           [0.8, 0.2],
           [nan, nan]])
    """

    values: Array
    columns: list[Any]

    @classmethod
    def of(
        cls, shares: Array, places: NDArray[np.int64], n: int, classes: NDArray[Any]
    ) -> SharesOfRows:
        """Return the shares of some of n rows, by their places."""
        values = np.full((n, len(classes)), np.nan)
        values[places] = shares
        return cls(values, classes.tolist())

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def to_numpy(self) -> Array:
        """Return the shares without their names."""
        return self.values

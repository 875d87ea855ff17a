"""What every store of centres can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray


class CentreStore(ABC):
    """Centres s_j with coefficients a_j, and sums over them.

    Centres can be added, and coefficients can change. Queries come from `query_rows` for the same
    kernel and data, and `as_centres` turns them into centres.
    """

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of centres."""

    @abstractmethod
    def append(self, rows: Any) -> None:
        """Add centres, with coefficients zero."""

    @abstractmethod
    def set(self, index: NDArray[np.int64], coefficients: NDArray[np.float64]) -> None:
        """Replace the coefficients, of shape (k, n_outputs), of the centres `index`."""

    @abstractmethod
    def product(self, queries: Any) -> NDArray[np.float64]:
        """Return sum_j a_j k(q, s_j) for every query, of shape (n_queries, n_outputs)."""

    @abstractmethod
    def values(self, queries: Any) -> NDArray[Any]:
        """Return the matrix of k(q, s_j), of shape (n_queries, n_centres)."""

"""The search of the active backend's own device: exact, or in cells where that takes too long."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backends import Backend
from .candidates import Indices
from .recall import enough_probes, sample_of

EXACT_WORK = 1.6e15
"""Multiplications up to which rows are searched exactly: 5 million rows of 64 columns."""


class DeviceSearch:
    """Rows on a device.

    Parameters
    ----------
    backend : Backend
        Where the rows are searched.
    rows : ndarray of shape (n, d)
        The rows.
    exact : bool
        Whether no neighbour may be missed. Otherwise large tables are searched in cells, of which
        as many are read as find enough neighbours of a sample.
    """

    def __init__(self, backend: Backend, rows: NDArray[Any], exact: bool) -> None:
        self.backend = backend
        self._search = backend.search(rows)
        self._exact = exact or searches_exactly(*rows.shape)
        self._n = len(rows)
        self._probes: dict[int, int] = {}  # by k

    @property
    def most(self) -> int:
        """The largest k."""
        return self._search.most

    def nearest(self, queries: NDArray[Any] | None, k: int) -> tuple[Indices, NDArray[np.float64]]:
        """Return the k nearest rows of every query, or of the rows themselves."""
        probes = self.probes(k)
        if not probes:
            return self._search.nearest(queries, k)
        near, d2 = self._search.cells.nearest(queries, k, probes)
        missed = np.flatnonzero(near[:, -1] < 0)
        if len(missed) and queries is None:
            near[missed], d2[missed] = self._search.nearest_of(missed, k)
        elif len(missed):
            near[missed], d2[missed] = self._search.nearest(queries[missed], k)  # type: ignore[index]
        return near, d2

    def probes(self, k: int) -> int:
        """Return how many cells are read for k neighbours; 0 where the search is exact."""
        if self._exact:
            return 0
        k = min(k, self._n - 1)
        if k not in self._probes:
            own, cells = sample_of(self._n), self._search.cells
            true = self._search.nearest_of(own, k)[1]
            self._probes[k] = enough_probes(
                cells.n_cells, true, lambda probes: cells.nearest_of(own, k, probes)[1]
            )
        return self._probes[k]


def searches_exactly(n: int, d: int) -> bool:
    """Return whether a device compares all n rows of d columns with each other.

    Examples
    --------
    >>> searches_exactly(1_000_000, 768), searches_exactly(20_000_000, 64)
    (True, False)
    """
    return float(n) * n * d <= EXACT_WORK

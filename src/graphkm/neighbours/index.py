"""The k nearest rows: exactly, or nearly so in much less time."""

from __future__ import annotations

from dataclasses import dataclass
from threading import RLock
from typing import Any, Literal, Self, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..backends import active
from .arguments import check_rows
from .candidates import Indices, Queries, Search, nearest_of
from .cells import Calibration, Cells, build_cells, calibrate
from .exact import TREE, ExactSearch, FewQueries
from .on_device import DeviceSearch, searches_exactly
from .rounded import MOST, RoundedSearch
from .sparse import SparseSearch

Method = Literal["auto", "exact", "approximate"]
"""How neighbours are searched for."""

LARGE = 10_000
"""From so many rows on, "auto" is approximate. At 10,000 rows an approximate search takes about a
third of the CPU time of an exact one, and at 40,000 about a tenth. At 5,000 rows an exact search
takes 0.3 CPU seconds at most (2.6 for the 784 columns of MNIST), and misses nothing. The figures
are in docs/neighbor_search.md."""

TREE_DIMENSIONS = 4
"""Up to so many columns scikit-learn's trees are fast. 200,000 rows of a Gaussian mixture took 4.1
CPU seconds in 3 dimensions, 8 in 4, 15 in 5 and 29 in 6; the approximate search took 4 to 8."""


_PREPARING = RLock()  # threads may share an index, which one of them prepares


class NeighbourIndex:
    """Rows that are searched again and again: for their own neighbours, and for those of new rows.

    The search is prepared once, when it is first needed. Distances are computed in float64 from the
    differences of the rows. Rows at equal distances are in order of their numbers. If several rows
    are as far as the k-th, the search takes any of them if rows are dense, and the first if they
    are sparse. The result depends on neither the number of threads nor any random state.

    A pickle holds the rows and a few numbers. The search is prepared again where it is needed.

    Parameters
    ----------
    rows : ndarray of float32 or float64, or canonical CSR matrix, of shape (n, d)
        The rows.
    method : {"auto", "exact", "approximate"}, default="auto"
        "exact" is scikit-learn's search for dense rows, and the library's own for sparse ones.
        "approximate" aims at 95 % of the neighbours or more, judged by a sample of rows. Sparse
        rows are searched exactly, and so are rows for which most cells would have to be read.
        "auto" is approximate if there are `LARGE` dense rows or more, with more than
        `TREE_DIMENSIONS` columns.
    n_jobs : int, optional
        Threads, as in scikit-learn: None is 1, -1 is all cores.
    verbose : bool, default=False
        Show a progress bar.

    Examples
    --------
    >>> index = NeighbourIndex(np.array([[0.0], [1.0], [3.0]]))
    >>> near, d2 = index.neighbours(1)
    >>> near.ravel(), d2.ravel()
    (array([1, 0, 1]), array([1., 1., 4.]))
    >>> near, d2 = index.nearest_to(np.array([[2.5]]), 2)
    >>> near, d2
    (array([[2, 1]]), array([[0.25, 2.25]]))
    """

    def __init__(
        self,
        rows: Any,
        method: Method = "auto",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.rows = rows
        self.method = method
        self.n_jobs = n_jobs
        self.verbose = verbose
        self._approximate = _is_approximate(rows, method)
        self._calibrations: dict[int, Calibration] = {}  # by k
        self._cells: dict[int, Cells] = {}  # by their width
        self._exact: Search | None = None
        self._device: DeviceSearch | None = None

    def neighbours(self, k: int) -> tuple[Indices, NDArray[np.float64]]:
        """Return the k nearest other rows of every row, nearest first, and squared distances.

        Parameters
        ----------
        k : int
            From 1 to n - 1.

        Returns
        -------
        indices : ndarray of int64 of shape (n, k)
        squared_distances : ndarray of float64 of shape (n, k)
        """
        n = self.rows.shape[0]
        if not 1 <= k < n:
            raise ValueError(f"k={k} neighbours of {n} rows; pass a number from 1 to {n - 1}")
        return self._nearest(Queries(self.rows, np.arange(n, dtype=np.int64)), k)

    def nearest_to(self, X: Any, k: int) -> tuple[Indices, NDArray[np.float64]]:
        """Return the k rows nearest to every row of X, nearest first, and squared distances.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (m, d)
            New rows. They are converted to the kind and the precision of the rows searched.
        k : int
            From 1 to n.

        Returns
        -------
        indices : ndarray of int64 of shape (m, k)
        squared_distances : ndarray of float64 of shape (m, k)
        """
        n, d = self.rows.shape
        if not 1 <= k <= n:
            raise ValueError(f"k={k} of {n} rows; pass a number from 1 to {n}")
        queries = self._alike(X)
        if queries.shape[1] != d:
            raise ValueError(
                f"X has {queries.shape[1]} columns, and the rows searched have {d}; pass rows "
                "with the same columns"
            )
        return self._nearest(Queries(queries), k)

    def _alike(self, X: Any) -> Any:
        """Return X as the rows are: dense or CSR, in their precision."""
        dense = isinstance(self.rows, np.ndarray)
        if sp.issparse(X) == dense:
            X = X.toarray() if dense else sp.csr_array(X)
        return check_rows(X).astype(self.rows.dtype, copy=False)

    def _nearest(self, queries: Queries, k: int) -> tuple[Indices, NDArray[np.float64]]:
        with _PREPARING:
            on_device = self._device_search(k)
        if on_device is not None:
            return on_device.nearest(None if queries.own is not None else queries.X, k)
        with _PREPARING:
            search = self._cells_for(min(k, self.rows.shape[0] - 1)) or self._exact_search()
        near, d2 = nearest_of(search, self.rows, queries, k, self.n_jobs, self.verbose)
        missed = np.flatnonzero(near[:, -1] < 0)
        if len(missed):  # the cells read hold fewer than k rows
            near[missed], d2[missed] = nearest_of(
                FewQueries(self.rows), self.rows, queries.take(missed), k, self.n_jobs
            )
        return near, d2

    def misses_nothing(self, k: int) -> bool:
        """Return whether the k rows found are always the nearest ones.

        Examples
        --------
        >>> NeighbourIndex(np.eye(3)).misses_nothing(1)
        True
        """
        with _PREPARING:
            on_device = self._device_search(k)
            if on_device is not None:
                return not on_device.probes(k)
            return self._cells_for(min(k, self.rows.shape[0] - 1)) is None

    # ------------------------------------------------------------------ what is prepared

    def _device_search(self, k: int) -> DeviceSearch | None:
        """Return the search of the active backend, if it has one for these rows."""
        backend = active()
        if not isinstance(self.rows, np.ndarray) or not backend.searches(*self.rows.shape):
            return None
        if self._device is None or self._device.backend is not backend:
            self._device = DeviceSearch(backend, self.rows, not self._approximate)
        return self._device if k <= self._device.most else None

    def _exact_search(self) -> Search:
        if self._exact is None:
            self._exact = _exact_search(self.rows, self.n_jobs)
        return self._exact

    def _cells_for(self, k: int) -> Cells | None:
        """Return cells that find enough of k neighbours, or None where the search is exact.

        Every k is measured by itself: so an answer does not depend on earlier questions.
        """
        if not self._approximate:
            return None
        known = self._calibrations.get(k)
        if known is None:
            known, cells = calibrate(self.rows, k, self._cells)
            self._calibrations[k] = known
            if cells is not None:
                self._cells[known.width] = cells
        if not known.probes:
            return None
        if known.width not in self._cells:
            self._cells[known.width] = build_cells(self.rows, known.width)
        return self._cells[known.width].probing(known.probes)

    def state(self) -> dict[str, Any]:
        """Return the rows and numbers from which `from_state` makes the same search."""
        return {
            "rows": self.rows,
            "method": self.method,
            "approximate": self._approximate,
            "calibrations": [tuple(each) for each in self._calibrations.values()],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_jobs: int | None = None) -> NeighbourIndex:
        """Return an index that finds the same as the one that gave this `state`."""
        index = cls(state["rows"], "exact", n_jobs)
        index.method, index._approximate = state["method"], state["approximate"]
        index._calibrations = _by_k(state["calibrations"])
        return index

    def __getstate__(self) -> dict[str, Any]:
        """Return the rows and numbers; the objects of the search stay here."""
        calibrations = [tuple(each) for each in self._calibrations.values()]
        prepared: dict[str, Any]
        prepared = {"_calibrations": calibrations, "_cells": {}, "_exact": None, "_device": None}
        return {**self.__dict__, **prepared}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up the rows and numbers."""
        self.__dict__.update(state, _calibrations=_by_k(state["_calibrations"]))


@dataclass(frozen=True)
class Neighbours:
    """The nearest other rows of every row, and the index that found them.

    Parameters
    ----------
    index : NeighbourIndex
        The rows.
    near : ndarray of int64 of shape (n, k)
        Neighbours, nearest first.
    d2 : ndarray of float64 of shape (n, k)
        Their squared distances.

    Examples
    --------
    >>> found = Neighbours.of(NeighbourIndex(np.array([[0.0], [1.0], [3.0]])), k=2)
    >>> found.first(1).near.ravel()
    array([1, 0, 1])
    """

    index: NeighbourIndex
    near: Indices
    d2: NDArray[np.float64]

    @classmethod
    def of(cls, index: NeighbourIndex, k: int) -> Self:
        """Return the k nearest rows of every row."""
        return cls(index, *index.neighbours(k))

    def first(self, k: int) -> Neighbours:
        """Return the k nearest of them, or all if they are fewer."""
        return Neighbours(self.index, self.near[:, :k], self.d2[:, :k])


def _exact_search(rows: Any, n_jobs: int | None) -> Search:
    """Return the search that misses no neighbour and takes the least time."""
    if not isinstance(rows, np.ndarray):
        return SparseSearch(rows)
    if rows.shape[1] > TREE and rows.shape[0] <= MOST:
        return RoundedSearch(rows)
    return ExactSearch(rows, n_jobs)


def _by_k(calibrations: list[tuple[int, int, int]]) -> dict[int, Calibration]:
    return {each[0]: Calibration(*each) for each in calibrations}


def _is_approximate(rows: Any, method: Method) -> bool:
    """Return whether this method searches these rows approximately."""
    if method not in get_args(Method):
        raise ValueError(
            f"unknown search {method!r}; pass one of {', '.join(map(repr, get_args(Method)))}"
        )
    if method == "approximate":
        return isinstance(rows, np.ndarray)  # sparse rows have no approximate search
    return method == "auto" and choose_search(rows) == "approximate"


def choose_search(rows: Any) -> Literal["exact", "approximate"]:
    """Return what "auto" stands for.

    Examples
    --------
    >>> choose_search(np.eye(3))
    'exact'
    """
    n, d = rows.shape
    if not isinstance(rows, np.ndarray) or d <= TREE_DIMENSIONS or n < LARGE:
        return "exact"
    exact = active().searches(n, d) and searches_exactly(n, d)
    return "exact" if exact else "approximate"

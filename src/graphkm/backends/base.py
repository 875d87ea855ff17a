"""What every backend offers: stores of centres, searches, tables for sparse systems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel


class DeviceError(RuntimeError):
    """A card was asked for, and there is none that can be used."""


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

    def prepared(self, queries: Any) -> Any:
        """Return queries in a form that may be asked for more than once, and for centres."""
        return queries

    @abstractmethod
    def product(self, queries: Any) -> NDArray[np.float64]:
        """Return sum_j a_j k(q, s_j) for every query, of shape (n_queries, n_outputs)."""

    @abstractmethod
    def values(self, queries: Any) -> NDArray[Any]:
        """Return the matrix of k(q, s_j), of shape (n_queries, n_centres)."""

    def matrix(self, queries: Any) -> Any:
        """Return `values` as an array of the backend."""
        return self.values(queries)


class NeighbourCells(Protocol):
    """Dense rows in cells, of which a search reads those nearest to a query."""

    n_cells: int
    """The number of cells."""

    def nearest(
        self, queries: NDArray[Any] | None, k: int, probes: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the k nearest rows in so many cells, as `NeighbourSearch.nearest` does.

        -1 and an infinite distance fill up where these cells hold fewer rows.
        """

    def nearest_of(
        self, own: NDArray[np.int64], k: int, probes: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the same for some of the rows, given by their numbers."""


class NeighbourSearch(Protocol):
    """Dense rows whose nearest rows are found exactly."""

    most: int
    """The largest k."""

    @property
    def cells(self) -> NeighbourCells:
        """The same rows in cells."""

    def nearest(
        self, queries: NDArray[Any] | None, k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the k nearest rows of every query, nearest first, and squared distances.

        Without queries these are the rows themselves, and no row is its own neighbour. Rows at
        equal distances are in order of their numbers.
        """

    def nearest_of(
        self, own: NDArray[np.int64], k: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the same for some of the rows, given by their numbers."""


class ColumnSystem(ABC):
    """A square sparse matrix, and tables with one row per row of it.

    Tables are float32 arrays of the backend, of shape (n, n_columns). The backend may keep its rows
    in another order. `put` and `get` lead into that order and back.
    """

    most_columns: int
    """Columns of the widest table."""

    @abstractmethod
    def put(self, table: Any) -> Any:
        """Return a NumPy array of shape (n,) or (n, n_columns) as a table."""

    @abstractmethod
    def get(self, table: Any) -> NDArray[np.float32]:
        """Return a table as a NumPy array."""

    @abstractmethod
    def reader(self, matrix: Any) -> Any:
        """Return a sparse matrix of shape (k, n) for `read`."""

    @abstractmethod
    def read(self, reader: Any, table: Any) -> NDArray[np.float64]:
        """Return the product of such a matrix and a table, as a NumPy array."""

    @abstractmethod
    def square(self, matrix: Any) -> Any:
        """Return another sparse matrix of shape (n, n) that multiplies tables by ``@``."""

    @abstractmethod
    def product(self, diagonal: Any, scale: float, X: Any, out: Any) -> NDArray[np.float64]:
        """Set out = diagonal[:, None] * X + scale * (matrix @ X).

        Return the column sums of X * out, in float64.
        """

    @abstractmethod
    def step(
        self,
        solution: Any,
        residual: Any,
        direction: Any,
        image: Any,
        length: NDArray[np.float32],
        inverse_diagonal: Any,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Add length * direction to the solution, and subtract length * image from the residual.

        Return column sums, after the step, of inverse_diagonal[:, None] * residual**2 and of
        residual**2.
        """

    @abstractmethod
    def turn(
        self, direction: Any, residual: Any, inverse_diagonal: Any, ratio: NDArray[np.float32]
    ) -> None:
        """Set direction = inverse_diagonal[:, None] * residual + ratio * direction."""

    @abstractmethod
    def sums(self, a: Any, b: Any) -> NDArray[np.float64]:
        """Return the column sums of a * b, in float64."""


class Backend(ABC):
    """Where the heavy sums are computed."""

    name: str

    @abstractmethod
    def store(
        self,
        kernel: Kernel,
        n_features: int,
        n_outputs: int,
        *,
        sparse: bool,
        dtype: np.dtype[Any],
        n_threads: int,
    ) -> CentreStore:
        """Return an empty store for a kernel with a native code."""

    @abstractmethod
    def searches(self, n: int, d: int) -> bool:
        """Return whether `search` is the fastest for n dense rows of d columns."""

    @abstractmethod
    def search(self, rows: NDArray[Any]) -> NeighbourSearch:
        """Return an exact search among dense rows."""

    @abstractmethod
    def columns(self, matrix: Any, n_threads: int) -> ColumnSystem:
        """Return tables for a symmetric sparse matrix."""

    block_rows: int
    """Rows that are best looked at together in a pass over many."""

    block_steps: int
    """Stochastic steps of a block. In a longer one its own kernel matrix would take more time."""

    @abstractmethod
    def sparse_product(self, A: Any, B: Any) -> Any:
        """Return A @ B in float64: a sparse matrix, and an ndarray or another sparse matrix."""

    # Dense matrices: arrays of the backend, which NumPy's functions and operators take.

    @abstractmethod
    def put(self, array: NDArray[Any], dtype: Any = None) -> Any:
        """Return a NumPy array as an array of the backend."""

    @abstractmethod
    def get(self, array: Any) -> NDArray[Any]:
        """Return an array of the backend as a NumPy array."""

    @abstractmethod
    def cholesky(self, A: Any) -> Any | None:
        """Return the lower triangular L with L L' = A; None if A is not positive definite.

        A may be overwritten.
        """

    @abstractmethod
    def solve_lower(self, L: Any, B: Any, *, transposed: bool = False) -> Any:
        """Return L^(-1) B, or L'^(-1) B. B may be overwritten."""

    @abstractmethod
    def inverse_lower(self, L: Any) -> Any:
        """Return the inverse of a lower triangular matrix, which may be overwritten."""

    @abstractmethod
    def eigh(self, A: Any) -> tuple[Any, Any]:
        """Return the eigenvalues of a symmetric matrix in rising order, and its eigenvectors.

        A may be overwritten.
        """

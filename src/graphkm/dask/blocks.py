"""Sparse matrices whose rows lie on the workers. Only tables travel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from .edge_tasks import Bounds, multiply, multiply_back
from .runner import Runner
from .tasks import add_tables

Table = NDArray[np.float32]

_COLUMNS = 64  # of a table that travels: more take more memory of every worker


@dataclass(frozen=True)
class Spread:
    """A sparse matrix, of which every worker has some blocks of rows.

    Parameters
    ----------
    blocks : list of Delayed
        CSR arrays, which stay where they are.
    bounds : ndarray of int
        Where the rows of each block begin, and where those of the last one end.
    n_columns : int
        Columns of the matrix.
    runner : Runner
        Runs the tasks.
    """

    blocks: Sequence[Delayed]
    bounds: Bounds
    n_columns: int
    runner: Runner

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.bounds[-1]), self.n_columns

    def __matmul__(self, table: Table) -> Table:
        """Return the product with a table, of which every block needs all rows."""
        return _by_columns(self._product, table)

    def _product(self, table: Table) -> Table:
        shared = self.runner.share(table)
        tasks = [self.runner.task("multiply", multiply, block, shared) for block in self.blocks]
        return np.concatenate(self.runner.bring(tasks))

    @property
    def back(self) -> Back:
        """The same matrix, transposed."""
        return Back(self)


@dataclass(frozen=True)
class Back:
    """A matrix whose columns lie on the workers.

    Parameters
    ----------
    spread : Spread
        The same, transposed.
    """

    spread: Spread

    def __matmul__(self, table: Table) -> Table:
        """Return the product with a table, of which every block takes its own rows."""
        return _by_columns(self._product, table)

    def _product(self, table: Table) -> Table:
        runner, starts = self.spread.runner, self.spread.bounds[:-1].tolist()
        shared = runner.share(table)
        parts = [
            runner.task("multiply-back", multiply_back, block, shared, start)
            for block, start in zip(self.spread.blocks, starts, strict=True)
        ]
        (found,) = runner.bring([runner.tree("add-products", add_tables, parts)])
        return np.asarray(found)


def _by_columns(product: Callable[[Table], Table], table: Table) -> Table:
    starts = range(0, max(1, table.shape[1]), _COLUMNS)
    pieces = (np.ascontiguousarray(table[:, start : start + _COLUMNS]) for start in starts)
    return np.hstack([product(piece) for piece in pieces])

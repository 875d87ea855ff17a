"""What members of given graphs need of a partition of rows. All functions are pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..graphs import AnchorNodes
from ..judge.held_out import take_rows
from ..members.averages import even, mixed
from ..members.rows import Rows
from ..semi.block_rows import as_numbers
from ..semi.mixed import Mixed


class Part(NamedTuple):
    """Where a partition of rows lies among all rows, and how it is seen."""

    number: int
    start: int
    n_rows: int
    """Of all partitions."""
    dtype: Any

    def rows(self, part: Any) -> Any:
        """Return its rows as numbers, checked."""
        return as_numbers(part, self.dtype, f"Partition {self.number}")


class Columns(NamedTuple):
    """The mean of every column, and the sum of squares around it."""

    n_rows: int
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]

    @property
    def scale(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Means and standard deviations."""
        return self.mean, np.sqrt(self.squares / self.n_rows)


def columns_of(part: Any, about: Part) -> Columns:
    """Return the moments of the columns of a partition."""
    rows = about.rows(part).astype(np.float64)
    if not len(rows):
        return Columns(0, np.zeros(rows.shape[1]), np.zeros(rows.shape[1]))
    return Columns(len(rows), rows.mean(axis=0), len(rows) * rows.var(axis=0))


def add_columns(parts: Sequence[Columns]) -> Columns:
    """Return the moments of the columns of all rows."""
    return reduce(_both, parts)


def _both(one: Columns, other: Columns) -> Columns:
    n, step = max(1, one.n_rows + other.n_rows), other.mean - one.mean
    squares = one.squares + other.squares + step**2 * (one.n_rows * other.n_rows / n)
    return Columns(one.n_rows + other.n_rows, one.mean + step * (other.n_rows / n), squares)


def unit_part(part: Any, about: Part, scale: Any, weights: Rows | None) -> Rows:
    """Return the rows of a partition as `unit_rows` does; the scale of sparse rows is None."""
    rows = about.rows(part)
    return mixed(rows if scale is None else even(rows, *scale), weights)


def reach_anchors(part: Any, about: Part, nodes: AnchorNodes) -> Any:
    """Return the weights of the anchors at the rows of a partition."""
    return nodes.weights(about.rows(part)).astype(np.float32)


def said_of(part: Any, about: Part, some: NDArray[np.int64], mixture: Mixed) -> NDArray[np.float64]:
    """Return what a mixture says of some rows of a partition, which given graphs know."""
    rows = about.rows(part)[some]
    given = take_rows(part, some) if hasattr(part, "iloc") else rows
    entries = np.ones(len(some), np.float32), about.start + some, np.arange(len(some) + 1)
    links = sp.csr_array(entries, shape=(len(some), about.n_rows))
    return mixture.at(given, rows, links)

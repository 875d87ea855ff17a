"""What is done with a partition of edges. All functions are pure, as those in `tasks` are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..graphs.given_edges import Ids, edges_of

Bounds = NDArray[np.int64]


class Entries(NamedTuple):
    """Entries of a sparse matrix, one by one."""

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    weights: NDArray[np.float32]


class Ways(NamedTuple):
    """The edges that start in a range of rows, and those that end there, turned around."""

    out: Entries
    back: Entries


class Facts(NamedTuple):
    """What is known of a block of weights."""

    n_entries: int
    total: float
    degrees: NDArray[np.float64]


def list_edges(part: Any, ids: Ids) -> Entries:
    """Return the edges of a partition, checked.

    Edges from a row to itself and edges of weight 0 are left out.
    """
    found = edges_of(part, ids)
    weights = found.weight.astype(np.float32)
    kept = (found.u != found.v) & (weights > 0)
    u, v = (ends[kept].astype(np.int32) for ends in (found.u, found.v))
    return Entries(u, v, weights[kept])


def count_ends(edges: Entries, n: int) -> NDArray[np.int64]:
    """Return how many edges start or end at each of n rows."""
    return np.bincount(edges.rows, minlength=n) + np.bincount(edges.columns, minlength=n)


def even_ranges(ends: NDArray[np.int64], n_ranges: int) -> Bounds:
    """Return where ranges of rows begin and end that have about as many edges each.

    Examples
    --------
    >>> even_ranges(np.array([9, 1, 2, 3, 1, 1]), 2)
    array([0, 2, 6])
    """
    total = np.cumsum(ends + 1)  # a row without edges counts, too
    wanted = total[-1] * np.arange(1, n_ranges) / n_ranges
    return np.unique(np.concatenate([[0], np.searchsorted(total, wanted) + 1, [len(ends)]]))


def split_edges(edges: Entries, bounds: Bounds) -> list[Ways]:
    """Return the edges of a partition by the ranges that they start or end in."""
    turned = Entries(edges.columns, edges.rows, edges.weights)
    ways = zip(_by_range(edges, bounds), _by_range(turned, bounds), strict=True)
    return [Ways(*each) for each in ways]


def _by_range(edges: Entries, bounds: Bounds) -> list[Entries]:
    order = np.argsort(edges.rows, kind="stable")
    cuts = np.searchsorted(edges.rows[order], bounds[1:-1])
    columns = (np.split(column[order], cuts) for column in edges)
    return [Entries(*each) for each in zip(*columns, strict=True)]


def take_ways(split: Sequence[Ways], place: int) -> Ways:
    """Return the edges of one range: no task takes those of all ranges."""
    return split[place]


def join_edges(pieces: Sequence[Ways], low: int, high: int, n: int) -> Any:
    """Return the weights of a range of rows: a CSR array of shape (high - low, n).

    Repeated edges add up. An edge counts in both directions, with the larger weight.
    """
    out, back = (_summed(each, low, (high - low, n)) for each in zip(*pieces, strict=True))
    return out.maximum(back).tocsr()


def _summed(pieces: Sequence[Entries], low: int, shape: tuple[int, int]) -> Any:
    rows, columns, weights = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return sp.csr_array((weights, (rows - np.int32(low), columns)), shape=shape)


def facts_of(block: Any) -> Facts:
    """Return what is known of a block."""
    degrees = np.asarray(block.sum(axis=1, dtype=np.float64)).ravel()
    return Facts(int(block.nnz), float(block.data.sum(dtype=np.float64)), degrees)


def multiply(block: Any, table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a block times a table."""
    return np.asarray(block @ table)


def multiply_back(block: Any, table: NDArray[np.float32], start: int) -> NDArray[np.float32]:
    """Return a block, transposed, times its rows of a table, which begin at `start`."""
    return np.asarray(block.T @ table[start : start + block.shape[0]])

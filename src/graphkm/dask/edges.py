"""Given graphs whose edges lie on the workers, in blocks of rows."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from numpy.typing import NDArray

from ..backends import HostTables
from ..graphs.given import GivenGraph
from ..graphs.given_edges import Ids, named_affinities
from .blocks import Spread, Table
from .collections import is_frame, parts_of, with_whole_rows
from .edge_tasks import (
    count_ends,
    even_ranges,
    facts_of,
    join_edges,
    list_edges,
    split_edges,
    take_ways,
)
from .fusing import fused
from .runner import Runner
from .tasks import add_tables


def affinities_of(affinity: Any, X: Any) -> dict[str, Any]:
    """Return Dask collections of edges by name; none if neither edges nor rows are collections."""
    named = {} if affinity is None else named_affinities(affinity)
    ours = [each for each in (X, *named.values()) if is_dask_collection(each)]
    if not ours:
        return {}
    if not (X is None or is_dask_collection(X)):
        raise ValueError(
            f"affinity is a Dask collection and X is a {type(X).__name__}; pass rows as a Dask "
            "array or frame, or X=None."
        )
    for each in named.values():
        _check_edges(each)
    return named


def _check_edges(each: Any) -> None:
    """Raise if this is no collection of edges."""
    if not is_dask_collection(each):
        raise ValueError(
            f"X is a Dask collection and the affinity is a {type(each).__name__}; pass edges as a "
            "Dask array or frame, for example dask.array.from_array(edges, chunks=(10**6, -1))."
        )
    if is_frame(each):
        return  # its columns are looked at in every partition
    if not (isinstance(each, da.Array) and each.ndim == 2 and each.shape[1] in (2, 3)):
        shape = f" of shape {each.shape}" if hasattr(each, "shape") else ""
        raise ValueError(
            f"The affinity is a {type(each).__name__}{shape}; pass edges as a Dask array of pairs "
            "of row numbers (with a weight, triples), or as a frame of the columns source, target "
            "and, if you like, weight."
        )


class SpreadGraph(GivenGraph):
    """A graph of all rows whose edges lie on the workers.

    It is what `GivenGraph` is, but products with it are computed where the edges are.

    Parameters
    ----------
    name : str
        What it is called.
    weights : Spread
        In both directions, without a diagonal.
    """

    def __init__(self, name: str, weights: Spread) -> None:
        self.name, self.weights = name, weights
        runner = weights.runner
        tasks = [runner.task("sum-edges", facts_of, block) for block in weights.blocks]
        facts = runner.bring(tasks)
        self.largest_block = max(each.n_entries for each in facts)
        n_entries = sum(each.n_entries for each in facts)
        total = sum(each.total for each in facts)
        self.degrees = np.concatenate([each.degrees for each in facts])
        self.usual = np.float32(total / n_entries if n_entries else 1.0)
        self._n_edges = n_entries // 2

    @classmethod
    def of(cls, name: str, affinity: Any, ids: Ids, runner: Runner) -> SpreadGraph:
        """Return the graph of a collection of edges, which is sent to the workers by rows.

        There are as many blocks of rows as partitions of edges, with about as many edges each.
        """
        n, shared = len(ids), runner.share(ids)
        parts = parts_of(with_whole_rows(affinity))
        tasks = [runner.task("list-edges", list_edges, part, shared) for part in parts]
        listed = runner.keep(fused(tasks))
        counts = [runner.task("count-ends", count_ends, each, n) for each in listed]
        (ends,) = runner.bring([runner.tree("add-ends", add_tables, counts)])
        bounds = even_ranges(ends, len(parts))
        split = [runner.task("split-edges", split_edges, each, bounds) for each in listed]
        blocks = []
        for place, (low, high) in enumerate(pairwise(bounds.tolist())):
            own = [runner.task("take-edges", take_ways, each, place) for each in split]
            blocks.append(runner.task("join-edges", join_edges, own, low, high, n))
        return cls(name, Spread(runner.keep(blocks), bounds, n, runner))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.weights.shape[0]

    @property
    def n_edges(self) -> int:
        """How many pairs of rows are joined."""
        return self._n_edges

    @cached_property
    def similarity(self) -> Any:
        """D^(-1/2) (W + w I) D^(-1/2), as in `GivenGraph`."""
        return SpreadColumns(self.weights, self.degrees + self.usual, float(self.usual))

    @cached_property
    def means(self) -> Any:
        """D^(-1) W, as in `GivenGraph`."""
        return Means(self.weights, self.degrees)


class SpreadColumns(HostTables):
    """Tables of a matrix D^(-1/2) (W + w I) D^(-1/2), where W lies on the workers.

    Parameters
    ----------
    weights : Spread
        W, symmetric.
    degrees : ndarray of shape (n,)
        The diagonal of D.
    loop : float
        w.
    """

    def __init__(self, weights: Spread, degrees: NDArray[np.float64], loop: float) -> None:
        super().__init__(n_threads=1)
        self.shape = weights.shape
        self._weights = weights
        self._scale = (1.0 / np.sqrt(degrees)).astype(np.float32)[:, None]
        self._loops = (loop / degrees).astype(np.float32)

    def product(self, diagonal: Any, scale: float, X: Any, out: Any) -> NDArray[np.float64]:
        """Set out = diagonal[:, None] * X + scale * (matrix @ X); return sums of X * out."""
        np.multiply(self._weights @ (self._scale * X), np.float32(scale) * self._scale, out=out)
        out += (diagonal + np.float32(scale) * self._loops)[:, None] * X
        return self.sums(X, out)


class Means:
    """The means of the rows' neighbours: D^(-1) W, where W lies on the workers.

    Parameters
    ----------
    weights : Spread
        W.
    degrees : ndarray of shape (n,)
        The diagonal of D. Where it is 0, the means are 0.
    """

    def __init__(self, weights: Spread, degrees: NDArray[np.float64]) -> None:
        self._weights = weights
        scale = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
        self._scale = scale.astype(np.float32)[:, None]

    def __matmul__(self, table: Table) -> Table:
        """Return the mean of every row's neighbours."""
        return self._scale * (self._weights @ table)

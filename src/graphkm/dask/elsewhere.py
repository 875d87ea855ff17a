"""All rows of a fit with given graphs, as the local estimator asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from ..graphs.given_edges import Ids
from ..members.along_edges import Edges
from ..members.averages import Step, mixer
from ..members.rows import Rows
from ..semi.given_graphs import links_to_themselves, step_over
from ..semi.mixed_views import AnyMixture
from ..semi.training import Training
from .blocks import Spread
from .collections import Partitioned
from .edges import SpreadGraph
from .fusing import fused
from .row_tasks import Part, add_columns, columns_of, reach_anchors, said_of, unit_part
from .runner import Runner


@dataclass(frozen=True)
class EdgesAlone:
    """Rows of which only labels and edges are known.

    Parameters
    ----------
    ids : Ids
        What edges call the rows.
    numbers : ndarray of int
        The labelled rows.
    graphs : list of SpreadGraph
        The given graphs.
    """

    ids: Ids
    numbers: NDArray[np.int64]
    graphs: Sequence[SpreadGraph]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.ids)

    @property
    def links(self) -> Any:
        """Every row is itself a known row."""
        return links_to_themselves(self.n_rows)

    def edges(self, labeled: NDArray[np.int64]) -> Edges:
        """Return what members of given graphs see."""
        return Edges(self.ids, self.graphs, None, None, labeled, n_threads=1)

    def training(self, given: Any, labeled: NDArray[np.int64]) -> Training:
        """Return all rows, which differ by their numbers alone."""
        return Training(given, np.arange(self.n_rows)[:, None], labeled, self.links)


@dataclass(frozen=True)
class RowsElsewhere(EdgesAlone):
    """Rows in partitions, with given graphs.

    Parameters
    ----------
    ids, numbers, graphs
        As in `EdgesAlone`.
    data : Partitioned
        The rows.
    width : int
        Their columns.
    sparse : bool
        Whether they are sparse: columns then count as they are.
    nodes : Delayed
        The anchors.
    similarity : CSR array
        The graph of the anchors.
    runner : Runner
        Runs the tasks.
    """

    data: Partitioned
    width: int
    sparse: bool
    nodes: Delayed
    similarity: Any
    runner: Runner

    def edges(self, labeled: NDArray[np.int64]) -> Edges:
        """Return what members of given graphs see."""
        rows = partial(self._unit_rows, len(labeled))
        return Edges(self.ids, self.graphs, rows, self._near(), labeled, n_threads=1)

    def training(self, given: Any, labeled: NDArray[np.int64]) -> Training:
        """Return all rows, which are asked where they are."""
        nothing = np.empty((self.n_rows, 0))
        return _AskedRows(given, nothing, labeled, self.links, elsewhere=self)

    def said(self, mixture: AnyMixture, some: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what a mixture says of some rows, whose numbers rise."""
        shared = self.runner.share(mixture)
        places = np.split(some, np.searchsorted(some, [about.start for about in self._parts[1:]]))
        tasks = [
            self.runner.task("ask-rows", said_of, rows, about, own - about.start, shared)
            for rows, about, own in zip(self.data.rows, self._parts, places, strict=True)
            if len(own)
        ]
        return np.concatenate(self.runner.bring(fused(tasks)))

    @cached_property
    def _parts(self) -> list[Part]:
        starts = (np.cumsum(self.data.lengths) - self.data.lengths).tolist()
        return [Part(i, start, self.n_rows, self.data.dtype) for i, start in enumerate(starts)]

    @cached_property
    def _scale(self) -> Any:
        """Means and standard deviations of the columns: one pass. None for sparse rows."""
        if self.sparse:
            return None
        parts = self._tasks("sum-columns", columns_of)
        (found,) = self.runner.bring([self.runner.tree("add-columns", add_columns, parts)])
        return found.scale

    def _unit_rows(self, n_labels: int, most: int) -> Rows:
        """Return `unit_rows` of all rows: one pass."""
        weights = mixer((self.n_rows, self.width), n_labels, most)
        shared = None if weights is None else self.runner.share(weights)
        return np.concatenate(
            self.runner.bring(self._tasks("scale-rows", unit_part, self._scale, shared))
        )

    def _near(self) -> Step:
        """Return a step to the rows that reach the same anchors: one pass."""
        blocks = self.runner.keep(self._tasks("reach-anchors", reach_anchors, self.nodes))
        bounds = np.concatenate([[0], np.cumsum(self.data.lengths)])
        weights = Spread(blocks, bounds, self.similarity.shape[0], self.runner)
        return step_over(weights, weights.back, self.similarity)

    def _tasks(self, name: str, function: Any, *args: Any) -> list[Delayed]:
        tasks = [
            self.runner.task(name, function, rows, about, *args)
            for rows, about in zip(self.data.rows, self._parts, strict=True)
        ]
        return fused(tasks)


@dataclass(frozen=True)
class _AskedRows(Training):
    """Rows that are asked where they are.

    Parameters
    ----------
    elsewhere : RowsElsewhere
        All rows.
    """

    elsewhere: Any = None

    def said(
        self, mixture: AnyMixture, some: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return what a mixture says of all rows, or of some."""
        numbers = np.arange(self.elsewhere.n_rows) if some is None else some
        return self.elsewhere.said(mixture, numbers)

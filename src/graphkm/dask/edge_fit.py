"""A fit with given graphs: rows and edges stay on the workers, and members are fitted here."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed

from ..graphs.anchors import drawn_rows
from ..graphs.given_edges import Ids
from ..semi.block_labels import joined
from ..semi.given_graphs import with_edges
from .collections import Partitioned, numbers_of_rows, parts_of
from .edges import SpreadGraph
from .elsewhere import EdgesAlone, RowsElsewhere
from .passes import Passes
from .runner import Runner
from .tasks import Fitted, fitted_with, graph_of_labelled, together


class EdgeFit(NamedTuple):
    """A fit of a local model.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        Unfitted; its graph is an `Anchors`.
    seed : int
        Decides where anchors start, and the draws of the model.
    label_memory : int
        Bytes of labelled rows that this process may hold.
    classes : bool
        Whether targets are classes.
    runner : Runner
        Runs the tasks.
    """

    model: Any
    seed: int
    label_memory: int
    classes: bool
    runner: Runner

    def fit(
        self, X: Any, y: Any, sample_weight: Any, affinities: dict[str, Any], ids: Any
    ) -> Fitted:
        """Return the model, fitted to collections.

        Parameters
        ----------
        X : Dask array or frame, or None
            All rows; None to learn from edges alone.
        y, sample_weight : Dask array or series
            Labels and weights.
        affinities : dict
            Collections of edges by name.
        ids : Dask array or series, or None
            What edges call the rows; None for their numbers.
        """
        rows = numbers_of_rows(y, self.runner) if X is None else X
        data = Partitioned.of(rows, y, sample_weight, self.runner, classes=self.classes)
        names = None if ids is None else joined(self.runner.bring(parts_of(ids)))
        fit = self._alone if X is None else self._with_rows
        return fit(data, affinities, Ids(sum(data.lengths), names))

    def _alone(self, data: Partitioned, affinities: dict[str, Any], ids: Ids) -> Fitted:
        """Fit the model to labels and edges; the rows are their numbers."""
        every = self.runner.bring(self._known(data, start=np.empty(0, np.int64)))
        _, labels, weights, numbers, _ = together(self.model, every, data.lengths)
        elsewhere = EdgesAlone(ids, numbers, self._graphs(affinities, ids))
        fit = self.model.fit_edges
        return fitted_with(fit, elsewhere, None, None, labels, weights, self.seed)

    def _with_rows(self, data: Partitioned, affinities: dict[str, Any], ids: Ids) -> Fitted:
        """Fit the model to rows, labels and edges."""
        n, part = len(ids), self.model.graph
        known = self._known(data, drawn_rows(n, part.count(n), self.seed))
        graphs = self._graphs(affinities, ids)
        nodes, joins = Passes(data, self.runner).anchors(known, part.passes)
        own_nodes, own_joins, *every = self.runner.bring([nodes, joins, *known])
        rows, labels, weights, numbers, _ = together(self.model, every, data.lengths)
        graph = graph_of_labelled(own_nodes, own_joins, rows, data.dtype)
        elsewhere = RowsElsewhere(
            ids,
            numbers,
            graphs,
            data,
            rows.shape[1],
            sp.issparse(rows),
            nodes,
            graph.similarity,
            self.runner,
        )
        return fitted_with(self.model.fit_edges, elsewhere, graph, rows, labels, weights, self.seed)

    def _known(self, data: Partitioned, start: Any) -> list[Delayed]:
        return Passes(data, self.runner).known(start, self.model, self.label_memory)

    def _graphs(self, affinities: dict[str, Any], ids: Ids) -> list[SpreadGraph]:
        """Return the given graphs; raise if they join no rows."""
        return with_edges([SpreadGraph.of(*each, ids, self.runner) for each in affinities.items()])

"""By which rows a label reaches another row: the shortest way along the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from ..graphs import RowNodes
from ..semi.evidence import Evidence


class Ways:
    """The ways from labelled rows to some rows, along the graph of nearest rows.

    Parameters
    ----------
    model : SemiSupervised
        The fitted model.
    evidence : Evidence
        What its fit kept. Of several views, the first with a graph shows the ways.
    rows : ndarray, CSR matrix or dict
        The rows to reach, as numbers.
    """

    def __init__(self, model: Any, evidence: Evidence, rows: Any) -> None:
        self._similarity: Any = None
        for name, graph in evidence.graphs.items():
            if isinstance(graph.nodes, RowNodes):
                self._similarity = graph.similarity
                self._joined = graph.nodes.weights(rows[name] if name else rows).tocsr()
                return

    def near(self, row: int) -> NDArray[np.int64]:
        """Return the rows of the fit that a row lies among, the nearest first."""
        if self._similarity is None:
            return np.empty(0, np.int64)
        ends = slice(*self._joined.indptr[row : row + 2])
        order = np.argsort(-self._joined.data[ends], kind="stable")
        return np.asarray(self._joined.indices[ends][order], dtype=np.int64)

    def to(self, row: int, labeled: NDArray[np.int64]) -> list[list[int]]:
        """Return the rows on the way from every labelled row to a row, the labelled one first.

        The way is one whose edges have the largest product of similarities. It is empty where no
        way leads.
        """
        near = self.near(row)
        if not len(near):
            return [[] for _ in labeled]
        lengths = self._similarity.astype(np.float64)
        lengths.data = 1e-9 - np.log(np.clip(lengths.data, 1e-300, 1.0))
        distance, before = dijkstra(
            lengths, directed=False, indices=int(near[0]), return_predecessors=True
        )
        found = list[list[int]]()
        for start in labeled.tolist():
            way = [start] if np.isfinite(distance[start]) else []
            while way and way[-1] != near[0]:
                way.append(int(before[way[-1]]))
            found.append(way)
        return found

"""By which rows a label reaches another row: the shortest way along the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from ..graphs import RowNodes
from ..semi.evidence import Evidence

Numbers = NDArray[np.int64]


class Ways:
    """The ways from labelled rows to some rows, along the graph of nearest rows.

    Equal rows are one node of the graph. A way names the first of them.

    Parameters
    ----------
    evidence : Evidence
        What a fit kept. Of several views, the first that counts and has a graph shows them.
    rows : ndarray, CSR matrix or dict
        The rows to reach, as numbers.
    """

    def __init__(self, evidence: Evidence, rows: Any) -> None:
        self._graph: Any = None
        self.n_rows = evidence.n_rows
        for name, graph in evidence.graphs.items():
            if isinstance(graph.nodes, RowNodes) and (not name or name in rows):
                self._graph = graph
                self._numbers = graph.nodes.numbers
                self._joined = graph.nodes.weights(rows[name] if name else rows).tocsr()
                starts = graph.rows.tocsr()
                own = starts.indices[starts.indptr[:-1]][: len(evidence.labeled)]
                self._nodes = dict(zip(evidence.labeled.tolist(), own.tolist(), strict=True))
                return

    def _near(self, row: int) -> Numbers:
        """Return the nodes that a row lies among, the nearest first; none without a graph."""
        if self._graph is None:
            return np.empty(0, np.int64)
        ends = slice(*self._joined.indptr[row : row + 2])
        order = np.argsort(-self._joined.data[ends], kind="stable")
        return np.asarray(self._joined.indices[ends][order], dtype=np.int64)

    def _rows(self, nodes: Numbers) -> Numbers:
        return nodes if self._numbers is None else self._numbers[nodes]

    def near(self, row: int) -> Numbers:
        """Return the rows of the fit that a row lies among, the nearest first; names are none."""
        found = self._rows(self._near(row))
        return found[found < self.n_rows]

    def to(self, row: int, labeled: Numbers) -> list[list[int]]:
        """Return the rows on the way from every labelled row to a row, the labelled one first.

        The product of the similarities along a way is the largest of all ways. A way is empty where
        none leads. Numbers from `n_rows` on are names of labels.
        """
        near = self._near(row)
        if not len(near) or not len(labeled):
            return [[] for _ in labeled]
        lengths = self._graph.similarity.astype(np.float64)
        lengths.data = 1e-9 - np.log(np.clip(lengths.data, 1e-300, 1.0))
        distance, before = dijkstra(
            lengths, directed=False, indices=int(near[0]), return_predecessors=True
        )
        found = list[list[int]]()
        for start in labeled.tolist():
            node = self._nodes[start]
            way = [node] if np.isfinite(distance[node]) else []
            while way and way[-1] != near[0]:
                way.append(int(before[way[-1]]))
            found.append([start, *self._rows(np.array(way, np.int64)).tolist()[1:]] if way else [])
        return found

"""A graph that the user brings, in place of one that is made from rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .arguments import check_labeled
from .base import Graph
from .given_edges import Ids, named_affinities, weights_of
from .listed import ListedGraph
from .part_kinds import GraphPart
from .parts import resolve_graph


def summed_affinity(affinity: Any, ids: Ids) -> Any:
    """Return the sum of all graphs that are given, each of them with the same mean degree.

    Two rows that an edge joins have the larger of their two weights. Edges from a row to itself
    are left out. The sum has the average of the graphs' mean degrees: one graph stays as it is, and
    so do two that are equal. Otherwise the graph with the largest weights would be the only one.

    Parameters
    ----------
    affinity : matrix, edges, graph, or list or dict of them
        As in ``fit`` of `SemiSupervisedClassifier`.
    ids : Ids
        Of the rows.

    Returns
    -------
    CSR array of float64 of shape (n_rows, n_rows)
        The weight of each pair u < v at [u, v], and zeros elsewhere.

    Examples
    --------
    >>> many, few = [(0, 1), (1, 2)], [(2, 0, 50.0)]
    >>> summed_affinity({"many": many, "few": few}, Ids(3)).toarray()
    array([[ 0. ,  6.5, 13. ],
           [ 0. ,  0. ,  6.5],
           [ 0. ,  0. ,  0. ]])
    """
    graphs = [
        _pairs(weights_of(each, ids, dtype=np.float64))
        for each in named_affinities(affinity).values()
    ]
    graphs = [graph for graph in graphs if graph.nnz]
    totals = [float(graph.sum()) for graph in graphs]
    found = sp.csr_array((len(ids), len(ids)))
    for graph, total in zip(graphs, totals, strict=True):
        found = found + graph * (float(np.mean(totals)) / len(graphs) / total)
    return found


def _pairs(weights: Any) -> Any:
    """Return the larger weight of each pair u < v."""
    return sp.triu(weights.maximum(weights.T), k=1, format="csr")


def affinity_graph(affinity: Any, labeled: ArrayLike, n_vertices: int) -> ListedGraph:
    """Join u and v with the larger weight of their edges.

    Edges from a row to itself, and those between two labelled rows, are left out.

    Parameters
    ----------
    affinity : matrix, edges, graph, or list or dict of them
        Rows have the numbers 0 to n_vertices - 1. Weights are finite and not negative. Several
        graphs are added up (`summed_affinity`). Nothing of it is changed.
    labeled : ndarray of bool of shape (n_vertices,)
        True where a row has a label.
    n_vertices : int
        Number of training rows.

    Returns
    -------
    ListedGraph

    Examples
    --------
    >>> W = np.array([[1.0, 0.5, 0.0], [0.2, 1.0, 0.0], [0.0, 0.7, 1.0]])
    >>> graph = affinity_graph(W, np.array([True, False, False]), n_vertices=3)
    >>> graph.edges()
    Edges(u=array([0, 1]), v=array([1, 2]), weight=array([0.5, 0.7]))
    """
    mask = check_labeled(labeled, n_vertices)
    pairs = summed_affinity(affinity, Ids(n_vertices)).tocoo()
    u, v = pairs.row.astype(np.int64), pairs.col.astype(np.int64)
    kept = ~(mask[u] & mask[v])
    if not kept.any() and not mask.all():
        raise ValueError(
            f"the affinity joins none of the {int((~mask).sum())} unlabelled rows to another "
            "row; pass a matrix with positive entries off the diagonal in their rows, or edges "
            "that end at them"
        )
    return ListedGraph(n_vertices, u[kept], v[kept], pairs.data[kept])


@dataclass(frozen=True)
class Affinity(GraphPart):
    """The graph of a plan where ``fit`` was given an affinity.

    Examples
    --------
    >>> W = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> Affinity().build(np.eye(2), np.array([True, False]), affinity=W).edges().weight
    array([0.5])
    """

    listed: ClassVar[bool] = True
    needs_rows: ClassVar[bool] = False

    def build(
        self,
        X: Any,
        labeled: ArrayLike,
        *,
        affinity: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Graph:
        """Return the graph of the affinity."""
        if affinity is None:
            raise ValueError("graph=Affinity() needs edges; pass fit(X, y, affinity=...).")
        return affinity_graph(affinity, labeled, X.shape[0])


def graph_or_given(graph: str | GraphPart, affinity: Any) -> GraphPart:
    """Return the part that makes the graph: `Affinity` if an affinity is given.

    Examples
    --------
    >>> graph_or_given("full", None), graph_or_given("knn", np.eye(3))
    (Full(weights='auto'), Affinity())
    """
    return resolve_graph(graph) if affinity is None else Affinity()

"""Graphs over the training rows, none with an edge between two labelled rows.

=====================  ==========================================================
base                   `Graph`: number, list and draw edges; `EdgeSampler`
implicit               edges by formula, weights computed when looked at
full, bipartite        the two implicit graphs
listed                 `ListedGraph`: edges stored, connected components
neighbors              `knn_graph`, `epsilon_graph`
affinity               `affinity_graph`, from the user's matrix
distances              squared distances and Gaussian weights of pairs of rows
=====================  ==========================================================
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from .affinity import affinity_graph
from .base import Edges, EdgeSampler, Graph
from .bipartite import BipartiteGraph
from .full import FullGraph
from .listed import ListedGraph
from .neighbors import epsilon_graph, knn_graph

__all__ = [
    "BipartiteGraph",
    "EdgeSampler",
    "Edges",
    "FullGraph",
    "Graph",
    "ListedGraph",
    "affinity_graph",
    "build_graph",
    "epsilon_graph",
    "knn_graph",
]

_KINDS = ("full", "bipartite", "knn", "epsilon", "precomputed")


def build_graph(
    kind: str,
    X: Any,
    labeled: ArrayLike,
    *,
    gamma: float,
    n_neighbors: int = 10,
    radius: float | None = None,
    affinity: Any = None,
    n_jobs: int | None = None,
) -> Graph:
    """Return the graph of the given kind over the rows of X.

    Parameters
    ----------
    kind : {"full", "bipartite", "knn", "epsilon", "precomputed"}
        All pairs but labelled ones, labelled-unlabelled pairs, k nearest neighbours, pairs
        within a radius, or the user's matrix.
    X : ndarray of float32 or float64, or CSR matrix, of shape (n_samples, n_features)
        The rows.
    labeled : ndarray of bool of shape (n_samples,)
        True where a row has a label.
    gamma : float
        Bandwidth of the weights mu_uv = exp(-gamma ||x_u - x_v||^2); "precomputed" brings its
        own weights.
    n_neighbors : int, default=10
        For "knn".
    radius : float, optional
        For "epsilon", which needs it.
    affinity : sparse matrix or array of shape (n_samples, n_samples), optional
        For "precomputed", which needs it.
    n_jobs : int, optional
        Parallel neighbour searches.

    Returns
    -------
    Graph

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> build_graph("full", X, np.array([True, True, False]), gamma=1.0)
    FullGraph(n_vertices=3, n_edges=2)
    """
    if kind not in _KINDS:
        raise ValueError(f"unknown graph {kind!r}; pass one of {', '.join(map(repr, _KINDS))}")
    if kind == "precomputed":
        if affinity is None:
            raise ValueError("graph 'precomputed' needs weights; pass affinity=W, an n x n matrix")
        return affinity_graph(affinity, labeled, X.shape[0])
    if affinity is not None:
        raise ValueError(f"graph {kind!r} takes no affinity; pass graph 'precomputed' to use it")
    if kind == "epsilon":
        if radius is None:
            raise ValueError("graph 'epsilon' needs a distance; pass radius=, a number > 0")
        return epsilon_graph(X, labeled, radius, gamma, n_jobs)
    if kind == "knn":
        return knn_graph(X, labeled, n_neighbors, gamma, n_jobs)
    return (FullGraph if kind == "full" else BipartiteGraph)(X, labeled, gamma)

"""Graphs over the training rows, none with an edge between two labelled rows.

=====================  ==========================================================
base                   `Graph`: number, list and draw edges; `EdgeSampler`
implicit               edges by formula, weights computed when looked at
full, bipartite        the two implicit graphs
listed                 `ListedGraph`: edges stored, connected components
neighbors              `knn_graph`, `epsilon_graph`
search, approximate    the k nearest rows of every row, exactly or nearly so
affinity               `affinity_graph`, from the user's matrix
distances              squared distances and Gaussian weights of pairs of rows
=====================  ==========================================================
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ._checks import NEIGHBORS, default_neighbors
from .affinity import affinity_graph
from .base import Edges, EdgeSampler, Graph
from .bipartite import BipartiteGraph
from .full import FullGraph
from .listed import ListedGraph
from .neighbors import epsilon_graph, knn_graph, neighbour_graph
from .search import Method

__all__ = [
    "NEIGHBORS",
    "BipartiteGraph",
    "EdgeSampler",
    "Edges",
    "FullGraph",
    "Graph",
    "ListedGraph",
    "affinity_graph",
    "build_graph",
    "default_neighbors",
    "epsilon_graph",
    "knn_graph",
    "neighbour_graph",
]

_KINDS = ("full", "bipartite", "knn", "epsilon", "precomputed")


def build_graph(
    kind: str,
    X: Any,
    labeled: ArrayLike,
    *,
    gamma: float | str,
    n_neighbors: int | str = 10,
    radius: float | None = None,
    affinity: Any = None,
    n_jobs: int | None = None,
    search: Method = "auto",
    verbose: bool = False,
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
    gamma : float or "local"
        Bandwidth of the weights mu_uv = exp(-gamma ||x_u - x_v||^2); "precomputed" brings its
        own weights. "local", for "knn" only, adapts it to the distances about u and v.
    n_neighbors : int or "auto", default=10
        For "knn"; "auto" is 10, but at most the root of the number of rows.
    radius : float, optional
        For "epsilon", which needs it.
    affinity : sparse matrix or array of shape (n_samples, n_samples), optional
        For "precomputed", which needs it.
    n_jobs : int, optional
        Parallel neighbour searches.
    search : {"auto", "exact", "approximate"}, default="auto"
        For "knn": how neighbours are searched for.
    verbose : bool, default=False
        For "knn": show the progress of the search.

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
    if affinity is not None and kind != "precomputed":
        raise ValueError(f"graph {kind!r} takes no affinity; pass graph 'precomputed' to use it")
    if kind == "knn":
        return knn_graph(X, labeled, n_neighbors, gamma, n_jobs, method=search, verbose=verbose)
    if isinstance(gamma, str) and gamma == "local":  # an array is for the graph to refuse
        raise ValueError(f"graph {kind!r} takes no gamma='local'; pass a number, or graph 'knn'")
    if kind == "precomputed":
        if affinity is None:
            raise ValueError("graph 'precomputed' needs weights; pass affinity=W, an n x n matrix")
        return affinity_graph(affinity, labeled, X.shape[0])
    if kind == "epsilon":
        if radius is None:
            raise ValueError("graph 'epsilon' needs a distance; pass radius=, a number > 0")
        return epsilon_graph(X, labeled, radius, gamma, n_jobs)  # type: ignore[arg-type]
    return (FullGraph if kind == "full" else BipartiteGraph)(X, labeled, gamma)  # type: ignore[arg-type]

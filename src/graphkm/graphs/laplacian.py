"""The Laplacian of a graph: its matrix, and how rough a function is in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._util.memory import require_memory
from .base import Edges, Graph
from .listed import ListedGraph

_EDGES = 2**18  # edges looked at together


def vertex_scales(graph: Graph, *, normalized: bool) -> NDArray[np.float64]:
    """Return the factor of f at every vertex before differences are taken.

    It is 1. For the normalised Laplacian it is 1 / sqrt(degree), and 0 at a vertex without edges.

    Examples
    --------
    >>> graph = ListedGraph(3, [0], [1], [0.25])
    >>> vertex_scales(graph, normalized=True).tolist()
    [2.0, 2.0, 0.0]
    """
    if not normalized:
        return np.ones(graph.n_vertices)
    degree = np.zeros(graph.n_vertices)
    for u, v, weight in graph.edge_blocks(_EDGES):
        degree += np.bincount(u, weight, graph.n_vertices)
        degree += np.bincount(v, weight, graph.n_vertices)
    scale = np.zeros(graph.n_vertices)
    np.divide(1.0, np.sqrt(degree), out=scale, where=degree > 0)
    return scale


def laplacian_matrix(graph: Graph, *, normalized: bool = False) -> Any:
    """Return L with f' L f = sum_(u,v) mu_uv (s_u f_u - s_v f_v)^2, s the `vertex_scales`.

    Without normalisation L = D - W, with it L = I - D^(-1/2) W D^(-1/2).

    Parameters
    ----------
    graph : Graph
        Its edges are all visited.
    normalized : bool, default=False
        Whether differences are of f / sqrt(degree).

    Returns
    -------
    csr_array or ndarray of shape (n_vertices, n_vertices)
        Sparse if the graph lists its edges, dense if they are given by a formula.

    Examples
    --------
    >>> laplacian_matrix(ListedGraph(2, [0], [1], [0.5])).toarray()
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    scale = vertex_scales(graph, normalized=normalized)
    if isinstance(graph, ListedGraph):
        return edge_laplacian(graph.edges(), scale)
    n = graph.n_vertices
    require_memory(
        2 * 8 * n * n,
        f"the matrix of a {type(graph).__name__} of {n:,} rows",
        "Use the graph 'knn', or the stochastic solver, which draws edges and stores none.",
    )
    matrix = np.zeros((n, n))
    for u, v, weight in graph.edge_blocks(_EDGES):
        matrix[u, v] = matrix[v, u] = -weight * scale[u] * scale[v]
        matrix[np.diag_indices(n)] += np.bincount(u, weight * scale[u] ** 2, n)
        matrix[np.diag_indices(n)] += np.bincount(v, weight * scale[v] ** 2, n)
    return matrix


def similarity_matrix(graph: ListedGraph) -> Any:
    """Return S = I - L, with L the normalised Laplacian, as a CSR array of float32.

    A vertex without edges has L = 0, and so S = 1 at its own place.

    Examples
    --------
    >>> similarity_matrix(ListedGraph(3, [0], [1], [0.25])).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    scale = vertex_scales(graph, normalized=True)
    u, v, weight = graph.edges()
    across, alone = weight * scale[u] * scale[v], np.flatnonzero(scale == 0)
    place = (np.concatenate([u, v, alone]), np.concatenate([v, u, alone]))
    values = np.concatenate([across, across, np.ones(len(alone))]).astype(np.float32)
    return sp.coo_array((values, place), shape=(len(scale), len(scale))).tocsr()


def edge_laplacian(edges: Edges, scale: NDArray[np.float64]) -> Any:
    """Return the sum over edges of weight b b', where b is s_u at u, -s_v at v and 0 elsewhere.

    Examples
    --------
    >>> edge_laplacian(Edges(np.array([0]), np.array([1]), np.array([2.0])), np.ones(2)).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    n = len(scale)
    u, v, weight = edges
    across = -weight * scale[u] * scale[v]
    own = np.bincount(u, weight * scale[u] ** 2, n) + np.bincount(v, weight * scale[v] ** 2, n)
    every = np.arange(n)
    place = (np.concatenate([u, v, every]), np.concatenate([v, u, every]))
    return sp.coo_array((np.concatenate([across, across, own]), place), shape=(n, n)).tocsr()


def power_form(matrix: Any, degree: int, f: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return f' L^degree f for every column of f.

    Examples
    --------
    >>> L = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> power_form(L, 2, np.array([[1.0], [0.0]]))
    array([2.])
    """
    left = f
    for _ in range(degree // 2):
        left = matrix @ left
    right = matrix @ left if degree % 2 else left
    return np.einsum("ij,ij->j", left, right)

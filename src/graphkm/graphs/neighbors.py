"""Graphs that join near rows: k nearest neighbours, and all within a radius."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from .._memory import require_memory
from ._checks import check_gamma, check_labeled, check_neighbors, check_radius, check_rows
from .distances import gaussian_weights, squared_distances
from .full import FullGraph
from .listed import ListedGraph

_SAMPLE = 2**18  # pairs looked at to foretell the size of an epsilon graph
_BYTES_PER_EDGE = 72  # ends and weight, their parts before joining, and one temporary of each


def knn_graph(
    X: Any, labeled: ArrayLike, n_neighbors: int, gamma: float, n_jobs: int | None = None
) -> ListedGraph:
    """Join two rows if either is among the other's k nearest, unless both are labelled.

    The search is exact, and its result does not depend on the number of threads.

    Parameters
    ----------
    X : ndarray of float32 or float64, or CSR matrix, of shape (n_vertices, n_features)
        The rows.
    labeled : ndarray of bool of shape (n_vertices,)
        True where a row has a label.
    n_neighbors : int
        k; if there are fewer other rows, all of them.
    gamma : float
        Bandwidth of the weights mu_uv = exp(-gamma ||x_u - x_v||^2).
    n_jobs : int, optional
        Parallel searches, as in scikit-learn.

    Returns
    -------
    ListedGraph

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> graph = knn_graph(X, np.array([True, False, False]), n_neighbors=1, gamma=1.0)
    >>> graph.edges().u, graph.edges().v
    (array([0, 1]), array([1, 2]))
    """
    rows = check_rows(X)
    n = rows.shape[0]
    mask = check_labeled(labeled, n)
    gamma = check_gamma(gamma)
    k = min(check_neighbors(n_neighbors), n - 1)
    if mask.all():
        return _no_edges(n)
    if k < 1:
        raise ValueError("a single row has no neighbour; pass at least 2 rows")
    require_memory(
        _BYTES_PER_EDGE * n * k,
        f"a graph of {n:,} rows with {k} neighbours each",
        "Pass a smaller n_neighbors, or use the graph 'full', which stores nothing.",
    )
    search = _neighbours(n_neighbors=k, n_jobs=n_jobs).fit(_centred(rows))
    with _thread_pools().limit(limits=_search_threads(n), user_api="openmp"):
        near = search.kneighbors(return_distance=False)  # without X a row is not its own
    u = np.repeat(np.arange(n, dtype=np.int64), k)
    v = near.ravel().astype(np.int64)
    kept = ~(mask[u] & mask[v])
    u, v = u[kept], v[kept]
    u, v = np.divmod(np.unique(np.minimum(u, v) * n + np.maximum(u, v)), n)
    return ListedGraph(n, u, v, gaussian_weights(rows, u, v, gamma))


def epsilon_graph(
    X: Any, labeled: ArrayLike, radius: float, gamma: float, n_jobs: int | None = None
) -> ListedGraph:
    """Join two rows if ||x_u - x_v|| <= radius, unless both are labelled.

    Parameters
    ----------
    X : ndarray of float32 or float64, or CSR matrix, of shape (n_vertices, n_features)
        The rows.
    labeled : ndarray of bool of shape (n_vertices,)
        True where a row has a label.
    radius : float
        Largest distance of joined rows.
    gamma : float
        Bandwidth of the weights mu_uv = exp(-gamma ||x_u - x_v||^2).
    n_jobs : int, optional
        Parallel searches, as in scikit-learn.

    Returns
    -------
    ListedGraph

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> graph = epsilon_graph(X, np.array([True, False, False]), radius=2.0, gamma=1.0)
    >>> graph.edges().u, graph.edges().v
    (array([0, 1]), array([1, 2]))
    """
    rows = check_rows(X)
    n = rows.shape[0]
    mask = check_labeled(labeled, n)
    radius, gamma = check_radius(radius), check_gamma(gamma)
    if mask.all():
        return _no_edges(n)
    full = FullGraph(rows, mask, gamma)
    sampled = _sampled_distances(full)
    expected = int(np.mean(sampled <= radius) * full.n_edges)
    require_memory(
        _BYTES_PER_EDGE * expected,
        f"a graph of {n:,} rows with about {expected:,} edges within radius={radius:g}",
        "Pass a smaller radius, or use the graph 'knn', or 'full', which stores nothing.",
    )
    u, v = _pairs_within(rows, mask, radius, expected, n_jobs)
    if len(u) == 0:
        near = sampled[sampled > 0]
        raise ValueError(
            f"no two of the {n} points, labelled pairs aside, lie within radius={radius:g}; the "
            f"smallest non-zero distance of {len(sampled)} sampled pairs is {near.min():g}. "
            "Pass a larger radius, or use the graph 'knn'"
        )
    return ListedGraph(n, u, v, gaussian_weights(rows, u, v, gamma))


def _sampled_distances(full: FullGraph) -> NDArray[np.float64]:
    """Return the lengths of all edges of the full graph, or of many drawn at random."""
    if full.n_edges <= _SAMPLE:
        index = np.arange(full.n_edges, dtype=np.int64)
    else:
        index = np.random.default_rng(0).integers(full.n_edges, size=_SAMPLE)
    return np.sqrt(squared_distances(full.X, *full.decode(index)))


def _pairs_within(
    rows: Any, mask: NDArray[np.bool_], radius: float, expected: int, n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs u < v within radius that are not both labelled, sorted."""
    n = rows.shape[0]
    centred = _centred(rows)
    # The search rounds: take a little more, then decide by the exact distance.
    search = _neighbours(radius=radius * (1 + 1e-6), n_jobs=n_jobs).fit(centred)
    step = max(256, 2**22 // (2 * expected // n + 1))
    keys = []
    for start in range(0, n, step):
        near = search.radius_neighbors(centred[start : start + step], return_distance=False)
        u = np.repeat(np.arange(start, start + len(near)), [len(row) for row in near])
        v = np.concatenate(near).astype(np.int64)
        kept = (u < v) & ~(mask[u] & mask[v])
        u, v = u[kept], v[kept]
        exact = np.sqrt(squared_distances(rows, u, v)) <= radius
        keys.append(np.sort(u[exact] * n + v[exact]))
    u, v = np.divmod(np.concatenate(keys), n)
    return u, v


def _neighbours(**parameters: Any) -> Any:
    """Return scikit-learn's exact search; importing it takes longer than all of this package."""
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(**parameters)


def _centred(rows: Any) -> Any:
    """Return rows shifted to mean 0 if they lie so far out that a search would lose digits.

    Searches in many dimensions expand ||x - y||^2, whose error grows with ||x||^2.
    """
    if not isinstance(rows, np.ndarray):
        return rows
    mean = rows.mean(axis=0, dtype=np.float64)
    spread = rows.var(axis=0, dtype=np.float64).sum()
    far = spread > 0 and mean @ mean > 1e4 * spread
    return rows - mean if far else rows


def _search_threads(n: int) -> int:
    """Return how many threads may search n rows so that ties fall alike at any number of them.

    scikit-learn cuts the queries among threads only if each gets more than 1024; else it cuts
    the neighbours, and then a tie goes to whichever thread comes first.
    """
    pools = _thread_pools().select(user_api="openmp").info()
    return max(1, min([n // 1025, *(int(pool["num_threads"]) for pool in pools)]))


@cache
def _thread_pools() -> ThreadpoolController:
    """Return the handle of the loaded thread pools, which takes milliseconds to find."""
    return ThreadpoolController()


def _no_edges(n_vertices: int) -> ListedGraph:
    return ListedGraph(n_vertices, [], [], [])

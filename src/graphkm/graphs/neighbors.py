"""Graphs that join near rows: k nearest neighbours, and all within a radius."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._util.memory import require_memory
from ..neighbours.arguments import check_neighbors, check_rows
from ..neighbours.distances import gaussian_weights, squared_distances
from ..neighbours.exact import mean_if_far, neighbours
from ..neighbours.index import Method, NeighbourIndex, Neighbours
from .arguments import check_gamma, check_labeled, check_radius
from .full import FullGraph
from .listed import ListedGraph
from .nodes import SHARPNESS, RowNodes

POWERS = {"local": 1.0, "sharp": SHARPNESS}
"""The factor b of weights exp(-b d^2 / (s_u s_v)), which follow the distances around each row."""

_SAMPLE = 2**18  # pairs looked at to estimate the size of an epsilon graph
_BYTES_PER_EDGE = 72  # three arrays (two ends and a weight) of 8 bytes, each there three times


def knn_graph(
    X: Any,
    labeled: ArrayLike,
    n_neighbors: int | str,
    gamma: float | str,
    n_jobs: int | None = None,
    *,
    method: Method = "auto",
    verbose: bool = False,
) -> ListedGraph:
    """Join two rows if either is among the other's k nearest, unless both are labelled.

    The result does not depend on the number of threads.

    Parameters
    ----------
    X : ndarray of float32 or float64, or CSR matrix, of shape (n_vertices, n_features)
        The rows.
    labeled : ndarray of bool of shape (n_vertices,)
        True where a row has a label.
    n_neighbors : int or "auto"
        k, or the number of other rows if that is less. "auto" is `default_neighbors`.
    gamma : float, "local" or "sharp"
        Bandwidth of the weights mu_uv = exp(-gamma ||x_u - x_v||^2). "local" gives
        exp(-||x_u - x_v||^2 / (s_u s_v)), with s_u the distance from u to its k-th neighbour
        (Zelnik-Manor and Perona, 2004), and "sharp" its power `SHARPNESS`.
    n_jobs : int, optional
        Parallel searches, as in scikit-learn.
    method : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are searched for: see `NeighbourIndex`.
    verbose : bool, default=False
        Show the progress of the search.

    Returns
    -------
    ListedGraph

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> graph = knn_graph(X, np.array([True, False, False]), n_neighbors=1, gamma=1.0)
    >>> graph.edges().u, graph.edges().v
    (array([0, 1]), array([1, 2]))
    >>> local = knn_graph(X, np.array([True, False, False]), n_neighbors=1, gamma="local")
    >>> local.edges().weight  # exp(-1 / (1 * 1)) and exp(-4 / (1 * 2))
    array([0.36787944, 0.13533528])
    """
    rows = check_rows(X)
    n = rows.shape[0]
    mask = check_labeled(labeled, n)
    local = isinstance(gamma, str) and gamma in POWERS
    gamma = gamma if local else check_gamma(gamma)  # type: ignore[arg-type]
    k = min(check_neighbors(n_neighbors, n), n - 1)
    if mask.all():
        return _no_edges(n)
    if k < 1:
        raise ValueError("a single row has no neighbour; pass at least 2 rows")
    require_memory(
        _BYTES_PER_EDGE * n * k,
        f"a graph of {n:,} rows with {k} neighbours each",
        "Pass a smaller n_neighbors, or use the graph 'full', which stores nothing.",
    )
    index = NeighbourIndex(rows, method, n_jobs, verbose)
    return neighbour_graph(Neighbours.of(index, k), mask, gamma)


def neighbour_graph(
    neighbours: Neighbours, labeled: NDArray[np.bool_], gamma: float | str
) -> ListedGraph:
    """Return the graph of neighbours that are known.

    The same index finds the nodes near new rows. The weights of new rows are "sharp" if those of
    the edges are, and "local" otherwise.

    Examples
    --------
    >>> known = Neighbours.of(NeighbourIndex(np.array([[0.0], [1.0], [3.0]])), k=1)
    >>> neighbour_graph(known, np.zeros(3, bool), gamma=0.0).edges().v
    array([1, 2])
    """
    near, d2 = neighbours.near, neighbours.d2
    u, v, d2_uv = _undirected(near, d2, labeled)
    weight = _weights(d2_uv, u, v, d2[:, -1], gamma)
    sharpness = POWERS["sharp" if gamma == "sharp" else "local"]
    return ListedGraph(len(near), u, v, weight, RowNodes.of(neighbours, sharpness))


def _undirected(
    near: NDArray[np.int64], d2: NDArray[np.float64], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return each pair u < v that is not both labelled once, sorted, and its d2."""
    n, k = near.shape
    u, v = np.repeat(np.arange(n, dtype=np.int64), k), near.ravel()
    kept = ~(mask[u] & mask[v])
    u, v = u[kept], v[kept]
    key, first = np.unique(np.minimum(u, v) * n + np.maximum(u, v), return_index=True)
    u, v = np.divmod(key, n)
    return u, v, d2.ravel()[kept][first]


def _weights(
    d2: NDArray[np.float64],
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    farthest: NDArray[np.float64],
    gamma: float | str,
) -> NDArray[np.float64]:
    """Return the weights of pairs at squared distances d2.

    `farthest` are the squared distances to the k-th neighbours, s_u^2. They are 0 where many rows
    coincide. There the smallest positive one is used instead.
    """
    with np.errstate(over="ignore", under="ignore"):
        if not isinstance(gamma, str):
            return np.exp(d2 * -gamma)
        s = np.sqrt(farthest)
        s[s == 0] = s[s > 0].min(initial=np.inf)
        # The scales divide one by one: the product of two scales may underflow to 0 or overflow.
        d = np.sqrt(d2)
        return np.exp(-POWERS[gamma] * (d / s[u]) * (d / s[v]))


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
    mean = mean_if_far(rows)
    points = rows if mean is None else rows - mean
    # The search rounds: take a little more, then decide by the exact distance.
    search = neighbours(radius=radius * (1 + 1e-6), n_jobs=n_jobs).fit(points)
    step = max(256, 2**22 // (2 * expected // n + 1))
    keys = []
    for start in range(0, n, step):
        near = search.radius_neighbors(points[start : start + step], return_distance=False)
        u = np.repeat(np.arange(start, start + len(near)), [len(row) for row in near])
        v = np.concatenate(near).astype(np.int64)
        kept = (u < v) & ~(mask[u] & mask[v])
        u, v = u[kept], v[kept]
        exact = np.sqrt(squared_distances(rows, u, v)) <= radius
        keys.append(np.sort(u[exact] * n + v[exact]))
    u, v = np.divmod(np.concatenate(keys), n)
    return u, v


def _no_edges(n_vertices: int) -> ListedGraph:
    return ListedGraph(n_vertices, [], [], [])

"""Where rows are on the map: rows with the same neighbours lie together.

Up to 1,500 rows are landmarks. The eigenvectors of their neighbour graph say where to begin, and
t-SNE moves them until neighbours are near each other. Every other row lies between the landmarks
that are nearest to it. All of it is deterministic, and takes seconds, so principal components are
shown first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD
from threadpoolctl import threadpool_limits

SIZE = 1000
"""Places are whole numbers from 0 to this."""

LANDMARKS = 1500
"""Rows that t-SNE places; its time grows with them."""

_OUTSIDE = 0.5  # percent of the rows on each side that lie at the border
_COLUMNS = 50  # principal components that neighbours are sought by
_FEWEST = 30  # fewer rows are shown by principal components
_NEAR = 8  # landmarks between which another row lies
_PERPLEXITY = 30.0
_BLOCK = 1000  # rows that are placed at once

Array = NDArray[np.float64]


def first_places(rows: Any) -> NDArray[np.int64]:
    """Return a place for every row at once: its two leading principal components.

    Examples
    --------
    >>> first_places(np.array([[0.0, 0.0], [5.0, 0.0], [10.0, 1.0]])).shape
    (3, 2)
    """
    if not issparse(rows) and np.ptp(rows) == 0:  # all alike
        return _scaled(np.zeros((len(rows), 2)))
    if rows.shape[1] < 2:
        values = rows.toarray() if issparse(rows) else np.asarray(rows)
        return _scaled(np.column_stack([values[:, 0], np.zeros(len(values))]))
    return _scaled(_components(rows, 2))


def map_places(rows: Any) -> NDArray[np.int64]:
    """Return a place for every row: near the rows that are its neighbours.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 5)) + 20 * (np.arange(60) % 3)[:, None]
    >>> places = map_places(X)
    >>> places.shape, int(places.min()), int(places.max())
    ((60, 2), 0, 1000)
    """
    n = rows.shape[0]
    if n < _FEWEST or rows.shape[1] < 2 or (not issparse(rows) and np.ptp(rows) == 0):
        return first_places(rows)
    few = rows.shape[1] <= _COLUMNS
    X = np.asarray(rows.toarray() if issparse(rows) else rows, dtype=np.float64) if few else (
        _components(rows, _COLUMNS))  # fmt: skip
    chosen = np.sort(np.random.default_rng(0).permutation(n)[:LANDMARKS])
    with threadpool_limits(1):  # the same sums in the same order, and answers are not held up
        placed = _embedded(X[chosen])
        return _scaled(placed if len(chosen) == n else _between(X, X[chosen], placed))


def _components(rows: Any, n: int) -> Array:
    """Return the leading principal components."""
    kind = TruncatedSVD if issparse(rows) else PCA
    n = min(n, *(size - 1 for size in rows.shape)) if n > 2 else n
    more = {} if issparse(rows) else {"svd_solver": "auto"}
    return np.asarray(kind(n, random_state=0, **more).fit_transform(rows), dtype=np.float64)


def _embedded(X: Array) -> Array:
    """Return places of landmarks: eigenvectors of their graph first, then t-SNE."""
    from sklearn.manifold import TSNE

    start = eigenvectors(X)
    size = start.std(axis=0)
    start = 1e-4 * start / np.where(size > 0, size, 1.0)  # as t-SNE wants it
    perplexity = min(_PERPLEXITY, (len(X) - 1) / 3)
    model = TSNE(2, init=start, perplexity=perplexity, random_state=0, n_jobs=1)
    return np.asarray(model.fit_transform(X), dtype=np.float64)


def eigenvectors(X: Array) -> Array:
    """Return the second and third eigenvector of the normalised neighbour graph."""
    from scipy.linalg import eigh
    from sklearn.neighbors import kneighbors_graph

    joined = kneighbors_graph(X, min(10, len(X) - 1)).toarray()
    joined = np.maximum(joined, joined.T) + 1e-3 / len(X)  # every part is joined a little
    degree = 1.0 / np.sqrt(joined.sum(axis=1))
    n = len(X)
    _, found = eigh(joined * degree[:, None] * degree, subset_by_index=[n - 3, n - 2])
    found = found[:, ::-1] * degree[:, None]
    sign = np.sign(found[np.abs(found).argmax(axis=0), [0, 1]])
    return np.asarray(found * np.where(sign == 0, 1.0, sign))


def _between(X: Array, landmarks: Array, placed: Array) -> Array:
    """Return for every row the mean of its nearest landmarks' places, the nearest counting most."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=min(_NEAR, len(landmarks))).fit(landmarks)
    found = np.empty((len(X), 2))
    for start in range(0, len(X), _BLOCK):
        far, near = search.kneighbors(X[start : start + _BLOCK])
        # Like the kernel of t-SNE: wide enough for half of the neighbours to count.
        width = np.maximum(far[:, [len(far[0]) // 2]], 1e-12)
        weight = np.exp(-2.0 * np.square(far / width)) + 1e-12
        weight /= weight.sum(axis=1, keepdims=True)
        found[start : start + _BLOCK] = (weight[:, :, None] * placed[near]).sum(axis=1)
    return found


def _scaled(found: Array) -> NDArray[np.int64]:
    """Return places as whole numbers."""
    least, most = np.percentile(found, [_OUTSIDE, 100 - _OUTSIDE], axis=0)
    size = np.where(most > least, most - least, 1.0)
    return np.asarray(np.clip((found - least) / size, 0, 1) * SIZE).round().astype(np.int64)

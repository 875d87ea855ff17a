"""The exact search for neighbours, by scikit-learn, and what both searches share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._progress import progress_bar
from .._threads import thread_pools

Indices = NDArray[np.int64]

_BLOCK = 2**15  # rows per call of the search; it cuts them into 256s itself


def exact(
    rows: Any, queries: Indices, k: int, n_jobs: int | None = None, verbose: bool = False
) -> Indices:
    """Return the k nearest other rows of the rows numbered `queries`, in no order.

    Examples
    --------
    >>> exact(np.array([[0.0], [1.0], [3.0]]), np.array([2]), k=1)
    array([[1]])
    """
    rows = centred(rows)
    search = neighbours(n_neighbors=k + 1, n_jobs=n_jobs).fit(rows)
    near = np.empty((len(queries), k), dtype=np.int64)
    for part in progress(blocks(len(queries), _BLOCK), len(queries), verbose):
        own = queries[part]
        with thread_pools().limit(limits=search_threads(len(own)), user_api="openmp"):
            found = search.kneighbors(rows[own], return_distance=False)
        near[part] = _without_self(found, own)
    return near


def _without_self(found: Indices, own: Indices) -> Indices:
    """Drop each row's own number; where duplicates crowd it out, drop one of these."""
    others = found != own[:, None]
    others[others.all(axis=1), 0] = False
    return found[others].reshape(len(own), -1)


def blocks(n: int, size: int) -> list[slice]:
    """Return slices that cut n rows into blocks; these never depend on the threads.

    Examples
    --------
    >>> blocks(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def progress(parts: list[slice], n: int, verbose: bool) -> Iterator[slice]:
    """Yield the parts, with a bar that counts their rows if asked for."""
    with progress_bar(verbose, total=n, unit="row", desc="neighbours") as bar:
        for part in parts:
            yield part
            bar.update(part.stop - part.start)


def neighbours(**parameters: Any) -> Any:
    """Return scikit-learn's exact search; importing it takes longer than all of this package."""
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(**parameters)


def centred(rows: Any) -> Any:
    """Return rows shifted to mean 0 if they lie so far out that a search would lose digits.

    Searches in many dimensions expand ||x - y||^2, whose error grows with ||x||^2.
    """
    if not isinstance(rows, np.ndarray):
        return rows
    mean = rows.mean(axis=0, dtype=np.float64)
    spread = rows.var(axis=0, dtype=np.float64).sum()
    far = spread > 0 and mean @ mean > 1e4 * spread
    return rows - mean if far else rows


def search_threads(n: int) -> int:
    """Return how many threads may search n rows so that ties fall alike at any number of them.

    scikit-learn cuts the queries among threads only if each gets more than 1024; else it cuts
    the neighbours, and then a tie goes to whichever thread comes first.
    """
    if n < 2 * 1025:
        return 1
    pools = thread_pools().select(user_api="openmp").info()
    return max(1, min([n // 1025, *(int(pool["num_threads"]) for pool in pools)]))

"""From candidates to neighbours: the distances between the rows decide.

A search proposes rows that are probably the nearest to some queries. It need not put them in order,
and it may round. Distances in float64 decide here which of them are the nearest.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._util.progress import progress_bar
from .._util.threads import one_thread
from .distances import squared_distances

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Queries:
    """Rows whose neighbours are wanted."""

    X: Any
    own: Indices | None = None
    """Their numbers, if they are among the rows searched: no row is its own neighbour."""

    def take(self, part: Any) -> Queries:
        """Return some of them: a slice, or an array of places."""
        return Queries(self.X[part], None if self.own is None else self.own[part])


class Search(Protocol):
    """Proposes near rows."""

    block: int
    """Queries per call. Blocks never depend on the number of threads."""
    one_thread: bool
    """Whether a call keeps to one thread. Several blocks are then searched at a time."""

    def __call__(self, queries: Any, k: int) -> Indices:
        """Return k or more rows for every query, no row twice; -1 stands for none."""

    def order(self, queries: Queries) -> Indices | None:
        """Return the queries in the order in which they are best searched; None as they come."""
        return None


def nearest_of(
    search: Search, rows: Any, queries: Queries, k: int, n_jobs: int | None, verbose: bool = False
) -> tuple[Indices, NDArray[np.float64]]:
    """Return the k nearest of the rows that a search proposes, and their squared distances.

    The nearest is first, and rows at equal distances are in order of their numbers. Where fewer
    than k are proposed, -1 and an infinite distance fill the place.
    """
    from joblib import effective_n_jobs

    n = queries.X.shape[0]
    near, d2 = np.empty((n, k), dtype=np.int64), np.empty((n, k))
    order = search.order(queries)
    parts = blocks(n, search.block)
    chosen: list[Any] = parts if order is None else [order[part] for part in parts]
    threads = effective_n_jobs(n_jobs) if search.one_thread else 1
    pool = ThreadPoolExecutor(threads)
    with one_thread() if search.one_thread else nullcontext():
        try:
            # One thread needs no pool: where memory has a limit, starting another may hang.
            each = map if threads == 1 else pool.map
            best = each(lambda part: _best(search, rows, queries.take(part), k), chosen)
            for part, _, found in zip(chosen, _progress(parts, n, verbose), best, strict=True):
                near[part], d2[part] = found
        finally:
            pool.shutdown(cancel_futures=True)  # an interrupt does not wait for the queue
    return near, d2


def _best(
    search: Search, rows: Any, queries: Queries, k: int
) -> tuple[Indices, NDArray[np.float64]]:
    """Return the best k candidates of the queries, and their squared distances."""
    X, own = queries.X, queries.own
    found = search(X, k if own is None else k + 1)
    unfit = found < 0 if own is None else (found < 0) | (found == own[:, None])
    found = np.where(unfit, -1, found)
    u = np.repeat(np.arange(X.shape[0]), found.shape[1])
    d2 = squared_distances(X, u, np.maximum(found, 0).ravel(), rows).reshape(found.shape)
    d2[unfit] = np.inf
    order = np.lexsort((found, d2), axis=-1)[:, :k]
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(d2, order, axis=1)


def blocks(n: int, size: int) -> list[slice]:
    """Return slices that cut n rows into blocks; these never depend on the threads.

    Examples
    --------
    >>> blocks(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _progress(parts: list[slice], n: int, verbose: bool) -> Iterator[slice]:
    """Yield the parts, with a bar that counts their rows if asked for."""
    with progress_bar(verbose, total=n, unit="row", desc="neighbours") as bar:
        for part in parts:
            yield part
            bar.update(part.stop - part.start)

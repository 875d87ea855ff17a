"""The k nearest rows of every row: exactly, or nearly so in much less time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .._progress import progress_bar
from .._threads import thread_pools
from .distances import squared_distances

Method = Literal["auto", "exact", "approximate"]
"""How neighbours are searched for."""

Indices = NDArray[np.int64]

LARGE = 10**12
"""n^2 d from which "auto" is approximate. There the exact search takes two CPU minutes or more, and
the approximate one seconds. Below, the exact search costs little and misses nothing."""

VERY_LARGE = 10 * LARGE
"""n^2 d from which an exact search warns that an approximate one would be faster."""

TREE_DIMENSIONS = 6
"""Up to here scikit-learn's trees are fast enough at any n: 700,000 rows took them 20 CPU seconds
in 3 dimensions and 140 in 6, but 1,100 in 10, and in 15 they are no faster than brute force."""

_BLOCK = 2**15  # rows per call of the exact search; it cuts them into 256s itself


def nearest(
    rows: Any,
    k: int,
    n_jobs: int | None = None,
    method: Method = "auto",
    *,
    squared: bool = False,
    verbose: bool = False,
) -> tuple[Indices, NDArray[np.float64]]:
    """Return the k nearest other rows of every row, nearest first, and their distances.

    Distances are computed in float64 from the differences of the rows. Rows at equal distances
    are in order of their numbers. The result depends on neither the number of threads nor any
    random state.

    Parameters
    ----------
    rows : ndarray of float32 or float64, or canonical CSR matrix, of shape (n, d)
        The rows.
    k : int
        From 1 to n - 1.
    n_jobs : int, optional
        Threads, as in scikit-learn: None is 1, -1 is all cores.
    method : {"auto", "exact", "approximate"}, default="auto"
        "exact" is scikit-learn's search. "approximate" needs the extra ``graphkm[ann]`` and
        aims at 95 % of the neighbours or more, judged by a sample of rows. Sparse rows are
        searched exactly, and so are rows for which most cells would have to be read. "auto" is
        approximate for dense data beyond `LARGE` with more than `TREE_DIMENSIONS` columns, if
        the extra is installed.
    squared : bool, default=False
        Return squared distances.
    verbose : bool, default=False
        Show a progress bar.

    Returns
    -------
    indices : ndarray of int64 of shape (n, k)
    distances : ndarray of float64 of shape (n, k)

    Examples
    --------
    >>> indices, distances = nearest(np.array([[0.0], [1.0], [3.0]]), k=1)
    >>> indices.ravel(), distances.ravel()
    (array([1, 0, 1]), array([1., 1., 2.]))
    """
    n = rows.shape[0]
    if not 1 <= k < n:
        raise ValueError(f"k={k} neighbours of {n} rows; pass a number from 1 to {n - 1}")
    near = None
    if _is_approximate(rows, method):
        from .approximate import approximate

        near = approximate(rows, k, n_jobs, verbose)
    if near is None:
        near = exact(rows, np.arange(n, dtype=np.int64), k, n_jobs, verbose)
    d2 = squared_distances(rows, np.repeat(np.arange(n), k), near.ravel()).reshape(n, k)
    order = np.lexsort((near, d2), axis=-1)
    near, d2 = np.take_along_axis(near, order, axis=1), np.take_along_axis(d2, order, axis=1)
    return near, d2 if squared else np.sqrt(d2)


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
    """Drop each row's own number; if duplicates have crowded it out, drop one of them."""
    others = found != own[:, None]
    others[others.all(axis=1), 0] = False
    return found[others].reshape(len(own), -1)


def _is_approximate(rows: Any, method: Method) -> bool:
    """Return whether this method searches these rows approximately."""
    if method not in get_args(Method):
        raise ValueError(
            f"unknown search {method!r}; pass one of {', '.join(map(repr, get_args(Method)))}"
        )
    if method == "approximate":
        if not _installed():
            raise ImportError(
                "the approximate search needs faiss; pip install graphkm[ann], or pass 'exact'"
            )
        return isinstance(rows, np.ndarray)  # sparse rows have no approximate search
    return method == "auto" and choose_search(rows) == "approximate"


def choose_search(rows: Any) -> Literal["exact", "approximate"]:
    """Return what "auto" stands for, and warn if a package that is not installed would help.

    Examples
    --------
    >>> choose_search(np.eye(3))
    'exact'
    """
    n, d = rows.shape
    if not isinstance(rows, np.ndarray) or d <= TREE_DIMENSIONS or n * n * d < LARGE:
        return "exact"
    installed = _installed()
    if not installed and n * n * d >= VERY_LARGE:
        warnings.warn(
            f"the exact neighbours of {n:,} rows in {d} dimensions will take long; "
            "pip install graphkm[ann] for a fast approximate search",
            UserWarning,
            stacklevel=2,
        )
    return "approximate" if installed else "exact"


def _installed() -> bool:
    """Return whether faiss is there; looking for it takes a millisecond."""
    return find_spec("faiss") is not None


# ------------------------------------------------------------- shared tools


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
    """Return scikit-learn's exact search, imported here because the import is slow."""
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
    """Return how many threads may search n rows so that ties do not depend on their number.

    scikit-learn divides the queries among threads only if each gets more than 1024. Otherwise it
    divides the neighbours, and a tie goes to whichever thread comes first.
    """
    if n < 2 * 1025:
        return 1
    pools = thread_pools().select(user_api="openmp").info()
    return max(1, min([n // 1025, *(int(pool["num_threads"]) for pool in pools)]))

"""The exact search among dense rows: by scikit-learn, or in compiled code for a few queries."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.threads import one_blas_thread, thread_pools
from ..backends import RowCells
from .candidates import Indices, Search, blocks

Find = Callable[[NDArray[Any], int], Indices]


TREE = 15
"""Columns up to which scikit-learn itself takes a tree."""

_PART = 2**14  # rows that `FewQueries` reads at once
_FAR = 1e150  # no point is farther: squares of larger numbers overflow


class ExactSearch(Search):
    """The nearest rows by one of scikit-learn's trees, or by brute force in many dimensions.

    Parameters
    ----------
    rows : ndarray
        The rows.
    n_jobs : int, optional
        Threads, as in scikit-learn.

    Examples
    --------
    >>> ExactSearch(np.array([[0.0], [1.0], [3.0]]))(np.array([[2.5]]), 1)
    array([[2]])
    """

    block = 2**15
    """Queries per call; scikit-learn cuts them into 256s itself."""
    one_thread = False

    def __init__(self, rows: NDArray[Any], n_jobs: int | None = None) -> None:
        self._n_jobs, self._mean = n_jobs, mean_if_far(rows)
        points = self._shifted(rows)
        by_tree = rows.shape[1] <= TREE
        self._find = self._tree(points) if by_tree else self._brute_force(points)

    def __call__(self, queries: NDArray[Any], k: int) -> Indices:
        """Return the k nearest rows of every query, in no order."""
        return self._find(self._shifted(queries), k)

    def _tree(self, points: NDArray[Any]) -> Find:
        from joblib import effective_n_jobs
        from sklearn.neighbors import KDTree

        tree, threads = KDTree(points), effective_n_jobs(self._n_jobs)

        def find(queries: NDArray[Any], k: int) -> Indices:
            # Threads of NearestNeighbors would change the warning filters of the whole process.
            parts = [queries[part] for part in blocks(len(queries), -(-len(queries) // threads))]
            with ThreadPoolExecutor(threads) as pool:
                each = map if threads == 1 else pool.map
                found = each(lambda part: tree.query(part, k, return_distance=False), parts)
                return np.concatenate(list(found))

        return find

    def _brute_force(self, points: NDArray[Any]) -> Find:
        search = neighbours(algorithm="brute", n_jobs=self._n_jobs).fit(points)

        def find(queries: NDArray[Any], k: int) -> Indices:
            # scikit-learn limits BLAS here, too, but would undo a limit that others still need.
            pools, threads = thread_pools(), _threads_for(len(queries))
            with one_blas_thread(), pools.limit(limits=threads, user_api="openmp"):
                found: Indices = search.kneighbors(queries, k, return_distance=False)
            return found

        return find

    def _shifted(self, rows: NDArray[Any]) -> NDArray[Any]:
        return rows if self._mean is None else rows - self._mean


class FewQueries(Search):
    """The nearest rows of a few queries: all rows are read, in double precision.

    Parameters
    ----------
    rows : ndarray
        The rows.

    Examples
    --------
    >>> FewQueries(np.array([[0.0], [1.0], [3.0]]))(np.array([[2.5]]), 2)
    array([[2, 1]])
    """

    block = 1024
    one_thread = True

    def __init__(self, rows: NDArray[Any]) -> None:
        self._rows = rows
        self._mean, self._size = middle_and_size(rows)

    def __call__(self, queries: NDArray[Any], k: int) -> Indices:
        """Return the k nearest rows in each part of the rows."""
        points, found = self._points(queries), []
        for part in blocks(len(self._rows), _PART):
            near = RowCells.of_one(self._points(self._rows[part])).nearest(points, None, k)
            found.append(np.where(near < 0, -1, near + part.start))
        return np.hstack(found)

    def _points(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        return np.clip((rows - self._mean) / self._size, -_FAR, _FAR)


def middle_and_size(rows: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
    """Return the mean of rows, and the largest difference of an entry from it; 1 if there is none.

    Examples
    --------
    >>> middle_and_size(np.array([[1.0], [2.0], [6.0]]))
    (array([3.]), 3.0)
    """
    mean = rows.mean(axis=0, dtype=np.float64)
    above, below = rows.max(axis=0) - mean, mean - rows.min(axis=0)
    return mean, float(max(above.max(), below.max())) or 1.0


def neighbours(**parameters: Any) -> Any:
    """Return scikit-learn's exact search; importing it takes longer than all of this package."""
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(**parameters)


def mean_if_far(rows: Any) -> NDArray[np.float64] | None:
    """Return the mean of rows that are so far from 0 that a search would lose digits; else None.

    Searches in many dimensions expand ||x - y||^2, whose error grows with ||x||^2. Sparse rows are
    never shifted.

    Examples
    --------
    >>> mean_if_far(np.array([[1e6], [1e6 + 1]]))
    array([1000000.5])
    """
    if not isinstance(rows, np.ndarray):
        return None
    mean: NDArray[np.float64] = rows.mean(axis=0, dtype=np.float64)
    spread = rows.var(axis=0, dtype=np.float64).sum()
    return mean if spread > 0 and mean @ mean > 1e4 * spread else None


def _threads_for(n: int) -> int:
    """Return how many threads may search n rows without changing which row wins a tie.

    scikit-learn divides the queries among threads only if each gets more than 1024. Else it divides
    the neighbours, and then the thread that is first wins the tie.
    """
    if n < 2 * 1025:
        return 1
    pools = thread_pools().select(user_api="openmp").info()
    return max(1, min([n // 1025, *(int(pool["num_threads"]) for pool in pools)]))

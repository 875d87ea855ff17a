"""The k nearest rows of every row: exactly, or nearly so in much less time."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .approximate import approximate
from .distances import squared_distances
from .exact import Indices, exact

Method = Literal["auto", "exact", "approximate"]
"""How neighbours are searched for."""

LARGE = 10**12
"""n^2 d from which "auto" is approximate. There the exact search takes two CPU minutes or more, and
the approximate one seconds. Below, the exact search costs little and misses nothing."""

VERY_LARGE = 10 * LARGE
"""n^2 d from which an exact search warns that an approximate one would be faster."""

TREE_DIMENSIONS = 6
"""Up to here scikit-learn's trees are fast enough at any n: 700,000 rows took them 20 CPU seconds
in 3 dimensions and 140 in 6, but 1,100 in 10, and in 15 they are no faster than brute force."""


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
        near = approximate(rows, k, n_jobs, verbose)
    if near is None:
        near = exact(rows, np.arange(n, dtype=np.int64), k, n_jobs, verbose)
    d2 = squared_distances(rows, np.repeat(np.arange(n), k), near.ravel()).reshape(n, k)
    order = np.lexsort((near, d2), axis=-1)
    near, d2 = np.take_along_axis(near, order, axis=1), np.take_along_axis(d2, order, axis=1)
    return near, d2 if squared else np.sqrt(d2)


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

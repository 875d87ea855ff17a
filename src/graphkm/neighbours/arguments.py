"""Checks of rows and of numbers of neighbours."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

NEIGHBORS = 10
"""How many neighbours a row has, if there are enough rows."""


def check_rows(X: Any) -> Any:
    """Return X itself where possible: a float ndarray or a canonical CSR matrix."""
    if sp.issparse(X):
        rows = X.tocsr()
        if rows.dtype not in (np.float32, np.float64):
            rows = rows.astype(np.float64)
        if not rows.has_canonical_format:
            rows = rows.copy()  # the caller's matrix stays as it is
            rows.sum_duplicates()
        return rows
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(
            f"X has shape {rows.shape}; pass a 2-dimensional array (n_samples, n_features)"
        )
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)


def default_neighbors(n: int) -> int:
    """Return the number of neighbours that ``n_neighbors="auto"`` takes for n rows.

    It is 10, but no more than the root of n: among a dozen rows ten neighbours are nearly all
    of them, and a graph that joins everything with everything tells nothing.

    Examples
    --------
    >>> [default_neighbors(n) for n in (6, 30, 1000)]
    [2, 5, 10]
    """
    return min(NEIGHBORS, round(n**0.5))


def check_neighbors(n_neighbors: int | str, n: int) -> int:
    """Return n_neighbors as an int for n rows, if it is "auto" or a whole number of at least 1."""
    if isinstance(n_neighbors, str) and n_neighbors == "auto":
        return default_neighbors(n)
    if not isinstance(n_neighbors, numbers.Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} is not valid; pass a whole number >= 1")
    return int(n_neighbors)

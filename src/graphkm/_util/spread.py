"""How far rows lie apart, and which of them are far from all others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import issparse

_BLOCK = 1 << 20  # entries converted to float64 at once
_SAMPLE = 4096  # rows from which the middle is computed
_ONE_OF = 20  # at most one row of so many may be an outlier
_FAR = 64.0  # an outlier's squared distance from the middle is so many times any other row's


def without_outliers(X: Any) -> Any:
    """Return X without the few rows that are far from all others; X itself if there are none.

    They are at most one of twenty rows, and each is more than eight times as far from the middle as
    any other row. The middle is the median of every column, or 0 if X is sparse.

    Examples
    --------
    >>> X = np.append(np.arange(40.0), 1e9)[:, None]
    >>> float(without_outliers(X).max())
    39.0
    """
    n = X.shape[0]
    if n < _ONE_OF:
        return X
    if issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    else:
        middle = np.median(X[:: -(-n // _SAMPLE)], axis=0).astype(np.float64)
        step = max(1, _BLOCK // max(1, X.shape[1]))
        with np.errstate(over="ignore"):
            parts = (X[i : i + step] - middle for i in range(0, n, step))
            squares = np.concatenate([np.einsum("ij,ij->i", part, part) for part in parts])
    place = n - 1 - n // _ONE_OF
    limit = _FAR * np.partition(squares, place)[place]
    far = squares > limit if limit > 0 else np.zeros(n, bool)
    return X[~far] if far.any() else X


def variance_of(X: Any) -> float:
    """Return the variance of all entries, without a float64 copy of X.

    Examples
    --------
    >>> variance_of(np.array([[0.0, 4.0]]))
    4.0
    """
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    stored = X.data if issparse(X) else X
    size = math.prod(X.shape)
    mean = float(stored.sum(dtype=np.float64)) / size
    step = max(1, _BLOCK * len(stored) // max(1, stored.size))
    blocks = (stored[i : i + step].astype(np.float64) for i in range(0, len(stored), step))
    total = math.fsum(np.square(block - mean).sum() for block in blocks)
    variance = (total + (size - stored.size) * mean**2) / size
    # For a constant X only the rounding of its mean is left.
    return variance if variance > (1e-14 * mean) ** 2 else 0.0


def spread_of(X: Any) -> float:
    """Return the sum of the columns' variances, without a float64 copy of X. Outliers do not count.

    Examples
    --------
    >>> spread_of(np.array([[0.0, 9.0], [4.0, 9.0]]))
    4.0
    """
    X = without_outliers(X)
    n = X.shape[0]
    mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n
    if issparse(X):
        squares = float(np.square(X.data, dtype=np.float64).sum())
        total = squares - n * float(mean @ mean)
        return total / n if total > 1e-12 * squares else 0.0
    step = max(1, _BLOCK // max(1, X.shape[1]))
    parts = (np.square(X[i : i + step] - mean).sum() for i in range(0, n, step))
    variance = math.fsum(parts) / n
    # For a constant X only the rounding of its mean is left.
    return variance if variance > 1e-28 * float(mean @ mean) else 0.0

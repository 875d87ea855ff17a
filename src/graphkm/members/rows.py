"""Columns of all rows as features of members."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ..ridge.factors import safe_cholesky
from .features import Features

Rows = NDArray[np.float32]


def of_length_one(rows: Rows) -> Rows:
    """Return rows of length one; zeros stay."""
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(length > 0, length, np.float32(1))[:, None], np.float32)


def row_features(name: str, rows: Rows, labeled: NDArray[np.int64]) -> Features:
    """Return rows as features of members: no more of them than labelled rows."""
    own = rows[labeled].astype(np.float64)
    size = np.sqrt(max(np.einsum("ij,ij->", own, own) / len(own), 1e-300))
    if own.shape[1] <= len(own):
        return Features(name, own / size, lambda v: rows @ (v / size).astype(np.float32))
    phi = safe_cholesky(own @ own.T / size**2)

    def values(v: NDArray[np.float64]) -> NDArray[np.float64]:
        beta = solve_triangular(phi, v, lower=True, trans="T", check_finite=False)
        return np.asarray(rows @ (own.T @ beta / size**2).astype(np.float32), dtype=np.float64)

    return Features(name, phi, values)

"""Rows on the card: a table of floats whose width suits the tiles of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .modules import require_card, require_card_memory

_SMALL = 2**18  # numbers that are filled up on the processor

WIDTH = 8
"""Rows of floats are filled up with zeros to a multiple of this."""


def on_card(rows: Any, dtype: Any, width: int) -> Any:
    """Return rows, dense or CSR, as a table on the card that is this wide.

    Parameters
    ----------
    rows : ndarray or CSR of shape (n, d)
        The rows. CSR rows become dense here.
    dtype : dtype
        float32 or float64.
    width : int
        At least d. Zeros fill the rest.
    """
    cupy = require_card()
    n, d = rows.shape
    require_card_memory(
        2 * n * width * cupy.dtype(dtype).itemsize,
        f"a table of {n:,} rows and {d:,} columns",
        "Pass fewer rows, precision='single', or device='cpu'.",
    )
    if not issparse(rows) and width == d:
        return cupy.asarray(rows, dtype=dtype, order="C")
    if not issparse(rows) and n * width < _SMALL:
        filled = np.zeros((n, width), dtype)
        filled[:, :d] = rows
        return cupy.asarray(filled)
    table = cupy.zeros((n, width), dtype)
    if issparse(rows):
        indptr, indices, data = map(cupy.asarray, (rows.indptr, rows.indices, rows.data))
        row = cupy.searchsorted(indptr, cupy.arange(len(data)), side="right") - 1
        table[row, indices] = data.astype(dtype, copy=False)
    else:
        table[:, :d] = cupy.asarray(rows, dtype=dtype)
    return table


def padded(d: int) -> int:
    """Return the width of rows of d floats.

    Examples
    --------
    >>> padded(8), padded(9)
    (8, 16)
    """
    return -(-max(1, d) // WIDTH) * WIDTH

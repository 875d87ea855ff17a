"""A store for kernels only Python can evaluate: precomputed values and users' functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from ..kernels import Kernel
from .base import CentreStore

_TILE = 2**22  # kernel values held at once


class TileStore(CentreStore):
    """Centres whose kernel values are computed in tiles by calling the kernel.

    Parameters
    ----------
    kernel : Kernel
        Called with queries and centres.
    n_outputs : int
        Size of a coefficient.
    dtype : dtype
        Of the values returned; sums are in float64.
    """

    def __init__(self, kernel: Kernel, n_outputs: int, dtype: np.dtype[Any]) -> None:
        self._kernel = kernel
        self._dtype = dtype
        self._centres: Any = None
        self._coefficients = np.zeros((0, n_outputs))

    def __len__(self) -> int:
        return len(self._coefficients)

    def append(self, rows: Any) -> None:
        if self._centres is None:
            self._centres = rows
        elif issparse(rows):
            self._centres = vstack([self._centres, rows], format="csr")
        else:
            self._centres = np.concatenate([self._centres, rows])
        grown = np.zeros((rows.shape[0], self._coefficients.shape[1]))
        self._coefficients = np.concatenate([self._coefficients, grown])

    def set(self, index: NDArray[np.int64], coefficients: NDArray[np.float64]) -> None:
        self._coefficients[index] = coefficients

    def product(self, queries: Any) -> NDArray[np.float64]:
        out = np.zeros((queries.shape[0], self._coefficients.shape[1]))
        if len(self):
            rows = max(1, _TILE // len(self))
            for i in range(0, queries.shape[0], rows):
                tile = self._kernel(queries[i : i + rows], self._centres)
                out[i : i + rows] = tile @ self._coefficients
        return out

    def values(self, queries: Any) -> NDArray[Any]:
        return in_precision(self._kernel(queries, self._centres), self._dtype)


def in_precision(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return a copy of kernel values in the working precision, where they must be finite.

    Examples
    --------
    >>> in_precision(np.array([[1e39]]), np.float32)
    Traceback (most recent call last):
        ...
    ValueError: the kernel value 1e+39 is not finite in float32; scale the kernel, or pass \
precision='double'.
    """
    with np.errstate(over="ignore"):
        # A copy: the kernel's own result may be in any order, or kept by the user's function.
        taken = np.array(values, dtype=dtype, order="C")
    bad = ~np.isfinite(taken)
    if bad.any():
        raise ValueError(
            f"the kernel value {np.asarray(values)[bad][0]} is not finite in "
            f"{np.dtype(dtype).name}; scale the kernel, or pass precision='double'."
        )
    return taken

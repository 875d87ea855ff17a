"""Kernels of all rows that are known by their columns at labelled rows, such as that of a field."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ..ridge.factors import safe_cholesky
from .system import FieldSystem


class ColumnsKernel:
    """A kernel of all rows that is known by its columns at some of them.

    The others follow from these (Nystroem): phi phi' is the kernel at the rows of the columns.

    Parameters
    ----------
    columns : ndarray of float32 of shape (n, m)
        The kernel between all rows and some rows.
    at : ndarray of int of shape (m,)
        The rows of the columns.
    """

    def __init__(self, columns: NDArray[np.float32], at: NDArray[np.int64]) -> None:
        self._columns = columns
        own = columns[at].astype(np.float64)
        self.phi = safe_cholesky((own + own.T) / 2)

    @property
    def scale(self) -> float:
        """The mean of the kernel at the rows of the columns."""
        return float(np.einsum("ij,ij->", self.phi, self.phi)) / len(self.phi)

    def at(self, rows: Any) -> NDArray[np.float64]:
        """Return phi at some rows."""
        values = self._columns[rows].astype(np.float64)
        return solve_triangular(self.phi, values.T, lower=True, check_finite=False).T

    def values(self, v: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the function phi v at all rows, for every column of v."""
        beta = solve_triangular(self.phi, v, lower=True, trans="T", check_finite=False)
        return np.asarray(self._columns @ beta.astype(np.float32))


class FieldKernel(ColumnsKernel):
    """The columns of T^(-1) at the labelled rows, T = 1 + strength L^q.

    A field with the prior precision T is a kernel machine on the labelled rows with this kernel.
    It offers what `GraphKernel` offers: phi at the labelled rows and at others, with
    phi phi' = T^(-1).

    Parameters
    ----------
    system : FieldSystem
        Solves linear systems with eps + L^q. One serves all strengths.
    strength : float
        The factor of L^q.
    labeled : ndarray of int of shape (l,)
        The labelled rows.
    scale : ndarray of shape (n,) or None, default=None
        D^(-1/2) of the nodes: the kernel is D^(-1/2) T^(-1) D^(-1/2) then.
    """

    def __init__(
        self,
        system: FieldSystem,
        strength: float,
        labeled: NDArray[np.int64],
        scale: NDArray[np.float64] | None = None,
    ) -> None:
        columns = system.inverse(labeled, 1.0 / strength)
        columns /= np.float32(strength)  # T = strength (1 / strength + L^q)
        if scale is not None:
            columns *= scale[:, None].astype(np.float32)
            columns *= scale[labeled].astype(np.float32)
        super().__init__(columns, labeled)

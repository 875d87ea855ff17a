"""Graphs that are given: their steps, one by one and together."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .nodes import Nodes


class GivenGraph:
    """A graph of all rows whose edges were given.

    An edge counts in both directions, with the larger of its weights. Edges from a row to itself
    are left out.

    Parameters
    ----------
    name : str
        What it is called.
    weights : CSR array of float32 of shape (n, n)
        Weights in the direction that they were given in.

    Examples
    --------
    >>> graph = GivenGraph("pair", sp.csr_array(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 9]])))
    >>> graph.similarity.toarray()
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]], dtype=float32)
    """

    def __init__(self, name: str, weights: Any) -> None:
        self.name = name
        own = weights.astype(np.float32).tocsr()
        own.setdiag(0)
        own.eliminate_zeros()
        self._one_way = own

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self._one_way.shape[0])

    @property
    def n_edges(self) -> int:
        """How many pairs of rows are joined."""
        return self.joined.nnz // 2

    @cached_property
    def joined(self) -> Any:
        """The weights in both directions, without a diagonal."""
        return self._one_way.maximum(self._one_way.T).tocsr()

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """The sum of the weights of every row's edges."""
        return np.asarray(self.joined.sum(axis=1, dtype=np.float64))

    @cached_property
    def usual(self) -> np.float32:
        """The mean weight of an edge."""
        return np.float32(self.joined.data.mean(dtype=np.float64) if self.joined.nnz else 1.0)

    @cached_property
    def similarity(self) -> Any:
        """D^(-1/2) (W + w I) D^(-1/2), where w is the mean weight of an edge.

        A row without edges keeps what it has.
        """
        both = self.joined
        looped = (both + self.usual * sp.eye_array(self.n_rows, dtype=np.float32)).tocsr()
        scale = 1.0 / np.sqrt(self.degrees + self.usual)
        return _scaled(looped, scale, scale)

    @cached_property
    def means(self) -> Any:
        """D^(-1) W: the mean of a row's neighbours; zeros for a row without any."""
        degrees = self.degrees
        scale = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
        return _scaled(self.joined, scale, np.ones(len(scale)))


class KnownRows(Nodes):
    """Nodes that are rows of a given graph. New rows reach them by edges, not by distances."""

    def __init__(self, n: int) -> None:
        self.points = np.empty((n, 0))

    def weights(self, X: Any) -> Any:
        """Raise: only edges lead to them."""
        raise TypeError("New rows reach the rows of a given graph by edges.")


def _scaled(matrix: Any, left: NDArray[np.float64], right: NDArray[np.float64]) -> Any:
    """Return diag(left) M diag(right)."""
    counts = np.diff(matrix.indptr)
    data = matrix.data * np.repeat(left, counts) * right[matrix.indices]
    return sp.csr_array((data.astype(np.float32), matrix.indices, matrix.indptr), matrix.shape)

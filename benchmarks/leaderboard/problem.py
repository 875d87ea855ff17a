"""What a method gets: rows, labels of some of them, and what else a set has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .neighbours import Search


@dataclass(frozen=True)
class Problem:
    """All rows of a cell and the labels of one draw; -1 (several labels per row: NaN) is hidden.

    Of a set of texts, X has the vectors of the default encoder; of a graph, the features.
    """

    X: Any
    y: np.ndarray
    search: Search
    seed: int
    edges: np.ndarray | None = None  # pairs of row numbers
    texts: Sequence[str] | None = None
    names: np.ndarray | None = None  # of classes, by their codes

    @property
    def adjacency(self) -> Any:
        """Return the given graph as a symmetric matrix of ones."""
        n = self.X.shape[0]
        ones = np.ones(len(self.edges))
        matrix = sp.csr_matrix((ones, tuple(np.asarray(self.edges).T)), shape=(n, n))
        matrix = matrix.maximum(matrix.T).tolil()
        matrix.setdiag(0)
        return matrix.tocsr()

"""What Laplacian SVM and Laplacian regularised least squares minimise.

K is the kernel between all n rows, L the graph's Laplacian, and f = K a + b at the rows. They
minimise

    sum_i s_i loss(y_i, f_i) + gamma_A a' K a + gamma_I f' L^q f

over a and, with an intercept, b. The losses are those of the l labelled rows. Only the graph term
penalises b. This is twice (3) of Melacci and Belkin (2011), with no term divided by a number of
rows. Belkin, Niyogi and Sindhwani (2006) divide the losses by l and f' L f by n^2: their gamma_A
and gamma_I are 1 / l and n^2 / l times these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..expansion import KernelExpansion
from ..losses import Loss

Matrix = NDArray[np.float64]


class KernelMatrix:
    """Products of K with matrices: K is stored, or its rows are computed in blocks each time.

    Parameters
    ----------
    expansion : KernelExpansion
        Over the rows, without centres, and with one output per column of the products.
    X : ndarray or CSR of shape (n, n_features)
        The rows.
    stored : bool
        Whether K is kept.

    Examples
    --------
    >>> from graphkm.kernels import Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> K = KernelMatrix(KernelExpansion(Linear(), X, dtype=np.float64), X, stored=False)
    >>> K @ np.array([[1.0], [1.0]])
    array([[3.],
           [6.]])
    """

    def __init__(self, expansion: KernelExpansion, X: Any, *, stored: bool) -> None:
        self._expansion = expansion
        self._X = X
        self._every = np.arange(X.shape[0])
        self._values = expansion.between(self._every, self._every) if stored else None

    def __matmul__(self, V: Matrix) -> Matrix:
        """Return K V."""
        if self._values is not None:
            return np.asarray(self._values @ V.astype(self._values.dtype), dtype=np.float64)
        self._expansion.set(self._every, np.ascontiguousarray(V))
        return self._expansion.scores(self._X)

    def between(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> Matrix:
        """Return the kernel between two lists of rows."""
        if self._values is not None:
            return np.asarray(self._values[np.ix_(rows, others)], dtype=np.float64)
        return np.asarray(self._expansion.between(rows, others), dtype=np.float64)

    def diagonal(self) -> NDArray[np.float64]:
        """Return k(x, x) of every row."""
        return self._expansion.diagonal(self._every)

    @property
    def values(self) -> Matrix:
        """K itself."""
        if self._values is None:
            return np.asarray(self._expansion.between(self._every, self._every), dtype=np.float64)
        return np.asarray(self._values, dtype=np.float64)


@dataclass(frozen=True)
class LaplacianObjective:
    """The objective of one problem, or of several that share rows and graph.

    Parameters
    ----------
    kernel : KernelMatrix
        K.
    laplacian : CSR array of shape (n, n) or None
        L; None for no graph.
    degree : int
        q.
    norm_weight, graph_weight : float
        gamma_A and gamma_I.
    labeled : ndarray of int of shape (l,)
        The labelled rows.
    targets : ndarray of shape (l, n_outputs)
        Their targets.
    weights : ndarray of shape (l,)
        Their s.
    loss : Loss
        Of the labelled rows.
    fit_intercept : bool
        Whether there is a b.
    n_rows : int
        n.
    """

    kernel: KernelMatrix
    laplacian: Any
    degree: int
    norm_weight: float
    graph_weight: float
    labeled: NDArray[np.int64]
    targets: Matrix
    weights: NDArray[np.float64]
    loss: Loss
    fit_intercept: bool
    n_rows: int

    @property
    def n_outputs(self) -> int:
        """Number of problems."""
        return self.targets.shape[1]

    @property
    def has_graph(self) -> bool:
        """Whether there is a graph term."""
        return self.laplacian is not None and self.graph_weight > 0

    def smooth(self, F: Matrix) -> Matrix:
        """Return gamma_I L^q F."""
        if not self.has_graph:
            return np.zeros_like(F)
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(self.degree):
                F = self.laplacian @ F
            F = self.graph_weight * F
            finite = np.isfinite(F.sum())
        if not finite:
            raise OverflowError(
                f"gamma_I={self.graph_weight:.3g} is so large that the graph term overflows; pass "
                "a smaller one."
            )
        return F

    @cached_property
    def constant_pull(self) -> NDArray[np.float64]:
        """gamma_I L^q 1: 0 up to rounding, unless L is normalised."""
        return self.smooth(np.ones((self.n_rows, 1)))[:, 0]

    def value(self, a: Matrix, Ka: Matrix, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the objective at a and b, given K a, one number per output."""
        f = Ka + b
        losses = self.weights @ self.loss.value(self.targets, f[self.labeled])
        norm = np.einsum("ij,ij->j", a, Ka)
        rough = np.einsum("ij,ij->j", f, self.smooth(f))
        return np.asarray(losses + self.norm_weight * norm + rough)


@dataclass(frozen=True)
class LaplacianSolution:
    """Coefficients of all rows, constants, and how they were found, one column per output."""

    coefficients: Matrix
    intercept: NDArray[np.float64]
    n_iter: int
    objective: NDArray[np.float64]

"""J(w): losses, kernel, graph and data put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .expansion import KernelExpansion
from .graphs import Graph
from .kernels import Kernel
from .losses import Loss
from .smoothness import Smoothness

_EDGES = 2**18  # edges looked at together


@dataclass(frozen=True)
class Objective:
    """One problem, or several that share data, kernel and graph.

    For every output r, with l labelled points of weight s_i,

        J_r(w) = 1/2 ||w||^2 + C_r sum_i s_i loss(y_ir, f(x_i))
                 + C_graph_r (l / |E|) sum_(u,v) mu_uv |f(x_u) - f(x_v)|^p .

    Outputs are the classes of one-vs-rest, or the points of a grid of C and C_graph.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, n_features)
        All points.
    labeled : ndarray of int of shape (l,)
        The rows of X with a label.
    targets : ndarray of shape (l, n_outputs)
        Their targets, -1 or +1 in classification.
    weights : ndarray of shape (l,)
        Their weights s.
    kernel : Kernel
        With its gamma filled in.
    offset : float
        Added to the kernel: 1 for an intercept, 0 for none.
    loss : Loss
        Of the labelled points.
    smoothness : Smoothness
        |t|^p.
    C, C_graph : ndarray of shape (n_outputs,)
        In the estimators' units; the paper's are l times these.
    graph : Graph or None
        None, or a graph without edges, leaves the last term out.
    """

    X: Any
    labeled: NDArray[np.int64]
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]
    kernel: Kernel
    offset: float
    loss: Loss
    smoothness: Smoothness
    C: NDArray[np.float64]
    C_graph: NDArray[np.float64]
    graph: Graph | None = None

    @property
    def n_labeled(self) -> int:
        """Number of labelled points, l."""
        return len(self.labeled)

    @property
    def n_outputs(self) -> int:
        """Number of problems."""
        return self.targets.shape[1]

    @property
    def has_edges(self) -> bool:
        """Whether there is a graph term at all."""
        return self.graph is not None and self.graph.n_edges > 0 and bool(self.C_graph.any())

    def expansion(self, dtype: Any = np.float64, n_threads: int = 1) -> KernelExpansion:
        """Return an f over the rows of X, zero everywhere so far."""
        return KernelExpansion(
            self.kernel,
            self.X,
            self.n_outputs,
            offset=self.offset,
            dtype=dtype,
            n_threads=n_threads,
        )

    def value(self, f: KernelExpansion) -> NDArray[np.float64]:
        """Return J of an f over the rows of X, one number per output."""
        scores = f.scores(self.X)
        norm = np.einsum("jr,jr->r", f.coefficients, scores[f.rows])
        losses = self.loss.value(self.targets, scores[self.labeled])
        J = 0.5 * norm + self.C * (self.weights @ losses)
        if self.has_edges:
            J += self.C_graph * self.n_labeled * self._edge_mean(scores)
        return np.asarray(J)

    def value_at_zero(self) -> NDArray[np.float64]:
        """Return J(0), one number per output."""
        at_zero = self.loss.value(self.targets, np.zeros_like(self.targets))
        return np.asarray(self.C * (self.weights @ at_zero))

    def _edge_mean(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        assert self.graph is not None
        total = np.zeros(self.n_outputs)
        for edges in self.graph.edge_blocks(_EDGES):
            total += edges.weight @ self.smoothness.value(scores[edges.u] - scores[edges.v])
        return total / self.graph.n_edges

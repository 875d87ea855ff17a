"""J(w): losses, kernel, graph and data put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._util.parts import Sizes
from .expansion import KernelExpansion
from .graphs import Graph
from .graphs.laplacian import laplacian_matrix, power_form, vertex_scales
from .kernels import Kernel
from .losses import Loss
from .smoothness import Smoothness
from .theory import Guarantee

_EDGES = 2**18  # edges looked at together


@dataclass(frozen=True)
class Objective:
    r"""One problem, or several that share data, kernel and graph.

    For every output r, with l labelled points of weight s_i, it is

    .. math::

        J_r(w) = \frac{1}{2} \|w\|^2 + C_r \sum_i s_i \, \mathrm{loss}(y_{ir}, f(x_i))
        + C_{\mathrm{graph},r} \frac{l}{|E|} \sum_{(u,v)} \mu_{uv} \left|f(x_u) - f(x_v)\right|^p .

    The normalised form divides f(x_u) by the square root of the degree of u before taking
    differences, and the sum by the number of vertices instead of |E|. For p = 2 the sum is
    f' L f with L the graph's Laplacian. A degree q makes it f' L^q f.

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
    normalized : bool
        Whether the Laplacian is the normalised one.
    degree : int
        How often the Laplacian is iterated; above 1 only for p = 2.
    relative : bool
        Whether C is divided by k, the mean value at the labelled points of the kernel that
        contains the graph. Then C = 1 is a soft margin, and C = 100 is nearly a hard one, however
        strong the graph is. For exact solvers and p = 2 only.
    guarantee : Guarantee or None
        What the convergence theorem says, where it applies.
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
    normalized: bool = False
    degree: int = 1
    relative: bool = False
    guarantee: Guarantee | None = None

    @property
    def sizes(self) -> Sizes:
        """What a solver may look at to fill in its "auto" values."""
        classes = self.loss.task == "classification"
        return Sizes(self.X.shape[0], self.n_labeled, classes)

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

    @property
    def graph_factor(self) -> NDArray[np.float64]:
        """What multiplies the sum over edges: C_graph l / |E|, per output."""
        assert self.graph is not None
        parts = self.graph.n_vertices if self.normalized else self.graph.n_edges
        return self.C_graph * (self.n_labeled / parts)

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
            J += self.graph_factor * self._roughness(scores)
        return np.asarray(J)

    def value_at_zero(self) -> NDArray[np.float64]:
        """Return J(0), one number per output."""
        at_zero = self.loss.value(self.targets, np.zeros_like(self.targets))
        return np.asarray(self.C * (self.weights @ at_zero))

    def _roughness(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over edges, one number per output."""
        assert self.graph is not None
        if self.degree > 1:
            matrix = laplacian_matrix(self.graph, normalized=self.normalized)
            return power_form(matrix, self.degree, scores)
        scaled = scores * vertex_scales(self.graph, normalized=self.normalized)[:, None]
        total = np.zeros(self.n_outputs)
        for edges in self.graph.edge_blocks(_EDGES):
            total += edges.weight @ self.smoothness.value(scaled[edges.u] - scaled[edges.v])
        return total

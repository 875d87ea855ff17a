"""A field fitted to the labels alone, with any loss, by Newton's method.

The span of m kernels is too small to follow a graph of many more rows. Here every row has a score
g_u of its own, which depends on the graph and the labels only. It minimises

    1/2 ||g||^2 + C sum_i s_i loss(y_i, g_i) + C_graph (l / n) g' L^q g .

That is J for the kernel with k(x, x) = 1 and k(x, z) = 0 for different rows. With
T = 1 + 2 C_graph (l / n) L^q it is a kernel machine on the labelled rows with the kernel T^(-1),
which takes one sparse linear system per labelled row (`field_kernel`). g is a field: a new row is
scored by its nearest training rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._util.parts import Combination, Sizes
from ..fields.kernel import FieldKernel
from ..fields.system import Field, FieldSystem, Strength
from ..graphs import ListedGraph, Nodes, RowNodes
from ..graphs.laplacian import similarity_matrix
from ..graphs.neighbors import POWERS
from ..neighbours.arguments import default_neighbors
from ..neighbours.index import NeighbourIndex, Neighbours
from ..objective import Objective
from .base import Progress, Resources, Solution, State
from .damped_newton import DampedNewton
from .newton import Newton, NewtonMethod, warn_of_distance
from .refits import Folds, Matrix, refit_scores
from .terms import LabelTerms

_TOLERANCE = 1e-4  # of the linear systems' residuals


def row_system(graph: ListedGraph, degree: int, n_threads: int) -> FieldSystem:
    """Return the linear systems of the fields over a graph whose vertices are the rows."""
    similarity = similarity_matrix(graph)
    return FieldSystem(similarity, degree=degree, tol=_TOLERANCE, n_threads=n_threads)


@dataclass(frozen=True)
class RowNewton(NewtonMethod):
    """Fit a field to the labels: every row has a score of its own, smooth over the graph.

    It follows a graph of any number of rows. The rows' scores are found by Newton's method, with
    a certified gap, and depend on labels and graph only, not on the kernel. A new row is scored by
    its nearest training rows. `RowNewton` needs p = 2, a normalised Laplacian and a graph whose
    edges are listed. Without edges it does what `Newton` does.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when the certified gap is at most tol * J.
    max_iter : int, default=500
        Newton steps per output at most.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import GKMClassifier
    >>> X, truth = make_moons(300, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(300) < 10, truth, -1)[:200]
    >>> model = GKMClassifier(solver=RowNewton()).fit(X[:200], y)
    >>> print(f"{np.mean(model.transduction_ == truth[:200]):.2f}")
    0.99
    >>> print(f"{model.score(X[200:], truth[200:]):.2f}")
    1.00
    """

    tol: float = 1e-6
    max_iter: int = 500

    def matrix_shape(self, sizes: Sizes) -> tuple[int, int]:
        """Return the number of labels twice: the kernel between them is factorised."""
        return sizes.n_labeled, sizes.n_labeled

    def accepts(self, together: Combination) -> None:
        """Raise ValueError for another p, no list of edges, no rows, D - W, or a stream."""
        super().accepts(together)
        p, graph = together.smoothness.p, together.graph
        if p != 2 or (graph is not None and not graph.listed):
            raise ValueError(
                "solver=RowNewton() needs a smoothness with p=2 and a graph that lists its edges "
                f"(KNN, Epsilon or Affinity), and p={p}, graph={graph!r}; pass solver=Newton()."
            )
        if together.C_graph == 0:  # then the plan takes Newton
            return
        if not together.smoothness.normalized:
            raise ValueError(
                "solver=RowNewton() needs a normalised Laplacian, and smoothness="
                f"{together.smoothness!r}; pass normalized=True, or solver=Newton()."
            )
        if not together.kernel.has_rows:
            raise ValueError(
                "solver=RowNewton() scores new rows by their nearest training rows, and "
                "kernel='precomputed' has no rows; pass solver=Newton()."
            )

    def start(self, objective: Objective, resources: Resources) -> State:
        """Return the state before the first Newton step: linear systems solved."""
        if not objective.has_edges:
            newton = Newton(tol=self.tol, max_iter=self.max_iter)
            return newton.planned(objective.sizes).start(objective, resources)
        return RowState(self, objective, resources)


class RowState:
    """One output after another."""

    def __init__(self, solver: RowNewton, objective: Objective, resources: Resources) -> None:
        graph = objective.graph
        assert isinstance(graph, ListedGraph)
        if np.ptp(objective.C_graph):
            raise ValueError(
                "solver=RowNewton() solves its linear systems once for all outputs, which need "
                f"one C_graph, and theirs are {objective.C_graph.tolist()}; solve them one by one."
            )
        self._solver, self._objective, self._resources = solver, objective, resources
        self._graph = graph
        self._strength = 2.0 * float(objective.graph_factor[0])
        system = row_system(graph, objective.degree, resources.n_threads)
        self._kernel = FieldKernel(system, self._strength, objective.labeled)
        self._C = objective.C / (self._kernel.scale if objective.relative else 1.0)
        self._iterations = [self._iteration(r) for r in range(objective.n_outputs)]

    def _iteration(self, r: int) -> DampedNewton:
        phi, objective = self._kernel.phi, self._objective
        terms = LabelTerms.of(objective, r, phi, float(self._C[r]))
        scale = float(np.abs(objective.targets).mean()) or 1.0
        return DampedNewton(terms, len(phi), scale, self._solver.tol)

    def _open(self) -> list[DampedNewton]:
        most = self._solver.max_iter
        return [each for each in self._iterations if not each.done and each.n_iter < most]

    @property
    def done(self) -> bool:
        """Whether every output is solved."""
        return not self._open()

    @property
    def progress(self) -> Progress:
        """Newton steps done and at most, labelled rows."""
        most = self._solver.max_iter * len(self._iterations)
        done = sum(each.n_iter for each in self._iterations)
        return Progress(done, most, self._objective.n_labeled)

    def advance(self) -> None:
        """Take one Newton step on the first output that is not solved."""
        iteration = self._open()[0]
        iteration.step()
        if iteration.done or iteration.n_iter >= self._solver.max_iter:
            warn_of_distance(iteration)

    def solution(self) -> Solution:
        """Return the field. There are no kernels in it."""
        values = self._kernel.values(np.column_stack([each.v for each in self._iterations]))
        J = np.array([each.value for each in self._iterations])
        eps = 1.0 / self._strength  # fields are fitted with eps + L^q: J is divided by strength
        strength = Strength(C=float(self._C.max()) * eps, eps=eps)
        return Solution(
            rows=np.empty(0, np.int64),
            coefficients=np.empty((0, len(J))),
            n_iter=max(each.n_iter for each in self._iterations),
            objective=J,
            gap=np.array([each.gap for each in self._iterations]),
            C=self._C,
            field=Field(self._nodes(), values, strength, eps * float(J.sum())),
            refits=self._refits,
        )

    def _refits(self, folds: Folds) -> Matrix:
        objective = self._objective
        costs = float(self._C.max()) * objective.weights
        return refit_scores(self._kernel.phi, objective.targets, costs, objective.loss, folds)

    def _nodes(self) -> Nodes:
        """Return the way from new rows to the training rows."""
        if self._graph.nodes is not None:
            return self._graph.nodes
        X = self._objective.X
        index = NeighbourIndex(X, n_jobs=self._resources.n_threads)
        k = min(default_neighbors(X.shape[0]), X.shape[0] - 1)
        return RowNodes.of(Neighbours.of(index, k), sharpness=POWERS["local"])

"""The objective and the solver of the paper, for all values of C in one pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from graphkm.expansion import KernelExpansion
from graphkm.graphs import Bipartite, Full, Graph
from graphkm.kernels import SquaredExponential
from graphkm.losses import resolve_loss
from graphkm.objective import Objective
from graphkm.smoothness import Smoothness
from graphkm.solvers import SGD, Resources, solve
from graphkm.theory import Guarantee, largest_C_graph

_GUARANTEED = 0.99  # of the limit, as in the estimator's C_graph="guaranteed"


@dataclass(frozen=True)
class PaperGKM:
    """The paper's machine, with explicit steps.

    C' is C for p = 1. For p = 2 and 3 it is the largest value that the convergence theorem allows.
    """

    loss: str = "hinge"
    p: int = 1  # exponent of the smoothness
    with_graph: bool = True

    def constants(self, C: float, n_labeled: int, as_printed: bool) -> tuple[float, float]:
        """Return the estimator's C and C_graph for a value of the grid.

        The estimator multiplies C by the sum of the losses, as the released code does. The printed
        form uses the mean, so its C is divided by the number of labels.
        """
        C = C / n_labeled if as_printed else C
        if not self.with_graph:
            return C, 0.0
        A = resolve_loss(self.loss, "classification").lipschitz
        A *= np.sqrt(1.0 + as_printed)  # the norm of the features, with the intercept's
        limit = largest_C_graph(n_labeled * C, self.p, 1.0, float(A)) / n_labeled
        return C, C if self.p < 2 else _GUARANTEED * limit

    def objective(
        self, gamma: float, costs: list[float], X: Any, y: NDArray[np.int64], as_printed: bool
    ) -> tuple[NDArray[np.int64], Objective]:
        """Return the classes, and J with one output for every C and class."""
        labeled = y >= 0
        classes, codes = np.unique(y[labeled], return_inverse=True)
        first = 1 if len(classes) == 2 else 0
        targets = np.where(codes[:, None] == np.arange(first, len(classes)), 1.0, -1.0)
        pairs = np.array([self.constants(C, len(codes), as_printed) for C in costs])
        C, C_graph = np.repeat(pairs, targets.shape[1], axis=0).T
        graph: Graph | None = None
        if C_graph.any() and not labeled.all():
            graph = (Full if as_printed else Bipartite)(weights=gamma).build(X, labeled)
        return classes, Objective(
            X=X,
            labeled=np.flatnonzero(labeled),
            targets=np.tile(targets, len(costs)),
            weights=np.ones(len(codes)),
            kernel=SquaredExponential(gamma=gamma),
            offset=float(as_printed),
            loss=resolve_loss(self.loss, "classification"),
            smoothness=Smoothness(float(self.p)),
            C=C,
            C_graph=C_graph if graph is not None else np.zeros_like(C_graph),
            graph=graph,
        )

    def guarantee(self, objective: Objective, output: int) -> Guarantee:
        """Return what the theorem guarantees for one output."""
        A = objective.loss.lipschitz * np.sqrt(1.0 + objective.offset)
        C, C_graph = float(objective.C[output]), float(objective.C_graph[output])
        return Guarantee.for_estimator(C, C_graph, objective.n_labeled, self.p, 1.0, float(A))

    def solve(
        self, objective: Objective, *, steps: int, seed: int, dtype: Any = np.float32
    ) -> KernelExpansion:
        """Return the average of the steps; the draws are those of the estimator with this seed."""
        entropy = check_random_state(seed).randint(2**31 - 1, size=4).tolist()
        resources = Resources(np.random.SeedSequence(entropy), dtype)
        guarantee = self.guarantee(objective, int(np.argmax(objective.C)))
        solver = SGD(step="explicit", max_iter=steps)
        solution = solve(solver, replace(objective, guarantee=guarantee), resources)
        f = objective.expansion(dtype)
        f.set(solution.rows, solution.coefficients)
        return f

"""GKM as in the paper, its whole grid of C learnt in one pass per gamma."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..gkm import GKMClassifier
from ..graphs import Graph, build_graph
from ..kernels import SquaredExponential
from ..losses import resolve_loss
from ..machines.classes import winning_class as decide
from ..objective import Objective
from ..smoothness import Smoothness
from ..solvers import SGD, Resources, Solution, solve
from ..theory import Guarantee, largest_C_graph
from .methods import Context, Method, Parameters, Stages, grid
from .protocol import Protocol

_GUARANTEED = 0.99  # of the limit, as the estimator takes for "guaranteed"


@dataclass(frozen=True)
class PaperGKM(Method):
    """The stochastic solver with the paper's explicit step, bandwidths and number of steps.

    C' is C for p = 1, and for p = 2 and 3 the largest value that the convergence theorem allows.
    The printed form has an intercept, by a kernel of K + 1; the released code has none.

    Parameters
    ----------
    loss : {"hinge", "logistic"}
        Of the labelled rows.
    p : int
        Exponent of the smoothness.
    with_graph : bool
        False leaves the graph term out.
    """

    loss: str = "hinge"
    p: int = 1
    with_graph: bool = True

    def stages(self, protocol: Protocol) -> Stages:
        """Return the paper's grid."""
        return [grid(gamma=protocol.widths, C=protocol.costs)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return GKMClassifier."""
        C, C_graph = self.constants(parameters["C"], n_labeled, context.protocol)
        return GKMClassifier(
            C=C,
            C_graph=C_graph,
            loss=self.loss,
            p=self.p,
            gamma=parameters["gamma"],
            graph="full" if context.protocol.as_printed else "bipartite",
            graph_gamma=None,
            solver="sgd",
            step="explicit",
            max_iter=context.steps(n),
            fit_intercept=context.protocol.as_printed,
            random_state=context.seed,
            n_jobs=1,
        )

    def constants(self, C: float, n_labeled: int, protocol: Protocol) -> tuple[float, float]:
        """Return the estimator's C and C_graph for a value of the grid.

        The estimator multiplies the sum of the losses, as the released code does; the printed form
        averages, so that its C is divided by the number of labels here.
        """
        C = C / n_labeled if protocol.as_printed else C
        if not self.with_graph:
            return C, 0.0
        A = resolve_loss(self.loss, "classification").lipschitz
        A *= np.sqrt(1.0 + protocol.as_printed)  # features with and without an intercept's
        limit = largest_C_graph(n_labeled * C, self.p, 1.0, float(A)) / n_labeled
        return C, C if self.p < 2 else _GUARANTEED * limit

    def accuracies(
        self, candidates: list[Parameters], train: tuple[Any, Any], test: tuple[Any, Any],
        context: Context,
    ) -> list[float]:  # fmt: skip
        """Return every candidate's accuracy; those of one gamma share all kernel values."""
        answer: dict[tuple[float, float], float] = {}
        for gamma in dict.fromkeys(each["gamma"] for each in candidates):
            costs = [each["C"] for each in candidates if each["gamma"] == gamma]
            found = self._one_gamma(gamma, costs, train, test, context)
            answer.update(zip(((gamma, C) for C in costs), found, strict=True))
        return [answer[each["gamma"], each["C"]] for each in candidates]

    def _one_gamma(
        self, gamma: float, costs: list[float], train: tuple[Any, Any], test: tuple[Any, Any],
        context: Context,
    ) -> list[float]:  # fmt: skip
        X, y = train
        classes, objective = self.objective(gamma, costs, X, y, context.protocol)
        solution = self.solve(objective, context)
        f = objective.expansion(np.float32)
        f.set(solution.rows, solution.coefficients)
        scores = np.split(f.scores(test[0]), len(costs), axis=1)
        return [float(np.mean(classes[decide(each)] == test[1])) for each in scores]

    def objective(
        self, gamma: float, costs: list[float], X: Any, y: NDArray[np.int64], protocol: Protocol
    ) -> tuple[NDArray[np.int64], Objective]:
        """Return the classes, and J with the outputs of all classes for every C."""
        labeled = y >= 0
        classes, codes = np.unique(y[labeled], return_inverse=True)
        first = 1 if len(classes) == 2 else 0
        targets = np.where(codes[:, None] == np.arange(first, len(classes)), 1.0, -1.0)
        pairs = np.array([self.constants(C, len(codes), protocol) for C in costs])
        C, C_graph = np.repeat(pairs, targets.shape[1], axis=0).T
        graph: Graph | None = None
        if C_graph.any() and not labeled.all():
            kind = "full" if protocol.as_printed else "bipartite"
            graph = build_graph(kind, X, labeled, gamma=gamma)
        return classes, Objective(
            X=X,
            labeled=np.flatnonzero(labeled),
            targets=np.tile(targets, len(costs)),
            weights=np.ones(len(codes)),
            kernel=SquaredExponential(gamma=gamma),
            offset=float(protocol.as_printed),
            loss=resolve_loss(self.loss, "classification"),
            smoothness=Smoothness(float(self.p)),
            C=C,
            C_graph=C_graph if graph is not None else np.zeros_like(C_graph),
            graph=graph,
        )

    def guarantee(self, objective: Objective, output: int) -> Guarantee:
        """Return what the theorem promises for one output."""
        A = objective.loss.lipschitz * np.sqrt(1.0 + objective.offset)
        C, C_graph = float(objective.C[output]), float(objective.C_graph[output])
        return Guarantee.for_estimator(C, C_graph, objective.n_labeled, self.p, 1.0, float(A))

    def solve(
        self, objective: Objective, context: Context, *, steps: int | None = None,
        dtype: Any = np.float32,
    ) -> Solution:  # fmt: skip
        """Return the paper's average after T steps, from the draws of the estimator."""
        random = check_random_state(context.seed)
        seed = np.random.SeedSequence(random.randint(2**31 - 1, size=4).tolist())
        guarantee = self.guarantee(objective, int(np.argmax(objective.C)))
        solver = SGD(step="explicit", max_iter=steps or context.steps(objective.X.shape[0]))
        return solve(solver, replace(objective, guarantee=guarantee), Resources(seed, dtype))

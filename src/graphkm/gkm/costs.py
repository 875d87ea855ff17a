"""C_graph="auto" of a classifier: how strong the graph is, and whether there is one.

No strength suits all data. Where rows have no clusters, the strong graph that suits clusters is far
worse than no graph. So some strengths and C_graph = 0 are judged by leave-one-out in closed form,
with the squared loss. For the best strength, fits with the model's own loss then choose C.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import clone

from .._util.threads import blas_threads_for
from ..graphs import KNN
from ..neighbours.index import Neighbours
from ..solvers import Newton, RowNewton
from .base import BaseGKM, Problem
from .candidates import Candidates, Grid
from .closed_form import ClosedForm
from .plan import Plan, cost


def choose_costs(
    estimator: BaseGKM, problem: Problem, plan: Plan
) -> tuple[Plan, Neighbours | None]:
    """Return the plan with the C and C_graph that do best on held-out labels.

    A C that was given stays. So does the whole plan where nothing can be judged: with fewer than
    eight labels, at a p other than 2, in stochastic steps, and for graphs that do not list their
    edges.

    Returns
    -------
    plan : Plan
    neighbours : Neighbours or None
        Those of the kNN graph, if they were found on the way.
    """
    solver = plan.solver
    exact = isinstance(solver, Newton | RowNewton) and plan.smoothness.p == 2
    graph = plan.graph
    if estimator.C_graph != "auto" or graph is None or not (graph.listed and exact):
        return plan, None
    closed = ClosedForm(problem, classes=True)
    if not closed.can_judge:
        return plan, None
    template = clone(estimator).set_params(graph=graph, smoothness=plan.smoothness, solver=solver)
    searched = estimator.gamma == "spread"  # without a graph other values are tried, too
    near = graph.n_neighbors if isinstance(graph, KNN) else 1
    grid = Grid(
        given_Cs=None if estimator.C == "auto" else [float(cost(estimator.C, plan.n_labeled))],
        given_gammas=None if searched else [getattr(plan.kernel, "gamma", None) or "spread"],
        given_graphs=[(int(near), int(plan.smoothness.degree))],
    )
    candidates = Candidates(template, problem, plan, grid)
    least = np.inf
    with blas_threads_for(*solver.matrix_shape(problem.sizes(classes=True))):
        for each in candidates:
            loss = min(judgement.loss for judgement in closed.judge(each))
            if loss < least:
                least, family = loss, each
        place = int(np.argmin([judgement.loss for judgement in closed.judge_fits(family)]))
    C_graph, gamma = float(family.parameters["C_graph"]), family.parameters.get("gamma")
    kernel = plan.kernel if gamma is None else plan.kernel.with_params(gamma=gamma)
    C = float(grid.Cs(1.0)[place])  # in the units of the plan
    best = replace(plan, kernel=kernel, C=C, C_graph=C_graph)
    if best.C_graph == 0:
        return best.without_graph("no graph is best on held-out labels"), candidates.neighbours
    why = "C_graph: best on held-out labels\n"
    return replace(best, reasons=best.reasons + why), candidates.neighbours

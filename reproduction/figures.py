"""The numbers of Figure 1 (a graph), Figure 2 (J against steps), and of two claims."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from graphkm import KNN, SGD, GKMClassifier, IteratedLaplacian, Newton
from graphkm.baselines import LaplacianSVC
from graphkm.solvers import Resources, solve

from .cells import Cell
from .methods import METHODS, Context
from .protocol import Protocol
from .sets import make_split, seed_of

NEIGHBORS, POINTS = 5, 500  # the paper's Figure 1 has 5 neighbours
TOLERANCE = 1e-8
_GAMMA, _COST = 2.0**-5, 1.0
_CHUNK = 50  # rows of a stream that come together


def run_graph(data: Path, cell: Cell, protocol: Protocol, _: dict[str, Any]) -> dict[str, Any]:
    """Return the points, their classes, and the edges with the paper's weights."""
    X, y = joblib.load(data)
    gamma = 1.0 / float(X.var(axis=0).sum())  # sigma_s is the kernel's own width, "spread"
    graph = KNN(n_neighbors=NEIGHBORS, weights=gamma).build(X, np.zeros(len(X), bool))
    u, v, weight = graph.edges()
    return {
        "points": X.round(3),
        "classes": y,
        "edges": np.column_stack([u, v]),
        "weights": weight.round(3),
    }


def run_convergence(
    data: Path, cell: Cell, protocol: Protocol, _: dict[str, Any]
) -> dict[str, Any]:
    """Return J - J* and accuracy for every run and T, and the theorem's bound.

    All runs have the same rows and labels, and so the same minimum of J. Only the draws vary, as
    in the theorem.
    """
    X, y = joblib.load(data)
    split = make_split(X, y, cell.dataset, cell.hidden, cell.run)

    def machine(steps: int, run: int) -> GKMClassifier:
        context = Context(protocol, cell.objective, seed_of(cell.dataset, run))
        made = METHODS[cell.method].make({"C": _COST, "gamma": _GAMMA}, 0, context)
        return made.set_params(solver__max_iter=steps, precision="double")

    steps = [2**k for k in range(5, 11 if protocol.name == "quick" else 17)]
    model = machine(1, 0)
    plan, objective = model.objective(model.encode(split.X, split.y, None))
    newton = Newton(n_landmarks=len(split.y), tol=TOLERANCE, max_iter=2000)
    best = solve(newton, objective, Resources(np.random.SeedSequence(0), np.float64))
    assert best.gap is not None and objective.guarantee is not None
    gaps, accuracies = np.empty((2, protocol.runs, len(steps)))
    for run, (k, T) in product(range(protocol.runs), enumerate(steps)):
        fit = machine(T, run).fit(split.X, split.y)
        f = objective.expansion(np.float64)
        f.set(fit.support_, fit.dual_coef_.T)
        gaps[run, k] = objective.value(f)[0] - best.objective[0]
        accuracies[run, k] = fit.score(split.X_test, split.y_test)
    return {
        "steps": steps,
        "gaps": gaps,
        "accuracies": accuracies,
        "minimum": float(best.objective[0]),
        "minimum_certified_to": float(best.gap[0] / abs(best.objective[0])),
        "at_zero": float(objective.value_at_zero()[0]),
        "bound": float(objective.guarantee.bound(1)),
        "parameters": {"gamma": _GAMMA, "C": plan.C, "C_graph": plan.C_graph},
    }


def run_claims(data: Path, cell: Cell, protocol: Protocol, _: dict[str, Any]) -> dict[str, Any]:
    """Return how far LapSVM is from its place in the family, and a stream from a fit.

    With n rows and |E| edges, LapSVM is GKM with the hinge loss, p = 2, C = 1 / (2 gamma_A) and
    C_graph = gamma_I |E| / (2 gamma_A l). Pairs of labelled rows are no edges of either here.
    """
    X, y = joblib.load(data)
    split = make_split(X, y, cell.dataset, cell.hidden, cell.run)
    labeled, gamma_A, gamma_I = split.y >= 0, 0.05, 0.3
    graph: Any = KNN(n_neighbors=NEIGHBORS, weights=_GAMMA).build(split.X, labeled)
    newton = Newton(n_landmarks=len(split.y), tol=1e-10, max_iter=2000)
    C_graph = gamma_I * graph.n_edges / (2 * gamma_A * labeled.sum())
    gkm = GKMClassifier(1 / (2 * gamma_A), C_graph, solver=newton)
    lap = LaplacianSVC(gamma_A, gamma_I, loss="hinge", tol=1e-10)
    squares = IteratedLaplacian(degree=1, normalized=False)  # the sum of mu (f(u) - f(v))^2
    mine, theirs = (
        each.set_params(gamma=_GAMMA, smoothness=squares, fit_intercept=False, precision="double")
        .fit(split.X, split.y, affinity=graph.to_sparse())
        .decision_function(split.X_test)
        for each in (gkm, lap)
    )
    whole = GKMClassifier(1.0, 0.1, gamma=_GAMMA, solver=SGD(), random_state=0)
    whole.fit(split.X, split.y)
    stream = clone(whole)
    order = np.random.default_rng(0).permutation(len(split.y))
    for start in range(0, len(order), _CHUNK):
        rows = order[start : start + _CHUNK]
        stream.partial_fit(split.X[rows], split.y[rows], classes=[0, 1])
    test = split.X_test, split.y_test
    return {
        "laplacian_difference": float(np.abs(mine - theirs).max() / np.abs(theirs).max()),
        "fit_accuracy": whole.score(*test),
        "stream_accuracy": stream.score(*test),
    }

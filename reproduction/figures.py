"""The numbers of the paper's Figure 1 (a graph) and Figure 2 (J and accuracy against steps)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np

from graphkm.estimators.classes import winning_class
from graphkm.expansion import KernelExpansion
from graphkm.graphs import KNN
from graphkm.solvers import Newton, Resources, solve

from .cells import Cell
from .methods import METHODS, PaperSettings
from .protocol import Protocol
from .sets import Split, make_split, seed_of

NEIGHBORS = 5  # as in the paper's Figure 1
TOLERANCE = 1e-8
_GAMMA, _COST = 2.0**-5, 1.0


def run_graph(data: Path, cell: Cell, protocol: Protocol) -> dict[str, Any]:
    """Return the points, their classes, and the edges with their weights."""
    X, y = joblib.load(data)
    graph = KNN(n_neighbors=NEIGHBORS, weights="local").build(X, np.zeros(len(X), bool))
    u, v, weight = graph.edges()
    return {
        "points": X.round(3),
        "classes": y,
        "edges": np.column_stack([u, v]),
        "weights": weight.round(3),
        "parameters": {"n_neighbors": NEIGHBORS},
    }


def run_convergence(data: Path, cell: Cell, protocol: Protocol) -> dict[str, Any]:
    """Return J - J* and accuracy for every run and T, and the theorem's bound.

    All runs have the same rows and labels, and so the same minimum of J. Only the draws vary, as
    in the theorem.
    """
    X, y = joblib.load(data)
    split = make_split(X, y, cell.dataset, cell.hidden, cell.run)
    method = METHODS[cell.method]
    assert isinstance(method, PaperSettings)
    gkm = method.gkm
    _, objective = gkm.objective(_GAMMA, [_COST], split.X, split.y, protocol.as_printed)
    newton = Newton(n_landmarks=len(split.y), tol=TOLERANCE, max_iter=2000)
    best = solve(newton, objective, Resources(np.random.SeedSequence(0), np.float64))
    assert best.gap is not None
    steps = [2**k for k in range(5, 11 if protocol.name == "quick" else 15)]
    gaps, accuracies = [], []
    for run in range(protocol.runs):
        seed = seed_of(cell.dataset, run)
        averages = [gkm.solve(objective, steps=T, seed=seed, dtype=np.float64) for T in steps]
        gaps.append([float(objective.value(f)[0] - best.objective[0]) for f in averages])
        accuracies.append([_accuracy(f, split) for f in averages])
    guarantee = gkm.guarantee(objective, 0)
    return {
        "steps": steps,
        "gaps": gaps,
        "accuracies": accuracies,
        "minimum": float(best.objective[0]),
        "minimum_certified_to": float(best.gap[0] / abs(best.objective[0])),
        "at_zero": float(objective.value_at_zero()[0]),
        "bound": float(guarantee.bound(1)),
        "guarantee": str(guarantee),
        "parameters": {"gamma": _GAMMA, "C": float(objective.C[0]),
                       "C_graph": float(objective.C_graph[0])},
        "n_labeled": objective.n_labeled,
        "n_train": len(split.y),
    }  # fmt: skip


def _accuracy(f: KernelExpansion, split: Split) -> float:
    return float(np.mean(winning_class(f.scores(split.X_test)) == split.y_test))

"""Figure 2: how J approaches its minimum, and accuracy, against the number of steps T."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from ..expansion import KernelExpansion
from ..machines.classes import winning_class as decide
from ..objective import Objective
from ..solvers import Newton, Resources, Solution, solve
from .catalog import LOSSES, METHODS, POWERS
from .cells import Cell
from .gkm import PaperGKM
from .methods import Context
from .protocol import Protocol
from .sets import SETS, Split, make_split, seed_of

TITLE = "Convergence (Figure 2)"
HIDDEN = 90
GAMMA, COST = 2.0**-5, 1.0
TOLERANCE = 1e-8


def cells(datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
    """Return a cell per loss and p: on G50C, or a made set like it if that is asked for."""
    chosen = [name for name in datasets or ("g50c",) if name in ("g50c", "made_g50c")]
    return [
        Cell("convergence", name, f"gkm-{loss}-p{p}", HIDDEN, 0)
        for name in chosen
        for loss in LOSSES
        for p in POWERS
    ]


def run(data: Path, cell: Cell, protocol: Protocol) -> dict[str, Any]:
    """Return J - J* and accuracy for every run and T, and the theorem's bound.

    All runs have the same rows and labels, so that J has one minimum: what varies, as in the
    theorem, are the draws.
    """
    X, y = joblib.load(data)
    split = make_split(X, y, cell.dataset, cell.hidden, cell.run)
    method = METHODS[cell.method]
    assert isinstance(method, PaperGKM)
    _, objective = method.objective(GAMMA, [COST], split.X, split.y, protocol)
    best = minimum(objective)
    steps = step_counts(protocol)
    gaps, accuracies = [], []
    for number in range(protocol.runs):
        context = Context(protocol, SETS[cell.dataset].steps, seed_of(cell.dataset, number))
        models = [method.solve(objective, context, steps=T, dtype=np.float64) for T in steps]
        expansions = [_expansion(objective, model) for model in models]
        gaps.append([float(objective.value(f)[0] - best.objective[0]) for f in expansions])
        accuracies.append([_accuracy(f, split) for f in expansions])
    guarantee = method.guarantee(objective, 0)
    assert best.gap is not None
    return {
        "steps": steps,
        "gaps": gaps,
        "accuracies": accuracies,
        "minimum": float(best.objective[0]),
        "minimum_certified_to": float(best.gap[0] / abs(best.objective[0])),
        "at_zero": float(objective.value_at_zero()[0]),
        "bound": float(guarantee.bound(1)),
        "guarantee": str(guarantee),
        "parameters": {"gamma": GAMMA, "C": float(objective.C[0]),
                       "C_graph": float(objective.C_graph[0])},
        "n_labeled": objective.n_labeled,
        "n_train": len(split.y),
    }  # fmt: skip


def step_counts(protocol: Protocol) -> list[int]:
    """Return the values of T: powers of two."""
    last = 11 if protocol.name == "quick" else 15
    return [2**k for k in range(5, last)]


def minimum(objective: Objective) -> Solution:
    """Return J's minimum from the batch solver, certified to `TOLERANCE`."""
    solver = Newton(n_landmarks=objective.X.shape[0], tol=TOLERANCE, max_iter=2000)
    return solve(solver, objective, Resources(np.random.SeedSequence(0), np.float64))


def _expansion(objective: Objective, solution: Solution) -> KernelExpansion:
    f = objective.expansion(np.float64)
    f.set(solution.rows, solution.coefficients)
    return f


def _accuracy(f: KernelExpansion, split: Split) -> float:
    labels: NDArray[np.int64] = decide(f.scores(split.X_test))
    return float(np.mean(labels == split.y_test))

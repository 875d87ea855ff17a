"""Five values of C learnt in one pass against one value at a time.

Measured: stochastic fits on IJCNN1 (90 % of the labels hidden, hinge, p = 1, labelled-unlabelled
edges, RBF, explicit steps, T = 0.2 n, C_graph = C, one thread) through `Objective` and
`SGD`: one objective with a column per C, and five objectives of one column. CPU time,
in turns, minimum of several runs. "One fit" is the mean of the five single ones.

The pass over five carries the union of the five supports, so it also evaluates more kernels than
one fit does; the table says how many centres each has.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from _common import Figure, hide_labels, in_turns, load_libsvm, script, table
from graphkm.graphs import Bipartite
from graphkm.kernels import SquaredExponential
from graphkm.losses import resolve_loss
from graphkm.objective import Objective
from graphkm.smoothness import Smoothness
from graphkm.solvers import SGD, Resources, Solution, solve
from graphkm.theory import Guarantee

TARGET = 2.0
GAMMA = 4.0
C_GRID = np.array([0.25, 0.5, 1.0, 2.0, 4.0])


def problem(C: np.ndarray, X: np.ndarray, known: np.ndarray) -> Objective:
    """Return the objective with one output per C."""
    labeled = known >= 0
    rows = np.flatnonzero(labeled)
    targets = np.where(known[rows] == 1, 1.0, -1.0)
    largest = float(C.max())
    return Objective(
        X=X,
        labeled=rows,
        targets=np.repeat(targets[:, None], len(C), axis=1),
        weights=np.ones(len(rows)),
        kernel=SquaredExponential(gamma=GAMMA),
        offset=1.0,
        loss=resolve_loss("hinge", "classification"),
        smoothness=Smoothness(1.0),
        C=C,
        C_graph=C,
        graph=Bipartite(weights=GAMMA).build(X, labeled),
        guarantee=Guarantee.for_estimator(largest, largest, len(rows), 1.0, 1.0, np.sqrt(2.0)),
    )


def fit(objective: Objective) -> Solution:
    solver = SGD(step="explicit", max_iter=len(objective.X) // 5)
    return solve(solver, objective, Resources(np.random.SeedSequence(0)))


def check(together: Solution, single: Solution, column: int) -> None:
    """Raise if the pass over five gives another model than the single fit."""
    own = np.flatnonzero(together.coefficients[:, column])
    np.testing.assert_array_equal(together.rows[own], single.rows)
    scale = np.abs(single.coefficients).max()
    np.testing.assert_allclose(
        together.coefficients[own, column], single.coefficients[:, 0], atol=1e-2 * scale
    )


def run(arguments: argparse.Namespace) -> list[Figure]:
    X, y = load_libsvm("ijcnn1.libsvm.bz2", 22)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))[: 10_000 if arguments.quick else None]
    X, known = X[order].toarray(), hide_labels(y[order], 0.9, rng)
    objectives = [problem(C, X, known) for C in (C_GRID, *C_GRID[:, None])]
    together, *singles = [fit(objective) for objective in objectives]
    check(together, singles[2], 2)
    times = in_turns(
        [partial(fit, objective) for objective in objectives], 2 if arguments.quick else 4
    )
    names = ["all five", *(f"C = {C:g}" for C in C_GRID)]
    sizes = [len(solution.rows) for solution in (together, *singles)]
    rows = [[n, s, f"{t:.3f}"] for n, s, t in zip(names, sizes, times, strict=True)]
    print(f"IJCNN1, {len(X):,} rows, {len(X) // 5:,} steps")
    print(table(["right-hand sides", "centres", "CPU s"], rows))
    ratio = times[0] / float(np.mean(times[1:]))
    print(f"all five against the five single fits together: {times[0] / sum(times[1:]):.2f}")
    return [Figure("five C in one pass / one fit", ratio, "x", TARGET, at_least=False)]


if __name__ == "__main__":
    script(run)

"""The fit against a loop over single points in NumPy, as the paper's authors released it.

The reference takes one step at a time: three kernel rows against the current support set (gather
the support rows, subtract, square, sum, exp), the step on arrays of full length, new points
appended to the support; in float64. It averages as the lemma does and gets the library's own draws,
so that both must give the same model; this is checked on a run of some hundred steps.

Measured: CPU time, one thread, hinge, p = 1, 90 % of the labels hidden, labelled-unlabelled edges,
explicit steps, no intercept:

- on IJCNN1 (49,990 x 22, T = 0.2 n), where the loop runs to its end;
- on two Gaussian clouds of 45,000 x 20 (one epoch, T = n), where it would take many minutes. There
  its cost per step, which depends only on the size of the support, is measured in short windows
  along the run, each with as many support rows as the library's own fit has at that step (the loop
  has as many or more: it does not skip edges of negligible weight), and the area under that curve
  is its time. On IJCNN1 the same estimate is printed beside the time measured.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np

from _common import Figure, hide_labels, load_libsvm, script, seconds, table
from graphkm.graphs import Bipartite
from graphkm.graphs.base import generators
from graphkm.kernels import SquaredExponential
from graphkm.losses import resolve_loss
from graphkm.objective import Objective
from graphkm.smoothness import Smoothness
from graphkm.solvers import SGD, Progress, Resources, Solution, solve
from graphkm.theory import Guarantee

TARGET = 100.0
WINDOWS, WINDOW = 12, 30  # places along a run where the loop is timed, and steps there
SEED = np.random.SeedSequence(0)


@dataclass(frozen=True)
class Case:
    """Data and parameters of one comparison."""

    name: str
    X: np.ndarray
    known: np.ndarray  # 0, 1, or -1 where hidden
    gamma: float
    C: float
    steps: int


# ------------------------------------------------------------ the library's


def objective(case: Case) -> Objective:
    labeled = case.known >= 0
    rows = np.flatnonzero(labeled)
    return Objective(
        X=case.X,
        labeled=rows,
        targets=np.where(case.known[rows] == 1, 1.0, -1.0)[:, None],
        weights=np.ones(len(rows)),
        kernel=SquaredExponential(gamma=case.gamma),
        offset=0.0,
        loss=resolve_loss("hinge", "classification"),
        smoothness=Smoothness(1.0),
        C=np.array([case.C]),
        C_graph=np.array([case.C]),
        graph=Bipartite(weights=case.gamma).build(case.X, labeled),
        guarantee=Guarantee.for_estimator(case.C, case.C, len(rows), 1.0, 1.0, 1.0),
    )


def fit(case: Case, sizes: list[Progress] | None = None) -> Solution:
    """Run the library's solver; `sizes` gets the number of centres after every block."""
    solver = SGD(step="explicit", max_iter=case.steps)
    callback = None if sizes is None else sizes.append
    return solve(solver, objective(case), Resources(SEED), callback=callback)


# ----------------------------------------------------------------- the loop


class Loop:
    """Algorithm 1 on hinge and p = 1, literally, one step at a time."""

    def __init__(self, case: Case) -> None:
        n = len(case.X)
        self.X, self.gamma = case.X.astype(np.float64), case.gamma
        self.labeled = np.flatnonzero(case.known >= 0)
        self.y = np.where(case.known == 1, 1.0, -1.0)
        self.C = len(self.labeled) * case.C  # the paper's C and C'
        self.support = np.zeros(n, np.int64)
        self.slot = np.full(n, -1)
        self.w, self.average = np.zeros(n), np.zeros(n)
        self.size = 0
        self.t = 0

    def run(self, label: np.ndarray, u: np.ndarray, v: np.ndarray) -> None:
        """Take one step for every draw."""
        for i, a, b in zip(self.labeled[label], u, v, strict=True):
            self.step(i, a, b)

    def step(self, i: int, u: int, v: int) -> None:
        """Take the step of a labelled row i and an edge (u, v)."""
        self.t += 1
        t = self.t
        # The lemma's average holds w_t, before the step.
        self.average = (t - 1.0) / (t + 1.0) * self.average + 2.0 / (t + 1.0) * self.w
        score, gap = self.score(i), self.score(u) - self.score(v)
        mu = np.exp(-self.gamma * np.sum((self.X[u] - self.X[v]) ** 2))
        self.w = (t - 1.0) / (t + 1.0) * self.w
        rate = 2.0 / (t + 1.0) * self.C
        if self.y[i] * score <= 1.0:
            self.w[self.place(i)] += rate * self.y[i]
        if mu * np.sign(gap) != 0.0:
            self.w[self.place(u)] -= rate * mu * np.sign(gap)
            self.w[self.place(v)] += rate * mu * np.sign(gap)

    def score(self, row: int) -> float:
        """Return f at a row."""
        differences = self.X[self.support[: self.size]] - self.X[row]
        kernel = np.exp(-self.gamma * np.sum(differences**2, axis=1))
        return float(np.sum(self.w[: self.size] * kernel))

    def place(self, row: int) -> int:
        """Return where a row stands in the support, appending it if it is new."""
        if self.slot[row] < 0:
            self.slot[row] = self.size
            self.support[self.size] = row
            self.size += 1
        return int(self.slot[row])


def draws(case: Case, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the labels and edges that the library's solver draws."""
    problem = objective(case)
    (labels,) = generators(SEED, 1)
    label = labels.integers(problem.n_labeled, size=size)
    edges = problem.graph.sampler("uniform", SEED).draw(size)
    return label, edges.u, edges.v


def check(case: Case, steps: int) -> None:
    """Raise if the loop and the library do not give the same model."""
    short = replace(case, steps=steps)
    loop, ours = Loop(short), fit(short)
    loop.run(*draws(short, steps))
    theirs = np.zeros(len(case.X))
    theirs[loop.support[: loop.size]] = loop.average[: loop.size]
    mine = np.zeros(len(case.X))
    mine[ours.rows] = ours.coefficients[:, 0]
    error = np.abs(mine - theirs).max() / np.abs(theirs).max()
    print(f"{case.name}: after {steps} steps the models differ by {error:.1e} of the largest")
    if error > 1e-4:
        raise AssertionError("the loop and the library do not agree")


# ------------------------------------------------------------- the figures


def windows_seconds(case: Case, sizes: list[Progress]) -> float:
    """Return the loop's CPU seconds, from windows along the run."""
    rng = np.random.default_rng(0)
    done = [0, *(progress.n_iter for progress in sizes)]
    centres = [0, *(progress.n_centres for progress in sizes)]
    places = np.linspace(0, case.steps - 1, WINDOWS)
    taken = []
    for size in np.interp(places, done, centres):
        loop = Loop(case)
        for row in rng.permutation(len(case.X))[: int(size)]:
            loop.place(row)
        loop.w[: loop.size] = rng.standard_normal(loop.size)
        part = [column[:WINDOW] for column in draws(case, WINDOW)]
        taken.append(seconds(lambda: loop.run(*part)) / WINDOW)  # noqa: B023
    return float(np.trapezoid(taken, places))


def loop_seconds(case: Case) -> float:
    """Return the loop's CPU seconds, run to its end."""
    loop, all_draws = Loop(case), draws(case, case.steps)
    return seconds(lambda: loop.run(*all_draws))


def compare(case: Case, repeats: int, *, to_the_end: bool) -> tuple[Figure, list[str]]:
    check(case, 600)
    sizes: list[Progress] = []
    fit(case, sizes)
    ours = min(seconds(lambda: fit(case)) for _ in range(repeats))
    estimate = windows_seconds(case, sizes)
    theirs = loop_seconds(case) if to_the_end else estimate
    ours = min(ours, seconds(lambda: fit(case)))
    row = [case.name, f"{case.steps:,}", f"{sizes[-1].n_centres:,}", f"{ours:.2f}"]
    row += [f"{theirs:.1f}" if to_the_end else "", f"{estimate:.1f}"]
    return Figure(f"released loop / fit, {case.name}", theirs / ours, "x", TARGET), row


def ijcnn1(n: int | None) -> Case:
    X, y = load_libsvm("ijcnn1.libsvm.bz2", 22)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))[:n]
    known = hide_labels(y[order], 0.9, rng)
    return Case("IJCNN1", X[order].toarray(), known, gamma=4.0, C=1.0, steps=len(known) // 5)


def clouds(n: int) -> Case:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    X = rng.standard_normal((n, 20), dtype=np.float32) + y[:, None].astype(np.float32)
    return Case(f"{n:,} x 20", X, hide_labels(y, 0.9, rng), gamma=0.05, C=1.0, steps=n)


def run(arguments: argparse.Namespace) -> list[Figure]:
    quick = arguments.quick
    repeats = 1 if quick else 3
    answers = [
        compare(ijcnn1(5000 if quick else None), repeats, to_the_end=True),
        compare(clouds(4000 if quick else 45_000), repeats, to_the_end=False),
    ]
    figures, rows = zip(*answers, strict=True)
    headers = ["data", "steps", "centres", "fit, CPU s", "loop, CPU s", "loop, from windows"]
    print(table(headers, rows))
    return list(figures)


if __name__ == "__main__":
    script(run)

"""The theorem as an inequality, with J* from an independent convex solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from graphkm.kernels import SquaredExponential
from graphkm.theory import largest_C_graph
from oracles import KERNELS, J, make_case

STEPS, SEEDS = (100, 1000, 8000), range(12)
SETTINGS = [
    (loss, p, offset)
    for loss in ("hinge", "logistic")
    for p in (1.0, 1.5, 2.0, 3.0)
    for offset in ((0.0, 1.0) if p == 2.0 else (0.0,))
]


@pytest.fixture(autouse=True)
def narrow_kernel(monkeypatch):
    """A kernel matrix far from singular, so that coefficients follow from scores."""
    entry = (SquaredExponential(gamma=3.0), "rbf", {"gamma": 3.0})
    monkeypatch.setitem(KERNELS, "rbf", entry)


def build(loss, p, offset):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 3))
    options = {"X": X, "n_labeled": 10, "offset": offset, "C": (0.4,), "graph_gamma": 0.5}
    bare = make_case(loss, p, "full", C_graph=(0.0,), **options).guarantee()
    limit = largest_C_graph(bare.C, p, bare.R, bare.A)
    C_graph = 0.5 * limit / 10 if p >= 2 else 0.2
    case = make_case(loss, p, "full", C_graph=(C_graph,), **options)
    assert case.guarantee().holds
    return case


def minimum(problem):
    """Return J* and the coefficients there, in the variables z with f = root z, w = z."""
    K = problem.K + problem.offset
    eigenvalues, vectors = np.linalg.eigh(K)
    assert eigenvalues.min() > 1e-3
    root = vectors * np.sqrt(eigenvalues)
    z = cp.Variable(len(K))
    f = root @ z
    margins = cp.multiply(problem.targets[:, 0], f[problem.labeled])
    losses = {"hinge": cp.pos(1 - margins), "logistic": cp.logistic(-margins)}[problem.loss]
    u, v, mu = (np.array(column) for column in zip(*problem.edges, strict=True))
    # Weights inside the power, and a quadratic for p = 2, keep the cones well scaled.
    factor = problem.C_graph[0] * len(problem.labeled) / len(u) * mu
    gaps = cp.multiply(factor ** (1 / problem.p), f[u] - f[v])
    rough = (
        cp.sum_squares(gaps)
        if problem.p == 2
        else cp.sum(cp.power(cp.abs(gaps), problem.p, approx=False))
    )
    value = cp.sum_squares(z) / 2 + problem.C[0] * problem.weights @ losses + rough
    task = cp.Problem(cp.Minimize(value))
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-8, tol_gap_rel=1e-7, tol_feas=1e-7)
    assert task.status == cp.OPTIMAL
    return task.value, (vectors / np.sqrt(eigenvalues)) @ z.value


@pytest.mark.dear
@pytest.mark.parametrize(("loss", "p", "offset"), SETTINGS)
def test_the_bound_holds_and_the_gap_closes(loss, p, offset):
    case = build(loss, p, offset)
    best, at = minimum(case.problem)
    f = case.expansion(at[:, None])
    assert case.objective.value(f)[0] == pytest.approx(best, rel=1e-6)
    assert J(case.problem, at[:, None])[0] == pytest.approx(best, rel=1e-6)
    at_zero = J(case.problem, np.zeros((30, 1)))[0]
    gaps = {}
    for steps in STEPS:
        solutions = [case.run(np.random.SeedSequence(s), steps) for s in SEEDS]
        values = [case.objective.value(case.expansion(case.full(s)))[0] for s in solutions]
        assert min(values) > best - 1e-6 * best  # it is the minimum
        gaps[steps] = np.mean(values) - best
        assert gaps[steps] <= case.guarantee().bound(steps)
        # The sampled objectives average to more than J of the average, which is convex.
        estimate = np.mean([s.objective[0] for s in solutions])
        assert estimate > best - 0.05 * at_zero
    assert gaps[8000] < gaps[1000] < gaps[100]
    assert gaps[8000] < 0.1 * gaps[100]  # the rate 1/T alone gives 1/80
    assert gaps[8000] < 0.02 * (at_zero - best)


@pytest.mark.dear
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_the_distance_bound_holds(p):
    case = build("hinge", p, 0.0)
    _, at = minimum(case.problem)
    K = case.problem.K
    for steps in STEPS:
        apart = [case.full(case.run(np.random.SeedSequence(s), steps))[:, 0] - at for s in SEEDS]
        assert np.mean([a @ K @ a for a in apart]) <= case.guarantee().distance_bound(steps)


def test_weights_count_as_repetitions():
    """Doubling a point's weight is drawing the loss twice: J* says so too."""
    case = build("hinge", 1.0, 0.0)
    light, _ = minimum(case.problem)
    case.problem.weights[:] *= 2
    heavy, _ = minimum(case.problem)
    assert light < heavy < 2 * light
    values = [
        case.objective.value(case.expansion(case.full(case.run(np.random.SeedSequence(s), 4000))))
        for s in SEEDS
    ]
    assert np.mean(values) == pytest.approx(heavy, rel=0.02)

"""The literal program against the paper's vectors, finite differences and double loops."""

from __future__ import annotations

import ast
import inspect
import math
from itertools import combinations, pairwise

import cvxpy as cp
import numpy as np
import pytest

from graphkm import reference
from graphkm.reference import (
    J,
    Problem,
    algorithm_1,
    full_graph,
    iterates,
    losses,
    sample,
    squared_exponential,
    update,
)
from graphkm.theory import Guarantee, largest_C_graph

LOSSES = losses(tau=0.4, epsilon=0.2)
CLASSES = ("hinge", "smooth_hinge", "logistic")
every_loss = pytest.mark.parametrize("name", LOSSES)
every_p = pytest.mark.parametrize("p", [1, 1.5, 2, 3])


def small(name="hinge", p=1, C=2.0, C_prime=0.05, n=14, l=5, bias=1.0):  # noqa: E741
    """Return rows, a problem of theirs and the edges."""
    rng = np.random.default_rng(0)
    X, labeled = rng.normal(size=(n, 2)), np.isin(np.arange(n), rng.permutation(n)[:l])
    y = rng.normal(size=l)
    y = np.sign(y) if name in CLASSES else y
    K = squared_exponential(X, 0.7) + bias
    problem = Problem(K, labeled, y, C, C_prime, p, LOSSES[name])
    return X, problem, full_graph(X, labeled, 0.7)


def test_it_takes_nothing_from_the_library():
    nodes = list(ast.walk(ast.parse(inspect.getsource(reference))))
    taken = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    taken += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert not [name for name in taken if name is None or name.startswith("graphkm")]


# ---------------------------------------------------------------- losses


@pytest.mark.parametrize(
    ("name", "y", "o", "value"),
    [
        ("hinge", -1, 0.25, 1.25),
        ("hinge", 1, 3.0, 0.0),
        ("smooth_hinge", 1, 1.5, 0.0),
        ("smooth_hinge", 1, 0.8, 0.2**2 / 0.8),
        ("smooth_hinge", -1, 1.0, 2 - 0.2),
        ("logistic", 1, -2.0, math.log(1 + math.exp(2))),
        ("l1", 0.5, -1.0, 1.5),
        ("epsilon_insensitive", 0.5, -1.0, 1.3),
        ("epsilon_insensitive", 0.5, 0.4, 0.0),
    ],
)
def test_values_are_the_printed_formulas(name, y, o, value):
    assert LOSSES[name].value(y, o) == pytest.approx(value, rel=1e-14)


@every_loss
def test_slopes_are_derivatives(name):
    rng, h = np.random.default_rng(1), 1e-6
    value, slope = LOSSES[name]
    compared = 0
    for o in rng.normal(scale=2, size=400):
        y = rng.choice([-1.0, 1.0]) if name in CLASSES else rng.normal()
        kinks = [y, y * 0.6] if name in CLASSES else [y - 0.2, y, y + 0.2]
        if min(abs(o - kink) for kink in kinks) > h:
            found = (value(y, o + h) - value(y, o - h)) / (2 * h)
            assert slope(y, o) == pytest.approx(found, abs=1e-8)
            compared += 1
    assert compared > 390


def test_slopes_at_kinks_are_the_printed_indicators():
    assert [LOSSES["hinge"].slope(y, y) for y in (-1, 1)] == [1, -1]  # y o <= 1
    assert LOSSES["l1"].slope(2.0, 2.0) == 0  # sign(0)
    assert LOSSES["epsilon_insensitive"].slope(0.0, 0.2) == 0  # |y - o| > epsilon
    assert LOSSES["smooth_hinge"].slope(1, 0.6) == pytest.approx(-1)
    assert LOSSES["smooth_hinge"].slope(1, 1) == 0


# ---------------------------------------------------------------- the graph and J


def test_the_full_graph_has_all_pairs_but_the_labelled_ones():
    X, problem, E = small()
    labeled = set(np.flatnonzero(problem.labeled))
    pairs = [pair for pair in combinations(range(len(X)), 2) if not labeled.issuperset(pair)]
    assert list(zip(E.u, E.v, strict=True)) == pairs
    weights = [math.exp(-0.7 * math.dist(X[u], X[v]) ** 2) for u, v in pairs]
    np.testing.assert_allclose(E.mu, weights, rtol=1e-13)


def test_draws_are_uniform():
    _, problem, E = small()
    drawn = list(sample(problem.labeled, E, 40_000, np.random.default_rng(2)))
    edges = {(u, v): k for k, (u, v) in enumerate(zip(E.u, E.v, strict=True))}
    assert all(E.mu[edges[u, v]] == mu for _, u, v, mu in drawn)
    labels = np.bincount([i for i, *_ in drawn], minlength=5)
    numbers = np.bincount([edges[u, v] for _, u, v, _ in drawn], minlength=len(edges))
    for counts in (labels, numbers):
        expected = len(drawn) / len(counts)
        assert np.abs(counts - expected).max() < 5 * math.sqrt(expected)


@every_p
@every_loss
def test_j_is_the_double_loop(name, p):
    X, problem, E = small(name, p)
    a, n = np.random.default_rng(3).normal(size=len(X)), len(X)

    def k(i, j):
        return math.exp(-0.7 * math.dist(X[i], X[j]) ** 2) + 1

    f = [math.fsum(a[j] * k(i, j) for j in range(n)) for i in range(n)]
    norm = math.fsum(a[i] * a[j] * k(i, j) for i in range(n) for j in range(n))
    rows = np.flatnonzero(problem.labeled)
    xi = [problem.loss.value(y, f[i]) for i, y in zip(rows, problem.y, strict=True)]
    rough = [mu * abs(f[u] - f[v]) ** p for u, v, mu in zip(*E, strict=True)]
    expected = norm / 2 + 2.0 * sum(xi) / len(xi) + 0.05 * sum(rough) / len(rough)
    assert J(problem, E, a) == pytest.approx(expected, rel=1e-12)


# ---------------------------------------------------------------- Algorithm 1


def test_one_step_by_hand():
    """Rows 0 and 1 are labelled; step 3 draws row 1 with its y = -1, and the edge of 0 and 2."""
    K = np.array([[2.0, 0.5, 0.0], [0.5, 2.0, 1.0], [0.0, 1.0, 2.0]])
    problem = Problem(K, np.array([True, True, False]), np.array([1.0, -1.0]), C=3.0, C_prime=0.5,
                      p=2)  # fmt: skip
    w = np.array([0.4, 0.2, -0.6])  # f = (0.9, 0, -1): the margin is 0, the gap of the edge 1.9
    after = update(problem, 3, w, 1, 0, 2, 0.8)
    loss = 2 * 3 / 4 * 1.0  # 2 C / (t + 1) times the slope -y
    edge = 2 * 0.5 * 0.8 / 4 * (2 * 1.9)
    np.testing.assert_allclose(after, [0.2 - edge, 0.1 - loss, -0.3 + edge], rtol=1e-14)
    assert w.tolist() == [0.4, 0.2, -0.6]  # the old w stays


@every_p
@every_loss
def test_iterates_are_those_of_vectors(name, p):
    """With features as vectors, w itself is updated by g_t, as the paper prints it."""
    rng = np.random.default_rng(4)
    Phi = rng.normal(size=(14, 3)) / 2
    _, problem, E = small(name, p, C=1.0)
    problem = Problem(Phi @ Phi.T, *list(vars(problem).values())[1:])
    rows, draws = np.flatnonzero(problem.labeled), list(sample(problem.labeled, E, 60, rng))
    w = np.zeros(3)
    for t, alpha in enumerate(iterates(problem, draws), start=1):
        np.testing.assert_allclose(alpha @ Phi, w, rtol=1e-10, atol=1e-12)
        if t <= len(draws):
            i, u, v, mu = draws[t - 1]
            x, edge = Phi[rows[i]], Phi[u] - Phi[v]
            g = w + problem.C * problem.loss.slope(problem.y[i], w @ x) * x
            g += problem.C_prime * mu * p * np.sign(w @ edge) * abs(w @ edge) ** (p - 1) * edge
            w = w - 2 / (t + 1) * g


@pytest.mark.parametrize("T", [1, 2, 3, 50])
def test_both_averages_in_closed_form(T):
    """Lemma 1 weighs w_t by t. The printed line 5 weighs w_{t+1} by t."""
    _, problem, E = small()
    draws = list(sample(problem.labeled, E, T, np.random.default_rng(5)))
    w, t = np.array(list(iterates(problem, draws))), np.arange(1, T + 1)
    assert len(w) == T + 1 and not w[0].any()
    for average, averaged in {"lemma": w[:-1], "algorithm": w[1:]}.items():
        last, wbar = algorithm_1(problem, draws, average)
        np.testing.assert_array_equal(last, w[-1])
        expected = 2 / (T * (T + 1)) * (t @ averaged)
        np.testing.assert_allclose(wbar, expected, rtol=1e-12, atol=1e-15)


# ---------------------------------------------------------------- the theorem


def minimum(problem, E):
    """Return J* from an independent convex solver."""
    values, vectors = np.linalg.eigh(problem.K)
    w = cp.Variable(len(values))
    f = (vectors * np.sqrt(np.maximum(values, 0))) @ w
    hinge = cp.sum(cp.pos(1 - cp.multiply(problem.y, f[problem.labeled])))
    factor = (problem.C_prime / len(E.mu) * E.mu) ** (1 / problem.p)
    rough = cp.sum(cp.power(cp.abs(cp.multiply(factor, f[E.u] - f[E.v])), problem.p))
    task = cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + problem.C / len(problem.y) * hinge + rough)
    )
    return float(task.solve(solver=cp.CLARABEL))


@every_p
def test_the_bounds_of_theorem_1_and_its_lemmas_hold(p):
    C_prime = 0.5 if p < 2 else 0.9 * largest_C_graph(2.0, p, R=1.0, A=math.sqrt(2))
    _, problem, E = small(p=p, C_prime=C_prime)
    guarantee = Guarantee(C=2.0, C_graph=C_prime, p=p, R=1.0, A=math.sqrt(2))
    assert guarantee.holds
    best, gaps = minimum(problem, E), {}
    for T in (10, 100, 1000):
        found = []
        for seed in range(8):
            draws = list(sample(problem.labeled, E, T, np.random.default_rng(seed)))
            found.append(J(problem, E, algorithm_1(problem, draws)[1]))
        assert min(found) > best - 1e-6
        gaps[T] = np.mean(found) - best
        assert gaps[T] <= guarantee.bound(T)
    assert gaps[1000] < gaps[100] < gaps[10]
    w = list(iterates(problem, draws))
    norms = [math.sqrt(a @ problem.K @ a) for a in w]
    assert max(norms) <= guarantee.M  # Lemma 3
    steps = [(a - b) * (t + 1) / 2 for t, (a, b) in enumerate(pairwise(w), 1)]
    assert max(math.sqrt(g @ problem.K @ g) for g in steps) <= guarantee.G  # Lemma 4

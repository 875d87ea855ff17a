"""The Newton solver against convex solvers, LapSVM's dual and dense formulas."""

from __future__ import annotations

import pickle
import re
import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

import graphkm._util.memory as memory
from convex import minimum
from flat import gkm_classifier, gkm_regressor
from graphkm import GKMClassifier, GKMRegressor, IteratedLaplacian
from graphkm.graphs import ListedGraph
from graphkm.graphs.laplacian import laplacian_matrix
from graphkm.losses import L1, EpsilonInsensitive, Hinge, Logistic, SmoothHinge, SmoothTube
from graphkm.ridge.factors import raised_cholesky, safe_cholesky
from graphkm.smoothness import Smoothness
from graphkm.solvers import Newton, Resources, landmark_features, solve
from graphkm.solvers.landmark_features import LandmarkFeatures
from graphkm.solvers.landmarks import RULES, choose_landmarks
from graphkm.theory import largest_C_graph
from oracles import KERNELS, LOSSES, J, make_case

ONE = {"C": (0.8,), "C_graph": (0.5,)}


def newton(objective, **options):
    """Return the solution on all rows, to many digits, unless options say otherwise."""
    given = {"n_landmarks": objective.X.shape[0], "tol": 1e-9}
    resources = Resources(np.random.SeedSequence(0), np.float64)
    return solve(Newton(**given | options), objective, resources)


def scores(objective, solution):
    f = objective.expansion()
    f.set(solution.rows, solution.coefficients)
    return f.scores(objective.X)


def value(objective, solution):
    f = objective.expansion()
    f.set(solution.rows, solution.coefficients)
    return objective.value(f)


def check(case, rel=1e-6, **options):
    """Compare J at the solution, and what the solver says of it, with the minimum."""
    solution = newton(case.objective, **options)
    found = J(case.problem, case.full(solution))
    np.testing.assert_allclose(solution.objective, found, rtol=1e-7)
    np.testing.assert_allclose(value(case.objective, solution), found, rtol=1e-9)
    for r, each in enumerate(found):
        best, _ = minimum(case.problem, r)
        assert each == pytest.approx(best, rel=rel)
        assert 0 <= solution.gap[r] <= 1e-8 * best
    return solution


# ---------------------------------------------------------------- the minimum


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("kind", ["knn", "full", "precomputed"])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_reaches_the_minimum(loss, p, kind, normalized):
    if kind == "full" and p in (1.5, 3.0) and loss not in ("hinge", "l1"):
        pytest.skip("hundreds of power cones: two losses will do")
    check(make_case(loss, p, kind, normalized=normalized, **ONE))


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("kind", ["knn", "bipartite", "precomputed"])
@pytest.mark.parametrize("degree", [2, 3, 4])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "l1"])
def test_reaches_the_minimum_of_iterated_laplacians(loss, degree, kind, normalized):
    check(make_case(loss, 2.0, kind, degree=degree, normalized=normalized, **ONE))


@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize("offset", [0.0, 1.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_reaches_the_minimum_for_every_kernel(kernel, offset, p):
    case = make_case("hinge", p, "knn", kernel, offset=offset, normalized=True, **ONE)
    solution = check(case)
    sparse = make_case("hinge", p, "knn", kernel, "csr", offset=offset, normalized=True, **ONE)
    again = newton(sparse.objective)
    np.testing.assert_allclose(again.objective, solution.objective, rtol=1e-7)
    np.testing.assert_allclose(
        scores(sparse.objective, again), scores(case.objective, solution), atol=1e-3
    )


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_without_a_graph(p):
    bare = check(make_case("hinge", p, None, **ONE))
    silent = newton(make_case("hinge", p, "knn", C=ONE["C"], C_graph=(0.0,)).objective)
    np.testing.assert_allclose(silent.objective, bare.objective, rtol=1e-8)


@pytest.mark.dear
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_outputs_are_problems_of_their_own(p):
    """Several values of C and C_graph in one fit, one of them without a graph."""
    costs = {"C": (0.3, 2.0, 0.05, 2.0), "C_graph": (0.2, 0.0, 3.0, 0.2)}
    case = make_case("logistic", p, "knn", **costs)
    together = check(case)
    for r in range(4):
        alone = replace(
            case.objective,
            targets=case.objective.targets[:, [r]],
            C=case.objective.C[[r]],
            C_graph=case.objective.C_graph[[r]],
        )
        np.testing.assert_allclose(newton(alone).objective[0], together.objective[r], rtol=1e-8)


@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_bounds_what_is_missing(loss, p, tol):
    objective = make_case(loss, p, "knn", **ONE).objective

    def at(steps):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return newton(objective, tol=1e-11, max_iter=steps)

    last = at(1000)  # as near as rounding lets it come
    best = last.objective[0]
    assert last.gap[0] <= 1e-10 * best
    seen = []
    for solution in [newton(objective, tol=tol), *(at(steps) for steps in (1, 2, 3))]:
        missing = solution.objective[0] - best
        assert -1e-9 * best <= missing <= solution.gap[0] + 1e-9 * best
        seen.append(solution.gap[0])
    assert seen[0] <= tol * best * (1 + tol)
    assert seen[1] > 1e-6 * best  # one step is not enough, and it says so


def test_too_few_steps_warn():
    objective = make_case("hinge", 2.0, "knn", C=(0.8, 0.4), C_graph=(0.5, 0.5)).objective
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        solution = newton(objective, max_iter=2)
    assert len(caught) == 2  # one per output
    assert solution.n_iter == 2
    assert 2 < newton(objective).n_iter < 100
    assert newton(objective, tol=0.5).n_iter < newton(objective).n_iter


def test_nothing_to_learn_takes_no_step():
    case = make_case("epsilon_insensitive", 2.0, "knn", **ONE)
    case.objective.targets[:] = 0.1  # within the tube about 0
    solution = newton(case.objective)
    assert solution.n_iter == 0
    assert (solution.coefficients == 0).all() and solution.objective == [0.0]


def test_solutions_are_sorted_and_repeatable():
    objective = make_case(**ONE).objective
    first, again = newton(objective), newton(objective)
    assert (np.diff(first.rows) > 0).all()
    np.testing.assert_array_equal(first.coefficients, again.coefficients)
    np.testing.assert_array_equal(first.C, [0.8])


def test_relative_costs_are_in_units_of_the_smoothed_kernel():
    """k is the mean of k(x, x) over labelled x, with K (I + 2 factor L K)^(-1) for the kernel."""
    case = make_case("hinge", 2.0, "knn", offset=0.0, **ONE)
    solution = newton(replace(case.objective, relative=True))
    L = laplacian_matrix(case.objective.graph).toarray()
    K, factor = case.problem.K, case.objective.graph_factor[0]
    smooth = K @ np.linalg.inv(np.eye(24) + 2 * factor * L @ K)
    mean = smooth[case.problem.labeled, case.problem.labeled].mean()
    assert solution.C[0] == pytest.approx(0.8 / mean, rel=1e-6)
    plain = newton(replace(case.objective, C=solution.C))
    np.testing.assert_allclose(plain.objective, solution.objective, rtol=1e-8)


# ---------------------------------------------------------------- LapSVM


@pytest.mark.filterwarnings("ignore:The graph overrules")  # the strongest of these does
@pytest.mark.parametrize(("gamma_A", "gamma_I"), [(0.05, 1.0), (0.01, 30.0), (0.3, 0.1)])
def test_p_2_hinge_is_lapsvm(gamma_A, gamma_I):
    """Belkin, Niyogi and Sindhwani's LapSVM (JMLR 2006), without a bias, is the p = 2 hinge.

    LapSVM minimises (1/l) sum hinge + gamma_A ||f||^2 + gamma_I / (l+u)^2 f' L f. Divided by
    2 gamma_A this is our J, with

        C = 1 / (2 gamma_A l),   C_graph = gamma_I |E| / (2 gamma_A l (l+u)^2).

    Its solution is alpha = M J' Y beta, M = (2 gamma_A I + 2 gamma_I / (l+u)^2 L K)^(-1), where
    beta maximises sum beta - 1/2 beta' Q beta, Q = Y J K M J' Y, over 0 <= beta <= 1/l.
    """
    rng = np.random.default_rng(0)
    n, l = 60, 12  # noqa: E741
    X, truth = make_moons(n, noise=0.15, random_state=1)
    W = np.triu(rng.uniform(0.1, 1.0, (n, n)) * (rng.random((n, n)) < 0.15), 1)
    W[:l, :l] = 0  # two labelled rows share no edge
    W += W.T
    K = np.exp(-2.0 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    L = np.diag(W.sum(axis=1)) - W
    Y, select = np.diag(2.0 * truth[:l] - 1), np.eye(l, n)
    M = np.linalg.inv(2 * gamma_A * np.eye(n) + 2 * gamma_I / n**2 * L @ K)
    Q = Y @ select @ K @ M @ select.T @ Y
    values, vectors = np.linalg.eigh((Q + Q.T) / 2)
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    beta = cp.Variable(l)
    dual = cp.Maximize(cp.sum(beta) - cp.sum_squares(root @ beta) / 2)
    task = cp.Problem(dual, [beta >= 0, beta <= 1 / l])
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11)
    alpha = M @ select.T @ Y @ beta.value
    n_edges = np.count_nonzero(np.triu(W))
    clf = GKMClassifier(
        C=1 / (2 * gamma_A * l),
        C_graph=gamma_I * n_edges / (2 * gamma_A * l * n**2),
        gamma=2.0,
        solver=Newton(tol=1e-11),
        precision="double",
        smoothness=IteratedLaplacian(degree=1, normalized=False),
    ).fit(X, np.where(np.arange(n) < l, truth, -1), affinity=W)
    np.testing.assert_allclose(clf.decision_function(X), K @ alpha, atol=1e-4)
    primal = np.maximum(0, 1 - Y @ select @ K @ alpha).mean()
    primal += gamma_A * alpha @ K @ alpha + gamma_I / n**2 * (K @ alpha) @ L @ (K @ alpha)
    assert clf.objective_ * 2 * gamma_A == pytest.approx(primal, rel=1e-6)


# ---------------------------------------------------------------- smooth stand-ins

KINKED = [Hinge(), L1(), EpsilonInsensitive(epsilon=0.2)]
SMOOTH = [SmoothHinge(tau=0.4), Logistic(), SmoothTube(0.2, 0.3), SmoothTube(0.0, 0.3)]


def targets_for(loss):
    return [-1.0, 1.0] if loss.task == "classification" else [-0.7, 0.0, 1.3]


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_slopes_and_curvatures_are_derivatives(loss):
    f, h = np.linspace(-2.513, 2.497, 400), 1e-6
    for y in targets_for(loss):
        y = np.full_like(f, y)
        slope = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
        np.testing.assert_allclose(loss.gradient(y, f), slope, atol=1e-8)
        bend = (loss.gradient(y, f + h) - loss.gradient(y, f - h)) / (2 * h)
        np.testing.assert_allclose(loss.curvature(y, f), bend, atol=1e-8)
        assert loss.smoothed(0.1) is loss


@pytest.mark.parametrize("width", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("loss", KINKED, ids=repr)
def test_smoothed_losses_are_moreau_envelopes(loss, width):
    smooth = loss.smoothed(width)
    for y in targets_for(loss):
        for f in np.linspace(-3, 3, 25):
            one = np.array([y])

            def total(s, f=f, one=one):
                return loss.value(one, np.array([s]))[0] + (f - s) ** 2 / (2 * width)

            at = minimize_scalar(
                total, bounds=(f - width, f + width), method="bounded", options={"xatol": 1e-10}
            )
            envelope = smooth.value(one, np.array([f]))[0]
            assert envelope == pytest.approx(min(at.fun, total(f)), abs=1e-8)
            # What the gap adds up: loss + conjugate at the envelope's slope, less the product.
            g = smooth.gradient(one, np.array([f]))[0]
            grid = np.linspace(-6, 6, 12_001)
            conjugate = (g * grid - loss.value(np.full_like(grid, y), grid)).max()
            left = loss.value(one, np.array([f]))[0] + conjugate - g * f
            residual = loss.value(one, np.array([f]))[0] - envelope - width / 2 * g**2
            assert residual == pytest.approx(left, abs=2e-3)
            assert 0 <= loss.value(one, np.array([f]))[0] - envelope <= width / 2 + 1e-12


def test_a_loss_without_curvature_says_so(two):
    class Own(Hinge):
        def smoothed(self, width):
            return self

    clf = GKMClassifier(loss=Own(), solver="newton")
    with pytest.raises(NotImplementedError, match=r"Own has no curvature.*solver='sgd'"):
        clf.fit(two.X, two.y)


@pytest.mark.parametrize("width", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 3.0])
def test_smoothness_derivatives(p, width):
    smoothness = Smoothness(p).smoothed(width)
    t, h = np.concatenate([np.linspace(-3, -0.1, 40), np.linspace(0.1, 3, 40)]), 1e-6
    if smoothness.width:
        t = np.append(t, 0.0)
    slope = (smoothness.value(t + h) - smoothness.value(t - h)) / (2 * h)
    np.testing.assert_allclose(smoothness.gradient(t), slope, rtol=1e-6, atol=1e-8)
    bend = (smoothness.gradient(t + h) - smoothness.gradient(t - h)) / (2 * h)
    np.testing.assert_allclose(smoothness.curvature(t), bend, rtol=1e-6, atol=1e-8)
    if p >= 2:
        assert smoothness == Smoothness(p)


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 3.0])
def test_conjugate_of_the_smoothness(p):
    slopes = np.linspace(-1, 1, 9) if p == 1 else np.linspace(-5, 5, 11)
    grid = np.linspace(-1500, 1500, 3_000_001)
    sizes = Smoothness(p).value(grid)
    for g in slopes:
        expected = (g * grid - sizes).max()
        assert Smoothness(p).conjugate(np.array(g)) == pytest.approx(expected, abs=1e-5)


# ---------------------------------------------------------------- features and forms


@pytest.fixture(scope="module")
def wide():
    """Return a problem of 330 rows with a sparse graph, and 150 of its rows as landmarks."""
    rng = np.random.default_rng(0)
    case = make_case("hinge", 2.0, "knn", X=rng.normal(size=(330, 6)), **ONE)
    return case, np.sort(rng.permutation(330)[:150])


@pytest.mark.long
@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_forms_are_the_dense_formula(degree, dense, small, wide, monkeypatch):
    case, rows = wide
    if small:  # two blocks of rows, three strips of columns
        monkeypatch.setattr(landmark_features, "_BLOCK", 1)
        monkeypatch.setattr(landmark_features, "_STRIP", 1)
    features = LandmarkFeatures(case.objective, rows, 1e-12)
    L = laplacian_matrix(case.objective.graph, normalized=True)
    seen = []

    class Bar:
        update = staticmethod(seen.append)

    found = features.kernel_form(L.toarray() if dense else L, degree, Bar)
    K = (case.problem.K + 1.0)[:, features.rows]
    power = np.linalg.matrix_power(L.toarray(), degree)
    expected = K.T @ power @ K
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(found, found.T, atol=1e-12 * np.abs(expected).max())
    assert 0 < sum(seen) <= 330
    Z = features.at(np.arange(330))
    form = features.quadratic_form(L.toarray() if dense else L, degree)
    np.testing.assert_allclose(form, Z.T @ power @ Z, atol=1e-7)


@pytest.mark.parametrize("small", [False, True])
def test_features_are_a_root_of_the_kernel(small, wide, monkeypatch):
    case, rows = wide
    if small:
        monkeypatch.setattr(landmark_features, "_BLOCK", 1)
    features = LandmarkFeatures(case.objective, rows, 1e-12)
    K = case.problem.K + 1.0
    assert sorted(features.rows) == rows.tolist() and len(features) == 150
    np.testing.assert_allclose(features.gram, K[np.ix_(features.rows, features.rows)], rtol=1e-12)
    Z = features.at(np.arange(330))
    np.testing.assert_allclose(Z @ Z[features.rows].T, K[:, features.rows], atol=1e-8)
    rng = np.random.default_rng(1)
    w, u = rng.normal(size=150), rng.normal(size=330) * (rng.random(330) < 0.5)
    np.testing.assert_allclose(features.scores(w), Z @ w, atol=1e-7)
    np.testing.assert_allclose(features.adjoint(u), Z.T @ u, atol=1e-7)
    np.testing.assert_allclose(K[:, features.rows] @ features.coefficients(w), Z @ w, atol=1e-7)


def test_rows_that_others_explain_are_dropped():
    X = np.repeat(np.random.default_rng(0).normal(size=(12, 3)), 3, axis=0)
    objective = make_case("hinge", 2.0, "knn", X=X, **ONE).objective
    features = LandmarkFeatures(objective, np.arange(36), 1e-12)
    assert len(features) == 12
    assert len({tuple(X[row]) for row in features.rows}) == 12


def test_cholesky_that_cannot_fail():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 5))
    A = A @ A.T
    A -= 1e-14 * np.eye(20)
    root = safe_cholesky(A)
    np.testing.assert_allclose(root @ root.T, A, atol=1e-11)
    for value in (np.inf, np.nan):
        with pytest.raises(OverflowError, match=r"C or C_graph.*smaller"):
            safe_cholesky(np.full((2, 2), value))


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-310, 1e-300])
def test_zeros_have_a_root_too(value):
    lower, upper = (root(np.full((3, 3), value)) for root in (safe_cholesky, raised_cholesky))
    for product in (lower @ lower.T, np.triu(upper).T @ np.triu(upper)):
        assert (np.linalg.eigvalsh(product) >= 0).all()
        np.testing.assert_allclose(product, value, rtol=1e-8, atol=1e-307)
    assert np.diag(lower).all()
    assert np.diag(upper).all()


# ---------------------------------------------------------------- landmarks


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rows", ["distinct", "duplicates", "equal"])
def test_landmarks_are_distinct_rows(rule, rows, wide):
    case, _ = wide
    X = case.objective.X
    X = {"distinct": X, "duplicates": np.repeat(X[:33], 10, axis=0), "equal": np.ones((330, 6))}
    objective = replace(case.objective, X=X[rows])
    for count in (1, 2, 17, 100, 329, 330):
        first, again, other = (
            choose_landmarks(objective, count, rule, np.random.default_rng(s)) for s in (0, 0, 1)
        )
        assert len(first) == len(set(first.tolist())) == count
        assert (np.diff(first) > 0).all()
        assert first[0] >= 0 and first[-1] < 330
        np.testing.assert_array_equal(first, again)
        if count >= 16:  # all 8 labelled rows, which are at most half of them
            assert np.isin(objective.labeled, first).all()
        else:
            assert np.isin(first, objective.labeled).sum() >= min(8, max(1, count // 2))
        if 17 <= count < 329:
            assert not np.array_equal(first, other)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed", "poly"])
@pytest.mark.parametrize("rule", RULES)
def test_landmarks_of_any_kind_of_rows(rule, kernel, storage):
    case = make_case("hinge", 2.0, "knn", kernel, n=60, **ONE)
    objective = replace(case.objective, X=storage(case.objective.X))
    chosen = choose_landmarks(objective, 30, rule, np.random.default_rng(0))
    dense = choose_landmarks(case.objective, 30, rule, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 30
    if rule != "greedy":  # its first rows tie, and rounding decides
        np.testing.assert_array_equal(chosen, dense)
    assert np.isfinite(newton(objective, n_landmarks=30, landmarks=rule).objective).all()


def test_spreading_rules_cover_the_rows_better():
    """Most rows lie in one spot: rows drawn alike miss the others."""
    rng = np.random.default_rng(0)
    X = np.vstack([0.01 * rng.normal(size=(150, 2)), 5.0 * rng.normal(size=(30, 2))])
    case = make_case("hinge", 2.0, "knn", X=X, **ONE)
    K = case.problem.K + case.problem.offset

    def unexplained(rule):
        rows = choose_landmarks(case.objective, 60, rule, np.random.default_rng(0))
        part = K[:, rows] @ np.linalg.pinv(K[np.ix_(rows, rows)], rcond=1e-10) @ K[rows]
        return np.trace(K - part)

    assert unexplained("kmeans++") < 0.5 * unexplained("uniform")
    assert unexplained("greedy") < 0.5 * unexplained("uniform")


@pytest.mark.dear
@pytest.mark.parametrize("p", [1.5, 2.0])
@pytest.mark.parametrize("rule", RULES)
def test_more_landmarks_come_closer(rule, p):
    case = make_case("hinge", p, "knn", n=60, **ONE)
    best, _ = minimum(case.problem)
    sizes = (10, 20, 40, 59, 60)
    runs = [newton(case.objective, n_landmarks=m, landmarks=rule) for m in sizes]
    values = [J(case.problem, case.full(run))[0] for run in runs]
    assert min(values) >= best * (1 - 1e-7)
    assert values[-1] == pytest.approx(best, rel=1e-6)
    assert values[0] > values[2] > values[-1] * (1 + 1e-6)
    # Landmarks that the others explain, such as the second of two equal rows, are dropped.
    assert all(len(run.rows) <= m for run, m in zip(runs, sizes, strict=True))
    assert len(runs[0].rows) >= 9
    for run, J_found in zip(runs, values, strict=True):  # what it says is about these landmarks
        assert run.objective[0] == pytest.approx(J_found, rel=1e-7)


def test_nested_landmarks_never_lose(monkeypatch):
    from graphkm.solvers import newton as module

    case = make_case("logistic", 2.0, "knn", n=60, degree=2, normalized=True, **ONE)
    order, values = np.random.default_rng(0).permutation(60), []
    for m in (5, 10, 20, 40, 60):
        monkeypatch.setattr(module, "choose_landmarks", lambda *_, m=m: np.sort(order[:m]))
        values.append(newton(case.objective, n_landmarks=m).objective[0])
    assert (np.diff(values) <= 1e-9 * values[0]).all()


def test_without_a_graph_labelled_landmarks_are_enough():
    case = make_case("hinge", 2.0, None, n=60, **ONE)
    few = newton(case.objective, n_landmarks=16)
    assert few.objective[0] == pytest.approx(newton(case.objective).objective[0], rel=1e-8)


# ---------------------------------------------------------------- the estimators


@pytest.fixture
def batch(classifier):
    """Return a factory of classifiers with the Newton solver."""
    return lambda **changes: classifier(
        **{
            "solver": "newton",
            "max_iter": 500,
            "precision": "double",
            "tol": 1e-9,
        }
        | changes
    )


def test_objective_is_that_of_the_model(batch, two):
    """By hand from public attributes: the norm, the losses, and the normalised Laplacian."""
    W = np.exp(-0.5 * ((two.X[:, None] - two.X[None]) ** 2).sum(axis=2)) * (
        np.random.default_rng(0).random((80, 80)) < 0.2
    )
    W[:24, :24] = 0
    W = np.triu(W, 1)
    W += W.T
    clf = batch(
        C=2.0, C_graph=30.0, fit_intercept=False, normalized=True,
        degree=2,
    ).fit(two.X, two.y, affinity=W)  # fmt: skip
    a = np.zeros(80)
    a[clf.support_] = clf.dual_coef_[0]
    K = np.exp(-0.5 * ((two.X[:, None] - two.X[None]) ** 2).sum(axis=2))
    degree = W.sum(axis=1)
    L = np.eye(80) - W / np.sqrt(np.outer(degree, degree))
    f = K @ a
    by_hand = a @ f / 2 + 2.0 * np.maximum(0, 1 - (2 * two.y - 1)[:24] * f[:24]).sum()
    by_hand += 30.0 * 24 / 80 * f @ L @ L @ f
    assert clf.objective_ == pytest.approx(by_hand, rel=1e-7)
    assert clf.guarantee_ is None
    assert clf.C_ == 2.0
    np.testing.assert_allclose(clf.decision_function(two.X), f, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize(
    "options", [{}, pytest.param({"p": 1.0, "degree": 1}, marks=pytest.mark.slow)]
)
def test_one_vs_rest_is_a_binary_fit_per_class(options, batch, three):
    X, y, _ = three
    clf = batch(**options).fit(X, y)
    total = 0.0
    for c in range(3):
        one = batch(**options).fit(X, np.where(y < 0, -1, y == c))
        total += one.objective_
        np.testing.assert_allclose(
            clf.decision_function(X)[:, c], one.decision_function(X), atol=1e-4
        )
    assert clf.objective_ == pytest.approx(total, rel=1e-7)
    assert clf.score(X, three.truth) > 0.6


def test_weights_are_repetitions_of_labelled_rows(batch, two):
    """Without a graph: a repeated row would be another vertex of it."""
    X, y = two.X[:24], two.y[:24]
    times = np.random.default_rng(0).integers(0, 4, 24)
    weighted = batch(C_graph=0).fit(X, y, sample_weight=times)
    repeated = batch(C_graph=0).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-5
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-7)


def test_weights_scale_the_losses_with_a_graph(batch, two):
    weighted = batch(C=1.0).fit(two.X, two.y, sample_weight=np.full(80, 4.0))
    scaled = batch(C=4.0).fit(two.X, two.y)
    assert weighted.objective_ == pytest.approx(scaled.objective_, rel=1e-9)
    np.testing.assert_allclose(
        weighted.decision_function(two.X), scaled.decision_function(two.X), atol=1e-5
    )


@pytest.mark.long
@pytest.mark.parametrize("p", [1, 1.5, 2, 3])
def test_both_solvers_minimise_the_same(p, batch, classifier, two):
    options = {"C_graph": 0.5, "p": p, "normalized": False, "degree": 1}
    options |= {"weights": "kernel"}
    exact = batch(**options).fit(two.X, two.y)
    drawn = classifier(max_iter=100_000, precision="double", **options).fit(two.X, two.y)
    np.testing.assert_allclose(
        exact.decision_function(two.X), drawn.decision_function(two.X), atol=0.05
    )
    assert exact.objective_ < drawn.objective_ < 1.1 * exact.objective_


def test_precisions_agree(batch, two):
    single = batch(precision="single", C_graph=10.0).fit(two.X, two.y)
    double = batch(precision="double", C_graph=10.0).fit(two.X, two.y)
    np.testing.assert_allclose(
        single.decision_function(two.X), double.decision_function(two.X), atol=1e-3
    )
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # p = 1 is hard
@pytest.mark.filterwarnings("ignore:The graph overrules")
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("p", [pytest.param(1, marks=pytest.mark.slow), 2, 3])
def test_a_huge_graph_term_stays_finite(p, loss, batch, two):
    degree = 2 if p == 2 else 1
    clf = batch(C_graph=1e12, p=p, loss=loss, degree=degree, tol=1e-6)
    scores = clf.fit(two.X, two.y).decision_function(two.X)
    assert np.isfinite(scores).all() and np.abs(scores).max() < 100
    assert 0 <= clf.objective_ <= 24 * 1.0 * 1.0001  # J(0)


# Where rounding ends the iteration early, it says so: that is the next test.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", ["hinge", "smooth_hinge", "logistic"])
@pytest.mark.parametrize("C", [1e12, 1e60, 1e100])
def test_a_huge_cost_stays_finite(C, loss, batch, two):
    clf = batch(C=C, C_graph=0, loss=loss, tol=1e-6).fit(two.X, two.y)
    assert np.abs(clf.decision_function(two.X)).max() < 1e4
    assert clf.score(two.X, two.y) == 1.0


def test_rounding_that_ends_the_iteration_warns(batch, two):
    with pytest.warns(ConvergenceWarning, match=r"J within .* of its minimum.*Rounding") as caught:
        clf = batch(C=1e60, C_graph=0, tol=1e-6).fit(two.X, two.y)
    assert clf.n_iter_ < 500  # it is not for want of steps
    assert len(caught) == 1


AWKWARD = {
    "equal rows": np.ones((80, 3)),
    "zero rows": np.zeros((80, 3)),
    "pairs": np.repeat(np.random.default_rng(0).normal(size=(40, 3)), 2, axis=0),
    "one column": np.arange(80.0)[:, None],
    "constant columns": np.c_[np.arange(80.0), np.ones((80, 5))],
    "more columns than rows": np.random.default_rng(0).normal(size=(80, 200)),
}


@pytest.mark.dear
@pytest.mark.filterwarnings("ignore:The graph overrules")  # of rows that are noise
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
@pytest.mark.parametrize("name", AWKWARD)
def test_singular_kernels(name, kernel, fit_intercept, two):
    X = AWKWARD[name]
    for rows in (X, sp.csr_array(X)):
        clf = GKMClassifier(kernel=kernel, fit_intercept=fit_intercept).fit(rows, two.y)
        assert np.isfinite(clf.decision_function(rows)).all()
        assert np.isfinite(clf.objective_)
        assert len(clf.support_) <= 80


def test_repeated_rows_are_one_row_of_the_kernel(batch, two):
    """Two copies of every row, joined by nothing, with half the losses each: the same f."""
    W = np.random.default_rng(0).uniform(0.1, 1, (80, 80))
    W = np.triu(W * (np.random.default_rng(1).random((80, 80)) < 0.1), 1)
    W[:24, :24] = 0
    W += W.T
    options = {"normalized": False, "degree": 1}
    once = batch(C_graph=1.0, **options).fit(two.X, two.y, affinity=W)
    both = np.zeros((160, 160))
    both[:80, :80] = both[80:, 80:] = W
    twice = batch(C=0.5, C_graph=0.5, **options)  # l / |E| is the same, the sum twice as large
    twice.fit(np.vstack([two.X] * 2), np.tile(two.y, 2), affinity=both)
    assert len(twice.support_) <= 80
    np.testing.assert_allclose(
        twice.decision_function(two.X), once.decision_function(two.X), atol=1e-4
    )


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"degree": 1, "p": 1.5}])
def test_a_graph_in_parts(options, batch, three):
    X = np.vstack([three.X, three.X[:20] + 30])
    clf = batch(C_graph=10.0, **options)
    with pytest.warns(UserWarning, match="no labelled point"):
        clf.fit(X, np.append(three.y, np.full(20, -1)))
    assert np.isfinite(clf.decision_function(X)).all()


def test_a_vertex_without_edges(batch, two):
    W = np.zeros((80, 80))
    W[0, 30] = W[30, 0] = W[1, 40] = W[40, 1] = 1.0
    with pytest.warns(UserWarning, match="no labelled point"):
        clf = batch().fit(two.X, two.y, affinity=W)
    assert np.isfinite(clf.decision_function(two.X)).all()


@pytest.mark.long
def test_sparse_is_dense(batch, three):
    X = np.where(np.abs(three.X) < 0.5, 0.0, three.X)
    for kernel in ("rbf", "laplacian", "poly", "linear", "cosine"):
        dense = batch(kernel=kernel).fit(X, three.y)
        sparse = batch(kernel=kernel).fit(sp.csr_array(X), three.y)
        assert dense.objective_ == pytest.approx(sparse.objective_, rel=1e-6)
        np.testing.assert_allclose(
            sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-3
        )


def test_intercept_adds_one_to_the_kernel(batch, two):
    K = np.exp(-0.5 * ((two.X[:, None] - two.X[None]) ** 2).sum(axis=2))
    W = K - np.eye(80)
    with_one = batch(fit_intercept=True).fit(two.X, two.y, affinity=W)
    by_hand = batch(kernel="precomputed", fit_intercept=False)
    by_hand.fit(K + 1, two.y, affinity=W)
    np.testing.assert_allclose(
        with_one.decision_function(two.X), by_hand.decision_function(K + 1), atol=1e-4
    )
    np.testing.assert_allclose(with_one.intercept_, with_one.dual_coef_.sum(axis=1))


def test_callback_sees_steps_and_stops(batch, three):
    seen = []

    def stop(progress):
        seen.append(progress)
        return progress.n_iter == 4

    clf = batch(callback=stop).fit(three.X, three.y)
    assert [s.n_iter for s in seen] == [1, 2, 3, 4]
    assert {s.max_iter for s in seen} == {3 * 500}
    assert {s.n_centres for s in seen} == {90}
    assert np.isfinite(clf.decision_function(three.X)).all()


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"p": 1, "degree": 1}, {"degree": 3}])
def test_verbose_shows_progress_on_stderr(options, batch, two, capsys):
    batch(verbose=0, **options).fit(two.X, two.y)
    assert capsys.readouterr() == ("", "")
    clf = batch(verbose=1, **options).fit(two.X, two.y)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(rf"100%.* {clf.n_iter_}/{clf.n_iter_} .*step", err)  # fewer than it may take
    assert ("graph: 100%" in err and "80/80" in err) == ("p" not in options)


def test_too_few_steps_warn_from_the_estimator(batch, two):
    with pytest.warns(ConvergenceWarning, match="larger max_iter or tol"):
        clf = batch(max_iter=1).fit(two.X, two.y)
    assert clf.n_iter_ == 1
    assert 1 < batch().fit(two.X, two.y).n_iter_ < 100


@pytest.mark.long
def test_copies_and_clones(batch, three):
    clf = batch(n_landmarks=50, landmarks="kmeans++").fit(three.X, three.y)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.decision_function(three.X), clf.decision_function(three.X))
    twin = clone(clf)
    assert twin.get_params() == clf.get_params()
    np.testing.assert_array_equal(twin.fit(three.X, three.y).dual_coef_, clf.dual_coef_)
    assert len(clf.support_) == 50


@pytest.mark.long
def test_the_seed_decides_the_landmarks(batch, three):
    def support(seed):
        return batch(n_landmarks=40, random_state=seed).fit(three.X, three.y).support_

    np.testing.assert_array_equal(support(3), support(3))
    assert not np.array_equal(support(3), support(4))
    everywhere = [batch(random_state=s).fit(three.X, three.y).dual_coef_ for s in (1, 2)]
    np.testing.assert_array_equal(*everywhere)  # all rows: nothing is left to chance


@pytest.mark.long
@pytest.mark.parametrize("n_landmarks", ["auto", 60])
def test_threads_change_nothing(n_landmarks, batch, three):
    one, two = (batch(n_jobs=n, n_landmarks=n_landmarks).fit(three.X, three.y) for n in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


@pytest.mark.long
def test_the_graph_helps_on_two_moons_untuned():
    accuracy = {None: [], 0: []}
    for seed in range(8):
        X, truth = make_moons(400, noise=0.1, random_state=seed)
        y = np.full(400, -1)
        rng = np.random.default_rng(seed)
        for c in (0, 1):
            y[rng.choice(np.flatnonzero(truth == c), 4, replace=False)] = c
        for C_graph, found in accuracy.items():
            options = {} if C_graph is None else {"C_graph": C_graph}
            found.append(gkm_classifier(**options).fit(X, y).score(X, truth))
    assert np.mean(accuracy[None]) > np.mean(accuracy[0]) + 0.02
    assert np.mean(accuracy[None]) > 0.95


@pytest.mark.long
@pytest.mark.parametrize("p", [1, 1.5, 2, 3])
def test_default_costs_learn_something_at_any_p(p, two, curve):
    assert GKMClassifier(smoothness=p).fit(two.X, two.y).score(two.X, two.truth) > 0.7
    assert GKMRegressor(smoothness=p).fit(curve.X, curve.y).score(curve.X, curve.truth) > 0.6


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_landmarks": 81}, r"n_landmarks=81 is more than the 80 rows.*'auto'"),
        ({"n_landmarks": 0}, "n_landmarks must be 'auto' or a whole number >= 1, got 0"),
        ({"n_landmarks": "all"}, "n_landmarks must be 'auto' or a whole number"),
        ({"landmarks": "random"}, "landmarks must be one of 'uniform', 'kmeans..', 'greedy'"),
        ({"tol": 0}, "tol must be a finite number > 0, got 0"),
        ({"solver": "lbfgs"}, "solver must be one of 'newton', .*Newton.*SGD.*got 'lbfgs'"),
        ({"normalized": "random_walk"}, "normalized must be True or False, got 'random_walk'"),
        ({"degree": 0}, "degree must be 'auto' or a whole number >= 1"),
        ({"degree": 2.0}, "degree must be .* got 2.0"),
        ({"search": "near"}, "search must be one of 'auto', 'exact', 'approximate'"),
        ({"C": "big"}, "C must be 'auto' or a finite number > 0, got 'big'"),
        ({"C_graph": "big"}, "C_graph must be 'auto' or 'guaranteed' or a finite number >= 0"),
        (
            {"weights": "wide"},
            "weights must be 'auto' or 'local' or 'sharp' or 'kernel' or a finite",
        ),
        ({"degree": 2, "solver": "sgd"}, r"solver=SGD\(\) draws single edges"),
        ({"normalized": True, "solver": "sgd"}, r"solver=SGD\(\) draws single edges"),
        (
            {"C_graph": "guaranteed", "solver": "newton"},
            "C_graph='guaranteed' follows a theorem about plain differences",
        ),
        ({"weights": "local", "graph": "full"}, "weights='local' takes its bandwidths"),
    ],
)
def test_bad_parameters(options, message, two):
    for make, y in ((gkm_classifier, two.y), (gkm_regressor, np.where(two.y < 0, np.nan, two.y))):
        with pytest.raises(ValueError, match=message):
            make(**options).fit(two.X, y)


def test_guaranteed_with_the_newton_solver(two):
    options = {"normalized": False, "degree": 1, "solver": "newton"}
    clf = gkm_classifier(C_graph="guaranteed", **options).fit(two.X, two.y)
    limit = largest_C_graph(24 * clf.C_, p=2, R=1.0, A=1.0)
    assert 24 * clf.plan_.C_graph == pytest.approx(0.99 * limit)
    assert clf.guarantee_ is None  # the theorem is about stochastic steps


def rows_of(n, n_labeled):
    X = np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32)
    y = np.full(n, -1)
    y[:n_labeled] = np.arange(n_labeled) % 2
    return X, y


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "n_labeled", "options", "newton"),
    [
        (300, 20, {}, True),
        (300, 300, {}, True),
        (2500, 20, {}, True),
        (2500, 2000, {}, False),
        (2500, 20, {"p": 1}, False),
        (2500, 20, {"graph": "bipartite"}, False),
        (300, 20, {"C_graph": "guaranteed"}, False),
        (300, 20, {"p": 1}, True),
        (300, 20, {"solver": "sgd"}, False),
        (2500, 2000, {"solver": "newton", "n_landmarks": 50}, True),
    ],
)
def test_which_solver_is_automatic(n, n_labeled, options, newton):
    seen = []
    clf = gkm_classifier(**options, callback=lambda p: seen.append(p) or True, random_state=0)
    clf.fit(*rows_of(n, n_labeled))
    assert (seen[0].max_iter == 500) == newton
    if newton:
        assert seen[0].n_centres <= (options.get("n_landmarks") or (n if n <= 2000 else 1000))


def test_memory_of_the_landmarks(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**25)
    with pytest.raises(MemoryError, match=r"solver=Newton\(\) with 1,000 landmarks.*n_landmarks"):
        GKMClassifier(solver="newton").fit(*rows_of(1000, 20))
    GKMClassifier(solver=Newton(n_landmarks=100)).fit(*rows_of(1000, 20))


def test_no_graph_means_no_sum_over_it():
    """A graph without edges and one that is absent are the same problem."""
    case = make_case("hinge", 2.0, None, **ONE)
    empty = replace(case.objective, graph=ListedGraph(24, [], [], []))
    np.testing.assert_array_equal(newton(empty).coefficients, newton(case.objective).coefficients)

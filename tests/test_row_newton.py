"""Smoothing of the rows' own scores, against dense inverses and the problem with kernel 1."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from convex import minimum
from flat import gkm_classifier
from graphkm import GKMClassifier, GKMClassifierCV, GKMRegressor
from graphkm.graphs.laplacian import laplacian_matrix
from graphkm.solvers import Newton, Resources, RowNewton, newton, row_newton, solve
from graphkm.solvers.landmark_features import LandmarkFeatures
from graphkm.solvers.row_newton import RowKernel, fit_landmarks
from oracles import make_case

X = np.random.default_rng(0).normal(size=(60, 3))  # no two rows alike


def smooth_rows(objective, n_landmarks):
    resources = Resources(np.random.SeedSequence(0), np.float64)
    return solve(RowNewton(n_landmarks, tol=1e-9), objective, resources)


@pytest.mark.parametrize("strength", [0.1, 10.0, 1e3])
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("normalized", [False, True])
def test_kernel_is_the_inverse(normalized, degree, strength):
    case = make_case("hinge", 2.0, "knn", n=80, n_labeled=70, seed=3)
    L = laplacian_matrix(case.objective.graph, normalized=normalized)
    power = np.linalg.matrix_power(L.toarray(), degree)
    if not normalized:  # of about the size of a normalised one
        L, power = L / 4, power / 4**degree
    rows = case.objective.labeled  # more than are solved side by side
    kernel = RowKernel(L, degree, strength, rows)
    inverse = np.linalg.inv(np.eye(80) + strength * power)
    own = inverse[np.ix_(rows, rows)]
    np.testing.assert_allclose(kernel.phi @ kernel.phi.T, own, atol=2e-4)
    np.testing.assert_allclose(kernel.at(np.arange(80)) @ kernel.phi.T, inverse[:, rows], atol=2e-4)
    assert kernel.scale == pytest.approx(own.diagonal().mean(), rel=1e-3)
    v = np.random.default_rng(0).normal(size=(70, 2))
    np.testing.assert_allclose(
        kernel.scores(v), kernel.at(np.arange(80)) @ v, atol=1e-4 * np.abs(v).max() * 70
    )


def test_unsolved_systems_warn(monkeypatch, moons):
    case = make_case("hinge", 2.0, "knn", n=80, n_labeled=70, seed=3)
    L = laplacian_matrix(case.objective.graph, normalized=True)
    rows = case.objective.labeled
    monkeypatch.setattr(row_newton, "_MOST", 3)
    with pytest.warns(ConvergenceWarning, match=r"3 steps.*smaller C_graph") as caught:
        kernel = RowKernel(L, 2, 1e3, rows)
    assert len(caught) == 1
    T = np.eye(80) + 1e3 * np.linalg.matrix_power(L.toarray(), 2)
    columns = kernel.scores(kernel.phi.T)  # as they were solved
    residual = np.linalg.norm(np.eye(80)[:, rows] - T @ columns, axis=0)
    assert f"residual of {residual.max():.2g}," in str(caught[0].message)
    X, y, _ = moons
    with pytest.warns(ConvergenceWarning, match="3 steps"):
        GKMClassifier(solver=RowNewton(n_landmarks=100)).fit(X, y)


def test_outputs_share_one_strength():
    case = make_case("hinge", 2.0, "knn", X=X, C=(2.0, 1.0), C_graph=(3.0, 4.0))
    with pytest.raises(ValueError, match=r"one C_graph, and theirs are \[3.0, 4.0\]"):
        smooth_rows(case.objective, 40)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "l1"])
def test_scores_minimise_j_of_the_kernel_that_knows_rows_only(loss, degree):
    case = make_case(
        loss, 2.0, "knn", X=X, C=(2.0,), C_graph=(3.0,), normalized=True, degree=degree
    )
    case.problem.K, case.problem.offset = np.eye(60), 0.0
    best, g = minimum(case.problem)
    solution = smooth_rows(case.objective, 60)
    np.testing.assert_allclose(solution.row_scores[:, 0], g, atol=2e-3)
    assert solution.objective[0] == pytest.approx(best, rel=1e-3)
    assert 0 <= solution.gap[0] <= 1e-8 * best


def test_relative_costs():
    case = make_case("hinge", 2.0, "knn", X=X, C=(5.0,), C_graph=(3.0,), normalized=True)
    L = laplacian_matrix(case.objective.graph, normalized=True).toarray()
    rows = case.objective.labeled
    inverse = np.linalg.inv(np.eye(60) + 2 * case.objective.graph_factor[0] * L)
    solution = smooth_rows(replace(case.objective, relative=True), 30)
    assert solution.C[0] == pytest.approx(5.0 / inverse[rows, rows].mean(), rel=1e-3)
    plain = smooth_rows(replace(case.objective, C=solution.C), 30)
    np.testing.assert_allclose(plain.row_scores, solution.row_scores, atol=1e-5)


def test_landmarks_are_fitted_by_ridge():
    case = make_case("hinge", 2.0, "knn", X=X)
    features = LandmarkFeatures(case.objective, np.arange(0, 60, 3), 1e-12)
    wanted = np.random.default_rng(0).normal(size=(60, 2))
    K = (case.problem.K + 1.0)[:, features.rows]
    S = K[features.rows]
    expected = np.linalg.solve(K.T @ K + S, K.T @ wanted)
    found = fit_landmarks(features, wanted)
    np.testing.assert_allclose(K @ found, K @ expected, atol=1e-6)


@pytest.mark.parametrize(("loss", "decisions"), [("l1", False), ("hinge", True)])
@pytest.mark.parametrize("outputs", [1, 3])
def test_what_landmarks_are_fitted_to(outputs, loss, decisions):
    costs = {"C": (2.0,) * outputs, "C_graph": (3.0,) * outputs}
    case = make_case(loss, 2.0, "knn", X=X, normalized=True, **costs)
    solution = smooth_rows(case.objective, 40)
    wanted = solution.row_scores.copy()
    if decisions:
        signs = np.where(wanted >= 0, 1.0, -1.0)
        best = np.where(wanted == wanted.max(axis=1, keepdims=True), 1.0, -1.0)
        wanted = signs if outputs == 1 else best
    wanted[case.objective.labeled] = case.objective.targets
    K = (case.problem.K + 1.0)[:, solution.rows]
    expected = K @ np.linalg.solve(K.T @ K + K[solution.rows], K.T @ wanted)
    np.testing.assert_allclose(K @ solution.coefficients, expected, atol=1e-5)


@pytest.fixture(scope="module")
def moons():
    X, truth = make_moons(500, noise=0.1, random_state=0)
    y = np.full(500, -1)
    for c in (0, 1):
        y[np.flatnonzero(truth == c)[:5]] = c
    return X, y, truth


def test_estimators(moons):
    X, y, truth = moons
    clf = GKMClassifier(random_state=0, solver=RowNewton(n_landmarks=100)).fit(X, y)
    assert len(clf.support_) <= 100
    assert clf.score(X, truth) > 0.9
    assert np.mean(clf.transduction_ == truth) > 0.9
    np.testing.assert_array_equal(clf.transduction_[y >= 0], y[y >= 0])
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    same = GKMClassifier(random_state=0, solver=RowNewton(n_landmarks=100)).fit(X, y)
    np.testing.assert_array_equal(same.dual_coef_, clf.dual_coef_)
    line = np.linspace(0, 6, 200)[:, None]
    known = np.where(np.arange(200) % 10 == 0, np.sin(line.ravel()) + 7, np.nan)
    reg = GKMRegressor(solver="row_newton").fit(line, known)
    assert reg.score(line, np.sin(line.ravel()) + 7) > 0.9
    np.testing.assert_array_equal(reg.transduction_[::10], known[::10])


def test_automatic_where_landmarks_are_fewer_than_rows(moons, monkeypatch):
    X, y, _ = moons
    monkeypatch.setattr(newton, "_ALL", 200)
    monkeypatch.setattr(newton, "_SOME", 100)
    smooth = {"loss": "smooth_hinge", "random_state": 0}
    named = GKMClassifier(solver=RowNewton(n_landmarks=100), **smooth).fit(X, y)
    default = GKMClassifier(**smooth).fit(X, y)
    np.testing.assert_array_equal(default.dual_coef_, named.dual_coef_)
    without_graph = GKMClassifier(C_graph=0, random_state=0).fit(X, y)
    assert isinstance(without_graph.plan_.solver, Newton)
    # Named, but with nothing to smooth, it is Newton's method too.
    same = GKMClassifier(C_graph=0, solver="row_newton", random_state=0).fit(X, y)
    np.testing.assert_array_equal(same.dual_coef_, without_graph.dual_coef_)


def test_searched(moons):
    X, y, truth = moons
    model = GKMClassifier(solver=RowNewton(n_landmarks=100), class_weight="balanced")
    search = GKMClassifierCV(model, random_state=0).fit(X, y)
    assert isinstance(search.best_estimator_.plan_.solver, RowNewton)
    assert search.score(X, truth) > 0.8
    again = GKMClassifierCV(model, random_state=0).fit(X, y)
    assert again.best_params_ == search.best_params_


def test_too_few_steps_warn(moons):
    X, y, _ = moons
    clf = GKMClassifier(solver=RowNewton(n_landmarks=100, max_iter=1))
    with pytest.warns(ConvergenceWarning, match="larger max_iter or tol"):
        clf.fit(X, y)
    assert clf.n_iter_ == 1


@pytest.mark.parametrize("options", [{"p": 1}, {"graph": "full"}, {"graph": "bipartite"}])
def test_needs_a_listed_graph_and_p_2(options, moons):
    X, y, _ = moons
    with pytest.raises(ValueError, match=r"RowNewton\(\) needs a smoothness with p=2 and a graph"):
        gkm_classifier(solver="row_newton", **options).fit(X, y)

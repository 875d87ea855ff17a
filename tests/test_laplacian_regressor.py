"""Laplacian regularised least squares against a convex solver and the closed form."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

from flat import laplacian_parts
from graphkm import IteratedLaplacian
from graphkm.baselines import LaplacianRegressor
from laplacian_oracles import laplacian, minimum, neighbour_weights, rbf

EXPLICIT = {
    "gamma_A": 0.02,
    "gamma_I": 0.1,
    "gamma": 0.6,
    "n_neighbors": 5,
    "weights": "local",
    "normalized": False,
    "degree": 1,
    "fit_intercept": False,
    "tol": 1e-10,
}


def regressor(**changes):
    return LaplacianRegressor(**laplacian_parts(**(EXPLICIT | changes)))


@pytest.mark.parametrize("solver", ["newton", "cg"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("normalized", "degree"), [(False, 1), (True, 2)])
def test_the_minimum(curve, normalized, degree, fit_intercept, solver):
    X, y, _ = curve
    labeled = np.flatnonzero(~np.isnan(y))
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    reg = regressor(
        normalized=normalized, degree=degree, fit_intercept=fit_intercept, solver=solver
    ).fit(X, y, weight)
    W = neighbour_weights(X, 5)
    M = np.linalg.matrix_power(laplacian(W, normalized), degree)
    s, known = weight[labeled], y[labeled]
    origin = np.average(known, weights=s) if fit_intercept else 0.0
    value, scores = minimum(
        rbf(X, 0.6), M, labeled, known - origin, s, 0.02, 0.1, "squared_error", fit_intercept
    )
    assert reg.objective_ == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(reg.predict(X), scores + origin, atol=1e-5)


def test_closed_form(curve):
    """a = (J K + gamma_A + gamma_I L K)^(-1) y, of Belkin, Niyogi and Sindhwani."""
    X, y, _ = curve
    K, L = rbf(X, 0.6), laplacian(neighbour_weights(X, 5), normalized=False)
    J = np.diag(~np.isnan(y) * 1.0)
    a = np.linalg.solve(J @ K + 0.02 * np.eye(80) + 0.1 * L @ K, np.nan_to_num(y))
    reg = regressor().fit(X, y)
    np.testing.assert_allclose(reg.predict(X), K @ a, atol=1e-8)
    assert reg.n_iter_ <= 2


def test_without_a_graph_it_is_kernel_ridge(curve):
    X, y, _ = curve
    known = ~np.isnan(y)
    ridge = KernelRidge(alpha=0.02, kernel="rbf", gamma=0.6).fit(X[known], y[known])
    reg = regressor(gamma_I=0).fit(X, y)
    np.testing.assert_allclose(reg.predict(X), ridge.predict(X), atol=1e-8)


def test_a_shift_of_targets_shifts_predictions(curve):
    X, y, _ = curve
    low = regressor(fit_intercept=True, normalized=True).fit(X, y)
    high = regressor(fit_intercept=True, normalized=True).fit(X, y + 100)
    np.testing.assert_allclose(high.predict(X), low.predict(X) + 100, atol=1e-7)
    np.testing.assert_allclose(
        low.intercept_ + low.dual_coef_[0] @ rbf(X, 0.6)[low.support_], low.predict(X), atol=1e-9
    )


def test_blocks_and_sparse_rows_give_the_same_model(curve):
    X, y, _ = curve
    whole = regressor(solver="cg", tol=1e-7).fit(X, y).predict(X)
    for rows in (X, sp.csr_array(X)):
        blocks = regressor(solver="cg", tol=1e-7, max_memory=1000).fit(rows, y)
        assert blocks.solver_ == "cg"
        np.testing.assert_allclose(blocks.predict(rows), whole, atol=1e-5)


def test_transduction_keeps_known_targets(curve):
    X, y, truth = curve
    reg = regressor().fit(X, y)
    known = ~np.isnan(y)
    np.testing.assert_array_equal(reg.transduction_[known], y[known])
    np.testing.assert_array_equal(reg.transduction_[~known], reg.predict(X)[~known])
    assert reg.score(X, truth) > 0.9


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"gamma_A": -1}, "gamma_A must be"), ({"solver": "lu"}, "solver must be one of")],
)
def test_wrong_parameters(curve, changes, message):
    with pytest.raises(ValueError, match=message):
        regressor(**changes).fit(curve.X, curve.y)


def test_wrong_data(curve):
    X, y, _ = curve
    with pytest.raises(ValueError, match="None of the 80 rows is labelled"):
        regressor().fit(X, np.full(80, np.nan))
    with pytest.raises(ValueError, match="0 for every labelled row"):
        regressor(fit_intercept=True).fit(X, y, 1.0 * np.isnan(y))
    with pytest.raises(MemoryError, match="max_memory"):
        regressor(solver="newton", max_memory=1000).fit(X, y)


def contradictions(estimator):
    why = "gamma='spread' and the neighbours count rows without their weights"
    names = ("dense", "sparse")
    checks = [f"check_sample_weight_equivalence_on_{name}_data" for name in names]
    return dict.fromkeys(checks, why) if estimator.gamma_I else {}


@parametrize_with_checks(
    [
        LaplacianRegressor(solver="cg", smoothness=IteratedLaplacian(degree=1, normalized=False)),
        LaplacianRegressor(gamma_I=0, gamma=0.5),
    ],
    expected_failed_checks=contradictions,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([LaplacianRegressor()], expected_failed_checks=contradictions)
def test_scikit_learn_check_of_others(estimator, check):
    check(estimator)

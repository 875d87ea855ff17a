"""GKMRegressor against convex solvers and NumPy by hand."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.base import clone
from sklearn.metrics import r2_score

from graphkm import GKMRegressor
from graphkm.kernels import Laplacian, SquaredExponential
from graphkm.losses import L1, EpsilonInsensitive

ACCURATE = {"C_graph": 0, "fit_intercept": False, "max_iter": 600_000, "precision": "double"}


def rbf_by_hand(X, Y, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


def spread(deviations, weight=None):
    """Return the unit: four of five deviations lie within 1.28 of it."""
    counts = np.ones(len(deviations), int) if weight is None else weight
    far = np.sort(np.repeat(np.abs(deviations), counts))
    return np.quantile(far, 0.8, method="averaged_inverted_cdf") / norm.ppf(0.9)


def minimum(K, y, C, epsilon, edges=None, unit=None):
    """Return f of the minimiser, from a convex solver over a root of K; p = 2 on the edges.

    It is found for targets in units of their spread, and returned in theirs.
    """
    unit = spread(y) if unit is None else unit
    return unit * minimum_of_coded(K, y / unit, C, epsilon, edges)


def minimum_of_coded(K, y, C, epsilon, edges):
    values, vectors = np.linalg.eigh(K)
    w = cp.Variable(len(K))
    f = (vectors * np.sqrt(np.maximum(values, 0))) @ w
    losses = cp.pos(cp.abs(y - f[: len(y)]) - epsilon)
    J = 0.5 * cp.sum_squares(w) + cp.sum(cp.multiply(C, losses))
    if edges is not None:
        u, v, weights = edges
        J += cp.sum(cp.multiply(weights, cp.square(f[u] - f[v])))
    problem = cp.Problem(cp.Minimize(J))
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    return np.asarray(f.value)


@pytest.fixture
def known(curve):
    """Return the rows with a target only, centred targets, and their kernel matrix."""
    X, y = curve.X[:30], curve.y[:30] - 3.0
    return X, y, rbf_by_hand(X, X)


LOSSES = {
    "l1": ("l1", 0.0),
    "L1 object": (L1(), 0.0),
    "tube": ("epsilon_insensitive", 0.1),
    "wide tube": (EpsilonInsensitive(epsilon=0.5), 0.5),
}


@pytest.mark.dear
@pytest.mark.parametrize("step", ["explicit", "implicit"])
@pytest.mark.parametrize("name", LOSSES)
def test_without_graph_it_is_kernel_regression(name, step, regressor, known):
    loss, epsilon = LOSSES[name]
    X, y, K = known
    reg = regressor(loss=loss, step=step, **ACCURATE).fit(X, y)
    np.testing.assert_allclose(reg.predict(X), minimum(K, y, 1.0, epsilon), atol=0.01)


@pytest.mark.long
def test_sample_weight_scales_the_loss_of_its_row(regressor, known):
    X, y, K = known
    weight = np.random.default_rng(0).integers(1, 30, len(y)) / 10
    weight[:5] = 0
    reg = regressor(loss="l1", **ACCURATE).fit(X, y, sample_weight=weight)
    unit = spread(y, (10 * weight).round().astype(int))
    assert reg.spread_ == pytest.approx(unit, rel=1e-12)
    f = minimum(K, y, weight, 0.0, unit=unit)
    np.testing.assert_allclose(reg.predict(X), f, atol=0.02)
    assert np.abs(f - minimum(K, y, 1.0, 0.0)).max() > 0.1
    assert not np.isin(np.arange(5), reg.support_).any()


def test_intercept_is_learnt_around_the_median(regressor, curve):
    """The problem solved has kernel K + 1 and targets less their median."""
    X, y = curve.X[:30], curve.y[:30] + 100
    reg = regressor(loss="l1", **ACCURATE | {"fit_intercept": True}).fit(X, y)
    f = minimum(rbf_by_hand(X, X) + 1, y - np.median(y), 1.0, 0.0)
    np.testing.assert_allclose(reg.predict(X), np.median(y) + f, atol=0.02)


def test_scale_of_the_graph_term(regressor, curve):
    X, y, n = curve.X, curve.y - 3.0, 30
    rng = np.random.default_rng(0)
    W = np.triu(rng.uniform(0.1, 2.0, (80, 80)) * (rng.random((80, 80)) < 0.1), 1)
    W[:n, :n] = 0
    u, v = np.nonzero(W)
    reg = regressor(
        loss="l1", C_graph=2.0, fit_intercept=False,
        max_iter=600_000, precision="double",
    ).fit(X, y, affinity=W + W.T)  # fmt: skip
    f = minimum(rbf_by_hand(X, X), y[:n], 1.0, 0.0, (u, v, 2.0 * n / len(u) * W[u, v]))
    np.testing.assert_allclose(reg.predict(X), f, atol=0.03)
    assert np.abs(f - minimum(rbf_by_hand(X, X), y[:n], 1.0, 0.0)).max() > 0.2


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(
    ("kernel", "by_hand"),
    [
        ("rbf", rbf_by_hand),
        (SquaredExponential(gamma=0.5, sigma_f=2.0), lambda X, Y: 4 * rbf_by_hand(X, Y)),
        (Laplacian(gamma=0.3), lambda X, Y: np.exp(-0.3 * np.abs(X[:, None] - Y[None]).sum(2))),
        ("linear", lambda X, Y: X @ Y.T),
    ],
)
def test_attributes_reproduce_the_prediction(kernel, by_hand, fit_intercept, regressor, curve):
    new = np.random.default_rng(1).normal(size=(9, 2))
    reg = regressor(kernel=kernel, fit_intercept=fit_intercept, C_graph=0.01)
    reg.fit(curve.X, curve.y)
    assert reg.dual_coef_.shape == (1, len(reg.support_))
    assert reg.intercept_.shape == (1,)
    f = by_hand(new, reg.support_vectors_) @ reg.dual_coef_[0] + reg.intercept_
    np.testing.assert_allclose(reg.predict(new), f, rtol=1e-4, atol=1e-5)
    if not fit_intercept:
        assert reg.intercept_.tolist() == [0.0]


def test_shifting_the_targets_shifts_the_prediction(regressor, curve):
    reg = regressor().fit(curve.X, curve.y)
    moved = regressor().fit(curve.X, curve.y + 1000.0)
    np.testing.assert_allclose(moved.predict(curve.X), reg.predict(curve.X) + 1000, atol=1e-4)
    np.testing.assert_allclose(moved.intercept_, reg.intercept_ + 1000)


def test_constant_targets(regressor, curve):
    """Nothing is left to learn once the median is taken off, and nothing breaks."""
    reg = regressor().fit(curve.X, np.where(np.isnan(curve.y), np.nan, 7.0))
    np.testing.assert_array_equal(reg.predict(curve.X), np.full(80, 7.0))
    np.testing.assert_array_equal(reg.transduction_, np.full(80, 7.0))


def test_transduction_keeps_given_targets(regressor, curve):
    reg = regressor().fit(curve.X, curve.y)
    np.testing.assert_array_equal(reg.transduction_[:30], curve.y[:30])
    np.testing.assert_array_equal(reg.transduction_[30:], reg.predict(curve.X[30:]))
    assert not np.allclose(reg.predict(curve.X[:30]), curve.y[:30])


def test_score_ignores_rows_without_target(regressor, curve):
    reg = regressor().fit(curve.X, curve.y)
    y = curve.truth.copy()
    y[::3] = np.nan
    shown = ~np.isnan(y)
    assert reg.score(curve.X, y) == r2_score(y[shown], reg.predict(curve.X[shown]))
    weight = np.random.default_rng(0).uniform(0, 2, 80)
    expected = r2_score(y[shown], reg.predict(curve.X[shown]), sample_weight=weight[shown])
    assert reg.score(curve.X, y, sample_weight=weight) == expected


def test_it_learns_the_curve(regressor, curve):
    reg = regressor(C=10.0, C_graph=0.001, max_iter=20_000).fit(curve.X, curve.y)
    assert reg.score(curve.X[30:], curve.truth[30:]) > 0.9


def test_objects_survive_clone(regressor, curve):
    reg = regressor(loss=EpsilonInsensitive(epsilon=0.3), kernel=Laplacian(gamma=0.2))
    again = GKMRegressor().set_params(**reg.get_params())
    expected = reg.fit(curve.X, curve.y).predict(curve.X)
    for other in (clone(reg), again):
        np.testing.assert_array_equal(other.fit(curve.X, curve.y).predict(curve.X), expected)


@pytest.mark.parametrize("graph", ["knn", "bipartite"])
def test_threads_and_seeds(graph, regressor, curve):
    def model(**changes):
        return regressor(graph=graph, **changes).fit(curve.X, curve.y).dual_coef_

    np.testing.assert_array_equal(model(n_jobs=1), model(n_jobs=2))
    np.testing.assert_array_equal(model(random_state=7), model(random_state=7))
    assert not np.array_equal(model(random_state=7), model(random_state=8))


def test_sparse_is_dense(regressor, curve):
    X = np.where(np.abs(curve.X) < 0.5, 0.0, curve.X)
    # Many rows coincide now, and nearest neighbours at equal distances are any of them.
    parameters = {"graph": "bipartite", "precision": "double"}
    dense = regressor(**parameters).fit(X, curve.y).predict(X)
    for storage in (sp.csr_matrix, sp.csr_array):
        sparse = regressor(**parameters).fit(storage(X), curve.y)
        np.testing.assert_allclose(sparse.predict(storage(X)), dense, atol=1e-9)


def test_frames_and_float32(regressor, curve):
    frame = pd.DataFrame(curve.X.astype(np.float32), columns=["a", "b"])
    reg = regressor().fit(frame, curve.y)
    assert reg.feature_names_in_.tolist() == ["a", "b"]
    assert reg.support_vectors_.dtype == np.float32
    expected = regressor().fit(frame.to_numpy(), curve.y).predict(frame.to_numpy())
    np.testing.assert_array_equal(reg.predict(frame), expected)


def test_guarantee_and_objective(regressor, curve):
    reg = regressor(C_graph="guaranteed", step="explicit").fit(curve.X, curve.y)
    assert reg.guarantee_.holds  # in units of the spread, which the theorem knows nothing of
    assert 0.95 < reg.guarantee_.C_graph * 8 < 1  # a = C' (2R)^2 2 with R = 1
    assert reg.objective_ > 0

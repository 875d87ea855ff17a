"""Rows far from all others: kernel values stay between 0 and 1, and people are told."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from graphkm import SGD, Full, GKMClassifier, GKMRegressor, Newton, Power
from graphkm._util.spread import without_outliers
from graphkm.expansion import KernelExpansion
from graphkm.kernels import SquaredExponential, resolve_gamma


def with_outlier(size):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(np.arange(60) < 30, X[:, 0] > 0, -1)
    return np.vstack([X, np.full(3, size)]), np.append(y, -1)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e6), (np.float64, 1e10)])
def test_kernel_values_stay_in_range(form, dtype, size):
    X = form(with_outlier(size)[0])
    rows = np.arange(61)
    gram = KernelExpansion(SquaredExponential(gamma=1.0), X, dtype=dtype).between(rows, rows)
    assert gram.min() >= 0 and gram.max() <= 1 + 1e-6
    assert (gram[:60, 60] == 0).all()


@pytest.mark.parametrize("solver", ["sgd", "newton"])
@pytest.mark.parametrize(("precision", "size"), [("single", 1e6), ("double", 1e10)])
def test_a_fit_warns_and_stays_finite(precision, size, solver):
    X, y = with_outlier(size)
    model = GKMClassifier(
        C=1.0, gamma=1.0, C_graph=0, solver=solver, precision=precision, random_state=0
    )
    with pytest.warns(UserWarning, match="inexact"):
        model.fit(X, y)
    assert np.abs(model.decision_function(X[:60])).max() < 30


@pytest.mark.dear
@pytest.mark.filterwarnings("ignore")  # of far rows, and of a part of the graph without labels
@pytest.mark.parametrize("solver", ["sgd", "newton"])
@pytest.mark.parametrize("size", [1e3, 1e6, 1e12])
@pytest.mark.parametrize("gamma", ["spread", 1.0])
def test_an_unlabeled_outlier_changes_nothing_far_away(gamma, size, solver):
    """Its kernel with every other row is zero, though it has neighbours in the graph."""
    X, y = with_outlier(size)
    model = GKMClassifier(1.0, 0.1, gamma=gamma, solver=solver, random_state=0)
    model.set_params(smoothness=Power(normalized=False))
    without = model.fit(X[:60], y[:60]).predict(X[:60])
    assert (model.fit(X, y).predict(X[:60]) == without).mean() > 0.95


@pytest.mark.filterwarnings("ignore")  # of far rows, and of a part of the graph without labels
def test_regression_with_an_outlier():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(-2, 2, (200, 2)), [[1e7, -1e7]]])
    truth = np.sin(2 * X[:, 0])
    y = np.where(np.arange(201) < 80, truth, np.nan)
    found = GKMRegressor(random_state=0).fit(X, y).predict(X[:200])
    assert np.corrcoef(found, truth[:200])[0, 1] > 0.95


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("n", [19, 20, 61, 5000])
def test_outliers_are_few_and_far(form, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    plain = resolve_gamma("spread", form(X))
    assert without_outliers(form(X)).shape == X.shape
    few = n // 20
    X[:few] = 1e5 * rng.normal(size=(few, 3))
    assert without_outliers(form(X)).shape[0] == n - few
    assert resolve_gamma("spread", form(X)) == pytest.approx(plain, rel=0.5)
    X[: few + 1] = 1e5  # one more is a group of rows
    assert without_outliers(form(X)).shape == X.shape


def test_clusters_and_copies_are_no_outliers():
    tight = np.repeat([[0.0], [100.0]], [60, 40], axis=0)
    tight += 0.001 * np.random.default_rng(0).normal(size=(100, 1))
    assert len(without_outliers(tight)) == 100
    copies = np.append(np.zeros(99), 5.0)[:, None]
    assert len(without_outliers(copies)) == 100
    assert resolve_gamma("spread", copies) == pytest.approx(1 / copies.var())


@pytest.mark.parametrize("solver", ["sgd", "newton"])
def test_light_edges_count_when_all_are_light(solver):
    X = np.arange(60.0)[:, None]
    y = np.full(60, -1)
    y[[0, 30]] = 0, 1
    options = {"C": 1.0, "gamma": 0.01, "graph": Full(weights=20.0), "random_state": 0}
    options |= {"solver": solver, "smoothness": Power(normalized=False)}
    scores = [
        GKMClassifier(C_graph=c, **options).fit(X, y).decision_function(X) for c in (0.0, 1e10)
    ]
    assert np.abs(scores[0] - scores[1]).max() > 1e-3


@pytest.mark.parametrize("solver", [SGD(max_iter=300), Newton(max_iter=300)])
@pytest.mark.parametrize("C", [1e60, 1e100])
def test_a_huge_cost_stays_finite(C, solver):
    X, y = with_outlier(1.0)
    model = GKMClassifier(
        C=C, C_graph=0, gamma="scale", loss="logistic", solver=solver, random_state=0
    )
    assert np.abs(model.fit(X, y).decision_function(X)).max() < 1e4


def test_the_text_of_the_marker_is_refused():
    X = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match="unlabeled='-1'"):
        GKMClassifier().fit(X, np.array(["a", "b", "-1", "-1"]))
    model = GKMClassifier(unlabeled="-1", C_graph=0).fit(X, np.array(["a", "b", "-1", "-1"]))
    assert model.classes_.tolist() == ["a", "b"]

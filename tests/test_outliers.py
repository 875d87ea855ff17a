"""Rows far from all others: kernel values stay between 0 and 1, and people are told."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from graphkm import SGD, Full, GKMClassifier, Newton, Power
from graphkm.expansion import KernelExpansion
from graphkm.kernels import SquaredExponential


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

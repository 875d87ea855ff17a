"""Numbers of no usual size: rows and weights that arithmetic cannot hold, too many classes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score

from graphkm import GKMClassifier, GKMClassifierCV, GKMRegressor, SemiSupervisedClassifier
from graphkm.baselines import LaplacianSVC, TransductiveSVC
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV


def words(*needed):
    """Return a pattern for a message that holds all of these, in any order."""
    return "".join(f"(?=[\\s\\S]*{re.escape(word)})" for word in needed)


SEVERAL = {
    "gkm": GKMClassifier(random_state=0),
    "double": GKMClassifier(random_state=0, precision="double"),
    "rows": GKMClassifier(solver="row_newton"),
    "sgd": GKMClassifier(solver="sgd", random_state=0),
    "anchors": SemiSupervisedClassifier(KernelRidgeClassifierCV(), graph="anchors", random_state=0),
    "regressor": GKMRegressor(random_state=0),
    "front door": SemiSupervisedClassifier(KernelRidgeClassifierCV(), random_state=0),
    "laplacian": LaplacianSVC(),
    "transductive": TransductiveSVC(),
    "ridge": KernelRidgeCV(),
    "ridge of classes": KernelRidgeClassifierCV(),
}
IN_DOUBLE = ("double", "anchors", "front door", "laplacian", "ridge", "ridge of classes")
LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("front door", "anchors")]
QUICK = [name for name in SEVERAL if name not in ("front door", "anchors")]


def given(name, two):
    """Return a copy of a model, its rows and its labels."""
    model, X, y = clone(SEVERAL[name]), two.X, two.y
    if name.startswith("ridge"):
        X, y = X[y >= 0], y[y >= 0]
    return model, X, np.where(y < 0, np.nan, y) if name == "regressor" else y


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*QUICK, *LONG])
def test_tiny_rows_are_a_unit_or_an_error(name, dtype, two):
    model, X, y = given(name, two)
    usual = clone(model).fit(X, y).predict(X)
    tiny = (1e-40 * X).astype(dtype)
    if name in IN_DOUBLE and dtype is np.float64:
        assert np.isclose(model.fit(tiny, y).predict(tiny), usual, atol=1e-6).mean() > 0.95
    elif not name.startswith(("ridge", "laplacian", "double")):  # these make them float64
        with pytest.raises(ValueError, match=words("e-40", "too small", "abs(X).max()")):
            model.fit(tiny, y)
        back = tiny / abs(tiny).max()  # the remedy
        assert np.isfinite(model.fit(back, y).predict(back)).all()
    with pytest.raises(ValueError, match=words("too small", "abs(X).max()")):
        model.fit(1e-200 * X, y)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["gkm", "rows", "transductive", *LONG[:1]])
def test_small_rows_are_a_unit(name, dtype, two):
    model, X, y = given(name, two)
    usual = clone(model).fit(X, y).predict(X)
    small = (2.0**-90 * X).astype(dtype)  # 8e-28
    assert np.mean(model.fit(small, y).predict(small) == usual) > 0.95


def test_many_tiny_rows_of_ridge():
    X = np.random.default_rng(0).normal(size=(1100, 2))  # enough for single precision
    one = KernelRidgeCV([0.5], [0.1], n_landmarks=50, random_state=0).fit(X, np.sin(X[:, 0]))
    two = KernelRidgeCV([0.5e80], [0.1], n_landmarks=50, random_state=0).fit(
        1e-40 * X, np.sin(X[:, 0])
    )
    assert r2_score(one.predict(X), two.predict(1e-40 * X)) > 0.99  # one in single precision


@pytest.mark.parametrize("name", [*QUICK, *LONG])
def test_weights_that_no_arithmetic_holds(name, two):
    model, X, y = given(name, two)
    for low, high in ((-300, 300), (0, 200), (-200, 0)):
        weights = 10.0 ** np.random.default_rng(0).uniform(low, high, len(y))
        with pytest.raises(ValueError, match=words("sample_weight", "squares", "their mean")):
            model.fit(X, y, weights)
    model.fit(X, y, np.where(np.arange(len(y)) % 2, 1e-60, 1.0))
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize(
    "model",
    [
        GKMClassifier(),
        GKMClassifierCV(),
        SemiSupervisedClassifier(),
        LaplacianSVC(),
        TransductiveSVC(),
        KernelRidgeClassifierCV(),
    ],
)
def test_as_many_classes_as_rows(model, monkeypatch):
    monkeypatch.setattr("graphkm._util.memory.available_memory", lambda: 2**25)
    X = np.arange(6000.0).reshape(3000, 2)
    message = words("3,000 labels and 3,000 classes", "quantities, take a regressor")
    with pytest.raises(MemoryError, match=message):
        model.fit(X, np.arange(3000))
    if hasattr(model, "partial_fit"):
        with pytest.raises(MemoryError, match=message):
            model.partial_fit(X, np.arange(3000))

"""`FieldSolver`: a kernel machine and a field inside `GKMClassifier`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.svm import SVC

from graphkm import (
    KNN,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GraphCorrectedClassifier,
    KernelRidgeClassifierCV,
)
from graphkm.exchange import load_model, save_model
from graphkm.gkm import FieldSolver
from graphkm.members.features import MOST


@pytest.fixture(scope="module")
def digits():
    """Digits with 100 labels, as words."""
    X, truth = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, truth = X[order] / 16, np.array([f"digit {d}" for d in truth[order]], dtype=object)
    y = truth.copy()
    y[100:] = None
    return X, y, truth


@pytest.fixture(scope="module")
def model(digits):
    X, y, _ = digits
    return GKMClassifier(solver="field", random_state=0).fit(X, y)


@pytest.mark.long
def test_it_is_the_corrected_machine(digits, model):
    """The same as the meta-estimator around the same kernel machine."""
    X, y, _ = digits
    inner = model.corrected_
    machine = KernelRidgeClassifierCV(kernel="rbf", random_state=inner.random_state)
    outer = GraphCorrectedClassifier(
        machine, graph=KNN(10, weights="sharp", search="exact"), random_state=inner.random_state
    ).fit(X, y)
    assert inner.best_params_ == outer.best_params_
    np.testing.assert_array_equal(model.predict(X), outer.predict(X))
    np.testing.assert_allclose(model.decision_function(X), outer.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(model.transduction_, outer.transduction_)


@pytest.mark.slow
def test_it_beats_ignoring_the_unlabelled_rows(digits):
    X, _, truth = digits
    gains = []
    for seed in range(4):
        rows = np.random.default_rng(seed).permutation(len(X))
        known, hidden = rows[:100], rows[100:]
        y = np.full(len(X), None)
        y[known] = truth[known]
        model = GKMClassifier(solver="field", random_state=0).fit(X, y)
        alone = SVC().fit(X[known], truth[known].astype(str))
        right = np.mean(model.transduction_[hidden] == truth[hidden])
        gains.append(right - np.mean(alone.predict(X[hidden]) == truth[hidden]))
    assert np.mean(gains) > 0.04 and min(gains) > 0


def test_what_it_shows(digits, model):
    X, _, _ = digits
    assert "chosen on held-out labels" in repr(model.plan_)
    assert model.field_ is model.corrected_.field_
    assert model.field_.strength is None and np.isnan(model.C_) and np.isnan(model.objective_)
    assert model.support_vectors_.shape[1] == X.shape[1]
    assert model.guarantee_ is None
    assert model.dual_coef_.shape == (10, len(model.support_))
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_a_field_of_errors_shows_its_strength(monkeypatch):
    """It is for many rows and labels; here few count as many."""
    monkeypatch.setattr("graphkm.gkm.corrected_base.can_have_features", lambda *_: False)
    X, truth = make_moons(MOST + 200, noise=0.1, random_state=0)
    y = np.where(np.arange(len(X)) < 16, truth, -1)
    model = GKMClassifier(solver="field", random_state=0).fit(X, y)
    strength = model.field_.strength
    assert pytest.approx(strength.C / strength.eps) == model.C_
    assert model.objective_ == model.field_.objective > 0


def test_far_rows_are_no_trouble(digits, model):
    assert np.isfinite(model.decision_function(np.full((2, 64), 1e6))).all()


def test_two_classes_have_one_score(digits):
    X, y, truth = digits
    two = np.isin(truth, ["digit 3", "digit 8"])
    small = GKMClassifier(solver="field", random_state=0).fit(X[two], y[two])
    scores = small.decision_function(X[two])
    assert scores.ndim == 1
    np.testing.assert_array_equal(small.predict(X[two]), small.classes_[(scores >= 0).astype(int)])
    assert small.dual_coef_.shape[0] == 1


@pytest.mark.long
def test_class_weights_reach_both(digits):
    X, y, _ = digits
    plain = GKMClassifier(solver="field", random_state=0).fit(X, y)
    weights = {c: 0.01 if c == "digit 8" else 1.0 for c in plain.classes_}
    tilted = GKMClassifier(solver="field", class_weight=weights, random_state=0).fit(X, y)
    fewer = [np.count_nonzero(each.predict(X) == "digit 8") for each in (plain, tilted)]
    assert fewer[1] < fewer[0]


@pytest.mark.long
def test_files_keep_it_whole(digits, model, tmp_path):
    X, y, _ = digits
    save_model(model, tmp_path / "model")
    for copy in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
        for name in ("kernel", "graph", "smoothness", "solver", "C_graph", "reasons"):
            assert getattr(copy.plan_, name) == getattr(model.plan_, name)
    search = GKMClassifierCV(GKMClassifier(solver="field"), random_state=0).fit(X, y)
    assert search.best_params_ == search.best_estimator_.corrected_.best_params_
    save_model(search, tmp_path / "search")
    again = load_model(tmp_path / "search")
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert again.unlabeled_gain_ == search.unlabeled_gain_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 2.0}, "C=2.0; leave C='auto'"),
        ({"C_graph": 2.0}, "C_graph=2.0; leave C_graph='auto'"),
        ({"graph": "full"}, r"needs graph=KNN\(...\)"),
        ({"graph": KNN(weights=2.0)}, "pass 'sharp' or 'local'"),
        ({"kernel": "precomputed"}, "precomputed"),
    ],
)
def test_what_it_does_not_go_with(options, message, digits):
    X, y, _ = digits
    X = X[:200] @ X[:200].T if "kernel" in options else X[:200]
    with pytest.raises(ValueError, match=message):
        GKMClassifier(solver=FieldSolver(), **options).fit(X, y[:200])


def test_neither_quantities_nor_streams(digits):
    X, y, _ = digits
    with pytest.raises(ValueError, match="is for classes"):
        GKMRegressor(solver="field").fit(X, np.where(np.arange(len(X)) < 50, X[:, 20], np.nan))
    with pytest.raises(AttributeError, match="partial_fit"):
        GKMClassifier(solver="field").partial_fit(X[:150], y[:150])


@pytest.mark.long
def test_a_stream_forgets_the_field_of_a_fit():
    X, truth = make_moons(3000, noise=0.1, random_state=0)
    y = np.where(np.arange(3000) < 100, truth, -1)
    model, fresh = (GKMClassifier(random_state=0, gamma=0.5) for _ in range(2))
    assert isinstance(model.fit(X, y).plan_.solver, FieldSolver)
    for each in (model, fresh):
        each.partial_fit(X[:200], 1 - truth[:200])
    assert model.corrected_ is None and model.field_ is None
    np.testing.assert_array_equal(model.decision_function(X), fresh.decision_function(X))

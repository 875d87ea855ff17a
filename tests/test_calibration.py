"""Probabilities: how held-out scores become them, and that every classifier has them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from graphkm import (
    GKMClassifier,
    GKMClassifierCV,
    KernelRidgeClassifierCV,
    SemiSupervisedClassifier,
)
from graphkm.baselines import LaplacianSVC, TransductiveSVC
from graphkm.estimators.calibration import GRID, MANY, Calibration, class_columns
from graphkm.exchange import load_model, save_model, to_onnx
from graphkm.judge.folds import calibration_folds
from graphkm.losses import Hinge, Logistic

X, TRUTH = make_moons(300, noise=0.25, random_state=0)
Y = np.where(np.arange(300) < 60, TRUTH, -1)
THREE = np.where(X[:, 1] > 0.8, 2, TRUTH)
Y_THREE = np.where(np.arange(300) < 90, THREE, -1)

CLASSIFIERS = {
    "newton": GKMClassifier(solver="newton", random_state=0),
    "rows": GKMClassifier(solver="row_newton", random_state=0),
    "sgd": GKMClassifier(solver="sgd", random_state=0),
    "sums": GKMClassifier(solver="sums", random_state=0),
    "power": GKMClassifier(smoothness=1.5, random_state=0),
    "logistic": GKMClassifier(loss="logistic", random_state=0),
    "smooth hinge": GKMClassifier(loss="smooth_hinge", C_graph=0, random_state=0),
    "search": GKMClassifierCV(random_state=0),
    "grid": GKMClassifierCV(Cs=[1.0, 10.0], graphs=[(6, 2)], random_state=0),
    "front door": SemiSupervisedClassifier(KernelRidgeClassifierCV(), random_state=0),
    "forest": SemiSupervisedClassifier(RandomForestClassifier(20, random_state=0), random_state=0),
    "ridge": KernelRidgeClassifierCV(random_state=0),
    "laplacian": LaplacianSVC(probability=True),
    "transductive": TransductiveSVC(probability=True),
}


MIXTURES = ("front door", "forest")


def fitted(name, y):
    model = clone(CLASSIFIERS[name])
    known = np.flatnonzero(y >= 0) if name == "ridge" else slice(None)
    return model.fit(X[known], y[known])


@pytest.mark.long
def test_one_rule_for_ties_of_shares(monkeypatch):
    model = fitted("forest", Y)
    monkeypatch.setattr(model, "_mixed", lambda rows, *edges: np.full((len(rows), 2), 0.5))
    assert model.decision_function(X[:3]).tolist() == [0, 0, 0]
    assert model.predict(X[:3]).tolist() == [1, 1, 1]


@pytest.mark.dear
@pytest.mark.parametrize("name", [each for each in CLASSIFIERS if each not in MIXTURES])
def test_one_rule_for_ties(name, monkeypatch):
    """Where f is 0 the second class wins, in labels and in probabilities."""
    model = fitted(name, Y)
    own = getattr(model, "best_estimator_", model)
    monkeypatch.setattr(own, "_scores", lambda rows: np.zeros((len(rows), 1)))
    assert model.decision_function(X[:3]).tolist() == [0, 0, 0]
    assert model.predict(X[:3]).tolist() == [1, 1, 1]
    assert (model.predict_proba(X[:3]).argmax(axis=1) == 1).all()


# ---------------------------------------------------------------------- the map itself


def literal(scores, wanted, slope, offsets):
    """Return minus the log-likelihood that a fit minimises, row by row, and its prior."""
    n, k = scores.shape
    lost = 0.5 * float(np.sum(np.square(offsets)))
    for row, one in zip(scores, wanted, strict=True):
        logits = slope * row + offsets
        logs = logits - np.log(np.exp(logits).sum())
        lost -= float(((n * one + 1 / k) / (n + 1)) @ logs)
    return lost


@pytest.mark.parametrize("k", [2, 4])
def test_slope_and_offsets_are_the_best(k):
    rng = np.random.default_rng(k)
    codes = rng.integers(k, size=200)
    scores = 3.0 * np.eye(k)[codes] + 2.0 * rng.normal(size=(200, k))
    found = Calibration.fit(scores, codes)
    least = literal(scores, np.eye(k)[codes], found.slope, found.offsets)
    for part in range(k + 1):
        for step in (-1e-2, 1e-2):
            moved = np.append(found.slope, found.offsets)
            moved[part] += step
            assert literal(scores, np.eye(k)[codes], moved[0], moved[1:]) > least


def test_many_labels_give_the_curve_of_isotonic_regression():
    """Far from a sigmoid: a share that falls short of 1 however large the score."""
    rng = np.random.default_rng(0)
    f = rng.normal(scale=3.0, size=20_000)
    share = 0.1 + 0.6 / (1 + np.exp(-3 * (f - 1)))
    codes = (rng.random(20_000) < share).astype(int)
    scores = class_columns(f[:, None])
    curved = Calibration.fit(scores, codes, keeps=False)
    assert curved.curves.shape == (2, len(GRID)) and (np.diff(curved.curves, axis=1) >= 0).all()
    at = np.linspace(-4, 4, 50)
    found = curved.probabilities(class_columns(at[:, None]))[:, 1]
    oracle = IsotonicRegression(out_of_bounds="clip").fit(f, codes).predict(at)
    assert np.abs(found - oracle).mean() < 0.02
    assert np.abs(found - (0.1 + 0.6 / (1 + np.exp(-3 * (at - 1))))).mean() < 0.02
    few = Calibration.fit(scores[: MANY - 1], codes[: MANY - 1])
    assert few.curves is None


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("n", [60, 3000])
def test_the_winner_wins_and_rows_sum_to_one(k, n):
    rng = np.random.default_rng(n + k)
    codes = rng.choice(k, size=n, p=np.arange(1, k + 1) / np.arange(1, k + 1).sum())
    scores = np.eye(k)[codes] + rng.normal(size=(n, k)) - 2.0 * np.eye(k)[0]
    calibration = Calibration.fit(scores, codes)
    P = calibration.probabilities(scores)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(P.argmax(axis=1), scores.argmax(axis=1))
    free = Calibration.fit(scores, codes, keeps=False).probabilities(scores)
    agree = free.argmax(axis=1) == scores.argmax(axis=1)
    assert 0 < agree.mean() < 1
    np.testing.assert_allclose(P[agree], free[agree], rtol=1e-3)
    shares = np.bincount(codes, minlength=k) / n
    np.testing.assert_allclose(free.mean(axis=0), shares, atol=0.03)


@pytest.mark.parametrize("n", [8, 10, 100, 1500])
def test_separate_classes_are_not_certain(n):
    codes = np.arange(n) % 2
    scores = class_columns(np.where(codes, 1.0, -1.0)[:, None])
    calibration = Calibration.fit(scores, codes)
    P = calibration.probabilities(1e6 * scores)
    assert 0 < P.min() < 1 / n and P.max() < 1
    assert calibration.probabilities(scores).max() < 1 - 0.2 / n


def test_useless_scores_give_the_base_rate():
    rng = np.random.default_rng(0)
    codes = (rng.random(500) < 0.2).astype(int)
    P = Calibration.fit(class_columns(rng.normal(size=(500, 1))), codes, keeps=False)
    found = P.probabilities(class_columns(np.array([[-2.0], [0.0], [2.0]])))[:, 1]
    np.testing.assert_allclose(found, codes.mean(), atol=0.1)
    same = Calibration.fit(np.zeros((500, 2)), codes, keeps=False).probabilities(np.zeros((1, 2)))
    np.testing.assert_allclose(same[0, 1], codes.mean(), atol=0.01)


def test_weights_are_copies_and_shift_the_base_rate():
    rng = np.random.default_rng(1)
    codes = rng.integers(2, size=60)
    scores = class_columns((codes - 0.5 + rng.normal(size=60))[:, None])
    heavy = Calibration.fit(scores, codes, 1.0 + codes, keeps=False)
    plain = Calibration.fit(scores, codes, keeps=False)
    means = [each.probabilities(scores)[:, 1].mean() for each in (plain, heavy)]
    assert means[1] > means[0] + 0.05


def test_folds():
    codes = np.array([0] * 30 + [1] * 9 + [2])
    folds = calibration_folds(codes, np.ones(40))
    held = np.concatenate([test for _, test in folds])
    assert sorted(held) == list(range(39))  # the only row of a class stays
    assert all(set(train) == set(range(40)) - set(test) for train, test in folds)
    assert calibration_folds(np.arange(6), np.ones(6)) == []
    assert calibration_folds(codes, np.zeros(40)) == []
    weights = np.where(np.arange(40) < 5, 0.0, 1.0)
    held = np.concatenate([test for _, test in calibration_folds(codes, weights)])
    assert min(held) == 5
    for n, wanted in ((200, 10), (500, 3), (1500, 1), (10_000, 1)):
        assert len(calibration_folds(np.arange(n) % 2, np.ones(n))) == wanted


# ---------------------------------------------------------------------- every classifier


@pytest.mark.long
@pytest.mark.parametrize("y", [Y, Y_THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_has_probabilities(name, y):
    truth = TRUTH if y is Y else THREE
    model = fitted(name, y)
    P = model.predict_proba(X)
    assert P.shape == (300, len(model.classes_))
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    alone = LogisticRegression().fit(X[y >= 0], y[y >= 0]).predict_proba(X)
    brier = [np.square(each - np.eye(P.shape[1])[truth]).sum(axis=1).mean() for each in (P, alone)]
    assert brier[0] < brier[1] + 0.03
    assert P.min() > 0 and P.max() < 1
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(P), rtol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("name", ["newton", "sgd", "sums", "search", "laplacian"])
def test_class_weights_do_not_shift_the_base_rate(name):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 2))
    truth = (rng.random(600) < 0.25 * expit(2 * rows[:, 0]) * 2).astype(int)
    y = np.where(np.arange(600) < 200, truth, -1)
    model = clone(CLASSIFIERS[name])
    inner = "estimator" if name == "search" else None
    if inner:
        model.set_params(estimator=GKMClassifier(class_weight="balanced"))
    else:
        model.set_params(class_weight="balanced")
    P = model.fit(rows, y).predict_proba(rows)[:, 1]
    assert abs(P.mean() - truth[:200].mean()) < 0.06
    assert model.predict(rows).mean() > P.mean() + 0.05  # decisions are moved on purpose


@pytest.mark.long
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_few_labels(name):
    few = np.full(300, -1)
    few[[np.flatnonzero(c == TRUTH)[0] for c in (0, 1)]] = [0, 1]
    model = fitted(name, few)
    P = model.predict_proba(X)
    assert np.isfinite(P).all() and P.min() > 0 and P.max() < 1
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    ten = np.where(np.arange(300) < 10, TRUTH, -1)
    P = fitted(name, ten).predict_proba(X)
    assert np.isfinite(P).all() and 0.2 < P[:, 1].mean() < 0.8


def test_scores_are_held_out(monkeypatch):
    """In-sample scores of an interpolating machine would make it certain of noise."""
    rng = np.random.default_rng(0)
    rows, noise = rng.normal(size=(200, 5)), rng.integers(2, size=200)
    for model in (
        GKMClassifier(C=1e4, C_graph=0, gamma=5.0, solver="newton"),
        GKMClassifier(C=1e4, C_graph=0, gamma=5.0, solver="sums"),
        KernelRidgeClassifierCV([5.0], [1e-4]),
    ):
        model.fit(rows, noise)
        assert model.score(rows, noise) > 0.95
        P = model.predict_proba(rng.normal(size=(500, 5)))
        assert P.max() < 0.75


@pytest.mark.long
@pytest.mark.parametrize("loss", ["hinge", "logistic", Hinge(), Logistic()])
def test_refits_of_newton_are_fits_to_fewer_labels(loss):
    rows = X[:60]
    model = GKMClassifier(
        C=1.0, C_graph=0, gamma=1.0, loss=loss, solver="newton", precision="double"
    )
    problem = model.encode(rows, TRUTH[:60], None)
    folds = calibration_folds(problem.known, problem.weights)
    scores = model.fit_problem(problem).refits(folds)
    at = 0
    for train, test in folds:
        part = clone(model).fit(rows[train], TRUTH[:60][train])
        part_scores = part.decision_function(rows[test])
        np.testing.assert_allclose(scores[at : at + len(test), 0], part_scores, atol=0.03)
        at += len(test)


def test_refits_of_sums_leave_one_out():
    rows, y = X[:60], TRUTH[:60]
    model = GKMClassifier(C=1.0, C_graph=0, gamma=1.0, solver="sums", precision="double")
    problem = model.encode(rows, y, None)
    everyone = [(np.empty(0, int), np.arange(60))]
    scores = model.fit_problem(problem).refits(everyone)[:, 0]
    K = np.exp(-np.square(rows[:, None] - rows[None]).sum(axis=2))
    for i in range(60):
        rest = np.arange(60) != i
        a = np.linalg.solve(K[np.ix_(rest, rest)] + np.eye(59), 2.0 * y[rest] - 1)
        assert scores[i] == pytest.approx(K[i, rest] @ a, abs=1e-3)


# ---------------------------------------------------------------------- streams


@pytest.mark.dear
@pytest.mark.parametrize("solver", ["sums", "sgd"])
def test_streams(solver, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 2))
    share = expit(3 * rows[:, 0])
    truth = (rng.random(3000) < share).astype(int)
    y = np.where(rng.random(3000) < 0.5, truth, -1)

    def streamed(size):
        model = GKMClassifier(solver=solver, random_state=0, gamma=1.0)
        for first in range(0, 3000, size):
            chunk = slice(first, first + size)
            model.partial_fit(rows[chunk], y[chunk], classes=[0, 1])
        return model

    model = streamed(500)
    P = model.predict_proba(rows)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(rows))
    assert np.abs(P[:, 1] - share).mean() < 0.12
    assert np.abs(streamed(750).predict_proba(rows) - P).mean() < 1e-3  # chunks change rounding
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict_proba(rows), P)
    model.partial_fit(rows[:100], y[:100])
    assert (model.predict_proba(rows) != P).any()


# ---------------------------------------------------------------------- copies, files, ONNX


@pytest.mark.long
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_copies_and_files_remember(name, tmp_path):
    model = fitted(name, Y_THREE)
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    if name != "forest":
        save_model(model, tmp_path / "m")
        others.append(load_model(tmp_path / "m"))
    for other in others:
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        if name != "ridge":
            np.testing.assert_array_equal(other.transduction_, model.transduction_)


@pytest.mark.dear
@pytest.mark.parametrize("name", ["newton", "sgd", "sums", "ridge", "laplacian", "balanced"])
@pytest.mark.parametrize("y", [Y, Y_THREE], ids=["two", "three"])
def test_onnx_graphs_carry_probabilities(name, y):
    runtime = pytest.importorskip("onnxruntime")
    if name == "balanced":
        model = GKMClassifier(class_weight="balanced").fit(X, y)
    else:
        model = fitted(name, y)
    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    label, _, found = session.run(None, {"X": X.astype(np.float32)})
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(found, model.predict_proba(X), atol=2e-4)


@pytest.mark.dear
@pytest.mark.parametrize("k", [2, 3])
def test_onnx_graphs_carry_curves(k):
    runtime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 2))
    y = np.digitize(rows[:, 0] + 0.7 * rng.normal(size=1500), [-0.5, 0.5][: k - 1])
    model = KernelRidgeClassifierCV([0.5], [1.0]).fit(rows, y)
    assert model.calibration_.curves is not None
    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    label, _, found = session.run(None, {"X": rows.astype(np.float32)})
    same = label == model.predict(rows)
    assert same.mean() > 0.998
    np.testing.assert_allclose(found[same], model.predict_proba(rows)[same], atol=1e-3)
    np.testing.assert_array_equal(label, found.argmax(axis=1))


def test_the_flag_of_slower_machines():
    model = LaplacianSVC().fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba") as error:
        model.predict_proba(X)
    assert "probability=True" in str(error.value.__cause__)
    with pytest.raises(ValueError, match="probability"):
        LaplacianSVC(probability="yes").fit(X, Y)

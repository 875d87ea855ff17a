"""Equal rows are held out together: a copy among the training rows would give the label away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from graphkm import GKMClassifier, GKMClassifierCV, GKMRegressorCV, SemiSupervisedClassifier
from graphkm.gkm.criterion import Labels, judged_rows, leave_one_out
from graphkm.judge.folds import calibration_folds, most_folds
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.model_selection import LabeledKFold, LabeledStratifiedKFold
from graphkm.neighbours.distinct import Copies, distinct_rows
from graphkm.ridge.left_out import means_without, ridges
from graphkm.solvers import Sums

PLACE = np.array([0, 1, 2, 0, 3, 4, 2, 5, 2, 6, 7, 8, 1, 9])  # of every row among ten points


@pytest.fixture
def rows():
    """Return 14 rows of ten points, weights of which one is 0, and targets that differ."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2.0, 14)
    weights[[3, 11]] = 0.0
    return rng.normal(size=(10, 3))[PLACE], weights, rng.normal(size=14)


def without(i: int, weights: np.ndarray) -> np.ndarray:
    """Return the rows that count, without a row and its copies."""
    return (PLACE[i] != PLACE) & (weights > 0)


@pytest.mark.parametrize("n_landmarks", ["auto", 4])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_ridge_regression_leaves_copies_out(kind, n_landmarks, rows):
    X, s, y = rows
    model = KernelRidgeCV([0.4], [0.3], n_landmarks=n_landmarks, random_state=0)
    model.fit(kind(X), y, s)
    # f in the span of landmarks is kernel ridge with their kernel, which is of low rank.
    K = np.exp(-0.4 * np.square(X[:, None] - X).sum(axis=2))
    marks = K[:, model.support_]
    K = marks @ np.linalg.pinv(marks[model.support_], hermitian=True) @ marks.T

    def fitted(kept):
        mean = np.average(y[kept], weights=s[kept])
        ridge = KernelRidge(alpha=0.3, kernel="precomputed")
        ridge.fit(K[np.ix_(kept, kept)], y[kept] - mean, sample_weight=s[kept])
        return mean + ridge.predict(K[:, kept])

    np.testing.assert_allclose(model.predict(kind(X)), fitted(s > 0), atol=1e-6)
    held = [fitted(without(i, s))[i] for i in range(14)]
    np.testing.assert_allclose(model.held_out_, held, atol=1e-6)
    errors = s @ np.square(y - held) / (s @ np.square(y - np.average(y, weights=s)))
    assert model.best_score_ == pytest.approx(1 - errors)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ridge_classification_leaves_copies_out(n_classes, rows):
    X, s, _ = rows
    y = np.array([0, 1, 2, 1, 0, 1, 2, 0, 0, 1, 2, 0, 1, 2]) % n_classes
    model = KernelRidgeClassifierCV([0.4], [0.3]).fit(X, y, s)
    targets, held = np.eye(n_classes)[y] - 1 / n_classes, np.empty((14, n_classes))
    for i in range(14):
        kept = without(i, s)
        ridge = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.4)
        held[i] = ridge.fit(X[kept], targets[kept], s[kept]).predict(X[[i]])[0] + 1 / n_classes
    np.testing.assert_allclose(model.held_out_, held, atol=1e-6)
    assert model.best_score_ == pytest.approx(np.average(held.argmax(axis=1) == y, weights=s))


def test_errors_of_copies_count_one_by_one(rows):
    X, _, _ = rows
    y = np.array([0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1])
    model, s = KernelRidgeClassifierCV([0.4], [0.3]).fit(X, y), np.ones(14)
    held = model.held_out_[:, 1:] - 0.5
    squares, factor = np.square(held[:, 0] - y + 0.5), 2 * 4 / np.sqrt(10)
    one = np.mean((held[:, 0] >= 0) != y) + factor * squares.mean()
    means, sums = distinct_rows(X).pooled(y[:, None] - 0.5, s)
    apart = np.mean(np.square(y - 0.5 - means[PLACE, 0]))  # of copies: no model can avoid it
    sets = model._loss(held[distinct_rows(X).first], means, sums)
    assert sets == pytest.approx(one - factor * apart)


@pytest.mark.parametrize("alike", [True, False])  # a graph may tell copies apart
def test_closed_forms_leave_copies_out(alike, rows):
    X, s, y = rows
    rng = np.random.default_rng(1)
    phi = rng.normal(size=(10, 20))[PLACE] if alike else rng.normal(size=(14, 20))
    targets = np.column_stack([y, rng.normal(size=14)])
    found = leave_one_out(phi, Labels(targets, s, None, distinct_rows(X)), np.array([0.5, 4.0]))
    for C, scores in zip((0.5, 4.0), found, strict=True):
        for i in np.flatnonzero(s):
            kept = without(i, s)
            ridge = Ridge(alpha=1 / C, fit_intercept=False, solver="cholesky")
            ridge.fit(phi[kept], targets[kept], sample_weight=s[kept])
            np.testing.assert_allclose(scores[i], ridge.predict(phi[[i]])[0], atol=1e-8)


def test_clusters_leave_copies_out(rows):
    X, _, y = rows
    phi = np.random.default_rng(1).normal(size=(10, 5))[PLACE]
    s = np.random.default_rng(2).uniform(0.5, 2.0, 14)
    _, means = means_without(y[:, None], s, distinct_rows(X))
    found = ridges(phi, s, y[:, None], distinct_rows(X), (0.01, 100.0))
    for C, (held, _) in zip((0.01, 100.0), found, strict=True):
        for i in range(14):
            kept = without(i, s)
            assert means[i, 0] == pytest.approx(np.average(y[kept], weights=s[kept]))
            ridge = Ridge(alpha=1 / C, fit_intercept=False, solver="cholesky")
            ridge.fit(phi[kept], y[kept], sample_weight=s[kept])
            assert held[i, 0] == pytest.approx(ridge.predict(phi[[i]])[0], abs=1e-8)


@pytest.mark.long
def test_the_search_for_targets_is_not_fooled():
    X, y = make_friedman1(160, n_features=6, noise=1.0, random_state=0)
    known = np.where(np.arange(160) < 60, y, np.nan)
    twice = np.vstack([X, X[:60]]), np.append(known, y[:60])
    one, two = (
        GKMRegressorCV(C_graphs=[100.0], random_state=0).fit(*each) for each in ((X, known), twice)
    )
    assert two.best_score_ < one.best_score_ + 0.05
    assert two.score(X[60:], y[60:]) > one.score(X[60:], y[60:]) - 0.05


def test_ridge_chooses_as_without_copies():
    X, y = make_friedman1(600, n_features=6, noise=1.0, random_state=0)
    one = KernelRidgeCV().fit(X[:80], y[:80])
    two = KernelRidgeCV().fit(np.tile(X[:80], (3, 1)), np.tile(y[:80], 3))
    assert two.best_score_ == pytest.approx(one.best_score_, abs=0.02)
    assert two.score(X[80:], y[80:]) == pytest.approx(one.score(X[80:], y[80:]), abs=0.02)
    assert len(two.support_) == 80


@pytest.mark.parametrize(
    "model",
    [
        KernelRidgeClassifierCV(),
        GKMClassifierCV(C_graphs=[0.0], gammas=[1.0, 30.0], random_state=0),
        GKMClassifierCV(Cs=[1.0], C_graphs=[0.0], gammas=[30.0], cv=5, random_state=0),
        pytest.param(SemiSupervisedClassifier(random_state=0), marks=pytest.mark.long),
    ],
)
@pytest.mark.slow
def test_noise_stays_noise(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    found = model.fit(np.tile(X, (2, 1)), np.tile(y, 2))
    assert found.best_score_ < 0.75


def test_sums_choose_as_without_copies():
    X, y = np.random.default_rng(0).normal(size=(150, 3)), np.arange(150) % 2  # noise
    one, two = (
        GKMClassifier(solver=Sums(n_landmarks=400), precision="double", random_state=0).fit(*rows)
        for rows in ((X, y), (np.tile(X, (2, 1)), np.tile(y, 2)))
    )
    assert pytest.approx(one.C_ / 2, rel=1e-4) == two.C_  # the same, for twice the losses
    np.testing.assert_allclose(two.decision_function(X), one.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("way", ["fit", "stream"])
def test_sums_leave_copies_out(way):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 3))[PLACE], np.where(rng.random(14) < 0.5, 0, 1)
    X, y, place = np.tile(X, (2, 1)), np.tile(y, 2), np.tile(PLACE, 2)
    model = GKMClassifier(1.0, solver="sums", gamma=0.4, precision="double", random_state=0)
    if way == "fit":
        problem = model.encode(X, y, None)
        solution = model.fit_problem(problem)
        folds = [(np.arange(0), np.arange(28))]
        found = solution.refits(folds)[:, 0]
    else:
        model.partial_fit(X, y)
        held, kept = model.stream_.held_out(), model.stream_.kept_ids[model.stream_.kept.labeled]
        found = np.empty(28)
        found[kept] = held.scores[:, 0]
    for i in range(28):
        kept = place != place[i]
        ridge = KernelRidge(alpha=1.0, kernel="rbf", gamma=0.4).fit(X[kept], 2.0 * y[kept] - 1)
        assert found[i] == pytest.approx(ridge.predict(X[[i]])[0], abs=1e-4)


class TestFolds:
    @pytest.mark.parametrize(
        "kind",
        [
            np.asarray,
            lambda X: X.astype(np.float32),
            sp.csr_matrix,
            lambda X: X.tolist(),
            pd.DataFrame,
            lambda X: pd.DataFrame({"word": [f"w{v:.3f}" for v in X[:, 0]], "number": X[:, 1]}),
            lambda X: [f"text {v:.3f}" for v in X[:, 0]],
        ],
    )
    @pytest.mark.parametrize("splitter", [LabeledKFold, LabeledStratifiedKFold])
    def test_copies_share_a_fold(self, splitter, kind):
        X = np.random.default_rng(0).normal(size=(20, 2))
        place = np.random.default_rng(1).integers(20, size=60)
        y = np.where(np.arange(60) < 50, place % 2, -1)
        folds = list(splitter(4).split(kind(X[place]), y))
        tests = np.concatenate([test for _, test in folds])
        assert sorted(tests.tolist()) == list(range(50))
        for train, test in folds:
            assert not set(place[train[train < 50]]) & set(place[test])
            assert sorted([*train, *test]) == list(range(60))

    @pytest.mark.parametrize("X", [None, np.zeros(20), np.zeros((20, 1))])
    def test_rows_need_not_be_at_hand(self, X):
        y = np.arange(20) % 2
        folds = [test.tolist() for _, test in LabeledKFold(4).split(X, y)]
        assert folds == [test.tolist() for _, test in LabeledKFold(4).split(np.arange(20), y)]

    def test_too_few_different_rows(self):
        X, y = np.repeat(np.arange(3.0), 5)[:, None], np.arange(15) % 2
        for splitter in (LabeledKFold(4), LabeledStratifiedKFold(4)):
            with pytest.raises(ValueError, match="copies"):
                next(splitter.split(X, y))

    def test_of_calibration(self):
        copies, codes = Copies.of(np.arange(60) % 30), np.arange(60) % 2
        codes[[29, 59]] = 2  # a class of one row and its copy
        weights = np.where(np.arange(60) < 5, 0.0, 1.0)
        folds = calibration_folds(codes, weights, copies)
        tests = np.concatenate([test for _, test in folds])
        assert sorted(tests.tolist()) == [i for i in range(5, 60) if i not in (29, 59)]
        for train, test in folds:
            assert not set(train % 30) & set(test % 30)

    def test_of_searches(self):
        copies, y = Copies.of(np.arange(24) % 12), np.arange(24) % 2
        folds = most_folds(y, 10, lambda own: lambda n: _Halves() if n == 2 else None, copies)
        assert [sorted(test % 12) for _, test in folds] == [[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]]

    def test_a_copy_is_no_company(self):
        labels = Labels(np.ones((5, 1)), np.ones(5), np.array([0, 0, 1, 1, 1]), None)
        assert judged_rows(labels).tolist() == [0, 1, 2, 3, 4]
        copies = Copies.of(np.array([0, 0, 1, 2, 2]))
        assert judged_rows(labels._replace(copies=copies)).tolist() == [2, 3, 4]


class _Halves:
    def split(self, X, y):
        assert len(X) == len(y) == 12
        yield np.arange(6, 12), np.arange(6)

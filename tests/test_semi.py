"""The front door: what it takes, what it says, and how it compares with usual models."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_classification, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from graphkm import KNN, Anchors, KernelRidgeCV, SemiSupervisedClassifier, SemiSupervisedRegressor


def moons(n=200, labels=16, seed=0, noise=0.12):
    X, truth = make_moons(n, noise=noise, random_state=seed)
    return X, truth, np.where(np.arange(n) < labels, truth, -1)


QUICK = SemiSupervisedClassifier(LogisticRegression(), random_state=0)


@pytest.fixture(scope="module")
def fitted():
    X, truth, y = moons()
    return SemiSupervisedClassifier(random_state=0).fit(X, y), X, truth, y


# ------------------------------------------------------------------ what it says


def test_the_mixture_is_the_sum_of_its_members(fitted):
    model, X, truth, _ = fitted
    assert model.score(X, truth) > 0.97
    weights = [each.weight for each in model.members_]
    assert weights == sorted(weights, reverse=True) and sum(weights) == pytest.approx(1)
    assert {"kernel ridge", "linear", "forest", "extra trees"} <= {
        each.name for each in model.members_
    }
    lines = repr(model.members_).splitlines()
    assert len(lines) == len(weights) + 1 and lines[0].startswith("member ")


def test_probabilities_scores_and_labels_agree(fitted):
    model, X, _, _ = fitted
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    assert shares.min() > 0
    np.testing.assert_array_equal(
        model.classes_[(shares[:, 1] >= shares[:, 0]) * 1], model.predict(X)
    )
    np.testing.assert_allclose(
        model.decision_function(X), np.log(shares[:, 1] / shares[:, 0]), atol=1e-9
    )
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(shares))


def test_far_from_all_rows_nothing_is_known(fitted):
    _, X, _, y = fitted
    alone = SemiSupervisedClassifier(None, class_sizes=None, random_state=0).fit(X, y)
    np.testing.assert_allclose(alone.predict_proba(X[:1] + 1e6), 0.5, atol=1e-3)
    sized = SemiSupervisedClassifier(None, class_sizes={0: 3, 1: 1}, random_state=0).fit(X, y)
    tilt = np.exp(sized.mixture_.tilt)
    np.testing.assert_allclose(sized.predict_proba(X[:1] + 1e6)[0], tilt / tilt.sum(), atol=1e-3)


def test_given_labels_are_kept(fitted):
    model, X, truth, y = fitted
    found = model.transduction_
    np.testing.assert_array_equal(found[y >= 0], truth[y >= 0])
    np.testing.assert_array_equal(found[y < 0], model.predict(X)[y < 0])


def test_a_copy_says_the_same(fitted):
    model, X, _, _ = fitted
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(copy.transduction_, model.transduction_)
    assert repr(copy.members_) == repr(model.members_)


def test_the_seed_decides_everything(fitted):
    model, X, _, y = fitted
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


# ------------------------------------------------------------------ what it takes


@pytest.mark.long
def test_rows_and_labels_of_many_kinds():
    X, _, y = moons(120)
    wanted = clone(QUICK).fit(X, y).predict(X)
    names = np.array(["no", "yes"])
    texts = np.array([None if code < 0 else names[code] for code in y], dtype=object)
    frame = pd.DataFrame(X, columns=["a", "b"])
    np.testing.assert_array_equal(clone(QUICK).fit(frame, texts).predict(frame), names[wanted])
    np.testing.assert_array_equal(clone(QUICK).fit(csr_array(X), y).predict(csr_array(X)), wanted)
    other = clone(QUICK).set_params(unlabeled=9).fit(X, np.where(y < 0, 9, y))
    np.testing.assert_array_equal(other.predict(X), wanted)


@pytest.mark.long
def test_only_the_ratios_of_weights_matter():
    X, _, y = moons(120)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 120)
    one, ten = (clone(QUICK).fit(X, y, factor * weights) for factor in (1.0, 10.0))
    np.testing.assert_allclose(one.predict_proba(X), ten.predict_proba(X), atol=1e-9)
    none = clone(QUICK).fit(X, y)
    assert np.abs(none.predict_proba(X) - one.predict_proba(X)).max() > 1e-6


def test_a_label_of_weight_zero_is_no_label():
    X, truth, y = moons(120)
    weights = np.ones(120)
    weights[:4] = 0
    wrong = np.where(np.arange(120) < 4, 1 - truth, y)
    found = clone(QUICK).fit(X, wrong, weights)
    hidden = clone(QUICK).fit(X, np.where(np.arange(120) < 4, -1, y), np.ones(120))
    np.testing.assert_allclose(found.predict_proba(X), hidden.predict_proba(X), atol=1e-12)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (DecisionTreeClassifier(random_state=0), {"DecisionTreeClassifier"}),
        (
            [LogisticRegression(), LogisticRegression(C=9)],
            {"LogisticRegression", "LogisticRegression 2"},
        ),
        (make_pipeline(StandardScaler(), SVC()), {"Pipeline"}),
        (LabelSpreading(kernel="knn", n_neighbors=5), {"LabelSpreading"}),
        (None, set()),
    ],
)
def test_estimators_are_members(estimator, names):
    X, truth, y = moons(120)
    model = SemiSupervisedClassifier(estimator, random_state=0).fit(X, y)
    graph = {"neighbours", "kernel", "near", "correction", "field"}
    assert {
        each.name for each in model.members_ if each.name.split()[0].strip(",") not in graph
    } == names
    assert model.score(X, truth) > 0.9
    assert np.isnan(model.unlabeled_gain_) == (estimator is None or names == {"LabelSpreading"})


@pytest.mark.dear
@pytest.mark.parametrize("graph", [None, "knn", KNN(5), Anchors(30), "anchors"])
def test_graphs(graph):
    X, truth, y = moons(300, labels=40)
    model = SemiSupervisedClassifier(LogisticRegression(), graph=graph, random_state=0).fit(X, y)
    assert model.score(X, truth) > (0.8 if graph is None else 0.9)
    assert any(each.unlabeled for each in model.members_) == (graph is not None)
    if graph is None:
        assert model.unlabeled_gain_ == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"estimator": "forest"}, "estimator must be 'auto', a model"),
        ({"estimator": None, "graph": None}, "leave nothing to learn with"),
        ({"estimator": Ridge()}, "is no classifier"),
        ({"graph": "all"}, "graph"),
    ],
)
def test_parameters_are_checked(options, words):
    X, _, y = moons(60)
    with pytest.raises(ValueError, match=words):
        SemiSupervisedClassifier(**options).fit(X, y)


def test_what_cannot_be_learnt_is_refused():
    X, _, y = moons(60)
    with pytest.raises(ValueError, match="only one class"):
        clone(QUICK).fit(X, np.where(y == 0, 0, -1))
    with pytest.raises(ValueError, match="None of the 60 rows"):
        clone(QUICK).fit(X, np.full(60, -1))
    with pytest.raises(ValueError, match="contains NaN"):
        clone(QUICK).fit(np.where(np.arange(60)[:, None] == 3, np.nan, X), y)


def test_fields_on_anchors_need_labels_to_hold_out():
    X, truth, _ = moons(60)
    y = np.full(60, -1)
    y[[np.argmin(truth), np.argmax(truth)]] = [0, 1]
    with pytest.raises(ValueError, match="2 labels of 2 different rows are too few to hold"):
        SemiSupervisedClassifier(None, graph="anchors").fit(X, y)
    found = SemiSupervisedClassifier(LogisticRegression(), graph="anchors").fit(X, y)
    assert [each.name for each in found.members_] == ["LogisticRegression"]


@pytest.mark.long
def test_a_grid_search_can_choose_its_graph():
    X, truth, _ = moons(120)
    search = GridSearchCV(clone(QUICK), {"graph": [None, "auto"]}, cv=3).fit(X, truth)
    assert search.best_score_ > 0.8


# ------------------------------------------------------------------ few rows, few labels


@pytest.mark.dear
@pytest.mark.parametrize("n", [4, 5, 6, 8, 12])
def test_a_handful_of_rows(n):
    X = np.linspace(0, 1, n)[:, None] + np.repeat([0, 5], [n // 2, n - n // 2])[:, None]
    truth = np.repeat([0, 1], [n // 2, n - n // 2])
    y = np.full(n, -1)
    y[[0, -1]] = [0, 1]
    model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), truth)


def test_one_label_of_each_class_flows_along_the_graph():
    X, truth = make_moons(200, noise=0.05, random_state=0)
    y = np.full(200, -1)
    for code in (0, 1):
        y[np.flatnonzero(truth == code)[0]] = code
    model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    alone = SVC().fit(X[y >= 0], y[y >= 0])
    assert model.score(X, truth) > max(0.8, alone.score(X, truth))


# ------------------------------------------------------------------ how good it is


@pytest.mark.long
def test_a_table_for_trees_is_left_to_trees():
    X, truth = make_classification(
        1200,
        20,
        n_informative=4,
        n_redundant=0,
        n_clusters_per_class=4,
        shuffle=False,
        random_state=3,
    )
    X = np.exp(2 * X)  # nothing is linear, and distances mean little
    y = np.where(np.arange(1200) % 6 == 0, truth, -1)
    hidden = y < 0
    forest = RandomForestClassifier(random_state=0).fit(X[~hidden], y[~hidden])
    model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    trees = sum(m.weight for m in model.members_ if m.name in ("forest", "extra trees", "boosting"))
    corrected = sum(m.weight for m in model.members_ if m.name.startswith("correction"))
    assert trees + corrected > 0.5
    found = model.score(X[hidden], truth[hidden])
    assert found > forest.score(X[hidden], truth[hidden]) - 0.02
    assert found > SVC().fit(X[~hidden], y[~hidden]).score(X[hidden], truth[hidden]) + 0.05


@pytest.mark.long
@pytest.mark.slow
def test_unlabelled_digits_help_and_are_said_to():
    X, truth = load_digits(return_X_y=True)
    X = X / 16
    claimed, true, gains = [], [], []
    for seed in range(3):  # the file is in order of writers
        rows = np.random.default_rng(seed).permutation(len(X))[:1000]
        known, hidden = rows[:60], rows[60:]
        y = np.where(np.arange(1000) < 60, truth[rows], -1)
        model = SemiSupervisedClassifier(random_state=0).fit(X[rows], y)
        alone = SVC().fit(X[known], truth[known])
        right = model.score(X[hidden], truth[hidden])
        assert right > alone.score(X[hidden], truth[hidden]) + 0.05
        assert log_loss(truth[hidden], model.predict_proba(X[hidden])) < 0.5
        claimed.append(model.best_score_)
        true.append(right)
        gains.append(model.unlabeled_gain_)
    assert np.mean(gains) > 0
    assert abs(np.mean(claimed) - np.mean(true)) < 0.06


@pytest.mark.slow
def test_noise_is_reported_as_noise():
    scores, gains = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 5)), np.full(300, -1)
        y[rng.permutation(300)[:40]] = np.arange(40) % 2
        model = SemiSupervisedClassifier(
            [LogisticRegression(), DecisionTreeClassifier(max_depth=3)], random_state=seed
        ).fit(X, y)
        scores.append(model.best_score_)
        gains.append(model.unlabeled_gain_)
    error = np.std(scores) / np.sqrt(len(scores))
    assert abs(np.mean(scores) - 0.5) < 0.015 + 2 * error
    assert np.mean(gains) < 0.015 + 2 * np.std(gains) / np.sqrt(len(gains))


# ------------------------------------------------------------------ quantities


def wave(n=300, labels=40, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 6, n)
    X = np.column_stack([t * np.cos(t), t * np.sin(t)]) + rng.normal(0, 0.05, (n, 2))
    return X, t, np.where(np.arange(n) < labels, t, np.nan)


@pytest.mark.long
def test_quantities_follow_a_curve():
    X, truth, y = wave()
    model = SemiSupervisedRegressor(random_state=0).fit(X, y)
    hidden = np.isnan(y)
    alone = KernelRidgeCV().fit(X[~hidden], y[~hidden])
    found = r2_score(truth[hidden], model.predict(X[hidden]))
    assert found > 0.95 and found > r2_score(truth[hidden], alone.predict(X[hidden])) - 0.01
    assert model.best_score_ == pytest.approx(found, abs=0.1)
    np.testing.assert_array_equal(model.transduction_[~hidden], y[~hidden])
    assert model.score(X, truth) > 0.95


@pytest.mark.long
def test_units_of_quantities_do_not_matter():
    X, _, y = wave(120, 24)
    one = SemiSupervisedRegressor(Ridge(), random_state=0).fit(X, y)
    ten = SemiSupervisedRegressor(Ridge(), random_state=0).fit(X, 1e4 * y + 7e5)
    np.testing.assert_allclose(1e4 * one.predict(X) + 7e5, ten.predict(X), rtol=2e-3)
    with pytest.raises(ValueError, match="is no regressor"):
        SemiSupervisedRegressor(LogisticRegression()).fit(X, y)


@pytest.mark.long
@pytest.mark.parametrize("n", [4, 6, 10])
def test_a_handful_of_quantities(n):
    X = np.arange(float(n))[:, None]
    y = np.where(np.arange(n) % 2 == 0, X[:, 0], np.nan)
    model = SemiSupervisedRegressor(random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


# ------------------------------------------------------------------ every size


KINDS = {
    "moons": lambda n, s: make_moons(n, noise=0.25, random_state=s),
    "blobs": lambda n, s: make_blobs(n, 20, centers=4, cluster_std=6.0, random_state=s),
    "a noisy line": lambda n, s: make_classification(
        n, 20, n_informative=10, flip_y=0.2, n_clusters_per_class=1, random_state=s
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "labels"), [(4000, 60), (1000, 49), (1000, 200), (5000, 300)])
def test_one_row_or_label_more_changes_little(kind, rows, labels):
    """The thresholds: rows with eigenvectors, labels for corrections, folds, kernels that fade."""
    means = []
    for extra in (0, 1):
        found = []
        for seed in range(10):
            n = rows + (extra if rows == 4000 else 0)
            X, truth = KINDS[kind](n + 500, seed)
            train = np.where(np.arange(n) < labels + (0 if rows == 4000 else extra), truth[:n], -1)
            model = SemiSupervisedClassifier(random_state=seed).fit(X[:n], train)
            found.append(model.score(X[n:], truth[n:]))
        means.append(np.mean(found))
    assert abs(means[0] - means[1]) < 0.02

"""The front door helps where a graph does, and does no harm where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from graphkm import Anchors, SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.members.features import LANDMARKS, LARGEST, MOST


def rings(n=300, labels=60, seed=0, classes=2):
    """Return rings around each other, which no straight line separates: X, y, truth."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % classes
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1.0 + truth + rng.normal(scale=0.1, size=n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, np.where(np.arange(n) < labels, truth, -1), truth


def wave(n=300, labels=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    truth = np.sin(2 * X[:, 0]) + X[:, 1]
    return X, np.where(np.arange(n) < labels, truth, np.nan), truth


def around(estimator, **changes):
    return SemiSupervisedClassifier(estimator, **({"random_state": 0} | changes))


# ------------------------------------------------------------------ a graph helps


@pytest.mark.dear
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("graph", ["knn", Anchors(100)])
def test_a_graph_helps_a_line_on_rings(classes, graph):
    X, y, truth = rings(classes=classes)
    model = around(LogisticRegression(), graph=graph).fit(X, y)
    alone = LogisticRegression().fit(X[:60], y[:60])
    hidden = slice(60, None)
    assert model.score(X[hidden], truth[hidden]) > alone.score(X[hidden], truth[hidden]) + 0.3
    assert model.unlabeled_gain_ > 0.3
    assert log_loss(truth[hidden], model.predict_proba(X[hidden])) < np.log(classes) - 0.3
    np.testing.assert_array_equal(model.transduction_[:60], truth[:60])


@pytest.mark.long
def test_a_graph_helps_a_line_with_quantities():
    X, y, truth = wave(labels=150)
    model = SemiSupervisedRegressor(LinearRegression(), random_state=0).fit(X, y)
    alone = LinearRegression().fit(X[:150], y[:150])
    assert model.score(X, truth) > alone.score(X, truth) + 0.1
    assert model.unlabeled_gain_ > 0.05
    np.testing.assert_array_equal(model.transduction_[:150], truth[:150])


def test_one_label_of_a_class_goes_around_the_moons():
    """A source that fades would leave the ends of the moons to the nearest label."""
    X, truth = make_moons(600, noise=0.05, random_state=0)
    scores = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.full(600, -1)
        for label in (0, 1):
            y[rng.choice(np.flatnonzero(truth == label))] = label
        scores.append(around(None).fit(X, y).score(X, truth))
    assert np.mean(scores) > 0.95


@pytest.mark.long
@pytest.mark.parametrize("labels", [7, 11, 12])
def test_few_labels_of_clear_groups_are_enough(labels):
    X, blob = make_blobs(300, centers=3, cluster_std=0.5, random_state=0)
    y = np.full(300, -1)
    for i in range(labels):
        y[np.flatnonzero(blob == i % 3)[i // 3]] = i % 3
    assert np.mean(around("auto").fit(X, y).transduction_ == blob) > 0.98


@pytest.mark.long
@pytest.mark.parametrize(("labels", "least"), [(10, 0.08), (40, 0.02)])
@pytest.mark.slow
def test_clouds_in_many_dimensions(labels, least):
    """Neighbours are found by chance there, and a kernel machine needs many more labels."""
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        truth = rng.permutation(np.arange(600) % 2)
        X = rng.normal(size=(600, 100))
        X[:, 0] += np.where(truth, 1.7, -1.7)
        y = np.where(np.arange(600) < labels, truth, -1)
        model = around("auto").fit(X[:500], y[:500])
        alone = SVC().fit(X[:labels], truth[:labels])
        gains.append(model.score(X[500:], truth[500:]) - alone.score(X[500:], truth[500:]))
    assert np.mean(gains) > least


@pytest.mark.slow
def test_many_clouds_in_many_dimensions():
    """Landmarks tell clouds apart as all rows do. One draw of 30 labels says little."""
    gains, n = [], MOST + 501
    for seed in range(4):
        rng = np.random.default_rng(seed)
        truth = rng.permutation(np.arange(n) % 2)
        X = rng.normal(size=(n, 60))
        X[:, 0] += np.where(truth, 1.7, -1.7)
        y = np.where(np.arange(n) < 30, truth, -1)
        model = around("auto").fit(X[:-500], y[:-500])
        alone = SVC().fit(X[:30], truth[:30])
        gains.append(model.score(X[-500:], truth[-500:]) - alone.score(X[-500:], truth[-500:]))
    assert np.mean(gains) > 0.03


# ------------------------------------------------------------------ it does no harm


def noisy_line(rng, X):
    return (X[:, 0] + rng.normal(scale=0.7, size=len(X)) > 0).astype(int)


@pytest.mark.long
@pytest.mark.parametrize(
    ("labels", "most"), [(50, 0.03), pytest.param(200, 0.01, marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_a_graph_of_noise_is_safe(labels, most):
    """The prior leaves members on the graph some weight, which more labels take away."""
    lost = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(600, 8))
        truth = noisy_line(rng, X)
        y = np.where(np.arange(400) < labels, truth[:400], -1)
        model = around(LogisticRegression(), random_state=seed).fit(X[:400], y)
        alone = LogisticRegression().fit(X[:labels], y[:labels])
        rest = slice(labels, None)
        lost.append(alone.score(X[rest], truth[rest]) - model.score(X[rest], truth[rest]))
    assert np.mean(lost) <= most


def test_a_model_that_is_never_wrong_is_followed():
    """A tree that is sure and right of every held-out label leaves a graph nothing to win."""
    y = np.arange(60) % 2
    X = np.column_stack([y + np.linspace(0.0, 0.2, 60), np.sin(np.arange(60.0))])
    tree = DecisionTreeClassifier(random_state=0)
    np.testing.assert_array_equal(cross_val_predict(tree, X, y), y)
    model = around(tree).fit(X, y)
    assert (model.best_score_, model.unlabeled_gain_) == (1.0, 0.0)
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.dear
@pytest.mark.parametrize("graph", ["knn", "anchors"])
@pytest.mark.parametrize("scale", [1e3, 1e9, 1e100, 1e150])
def test_far_rows_are_the_models(graph, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = np.where(np.arange(300) < 60, noisy_line(rng, X), -1)
    model = around(LogisticRegression(), graph=graph, class_sizes=None).fit(X, y)
    parts = model.mixture_.parts
    assert parts and model.mixture_.nodes is not None
    far = scale * X[:20]
    alone = LogisticRegression().fit(X[:60], y[:60])
    np.testing.assert_array_equal(model.predict(far), alone.predict(far))
    sure = model.predict_proba(far).max(axis=1)
    # What the graph would say, it leaves open.
    models = sum(part.weight for part in parts)  # corrected or not: corrections fade
    floor = 3e-3  # no class has less than a thousandth, before its temperature
    np.testing.assert_allclose(sure, 0.5 + models / 2, atol=floor + 250 / scale**2)


# ------------------------------------------------------------------ thresholds


@pytest.mark.long
@pytest.mark.parametrize("n", [LANDMARKS, MOST])
def test_one_row_more_hardly_changes_decisions(n):
    X, truth = make_moons(n + 1, noise=0.15, random_state=0)
    y = np.where(np.arange(n + 1) < 60, truth, -1)
    model = around(LogisticRegression())
    said = [clone(model).fit(X[:k], y[:k]).predict(X) for k in (n, n + 1)]
    assert np.mean(said[0] == said[1]) > 0.98
    assert min(np.mean(each == truth) for each in said) > 0.95  # a line keeps weight on moons


@pytest.mark.long
@pytest.mark.parametrize("labels", [LARGEST, LARGEST + 1])
def test_both_sides_of_the_reach_of_labels(labels):
    """Beyond it, there are fields of a strength in place of features."""
    n = MOST + 100
    X, truth = make_moons(n, noise=0.1, random_state=0)
    y = np.where(np.arange(n) < labels, truth, -1)
    model = around(LogisticRegression()).fit(X, y)
    kinds = {each.name.split()[0].strip(",") for each in model.members_}
    assert ("near" in kinds) == (labels == LARGEST)
    assert np.mean(model.transduction_ == truth) > 0.98


@pytest.mark.long
@pytest.mark.parametrize("n", [MOST, MOST + 1])
def test_both_sides_of_the_largest_number_of_nodes(n):
    """Beyond it there is one graph of nearest neighbours, and not several."""
    X, truth = make_moons(n, noise=0.1, random_state=0)
    model = around(LogisticRegression()).fit(X, np.where(np.arange(n) < 60, truth, -1))
    kinds = {tuple(f"{each.name} ".split(" ")[:2]) for each in model.members_}
    assert {"kernel", "near", "neighbours"} <= {kind for kind, _ in kinds}
    for kind, several in (("neighbours", 2), ("near", 3)):
        assert sum(each[0] == kind for each in kinds) == (several if n == MOST else 1)
    assert np.mean(model.transduction_ == truth) > 0.97


# ------------------------------------------------------------------ all labelled, many classes


@pytest.mark.dear
@pytest.mark.parametrize("estimator", ["auto", None, LogisticRegression()])
def test_ten_rows_all_labelled(estimator):
    X, _, truth = rings(10)
    model = around(estimator).fit(X, truth)
    np.testing.assert_array_equal(model.transduction_, truth)


@pytest.mark.long
@pytest.mark.slow
def test_two_hundred_classes():
    rng = np.random.default_rng(0)
    truth = np.arange(1200) % 200
    X = rng.normal(size=(200, 5))[truth] + 0.05 * rng.normal(size=(1200, 5))
    y = np.where(np.arange(1200) < 400, truth, -1)
    model = around(LogisticRegression()).fit(X, y)
    assert model.predict_proba(X).shape == (1200, 200) and model.score(X, truth) > 0.9


@pytest.mark.dear
@pytest.mark.parametrize("estimator", ["auto", None, Ridge()])
@pytest.mark.parametrize("labels", [2, 60])
def test_constant_targets(estimator, labels):
    X, y, _ = wave(labels=labels)
    model = SemiSupervisedRegressor(estimator, random_state=0).fit(X, y * 0 + 7)
    np.testing.assert_allclose(model.predict(X + 5), 7.0)


@pytest.mark.dear
@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("estimator", ["auto", Ridge()])
def test_few_targets(estimator, labels):
    X, y, _ = wave(labels=labels)
    model = SemiSupervisedRegressor(estimator, random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    np.testing.assert_array_equal(model.transduction_[:labels], y[:labels])

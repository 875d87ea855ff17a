"""Both sides of every number at which "auto" changes its mind: accuracy does not jump.

The rows of the smaller side are those of the larger one but for the last, so that whatever
differs is the decision's. Every case runs on data with and without clusters. Thresholds that are
slow to reach have smaller numbers in the fast tests and their own in the slow ones.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_friedman1, make_swiss_roll

from graphkm import GKMClassifier, GKMRegressor, GKMRegressorCV
from graphkm.gkm import plan
from graphkm.solvers import newton

TEST = 2000  # rows of a score: its standard error is below a hundredth
MARGIN = 0.03  # of accuracy or R^2


def flat_values(n):
    X, y = make_friedman1(n, noise=0.5, random_state=0)
    return X / X.std(axis=0), y


def rolled_values(n):
    X, y = make_swiss_roll(n, noise=0.5, random_state=0)
    return X / X.std(axis=0), y


def flat_classes(n):
    X = np.random.default_rng(0).normal(size=(n, 4))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


def clustered_classes(n):
    rng = np.random.default_rng(0)
    cluster = rng.integers(12, size=n)
    return 2 * rng.normal(size=(12, 10))[cluster] + rng.normal(size=(n, 10)), cluster % 3


KINDS = {
    "values, flat": (GKMRegressor, flat_values),
    "values, rolled": (GKMRegressor, rolled_values),
    "classes, flat": (GKMClassifier, flat_classes),
    "classes, clustered": (GKMClassifier, clustered_classes),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def scores(kind, rows, labels, estimator=None, **options):
    """Return the plan and the score of both sides, each with its rows and labels."""
    estimator_of_kind, make = KINDS[kind]
    estimator = estimator or estimator_of_kind
    X, truth = make(max(rows) + TEST)
    found = []
    for n, n_labeled in zip(rows, labels, strict=True):
        hidden = np.full(n, np.nan if "values" in kind else -1)
        y = np.where(np.arange(n) < n_labeled, truth[:n], hidden)
        model = estimator(random_state=0, **options).fit(X[:n], y)
        fitted = getattr(model, "best_estimator_", model)
        found.append((fitted.plan_, model.score(X[-TEST:], truth[-TEST:])))
    return found


def n_landmarks(plan):
    return plan.solver.n_landmarks


def method(plan):
    return type(plan.solver)


def own_scores(plan):
    """Return whether rows get scores of their own, unless held-out labels want no graph."""
    return "too many to be all landmarks" in plan.reasons


def landmarks_or_rows(plan):
    return getattr(plan.solver, "n_landmarks", "every row")


def assert_no_jump(found, choice):
    (one, before), (two, after) = found
    alone = one.graph is two.graph is None  # both found that no graph is best
    assert choice(one) != choice(two) or alone  # it is the threshold
    assert before > 0.6  # and both have learnt something
    assert after == pytest.approx(before, abs=MARGIN)


@pytest.fixture
def smaller(monkeypatch):
    """Divide the numbers of rows and labels by five, and keep their proportions."""
    for module, name in [(newton, "_ALL"), (newton, "_SOME"), (plan, "_FEW")]:
        monkeypatch.setattr(module, name, getattr(module, name) // 5)


@pytest.mark.long
@every_kind
def test_rows_beyond_landmarks(kind, smaller):
    assert_no_jump(scores(kind, (500, 501), (50, 50)), landmarks_or_rows)


@pytest.mark.long
@every_kind
def test_many_labels(kind, smaller):
    assert_no_jump(scores(kind, (450, 450), (200, 201)), method)


@pytest.mark.dear
@every_kind
def test_many_labels_beyond_landmarks(kind, smaller):
    assert_no_jump(scores(kind, (600, 600), (100, 101)), method)


@pytest.mark.long
@every_kind
def test_more_labels_beyond_landmarks(kind, smaller, monkeypatch):
    monkeypatch.setattr(newton, "_SOME", 333)
    assert_no_jump(scores(kind, (1000, 1000), (166, 167)), method)


unlisted = pytest.mark.parametrize(
    "options",
    [
        pytest.param({"smoothness": 1}, marks=pytest.mark.slow),
        {"graph": "full"},
        {"graph": "bipartite"},
    ],
)


@pytest.mark.dear
@every_kind
@unlisted
def test_rows_on_which_every_graph_is_quick(kind, options, monkeypatch):
    monkeypatch.setattr(plan, "_SMALL", 250)
    assert_no_jump(scores(kind, (250, 251), (100, 100), **options), method)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["classes, flat", "classes, clustered"])
def test_rows_too_many_for_their_own_scores(kind, smaller, monkeypatch):
    monkeypatch.setattr(plan, "LARGEST", 600 * 100)
    assert_no_jump(scores(kind, (600, 601), (100, 100)), own_scores)


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize("n_labeled", [50, 200])
def test_the_real_number_of_rows(kind, n_labeled):
    assert_no_jump(scores(kind, (2500, 2501), (n_labeled, n_labeled)), landmarks_or_rows)


@pytest.mark.slow
@every_kind
@unlisted
def test_the_real_number_of_rows_on_which_every_graph_is_quick(kind, options):
    assert_no_jump(scores(kind, (500, 501), (100, 100), **options), method)


@pytest.mark.slow
@every_kind
@pytest.mark.parametrize(("rows", "labels"), [(2500, 1000), (3000, 500)])
def test_the_real_number_of_labels(kind, rows, labels):
    assert_no_jump(scores(kind, (rows, rows), (labels, labels + 1)), method)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["values, flat", "values, rolled"])
def test_a_search_beyond_landmarks(kind):
    assert_no_jump(scores(kind, (2500, 2501), (100, 100), GKMRegressorCV), n_landmarks)


@pytest.mark.slow
def test_regression_does_not_fade_with_more_rows():
    """Ten features, 200 known targets: R^2 was 0.875, 0.380 and 0.251."""
    for n in (2400, 2600, 6000):
        X, truth = make_friedman1(n, random_state=0)
        X, truth = (X - X.mean(axis=0)) / X.std(axis=0), (truth - truth.mean()) / truth.std()
        y = np.where(np.arange(n) < 200, truth, np.nan)
        assert GKMRegressor(random_state=0).fit(X, y).score(X[200:], truth[200:]) > 0.85

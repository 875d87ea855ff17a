"""C_graph="auto" of a classifier: strengths of the graph and none, judged on held-out labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from graphkm import GKMClassifier, Newton, RowNewton
from graphkm.kernels import resolve_gamma


def flat(seed, n=500, labels=60):
    """Return rows without clusters, whose class is the side of a plane."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    truth = (X[:, 0] + X[:, 1] > 0).astype(int)
    return X, np.where(np.arange(n) < labels, truth, -1), truth


def moons(labels=20, seed=0):
    X, truth = make_moons(400, noise=0.1, random_state=seed)
    return X, np.where(np.arange(400) < labels, truth, -1), truth


@pytest.mark.long
def test_where_the_graph_misleads_it_is_left_out():
    ours, usual, alone = [], [], []
    for seed in range(6):
        X, y, truth = flat(seed)
        hidden = y < 0
        model = GKMClassifier(random_state=0).fit(X, y)
        ours.append(np.mean(model.predict(X[hidden]) == truth[hidden]))
        strong = GKMClassifier(C_graph=1e5 / 60, random_state=0).fit(X, y)
        usual.append(np.mean(strong.predict(X[hidden]) == truth[hidden]))
        svc = SVC(C=10, gamma=resolve_gamma("spread", X)).fit(X[~hidden], y[~hidden])
        alone.append(svc.score(X[hidden], truth[hidden]))
    assert np.mean(ours) > np.mean(alone) - 0.01
    assert np.mean(ours) > np.mean(usual) + 0.05
    assert model.plan_.graph is None
    assert "none is best on held-out labels" in repr(model.plan_)


@pytest.mark.parametrize("solver", ["auto", Newton(), RowNewton()])
def test_where_it_helps_it_stays(solver):
    X, y, truth = moons()
    model = GKMClassifier(solver=solver, random_state=0).fit(X, y)
    assert model.plan_.graph is not None and model.plan_.C_graph > 0
    assert model.score(X, truth) > 0.95


def test_rows_of_their_own_scores_without_a_graph():
    """Nothing would connect the rows' scores, so another solver takes over."""
    X, y, truth = flat(0)
    model = GKMClassifier(solver=RowNewton(), random_state=0).fit(X, y)
    assert model.plan_.graph is None and isinstance(model.plan_.solver, Newton)
    assert not isinstance(model.plan_.solver, RowNewton)
    assert model.score(X, truth) > 0.7


def test_what_is_given_stays():
    X, y, _ = flat(0)
    assert GKMClassifier(C_graph=3.0, random_state=0).fit(X, y).plan_.C_graph == 3.0
    chosen = GKMClassifier(C=7.0, random_state=0).fit(X, y)
    assert chosen.plan_.C == chosen.C_ == 7.0 and chosen.plan_.graph is None
    own = GKMClassifier(gamma=0.5, random_state=0).fit(X, y)
    assert own.kernel_.gamma == 0.5


@pytest.mark.parametrize("labels", [7, 8])
def test_both_sides_of_the_fewest_labels(labels):
    X, y, _ = moons()
    kept = [*np.flatnonzero(y == 0)[:4], *np.flatnonzero(y == 1)[: labels - 4]]
    y = np.where(np.isin(np.arange(400), kept), y, -1)
    plan = GKMClassifier(random_state=0).fit(X, y).plan_
    assert ("best on held-out labels" in plan.reasons) == (labels == 8)


def test_rows_of_weight_zero_do_not_count():
    X, y, _ = moons(12)
    weights = np.where(np.arange(400) < 6, 1.0, 0.0)
    assert "held-out" in GKMClassifier(random_state=0).fit(X, y).plan_.reasons
    assert "held-out" not in GKMClassifier(random_state=0).fit(X, y, weights).plan_.reasons


def test_the_same_seed_gives_the_same_model():
    X, y, _ = moons()
    one, two = (GKMClassifier(random_state=3).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))

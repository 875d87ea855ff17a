"""C_graph="auto" of a classifier: strengths of the graph and none, judged on held-out labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.svm import SVC

from graphkm import GKMClassifier, Newton, RowNewton
from graphkm.gkm import classifier
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
@pytest.mark.slow
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
    assert "no graph is best on held-out labels" in repr(model.plan_)


@pytest.mark.dear
@pytest.mark.parametrize("solver", ["auto", Newton(), RowNewton()])
def test_where_it_helps_it_stays(solver):
    X, y, truth = moons()
    model = GKMClassifier(solver=solver, random_state=0).fit(X, y)
    assert model.plan_.graph is not None and model.plan_.C_graph > 0
    assert model.score(X, truth) > 0.95


@pytest.mark.long
def test_rows_of_their_own_scores_without_a_graph():
    """Nothing would connect the rows' scores, so another solver takes over."""
    X, y, truth = flat(0)
    model = GKMClassifier(solver=RowNewton(), random_state=0).fit(X, y)
    assert model.plan_.graph is None and isinstance(model.plan_.solver, Newton)
    assert not isinstance(model.plan_.solver, RowNewton)
    assert model.score(X, truth) > 0.7


@pytest.mark.long
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


def noisy_plane(seed, n=1000, labels=120):
    """Return Gaussian rows on two sides of a plane, with noise."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, 12)), rng.normal(size=12)
    truth = (X @ w / np.linalg.norm(w) + rng.normal(size=n) > 0).astype(int)
    return X, np.where(np.arange(n) < labels, truth, -1), truth


def noisy_shares(seed, n=1000, labels=200):
    """Return rows with noise and a second class of 30 %."""
    X, truth = make_classification(n, 24, flip_y=0.3, weights=[0.7], random_state=seed)
    known = np.random.default_rng(seed).permutation(n)[:labels]
    return X, np.where(np.isin(np.arange(n), known), truth, -1), truth


@pytest.mark.long
@pytest.mark.parametrize(
    ("draw", "seeds"), [(noisy_plane, [4, 9, 23]), (noisy_shares, [6, 9, 10, 15, 17])]
)
@pytest.mark.slow
def test_noise_does_not_end_in_one_class(draw, seeds):
    """C suits the hinge loss. A C that suits squared losses let f predict one class here."""
    behind = []
    for seed in seeds:
        X, y, truth = draw(seed)
        hidden = y < 0
        model = GKMClassifier(random_state=0).fit(X, y)  # warnings are errors
        said = model.predict(X[hidden])
        assert np.bincount(said, minlength=2).min() > 0.1 * len(said)
        alone = SVC().fit(X[~hidden], y[~hidden]).score(X[hidden], truth[hidden])
        behind.append(alone - np.mean(said == truth[hidden]))
    assert max(behind) < 0.05 and np.mean(behind) < 0.02


def test_no_graph_is_blamed_where_there_is_none(monkeypatch):
    """A tiny C makes f contradict labels. The plan has no graph, so no graph overrules them."""
    X, y, _ = noisy_shares(6)

    def tiny(estimator, problem, plan):
        return replace(plan, C=1e-3, relative=False).without_graph("none is best"), None

    monkeypatch.setattr(classifier, "choose_costs", tiny)
    model = GKMClassifier(random_state=0).fit(X, y)  # warnings are errors
    labeled = y >= 0
    assert np.mean(model.predict(X[labeled]) != y[labeled]) > 0.25

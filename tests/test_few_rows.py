"""Few rows: given labels are followed, and a graph that overrules them is reported."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine, make_blobs, make_circles, make_moons
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from flat import build_graph
from graphkm import KNN, GKMClassifier, GKMClassifierCV, GKMRegressor, GKMRegressorCV
from graphkm.baselines import LaplacianSVC
from graphkm.kernels import resolve_gamma
from graphkm.neighbours.arguments import default_neighbors

STRONG = {"graph": KNN(n_neighbors=10), "C_graph": 1e4, "random_state": 0}
OVERRULED = "The graph overrules the labels"


def product():
    X = np.random.default_rng(0).normal(size=(1000, 4))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


def scaled(data):
    return StandardScaler().fit_transform(data[0]), data[1]


SETS = {
    "without clusters": product(),
    "circles": make_circles(1000, noise=0.08, factor=0.5, random_state=0),
    "moons": make_moons(1000, noise=0.15, random_state=0),
    "blobs": make_blobs(1000, centers=3, n_features=5, cluster_std=2.5, random_state=1),
    "iris": scaled(load_iris(return_X_y=True)),
    "wine": scaled(load_wine(return_X_y=True)),
}


def draw(name, n, seed, share=0.4):
    """Return n rows, their classes, and which are labelled: one row of every class at least."""
    X, y = SETS[name]
    rng = np.random.default_rng([seed, n])
    labeled = np.zeros(n, bool)
    while labeled.sum() < len(np.unique(y)):
        rows = rng.choice(len(X), n, replace=False)
        labeled[:] = False
        labeled[np.unique(y[rows], return_index=True)[1]] = True
    more = max(0, round(share * n) - int(labeled.sum()))
    labeled[rng.permutation(np.flatnonzero(~labeled))[:more]] = True
    return X[rows], y[rows], labeled


def fitted(model, X, y, labeled):
    with warnings.catch_warnings():  # graphs of two neighbours fall apart
        warnings.filterwarnings("ignore", message=".*hold no labelled point")
        return model.fit(X, np.where(labeled, y, -1))


# ---------------------------------------------------------------- labels


@pytest.mark.slow
@pytest.mark.parametrize("kind", [GKMClassifier, GKMClassifierCV, LaplacianSVC])
def test_labels_are_followed_and_other_rows_no_worse_than_by_svc(kind):
    ours, rival = [], []
    options = {} if kind is LaplacianSVC else {"random_state": 0}
    for n in (6, 10, 14, 20, 30):
        kept = []
        for name in SETS:
            for seed in range(3):
                X, y, labeled = draw(name, n, seed)
                svc = SVC(C=10.0, gamma=resolve_gamma("spread", X)).fit(X[labeled], y[labeled])
                hits = fitted(kind(**options), X, y, labeled).predict(X) == y
                kept.append(hits[labeled].mean())
                ours.append(hits[~labeled].mean())
                rival.append((svc.predict(X) == y)[~labeled].mean())
        assert np.mean(kept) >= 0.97
    assert np.mean(ours) >= np.mean(rival) - 0.05


@pytest.mark.parametrize("n", [6, 14, 30])
def test_targets_are_followed(n):
    rng = np.random.default_rng(n)
    X = rng.uniform(-1, 1, size=(n, 1))
    truth = np.sin(3 * X.ravel())
    y = np.where(np.arange(n) % 2 == 0, truth, np.nan)
    for kind in (GKMRegressor, GKMRegressorCV):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*hold no labelled point")
            model = kind(random_state=0).fit(X, y)
        assert np.corrcoef(model.predict(X)[::2], truth[::2])[0, 1] > 0.9


@pytest.mark.parametrize("kind", [GKMClassifier, GKMClassifierCV])
def test_two_rows_of_each_of_three_classes(kind):
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    X = np.repeat(centres, 2, axis=0) + 0.3 * rng.normal(size=(6, 2))
    truth = np.repeat([0, 1, 2], 2)
    y = np.where(np.arange(6) % 2 == 0, truth, -1)
    assert kind(random_state=0).fit(X, y).predict(X).tolist() == truth.tolist()


@pytest.mark.parametrize("kind", [GKMClassifier, GKMClassifierCV])
def test_one_label_per_class(kind):
    X, truth = make_blobs(12, centers=2, cluster_std=0.5, random_state=3)
    labeled = np.zeros(12, bool)
    labeled[np.unique(truth, return_index=True)[1]] = True
    model = fitted(kind(random_state=0), X, truth, labeled)
    assert model.predict(X).tolist() == truth.tolist()


@pytest.mark.parametrize("kind", [GKMClassifier, GKMClassifierCV])
def test_rows_that_are_repeated(kind):
    rng = np.random.default_rng(1)
    places = np.array([[0.0, 0.0], [0.5, 0.5], [3.0, 3.0], [3.5, 2.5]])
    X = np.repeat(places, 4, axis=0)
    truth = np.repeat([0, 0, 1, 1], 4)
    labeled = np.zeros(16, bool)
    labeled[[0, 5, 9, 14]] = True
    order = rng.permutation(16)
    model = fitted(kind(random_state=0), X[order], truth[order], labeled[order])
    assert model.predict(X).tolist() == truth.tolist()


# ---------------------------------------------------------------- "auto"


def test_neighbours_follow_the_rows():
    counts = [default_neighbors(n) for n in range(2, 200)]
    assert counts == sorted(counts)
    assert all(1 <= k < n for n, k in enumerate(counts, start=2))
    assert {default_neighbors(n) for n in (91, 100, 1000, 10**6)} == {10}


@pytest.mark.parametrize("n", [2, 9, 40, 150])
def test_auto_is_that_number(n):
    X, nobody = np.random.default_rng(0).normal(size=(n, 3)), np.zeros(n, bool)
    auto = build_graph("knn", X, nobody, gamma="local", n_neighbors="auto").edges()
    k = min(default_neighbors(n), n - 1)
    number = build_graph("knn", X, nobody, gamma="local", n_neighbors=k).edges()
    np.testing.assert_array_equal(auto, number)


def test_ordinary_sizes_are_as_they_were():
    X, truth = make_moons(300, noise=0.1, random_state=0)
    y = np.where(np.arange(300) < 20, truth, -1)
    usual = GKMClassifier(random_state=0).fit(X, y)
    spelt = GKMClassifier(C_graph=1e5 / 20, random_state=0, graph=KNN(n_neighbors=10)).fit(X, y)
    assert usual.plan_.C_graph == spelt.plan_.C_graph == 1e5 / 20
    # No label is at its bound, so that C may be any of the list.
    np.testing.assert_allclose(usual.dual_coef_, spelt.dual_coef_, rtol=1e-5)
    search = GKMClassifierCV(GKMClassifier(loss="logistic"), random_state=0).fit(X, y)
    tried = search.cv_results_
    assert set(tried["param_C_graph"].compressed()) == {0.0, 1e3 / 20, 1e5 / 20, 1e7 / 20}
    assert set(tried["param_graph__n_neighbors"].compressed()) == {2, 6, 12, 50}


@pytest.mark.parametrize("wrong", ["many", 0, 2.5])
def test_other_words_are_refused(wrong):
    X, y = np.arange(6.0)[:, None], np.array([0, -1, -1, -1, -1, 1])
    with pytest.raises(ValueError, match="n_neighbors must be 'auto' or a whole number >= 1"):
        GKMClassifier(graph=KNN(n_neighbors=wrong)).fit(X, y)


# ---------------------------------------------------------------- what is reported


@pytest.mark.parametrize("name", SETS)
def test_a_graph_that_overrules_labels_is_reported(name):
    fired = 0
    for seed in range(5):
        X, y, labeled = draw(name, 12, seed)
        model = GKMClassifier(**STRONG)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            model.fit(X, np.where(labeled, y, -1))
        wrong = np.count_nonzero(model.predict(X)[labeled] != y[labeled])
        largest = np.bincount(y[labeled]).max()
        expected = wrong > max(1, (labeled.sum() - largest) / 2)
        said = [str(w.message) for w in seen if str(w.message).startswith(OVERRULED)]
        assert len(said) == expected
        if said:
            assert f"contradicts {wrong} of {labeled.sum()} given" in said[0]
        fired += len(said)
    assert fired > 0  # this graph is far too strong


def test_a_graph_that_outvotes_mistakes_is_not():
    X, truth = make_blobs(200, centers=[[0, 0], [4, 4]], random_state=0)
    y = np.where(np.arange(200) < 40, truth, -1)
    y[:8] = 1 - y[:8]  # a fifth of the labels
    model = GKMClassifier(C=0.1, random_state=0).fit(X, y)  # warnings are errors
    assert np.count_nonzero(model.predict(X)[:40] != y[:40]) == 8


def test_labels_that_the_kernel_cannot_follow_are_not_the_graphs_fault():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 2))
    y = np.where(np.arange(60) < 30, X[:, 0] * X[:, 1] > 0, -1)
    model = GKMClassifier(kernel="linear", random_state=0).fit(X, y)
    assert np.mean(model.predict(X)[:30] != y[:30]) > 0.25


def test_without_a_graph_nothing_is_said():
    X, y, labeled = draw("without clusters", 12, 0)
    GKMClassifier(**STRONG | {"C_graph": 0}).fit(X, np.where(labeled, y, -1))
    GKMClassifier(**STRONG).fit(X, y)  # nothing is unlabelled


def test_precomputed_kernels_are_looked_at_too():
    X, y, labeled = draw("without clusters", 12, 1)
    K = np.exp(-resolve_gamma("spread", X) * ((X[:, None] - X) ** 2).sum(axis=2))
    W = np.ones((12, 12)) - np.eye(12)
    model = GKMClassifier(C_graph=1e6, kernel="precomputed", random_state=0)
    with pytest.warns(UserWarning, match=OVERRULED):
        model.fit(K, np.where(labeled, y, -1), affinity=W)


def test_folds_say_nothing():
    X, y, labeled = draw("moons", 24, 0, share=0.5)
    options = {"Cs": [1.0], "C_graphs": [1e6], "graphs": [(20, 2)], "cv": 2, "random_state": 0}
    search = GKMClassifierCV(**options).fit(X, np.where(labeled, y, -1))  # warnings are errors
    assert search.best_params_["C_graph"] == 0

"""The searching estimators: their criteria by literal refits, and what they choose."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from flat import classifier_cv, regressor_cv
from graphkm import (
    SGD,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    IteratedLaplacian,
    Newton,
)
from graphkm.estimators.classes import winning_class
from graphkm.gkm.criterion import Labels, judge_classes, judge_values, leave_one_out
from graphkm.kernels import SquaredExponential
from graphkm.model_selection import LabeledKFold, LabeledStratifiedKFold
from graphkm.neighbours.index import NeighbourIndex

SMALL = {"Cs": [1.0, 10.0], "C_graphs": [1.0, 100.0], "graphs": [(5, 1), (8, 2)]}
SMALL_GRAPHS = {"C_graphs": [1.0, 100.0], "graphs": [(5, 1), (8, 2)]}


@pytest.fixture(scope="module")
def moons():
    """Return two moons, 6 of 150 rows of each class labelled."""
    X, truth = make_moons(150, noise=0.1, random_state=0)
    y = np.full(150, -1)
    for c in (0, 1):
        y[np.flatnonzero(truth == c)[:6]] = c
    return X, y, truth


@pytest.fixture(scope="module")
def sine():
    """Return a sine, 15 of 90 targets known."""
    X = np.linspace(0, 6, 90)[:, None]
    truth = np.sin(X.ravel()) + 5.0
    return X, np.where(np.arange(90) % 6 == 0, truth, np.nan), truth


# ---------------------------------------------------------------- criteria


def ridge(phi, y, weights, C):
    """Return the v that minimises 1/2 ||v||^2 + C/2 sum_i s_i (y_i - <v, phi_i>)^2."""
    left = phi.T @ (weights[:, None] * phi) + np.eye(phi.shape[1]) / C
    return np.linalg.solve(left, phi.T @ (weights[:, None] * y))


def random_labels(l=14, m=9, outputs=3, seed=0):  # noqa: E741
    rng = np.random.default_rng(seed)
    codes = np.arange(l) % outputs
    targets = np.where(codes[:, None] == np.arange(outputs), 1.0, -1.0)
    return rng.normal(size=(l, m)), Labels(targets, rng.uniform(0.2, 3.0, l), codes)


@pytest.mark.parametrize("m", [2, 9, 30])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_a_fit_without_each_point(weighted, m):
    phi, labels = random_labels(m=m)
    if not weighted:
        labels = labels._replace(weights=np.ones(14))
    Cs = np.array([0.01, 1.0, 50.0])
    for C, found in zip(Cs, leave_one_out(phi, labels, Cs), strict=True):
        for i in range(14):
            rest = np.arange(14) != i
            v = ridge(phi[rest], labels.targets[rest], labels.weights[rest], C)
            np.testing.assert_allclose(found[i], phi[i] @ v, rtol=1e-7, atol=1e-9)


def test_leave_one_out_with_points_of_weight_zero():
    phi, labels = random_labels()
    labels.weights[:3] = 0.0
    found = leave_one_out(phi, labels, np.array([2.0]))[0]
    absent = Labels(labels.targets[3:], labels.weights[3:], None)
    np.testing.assert_allclose(
        found[3:], leave_one_out(phi[3:], absent, np.array([2.0]))[0], rtol=1e-9
    )
    assert np.isfinite(found).all()


def log_losses_by_hand(held, codes, weights):
    """Return log losses near the temperature that SciPy finds, with the judge's belief in 1."""
    held = np.hstack([-held, held]) if held.shape[1] == 1 else held
    weights = weights / weights.mean()

    def of(t):
        return -weights @ log_softmax(t * held, axis=1)[np.arange(len(codes)), codes]

    found = minimize_scalar(
        lambda log_t: of(np.exp(log_t)) + 2.0 * log_t**2,
        bounds=(np.log(0.1), np.log(10.0)),
        method="bounded",
    )
    step = np.log(100.0) / 40  # of the temperatures that the judge tries
    near = np.clip(found.x + np.linspace(-step, step, 41), np.log(0.1), np.log(10.0))
    return np.array([of(t) for t in np.exp(near)]) / weights.sum()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_criterion_is_the_log_loss_of_fits_without_each_label(weighted, classes):
    phi, labels = random_labels(l=30, outputs=classes)
    phi[np.arange(30), labels.codes] += 1.0
    targets = labels.targets if classes > 2 else labels.targets[:, [1]]
    labels = Labels(targets, labels.weights if weighted else np.ones(30), labels.codes)
    labels.weights[4] = 0.0  # a label that does not count
    counted, Cs = np.delete(np.arange(30), 4), np.array([0.01, 1.0, 50.0])
    for C, found in zip(Cs, leave_one_out(phi, labels, Cs), strict=True):
        held = np.zeros_like(targets)
        for i in range(30):
            rest = np.arange(30) != i
            held[i] = phi[i] @ ridge(phi[rest], targets[rest], labels.weights[rest], C)
        wanted = log_losses_by_hand(held[counted], labels.codes[counted], labels.weights[counted])
        assert wanted.min() - 1e-6 < judge_classes(found, labels).loss < wanted.max() + 1e-6


def test_judgement_of_classes():
    codes = np.array([0, 0, 0, 1, 1, 2, 0, 0, 1, 1])
    targets = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    labels = Labels(targets, np.ones(10), codes)
    right = judge_classes(targets, labels)
    assert right.score == 1.0
    wrong = targets.copy()
    wrong[0] = [-1.0, 1.0, -1.0]
    one = judge_classes(wrong, labels)
    assert one.score == pytest.approx(8 / 9)  # the single point of class 2 is passed over
    assert one.loss > right.loss
    wrong[5] = [1.0, 1.0, -1.0]
    assert judge_classes(wrong, labels) == one
    # Margins decide between candidates with the same errors.
    assert judge_classes(0.5 * targets, labels).loss > right.loss
    absent = labels._replace(weights=np.array([0.0, 1, 1, 1, 1, 1, 1, 1, 1, 1]))
    assert judge_classes(wrong, absent).score == 1.0
    lonely = Labels(targets[[0, 3, 5]], np.ones(3), np.array([0, 1, 2]))
    nothing = judge_classes(targets[[0, 3, 5]], lonely)
    few = Labels(targets[:5], np.ones(5), codes[:5])
    assert np.isnan(judge_classes(targets[:5], few).score)  # fewer than eight say nothing
    assert nothing.loss == 0 and np.isnan(nothing.score)


def test_of_candidates_that_differ_by_rounding_errors_the_first_wins(moons):
    X, y, _ = moons
    C = 3.0
    options = {"C_graphs": [0], "gammas": [1.0], "random_state": 0}
    search = classifier_cv(Cs=[C * (1 - 1e-15), C, C * (1 + 1e-15)], **options).fit(X, y)
    assert len(set(search.cv_results_["criterion"].tolist())) == 1 and search.best_index_ == 0


def test_rows_of_weight_zero_are_absent_from_the_judgement():
    codes = np.array([0, 0, 0, 0, 1, 1, 0, 1, 1])
    scores = np.array([[-1.0], [-1.0], [1.0], [-1.0], [1.0], [1.0], [-1.0], [1.0], [-1.0]])
    targets = np.where(codes[:, None] == 1, 1.0, -1.0)
    labels = Labels(targets, np.array([1.0, 1, 1, 0, 1, 1, 1, 1, 1]), codes)
    keep = labels.weights > 0
    without = Labels(targets[keep], np.ones(8), codes[keep])
    assert judge_classes(scores, labels) == judge_classes(scores[keep], without)


def test_judgement_of_values():
    rng = np.random.default_rng(0)
    y, f, s = rng.normal(size=(20, 1)), rng.normal(size=(20, 1)), rng.uniform(0, 2, 20)
    found = judge_values(f, Labels(y, s, None))
    assert found.loss == pytest.approx(np.average((y - f)[:, 0] ** 2, weights=s))
    assert found.score == pytest.approx(r2_score(y, f, sample_weight=s))
    assert np.isnan(judge_values(f, Labels(np.ones((20, 1)), s, None)).score)


def test_decisions():
    assert winning_class(np.array([[-0.1], [0.0], [2.0]])).tolist() == [0, 1, 1]
    assert winning_class(np.array([[1.0, 3.0], [2.0, 0.0]])).tolist() == [1, 0]


# ---------------------------------------------------------------- the search


def by_hand(search, **more):
    """Return the plain estimator with what was found."""
    return with_candidate(search, search.best_params_).set_params(**more)


def with_candidate(search, candidate):
    """Return the plain estimator with a candidate's parameters; at p = 2 it solves exactly."""
    plain = clone(search.estimator).set_params(random_state=search.random_state)
    if plain.smoothness == "auto":
        plain.set_params(smoothness=IteratedLaplacian(1))
    if plain.solver == "auto" and plain.smoothness.p == 2:
        plain.set_params(solver="newton")
    return plain.set_params(**candidate)


def test_finds_two_moons(moons):
    X, y, truth = moons
    search = classifier_cv(random_state=0).fit(X, y)
    assert search.score(X, truth) > 0.9
    assert search.best_params_["C_graph"] > 0 and search.unlabeled_gain_ > 0
    np.testing.assert_array_equal(search.transduction_[y >= 0], y[y >= 0])
    hidden = y < 0
    np.testing.assert_array_equal(search.transduction_[hidden], search.predict(X[hidden]))
    assert search.classes_.tolist() == [0, 1]
    assert search.n_features_in_ == 2
    assert search.decision_function(X).shape == (150,)


def test_finds_the_sine(sine):
    X, y, truth = sine
    search = regressor_cv(random_state=0).fit(X, y)
    assert search.score(X, truth) > 0.95
    assert search.score(X, y) > 0.95  # of the rows with a target
    assert search.best_score_ > 0.9
    np.testing.assert_array_equal(search.transduction_[::6], truth[::6])


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {"loss": "logistic"},
        SMALL,
        SMALL | {"kernel": "laplacian", "gammas": [0.5, "scale"]},
        SMALL | {"loss": "logistic", "fit_intercept": True, "class_weight": None},
        SMALL | {"cv": 3},
        SMALL_GRAPHS | {"p": 1, "Cs": [10.0], "cv": 3},
        SMALL | {"graph": "epsilon", "radius": 0.6},
        SMALL | {"graph": "full"},
        SMALL | {"graph": "bipartite"},
        SMALL | {"kernel": SquaredExponential(gamma=3.0)},
        SMALL | {"kernel": "linear"},
    ],
)
def test_the_last_fit_is_the_plain_estimators(options, moons):
    X, y, _ = moons
    search = classifier_cv(**options, random_state=0).fit(X, y)
    plain = by_hand(search).fit(X, y)
    np.testing.assert_allclose(
        search.decision_function(X), plain.decision_function(X), rtol=1e-4, atol=1e-4
    )
    np.testing.assert_array_equal(search.predict(X), plain.predict(X))
    assert search.best_estimator_.objective_ == pytest.approx(plain.objective_, rel=1e-5)


@pytest.mark.dear
@pytest.mark.parametrize(
    "options",
    [
        {"graphs": [(6, 2), (12, 4)]},  # of an odd number of rows on a line, two are as far
        SMALL | {"cv": 3},
        SMALL | {"loss": "l1", "fit_intercept": False},
    ],
)
def test_the_last_fit_is_the_plain_regressors(options, sine):
    X, y, _ = sine
    search = regressor_cv(**options, random_state=0).fit(X, y)
    plain = by_hand(search).fit(X, y)
    np.testing.assert_allclose(search.predict(X), plain.predict(X), atol=1e-4)


@pytest.mark.dear
@pytest.mark.parametrize("options", [{"loss": "logistic"}, SMALL, SMALL | {"cv": 3}])
def test_results(options, moons):
    X, y, _ = moons
    search = classifier_cv(**options, random_state=0).fit(X, y)
    results = search.cv_results_
    n = len(results["params"])
    names = {"C", "C_graph", "gamma", "graph__n_neighbors", "smoothness__degree"}
    assert {key[6:] for key in results if key.startswith("param_")} == names
    assert all(len(values) == n for values in results.values())
    for i, candidate in enumerate(results["params"]):
        for name in names:
            cell = results[f"param_{name}"][i]
            if name in candidate:
                assert cell == candidate[name]
            else:
                assert cell is np.ma.masked
    alone = results["param_C_graph"] == 0
    assert 0 < alone.sum() < n
    # Without a graph there is nothing to say of its neighbours.
    np.testing.assert_array_equal(results["param_graph__n_neighbors"].mask, alone)
    assert search.best_params_ == results["params"][search.best_index_]
    assert results["criterion"][search.best_index_] == results["criterion"].min()
    assert results["rank_test_score"][search.best_index_] == 1
    assert sorted(results["rank_test_score"]) == list(range(1, n + 1))
    assert search.best_score_ == results["mean_test_score"][search.best_index_]
    best_alone = np.argmin(np.where(alone, results["criterion"], np.inf))
    gain = search.best_score_ - results["mean_test_score"][best_alone]
    assert search.unlabeled_gain_ == pytest.approx(gain)
    if "Cs" in options:
        pairs = {(k, d) for k, d in options["graphs"]}
        seen = {
            (c["graph__n_neighbors"], c["smoothness__degree"])
            for c in results["params"]
            if c["C_graph"]
        }
        assert seen == pairs
        assert set(results["param_C"]) == set(options["Cs"])
        assert set(results["param_C_graph"]) == {0.0, *options["C_graphs"]}


def test_scores_are_literal_leave_one_out(moons):
    """One candidate again: ridge on the smoothed kernel, refitted without each label."""
    X, y, _ = moons
    options = {"Cs": [3.0], "C_graphs": [2.0], "graphs": [(5, 1)], "gammas": [2.0]}
    search = classifier_cv(**options, class_weight=None, normalized=False, precision="double").fit(
        X, y
    )
    labeled = np.flatnonzero(y >= 0)
    # The graph of the search keeps edges between labelled rows: one of them is always unlabelled.
    W = np.zeros((150, 150))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    order = np.argsort(squares + np.diag(np.full(150, np.inf)), axis=1)[:, :5]
    far = np.sqrt(np.take_along_axis(squares, order, axis=1)[:, -1])
    for u in range(150):
        for v in order[u]:
            W[u, v] = W[v, u] = np.exp(-squares[u, v] / (far[u] * far[v]))
    L, K = np.diag(W.sum(axis=1)) - W, np.exp(-2.0 * squares)
    factor = 2.0 * 12 / np.count_nonzero(np.triu(W))
    smooth = K @ np.linalg.inv(np.eye(150) + 2 * factor * L @ K)
    signs = 2.0 * y[labeled] - 1
    hits = []
    for i in range(12):
        rest = np.arange(12) != i
        G = smooth[np.ix_(labeled[rest], labeled[rest])] + np.eye(11) / 3.0
        f = smooth[labeled[i], labeled[rest]] @ np.linalg.solve(G, signs[rest])
        hits.append(signs[i] * f > 0)
    place = [c["C_graph"] > 0 for c in search.cv_results_["params"]].index(True)
    assert search.cv_results_["mean_test_score"][place] == pytest.approx(np.mean(hits))


def scored_by_hand(model, X, y, folds, weight=None, **given):
    """Return the mean accuracy on folds whose rows stay, without their labels."""
    weight = np.ones(len(y)) if weight is None else weight
    scores = []
    for _, test in folds.split(X, y):
        hidden = y.copy()
        hidden[test] = -1
        fitted = clone(model).fit(X, hidden, weight, **given)
        hits = fitted.predict(X[test]) == y[test]
        scores.append(np.average(hits, weights=weight[test]))
    return np.mean(scores)


@pytest.mark.long
@pytest.mark.parametrize(
    ("p", "weighted"),
    [(2, False), (2, True), pytest.param(1.5, False, marks=pytest.mark.slow), (1.5, True)],
)
def test_folds_are_fits_on_folds(weighted, p, moons):
    X, y, _ = moons
    folds = LabeledStratifiedKFold(3, random_state=4)
    weight = np.random.default_rng(0).uniform(0.1, 3.0, 150) if weighted else None
    options = {**SMALL, "gammas": [1.0]} | ({} if p == 2 else {"p": p})
    search = classifier_cv(**options, cv=folds, random_state=0).fit(X, y, weight)
    candidates = search.cv_results_["params"]
    for i in (0, len(candidates) // 2, len(candidates) - 1):
        model = with_candidate(search, candidates[i])
        expected = scored_by_hand(model, X, y, folds, weight)
        assert search.cv_results_["mean_test_score"][i] == pytest.approx(expected)
    number = classifier_cv(**options, cv=3, random_state=0).fit(X, y)
    assert len(number.cv_results_["params"]) == len(candidates)


@pytest.mark.long
def test_folds_take_kernels_and_affinities_whole(moons):
    X, y, _ = moons
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = np.exp(-2.0 * squares)
    W = np.where(squares < 0.3, np.exp(-squares), 0.0) - np.eye(150)
    folds = LabeledStratifiedKFold(3, random_state=4)
    for power in ({}, {"p": 1}):
        options = {**SMALL, **power, "cv": folds, "random_state": 0}
        given = classifier_cv(kernel="precomputed", **options).fit(K, y, affinity=W)
        named = classifier_cv(gammas=[2.0], **options).fit(X, y, affinity=sp.csr_array(W))
        for search, rows in [(given, K), (named, X)]:
            model = with_candidate(search, search.cv_results_["params"][0])
            expected = scored_by_hand(model, rows, y, folds, affinity=W)
            assert search.cv_results_["mean_test_score"][0] == pytest.approx(expected)
        assert len(given.cv_results_["params"]) == len(named.cv_results_["params"])


@pytest.mark.long
@pytest.mark.parametrize("kind", [GKMClassifierCV, GKMRegressorCV])
def test_folds_try_what_the_closed_form_tries(kind, moons, sine):
    """In the same units: C is measured by the kernel with the graph inside."""
    X, y, _ = moons if kind is GKMClassifierCV else sine
    closed = kind(**SMALL_GRAPHS, random_state=0).fit(X, y)
    folds = kind(**SMALL_GRAPHS, cv=2, random_state=0).fit(X, y)
    assert folds.cv_results_["params"] == closed.cv_results_["params"]


@pytest.mark.long
def test_costs_of_another_p_are_in_units_of_the_kernel(moons):
    X, y, _ = moons
    options = {"C_graphs": [1.0], "graphs": [(5, 1)], "gammas": [1.0], "p": 1.5, "cv": 2}
    for sigma_f, unit in [(1.0, 1.0), (3.0, 9.0)]:
        kernel = SquaredExponential(sigma_f=sigma_f)
        search = classifier_cv(kernel=kernel, **options, random_state=0).fit(X, y)
        found = [c["C"] * unit for c in search.cv_results_["params"]]
        assert found == pytest.approx([10, 100, 1, 1000] * 2)


@pytest.mark.long
def test_folds_pass_over_rows_of_weight_zero(moons):
    X, y, _ = moons
    first, rest = np.flatnonzero(y == 0)[0], np.flatnonzero(y >= 0)
    weight, wrong = np.ones(150), y.copy()
    weight[first], wrong[first] = 0.0, 1
    options = {**SMALL, "gammas": [1.0], "class_weight": None, "random_state": 0}
    # The same folds whatever the label of that row.
    fixed = [(np.setdiff1d(np.arange(150), rest[i::3]), rest[i::3]) for i in range(3)]

    class Fixed:
        def split(self, X, y):
            return iter(fixed)

    right = classifier_cv(**options, cv=Fixed()).fit(X, y, weight)
    mistaken = classifier_cv(**options, cv=Fixed()).fit(X, wrong, weight)
    np.testing.assert_allclose(
        mistaken.cv_results_["mean_test_score"], right.cv_results_["mean_test_score"]
    )
    with pytest.raises(ValueError, match="sample_weight is 0 for every labelled row"):
        classifier_cv(**options, cv=3).fit(X, y, (y < 0).astype(float))
    single = classifier_cv(**options, cv=3).fit(X, y, 2.0)  # one number for all rows
    assert single.best_score_ > 0.5


@pytest.mark.long
def test_p_one_is_searched_on_folds(moons, sine):
    X, y, truth = moons
    options = {"Cs": [10.0], "C_graphs": [1.0], "graphs": [(5, 2), (5, 3)]}
    search = classifier_cv(**options, p=1, random_state=0).fit(X, y)
    assert "param_smoothness__degree" not in search.cv_results_  # which belongs to p = 2
    assert (search.cv_results_["param_C_graph"] > 0).sum() == 1
    assert search.score(X, truth) > 0.7
    X, y, truth = sine
    search = regressor_cv(**options, p=1, random_state=0).fit(X, y)
    assert search.score(X, truth) > 0.5


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "searches"),
    [
        ({}, 1),
        ({"cv": 3}, 1),
        ({"p": 1.5}, 1),
        ({"p": 1.5, "C_graphs": [0.0]}, 0),
        ({"C_graphs": [0.0]}, 0),
        ({"graph": "epsilon", "radius": 1.0}, 0),
    ],
)
def test_neighbours_are_searched_for_once(options, searches, moons, monkeypatch):
    X, y, _ = moons
    count = []

    def counted(index, k):
        count.append(k)
        return neighbours(index, k)

    neighbours = NeighbourIndex.neighbours
    monkeypatch.setattr(NeighbourIndex, "neighbours", counted)
    classifier_cv(**{**SMALL, "gammas": [1.0], "random_state": 0, **options}).fit(X, y)
    assert len(count) == searches


@pytest.mark.dear
@pytest.mark.parametrize("cv", [None, LabeledKFold(3, random_state=0)])
def test_regression_scores(cv, sine):
    X, y, _ = sine
    search = regressor_cv(**SMALL, cv=cv, random_state=0).fit(X, y)
    alone = search.cv_results_["param_C_graph"] == 0
    assert alone.any() and not alone.all()
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5


# ---------------------------------------------------------------- few and many labels


def test_one_label_per_class(moons):
    X, _, truth = moons
    few = np.full(150, -1)
    for c in (0, 1):
        few[np.flatnonzero(truth == c)[0]] = c
    search = classifier_cv(random_state=0).fit(X, few)
    assert np.isnan(search.best_score_) and np.isnan(search.unlabeled_gain_)
    assert search.best_index_ == 0
    assert search.score(X, truth) > 0.6
    listed = classifier_cv(**SMALL, random_state=0).fit(X, few)
    assert np.isnan(listed.best_score_)
    assert listed.best_index_ == 0  # nothing can be held out: the first candidate


def test_a_class_with_a_single_label(three):
    y = three.y.copy()
    y[np.flatnonzero(y == 2)[1:]] = -1
    search = classifier_cv(**SMALL).fit(three.X, y)
    assert search.classes_.tolist() == [0, 1, 2]
    assert 0 <= search.best_score_ <= 1
    assert search.decision_function(three.X).shape == (90, 3)


def test_every_row_labelled(moons):
    X, _, truth = moons
    search = GKMClassifierCV().fit(X, truth)
    assert (search.cv_results_["param_C_graph"] == 0).all()
    assert search.unlabeled_gain_ == 0.0
    assert search.score(X, truth) > 0.9
    assert GKMRegressorCV().fit(X, truth.astype(float)).unlabeled_gain_ == 0.0


@pytest.mark.parametrize("search", [GKMClassifierCV, GKMRegressorCV])
def test_a_kernel_of_zeros_says_the_same_of_every_row(search):
    """The search for quantities ended in a KeyError."""
    model = GKMClassifier if search is GKMClassifierCV else GKMRegressor
    y = np.where(np.arange(40) < 20, np.arange(40.0) % 2, np.nan)
    found = search(model(kernel="linear", fit_intercept=False), random_state=0)
    found.fit(np.zeros((40, 2)), y)
    assert found.best_index_ == 0 and len(set(found.cv_results_["criterion"].tolist())) == 1
    assert len(np.unique(found.predict(np.zeros((3, 2))))) == 1


def test_one_target(sine):
    X, _, _ = sine
    few = np.full(90, np.nan)
    few[10] = 2.5
    search = GKMRegressorCV().fit(X, few)
    np.testing.assert_allclose(search.predict(X), 2.5)
    assert np.isnan(search.best_score_)


# ---------------------------------------------------------------- kinds of input


@pytest.mark.long
@pytest.mark.parametrize("cv", [None, 3])
def test_text_labels(cv, moons):
    X, y, _ = moons
    words = np.array(["ham", "spam"])
    named = np.array([None if c < 0 else words[c] for c in y], dtype=object)
    search = classifier_cv(**SMALL, cv=cv, random_state=0).fit(X, named)
    numbers = classifier_cv(**SMALL, cv=cv, random_state=0).fit(X, y)
    assert search.classes_.tolist() == ["ham", "spam"]
    assert search.best_params_ == numbers.best_params_
    np.testing.assert_array_equal(search.predict(X), words[numbers.predict(X)])
    marked = classifier_cv(**SMALL, cv=cv, unlabeled="?", random_state=0)
    marked.fit(X, np.array(["?" if c < 0 else words[c] for c in y]))
    assert marked.best_params_ == numbers.best_params_


@pytest.mark.long
@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("storage", [sp.csr_array, sp.csr_matrix])
def test_sparse_rows(storage, cv, moons):
    X, y, _ = moons
    dense = classifier_cv(**SMALL, cv=cv, random_state=0).fit(X, y)
    sparse = classifier_cv(**SMALL, cv=cv, random_state=0).fit(storage(X), y)
    np.testing.assert_allclose(
        sparse.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(sparse.predict(storage(X)), dense.predict(X))


def test_precomputed_kernel_and_affinity(moons):
    X, y, _ = moons
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    W = np.where(squares < 0.3, np.exp(-squares), 0.0) - np.eye(150)
    named = classifier_cv(**SMALL, gammas=[2.0], random_state=0)
    named.fit(X, y, affinity=W)
    given = classifier_cv(**SMALL, kernel="precomputed", random_state=0)
    given.fit(np.exp(-2.0 * squares), y, affinity=sp.csr_array(W))
    for search in (named, given):
        assert "param_graph__n_neighbors" not in search.cv_results_
        assert set(search.cv_results_["param_smoothness__degree"].compressed()) == {1, 2}
    np.testing.assert_allclose(
        given.cv_results_["criterion"], named.cv_results_["criterion"], rtol=1e-5
    )
    np.testing.assert_array_equal(given.predict(np.exp(-2.0 * squares)), named.predict(X))


def test_weights_take_part_in_the_search(moons):
    X, y, _ = moons
    weight = np.random.default_rng(0).uniform(0.1, 3.0, 150)
    equal = classifier_cv(**SMALL, random_state=0).fit(X, y)
    weighted = classifier_cv(**SMALL, random_state=0).fit(X, y, weight)
    assert not np.allclose(weighted.cv_results_["criterion"], equal.cv_results_["criterion"])
    plain = by_hand(weighted).fit(X, y, weight)
    np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X), atol=1e-4)


@pytest.mark.long
def test_frames(moons):
    X, y, _ = moons
    frame = pd.DataFrame(X, columns=["a", "b"])
    search = classifier_cv(**SMALL, cv=3).fit(frame, pd.Series(y))
    assert search.feature_names_in_.tolist() == ["a", "b"]
    assert search.predict(frame).shape == (150,)


def test_landmarks(moons):
    X, y, truth = moons
    options = SMALL | {"n_landmarks": 60, "landmarks": "kmeans++", "solver": "newton"}
    search = classifier_cv(**options, random_state=0)
    assert len(search.fit(X, y).best_estimator_.support_) <= 60
    assert search.score(X, truth) > 0.7


def test_more_labels_than_are_solved_exactly():
    """On folds too: p = 2 means the solver that iterates the Laplacian."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    y = np.where(np.arange(1200) < 1100, (X[:, 0] > 0).astype(int), -1)
    options = {"Cs": [1.0], "C_graphs": [1.0], "graphs": [(5, 2)], "gammas": ["spread"]}
    search = classifier_cv(**options, cv=2, random_state=0).fit(X, y)
    assert search.best_score_ > 0.9
    assert type(search.best_estimator_.plan_.solver) is Newton
    assert type(GKMClassifier(loss="logistic", random_state=0).fit(X, y).plan_.solver) is SGD


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize("kind", [GKMClassifierCV, GKMRegressorCV])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Cs": []}, r"Cs must be None or a list of values to try, got \[\]"),
        ({"Cs": 1.0}, "Cs must be None or a list of values to try, got 1.0"),
        ({"Cs": "1"}, "Cs must be None or a list"),
        ({"Cs": [1.0, 0]}, "Cs must be a finite number > 0, got 0"),
        ({"Cs": [np.inf]}, "Cs must be a finite number > 0, got inf"),
        ({"C_graphs": [-1]}, "C_graphs must be a finite number >= 0, got -1"),
        ({"C_graphs": ["auto"]}, "C_graphs must be a finite number >= 0, got 'auto'"),
        ({"gammas": [0]}, "gammas must be .* got 0"),
        ({"gammas": ["wide"]}, "gammas must be 'spread' or .* got 'wide'"),
        ({"graphs": [3]}, r"graphs must hold pairs .* got 3 among them"),
        ({"graphs": [(3, 1, 1)]}, "graphs must hold pairs"),
        ({"graphs": [(0, 1)]}, "n_neighbors must be a whole number >= 1, got 0"),
        ({"graphs": [(3, 1.5)]}, "degree must be a whole number >= 1, got 1.5"),
        ({"cv": 1}, "cv must be a whole number >= 2, got 1"),
        ({"cv": 2.5}, "cv must be a whole number >= 2, got 2.5"),
        ({"cv": "five"}, "cv must be a whole number >= 2, got 'five'"),
        ({"smoothness": 0.5}, "smoothness must be 'auto', a finite number >= 1, .* got 0.5"),
        ({"kernel": "rfb"}, "kernel='rfb' is not a kernel"),
        ({"graph": "ring"}, "graph must be one of"),
        ({"solver": Newton(n_landmarks=1000)}, "n_landmarks=1000 is more than the 90 rows"),
    ],
)
def test_bad_parameters(kind, options, message, sine):
    X, y, truth = sine
    y = np.where(np.isnan(y), -1, truth > 5.0) if kind is GKMClassifierCV else y
    make = classifier_cv if kind is GKMClassifierCV else regressor_cv
    with pytest.raises(ValueError, match=message):
        make(**options).fit(X, y)


@pytest.mark.long
@pytest.mark.parametrize("options", [{"cv": 5}, {"p": 1}])
def test_folds_of_a_single_target_are_refused(options, sine):
    X, y, _ = sine
    few = np.where(np.arange(90) < 40, y, np.nan)  # 7 targets
    with pytest.raises(ValueError, match=r"7 known targets holds a single target.*smaller cv"):
        regressor_cv(**SMALL_GRAPHS, **options).fit(X, few)
    regressor_cv(**SMALL | options | {"cv": 3}).fit(X, few)


def test_precomputed_needs_what_the_plain_estimator_needs(moons):
    X, y, _ = moons
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    with pytest.raises(ValueError, match=r"graph=KNN\(.*\) measures distances.*affinity=\.\.\."):
        classifier_cv(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match=r"square matrix.*\(150, 2\)"):
        classifier_cv(kernel="precomputed").fit(X, y, affinity=K)
    alone = classifier_cv(kernel="precomputed", C_graphs=[0], Cs=[1.0]).fit(K, y)
    assert alone.best_params_ == {"C_graph": 0.0, "C": 1.0}


def test_any_iterable_is_a_list(moons):
    X, y, _ = moons
    listed = classifier_cv(**SMALL, random_state=0).fit(X, y)
    lazy = {name: (value for value in values) for name, values in SMALL.items()}
    assert classifier_cv(**lazy, random_state=0).fit(X, y).best_params_ == listed.best_params_
    arrays = {name: np.array(values) for name, values in SMALL.items()}
    assert classifier_cv(**arrays, random_state=0).fit(X, y).best_params_ == listed.best_params_


def test_zero_alone_means_no_graph(moons):
    X, y, _ = moons
    search = classifier_cv(C_graphs=[0], random_state=0).fit(X, y)
    assert search.best_params_["C_graph"] == 0
    assert search.unlabeled_gain_ == 0


# ---------------------------------------------------------------- manners


@pytest.mark.dear
@pytest.mark.parametrize(
    "options",
    [
        {"solver": "row_newton"},
        SMALL | {"solver": "newton", "n_landmarks": 50},
        pytest.param(SMALL | {"cv": 3}, marks=pytest.mark.slow),
    ],
)
def test_random_state(options, moons):
    X, y, _ = moons

    def scores(seed):
        return classifier_cv(**options, random_state=seed).fit(X, y).decision_function(X)

    np.testing.assert_array_equal(scores(0), scores(0))
    np.testing.assert_array_equal(scores(0), scores(np.random.RandomState(0)))
    if "n_landmarks" in options:
        assert not np.array_equal(scores(0), scores(1))


def test_pipeline_clone_and_pickle(moons):
    X, y, truth = moons
    piped = make_pipeline(StandardScaler(), classifier_cv(**SMALL, random_state=0))
    piped.fit(100 * X, y)
    assert piped.score(100 * X, truth) > 0.7
    again = pickle.loads(pickle.dumps(piped))
    np.testing.assert_array_equal(
        again.decision_function(100 * X), piped.decision_function(100 * X)
    )
    twin = clone(piped)
    with pytest.raises(NotFittedError):
        twin[-1].predict(X)
    old, new = piped[-1].get_params(), twin[-1].get_params()
    assert new.pop("estimator") is not old.pop("estimator")
    assert new == old and "estimator__C" in new
    assert is_classifier(GKMClassifierCV()) and is_regressor(GKMRegressorCV())


def test_probabilities(moons):
    X, y, _ = moons
    # With weights of classes the largest score need not have the largest probability.
    search = classifier_cv(**SMALL, loss="logistic", class_weight=None).fit(X, y)
    P = search.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(P.argmax(axis=1), search.predict(X))
    np.testing.assert_allclose(search.predict_log_proba(X), np.log(P), rtol=1e-9)


def test_scores_pass_over_unlabelled_rows(moons):
    X, y, _ = moons
    search = classifier_cv(**SMALL).fit(X, y)
    shown = y >= 0
    assert search.score(X, y) == np.mean(search.predict(X[shown]) == y[shown])
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 150)
    hits = search.predict(X[shown]) == y[shown]
    assert search.score(X, y, weight) == pytest.approx(np.average(hits, weights=weight[shown]))
    assert search.n_iter_ == search.best_estimator_.n_iter_ > 0


@pytest.mark.long
@pytest.mark.parametrize("cv", [None, 3])
def test_verbose(cv, moons, capsys):
    X, y, _ = moons
    classifier_cv(**SMALL, cv=cv).fit(X, y)
    assert capsys.readouterr() == ("", "")
    classifier_cv(**SMALL, cv=cv, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == "" and "candidate" in err


# ---------------------------------------------------------------- scikit-learn's checks

_FAST = {"Cs": [10.0], "C_graphs": [10.0], "graphs": [(3, 1)], "gammas": ["spread"]}
_KERNEL = (
    "gamma='spread' and the number of neighbours count rows, so that a repeated row is not a "
    "weight of 2"
)


def contradictions(estimator):
    """Return the checks that the design contradicts, and why."""
    expected = {
        "check_sample_weight_equivalence_on_dense_data": _KERNEL,
        "check_sample_weight_equivalence_on_sparse_data": _KERNEL,
    }
    if isinstance(estimator, GKMClassifierCV) and estimator.estimator.unlabeled == -1:
        expected["check_classifiers_classes"] = (
            "fits labels {-1, 1}; -1 is the default mark of unlabelled rows, as in "
            "sklearn.semi_supervised, and these labels are refused as ambiguous"
        )
    return expected


@pytest.mark.long
@parametrize_with_checks(
    [
        classifier_cv(**_FAST, random_state=0),
        regressor_cv(**_FAST | {"Cs": [1.0]}, random_state=0),
    ],
    expected_failed_checks=contradictions,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [classifier_cv(**_FAST, loss="logistic", unlabeled=None)],
    expected_failed_checks=contradictions,
)
def test_scikit_learn_check_of_others(estimator, check):
    check(estimator)


def test_a_graph_must_earn_its_place():
    # Labels that have nothing to do with the rows: no candidate is better, none has a graph.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    y = np.where(np.arange(200) < 100, rng.integers(2, size=200), -1)
    search = classifier_cv(loss="logistic", random_state=0).fit(X, y)
    prices = search.cv_results_["criterion"]
    alone = search.cv_results_["param_C_graph"] == 0
    assert prices[alone].min() <= prices.min() + 10
    assert search.unlabeled_gain_ < 0.15
    assert classifier_cv(random_state=0).fit(X, y).unlabeled_gain_ < 0.15


def uneven():
    """Return two clouds that overlap, one with a tenth of the rows, and 60 labels."""
    rng = np.random.default_rng(0)
    truth = (np.arange(400) % 10 == 0).astype(int)
    X = rng.normal(size=(400, 2)) + 1.5 * truth[:, None]
    return X, np.where(rng.permutation(400) < 60, truth, -1), truth


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"Cs": [1.0, 100.0], "graphs": [(6, 1)]}, marks=pytest.mark.slow),
        pytest.param({"cv": 3}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_what_is_asked_for_is_what_is_scored(options):
    X, y, _ = uneven()
    for scoring in ("balanced_accuracy", "f1", "roc_auc"):
        search = GKMClassifierCV(scoring=scoring, random_state=0, **options).fit(X, y)
        scores = search.cv_results_["mean_test_score"]
        assert search.best_score_ == scores[search.best_index_]
        assert search.best_score_ == scores.max()


@pytest.mark.long
@pytest.mark.slow
def test_a_scorer_of_ones_own():
    X, y, _ = uneven()
    asked = []

    def errors(model, rows, known):
        asked.append(set(known.tolist()))
        return -float(np.sum(model.predict(rows) != known))

    for options in ({}, {"Cs": [1.0], "graphs": [(6, 1)]}):
        search = GKMClassifierCV(scoring=errors, random_state=0, **options).fit(X, y)
        assert search.best_score_ <= 0
    assert set.union(*asked) == {0, 1}


@pytest.mark.dear
@pytest.mark.parametrize("options", [{}, {"cv": 3, "Cs": [1.0], "C_graphs": [1.0]}])
def test_a_scorer_that_gives_nan_is_named(options, moons):
    """A NaN is neither better nor worse than a score, and was taken for the best."""
    X, y, _ = moons

    def undefined(model, rows, known):
        return float("nan")

    with pytest.raises(ValueError, match=r"scoring=<function .*undefined.* gives NaN"):
        GKMClassifierCV(scoring=undefined, random_state=0, **options).fit(X, y)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"C": 3.0}, {}),
        ({"C_graph": 3.0}, {}),
        ({"C_graph": 0}, {"Cs": [1.0]}),
        ({"C": 3.0}, {"C_graphs": [1.0]}),
        ({"gamma": 0.5}, {"Cs": [1.0]}),
        ({"gamma": "scale"}, {"cv": 3}),
    ],
)
def test_values_of_the_estimator_are_not_overwritten(given, asked, moons, sine):
    (name, value), *_ = given.items()
    said = re.escape(f"The estimator has {name}={value!r}, and ") + r"GKM\w+CV chooses it; pass "
    said += re.escape(f"{name}s=[{value!r}]")
    with pytest.raises(ValueError, match=said):
        GKMClassifierCV(GKMClassifier(**given), random_state=0, **asked).fit(*moons[:2])
    with pytest.raises(ValueError, match=said):
        GKMRegressorCV(GKMRegressor(**given), random_state=0, **asked).fit(*sine[:2])


def test_lists_take_the_place_of_values(moons):
    X, y, _ = moons
    search = GKMClassifierCV(
        GKMClassifier(C=3.0, gamma=0.5),
        Cs=[2.0],
        gammas=[0.7],
        C_graphs=[1.0],
        graphs=[(6, 2)],
        random_state=0,
    ).fit(X, y)
    assert search.best_params_["C"] == 2.0 and search.best_params_["gamma"] == 0.7


@pytest.mark.long
def test_regressors_have_scorers_too(sine):
    X, y, _ = sine
    search = GKMRegressorCV(scoring="neg_mean_absolute_error", random_state=0, **SMALL).fit(X, y)
    assert -0.3 < search.best_score_ < 0


@pytest.mark.long
def test_classes_count_as_they_are_by_default():
    X, y, _ = uneven()
    assert GKMClassifierCV().searched().class_weight is None
    usual, equal = (
        GKMClassifierCV(GKMClassifier(class_weight=each), Cs=[1.0], random_state=0).fit(X, y)
        for each in (None, "balanced")  # a large C follows every label, whatever it weighs
    )
    assert np.mean(usual.predict(X)) < np.mean(equal.predict(X))


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [{"cv": 3}, {"cv": 3, "Cs": [1.0, 10.0, 100.0]}, {"cv": 2, "gammas": [0.1, 1.0], "Cs": [1.0]}],
)
@pytest.mark.parametrize("solver", ["newton", "row_newton", "sgd"])
def test_the_bar_of_a_search_knows_its_end(monkeypatch, options, solver):
    totals, counts = [], []

    def bar(shown, total, **_):
        totals.append(total)

        class Bar:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            def update(self, n):
                counts.append(n)

        return Bar()

    monkeypatch.setattr("graphkm.gkm.search.progress_bar", bar)
    rng = np.random.default_rng(0)
    truth = np.arange(30) % 3 % 2  # clusters: no candidate's graph overrules the labels
    X = rng.normal(size=(30, 2)) + 5.0 * truth[:, None]
    y = np.where(np.arange(30) % 2 == 0, truth, -1)
    if solver == "sgd":
        options = options | {"C_graphs": [0.0, 1.0], "graphs": [(3, 1)]}
    model = GKMClassifier(solver=solver, random_state=0)
    search = GKMClassifierCV(model, random_state=0, **options).fit(X, y)
    assert totals == [sum(counts)] == [len(search.cv_results_["params"])]

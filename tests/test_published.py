"""The paper's machine in one line: its scores, its units, and what it passes through."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from graphkm import GKMClassifier, GKMRegressor
from graphkm._util.parts import Sizes
from graphkm.exchange import load_model, save_model
from graphkm.graphs.base import generators
from graphkm.model_selection import LabeledStratifiedKFold
from graphkm.reference import Problem, algorithm_1, losses, squared_exponential
from graphkm.solvers import SGD, Sums
from graphkm.theory import largest_C_graph

GAMMA, LABELS = 0.3, 9
SETTINGS = {"C": 2.0, "C_prime": 0.02, "gamma": GAMMA, "random_state": 0, "n_steps": 300,
            "precision": "double"}  # fmt: skip
REGRESSION = ("l1", "epsilon_insensitive")


def rows(n=60, classes=2):
    """Return rows, their classes and which are labelled."""
    rng = np.random.default_rng(0)
    X, truth = rng.normal(size=(n, 3)), rng.integers(classes, size=n)
    return X, truth, np.arange(n) < LABELS


def literal(model, X, labeled, targets, C, C_prime, loss="hinge", bias=1.0):
    """Return the scores of the literal program, on the edges and labels that the model drew."""
    solver, seed = model.plan_.solver, model.resources().seed
    graph = model.plan_.graph.build(X, labeled, n_jobs=1)
    i = generators(seed, 1)[0].integers(labeled.sum(), size=solver.max_iter)
    u, v, mu = graph.sampler("uniform", seed).draw(solver.max_iter)
    K = squared_exponential(X, GAMMA)
    np.testing.assert_allclose(mu, K[u, v], rtol=1e-12)
    assert not (labeled[u] & labeled[v]).any()
    problem = Problem(K + bias, labeled, targets, C, C_prime, model.smoothness.p, losses()[loss])
    return (K + bias) @ algorithm_1(problem, zip(i, u, v, mu, strict=True))[1]


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


# ---------------------------------------------------------------- the literal program


@pytest.mark.parametrize("objective", ["printed", "released"])
@pytest.mark.parametrize("graph", ["full", "bipartite", "knn"])
@pytest.mark.parametrize("p", [1, 1.5, 2, 3])
@pytest.mark.parametrize("loss", losses())
def test_the_scores_are_the_literal_programs(loss, p, graph, objective):
    X, truth, labeled = rows()
    released = objective == "released"
    costs = {"C": 0.25, "C_prime": 0.002} if released else {"C": 2.0, "C_prime": 0.02}
    settings = SETTINGS | costs | {"graph": graph, "objective": objective, "p": p, "loss": loss}
    C, C_prime = ((LABELS if released else 1) * cost for cost in costs.values())
    if loss in REGRESSION:
        y = 1e4 * np.random.default_rng(1).normal(size=len(X))
        model = GKMRegressor.as_published(**settings).fit(X, np.where(labeled, y, np.nan))
        found = model.predict(X)
        assert (model.origin_, model.spread_) == (0, 1)
    else:
        y = np.where(truth == 1, 1.0, -1.0)
        settings["transduce"] = False
        model = GKMClassifier.as_published(**settings).fit(X, np.where(labeled, truth, -1))
        found = model.decision_function(X)
    assert_same(found, literal(model, X, labeled, y[labeled], C, C_prime, loss))
    assert pytest.approx(C / LABELS, rel=1e-15) == model.C_


def test_several_classes_are_learnt_one_against_the_rest():
    X, truth, labeled = rows(classes=3)
    model = GKMClassifier.as_published(**SETTINGS).fit(X, np.where(labeled, truth, -1))
    for k, found in enumerate(model.decision_function(X).T):
        targets = np.where(truth[labeled] == k, 1.0, -1.0)
        assert_same(found, literal(model, X, labeled, targets, 2.0, 0.02))


def test_as_the_released_program():
    """It multiplies both costs by l, joins labelled rows to others only, and has no constant."""
    X, truth, labeled = rows()
    model = GKMClassifier.as_published(
        **SETTINGS | {"C": 0.25}, objective="released", graph="bipartite", fit_intercept=False
    ).fit(X, np.where(labeled, truth, -1))
    targets = np.where(truth[labeled] == 1, 1.0, -1.0)
    expected = literal(model, X, labeled, targets, LABELS * 0.25, LABELS * 0.02, bias=0.0)
    assert_same(model.decision_function(X), expected)


@pytest.mark.parametrize("objective", ["printed", "released"])
@pytest.mark.parametrize("p", [1, 1.5, 2, 3])
def test_the_guaranteed_c_prime_is_the_papers_choice(p, objective):
    X, truth, labeled = rows()
    settings = {**SETTINGS, "C_prime": "guaranteed", "objective": objective, "p": p}
    model = GKMClassifier.as_published(**settings).fit(X, np.where(labeled, truth, -1))
    C = 2.0 if objective == "printed" else 2.0 * LABELS
    limit = largest_C_graph(C, p, R=1.0, A=np.sqrt(2))
    C_prime = C if p < 2 else 0.99 * limit
    assert (model.guarantee_.C, model.guarantee_.C_graph) == pytest.approx((C, C_prime), rel=1e-12)
    assert model.guarantee_.holds
    targets = np.where(truth[labeled] == 1, 1.0, -1.0)
    expected = literal(model, X, labeled, targets, C, model.guarantee_.C_graph)
    assert_same(model.decision_function(X), expected)


@pytest.mark.parametrize(
    ("n", "steps"), [(145, 145), (3089, 3089), (5000, 5000), (5001, 1000), (8124, 1624)]
)
def test_the_published_number_of_steps(n, steps):
    """Beyond 5,000 rows it is a fifth of them; the paper's sets have 3,089 rows or 8,124."""
    for classes in (True, False):
        solver = SGD(max_iter="published").planned(Sizes(n, 10, classes))
        assert solver.max_iter == steps
    X = np.arange(2.0 * n).reshape(n, 2)
    model = GKMClassifier.as_published(C=1, gamma="spread")
    problem = model.encode(X, np.where(np.arange(n) < 10, np.arange(n) % 2, -1), None)
    assert model.plan(problem).solver.max_iter == steps


def test_other_parameters_win():
    model = GKMClassifier.as_published(C=1, gamma=1.0, solver="newton", C_graph=3.0, n_jobs=2)
    assert (model.solver, model.C_graph, model.n_jobs) == ("newton", 3.0, 2)
    with pytest.raises(ValueError, match="objective must be one of 'printed', 'released'"):
        GKMClassifier.as_published(C=1, gamma=1.0, objective="mean")


# ---------------------------------------------------------------- costs divided by the labels


def known_rows():
    X, truth, labeled = rows()
    return X, np.where(labeled, truth, -1)


@pytest.mark.parametrize("solver", ["newton", "sgd", "row_newton"])
def test_a_cost_per_label_is_that_number(solver):
    X, y = known_rows()
    texts = GKMClassifier(C="2 / l", C_graph="0.5 / l", solver=solver, random_state=0).fit(X, y)
    numbers = clone(texts).set_params(C=2 / LABELS, C_graph=0.5 / LABELS).fit(X, y)
    np.testing.assert_array_equal(texts.decision_function(X), numbers.decision_function(X))
    assert (texts.C_, texts.plan_.C_graph) == (2 / LABELS, 0.5 / LABELS)


def test_it_goes_with_everything_that_takes_a_number():
    X, y = known_rows()
    sums = [GKMClassifier(C=C, solver=Sums(), random_state=0) for C in ("2 / l", 2 / LABELS)]
    found = [model.fit(X, y).decision_function(X) for model in sums]
    np.testing.assert_array_equal(*found)
    assert pytest.approx(1e-3 / LABELS) == GKMClassifier(C="1e-3 / l").fit(X, y).C_
    assert GKMClassifier(C_graph="0 / l").fit(X, y).plan_.graph is None


def test_copies_and_files_keep_the_text(tmp_path):
    X, y = known_rows()
    targets = np.where(y >= 0, 1e4 * X[:, 0], np.nan)
    for model, known in (
        (GKMClassifier.as_published(**SETTINGS), y),
        (GKMRegressor.as_published(**SETTINGS), targets),
    ):
        model.fit(X, known)
        save_model(model, tmp_path / "model.gkm")
        again = load_model(tmp_path / "model.gkm")
        for other in (again, clone(model)):
            assert (other.C, other.C_graph) == ("2.0 / l", "0.02 / l")
            assert other.get_params() == model.get_params()
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.guarantee_ == model.guarantee_
    assert model.set_params(C="3 / l").fit(X, targets).C_ == 3 / LABELS


def test_a_search_takes_texts_and_numbers():
    X, truth, _ = rows()
    y = np.where(np.arange(60) < 24, truth, -1)
    search = GridSearchCV(
        GKMClassifier(C_graph=0, solver="newton"),
        {"C": ["2 / l", "0.5 / l", 0.5, "auto"]},
        cv=LabeledStratifiedKFold(n_splits=3),
        error_score="raise",
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["C"] in ("2 / l", "0.5 / l", 0.5, "auto")


@pytest.mark.parametrize("name", ["C", "C_graph"])
@pytest.mark.parametrize(
    "text", ["2/l", "2 /l", "2 / l ", "2 / L", "x / l", "-1 / l", "nan / l", "inf / l", " / l"]
)
def test_other_texts_are_refused(name, text):
    with pytest.raises(ValueError) as info:
        GKMClassifier(**{name: text}).fit(*known_rows())
    message = str(info.value)
    assert message.startswith(f"{name} must be 'auto' or ")
    assert f"got {text!r}" in message and "write '2 / l'" in message


def test_no_cost_of_zero_per_label():
    with pytest.raises(ValueError, match="C must be 'auto' or a finite number > 0, got '0 / l'"):
        GKMClassifier(C="0 / l").fit(*known_rows())


@pytest.mark.parametrize(
    "model",
    [
        GKMClassifier(C="2 / l"),
        GKMClassifier(C_graph="2 / l"),
        GKMClassifier(C="2 / l", solver="sgd"),
        GKMClassifier.as_published(C=2, gamma=1.0),
        GKMClassifier.as_published(C=2, gamma=1.0, objective="released"),
    ],
    ids=["C", "C_graph", "sgd", "published", "released"],
)
def test_streams_need_numbers(model):
    with pytest.raises(ValueError, match="follows from the number of labels, which a stream"):
        model.partial_fit(*known_rows())


# ---------------------------------------------------------------- targets as they are


def quantities():
    X, _, labeled = rows()
    y = 3 + 5 * np.random.default_rng(2).normal(size=len(X))
    return X, np.where(labeled, y, np.nan)


@pytest.mark.parametrize("solver", ["newton", "sgd"])
def test_units_are_the_only_difference(solver):
    """Targets in units of their spread, learnt as they are, give what usual targets give."""
    X, y = quantities()
    usual = GKMRegressor(solver=solver, C=1.0, random_state=0, precision="double").fit(X, y)
    assert usual.spread_ != 1 and usual.origin_ != 0
    plain = clone(usual).set_params(standardize=False)
    plain.fit(X, (y - usual.origin_) / usual.spread_)
    assert (plain.origin_, plain.spread_) == (0, 1)
    expected = usual.origin_ + usual.spread_ * plain.predict(X)
    np.testing.assert_allclose(usual.predict(X), expected, rtol=1e-10)
    again = clone(usual).fit(X, (y - usual.origin_) / usual.spread_)  # origin 0 and spread 1
    np.testing.assert_allclose(again.predict(X), plain.predict(X), rtol=1e-9, atol=1e-12)


def test_usual_targets_follow_shifts_and_scales_and_plain_ones_do_not():
    X, y = quantities()
    for standardize in (True, False):
        model = GKMRegressor(solver="newton", C=1.0, standardize=standardize)
        first, other = (model.fit(X, targets).predict(X) for targets in (y, 100 + 8 * y))
        assert np.allclose(other, 100 + 8 * first, rtol=1e-4) is standardize


@pytest.mark.parametrize("p", [1, 1.5, 2])
def test_plain_targets_scale_with_their_costs(p):
    """With a y, C / a -> C and a^(2-p) C' the l1 problem is the same, a times as large."""
    X, y = quantities()
    settings = SETTINGS | {"loss": "l1", "p": p}
    first = GKMRegressor.as_published(**settings).fit(X, y)
    settings |= {"C": 4 * 2.0, "C_prime": 4 ** (2 - p) * 0.02}
    large = GKMRegressor.as_published(**settings).fit(X, 4 * y)
    np.testing.assert_allclose(large.predict(X), 4 * first.predict(X), rtol=1e-12)


def test_a_stream_of_plain_targets():
    X, y = quantities()
    model = GKMRegressor(C=1.0, standardize=False, random_state=0)
    for part in (slice(0, 5), slice(5, 60)):
        model.partial_fit(X[part], y[part])
        assert (model.origin_, model.spread_) == (0, 1)


@pytest.mark.parametrize("standardize", [1, 0, 1.0, "no", None])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_standardize_is_true_or_false(method, standardize):
    model = GKMRegressor(standardize=standardize)
    with pytest.raises(ValueError, match="standardize must be True or False"):
        getattr(model, method)(*quantities())

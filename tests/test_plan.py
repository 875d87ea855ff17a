"""The plan: what every "auto" became, and what parts refuse to go together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons

from graphkm import (
    KNN,
    SGD,
    Bipartite,
    Epsilon,
    Full,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    IteratedLaplacian,
    Newton,
    Power,
    RowNewton,
    Sums,
)
from graphkm._util.parts import Sizes
from graphkm.gkm.plan import LARGEST, choose_solver
from graphkm.graphs import Affinity
from graphkm.kernels import Linear, Precomputed, SquaredExponential


def left_open(plan):
    """Return the fields of the plan's parts that still say "auto" or take from the kernel.

    A stream's rate of steps follows the rows seen so far: it is a rule, and stays one.
    """
    found = []
    for name in ("kernel", "graph", "smoothness", "solver"):
        part = getattr(plan, name)
        for field, value in {} if part is None else part.get_params().items():
            if value in ("auto", "kernel") and field != "steps_per_row":
                found.append((name, field))
    return found + [name for name in ("C", "C_graph") if isinstance(getattr(plan, name), str)]


def planned(estimator, n, n_labeled, d=2):
    """Return the plan for random rows, without a fit."""
    rng = np.random.default_rng(0)
    X, truth = rng.normal(size=(n, d)), np.arange(n) % 2
    hidden = -1 if isinstance(estimator, GKMClassifier) else np.nan
    y = np.where(np.arange(n) < n_labeled, truth, hidden)
    return estimator.plan(estimator.encode(X, y, None))


# ---------------------------------------------------------------- what it says

CASES = {
    "as it comes": {},
    "sgd": {"solver": "sgd"},
    "row_newton": {"solver": "row_newton"},
    "p = 1": {"smoothness": 1},
    "degree": {"smoothness": IteratedLaplacian()},
    "plain": {"smoothness": Power(normalized=False)},
    "full": {"graph": "full"},
    "bipartite": {"graph": "bipartite", "solver": "sgd"},
    "epsilon": {"graph": Epsilon(radius=2.0)},
    "kernel's bandwidth": {"graph": KNN(weights="kernel")},
    "linear": {"kernel": "linear", "graph": KNN(weights="kernel"), "solver": "sgd"},
    "guaranteed": {"C_graph": "guaranteed"},
    "guaranteed by newton": {"C_graph": "guaranteed", "solver": "newton", "smoothness": 3}
    | {"smoothness": Power(3, normalized=False)},
    "numbers": {"C": 3.0, "C_graph": 0.7, "gamma": 0.2},
    "no graph": {"C_graph": 0},
    "rows without a graph": {"C_graph": 0, "solver": RowNewton(tol=1e-5)},
}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", [GKMClassifier, GKMRegressor])
def test_after_a_fit_nothing_is_open(kind, name, two, curve):
    X, y, _ = two if kind is GKMClassifier else curve
    model = kind(**CASES[name], random_state=0).fit(X, y)
    plan = model.plan_
    assert left_open(plan) == []
    assert (plan.n_rows, plan.n_labeled) == (80, int((y >= 0).sum()))
    assert plan.classes == (kind is GKMClassifier)
    assert plan.kernel == model.kernel_
    assert not plan.streaming
    assert (plan.graph is None) == (CASES[name].get("C_graph", plan.C_graph) == 0)
    if not plan.relative:
        assert model.C_ == plan.C


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", [GKMClassifier, GKMRegressor])
def test_the_plan_is_the_truth(kind, name, two, curve):
    """Its parts, passed by hand, give the same model bit for bit."""
    X, y, _ = two if kind is GKMClassifier else curve
    model = kind(**CASES[name], random_state=0).fit(X, y)
    plan = model.plan_
    again = kind(
        C="auto" if plan.relative else plan.C,  # a relative C is found by the solver
        C_graph=plan.C_graph,
        kernel=plan.kernel,
        graph="knn" if plan.graph is None else plan.graph,
        smoothness=plan.smoothness,
        solver=plan.solver,
        random_state=0,
    ).fit(X, y)
    scores = "decision_function" if kind is GKMClassifier else "predict"
    assert np.ptp(getattr(model, scores)(X)) > 0
    np.testing.assert_array_equal(getattr(again, scores)(X), getattr(model, scores)(X))
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(again.support_, model.support_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (again.plan_.graph, again.plan_.solver) == (plan.graph, plan.solver)
    assert again.plan_.C_graph == plan.C_graph


@pytest.mark.parametrize("kind", [GKMClassifier, GKMRegressor])
@pytest.mark.parametrize(
    "options",
    [
        {"solver": "sgd"},
        {"solver": "sgd", "C_graph": 0},
        {"graph": KNN()},
        {"graph": Full()},
        {"graph": "bipartite"},
        {"solver": SGD(half_life=50)},
        {"C_graph": 0.1},
    ],
)
def test_a_stream_has_a_plan(kind, options, two, curve):
    X, y, _ = two if kind is GKMClassifier else curve
    model = kind(**options, random_state=0)
    given = {"classes": [0, 1]} if kind is GKMClassifier else {}
    model.partial_fit(X[:40], y[:40], **given)
    plan = model.plan_
    assert plan.streaming and left_open(plan) == []
    assert plan.n_rows == 0 and isinstance(plan.solver, SGD)
    assert model.partial_fit(X[40:], y[40:]).plan_ is plan
    assert "a stream" in repr(plan)
    if "solver" not in options:
        assert "takes stochastic steps" in plan.reasons.splitlines()[0]
    same = kind(
        C=plan.C,
        C_graph=plan.C_graph,
        kernel=plan.kernel,
        graph=plan.graph,
        smoothness=plan.smoothness,
        solver=plan.solver,
        random_state=0,
    )
    same.partial_fit(X[:40], y[:40], **given).partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(same.dual_coef_, model.dual_coef_)
    assert not model.fit(X, y).plan_.streaming


@pytest.mark.parametrize("kind", [GKMClassifier, GKMRegressor])
@pytest.mark.parametrize("options", [{}, {"C_graph": 0}, {"solver": "sums"}, {"C": 2.0}])
def test_a_stream_of_sums_has_a_plan(kind, options, two, curve):
    X, y, _ = two if kind is GKMClassifier else curve
    model = kind(**options, random_state=0)
    given = {"classes": [0, 1]} if kind is GKMClassifier else {}
    plan = model.partial_fit(X[:40], y[:40], **given).plan_
    if kind is GKMRegressor and "solver" not in options:
        assert isinstance(plan.solver, SGD) and "of quantities" in repr(plan)
        return
    assert plan.streaming and isinstance(plan.solver, Sums) and plan.graph is None
    assert isinstance(plan.solver.n_landmarks, int) and plan.C_graph == 0
    assert ("chosen on held-out labels" in repr(plan)) == ("C" not in options)
    assert not model.fit(X, y).plan_.streaming


@pytest.mark.dear
@pytest.mark.parametrize("cv", [None, 2])
@pytest.mark.parametrize("kind", [GKMClassifierCV, GKMRegressorCV])
def test_a_search_has_the_plan_of_its_choice(kind, cv, two, curve):
    X, y, _ = two if kind is GKMClassifierCV else curve
    options = {"C_graphs": [1.0], "graphs": [(5, 2)], "Cs": [3.0], "gammas": [0.4], "cv": cv}
    search = kind(**options, random_state=0).fit(X, y)
    plan, found = search.best_estimator_.plan_, search.best_params_
    assert left_open(plan) == []
    assert (plan.C, plan.C_graph) == (found["C"], found["C_graph"])
    assert plan.kernel == SquaredExponential(gamma=found["gamma"])
    assert type(plan.solver) is Newton
    if found["C_graph"]:
        assert plan.graph == KNN(5, "local", "exact")
        assert plan.smoothness == IteratedLaplacian(2)


def test_it_is_readable():
    X, truth = make_moons(300, noise=0.1, random_state=0)
    y = np.where(np.arange(300) < 20, truth, -1)
    lines = repr(GKMClassifier(gamma=0.5, random_state=0).fit(X, y).plan_).splitlines()
    assert lines[0] == "Plan for 300 rows, 20 of them labelled"
    shown = {line.split()[0]: line for line in lines[1:]}
    assert list(shown) == ["kernel", "graph", "smoothness", "solver", "C", "C_graph"]
    assert "SquaredExponential(gamma=0.5" in shown["kernel"]
    assert "KNN(n_neighbors=10, weights='local', search='exact')" in shown["graph"]
    assert "IteratedLaplacian(degree=2, normalized=True)" in shown["smoothness"]
    assert "Newton(n_landmarks=300" in shown["solver"]
    assert "(labels are few, and 300 landmarks follow 300 rows)" in shown["solver"]
    assert "1000 / mean kernel value of the labelled rows" in shown["C"]
    assert shown["C_graph"].split()[:2] == ["C_graph", "500000"]
    assert "(best on held-out labels)" in shown["C_graph"]
    every = repr(GKMClassifier(C=2.0, solver="newton").fit(X, truth).plan_)
    assert "None  (every row is labelled)" in every and "2\n" in every
    without = repr(GKMClassifier(C_graph=0).fit(X, y).plan_)
    assert "None  (C_graph is 0)" in without


# ---------------------------------------------------------------- "auto"


SMOOTH = {"loss": "smooth_hinge"}


@pytest.mark.parametrize(
    ("options", "n", "n_labeled", "solver"),
    [
        # Every row is a landmark up to 2,500 rows.
        ({}, 2500, 50, Newton(n_landmarks=2500)),
        ({}, 2501, 50, RowNewton()),
        (SMOOTH, 2501, 50, RowNewton()),
        # Labels: 1,000 where all rows are landmarks, half of the landmarks beyond.
        ({}, 2000, 1000, Newton(n_landmarks=2000)),
        ({}, 2000, 1001, SGD(max_iter=4000)),
        (SMOOTH, 2000, 1001, SGD(max_iter=4000)),
        (SMOOTH, 2501, 500, RowNewton()),
        (SMOOTH, 2501, 501, SGD(max_iter=5002)),
        # The loss, its cost and the width of the kernel do not decide how it is minimised.
        ({"C": 1.0}, 2501, 50, RowNewton()),
        ({"fit_intercept": True}, 2501, 50, RowNewton()),
        ({"graph": KNN(weights=0.5)}, 2501, 50, RowNewton()),
        ({"gamma": 0.5}, 2501, 50, RowNewton()),
        # Passes over all edges, or over all pairs of rows.
        ({"smoothness": 1}, 500, 50, Newton(n_landmarks=500)),
        ({"smoothness": 1}, 501, 50, SGD(max_iter=1002)),
        ({"smoothness": Power(3)}, 500, 50, Newton(n_landmarks=500)),
        ({"smoothness": Power(3)}, 501, 50, SGD(max_iter=1002)),
        ({"smoothness": 2}, 501, 50, Newton(n_landmarks=501)),
        ({"graph": "full"}, 500, 50, Newton(n_landmarks=500)),
        ({"graph": "full"}, 501, 50, SGD(max_iter=1002)),
        ({"graph": Bipartite()}, 500, 50, Newton(n_landmarks=500)),
        ({"graph": Bipartite()}, 501, 50, SGD(max_iter=1002)),
        ({"graph": Epsilon(1.0)}, 501, 50, Newton(n_landmarks=501)),
        # The theorem is one of explicit stochastic steps.
        ({"C_graph": "guaranteed"}, 100, 50, SGD("explicit", max_iter=1000)),
        # Without a graph rows have no scores of their own.
        ({"C_graph": 0}, 2501, 50, Newton(n_landmarks=1000)),
        ({"C_graph": 1e-9}, 2501, 50, RowNewton()),
        ({}, 900, 900, Newton(n_landmarks=900)),
        ({}, 1001, 1001, SGD(max_iter=2002)),
        (SMOOTH, 1001, 1001, SGD(max_iter=2002)),
        # What single edges cannot do is left to Newton, however many labels there are.
        ({"smoothness": IteratedLaplacian(2)}, 2000, 1001, Newton(n_landmarks=2000)),
        ({"smoothness": IteratedLaplacian()}, 2000, 1001, Newton(n_landmarks=2000)),
        ({"smoothness": Power(1, normalized=True)}, 600, 50, Newton(n_landmarks=600)),
        ({"smoothness": Power(normalized=False)}, 2000, 1001, SGD(max_iter=4000)),
        # The rows' own scores are smoothed by the normalised Laplacian only.
        ({"smoothness": Power(normalized=False)}, 2501, 50, Newton(n_landmarks=1000)),
        ({"smoothness": Power(normalized=True)}, 2501, 50, RowNewton()),
    ],
)
def test_both_sides_of_every_threshold(options, n, n_labeled, solver):
    plan = planned(GKMClassifier(**options), n, n_labeled)
    assert plan.solver == solver
    assert plan.reasons.startswith("solver: ")


@pytest.mark.parametrize(("n", "steps"), [(2000, 100_000), (600_000, 120_000)])
def test_values_want_more_steps(n, steps):
    sizes = Sizes(n, 1001, classes=False)
    solver, _ = choose_solver(Linear(), KNN(), None, "auto", sizes)
    assert solver.planned(sizes) == SGD(max_iter=steps)


def test_values_are_not_left_to_rows():
    plan = planned(GKMRegressor(), 2501, 50)
    assert plan.solver == Newton(n_landmarks=1000)
    assert plan.smoothness == IteratedLaplacian(2)


def test_a_kernel_without_rows_has_no_nodes():
    sizes = Sizes(2501, 50, classes=True)
    assert choose_solver(Precomputed(), Affinity(), None, "auto", sizes)[0] == Newton()
    assert choose_solver(Linear(), Affinity(), None, "auto", sizes)[0] == RowNewton()


def test_rows_too_many_for_their_own_scores():
    n, n_labeled = LARGEST // 500, 500
    inside, beyond = (
        choose_solver(Linear(), KNN(), None, "auto", Sizes(rows, n_labeled, True))[0]
        for rows in (n, n + 1)
    )
    assert (inside, beyond) == (RowNewton(), Newton())


@pytest.mark.parametrize(
    ("options", "smoothness", "weights"),
    [
        ({}, IteratedLaplacian(2), "local"),
        ({"solver": "row_newton"}, Power(2, normalized=True), "local"),
        ({"solver": "sgd"}, Power(2, normalized=False), 0.5),
        ({"graph": "full"}, Power(2, normalized=True), 0.5),
        ({"graph": Epsilon(1.0)}, IteratedLaplacian(2), 0.5),
        ({"smoothness": 2}, Power(2, normalized=True), "local"),
        ({"smoothness": 1}, Power(1, normalized=True), "local"),
        ({"smoothness": 1, "solver": "sgd"}, Power(1, normalized=False), 0.5),
        ({"smoothness": IteratedLaplacian()}, IteratedLaplacian(2), "local"),
        ({"smoothness": IteratedLaplacian(), "graph": "full"}, IteratedLaplacian(1), 0.5),
        (
            {"smoothness": IteratedLaplacian(), "solver": "row_newton"},
            IteratedLaplacian(1),
            "local",
        ),
        ({"graph": KNN(weights=3.0)}, IteratedLaplacian(2), 3.0),
        ({"graph": KNN(weights="kernel")}, IteratedLaplacian(2), 0.5),
    ],
)
def test_smoothness_and_weights(options, smoothness, weights):
    plan = planned(GKMClassifier(gamma=0.5, **options), 100, 20)
    assert plan.smoothness == smoothness
    assert plan.graph.weights == weights


@pytest.mark.parametrize(
    ("kind", "options", "n", "n_labeled", "C", "relative", "C_graph"),
    [
        (GKMClassifier, {}, 300, 20, 10, True, 1e5 / 20),
        (GKMClassifier, {}, 150, 20, 10, True, 0.25 * 1e5 / 20),  # few rows
        (GKMClassifier, {}, 400, 200, 10, True, 1e5 / 200),
        (GKMClassifier, {"solver": "row_newton"}, 300, 20, 10, True, 50 * 300 / 20),
        (GKMClassifier, {"solver": "sgd"}, 300, 20, 1, False, 0.1),
        (GKMClassifier, {"graph": "full"}, 300, 20, 10, True, 0.1),
        (GKMClassifier, {"smoothness": 1}, 300, 20, 1, False, 0.01),
        (GKMClassifier, {"smoothness": Power(1, normalized=False)}, 300, 20, 1, False, 0.1),
        (GKMClassifier, {"C": 7.0, "C_graph": 2.0}, 300, 20, 7, False, 2.0),
        (GKMRegressor, {}, 300, 20, 10, True, 10 / 20),
        (GKMRegressor, {"solver": "sgd"}, 300, 20, 5, False, 0.01),
        (GKMRegressor, {"smoothness": 1}, 300, 20, 5, False, 0.001),
    ],
)
def test_costs(kind, options, n, n_labeled, C, relative, C_graph):
    plan = planned(kind(**options), n, n_labeled)
    assert (plan.C, plan.relative) == (C, relative)
    assert plan.C_graph == pytest.approx(C_graph)


@pytest.mark.parametrize(("n", "k"), [(9, 3), (90, 9), (91, 10), (1000, 10)])
def test_neighbours(n, k):
    assert planned(GKMClassifier(), n, 4).graph.n_neighbors == k


# ---------------------------------------------------------------- contradictions


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"solver": SGD(), "smoothness": IteratedLaplacian(2)}, ["SGD()", "IteratedLaplacian("]),
        ({"solver": "sgd", "smoothness": IteratedLaplacian()}, ["SGD()", "IteratedLaplacian("]),
        ({"solver": SGD(), "smoothness": Power(1, normalized=True)}, ["SGD()", "Power(p=1"]),
        ({"solver": RowNewton(), "graph": Full()}, ["RowNewton()", "Full(", "Newton()"]),
        ({"solver": RowNewton(), "graph": "bipartite"}, ["RowNewton()", "Bipartite("]),
        ({"solver": RowNewton(), "smoothness": 1}, ["RowNewton()", "p=1"]),
        (
            {"solver": RowNewton(), "smoothness": IteratedLaplacian(2, normalized=False)},
            ["RowNewton()", "IteratedLaplacian(degree=2", "normalized=True", "Newton()"],
        ),
        ({"kernel": "precomputed"}, ["kernel='precomputed'", "KNN(", "affinity=...", "C_graph=0"]),
        ({"kernel": "precomputed", "graph": Full()}, ["kernel='precomputed'", "Full("]),
        (
            {"kernel": "precomputed", "C_graph": 0, "solver": SGD(budget=9)},
            ["budget=9", "kernel='precomputed'"],
        ),
        (
            {"C_graph": "guaranteed", "smoothness": Power(normalized=True)},
            ["C_graph='guaranteed'", "Power(p=2, normalized=True)", "normalized=False"],
        ),
        (
            {"C_graph": "guaranteed", "smoothness": IteratedLaplacian(2, normalized=False)},
            ["C_graph='guaranteed'", "IteratedLaplacian(degree=2"],
        ),
        (
            {"C_graph": "guaranteed", "solver": "newton"},
            ["C_graph='guaranteed'", "IteratedLaplacian(degree=2"],
        ),
        ({"solver": Newton(n_landmarks=81)}, ["n_landmarks=81", "80 rows"]),
        ({"graph": "epsilon"}, ["graph='epsilon'", "Epsilon(radius=...)"]),
    ],
)
@pytest.mark.parametrize("kind", [GKMClassifier, GKMRegressor])
def test_parts_that_contradict(kind, options, named, two):
    X = two.X @ two.X.T if options.get("kernel") == "precomputed" else two.X
    with pytest.raises(ValueError) as error:
        kind(**options, unlabeled=-1).fit(X, two.y)
    assert all(text in str(error.value) for text in named), error.value


@pytest.mark.parametrize("part", [Full, Bipartite, lambda weights: Epsilon(1.0, weights)])
def test_local_weights_need_neighbours(part):
    with pytest.raises(ValueError, match=r"weights='local' .* KNN\(\)"):
        part(weights="local")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"graph": Epsilon(radius=1.0)}, ["partial_fit", "Epsilon(", "KNN()", "Full()"]),
        ({"graph": Affinity()}, ["partial_fit", "Affinity(", "KNN()"]),
        ({"graph": KNN(weights="local")}, ["weights='local'", "stream", "'kernel'"]),
        ({"C_graph": "guaranteed"}, ["C_graph='guaranteed'", "stream"]),
        ({"solver": SGD(edge_sampling="weight")}, ["partial_fit", "edge_sampling='weight'"]),
        ({"smoothness": IteratedLaplacian(2)}, ["SGD()", "IteratedLaplacian("]),
        ({"smoothness": Power(normalized=True)}, ["SGD()", "normalized=True"]),
    ],
)
@pytest.mark.parametrize("kind", [GKMClassifier, GKMRegressor])
def test_parts_that_do_not_stream(kind, options, named, two):
    model = kind(**options)
    with pytest.raises(ValueError) as error:
        model.partial_fit(two.X, two.truth)
    assert all(text in str(error.value) for text in named), error.value
    assert not hasattr(model, "plan_")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"solver": Newton()}, ["solver=Newton(", "'sums', 'sgd'"]),
        ({"solver": "row_newton"}, ["solver='row_newton'", "'auto'"]),
        ({"kernel": "precomputed"}, ["kernel='precomputed'", "rows"]),
    ],
)
@pytest.mark.parametrize("kind", [GKMClassifier, GKMRegressor])
def test_solvers_that_do_not_stream_have_no_partial_fit(kind, options, named, two):
    model = kind(**options)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit") as error:
        model.partial_fit(two.X, two.truth)
    assert all(text in str(error.value.__cause__) for text in named)


@pytest.mark.parametrize("graph", [KNN(), Full(), Epsilon(radius=1e-9)])
def test_a_graph_that_is_not_used_may_be_any(graph, two):
    K = two.X @ two.X.T  # between whose rows there are no distances
    none = GKMClassifier(graph=graph, kernel="precomputed", C_graph=0).fit(K, two.y)
    every = GKMClassifier(graph=graph, kernel="precomputed").fit(K, two.truth)
    assert none.plan_.graph is None and "graph: C_graph is 0" in none.plan_.reasons
    assert every.plan_.graph is None
    assert "graph: every row is labelled" in every.plan_.reasons


def test_the_reason_is_true_with_many_labels():
    """An iterated Laplacian takes a Newton solver whatever the number of labels."""
    sizes = Sizes(2000, 1500, classes=True)
    solver, why = choose_solver(Linear(), KNN(), IteratedLaplacian(3), "auto", sizes)
    assert isinstance(solver, Newton) and "smoothness" in why and "few" not in why

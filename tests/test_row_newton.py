"""Fields fitted to labels with any loss, against dense inverses and the problem with kernel 1."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

import graphkm._util.memory as memory
from convex import minimum
from flat import gkm_classifier
from graphkm import KNN, Epsilon, GKMClassifier, GKMClassifierCV, GKMRegressor
from graphkm.exchange import ModelFileError, load_model, save_model, to_libsvm, to_onnx
from graphkm.exchange.container import read_container, write_container
from graphkm.fields import system as field
from graphkm.fields.kernel import FieldKernel
from graphkm.fields.system import FieldSystem
from graphkm.graphs.laplacian import laplacian_matrix, similarity_matrix
from graphkm.neighbours.index import NeighbourIndex
from graphkm.smoothness import IteratedLaplacian
from graphkm.solvers import Newton, Resources, RowNewton, newton, solve
from oracles import make_case

X = np.random.default_rng(0).normal(size=(60, 3))  # no two rows alike


def smooth_rows(objective, **options):
    resources = Resources(np.random.SeedSequence(0), np.float64)
    return solve(RowNewton(tol=1e-9, **options), objective, resources)


def many_labels():
    """Return a graph, its normalised Laplacian and more rows than are solved side by side."""
    objective = make_case("hinge", 2.0, "knn", n=80, n_labeled=70, seed=3).objective
    L = laplacian_matrix(objective.graph, normalized=True).toarray()
    return objective.graph, L, objective.labeled


# ---------------------------------------------------------------- the kernel


def test_similarity_is_what_the_laplacian_lacks():
    graph, L, _ = many_labels()
    assert (L.diagonal() == 0).any()  # rows without edges are among them
    np.testing.assert_allclose(similarity_matrix(graph).toarray(), np.eye(80) - L, atol=1e-6)


@pytest.mark.parametrize("strength", [0.1, 10.0, 1e3])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_kernel_is_the_inverse(degree, strength):
    graph, L, rows = many_labels()
    system = FieldSystem(similarity_matrix(graph), degree=degree, tol=1e-4)
    kernel = FieldKernel(system, strength, rows)
    inverse = np.linalg.inv(np.eye(80) + strength * np.linalg.matrix_power(L, degree))
    own = inverse[np.ix_(rows, rows)]
    np.testing.assert_allclose(kernel.phi @ kernel.phi.T, own, atol=2e-4)
    np.testing.assert_allclose(kernel.at(np.arange(80)) @ kernel.phi.T, inverse[:, rows], atol=2e-4)
    assert kernel.scale == pytest.approx(own.diagonal().mean(), rel=1e-3)
    v = np.random.default_rng(0).normal(size=(70, 2))
    np.testing.assert_allclose(
        kernel.values(v), kernel.at(np.arange(80)) @ v, atol=1e-4 * np.abs(v).max() * 70
    )


def test_unsolved_systems_warn(monkeypatch, moons):
    graph, L, rows = many_labels()
    monkeypatch.setattr(field, "_MOST", 3)
    with pytest.warns(ConvergenceWarning, match=r"3 steps.*smaller C_graph") as caught:
        kernel = FieldKernel(FieldSystem(similarity_matrix(graph), degree=2, tol=1e-4), 1e3, rows)
    assert len(caught) == 1
    T = np.eye(80) + 1e3 * np.linalg.matrix_power(L, 2)
    columns = kernel.values(kernel.phi.T)  # as they were solved
    residual = np.linalg.norm(np.eye(80)[:, rows] - T @ columns, axis=0)
    assert f"residual of {residual.max():.2g}," in str(caught[0].message)
    X, y, _ = moons
    with pytest.warns(ConvergenceWarning, match="3 steps"):
        GKMClassifier(solver=RowNewton()).fit(X, y)


def test_a_kernel_too_large_for_memory_is_refused(monkeypatch):
    graph, _, rows = many_labels()
    monkeypatch.setattr(memory, "_NEGLIGIBLE", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 4 * 80 * 70 - 1)
    with pytest.raises(MemoryError, match=r"80 nodes and 70 labelled rows.*solver='newton'"):
        FieldKernel(FieldSystem(similarity_matrix(graph)), 1.0, rows)


# ---------------------------------------------------------------- the solver


def test_outputs_share_one_strength():
    case = make_case("hinge", 2.0, "knn", X=X, C=(2.0, 1.0), C_graph=(3.0, 4.0), normalized=True)
    with pytest.raises(ValueError, match=r"one C_graph, and theirs are \[3.0, 4.0\]"):
        smooth_rows(case.objective)


@pytest.mark.parametrize("kind", ["knn", "epsilon", "precomputed"])
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("loss", ["hinge", "logistic", "l1"])
def test_scores_minimise_j_of_the_kernel_that_knows_rows_only(loss, degree, kind):
    case = make_case(loss, 2.0, kind, X=X, C=(2.0,), C_graph=(3.0,), normalized=True, degree=degree)
    case.problem.K, case.problem.offset = np.eye(60), 0.0
    best, g = minimum(case.problem)
    solution = smooth_rows(case.objective)
    np.testing.assert_allclose(solution.field.values[:, 0], g, atol=2e-3)
    assert solution.objective[0] == pytest.approx(best, rel=1e-3)
    assert 0 <= solution.gap[0] <= 1e-8 * best


def test_relative_costs():
    case = make_case("hinge", 2.0, "knn", X=X, C=(5.0,), C_graph=(3.0,), normalized=True)
    L = laplacian_matrix(case.objective.graph, normalized=True).toarray()
    rows = case.objective.labeled
    inverse = np.linalg.inv(np.eye(60) + 2 * case.objective.graph_factor[0] * L)
    solution = smooth_rows(replace(case.objective, relative=True))
    assert solution.C[0] == pytest.approx(5.0 / inverse[rows, rows].mean(), rel=1e-3)
    plain = smooth_rows(replace(case.objective, C=solution.C))
    np.testing.assert_allclose(plain.field.values, solution.field.values, atol=1e-5)


@pytest.mark.parametrize("kind", ["knn", "epsilon", "precomputed"])
def test_the_solution_is_a_field_without_kernels(kind):
    costs = {"C": (2.0,) * 3, "C_graph": (3.0,) * 3}
    case = make_case("hinge", 2.0, kind, X=X, normalized=True, **costs)
    solution = smooth_rows(case.objective)
    assert solution.rows.shape == (0,) and solution.coefficients.shape == (0, 3)
    found = solution.field
    np.testing.assert_array_equal(found(X), found.values)  # a training row is its own node
    assert found.strength.eps == pytest.approx(1 / (2 * case.objective.graph_factor[0]))
    assert found.strength.C / found.strength.eps == pytest.approx(2.0)
    assert found.objective == pytest.approx(solution.objective.sum() * found.strength.eps)
    k = 4 if kind == "knn" else 8  # the graph's, or the root of 60
    assert found.nodes.n_neighbors == k
    reach = np.sqrt(np.sort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)[:, k])
    np.testing.assert_allclose(found.nodes.reach, reach)


# ---------------------------------------------------------------- estimators


@pytest.fixture(scope="module")
def moons():
    X, truth = make_moons(500, noise=0.1, random_state=0)
    y = np.full(500, -1)
    for c in (0, 1):
        y[np.flatnonzero(truth == c)[:5]] = c
    return X, y, truth


@pytest.fixture(scope="module")
def model(moons):
    return GKMClassifier(random_state=0, solver=RowNewton()).fit(moons[0], moons[1])


@pytest.fixture(scope="module")
def line():
    x = np.linspace(0, 6, 200)[:, None]
    truth = np.sin(x.ravel()) + 7
    known = np.where(np.arange(200) % 10 == 0, truth, np.nan)
    return x, known, truth


@pytest.fixture(scope="module")
def regressor(line):
    return GKMRegressor(solver="row_newton").fit(line[0], line[1])


def test_classes(moons, model):
    X, y, truth = moons
    assert model.score(X, truth) > 0.9
    assert np.mean(model.transduction_ == truth) > 0.9
    np.testing.assert_array_equal(model.transduction_[y >= 0], y[y >= 0])
    same = GKMClassifier(random_state=0, solver=RowNewton(), n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))


def test_quantities(line, regressor):
    x, known, truth = line
    assert regressor.score(x, truth) > 0.9
    np.testing.assert_array_equal(regressor.transduction_[::10], known[::10])
    between = (x[1:] + x[:-1]) / 2
    assert np.abs(regressor.predict(between) - regressor.predict(x[1:])).max() < 0.1


def test_new_rows_are_scored_by_their_nearest_training_rows(moons, model):
    new, truth = make_moons(400, noise=0.1, random_state=1)
    assert model.score(new, truth) > 0.9
    expected = []
    for x in new:
        d = np.linalg.norm(moons[0] - x, axis=1)
        near = np.argsort(d)[:10]
        reach = [np.sort(np.linalg.norm(moons[0] - moons[0][u], axis=1))[10] for u in near]
        weights = np.exp(-(d[near] ** 2) / (d[near[-1]] * np.array(reach)))
        assert d[near[0]] < 2 * min(reach)  # farther out it would fade
        expected.append(weights @ model.field_.values[near, 0] / weights.sum())
    np.testing.assert_allclose(model.decision_function(new), expected, rtol=1e-4, atol=1e-6)
    assert np.abs(model.decision_function([[1e6, 0.0]])) < 1e-9


@pytest.mark.parametrize(("weights", "b"), [("local", 1.0), ("sharp", 6.0), (0.5, 1.0)])
def test_new_rows_weigh_as_edges_do(weights, b, moons):
    X, y, _ = moons
    found = GKMClassifier(solver="row_newton", graph=KNN(weights=weights)).fit(X, y)
    assert found.field_.nodes.sharpness == b


def test_there_are_no_support_vectors(moons, model):
    assert model.support_.shape == (0,) and model.support_vectors_.shape == (0, 2)
    assert model.dual_coef_.shape == (1, 0) and model.intercept_.tolist() == [0.0]
    assert "RowNewton" in repr(model.plan_)
    assert model.field_.strength.C / model.field_.strength.eps == pytest.approx(model.C_)


def test_an_intercept_changes_nothing(moons, model):
    """The rows' scores depend on labels and graph only."""
    same = GKMClassifier(solver=RowNewton(), fit_intercept=True).fit(moons[0], moons[1])
    np.testing.assert_array_equal(
        same.decision_function(moons[0]), model.decision_function(moons[0])
    )


def test_probabilities_come_from_the_field(moons):
    X, y, truth = moons
    logistic = GKMClassifier(loss="logistic", solver="row_newton").fit(X, y)
    shares = logistic.predict_proba(X)[:, 1]
    scores = logistic.decision_function(X)
    np.testing.assert_array_equal(shares > 0.5, scores > 0)
    assert (np.diff(shares[np.argsort(scores)]) >= 0).all()
    assert np.mean((shares > 0.5) == truth) > 0.9


def test_sparse_rows(moons, model):
    X, y, _ = moons
    sparse = GKMClassifier(solver=RowNewton()).fit(csr_array(X), y)
    new = X[::5] + 0.01
    np.testing.assert_allclose(
        sparse.decision_function(csr_array(new)), model.decision_function(new), atol=1e-3
    )


@pytest.mark.parametrize("kind", ["epsilon", "affinity"])
def test_other_graphs_that_list_their_edges(kind, moons, model):
    X, y, truth = moons
    near = np.linalg.norm(X[:, None] - X, axis=2) < 0.2
    W = csr_array(np.where(near & ~np.eye(500, dtype=bool), 1.0, 0.0))
    options = {"graph": Epsilon(0.2)} if kind == "epsilon" else {}
    given = {} if kind == "epsilon" else {"affinity": W}
    found = GKMClassifier(solver="row_newton", **options).fit(X, y, **given)
    new, new_truth = make_moons(400, noise=0.1, random_state=1)
    assert np.mean(found.transduction_ == truth) > 0.9
    assert found.score(new, new_truth) > 0.9
    assert found.field_.nodes.n_neighbors == 10


def test_automatic_where_landmarks_are_fewer_than_rows(moons, monkeypatch):
    X, y, _ = moons
    monkeypatch.setattr(newton, "_ALL", 200)
    monkeypatch.setattr(newton, "_SOME", 100)
    smooth = {"loss": "smooth_hinge", "random_state": 0}
    named = GKMClassifier(solver=RowNewton(), **smooth).fit(X, y)
    default = GKMClassifier(**smooth).fit(X, y)
    np.testing.assert_array_equal(default.decision_function(X), named.decision_function(X))
    without_graph = GKMClassifier(C_graph=0, random_state=0).fit(X, y)
    assert isinstance(without_graph.plan_.solver, Newton)
    # Named, but with nothing to smooth, it is Newton's method too.
    same = GKMClassifier(C_graph=0, solver="row_newton", random_state=0).fit(X, y)
    np.testing.assert_array_equal(same.dual_coef_, without_graph.dual_coef_)
    assert same.dual_coef_.any() and same.field_ is None


def test_searched(moons):
    X, y, truth = moons
    model = GKMClassifier(solver=RowNewton(), class_weight="balanced")
    search = GKMClassifierCV(model, random_state=0).fit(X, y)
    assert isinstance(search.best_estimator_.plan_.solver, RowNewton)
    assert search.score(X, truth) > 0.8
    again = GKMClassifierCV(model, random_state=0).fit(X, y)
    assert again.best_params_ == search.best_params_


def test_a_search_keeps_the_laplacian_that_was_asked_for(moons, monkeypatch):
    X, y, _ = moons
    monkeypatch.setattr(newton, "_ALL", 200)
    monkeypatch.setattr(newton, "_SOME", 100)
    plain = GKMClassifier(smoothness=IteratedLaplacian(normalized=False))
    search = GKMClassifierCV(plain, C_graphs=[0.1], graphs=[(6, 1)], random_state=0).fit(X, y)
    assert isinstance(search.estimator.solver, str)
    assert isinstance(search.best_estimator_.solver, Newton)


@pytest.mark.dear
@pytest.mark.parametrize("cv", [None, 2])
def test_one_neighbour_search_serves_all(cv, moons, monkeypatch):
    X, y, _ = moons
    indices = []
    search_of_rows = NeighbourIndex.neighbours

    def watched(self, k):
        indices.append(self)
        return search_of_rows(self, k)

    monkeypatch.setattr(NeighbourIndex, "neighbours", watched)
    model = GKMClassifier(solver="row_newton")
    search = GKMClassifierCV(model, Cs=[10.0], C_graphs=[500.0], graphs=[(4, 1), (9, 1)], cv=cv)
    best = search.fit(X, y).best_estimator_
    assert len(indices) == 1
    if best.field_ is not None:
        assert best.field_.nodes.index is indices[0]
    alone = GKMClassifier(solver="row_newton", graph=KNN(7)).fit(X, y)
    assert len(indices) == 2
    assert alone.field_.nodes.index is indices[1]


def test_too_few_steps_warn(moons):
    X, y, _ = moons
    clf = GKMClassifier(solver=RowNewton(max_iter=1))
    with pytest.warns(ConvergenceWarning, match="larger max_iter or tol"):
        clf.fit(X, y)
    assert clf.n_iter_ == 1


@pytest.mark.parametrize("options", [{"p": 1}, {"graph": "full"}, {"graph": "bipartite"}])
def test_needs_a_listed_graph_and_p_2(options, moons):
    X, y, _ = moons
    with pytest.raises(ValueError, match=r"RowNewton\(\) needs a smoothness with p=2 and a graph"):
        gkm_classifier(solver="row_newton", **options).fit(X, y)


def test_needs_rows(moons):
    X, y, _ = moons
    model = GKMClassifier(solver="row_newton", kernel="precomputed")
    K = X @ X.T
    with pytest.raises(ValueError, match="kernel='precomputed' has no rows"):
        model.fit(K, y, affinity=np.ones((500, 500)))


def test_a_stream_forgets_the_field(moons):
    X, y, truth = moons
    model = GKMClassifier(solver="row_newton", random_state=0, gamma=0.5).fit(X, y)
    model.set_params(solver="sgd").partial_fit(X[:200], truth[:200])
    fresh = GKMClassifier(solver="sgd", random_state=0, gamma=0.5)
    fresh.partial_fit(X[:200], truth[:200])
    assert model.field_ is None
    np.testing.assert_array_equal(model.decision_function(X), fresh.decision_function(X))


# ---------------------------------------------------------------- leaving the process


@pytest.mark.parametrize("kind", ["model", "regressor"])
def test_copies_keep_the_field(kind, request, tmp_path):
    found = request.getfixturevalue(kind)
    new = found.field_.nodes.points + 0.01
    save_model(found, tmp_path / "model")
    copies = (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(found)))
    for each in (*copies, copy.deepcopy(found)):
        np.testing.assert_array_equal(each.predict(new), found.predict(new))
        assert each.field_.strength == found.field_.strength
        assert each.field_.objective == found.field_.objective


def test_files_of_searches_keep_the_field(moons, tmp_path):
    X, y, _ = moons
    model = GKMClassifier(solver="row_newton")
    lists = {"C_graphs": [5e4], "gammas": ["spread"], "graphs": [(6, 1)]}
    search = GKMClassifierCV(model, **lists).fit(X, y)
    assert search.best_estimator_.field_ is not None
    save_model(search, tmp_path / "search")
    again = load_model(tmp_path / "search")
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))


def of_array(name, change):
    def damage(state, arrays):
        arrays[f"model/field/{name}"] = change(arrays[f"model/field/{name}"])

    return damage


def of_state(name, value):
    def damage(state, arrays):
        assert name in dict(state["field"]["dict"])
        state["field"]["dict"] = [[k, value if k == name else v] for k, v in state["field"]["dict"]]

    return damage


def without_field(state, arrays):
    state["field"] = "none"


def another_field(state, arrays):
    state["another"] = state["field"]


@pytest.mark.parametrize(
    "damage",
    [
        of_array("reach", lambda a: a[:-1]),
        of_array("reach", lambda a: 0 * a),
        of_array("values", lambda a: a.astype(float)),
        of_array("values", lambda a: a[:, [0, 0]]),
        of_array("values", lambda a: a * np.float32(np.nan)),
        of_array("index/rows", lambda a: a[:, :1]),
        of_array("index/rows", lambda a: a[:0]),
        of_state("n_neighbors", 10**6),
        of_state("sharpness", -1.0),
        of_state("objective", "small"),
        without_field,
        another_field,
    ],
)
def test_fields_that_do_not_fit_are_refused(damage, model, tmp_path):
    path = tmp_path / "model"
    save_model(model, path)
    header, arrays = read_container(path)
    damage(header["model"]["state"], arrays)
    write_container(path, header, arrays)
    with pytest.raises(ModelFileError, match="holds no model"):
        load_model(path)


@pytest.mark.parametrize("kind", ["model", "regressor"])
def test_other_programs_have_no_form_for_a_field(kind, request, tmp_path):
    pytest.importorskip("onnx")
    found = request.getfixturevalue(kind)
    for write in (to_libsvm, to_onnx):
        with pytest.raises(ValueError, match="adds a field over its training rows"):
            write(found, tmp_path / "model")
    assert not (tmp_path / "model").exists()

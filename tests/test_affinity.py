"""Graphs that are given to the kernel machines, their searches and the Laplacian machines."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score

from graphkm import (
    KNN,
    SGD,
    Full,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    IteratedLaplacian,
    Newton,
)
from graphkm.baselines import LaplacianRegressor, LaplacianSVC
from graphkm.estimators.data_checks import GraphWarning
from graphkm.exchange import load_model, save_model
from graphkm.graphs import affinity_graph
from graphkm.graphs.affinity import summed_affinity
from graphkm.graphs.given_edges import Ids
from graphkm.model_selection import LabeledStratifiedKFold

N, KNOWN = 80, 16
NEAR = KNN(n_neighbors=6, weights=0.5)
ONE = {"C_graphs": [3.0], "graphs": [(6, 2)], "gammas": ["spread"]}
MACHINES = {
    "classifier": GKMClassifier(random_state=0),
    "strong": GKMClassifier(C_graph=10.0, random_state=0),
    "stochastic": GKMClassifier(C_graph=0.1, solver=SGD(max_iter=3000), random_state=0),
    "regressor": GKMRegressor(random_state=0),
    "classifier search": GKMClassifierCV(GKMClassifier(), **ONE, random_state=0),
    "regressor search": GKMRegressorCV(GKMRegressor(), **ONE, random_state=0),
    "folds": GKMClassifierCV(GKMClassifier(), **ONE, cv=3, random_state=0),
    "Laplacian": LaplacianSVC(probability=True),
    "Laplacian of values": LaplacianRegressor(),
}
every_machine = pytest.mark.parametrize("model", MACHINES.values(), ids=MACHINES)


@pytest.fixture
def rows():
    """Return two moons with two more columns, and the edges of their six nearest rows."""
    X, truth = make_moons(N, noise=0.05, random_state=0)
    X = np.column_stack([X, 0.02 * np.random.default_rng(0).normal(size=(N, 2))])
    return SimpleNamespace(X=X, truth=truth, W=edges_of(NEAR, X))


def edges_of(part, X):
    """Return the weights of all edges between rows, as a symmetric sparse matrix."""
    return part.build(X, np.zeros(len(X), dtype=bool)).to_sparse()


def known(model, truth):
    """Return labels or targets, of which some are known."""
    if is_regressor(model):
        return np.where(np.arange(N) < KNOWN, 1.5 * truth, np.nan)
    return np.where(np.arange(N) < KNOWN, truth, -1)


def fit(model, rows, affinity, X=None, **given):
    X = rows.X if X is None else X
    return clone(model).fit(X, known(model, rows.truth), affinity=affinity, **given)


def said(model, X):
    return model.predict(X) if is_regressor(model) else model.decision_function(X)


# ------------------------------------------------------------------ the same as the own graph


@pytest.mark.dear
@every_machine
def test_the_own_graph_given_is_the_same_model(model, rows):
    searched = hasattr(model, "estimator")
    name = "estimator__graph" if searched else "graph"
    own = clone(model).set_params(**{name: NEAR}).fit(rows.X, known(model, rows.truth))
    given = fit(model, rows, rows.W)
    assert getattr(given, "best_params_", {"C_graph": 1})["C_graph"] > 0  # the graph is used
    np.testing.assert_allclose(said(given, rows.X), said(own, rows.X), rtol=1e-6, atol=1e-6)
    if not is_regressor(model):
        np.testing.assert_allclose(
            given.predict_proba(rows.X), own.predict_proba(rows.X), rtol=1e-6, atol=1e-6
        )
    np.testing.assert_array_equal(given.transduction_, own.transduction_)
    new = rows.X[::7] + 0.1  # new rows have features, and need no edges
    np.testing.assert_allclose(said(given, new), said(own, new), rtol=1e-6, atol=1e-6)


@pytest.mark.long
@every_machine
def test_the_affinity_decides_in_place_of_the_graph(model, rows):
    name = "estimator__graph" if hasattr(model, "estimator") else "graph"
    usual = fit(model, rows, rows.W)
    other = clone(model).set_params(**{name: KNN(n_neighbors=2, weights=1e9)})
    other.fit(rows.X, known(model, rows.truth), affinity=rows.W)
    np.testing.assert_array_equal(said(other, rows.X), said(usual, rows.X))


def test_a_graph_without_a_list_of_edges_gives_way_too(rows):
    usual, full = MACHINES["strong"], clone(MACHINES["strong"]).set_params(graph=Full())
    found = [fit(model, rows, rows.W).decision_function(rows.X) for model in (usual, full)]
    np.testing.assert_array_equal(*found)


@pytest.mark.long
@every_machine
def test_the_affinity_matters(model, rows):
    """Edges by chance give another model than edges between near rows."""
    chance = np.random.default_rng(0).permutation(N)
    near, far = (fit(model, rows, W) for W in (rows.W, rows.W[chance][:, chance]))
    assert np.abs(said(near, rows.X) - said(far, rows.X)).max() > 1e-3


# ------------------------------------------------------------------ what people bring


def ways_to_say(W):
    """Yield the same graph in every form, and the ids of its rows where it has some."""
    upper = sp.triu(W, k=1).tocoo()
    u, v, weight = upper.row, upper.col, upper.data
    names = np.array([f"row {k}" for k in range(N)])
    yield "dense", W.toarray(), None
    yield "nested lists", W.toarray().tolist(), None
    yield "one direction", sp.csc_array(upper), None
    yield "triples", list(zip(u.tolist(), v.tolist(), weight.tolist(), strict=True)), None
    yield "array", np.column_stack([v, u, weight]), None
    halves = np.concatenate([u, u]), np.concatenate([v, v]), np.concatenate([weight, weight]) / 2
    yield "repeated edges", np.column_stack(halves), None
    yield "loops", sp.csr_array(W + 5.0 * sp.eye_array(N)), None
    yield "smaller the other way", sp.csr_array(sp.triu(W) + 0.3 * sp.tril(W)), None
    yield "named triples", list(zip(names[u], names[v], weight, strict=True)), names
    yield "geometric", SimpleNamespace(edge_index=np.array([u, v]), edge_weight=weight), None
    yield "annotated", SimpleNamespace(obsp={"connectivities": sp.csr_matrix(W)}), None
    graph = SimpleNamespace(
        adj={}, edges=lambda data, default: zip(names[u], names[v], weight, strict=True)
    )
    yield "networkx", graph, names
    yield "two that are equal", [W, sp.coo_array(W)], None
    yield "a name", {"near": W, "none": sp.csr_array((N, N))}, None


@pytest.mark.long
@pytest.mark.parametrize("name", ["strong", "regressor", "classifier search", "Laplacian"])
def test_every_form_gives_the_same_model(name, rows):
    expected = said(fit(MACHINES[name], rows, rows.W), rows.X)
    for form, affinity, ids in ways_to_say(rows.W):
        found = said(fit(MACHINES[name], rows, affinity, ids=ids), rows.X)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6, err_msg=form)


@pytest.mark.dear
@pytest.mark.parametrize("name", ["strong", "regressor", "folds", "Laplacian of values"])
def test_frames_have_ids(name, rows):
    pandas, model = pytest.importorskip("pandas"), MACHINES[name]
    names = np.array([f"row {k}" for k in np.random.default_rng(1).permutation(N)])
    upper = sp.triu(rows.W, k=1).tocoo()
    edges = pandas.DataFrame(
        {"weight": upper.data, "target": names[upper.col], "source": names[upper.row]}
    )
    expected = fit(model, rows, rows.W)
    table = pandas.DataFrame(rows.X, columns=list("abcd"), index=names)
    by_index = fit(model, rows, edges, table)
    by_column = fit(model, rows, edges, table.reset_index(names="id"), ids="id")
    plain = pandas.DataFrame(rows.X, columns=list("abcd"))
    for found in (by_index, by_column):
        assert found.feature_names_in_.tolist() == list("abcd")
        np.testing.assert_allclose(said(found, plain), said(expected, rows.X), rtol=1e-6, atol=1e-6)


def test_polars_frames_have_a_column_of_ids(rows):
    polars, model = pytest.importorskip("polars"), MACHINES["strong"]
    names = [f"row {k}" for k in range(N)]
    upper = sp.triu(rows.W, k=1).tocoo()
    ends = {"source": [names[k] for k in upper.row], "target": [names[k] for k in upper.col]}
    edges = polars.DataFrame(ends | {"weight": upper.data})
    table = polars.DataFrame({"id": names} | {c: rows.X[:, k] for k, c in enumerate("abcd")})
    found = fit(model, rows, edges, table, ids="id")
    expected = fit(model, rows, rows.W).decision_function(rows.X)
    np.testing.assert_allclose(found.decision_function(table.drop("id")), expected, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("name", ["strong", "regressor", "Laplacian"])
def test_numbers_of_every_kind(name, dtype, rows):
    model, ones = MACHINES[name], (rows.W > 0).astype(np.float64)
    expected = said(fit(model, rows, ones), rows.X)
    for form in (sp.csr_array, sp.csr_matrix, sp.coo_array, lambda W: W.toarray()):
        found = said(fit(model, rows, form(ones.astype(dtype))), rows.X)
        np.testing.assert_array_equal(found, expected)


def test_double_precision_is_kept(rows):
    weights = summed_affinity(rows.W, Ids(N))
    np.testing.assert_array_equal((weights + weights.T).toarray(), rows.W.toarray())


# ------------------------------------------------------------------ graphs of other libraries


def test_networkx(rows):
    networkx = pytest.importorskip("networkx")
    upper = sp.triu(rows.W, k=1).tocoo()
    expected = fit(MACHINES["strong"], rows, rows.W).decision_function(rows.X)
    for kind in (networkx.Graph, networkx.DiGraph, networkx.MultiGraph):
        graph = kind()
        graph.add_nodes_from(range(N))
        graph.add_weighted_edges_from(
            zip(*map(np.ndarray.tolist, (upper.row, upper.col, upper.data)), strict=True)
        )
        found = fit(MACHINES["strong"], rows, graph).decision_function(rows.X)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_anndata(rows):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(rows.X)
    with pytest.raises(ValueError, match="obsp has no 'connectivities'"):
        fit(MACHINES["strong"], rows, cells)
    cells.obsp["connectivities"] = sp.csr_matrix(rows.W)
    found = fit(MACHINES["strong"], rows, cells).decision_function(rows.X)
    expected = fit(MACHINES["strong"], rows, rows.W).decision_function(rows.X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_torch_geometric(rows):
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    both = rows.W.tocoo()  # PyTorch Geometric has undirected edges in both directions
    index = torch.as_tensor(np.array([both.row, both.col], dtype=np.int64))
    weighted = data.Data(edge_index=index, edge_weight=torch.as_tensor(both.data), num_nodes=N)
    bare = data.Data(edge_index=index, num_nodes=N)
    for graph, W in ((weighted, rows.W), (bare, (rows.W > 0).astype(float))):
        found = fit(MACHINES["strong"], rows, graph).decision_function(rows.X)
        expected = fit(MACHINES["strong"], rows, W).decision_function(rows.X)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


# ------------------------------------------------------------------ several graphs


@pytest.mark.long
def test_several_graphs_are_added_up_with_one_mean_degree(rows):
    far = 1000.0 * edges_of(KNN(n_neighbors=2, weights=1.0), -rows.X[::-1])
    A, B = rows.W.toarray(), far.toarray()
    means = [W.sum(axis=1).mean() for W in (A, B)]
    together = np.mean(means) / 2
    expected = A * (together / means[0]) + B * (together / means[1])
    found = summed_affinity([rows.W, far], Ids(N))
    np.testing.assert_allclose((found + found.T).toarray(), expected, rtol=1e-12)
    for name in ("strong", "regressor", "Laplacian"):
        models = [fit(MACHINES[name], rows, each) for each in ([rows.W, far], expected)]
        np.testing.assert_allclose(*(said(model, rows.X) for model in models), atol=1e-6)


def test_units_of_one_graph_of_several_do_not_matter(rows):
    far = edges_of(KNN(n_neighbors=2, weights=1.0), rows.X[::-1])
    ones, tens = (summed_affinity([rows.W, scale * far], Ids(N)) for scale in (1.0, 10.0))
    ratio = tens.toarray()[ones.toarray() > 0] / ones.toarray()[ones.toarray() > 0]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)


# ------------------------------------------------------------------ rows without edges


@pytest.mark.dear
@every_machine
def test_isolated_rows_are_told_by_their_features(model, rows):
    W = rows.W.toarray()
    W[70:] = W[:, 70:] = 0.0
    with pytest.warns(GraphWarning, match="no labelled point"):
        found = fit(model, rows, W)
    scores = said(found, rows.X)
    assert np.isfinite(scores).all()
    right = (
        np.abs(scores - 1.5 * rows.truth) < 0.75
        if is_regressor(model)
        else (found.predict(rows.X) == rows.truth)
    )
    assert right[70:].mean() > 0.7


# ------------------------------------------------------------------ what is wrong


@every_machine
def test_what_is_wrong_is_named(model, rows):
    cases = [
        ([(0, 1), (2, 999)], None, "the first is 999; rows have the numbers 0 to 79"),
        ([("row 0", "row x")], [f"row {k}" for k in range(N)], "the first is 'row x'; ids of rows"),
        (np.ones((N, N - 1)), None, r"shape \(80, 79\), and \(80, 80\) is needed"),
        ([(0, 1, -1.0)], None, "negative; the first is -1.0, from 0 to 1"),
        ([(70, 70)], None, "joins none of the"),
        ({}, None, "has no graph"),
        (rows.W, "id", "ids='id' is no column of X"),
        (rows.W, np.arange(N - 1), "79 ids for 80 rows"),
        (None, np.arange(N), "pass both, or none"),
    ]
    for affinity, ids, message in cases:
        with pytest.raises(ValueError, match=message):
            fit(model, rows, affinity, ids=ids)


@every_machine
def test_edges_alone_are_for_the_front_door(model, rows):
    with pytest.raises(ValueError, match=r"needs rows; SemiSupervisedClassifier"):
        clone(model).fit(None, known(model, rows.truth), affinity=rows.W)


def test_streams_and_sums_take_none(rows):
    y = known(GKMClassifier(), rows.truth)
    with pytest.raises(TypeError, match=r"GKMClassifier.partial_fit.*'affinity'"):
        GKMClassifier().partial_fit(rows.X, y, affinity=rows.W)
    with pytest.raises(ValueError, match=r"solver=Sums\(\) has no graph, and an affinity"):
        GKMClassifier(solver="sums").fit(rows.X, y, affinity=rows.W)


# ------------------------------------------------------------------ searches, folds and files


@pytest.mark.long
def test_a_search_sees_the_affinity_in_every_fold(rows):
    """Its scores are those of fits to all rows, in which the labels of a fold are hidden."""
    y, folds = known(GKMClassifier(), rows.truth), LabeledStratifiedKFold(3, random_state=1)
    smooth = {"smoothness": IteratedLaplacian(2), "solver": Newton(), "random_state": 0}
    search = GKMClassifierCV(GKMClassifier(**smooth), **ONE, Cs=[2.0], cv=folds, random_state=0)
    search.fit(rows.X, y, affinity=sp.triu(rows.W, k=1))
    names = np.array([f"row {k}" for k in range(N)])
    upper = sp.triu(rows.W, k=1).tocoo()
    edges = list(zip(names[upper.row], names[upper.col], upper.data, strict=True))
    for params, found in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        assert "graph__n_neighbors" not in params
        scores = []
        for train, test in folds.split(rows.X, y):
            hidden = np.full(N, -1)
            hidden[train] = y[train]
            model = GKMClassifier(**smooth).set_params(**params)
            model.fit(rows.X, hidden, affinity=edges, ids=names)
            scores.append(model.score(rows.X[test], y[test]))
        assert found == pytest.approx(np.mean(scores))


def test_searches_that_take_rows_away_are_refused(rows):
    """scikit-learn's searches cut the rows of X, and of the matrix, but not its columns."""
    y, folds = known(GKMClassifier(), rows.truth), LabeledStratifiedKFold(3)
    options = {"cv": folds, "error_score": "raise"}
    with pytest.raises(
        ValueError, match=r"The affinity has shape \(7[45], 80\), and \(7[45], 7[45]\)"
    ):
        cross_val_score(GKMClassifier(), rows.X, y, params={"affinity": rows.W}, **options)
    search = GridSearchCV(GKMClassifier(), {"C": [1.0]}, **options)
    with pytest.raises(ValueError, match="The affinity has shape"):
        search.fit(rows.X, y, affinity=rows.W)


@pytest.mark.parametrize("name", ["strong", "regressor", "classifier search", "Laplacian"])
def test_files_keep_the_model(name, rows, tmp_path):
    model = fit(MACHINES[name], rows, rows.W)
    save_model(model, tmp_path / "model.gkm")
    again = load_model(tmp_path / "model.gkm")
    np.testing.assert_array_equal(said(again, rows.X), said(model, rows.X))
    np.testing.assert_array_equal(again.transduction_, model.transduction_)


def test_a_later_fit_forgets_the_graph(rows):
    y = known(GKMClassifier(), rows.truth)
    model = fit(MACHINES["strong"], rows, rows.W)
    assert repr(model.plan_.graph) == "Affinity()"
    model.fit(rows.X, y)
    np.testing.assert_array_equal(
        model.decision_function(rows.X),
        clone(model).fit(rows.X, y).decision_function(rows.X),
    )
    assert isinstance(model.plan_.graph, KNN)


def test_nothing_that_was_given_is_changed(rows):
    W, before = rows.W.tocsr(), rows.W.copy()
    fit(MACHINES["strong"], rows, W)
    affinity_graph(W, np.zeros(N, dtype=bool), N)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(W, name), getattr(before.tocsr(), name))

"""Given graphs: what people bring becomes edges, and the front door learns along them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from graphkm import KernelRidgeClassifierCV, SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.fields.system import FieldSystem
from graphkm.graphs.given import GivenGraph
from graphkm.graphs.given_edges import Ids, named_affinities, weights_of
from graphkm.semi.given_graphs import links_of

pytestmark = pytest.mark.usefixtures("one_model")

# ------------------------------------------------------------------ what people bring

PAIRS = [(0, 1), (1, 2), (3, 2)]
WEIGHTS = np.array([1.0, 2.0, 0.5])
MATRIX = np.zeros((4, 4), dtype=np.float32)
MATRIX[[0, 1, 3], [1, 2, 2]] = WEIGHTS


def frame(**columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def brought_one_by_one():
    u, v = np.array(PAIRS).T
    yield "dense", MATRIX
    yield "sparse", sp.csr_matrix(MATRIX)
    yield "coordinates", sp.coo_array(MATRIX)
    yield "triples", [(a, b, w) for (a, b), w in zip(PAIRS, WEIGHTS, strict=True)]
    yield "array", np.column_stack([u, v, WEIGHTS])
    yield "geometric", SimpleNamespace(edge_index=np.array([u, v]), edge_weight=WEIGHTS)
    yield "annotated", SimpleNamespace(obsp={"connectivities": sp.csr_matrix(MATRIX)})


@pytest.mark.parametrize(("name", "given"), list(brought_one_by_one()))
def test_every_kind_is_the_same_graph(name, given):
    np.testing.assert_array_equal(weights_of(given, Ids(4)).toarray(), MATRIX)


def test_frames_have_ids():
    ids = Ids(4, ["a", "b", "c", "d"])
    edges = frame(weight=WEIGHTS, target=list("bcc"), source=list("abd"))
    np.testing.assert_array_equal(weights_of(edges, ids).toarray(), MATRIX)
    bare = frame(first=list("abd"), second=list("bcc"), third=WEIGHTS)
    np.testing.assert_array_equal(weights_of(bare, ids).toarray(), MATRIX)


def test_graphs_of_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 1.0), ("b", "c", 2.0), ("d", "c", 0.5)])
    found = weights_of(graph, Ids(4, list("abcd")))
    np.testing.assert_array_equal(found.toarray(), MATRIX)
    with pytest.raises(ValueError, match=r"the first is 'a'; rows have the numbers 0 to 3.*ids="):
        weights_of(graph, Ids(4))


def test_ids_may_be_pairs():
    """Places on a grid, as networkx calls the nodes of one."""
    places = [(0, 0), (0, 1), (1, 0), (1, 1)]
    edges = [((0, 0), (0, 1), 1.0), ((0, 1), (1, 0), 2.0), ((1, 1), (1, 0), 0.5)]
    graph = SimpleNamespace(adj={}, edges=lambda data, default: edges)
    np.testing.assert_array_equal(weights_of(graph, Ids(4, places)).toarray(), MATRIX)
    with pytest.raises(ValueError, match=r"the first is '\(0, 0\)'; rows have the numbers 0 to 3"):
        weights_of(graph, Ids(4))


def test_tensors_that_have_gradients_and_graphs_without_edges():
    u, v = np.array(PAIRS).T

    class Tensor:
        def __init__(self, values):
            self.detach = lambda: SimpleNamespace(cpu=lambda: values)

        def __array__(self, *_, **__):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    graph = SimpleNamespace(edge_index=np.array([u, v]), edge_weight=Tensor(WEIGHTS))
    np.testing.assert_array_equal(weights_of(graph, Ids(4)).toarray(), MATRIX)
    with pytest.raises(ValueError, match="edge_index is None"):
        weights_of(SimpleNamespace(edge_index=None), Ids(4))


def test_repeated_edges_add_up_and_pairs_count_one():
    found = weights_of([(0, 1), (0, 1), (1, 1)], Ids(2))
    np.testing.assert_array_equal(found.toarray(), [[0, 2], [0, 1]])
    both = GivenGraph("both", found).joined.toarray()
    np.testing.assert_array_equal(both, [[0, 2], [2, 0]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(0, 9)], r"1 ends of edges are no rows, the first is 9; rows have the numbers 0 to 3"),
        ([("a", "b")], r"the first is 'a'"),
        ([(0, 1, -2.0)], r"1 weights of edges are negative; the first is -2.0, from 0 to 1"),
        ([(0, 1, np.nan)], r"not finite"),
        (np.eye(5), r"shape \(5, 5\), and \(4, 4\) is needed"),
        (np.ones((4, 5)), r"shape \(4, 5\)"),
        ([(0, 1, 2, 3)], r"shape \(1, 4\) is no graph"),
        (np.array([[0.5, 1.0]]), r"An edge ends at 0.5"),
        (SimpleNamespace(obsp={"distances": 1}), r"no 'connectivities'.*\(distances\)"),
        ({}, "has no graph"),
    ],
)
def test_what_is_wrong_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        for each in named_affinities(given).values():
            weights_of(each, Ids(4))


def test_weights_are_numbers():
    with pytest.raises(TypeError, match="'far'"):
        weights_of([("a", "b", "far")], Ids(2, ["a", "b"]))


def test_ids_differ_and_are_as_many_as_rows():
    with pytest.raises(ValueError, match="'a' stands for more than one row"):
        Ids(2, ["a", "a"])
    with pytest.raises(ValueError, match="3 ids for 2 rows"):
        Ids(2, ["a", "b", "c"])


def test_edges_of_new_rows_may_be_turned():
    new, known = Ids(2, ["x", "y"]), Ids(3, ["a", "b", "c"])
    edges = [("x", "a"), ("b", "x"), ("c", "y"), ("a", "b"), ("x", "y")]
    expected = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(links_of(edges, new, known).toarray(), expected)
    with pytest.raises(ValueError, match="the first is 'z'"):
        links_of([("x", "z")], new, known)


def test_known_rows_that_are_asked_again_have_their_edges_both_ways():
    rows = Ids(3, ["a", "b", "c"])
    found = weights_of([("a", "b", 2.0), ("b", "c", 1.0), ("c", "b", 3.0)], rows, rows)
    np.testing.assert_allclose(found.toarray(), [[0, 2, 0], [2, 0, 3], [0, 3, 0]])


# ------------------------------------------------------------------ steps, against literal sums


def test_steps_and_far_averages_are_their_sums():
    rng = np.random.default_rng(0)
    graph = GivenGraph("random", sp.random_array((30, 30), density=0.1, rng=rng))
    system = FieldSystem(graph.similarity)
    rows = rng.normal(size=(30, 70)).astype(np.float32)
    S, expected = graph.similarity.toarray().astype(np.float64), rows.astype(np.float64)
    np.testing.assert_allclose(system.moved(rows), S @ rows, atol=1e-5)
    for _ in range(200):
        expected = (S @ expected + 0.1 * rows) / 1.1
    found = 0.1 * system.applied(rows.copy(), 0.1)
    assert np.abs(found - expected).max() < 2e-3 * np.abs(expected).max()
    W = graph.joined.toarray() + graph.joined.data.mean() * np.eye(30)
    scale = 1 / np.sqrt(W.sum(axis=1))
    np.testing.assert_allclose(S, scale[:, None] * W * scale, rtol=1e-5)


# ------------------------------------------------------------------ the front door


def communities(n=240, seed=0, inside=0.12, between=0.01):
    """Return three groups of rows whose edges tell them apart, and whose columns hardly do."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    same = truth[:, None] == truth
    upper = np.triu(rng.random((n, n)) < np.where(same, inside, between), 1)
    X = rng.normal(size=(n, 5)) + 0.4 * np.eye(3, 5)[truth]
    return X, truth, np.argwhere(upper)


def labelled(truth, n_labels=30):
    return np.where(np.arange(len(truth)) < n_labels, truth, -1)


@pytest.fixture(scope="module")
def fitted():
    X, truth, edges = communities()
    y = labelled(truth)
    return X, truth, edges, SemiSupervisedClassifier(random_state=0).fit(X, y, affinity=edges)


def test_edges_help_where_columns_do_not(fitted):
    X, truth, _edges, model = fitted
    alone = SemiSupervisedClassifier(random_state=0).fit(X, labelled(truth))
    with_edges = np.mean(model.transduction_ == truth)
    assert with_edges > 0.95 > 0.8 > np.mean(alone.transduction_ == truth)
    assert model.unlabeled_gain_ > 0.1
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1.0)
    kept = model.label_distributions_.argmax(axis=1)[30:]
    np.testing.assert_array_equal(model.classes_[kept], model.transduction_[30:])


def test_the_graph_alone():
    _, truth, edges = communities()
    model = SemiSupervisedClassifier(random_state=0).fit(None, labelled(truth), affinity=edges)
    assert np.mean(model.transduction_ == truth) > 0.95
    found = model.predict(None, affinity=sp.csr_array(np.eye(3)[truth[:3]] @ np.zeros((3, 240))))
    assert len(found) == 3
    with pytest.raises(ValueError, match="knows edges alone"):
        model.predict(None)
    with pytest.raises(ValueError, match="pass ids="):
        model.predict(None, affinity=[(0, 1)])


def test_rows_that_no_edge_reaches_have_equal_shares():
    """Weights of members on edges alone add up to one only up to rounding."""
    _, truth, edges = communities(n=90)
    model = SemiSupervisedClassifier(class_sizes=None, random_state=0)
    model.fit(None, labelled(truth), affinity=edges)
    linked = model.mixture_.linked._replace(weight=1.0 - 1e-16)
    model.mixture_ = replace(model.mixture_, linked=linked)
    told = model.predict_proba(None, affinity=sp.csr_array((2, 90)))
    np.testing.assert_allclose(told, 1 / 3)


def test_new_rows_by_edges_and_by_features(fitted):
    _X, truth, _edges, model = fitted
    rng = np.random.default_rng(1)
    new = rng.integers(0, 3, 60)
    rows = rng.normal(size=(60, 5)) + 0.4 * np.eye(3, 5)[new]
    links = (rng.random((60, len(truth))) < 0.1) & (new[:, None] == truth)
    links[0] = False
    told = model.predict_proba(rows, affinity=links.astype(float))
    assert np.mean(told.argmax(axis=1)[1:] == new[1:]) > 0.95
    np.testing.assert_allclose(told.sum(axis=1), 1.0)
    alone = model.predict_proba(rows)
    np.testing.assert_allclose(told[0], alone[0])  # a row without edges is told by its features
    as_pairs = model.predict_proba(rows, affinity=np.argwhere(links))
    np.testing.assert_allclose(as_pairs, told, atol=1e-6)
    assert model.score(rows, new, affinity=np.argwhere(links)) > 0.95


@pytest.mark.long
def test_a_frame_with_ids():
    pandas = pytest.importorskip("pandas")
    X, truth, edges = communities(n=120)
    names = np.array([f"paper {k}" for k in range(120)])
    table = pandas.DataFrame(X, columns=list("abcde"), index=names)
    listed = pandas.DataFrame({"source": names[edges[:, 0]], "target": names[edges[:, 1]]})
    y = labelled(truth)
    model = SemiSupervisedClassifier(random_state=0)
    by_index = clone(model).fit(table, y, affinity=listed)
    by_column = clone(model).fit(table.assign(id=names), y, affinity=listed, ids="id")
    plain = clone(model).fit(X, y, affinity=edges)
    for each in (by_index, by_column):
        np.testing.assert_allclose(each.label_distributions_, plain.label_distributions_)
    new = pandas.DataFrame(X[:2], columns=list("abcde"), index=["new 1", "new 2"])
    joined = pandas.DataFrame({"source": ["new 1", names[5]], "target": [names[7], "new 1"]})
    by_names = by_index.predict_proba(new, affinity=joined)
    by_numbers = plain.predict_proba(X[:2], affinity=[(0, 7), (0, 5)])
    np.testing.assert_allclose(by_names, by_numbers, atol=1e-6)
    with pytest.raises(ValueError, match="the first is 'paper 999'"):
        clone(model).fit(table, y, affinity=[("paper 999", "paper 1")])


def test_several_graphs_and_one_that_says_nothing():
    X, truth, edges = communities()
    chance = np.random.default_rng(3).integers(0, len(truth), size=(600, 2))
    y = labelled(truth)
    model = SemiSupervisedClassifier(random_state=0)
    both = clone(model).fit(X, y, affinity={"cites": edges, "chance": chance})
    assert np.mean(both.transduction_ == truth) > 0.93
    names = [member.name for member in both.members_]
    assert {"cites", "chance", "all"} <= {name.split(", ")[1] for name in names if ", " in name}
    weight = sum(m.weight for m in both.members_ if "chance" in m.name)
    assert weight < 0.2


@pytest.mark.long
def test_a_graph_without_edges_is_left_out():
    X, truth, edges = communities()
    model, y = SemiSupervisedClassifier(random_state=0), labelled(truth)
    alone = clone(model).fit(X, y, affinity={"cites": edges})
    empty = sp.csr_array((len(truth), len(truth)))
    both = clone(model).fit(X, y, affinity={"cites": edges, "none": empty})
    np.testing.assert_array_equal(both.label_distributions_, alone.label_distributions_)
    with pytest.raises(ValueError, match="joins none of the 240 rows"):
        clone(model).fit(X, y, affinity={"none": empty})


@pytest.mark.long
def test_a_graph_that_misleads_costs_little():
    X, truth = make_blobs(300, 6, centers=3, cluster_std=3.0, random_state=0)
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 300, size=(3000, 2))
    wrong = pairs[truth[pairs[:, 0]] != truth[pairs[:, 1]]]
    y = labelled(truth, 40)
    model = SemiSupervisedClassifier(random_state=0)
    alone = np.mean(clone(model).fit(X, y).transduction_ == truth)
    misled = np.mean(clone(model).fit(X, y, affinity=wrong).transduction_ == truth)
    assert misled >= alone - 0.01


def test_isolated_rows_and_copies():
    X, truth, edges = communities()
    kept = edges[(edges < 200).all(axis=1)]  # forty rows have no edge
    X[210:230] = X[205]
    model = SemiSupervisedClassifier(random_state=0).fit(X, labelled(truth), affinity=kept)
    assert np.isfinite(model.label_distributions_).all()
    assert np.mean(model.transduction_[:200] == truth[:200]) > 0.9


@pytest.mark.long
def test_quantities_along_edges():
    rng = np.random.default_rng(0)
    at = np.sort(rng.uniform(0, 6, 300))
    truth = np.sin(at)
    near = np.abs(at[:, None] - at) < 0.1
    y = np.where(rng.random(300) < 0.2, truth, np.nan)
    noise = rng.normal(size=(300, 3))
    model = SemiSupervisedRegressor(random_state=0).fit(noise, y, affinity=near.astype(float))
    hidden = np.isnan(y)
    error = np.square(model.transduction_ - truth)[hidden].mean()
    assert error < 0.1 * truth[hidden].var()
    assert np.isfinite(model.predict(noise[:4], affinity=near[:4].astype(float))).all()
    assert np.isfinite(model.predict(noise[:4])).all()


def test_parts_that_do_not_go_together(fitted):
    X, truth, edges, _ = fitted
    y = labelled(truth)
    with pytest.raises(ValueError, match="pass both, or none"):
        SemiSupervisedClassifier().fit(X, y, ids=np.arange(240))
    with pytest.raises(ValueError, match="joins none of the 240 rows"):
        SemiSupervisedClassifier().fit(X, y, affinity=[(1, 1)])
    with pytest.raises(ValueError, match="X is None"):
        SemiSupervisedClassifier(LogisticRegression()).fit(None, y, affinity=edges)
    plain = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="fitted without an affinity"):
        plain.predict(X, affinity=edges)


def test_a_later_fit_forgets_the_graph(fitted):
    X, truth, edges, _ = fitted
    model = SemiSupervisedClassifier(LogisticRegression(), random_state=0)
    model.fit(X, labelled(truth), affinity=edges).fit(X, labelled(truth))
    assert not hasattr(model, "label_distributions_")
    with pytest.raises(ValueError, match="fitted without an affinity"):
        model.predict(X, affinity=edges)


@pytest.mark.long
def test_class_sizes_and_weights_times_ten(fitted):
    X, truth, edges, _model = fitted
    y = labelled(truth)
    sized = SemiSupervisedClassifier(class_sizes="labels", random_state=0)
    sized.fit(X, y, affinity=edges)
    assert np.mean(sized.transduction_ == truth) > 0.9
    heavy = SemiSupervisedClassifier(random_state=0).fit(X, y, np.full(240, 10.0), affinity=edges)
    light = SemiSupervisedClassifier(random_state=0).fit(X, y, np.ones(240), affinity=edges)
    np.testing.assert_allclose(heavy.label_distributions_, light.label_distributions_)


@pytest.mark.long
def test_a_file_keeps_what_prediction_needs(fitted, tmp_path):
    from graphkm.exchange import load_model, save_model

    X, truth, edges, _ = fitted
    kernels = KernelRidgeClassifierCV(random_state=0)
    model = SemiSupervisedClassifier(kernels, random_state=0)
    model.fit(X, labelled(truth), affinity=edges)
    names = np.array([f"row {k}" for k in range(240)])
    named = SemiSupervisedClassifier(None, random_state=0).fit(
        X, labelled(truth), affinity=[(names[u], names[v]) for u, v in edges], ids=names
    )
    for each, new in ((model, [(0, 5), (1, 7)]), (named, [("x", "row 5"), ("y", "row 7")])):
        save_model(each, tmp_path / "model.gkm")
        again = load_model(tmp_path / "model.gkm")
        ids = ["x", "y"] if each is named else None
        expected = each.predict_proba(X[:2], affinity=new, ids=ids)
        found = again.predict_proba(X[:2], affinity=new, ids=ids)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(again.predict(X), each.predict(X))
        np.testing.assert_array_equal(again.transduction_, each.transduction_)
        np.testing.assert_array_equal(again.label_distributions_, each.label_distributions_)


def test_the_graph_alone_in_a_file_and_no_onnx(tmp_path):
    from graphkm.exchange import load_model, save_model, to_onnx

    _, truth, edges = communities()
    model = SemiSupervisedClassifier(random_state=0).fit(None, labelled(truth), affinity=edges)
    save_model(model, tmp_path / "model.gkm")
    links = np.zeros((1, 240))
    links[0, 3] = 1.0
    again = load_model(tmp_path / "model.gkm")
    np.testing.assert_array_equal(
        again.predict_proba(None, affinity=links), model.predict_proba(None, affinity=links)
    )
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="fitted with an affinity"):
        to_onnx(model)

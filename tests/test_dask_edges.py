"""Given graphs whose edges lie in partitions, against the local estimator."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression

import graphkm
from graphkm.fields.system import FieldSystem
from graphkm.graphs import Anchors
from graphkm.graphs.given import GivenGraph
from graphkm.graphs.given_edges import Ids, weights_of

pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

import dask.array as da
import dask.dataframe as dd
import pandas as pd

from graphkm.dask import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.dask.edge_tasks import even_ranges
from graphkm.dask.edges import SpreadGraph
from graphkm.dask.row_tasks import Part, add_columns, columns_of
from graphkm.dask.runner import Runner

pytestmark = pytest.mark.xdist_group("dask")
LINE = {"estimator": LogisticRegression(), "graph": Anchors(60), "random_state": 0}
LENGTHS = (120, 30, 0, 150)  # of partitions, one of them empty


def groups(n=300, seed=0):
    """Return groups of rows, and edges mostly within them.

    Edges are repeated, in both directions, and from rows to themselves. Five rows have none.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    pairs = rng.integers(0, n - 5, (12 * n, 2))
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    pairs = pairs[same | (rng.random(len(pairs)) < 0.1)]
    pairs = np.vstack([pairs, pairs[:40], pairs[:30, ::-1], [[1, 1], [7, 7]]])
    edges = np.column_stack([pairs, rng.uniform(0.2, 2.0, len(pairs))])
    X = rng.normal(size=(n, 4)) + 0.7 * truth[:, None]
    return X, np.where(np.arange(n) % 5 == 0, truth, -1), truth, edges


def rows_of(X):
    return da.from_array(X, chunks=(LENGTHS, (X.shape[1],)))


def labels_of(y):
    return da.from_array(y, chunks=((100, 150, 50),))


def edges_of(edges, size=450):
    return da.from_array(edges, chunks=(size, -1))


def assert_same(model, wanted):
    weights = [{each.name: each.weight for each in own.members_} for own in (model, wanted)]
    assert weights[0] == pytest.approx(weights[1], abs=1e-4)
    assert any(", given" in name and weight > 0.05 for name, weight in weights[1].items())
    np.testing.assert_array_equal(model.transduction_, wanted.transduction_)
    np.testing.assert_allclose(model.label_distributions_, wanted.label_distributions_, atol=1e-4)
    np.testing.assert_allclose(model.class_sizes_, wanted.class_sizes_, atol=1e-4)
    assert model.best_score_ == pytest.approx(wanted.best_score_)


# ------------------------------------------------------------------ the same as at home


@pytest.mark.long
@pytest.mark.parametrize("size", [10**4, 700, 97])
def test_edges_alone_are_the_same_as_at_home(size):
    _, y, truth, edges = groups()
    wanted = graphkm.SemiSupervisedClassifier(random_state=0).fit(None, y, affinity=edges)
    model = SemiSupervisedClassifier(random_state=0)
    model.fit(None, labels_of(y), affinity=edges_of(edges, size))
    assert_same(model, wanted)
    assert model.n_features_in_ == 0
    assert np.mean(model.transduction_ == truth) > 0.9


@pytest.mark.long
@pytest.mark.parametrize("width", [2, 3])
def test_rows_and_edges_are_the_same_as_at_home(width):
    X, y, _, edges = groups()
    edges = edges[:, :width]
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(X, y, affinity=edges)
    model = SemiSupervisedClassifier(**LINE)
    model.fit(rows_of(X), labels_of(y), affinity=edges_of(edges))
    assert_same(model, wanted)
    names = {each.name for each in model.members_}
    assert {"averages, all, 1 step, C=1", "neighbours beside, given, C=1"} <= names
    np.testing.assert_allclose(  # by features alone
        model.predict_proba(rows_of(X)).compute(), wanted.predict_proba(X), atol=1e-4
    )


@pytest.mark.long
def test_workers_do_not_matter(client):
    _, y, _, edges = groups()
    wanted = graphkm.SemiSupervisedClassifier(random_state=0).fit(None, y, affinity=edges)
    model = SemiSupervisedClassifier(random_state=0)
    model.fit(None, labels_of(y), affinity=edges_of(edges))
    assert_same(model, wanted)


@pytest.mark.long
def test_frames_of_edges_and_several_graphs():
    X, y, _, edges = groups()
    table = pd.DataFrame(X, columns=list("abcd"))
    half = len(edges) // 2
    frames = [
        pd.DataFrame(part, columns=["source", "target", "weight"]).astype(
            {"source": int, "target": int}
        )
        for part in (edges[:half], edges[half:])
    ]
    given = dict(zip(("given", "friends"), frames, strict=True))
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(table, y, affinity=given)
    model = SemiSupervisedClassifier(**LINE)
    model.fit(
        dd.from_pandas(table, npartitions=3),
        dd.from_pandas(pd.Series(y), npartitions=2),
        affinity={name: dd.from_pandas(each, npartitions=4) for name, each in given.items()},
    )
    assert_same(model, wanted)
    assert list(model.feature_names_in_) == list("abcd")


@pytest.mark.long
def test_quantities():
    X, y, truth, edges = groups()
    target = np.where(y >= 0, truth + 0.1 * X[:, 0], np.nan)
    about = {"estimator": LinearRegression(), "graph": Anchors(60), "random_state": 0}
    wanted = graphkm.SemiSupervisedRegressor(**about).fit(X, target, affinity=edges)
    model = SemiSupervisedRegressor(**about)
    model.fit(rows_of(X), labels_of(target), affinity=edges_of(edges))
    np.testing.assert_allclose(model.transduction_, wanted.transduction_, atol=1e-4)
    assert not hasattr(model, "class_sizes_")


@pytest.mark.long
def test_columns_that_are_mixed(monkeypatch):
    """All averages together have a limit; beyond it, columns are mixed in partitions, too."""
    monkeypatch.setattr("graphkm.members.averages._ENTRIES", 900)
    X, y, _, edges = groups()
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(X, y, affinity=edges)
    model = SemiSupervisedClassifier(**LINE)
    model.fit(rows_of(X), labels_of(y), affinity=edges_of(edges))
    assert_same(model, wanted)


@pytest.mark.long
def test_sparse_rows_are_averaged_as_they_are():
    X, y, _, edges = groups()
    X = np.where(X > 1.0, X, 0.0)
    rows = rows_of(X).map_blocks(sp.csr_array, meta=sp.csr_array((0, 4)))
    model = SemiSupervisedClassifier(**LINE)
    model.fit(rows, labels_of(y), affinity=edges_of(edges))
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(sp.csr_array(X), y, affinity=edges)
    losses = [{each.name: each.log_loss for each in own.members_} for own in (model, wanted)]
    for name in ("averages, given, 1 step, C=1", "neighbours beside, given, C=1"):
        assert losses[0][name] == pytest.approx(losses[1][name], abs=1e-4)


@pytest.mark.long
def test_weights_of_labels_and_a_label_of_weight_zero():
    X, y, _, edges = groups()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    weight[:20] = 0.0
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(X, y, weight, affinity=edges)
    model = SemiSupervisedClassifier(**LINE)
    model.fit(rows_of(X), labels_of(y), labels_of(weight), affinity=edges_of(edges))
    assert_same(model, wanted)


@pytest.mark.long
@pytest.mark.parametrize("column", [True, False])
def test_edges_with_ids(column):
    X, y, _, edges = groups()
    ids = pd.Series([f"p{7 * i % 300:03}" for i in range(300)])
    table = pd.DataFrame(X, columns=list("abcd")).assign(paper=ids)
    ends = edges[:, :2].astype(int)
    frame = pd.DataFrame({"source": ids[ends[:, 0]].values, "target": ids[ends[:, 1]].values})
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(table, y, affinity=frame, ids="paper")
    model = SemiSupervisedClassifier(**LINE)
    rows = dd.from_pandas(table, npartitions=3)
    model.fit(
        rows if column else rows.drop(columns="paper"),
        labels_of(y),
        affinity=dd.from_pandas(frame, npartitions=3),
        ids="paper" if column else dd.from_pandas(ids, npartitions=2),
    )
    assert_same(model, wanted)
    new, near = table.iloc[:2].drop(columns="paper"), [("n1", "p000"), ("n2", "p007")]
    told = (new, near, ["n1", "n2"])
    np.testing.assert_allclose(model.predict_proba(*told), wanted.predict_proba(*told), atol=1e-4)


@pytest.mark.long
def test_arrays_of_this_process_go_to_the_local_estimator():
    X, y, _, edges = groups()
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(X, y, affinity=edges)
    assert_same(SemiSupervisedClassifier(**LINE).fit(X, y, affinity=edges), wanted)


# ------------------------------------------------------------------ the graph itself


def test_the_graph_is_that_of_all_edges_and_no_block_has_them_all():
    _, _, _, edges = groups()
    wanted = GivenGraph("given", weights_of(edges, Ids(300)))
    graph = SpreadGraph.of("given", edges_of(edges, 300), Ids(300), Runner())
    blocks = graph.weights.runner.bring(graph.weights.blocks)
    assert len(blocks) > 4
    assert graph.largest_block == max(block.nnz for block in blocks) < 0.4 * wanted.joined.nnz
    np.testing.assert_allclose(sp.vstack(blocks).toarray(), wanted.joined.toarray(), rtol=1e-6)
    assert (graph.n_rows, graph.n_edges) == (300, wanted.n_edges)
    assert graph.usual == pytest.approx(wanted.usual)
    np.testing.assert_allclose(graph.degrees, wanted.degrees, rtol=1e-6)
    table = np.random.default_rng(0).normal(size=(300, 70)).astype(np.float32)
    np.testing.assert_allclose(graph.means @ table, wanted.means @ table, atol=1e-5)
    systems = [FieldSystem(each.similarity) for each in (graph, wanted)]
    one, other = (system.moved(table) for system in systems)
    np.testing.assert_allclose(one, other, atol=1e-5)
    one, other = (system.applied(table.copy(), 0.1) for system in systems)
    np.testing.assert_allclose(one, other, atol=1e-3)


def test_no_task_takes_all_edges(monkeypatch):
    """Tasks between partitions of edges and blocks of rows: what each of them takes."""
    taken = []
    task = Runner.task

    def watched(self, name, function, *args):
        def counted(*given):
            taken.append((name, sum(map(size_of, given))))
            return function(*given)

        return task(self, name, counted, *args)

    def size_of(given):
        if isinstance(given, list | tuple):
            return sum(map(size_of, given))
        return given.size if isinstance(given, np.ndarray) and given.dtype == np.float32 else 0

    monkeypatch.setattr(Runner, "task", watched)
    _, _, _, edges = groups()
    SpreadGraph.of("given", edges_of(edges, 300), Ids(300), Runner())
    most = {name: max(size for own, size in taken if own == name) for name, _ in taken}
    assert 0 < most["split-edges"] <= 300
    assert 0 < most["join-edges"] < 2 * len(edges) / 3


def test_ranges_have_about_as_many_edges():
    ends = np.random.default_rng(0).integers(0, 50, 1000)
    ends[:20] = 500
    bounds = even_ranges(ends, 8)
    assert bounds[0] == 0
    assert bounds[-1] == 1000
    sums = np.add.reduceat(ends + 1, bounds[:-1])
    assert len(sums) == 8
    assert sums.max() < 1.2 * sums.mean()
    assert even_ranges(np.array([0, 10**6, 0]), 5).tolist() == [0, 2, 3]
    assert even_ranges(np.array([3]), 4).tolist() == [0, 1]


def test_moments_of_columns_add_up():
    X = np.random.default_rng(0).normal(1e6, 1.0, (90, 3))
    parts = [X[:50], X[50:50], X[50:51], X[51:]]
    about = Part(0, 0, 90, np.float64)
    mean, spread = add_columns([columns_of(part, about) for part in parts]).scale
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(spread, X.std(axis=0), rtol=1e-9)


# ------------------------------------------------------------------ after the fit


@pytest.mark.long
def test_the_local_estimator_predicts_new_rows_by_edges():
    X, y, truth, edges = groups()
    model = SemiSupervisedClassifier(**LINE)
    model.fit(rows_of(X), labels_of(y), affinity=edges_of(edges))
    near = [(0, int(row)) for row in np.flatnonzero(truth == 2)[:5]]
    home = pickle.loads(pickle.dumps(model)).to_local()
    assert home.predict(np.zeros((1, 4)), affinity=near) == [2]
    assert model.predict(np.zeros((1, 4)), affinity=near) == [2]
    with pytest.raises(ValueError, match="by their features alone"):
        model.predict(rows_of(X), affinity=near)
    with pytest.raises(ValueError, match="by their features alone"):
        model.predict(X, affinity=edges_of(edges))


@pytest.mark.long
def test_a_fit_without_edges_forgets_those_of_the_one_before():
    X, y, _, edges = groups()
    model = SemiSupervisedClassifier(**LINE)
    model.fit(rows_of(X), labels_of(y), affinity=edges_of(edges))
    model.fit(rows_of(X), labels_of(y))
    assert not hasattr(model, "label_distributions_")
    with pytest.raises(AttributeError, match="transduction_ is not known"):
        model.transduction_  # noqa: B018
    wanted = model.to_local().class_sizes_
    np.testing.assert_array_equal(model.class_sizes_, wanted)


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([[0, 300, 1.0]], "1 ends of edges are no rows, the first is 300"),
        ([[-1, 2, 1.0]], "the first is -1; rows have the numbers 0 to 299"),
        ([[0, 1, -1.0]], "1 weights of edges are negative; the first is -1.0, from 0 to 1"),
        ([[0, 1, np.nan]], "1 weights of edges are not finite"),
        ([[0.5, 1, 1.0]], r"An edge ends at 0.5"),
    ],
)
def test_wrong_edges(wrong, message):
    _, y, _, edges = groups()
    edges = edges_of(np.vstack([edges, wrong]))
    with pytest.raises(ValueError, match=message):
        SemiSupervisedClassifier().fit(None, labels_of(y), affinity=edges)


def test_no_edges():
    _, y, _, _ = groups()
    edges = edges_of(np.array([[1, 1], [2, 2]]))
    with pytest.raises(ValueError, match="joins none of the 300 rows"):
        SemiSupervisedClassifier().fit(None, labels_of(y), affinity=edges)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": None, "y": None}, "X is None, so y tells how many rows there are"),
        ({"affinity": np.array([[0, 1]])}, "the affinity is a ndarray; pass edges as a Dask array"),
        ({"X": np.zeros((300, 4))}, "affinity is a Dask collection and X is a ndarray"),
        ({"affinity": da.zeros((300, 300))}, r"of shape \(300, 300\); pass edges as a Dask array"),
        ({"affinity": da.zeros(5)}, r"of shape \(5,\); pass edges"),
        ({"affinity": {}}, "has no graph"),
        ({"affinity": None, "ids": da.arange(300)}, "ids name the rows of an affinity"),
        ({"ids": np.arange(300)}, "X is a Dask collection and ids is a ndarray"),
        ({"ids": da.arange(299)}, "There are 299 ids for 300 rows"),
        ({"ids": "paper"}, "ids='paper' is no column of X"),
        ({"X": None, "estimator": LogisticRegression()}, "estimator needs rows, and X is None"),
        ({"y": da.zeros(299, dtype=int)}, "X has 300 rows and y has 299"),
    ],
)
def test_wrong_arguments(change, message):
    X, y, _, edges = groups()
    given = {"X": rows_of(X), "y": labels_of(y), "affinity": edges_of(edges), **change}
    model = SemiSupervisedClassifier(given.pop("estimator", "auto"))
    with pytest.raises(ValueError, match=message):
        model.fit(**given)

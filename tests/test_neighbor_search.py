"""The neighbour search against brute force in NumPy, and local weights against a double loop."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

import graphkm._util.memory as memory
from flat import build_graph
from graphkm.graphs import KNN, knn_graph
from graphkm.neighbours import cells as approximate_module
from graphkm.neighbours import exact as exact_module
from graphkm.neighbours import index as search_module
from graphkm.neighbours.cells import calibrate
from graphkm.neighbours.index import NeighbourIndex
from graphkm.neighbours.recall import recall as share_found

pytestmark = pytest.mark.filterwarnings("error")


def nearest(rows, k, n_jobs=None, method="auto", *, squared=False, verbose=False):
    """Return the k nearest other rows of every row, and their distances."""
    near, d2 = NeighbourIndex(rows, method, n_jobs, verbose).neighbours(k)
    return near, d2 if squared else np.sqrt(d2)


def brute_force(X, k):
    """Return the k nearest other rows by (distance, number), from all differences."""
    X = np.asarray(X, dtype=np.float64)
    d2 = ((X[:, None] - X) ** 2).sum(axis=-1)
    np.fill_diagonal(d2, np.inf)
    near = np.argsort(d2, axis=1, kind="stable")[:, :k]
    return near, np.sqrt(np.take_along_axis(d2, near, axis=1))


def clusters(n=6000, d=20, n_clusters=30, seed=0):
    rng = np.random.default_rng(seed)
    return 4 * rng.normal(size=(n_clusters, d))[rng.integers(n_clusters, size=n)] + rng.normal(
        size=(n, d)
    )


def wide(n=6000, d=300):
    """Return rows of d columns that are near a subspace of 20 dimensions."""
    rng = np.random.default_rng(1)
    return clusters(n, 20) @ rng.normal(size=(20, d)) / 4 + 0.1 * rng.normal(size=(n, d))


def recall(X, near, k):
    """Return the share of neighbours that are as near as the true ones."""
    sample = np.arange(0, len(X), 7)
    norms = (X**2).sum(axis=1)
    d2 = norms[sample, None] + norms - 2 * X[sample] @ X.T
    d2[np.arange(len(sample)), sample] = np.inf
    true = np.argpartition(d2, k, axis=1)[:, :k]
    return np.mean([len(set(a) & set(b)) / k for a, b in zip(true, near[sample], strict=True)])


# ---------------------------------------------------------------- exact


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "k"), [(2, 1, 1), (40, 3, 39), (300, 4, 7), (300, 30, 10)])
def test_exact_equals_brute_force(form, dtype, n, d, k):
    X = np.random.default_rng(n).normal(size=(n, d)).astype(dtype)
    near, distances = nearest(form(X), k, method="exact")
    true, true_distances = brute_force(X, k)
    assert (near.dtype, distances.dtype) == (np.int64, np.float64)
    np.testing.assert_array_equal(near, true)
    np.testing.assert_allclose(distances, true_distances, rtol=1e-12)
    squares = nearest(form(X), k, squared=True)[1]
    np.testing.assert_allclose(np.sqrt(squares), distances, rtol=1e-15)


def test_exact_in_several_blocks(monkeypatch, capsys):
    X = np.random.default_rng(0).normal(size=(1000, 5))
    monkeypatch.setattr(exact_module.ExactSearch, "block", 300)
    near, _ = nearest(X, 6, method="exact", verbose=True)
    np.testing.assert_array_equal(near, brute_force(X, 6)[0])
    assert "1000/1000" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.parametrize("d", [2, 20, 300])
def test_duplicates_are_neighbours_and_a_row_is_not_its_own(method, d):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, d)), 40, axis=0)[rng.permutation(2400)]
    near, distances = nearest(X, 5, method=method)
    assert near.shape == (2400, 5)
    assert (near != np.arange(2400)[:, None]).all()
    assert ((near >= 0) & (near < 2400)).all()
    assert (np.diff(np.sort(near, axis=1), axis=1) > 0).all()  # no row twice
    assert (distances == 0).all()


# ---------------------------------------------------------------- approximate


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [lambda: clusters(d=8), clusters, lambda: clusters(d=300), wide])
def test_approximate_finds_nearly_all(make, dtype, capfd):
    X = make().astype(dtype)
    near, distances = nearest(X, 10, method="approximate")
    assert recall(X.astype(np.float64), near, 10) >= 0.95
    assert (near != np.arange(len(X))[:, None]).all()
    assert (np.diff(distances, axis=1) >= 0).all()
    u = np.repeat(np.arange(len(X)), 10)
    exact = np.sqrt(((X[u].astype(float) - X[near.ravel()]) ** 2).sum(axis=1))
    np.testing.assert_allclose(distances.ravel(), exact, rtol=1e-12)
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
def test_approximate_is_not_the_exact_search():
    """The other tests would pass if the approximate search always gave up."""
    for X, width in ((clusters(), 20), (clusters(d=300), 300), (wide(), 64)):
        calibration, cells = calibrate(X, 10)
        assert calibration == (10, width, cells.probes)
        assert cells.width == width
        assert 1 <= cells.probes <= cells.n_cells // 4


def test_ties_do_not_stand_for_nearer_rows():
    """One-hot columns: squared distances are whole, and many rows are as near as the k-th."""
    codes = np.random.default_rng(0).integers(4, size=(4000, 6))
    X = np.eye(4)[codes].reshape(4000, 24)
    found, true = (nearest(X, 30, method=m)[1] for m in ("approximate", "exact"))
    reach = true[:, -1:] - 1e-9
    assert 0.5 < np.mean(true < reach) < 0.7
    assert np.mean(found < reach) >= 0.95 * np.mean(true < reach)
    assert np.mean(found) <= 1.01 * np.mean(true)


def test_recall_counts_ties_once():
    true = np.array([[1.0, 2.0, 4.0, 4.0]])
    for found, share in (
        ([1.0, 2.0, 4.0, 4.0], 1.0),
        ([4.0, 4.0, 4.0, 4.0], 0.5),
        ([1.0, 4.0, 4.0, 4.0], 0.75),
        ([2.0, 4.0, 4.0, 5.0], 0.75),
        ([1.0, 2.0, 4.0, np.inf], 0.75),
        ([5.0, 6.0, np.inf, np.inf], 0.0),
    ):
        assert share_found(np.array([found]), true) == share
    zeros = np.zeros((2, 3))
    assert share_found(zeros, zeros) == 1
    assert share_found(zeros + 1, zeros) == 0


def test_rows_without_structure_are_searched_exactly():
    X = np.random.default_rng(0).normal(size=(1500, 200))
    assert calibrate(X, 5) == ((5, 200, 0), None)
    np.testing.assert_array_equal(
        nearest(X, 5, method="approximate")[0], nearest(X, 5, method="exact")[0]
    )


@pytest.mark.dear
@pytest.mark.parametrize("scale", [1e-20, 1e30])
def test_approximate_in_any_unit_and_place(scale):
    X = clusters(n=3000)
    near = nearest(X, 10, method="approximate")[0]
    np.testing.assert_array_equal(nearest(X * scale, 10, method="approximate")[0] >= 0, True)
    assert recall(X, nearest(X * scale, 10, method="approximate")[0], 10) >= 0.95
    assert recall(X, nearest(X + 1e6, 10, method="approximate")[0], 10) >= 0.95
    assert recall(X, near, 10) >= 0.95


@pytest.mark.long
@pytest.mark.parametrize("make", [clusters, wide])
def test_approximate_does_not_depend_on_threads(make):
    X = np.round(make(), 1)
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads):
            found.append(nearest(X, 8, n_jobs=threads, method="approximate"))
    for near, distances in found[1:]:
        np.testing.assert_array_equal(near, found[0][0])
        np.testing.assert_array_equal(distances, found[0][1])


def test_rows_with_too_few_candidates_are_filled_exactly(monkeypatch):
    X = clusters(n=3000)
    search = approximate_module.Cells.__call__

    def forgetful(cells, queries, k):
        found = search(cells, queries, k)
        found[np.isin(queries[:, 0], X[::3, 0]), -1] = -1
        return found

    monkeypatch.setattr(approximate_module.Cells, "__call__", forgetful)
    monkeypatch.setattr(approximate_module.Cells, "block", 999)
    monkeypatch.setattr("graphkm.neighbours.recall.RECALL", 0.5)
    near = nearest(X, 6, method="approximate")[0]
    np.testing.assert_array_equal(near[::3], nearest(X, 6, method="exact")[0][::3])


def test_sparse_rows_are_searched_exactly():
    X = clusters(n=800)
    near = nearest(sp.csr_array(X), 5, method="approximate")[0]
    np.testing.assert_array_equal(near, brute_force(X, 5)[0])


def test_approximate_shows_progress_and_asks_for_memory(monkeypatch, capsys):
    X = clusters(n=3000)
    nearest(X, 5, method="approximate", verbose=True)
    assert "3000/3000" in capsys.readouterr().err
    monkeypatch.setattr(memory, "_NEGLIGIBLE", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"approximate neighbours of 3,000 rows"):
        nearest(X, 5, method="approximate")


# ---------------------------------------------------------------- the choice


def test_auto_is_exact_for_small_or_narrow_data():
    choose = search_module._is_approximate
    assert not choose(np.zeros((1000, 50)), "auto")
    assert not choose(sp.csr_array((600_000, 50)), "auto")
    big = np.broadcast_to(np.float64(0), (600_000, 50))
    assert choose(big, "auto")
    assert not choose(big, "exact")
    assert not choose(big[:, :3], "auto")
    rows = search_module.LARGE
    assert choose(big[:rows, :20], "auto")
    assert not choose(big[: rows - 1], "auto")


@pytest.mark.parametrize("k", [0, 5, -1])
def test_bad_k(k):
    with pytest.raises(ValueError, match=rf"k={k} neighbours of 5 rows; .* 1 to 4"):
        nearest(np.zeros((5, 2)), k)


def test_bad_method():
    choices = "'auto', 'exact', 'approximate'"
    message = f"unknown search 'fast'; pass one of {choices}"
    for call in (
        lambda X, mask: nearest(X, 2, method="fast"),
        lambda X, mask: knn_graph(X, mask, 2, 1.0, method="fast"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            call(np.eye(5), np.arange(5) < 2)
    with pytest.raises(ValueError, match=f"search must be one of {choices}, got 'fast'"):
        KNN(search="fast")


# ---------------------------------------------------------------- graphs


def local_weights(X, labeled, k):
    """Return {(u, v): mu} by a literal double loop."""
    near, distances = brute_force(X, k)
    scale = [row[-1] for row in distances]
    smallest = min(s for s in scale if s > 0)
    scale = [s or smallest for s in scale]
    edges = {}
    for u in range(len(X)):
        for v in range(u + 1, len(X)):
            if (v in near[u] or u in near[v]) and not (labeled[u] and labeled[v]):
                d2 = math.fsum((a - b) ** 2 for a, b in zip(X[u], X[v], strict=True))
                edges[u, v] = math.exp(-d2 / (scale[u] * scale[v]))
    return edges


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_local_weights_equal_double_loop(form):
    rng = np.random.default_rng(0)
    X, labeled = rng.normal(size=(60, 3)) * rng.random((60, 1)), np.arange(60) % 5 == 0
    graph = build_graph("knn", form(X), labeled, gamma="local", n_neighbors=4)
    edges, expected = graph.edges(), local_weights(X, labeled, 4)
    assert list(zip(edges.u.tolist(), edges.v.tolist(), strict=True)) == sorted(expected)
    np.testing.assert_allclose(edges.weight, [expected[e] for e in sorted(expected)], rtol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e150])
def test_local_weights_of_coinciding_rows(size):
    rng = np.random.default_rng(0)
    X = np.vstack([np.zeros((6, 2)), rng.normal(size=(10, 2))]) * size
    _, v, weight = knn_graph(X, np.zeros(16, bool), 3, "local").edges()
    assert np.isfinite(weight).all()
    assert (weight[v < 6] == 1).all()
    assert (v < 6).sum() > 3
    same = knn_graph(np.ones((8, 2)), np.zeros(8, bool), 3, "local")
    assert (same.edges().weight == 1).all()


def test_local_weights_do_not_depend_on_the_unit():
    X, labeled = clusters(n=200, d=3), np.arange(200) < 20
    one, other = (knn_graph(X * s, labeled, 5, "local").edges() for s in (1.0, 2.0**20))
    np.testing.assert_array_equal(one.weight, other.weight)


@pytest.mark.parametrize("kind", ["full", "bipartite", "epsilon"])
def test_local_weights_are_for_knn(kind):
    message = rf"(?i)weights='local' takes its .*{kind} does not search for.*KNN\(\)"
    with pytest.raises(ValueError, match=message):
        build_graph(kind, np.eye(4), np.arange(4) < 2, gamma="local", radius=1.0)


def test_other_words_for_gamma():
    for gamma in ("scale", "globl"):
        with pytest.raises(ValueError, match=f"gamma='{gamma}'"):
            knn_graph(np.eye(4), np.arange(4) < 2, 2, gamma)


def test_knn_graph_by_the_approximate_search():
    X, labeled = clusters(n=4000), np.arange(4000) % 50 == 0
    exact = knn_graph(X, labeled, 10, 0.1, method="exact").to_sparse()
    near = build_graph(
        "knn", X, labeled, gamma=0.1, n_neighbors=10, search="approximate"
    ).to_sparse()
    both = (exact.minimum(near) > 0).nnz
    assert both >= 0.95 * exact.nnz
    shared = exact.multiply(near > 0)
    assert abs(shared - near.multiply(exact > 0)).max() == 0

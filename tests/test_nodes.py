"""Nodes of a field, against their formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphkm.fields.system import FieldData, FieldSystem, Strength
from graphkm.graphs import KNN, Anchors, resolve_nodes
from graphkm.graphs.anchors import (
    JOINED,
    NEAR,
    AnchorNodes,
    add_by_anchor,
    drawn_rows,
    moved,
    rows_by_anchor,
)
from graphkm.graphs.nodes import RowNodes, faded
from graphkm.neighbours.distinct import distinct_rows
from graphkm.neighbours.index import NeighbourIndex


def some_rows(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def one_hot(n=300, columns=8):
    codes = np.random.default_rng(1).integers(columns, size=n)
    return np.eye(columns)[codes]


def literal_similarity(X, k, sharpness):
    """Return D^(-1/2) W D^(-1/2) of the mean of both directions, from all distances."""
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :k]
    reach = np.take_along_axis(distance, near, axis=1)[:, -1]
    W = np.zeros_like(distance)
    for u in range(len(X)):
        for v in near[u]:
            W[u, v] = np.exp(-sharpness * distance[u, v] ** 2 / (reach[u] * reach[v]))
    W = (W + W.T) / 2
    degree = W.sum(axis=1)
    return W / np.sqrt(degree[:, None] * degree[None])


@pytest.mark.parametrize(("weights", "sharpness"), [("auto", 6), ("sharp", 6), ("local", 1)])
def test_edges_are_the_formula(weights, sharpness):
    X = some_rows()
    graph = KNN(n_neighbors=5, weights=weights).nodes(X)
    np.testing.assert_allclose(
        graph.similarity.toarray(), literal_similarity(X, 5, sharpness), atol=1e-6
    )


def test_one_bandwidth_for_all_rows_is_refused():
    for weights in ("kernel", 1.0):
        with pytest.raises(ValueError, match="'sharp' or 'local'"):
            KNN(weights=weights).nodes(some_rows())


@pytest.mark.parametrize("make", [KNN(n_neighbors=4), Anchors(n_anchors=20)])
@pytest.mark.parametrize(
    "X",
    [some_rows(), one_hot(), np.repeat(some_rows(7), 60, axis=0), np.ones((30, 2))],
    ids=["rows", "one-hot", "copies", "identical"],
)
def test_eigenvalues_lie_between_0_and_2(make, X):
    graph = make.nodes(X)
    assert (graph.similarity != graph.similarity.T).nnz == 0
    values = np.linalg.eigvalsh(graph.laplacian.toarray().astype(np.float64))
    assert values[0] > -1e-6 and values[-1] < 2 + 1e-6
    assert np.isfinite(graph.similarity.data).all()
    np.testing.assert_allclose(graph.rows.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("part", [KNN(n_neighbors=5), Anchors(n_anchors=20)])
def test_weights_sum_to_one_and_fade_far_out(part):
    X = some_rows()
    nodes = part.nodes(X).nodes
    np.testing.assert_allclose(nodes.weights(X + 0.05).sum(axis=1), 1.0)
    assert nodes.weights(X).data.min() >= 0
    for scale in (1e2, 1e5, 1e9):
        far = scale * np.array([[1.0, 1.0, 1.0], [-3.0, 0.5, 2.0]])
        z = nodes.weights(far)
        share = z.toarray() / z.sum(axis=1)[:, None]
        distance = np.linalg.norm(far[:, None] - nodes.points[None], axis=2).min(axis=1)
        expected = (2 * share @ nodes.reach / distance) ** 2
        np.testing.assert_allclose(z.sum(axis=1), expected, rtol=1e-9)
        assert (expected < 1).all()


def test_weights_of_a_new_row_are_the_formula():
    X, new = some_rows(), some_rows(5, seed=3)
    nodes = KNN(n_neighbors=4).nodes(X).nodes
    distance = np.linalg.norm(new[:, None] - X[None], axis=2)
    for row, d in zip(nodes.weights(new).toarray(), distance, strict=True):
        near = np.argsort(d)[:4]
        z = np.zeros(len(X))
        z[near] = np.exp(-6 * d[near] ** 2 / (d[near[-1]] * nodes.reach[near]))
        z /= z.sum()
        np.testing.assert_allclose(
            row, z * min(1, (2 * z @ nodes.reach / d.min()) ** 2), atol=1e-12
        )


def test_a_training_row_is_its_own_node():
    X = some_rows()
    graph = KNN(n_neighbors=4).nodes(X)
    assert (graph.rows != sp.eye_array(len(X))).nnz == 0
    np.testing.assert_array_equal(graph.nodes.weights(X).toarray(), np.eye(len(X)))


@pytest.mark.parametrize("sparse", [False, True])
def test_copies_of_a_row_share_its_node(sparse):
    X = np.vstack([some_rows(20), some_rows(20)[:3]])
    graph = KNN(n_neighbors=4).nodes(sp.csr_array(X) if sparse else X)
    alone = KNN(n_neighbors=4).nodes(sp.csr_array(X[:20]) if sparse else X[:20])
    assert (graph.similarity != alone.similarity).nnz == 0
    place = np.r_[np.arange(20), np.arange(3)]
    np.testing.assert_array_equal(graph.rows.toarray(), np.eye(20)[place])
    np.testing.assert_array_equal(graph.nodes.weights(X).toarray(), np.eye(20)[place])


def test_a_label_does_not_speak_for_thousands_of_copies():
    """Copies of one row, most of them labelled 0: a single 1 among them is outvoted."""
    rng = np.random.default_rng(0)
    X = np.vstack([np.zeros((2000, 3)), rng.normal(size=(500, 3))])
    graph = KNN().nodes(X)
    rows = np.arange(40)
    values = np.where(rows == 0, 1.0, 0.0)[:, None]
    data = FieldData.of(graph, rows, np.ones(40), values)
    g = graph.rows @ FieldSystem(graph.similarity).solve(data, Strength(C=3.0, eps=0.01))
    np.testing.assert_allclose(g[:2000, 0], g[0, 0])
    assert 0 < g[0, 0] < 0.05


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distinct_rows_are_those_of_numpy(make, dtype):
    rng = np.random.default_rng(0)
    for levels, n, d in [(2, 500, 4), (3, 300, 6), (50, 200, 3), (2, 1, 2), (1, 9, 0)]:
        X = rng.integers(levels, size=(n, d)).astype(dtype) / 7
        first, place = distinct_rows(make(X))
        _, expected = np.unique(X, axis=0, return_index=True)
        np.testing.assert_array_equal(first, np.sort(expected))
        np.testing.assert_array_equal(X[first[place]], X)


@pytest.mark.parametrize("part", [KNN(), Anchors()])
def test_thousands_of_copies(part):
    X = np.repeat(one_hot(6), 800, axis=0)
    graph = part.nodes(X)
    assert np.isfinite(graph.similarity.data).all()
    np.testing.assert_allclose(graph.nodes.weights(X[::100]).sum(axis=1), 1.0)


def splitmix64(number):
    mask = 2**64 - 1
    z = ((number + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def literal_draw(n, m, seed):
    return sorted(sorted(range(n), key=lambda row: splitmix64(row + splitmix64(seed)))[:m])


@pytest.mark.parametrize(("n", "m"), [(1, 1), (7, 7), (50, 3), (5000, 1), (5000, 700)])
def test_the_first_anchors_are_the_rows_with_the_least_hashes(n, m):
    for seed in (0, 1, 2**31 - 2):
        np.testing.assert_array_equal(drawn_rows(n, m, seed), literal_draw(n, m, seed))


def test_draws_are_uniform():
    """A chi-squared test over 64 stretches of 10,000 rows, and over seeds for one row."""
    drawn = np.concatenate([drawn_rows(10_000, 100, seed) for seed in range(200)])
    counts = np.bincount(drawn * 64 // 10_000, minlength=64)
    expected = len(drawn) / 64
    assert ((counts - expected) ** 2 / expected).sum() < 110  # 63 on average; 1e-4 beyond
    assert 1 <= (drawn == 1234).sum() <= 9


def shares(X, anchors, reach):
    """Return the shares of the three anchors that each row joins, by the formula."""
    Z = np.zeros((len(X), len(anchors)))
    for z, x in zip(Z, X, strict=True):
        d = np.linalg.norm(x - anchors, axis=1)
        order = np.argsort(d)[: JOINED + 1]
        used = order[:JOINED]
        z[used] = np.exp(-(d[used] ** 2) / d[order[-1]] ** 2)
        z /= z.sum()
        z *= min(1, (2 * z @ reach / max(d.min(), 1e-9)) ** 2)
    return Z


def sharp_weights(X, anchors, reach):
    """Return the weights of the ten anchors that each row reaches, by the formula."""
    Z = np.zeros((len(X), len(anchors)))
    for z, x in zip(Z, X, strict=True):
        d = np.linalg.norm(x - anchors, axis=1)
        near = np.argsort(d)[:NEAR]
        alone = d[near] == 0
        z[near] = alone if alone.any() else np.exp(-6 * d[near] ** 2 / (d[near[-1]] * reach[near]))
        z /= z.sum()
        z *= min(1, (2 * z @ reach / max(d.min(), 1e-9)) ** 2)
    return Z


def joined(Z):
    W = Z.T @ Z
    np.fill_diagonal(W, 0)
    return W


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_anchors_and_their_graph_are_sums_over_any_blocks(make):
    X, m = some_rows(500), 12
    anchors = make(X[:m])
    nodes = AnchorNodes.at(anchors)
    for cuts in ([250], [1, 2, 3, 400], [0, 77, 77]):
        blocks = [make(block) for block in np.split(X, cuts)]
        sums = [rows_by_anchor(NeighbourIndex(anchors), block) for block in blocks]
        joins = sum(nodes.joins(block) for block in blocks)
        total = sums[0]
        for each in sums[1:]:
            total = add_by_anchor(total, each)
        own = np.linalg.norm(X[:, None] - X[None, :m], axis=2).argmin(axis=1)
        means = np.array([X[own == j].mean(axis=0) for j in range(m)])
        found = moved(anchors, total)
        np.testing.assert_allclose(found if make is np.asarray else found.toarray(), means)
        np.testing.assert_allclose(joins.toarray(), joined(shares(X, X[:m], nodes.reach)))


@pytest.mark.dear
@pytest.mark.parametrize("size", [1, 7, 64])
def test_blocks_in_memory_do_not_matter(monkeypatch, size):
    X = some_rows(200)
    whole = Anchors(n_anchors=20).nodes(X)
    monkeypatch.setattr("graphkm.backends.host.HostBackend.block_rows", size)
    cut = Anchors(n_anchors=20).nodes(X)
    np.testing.assert_allclose(cut.nodes.points, whole.nodes.points, rtol=1e-12)
    np.testing.assert_allclose(
        cut.similarity.toarray(), whole.similarity.toarray(), rtol=1e-6, atol=1e-9
    )


def test_an_anchor_without_rows_stays():
    X = np.array([[0.0], [1.0], [2.0]])
    anchors = np.array([[1.0], [1.0], [50.0]])
    found = moved(anchors, rows_by_anchor(NeighbourIndex(anchors), X))
    np.testing.assert_array_equal(found, anchors)


@pytest.mark.parametrize("part", [KNN(n_neighbors=4), Anchors(n_anchors=15)])
def test_only_some_rows_are_kept(part):
    X, kept = np.vstack([some_rows(), some_rows()[:5]]), np.array([63, 2, 0])
    every, some = part.nodes(X), part.nodes(X, kept)
    np.testing.assert_array_equal(some.rows.toarray(), every.rows[kept].toarray())
    assert (some.similarity != every.similarity).nnz == 0


@pytest.mark.parametrize(
    ("n_anchors", "sharp"),
    [(1, False), (2, False), (3, False), (4, False), (15, False), (11, True), (15, True)],
)
def test_anchors_are_the_formula(monkeypatch, n_anchors, sharp):
    monkeypatch.setattr("graphkm.graphs.anchors.FEW", n_anchors - sharp)
    X = some_rows()
    nodes, similarity, rows, _ = Anchors(n_anchors=n_anchors, passes=1).nodes(X, seed=1)
    drawn = X[literal_draw(len(X), n_anchors, seed=1)]
    own = np.linalg.norm(X[:, None] - drawn[None], axis=2).argmin(axis=1)
    means = np.array([X[own == j].mean(axis=0) for j in range(n_anchors)])
    np.testing.assert_allclose(nodes.points, means)
    between = np.linalg.norm(means[:, None] - means[None], axis=2)
    k = NEAR if sharp else min(JOINED, n_anchors - 1)
    s = np.sort(between, axis=1)[:, k] if n_anchors > 1 else np.ones(1)
    np.testing.assert_allclose(nodes.reach, s)
    Z = shares(X, means, s)
    W = joined(Z)
    if sharp:
        W *= np.exp(-6 * between**2 / (s[:, None] * s[None]))
        Z = sharp_weights(X, means, s)
    np.testing.assert_allclose(rows.toarray(), Z, atol=1e-12)
    degree = np.where(W.sum(axis=1) > 0, W.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        similarity.toarray(), W / np.sqrt(degree[:, None] * degree[None]), atol=1e-6
    )


@pytest.mark.parametrize(("n_anchors", "reached"), [(1000, 3), (1001, 10)])
def test_more_than_1000_anchors_are_sharp(n_anchors, reached):
    X = some_rows(3000)
    for rows in (X, sp.csr_array(X)):
        graph = Anchors(n_anchors=n_anchors).nodes(rows)
        np.testing.assert_array_equal(np.diff(graph.rows.indptr), reached)
        np.testing.assert_allclose(graph.rows.sum(axis=1), 1.0)
        similarity = graph.similarity.toarray()
        np.testing.assert_array_equal(similarity, similarity.T)
        assert (similarity.sum(axis=1) > 0).mean() > 0.99


@pytest.mark.parametrize("part", [KNN(n_neighbors=5), Anchors(n_anchors=15)])
def test_sparse_rows_are_dense_rows(part):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12)) * (rng.random((80, 12)) < 0.4)
    new = rng.normal(size=(9, 12)) * (rng.random((9, 12)) < 0.4)
    dense, sparse = part.nodes(X), part.nodes(sp.csr_array(X))
    np.testing.assert_allclose(sparse.similarity.toarray(), dense.similarity.toarray(), atol=1e-6)
    for rows in (new, sp.csr_array(new)):
        np.testing.assert_allclose(
            sparse.nodes.weights(rows).toarray(), dense.nodes.weights(rows).toarray(), atol=1e-9
        )


@pytest.mark.parametrize("part", [KNN(), Anchors(), KNN(n_neighbors=50), Anchors(n_anchors=50)])
@pytest.mark.parametrize("X", [some_rows(2), some_rows(3), np.ones((2, 1))])
def test_two_or_three_rows(part, X):
    graph = part.nodes(X)
    z = graph.nodes.weights(np.vstack([X, X + 0.1]))
    assert np.isfinite(z.data).all() and np.isfinite(graph.similarity.data).all()
    np.testing.assert_allclose(graph.rows.sum(axis=1), 1.0)


@pytest.mark.parametrize("part", [KNN(n_neighbors=5), Anchors(n_anchors=15)])
@pytest.mark.parametrize("unit", [1e-100, 1e-6, 1e6, 1e100])
def test_units_of_rows_do_not_matter(part, unit):
    X = some_rows()
    one, other = part.nodes(X), part.nodes(unit * X)
    np.testing.assert_allclose(
        other.similarity.toarray(), one.similarity.toarray(), rtol=1e-4, atol=1e-7
    )
    new = some_rows(9, seed=3) * 3
    np.testing.assert_allclose(
        other.nodes.weights(unit * new).toarray(), one.nodes.weights(new).toarray(), atol=1e-9
    )


def test_a_node_whose_edges_are_too_light_has_none():
    """The neighbours of a far row are so close together that its edges underflow."""
    X = np.vstack([1e-3 * some_rows(30), [[1e6, 0.0, 0.0]]])
    similarity = KNN(n_neighbors=3).nodes(X).similarity.toarray()
    assert not similarity[-1].any() and np.isfinite(similarity).all()


def test_float32_rows_give_nearly_the_same():
    X = some_rows()
    one, other = KNN(n_neighbors=5).nodes(X), KNN(n_neighbors=5).nodes(X.astype(np.float32))
    np.testing.assert_allclose(other.similarity.toarray(), one.similarity.toarray(), atol=1e-5)
    np.testing.assert_array_equal(other.nodes.weights(X).toarray(), np.eye(len(X)))


def test_threads_and_seeds():
    X = some_rows(400)
    for part in (KNN(), Anchors()):
        one, two = part.nodes(X, seed=3, n_jobs=1), part.nodes(X, seed=3, n_jobs=2)
        np.testing.assert_array_equal(one.similarity.toarray(), two.similarity.toarray())
    assert (Anchors().nodes(X, seed=4).nodes.points != one.nodes.points).any()


def test_names_of_nodes():
    assert resolve_nodes("knn") == KNN() and resolve_nodes("anchors") == Anchors()
    with pytest.raises(ValueError, match="anchors"):
        resolve_nodes("trees")
    for wrong in ({"n_anchors": 0}, {"passes": -1}, {"n_anchors": "many"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Anchors(**wrong)


def test_faded_only_beyond_twice_the_reach():
    near, exponent = np.zeros((3, 1), int), np.zeros((3, 1))
    z = faded(near, exponent, np.array([3.9, 4.0, 16.0]), np.ones(1))
    np.testing.assert_allclose(z.toarray().ravel(), [1, 1, 0.25])


def test_classes_are_what_parts_make():
    X = some_rows()
    assert isinstance(KNN().nodes(X).nodes, RowNodes)
    assert isinstance(Anchors().nodes(X).nodes, AnchorNodes)
    assert RowNodes.graph(NeighbourIndex(X), 3).nodes.n_neighbors == 3

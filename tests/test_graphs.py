"""Graphs against literal double loops, exact integers and sums over all edges."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import graphkm._util.memory as memory
from flat import build_graph
from graphkm.graphs import (
    BipartiteGraph,
    Edges,
    FullGraph,
    Graph,
    ListedGraph,
    affinity_graph,
    epsilon_graph,
    knn_graph,
    resolve_graph,
)
from graphkm.graphs.full import triangular_pair
from graphkm.graphs.implicit import CandidateSampler
from graphkm.neighbours import distances as distances_module

pytestmark = pytest.mark.filterwarnings("error")

GAMMA = 0.3


def make_data(n=30, d=3, n_labeled=8, seed=0):
    rng = np.random.default_rng(seed)
    labeled = np.zeros(n, dtype=bool)
    labeled[rng.permutation(n)[:n_labeled]] = True
    return rng.normal(size=(n, d)), labeled


def mu(x, y, gamma=GAMMA):
    return math.exp(
        -gamma * math.fsum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=False))
    )


def distance(x, y):
    return math.sqrt(math.fsum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=False)))


def nearest(X, i, k):
    others = [j for j in range(len(X)) if j != i]
    return set(sorted(others, key=lambda j: (distance(X[i], X[j]), j))[:k])


def oracle(kind, X, labeled, *, k=4, radius=1.0):
    """Return {(u, v): mu}, u < v, by a literal double loop."""
    near = [nearest(X, i, k) for i in range(len(X))]
    edges = {}
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            if labeled[i] and labeled[j]:
                continue
            joined = {
                "full": True,
                "bipartite": labeled[i] or labeled[j],
                "knn": j in near[i] or i in near[j],
                "epsilon": distance(X[i], X[j]) <= radius,
            }[kind]
            if joined:
                edges[i, j] = mu(X[i], X[j])
    return edges


def as_dict(edges: Edges):
    """Return {(min, max): weight}; an edge listed twice fails."""
    pairs = [
        (min(a, b), max(a, b)) for a, b in zip(edges.u.tolist(), edges.v.tolist(), strict=False)
    ]
    assert len(set(pairs)) == len(pairs)
    return dict(zip(pairs, edges.weight.tolist(), strict=True))


def assert_same_edges(edges: Edges, expected, rtol=1e-12):
    found = as_dict(edges)
    assert found.keys() == expected.keys()
    for pair, weight in expected.items():
        assert found[pair] == pytest.approx(weight, rel=rtol, abs=1e-300)


def seed(number=0):
    return np.random.SeedSequence(number)


def make_graph(kind, X, labeled, gamma=GAMMA):
    return build_graph(kind, X, labeled, gamma=gamma, n_neighbors=4, radius=1.0)


KINDS = ["full", "bipartite", "knn", "epsilon"]


# ---------------------------------------------------------------- edges


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["dense", "fortran", "csr_matrix", "csr_array", "csr_int64"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_equal_double_loop(kind, form, dtype):
    X, labeled = make_data()
    X = X.astype(dtype)
    X[np.abs(X) < 0.3] = 0
    rows = {
        "dense": lambda: X,
        "fortran": lambda: np.asfortranarray(X),
        "csr_matrix": lambda: sp.csr_matrix(X),
        "csr_array": lambda: sp.csr_array(X),
        "csr_int64": lambda: with_int64_indices(sp.csr_matrix(X)),
    }[form]()
    expected = oracle(kind, X, labeled)
    assert len(expected) > 20
    graph = make_graph(kind, rows, labeled)
    assert type(graph.n_edges) is int
    assert type(graph.n_vertices) is int
    assert (graph.n_vertices, graph.n_edges) == (len(X), len(expected))
    edges = graph.edges()
    assert (edges.u.dtype, edges.v.dtype, edges.weight.dtype) == (np.int64, np.int64, np.float64)
    assert_same_edges(edges, expected)
    assert max(expected.values()) <= graph.max_weight <= 1.0


def with_int64_indices(matrix):
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    assert matrix.indices.dtype == np.int64
    return matrix


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(
    n_l=st.integers(0, 6), n_u=st.integers(1, 9), d=st.integers(1, 20), number=st.integers(0, 99)
)
def test_edges_of_any_shape(kind, n_l, n_u, d, number):
    X, labeled = make_data(n_l + n_u, d, n_l, number)
    expected = oracle(kind, X, labeled)
    if not expected:
        with pytest.raises(ValueError, match=r"edge|radius|neighbour"):
            make_graph(kind, X, labeled)
    else:
        assert_same_edges(make_graph(kind, X, labeled).edges(), expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 7, 10**6])
def test_blocks_are_the_edges_in_order(kind, size):
    graph = make_graph(kind, *make_data())
    blocks = list(graph.edge_blocks(size))
    assert len(blocks) == -(-graph.n_edges // size)
    assert max(len(block.u) for block in blocks) <= size
    for column, parts in zip(graph.edges(), zip(*blocks, strict=True), strict=True):
        np.testing.assert_array_equal(np.concatenate(parts), column)


def test_edges_longer_than_one_block(monkeypatch):
    X, labeled = make_data()
    monkeypatch.setattr("graphkm.graphs.base._BLOCK", 11)
    assert_same_edges(FullGraph(X, labeled, GAMMA).edges(), oracle("full", X, labeled))


@pytest.mark.parametrize("kind", [*KINDS, "precomputed"])
def test_no_unlabelled_row_gives_no_edge(kind):
    X = np.arange(4.0)[:, None]
    affinity = np.ones((4, 4)) if kind == "precomputed" else None
    graph = build_graph(kind, X, np.ones(4, bool), gamma=1.0, radius=2.0, affinity=affinity)
    assert (graph.n_vertices, graph.n_edges) == (4, 0)
    assert [len(column) for column in graph.edges()] == [0, 0, 0]
    assert list(graph.edge_blocks(5)) == []
    for rule in ("uniform", "weight"):
        with pytest.raises(ValueError, match="no edges, so none can be drawn"):
            graph.sampler(rule, seed())


def test_integer_rows_are_taken():
    graph = FullGraph(np.array([[0], [2]]), np.array([True, False]), gamma=0.25)
    assert graph.edges().weight[0] == pytest.approx(math.exp(-1))


def test_rows_are_held_by_reference():
    X, labeled = make_data()
    assert FullGraph(X, labeled, GAMMA).X is X
    sparse = sp.csr_array(X)
    assert FullGraph(sparse, labeled, GAMMA).X is sparse


def test_csr_with_duplicate_entries_is_summed_and_not_changed():
    X = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    graph = FullGraph(X, np.array([True, False]), gamma=0.1)
    assert graph.edges().weight[0] == pytest.approx(math.exp(-0.1 * (9 + 25)))
    assert X.nnz == 3


# ---------------------------------------------------------------- distances


@pytest.mark.parametrize("budget", [1, 5, 64, 2**18])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_dense_and_sparse_in_any_slices(monkeypatch, budget, dtype):
    monkeypatch.setattr(distances_module, "_SLICE", budget)
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(20, 9)) * (rng.random((20, 9)) < 0.4)).astype(dtype)
    X[3] = 0
    u, v = rng.integers(20, size=(2, 200))
    expected = [distance(X[a], X[b]) ** 2 for a, b in zip(u, v, strict=False)]
    for rows in (X, sp.csr_matrix(X), sp.csr_array(X)):
        found = distances_module.squared_distances(rows, u, v)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=0)


def test_distances_do_not_cancel():
    X = np.array([[1e9, 1.0], [1e9 + 1e-3, 1.0]])
    step = float(X[1, 0] - X[0, 0])
    found = distances_module.squared_distances(X, np.array([0]), np.array([1]))
    assert found[0] == pytest.approx(step**2, rel=1e-12)


def test_float32_rows_are_subtracted_in_float64():
    X = np.array([[1.0, 1e-30], [1.0, 3e-30]], dtype=np.float32)
    found = distances_module.squared_distances(X, np.array([0]), np.array([1]))
    assert found[0] == pytest.approx(4e-60, rel=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_overflowing_distances_give_weight_0_and_gamma_0_gives_1(make):
    X = make(np.array([[-1e300], [1e300]]))
    labeled = np.array([True, False])
    assert FullGraph(X, labeled, 1.0).edges().weight[0] == 0.0
    assert FullGraph(X, labeled, 0.0).edges().weight[0] == 1.0


def test_wide_sparse_rows_are_never_made_dense():
    width = 2**40
    X = sp.csr_array(
        (np.array([1.0, 2.0]), np.array([5, width - 1]), np.array([0, 1, 2])), shape=(2, width)
    )
    graph = FullGraph(X, np.array([True, False]), gamma=0.1)
    assert graph.edges().weight[0] == pytest.approx(math.exp(-0.5))


# ---------------------------------------------------------------- decode


@pytest.mark.parametrize("n_l", [0, 1, 2, 5, 11])
@pytest.mark.parametrize("n_u", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("kind", [FullGraph, BipartiteGraph])
def test_decode_is_a_bijection(kind, n_l, n_u):
    X, labeled = make_data(n_l + n_u, 1, n_l)
    pairs = {
        frozenset((i, j))
        for i in range(n_l + n_u)
        for j in range(i)
        if not (labeled[i] and labeled[j]) and (kind is FullGraph or labeled[i] or labeled[j])
    }
    if not pairs:
        with pytest.raises(ValueError, match="has no edge"):
            kind(X, labeled, 1.0)
        return
    graph = kind(X, labeled, 1.0)
    assert graph.n_edges == len(pairs)
    u, v = graph.decode(np.arange(graph.n_edges))
    assert {frozenset(pair) for pair in zip(u.tolist(), v.tolist(), strict=False)} == pairs
    assert (graph.decode(0)[0].item(), graph.decode(0)[1].item()) == (u[0], v[0])


def exact_pair(index):
    b = (1 + math.isqrt(1 + 8 * index)) // 2
    return index - b * (b - 1) // 2, b


@pytest.mark.parametrize("n", [10**7, 3 * 10**9])
def test_triangular_decode_is_exact_for_many_rows(n):
    last = n * (n - 1) // 2 - 1
    rng = np.random.default_rng(0)
    rows = [2, 3, n - 2, n - 1, *rng.integers(1, n, size=3000).tolist()]
    starts = [b * (b - 1) // 2 for b in rows]
    around = [s + e for s in starts for e in (-2, -1, 0, 1, 2) if 0 <= s + e <= last]
    index = [0, 1, last, *around, *rng.integers(last, size=3000).tolist()]
    a, b = triangular_pair(np.array(index, dtype=np.int64))
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [exact_pair(k) for k in index]
    assert b.max() == n - 1


def test_decode_at_ten_million_rows():
    n, n_l = 10**7, 12345
    labeled = np.zeros(n, dtype=bool)
    labeled[:n_l] = True
    n_u = n - n_l
    graph = FullGraph(np.zeros((n, 1), np.float32), labeled, 1.0)
    assert graph.n_edges == n_l * n_u + n_u * (n_u - 1) // 2
    mixed = n_l * n_u
    index = [0, n_u - 1, n_u, mixed - 1, mixed, mixed + 1, graph.n_edges - 1]
    expected = []
    for k in index:
        if k < mixed:
            expected.append((k // n_u, n_l + k % n_u))
        else:
            a, b = exact_pair(k - mixed)
            expected.append((n_l + a, n_l + b))
    u, v = graph.decode(index)
    assert list(zip(u.tolist(), v.tolist(), strict=True)) == expected
    assert expected[-1] == (n - 2, n - 1)


@pytest.mark.parametrize("index", [[-1], [3], [0, 10**12]])
def test_decode_out_of_range(index):
    graph = FullGraph(np.zeros((3, 1)), np.zeros(3, bool), 1.0)
    with pytest.raises(IndexError, match="pass numbers from 0 to 2"):
        graph.decode(index)


# ---------------------------------------------------------------- sampling


def graphs_to_sample():
    X, labeled = make_data(12, 2, 4)
    for kind in KINDS:
        yield pytest.param(make_graph(kind, X, labeled, gamma=0.25), id=kind)
    yield pytest.param(make_graph("full", sp.csr_array(X), labeled, gamma=0.25), id="full-csr")
    weights = np.array([0.0, 5.0, 0.1, 0.0, 2.0])
    yield pytest.param(ListedGraph(6, [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], weights), id="heavy")


def test_uniform_rule_is_the_mean_over_all_edge_numbers():
    """Exact: the draws are take(index) for uniform index, whose mean is the required one."""
    graph = make_graph("full", *make_data(12, 2, 4))
    drawn = graph.sampler("uniform", seed(3)).draw(4000)
    known = as_dict(graph.edges())
    pairs = [
        (min(a, b), max(a, b)) for a, b in zip(drawn.u.tolist(), drawn.v.tolist(), strict=False)
    ]
    assert set(pairs) == known.keys()
    assert [known[pair] for pair in pairs] == drawn.weight.tolist()


@pytest.mark.parametrize("rule", ["uniform", "weight"])
@pytest.mark.parametrize("graph", list(graphs_to_sample()))
def test_draws_are_unbiased_edge_by_edge(graph, rule):
    """E[factor 1{edge = e}] = mu_e / |E| for each e, which gives every g: z-tests.

    With M candidates E[factor^2 1{edge = e}] = mu_e (mu_e + (M - 1) mean mu) / (M |E|); M = 1 is
    the uniform rule, M infinite the cumulative one. So sigma is exact, not estimated.
    """
    size = 40_000
    drawn = graph.sampler(rule, seed(5)).draw(size)
    low, high = np.minimum(drawn.u, drawn.v), np.maximum(drawn.u, drawn.v)
    edges = as_dict(graph.edges())
    mean = math.fsum(edges.values()) / len(edges)
    few = {"uniform": 1.0, "weight": 0.0 if isinstance(graph, ListedGraph) else 1 / 32}[rule]
    for (a, b), weight in edges.items():
        expected = weight / len(edges)
        second = weight * (few * weight + (1 - few) * mean) / len(edges)
        if weight > 0:  # the normal law needs some hits
            assert size * expected**2 / second > 25
        values = drawn.weight * ((low == a) & (high == b))
        sigma = math.sqrt((second - expected**2) / size)
        assert abs(values.mean() - expected) <= 5 * sigma + 1e-15


@pytest.mark.dear
@pytest.mark.parametrize("size", [1, 2, 32])
def test_candidates_are_unbiased_for_any_number_of_them(size):
    class Few(CandidateSampler):
        M = size

    X, labeled = make_data(10, 2, 3)
    graph = FullGraph(X, labeled, gamma=3.0)
    edges = graph.edges()
    # Not a function of the edge number alone, signed, and far from constant.
    g = np.random.default_rng(0).normal(size=(10, 10))
    exact = np.mean(edges.weight * g[edges.u, edges.v])
    drawn = Few(graph, seed(11)).draw(200_000)
    values = drawn.weight * g[drawn.u, drawn.v]
    assert abs(values.mean() - exact) <= 5 * values.std() / math.sqrt(len(values))
    assert values.std() / math.sqrt(len(values)) < 0.1 * abs(exact)


def test_candidate_choice_integrates_exactly():
    """All pairs of candidates, and the choice's intervals, in exact fractions: no luck."""
    weights = [Fraction(0), Fraction(1, 8), Fraction(1, 2), Fraction(1)]
    graph = ListedGraph(5, [0, 1, 2, 3], [1, 2, 3, 4], [float(w) for w in weights])

    class Two(CandidateSampler):
        M = 2

    levels = 720  # a multiple of every denominator of mu_1 / (mu_1 + mu_2): 9, 5, 3, 2

    class Levels:
        def random(self, size):
            return (np.arange(size) + 0.5) / levels

    class Index:
        def __init__(self, *candidates):
            self.candidates = candidates

        def integers(self, high, size):
            assert high == 4
            return np.tile(self.candidates, size // 2)

    sums = [Fraction(0)] * 4
    for first, second in itertools.product(range(4), repeat=2):
        sampler = Two(graph, seed())
        sampler._index, sampler._choice = Index(first, second), Levels()
        drawn = sampler.draw(levels)
        for k, factor in zip(drawn.u.tolist(), drawn.weight.tolist(), strict=True):
            sums[k] += Fraction(factor) / (levels * 16)
    assert sums == [w / 4 for w in weights]


def test_heavy_edges_are_preferred():
    X, labeled = make_data(200, 6, 20)
    graph = FullGraph(X, labeled, gamma=2.0)
    uniform = graph.sampler("uniform", seed()).draw(5000)
    heavy = graph.sampler("weight", seed()).draw(5000)
    assert heavy.weight.std() < 0.3 * uniform.weight.std()


def test_all_weights_zero_draws_factor_zero():
    X, labeled = np.array([[0.0], [1e6], [3e6]]), np.array([True, False, False])
    listed = ListedGraph(3, [0, 1], [1, 2], [0.0, 0.0])
    for graph in (FullGraph(X, labeled, 1.0), listed):
        for rule in ("uniform", "weight"):
            drawn = graph.sampler(rule, seed()).draw(10)
            assert drawn.weight.tolist() == [0.0] * 10
            assert set(zip(drawn.u.tolist(), drawn.v.tolist(), strict=False)) <= {
                (0, 1),
                (0, 2),
                (1, 2),
            }


@pytest.mark.parametrize("total", [1.0, 0.3, 5e-324, 1e300])
@pytest.mark.parametrize(("number", "heavy"), [(1 - 2**-53, 0), (0.0, 1)])
def test_no_random_number_draws_a_weightless_edge(number, heavy, total):
    class Fixed:
        def random(self, size):
            return np.full(size, number)

    graph = ListedGraph(3, [0, 1], [1, 2], np.where(np.arange(2) == heavy, total, 0.0))
    sampler = graph.sampler("weight", seed())
    sampler._choice = Fixed()
    assert sampler.draw(1).u.tolist() == [heavy]
    sampler = CandidateSampler(graph, seed())
    sampler._choice = Fixed()
    drawn = sampler.draw(20)
    assert drawn.u.tolist() == [heavy] * 20


@pytest.mark.parametrize("rule", ["uniform", "weight"])
@pytest.mark.parametrize("graph", list(graphs_to_sample()))
@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 9), min_size=1, max_size=6), number=st.integers(0, 5))
def test_draws_do_not_depend_on_the_cuts(graph, rule, cuts, number):
    whole = graph.sampler(rule, seed(number)).draw(sum(cuts))
    sampler = graph.sampler(rule, seed(number))
    parts = [sampler.draw(size) for size in cuts]
    assert [len(part.u) for part in parts] == cuts
    for column, pieces in zip(whole, zip(*parts, strict=True), strict=True):
        assert column.dtype == np.concatenate(pieces).dtype
        np.testing.assert_array_equal(np.concatenate(pieces), column)


@pytest.mark.dear
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("d", [1, 7, 300, 4096, 4097, 9000, 20000])
def test_cuts_do_not_change_one_bit_of_wide_rows(sparse, d):
    X, labeled = make_data(40, d, 5)
    graph = FullGraph(sp.csr_array(X) if sparse else X.astype(np.float32), labeled, 0.5 / d)
    for rule in ("uniform", "weight"):
        whole = graph.sampler(rule, seed()).draw(40)
        sampler = graph.sampler(rule, seed())
        pieces = np.concatenate([sampler.draw(size).weight for size in (1, 12, 2, 25)])
        np.testing.assert_array_equal(pieces, whole.weight)


def test_long_weighted_draw_equals_short_ones():
    graph = FullGraph(*make_data(20, 2, 4), 1.0)
    sampler = graph.sampler("weight", seed())
    parts = [sampler.draw(size) for size in (1, 4095, 4096, 1808)]
    whole = graph.sampler("weight", seed()).draw(10_000)
    for column, pieces in zip(whole, zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(np.concatenate(pieces), column)


def test_cuts_with_more_than_2_to_the_32_edges():
    labeled = np.zeros(10**5, dtype=bool)
    graph = FullGraph(np.zeros((10**5, 1), np.float32), labeled, 1.0)
    assert graph.n_edges > 2**32
    sampler = graph.sampler("uniform", seed())
    parts = np.concatenate([sampler.draw(3).v, sampler.draw(6).v])
    np.testing.assert_array_equal(parts, graph.sampler("uniform", seed()).draw(9).v)


@pytest.mark.parametrize("rule", ["uniform", "weight"])
def test_seed_alone_decides_and_is_left_alone(rule):
    graph = FullGraph(*make_data(), GAMMA)
    source = seed(1)
    first = graph.sampler(rule, source).draw(50)
    again = graph.sampler(rule, source).draw(50)
    np.testing.assert_array_equal(first.v, again.v)
    assert source.n_children_spawned == 0
    for other in (seed(2), seed(1).spawn(1)[0]):
        assert (graph.sampler(rule, other).draw(50).v != first.v).any()


def test_unknown_rule():
    with pytest.raises(ValueError, match="'best'; pass 'uniform' or 'weight'"):
        FullGraph(*make_data(), GAMMA).sampler("best", seed())


# ---------------------------------------------------------------- listed graphs


def test_components_against_search():
    rng = np.random.default_rng(4)
    n, u, v = 40, *np.unique(np.sort(rng.integers(40, size=(30, 2)), axis=1), axis=0).T
    u, v = u[u != v], v[u != v]
    weight = rng.random(len(u)) + 0.1
    weight[::7] = 0.0
    neighbours = {i: set() for i in range(n)}
    for a, b, w in zip(u.tolist(), v.tolist(), weight, strict=False):
        if w > 0:
            neighbours[a].add(b)
            neighbours[b].add(a)
    components, seen = [], set()
    for i in range(n):
        if i not in seen:
            component, stack = set(), [i]
            while stack:
                j = stack.pop()
                if j not in component:
                    component.add(j)
                    stack.extend(neighbours[j])
            components.append(frozenset(component))
            seen |= component
    graph = ListedGraph(n, u, v, weight)
    count, labels = graph.components()
    assert count == len(components)
    assert {frozenset(np.flatnonzero(labels == c).tolist()) for c in range(count)} == set(
        components
    )
    labeled = rng.random(n) < 0.15
    lonely = [c for c in components if not any(labeled[i] for i in c)]
    assert 0 < len(lonely) < count
    assert graph.unlabeled_components(labeled) == (len(lonely), sum(map(len, lonely)))


def test_to_sparse_is_symmetric_and_complete():
    graph = make_graph("knn", *make_data())
    matrix = graph.to_sparse()
    assert matrix.format == "csr"
    dense = np.zeros((30, 30))
    for (a, b), weight in as_dict(graph.edges()).items():
        dense[a, b] = dense[b, a] = weight
    np.testing.assert_array_equal(matrix.toarray(), dense)


@pytest.mark.parametrize(
    ("u", "v", "weight", "message"),
    [
        ([0, 1], [1], [1.0], "shapes (2,), (1,) and (1,)"),
        ([[0]], [[1]], [[1.0]], "1-dimensional"),
        ([0], [3], [1.0], "run from 0 to 3; pass vertices from 0 to 2"),
        ([-1], [2], [1.0], "run from -1 to 2"),
        ([2], [2], [1.0], "vertex 2 has an edge to itself"),
        ([0], [1], [-0.5], "the first is -0.5"),
        ([0], [1], [np.nan], "the first is nan"),
        ([0], [1], [np.inf], "the first is inf"),
        ([0, 1, 1], [1, 2, 0], [1.0, 1.0, 1.0], "(0, 1) is listed more than once"),
    ],
)
def test_listed_errors(u, v, weight, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ListedGraph(3, u, v, weight)


def test_listed_edges_need_no_order():
    graph = ListedGraph(3, [2, 1], [0, 0], [0.5, 2.0])
    assert as_dict(graph.edges()) == {(0, 2): 0.5, (0, 1): 2.0}
    assert graph.max_weight == 2.0


# ---------------------------------------------------------------- neighbours


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("d", [2, 20])
def test_knn_with_more_duplicates_than_neighbours(sparse, d):
    X = np.repeat(np.array([np.zeros(d), np.full(d, 9.0)]), 8, axis=0)
    labeled = np.arange(16) % 4 == 0
    graph = knn_graph(sp.csr_array(X) if sparse else X, labeled, n_neighbors=3, gamma=1.0)
    u, v, weight = graph.edges()
    assert (u < v).all()
    assert not (labeled[u] & labeled[v]).any()
    assert weight.tolist() == [1.0] * len(weight)
    degree = np.bincount(np.concatenate([u, v]), minlength=16)
    assert (degree[~labeled] >= 3).all()


@pytest.mark.parametrize("k", [29, 30, 1000])
def test_knn_with_k_at_least_n_is_the_full_graph(k):
    X, labeled = make_data()
    assert_same_edges(knn_graph(X, labeled, k, GAMMA).edges(), oracle("full", X, labeled))


def test_knn_far_from_the_origin():
    X, labeled = make_data(60, 20)
    X += 1e8
    assert_same_edges(knn_graph(X, labeled, 4, GAMMA).edges(), oracle("knn", X, labeled))
    near = oracle("epsilon", X, labeled, radius=5.0)
    assert 10 < len(near) < 1000
    assert_same_edges(epsilon_graph(X, labeled, 5.0, GAMMA).edges(), near)


@pytest.mark.parametrize("n", [600, 2500])
def test_knn_ties_do_not_depend_on_threads(n):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(n, 18)).astype(float)
    labeled = rng.random(n) < 0.1
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads, user_api="openmp"):
            found.append(knn_graph(X, labeled, 5, GAMMA, n_jobs=threads).edges())
    for other in found[1:]:
        np.testing.assert_array_equal(other.u, found[0].u)
        np.testing.assert_array_equal(other.v, found[0].v)


def test_epsilon_keeps_pairs_at_exactly_the_radius():
    X = np.stack(np.meshgrid(np.arange(6.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    labeled = np.arange(30) < 3
    wide = np.hstack([X, np.zeros((30, 20))])
    for rows in (X, X.astype(np.float32), sp.csr_array(wide), wide):
        graph = epsilon_graph(rows, labeled, radius=1.0, gamma=1.0)
        assert graph.n_edges == 5 * 5 + 6 * 4 - 2  # grid edges less two labelled-labelled ones


def test_epsilon_in_several_chunks_and_from_a_sample(monkeypatch):
    X, labeled = make_data(700, 2, 50)
    monkeypatch.setattr("graphkm.graphs.neighbors._SAMPLE", 5000)
    graph = epsilon_graph(X, labeled, 2.0, GAMMA)
    d = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    joined = np.triu((d <= 2.0) & ~(labeled[:, None] & labeled), k=1)
    u, v, _ = graph.edges()
    np.testing.assert_array_equal(np.stack([u, v]), np.nonzero(joined))


def test_epsilon_without_edges_says_how_far_the_points_are():
    X = np.array([[0.0], [0.0], [3.0], [7.0]])
    labeled = np.array([True, True, False, False])
    with pytest.raises(ValueError, match=r"of the 4 points.*radius=0\.5.*sampled pairs is 3\b"):
        epsilon_graph(X, labeled, 0.5, 1.0)


@pytest.mark.parametrize("kind", ["full", "bipartite", "knn", "epsilon"])
def test_a_single_unlabelled_row(kind):
    with pytest.raises(ValueError, match="at least"):
        make_graph(kind, np.zeros((1, 2)), np.array([False]))


def test_bipartite_without_labels():
    with pytest.raises(ValueError, match=r"0 labelled and 3 unlabelled.*one labelled row"):
        BipartiteGraph(np.zeros((3, 1)), np.zeros(3, bool), 1.0)


# ---------------------------------------------------------------- affinities


def make_affinity(seed=2, n=15):
    rng = np.random.default_rng(seed)
    W = rng.random((n, n)) * 3
    W[rng.random((n, n)) < 0.6] = 0.0
    return W, rng.random(n) < 0.4


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.ndarray.tolist,
        sp.csr_matrix,
        sp.csc_array,
        sp.coo_array,
        sp.lil_matrix,
        lambda W: with_int64_indices(sp.csr_matrix(W)),
    ],
)
def test_affinity_equals_double_loop(make):
    W, labeled = make_affinity()
    expected = {
        (i, j): max(W[i, j], W[j, i])
        for i in range(15)
        for j in range(i + 1, 15)
        if max(W[i, j], W[j, i]) > 0 and not (labeled[i] and labeled[j])
    }
    graph = affinity_graph(make(W), labeled, 15)
    assert as_dict(graph.edges()) == expected
    assert graph.max_weight == max(expected.values()) > 1


def test_affinity_drops_explicit_zeros_sums_duplicates_and_is_not_changed():
    W = sp.csr_array((np.array([0.0, 1.0, 2.0]), np.array([1, 2, 2]), np.array([0, 1, 3, 3])))
    before = W.copy()
    graph = affinity_graph(W, np.array([True, False, False]), 3)
    assert as_dict(graph.edges()) == {(1, 2): 3.0}
    assert W.nnz == 3
    np.testing.assert_array_equal(W.data, before.data)


@pytest.mark.parametrize("dtype", [bool, np.int32, np.float32])
def test_affinity_of_other_dtypes(dtype):
    W = np.array([[0, 1], [0, 0]], dtype=dtype)
    graph = affinity_graph(sp.csr_array(W), np.array([True, False]), 2)
    assert as_dict(graph.edges()) == {(0, 1): 1.0}


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-0.5, "2 weights of edges are negative; the first is -0.5, from 1 to 2"),
        (np.nan, "2 weights of edges are not finite; the first is nan, from 1 to 2"),
        (np.inf, "2 weights of edges are not finite; the first is inf, from 1 to 2"),
    ],
)
def test_affinity_bad_weights(make, value, message):
    W = np.ones((4, 4))
    W[1, 2] = W[3, 0] = value
    with pytest.raises(ValueError, match=re.escape(message)):
        affinity_graph(make(W), np.zeros(4, bool), 4)


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((3, 4)), r"affinity has shape \(3, 4\), and \(4, 4\) is needed: a row for each"),
        (sp.csr_array((3, 3)), r"affinity has shape \(3, 3\), and \(4, 4\) is needed: a row for"),
        (
            np.ones(4),
            r"affinity of shape \(4,\) is no graph; pass a matrix with a row and a column",
        ),
        (1.0, r"affinity of shape \(\) is no graph; pass a matrix with a row and a column"),
    ],
)
def test_affinity_bad_shape(W, message):
    with pytest.raises(ValueError, match=message):
        affinity_graph(W, np.zeros(4, bool), 4)


@pytest.mark.parametrize("dtype", [complex, object])
def test_affinity_bad_dtype(dtype):
    with pytest.raises(TypeError, match="pass real numbers"):
        affinity_graph(np.ones((2, 2), dtype=dtype), np.zeros(2, bool), 2)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_affinity_with_nothing_left(make):
    W = np.eye(4)
    W[0, 1] = W[1, 0] = 1.0
    labeled = np.array([True, True, False, False])
    with pytest.raises(ValueError, match="joins none of the 2 unlabelled rows"):
        affinity_graph(make(W), labeled, 4)


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf, "scale", None, True])
def test_bad_gamma(kind, gamma):
    X, labeled = make_data()
    graphs = {
        "full": lambda: FullGraph(X, labeled, gamma),
        "bipartite": lambda: BipartiteGraph(X, labeled, gamma),
        "knn": lambda: knn_graph(X, labeled, 4, gamma),
        "epsilon": lambda: epsilon_graph(X, labeled, 1.0, gamma),
    }
    with pytest.raises(ValueError, match=r"gamma=.* pass a finite number >= 0"):
        graphs[kind]()
    with pytest.raises(ValueError, match=r"weights must be .*a finite number >= 0, got "):
        make_graph(kind, X, labeled, gamma=gamma)


@pytest.mark.parametrize("kind", [*KINDS, "precomputed"])
def test_bad_labeled(kind):
    X, labeled = make_data()
    affinity = np.ones((30, 30)) if kind == "precomputed" else None
    for bad, error, message in (
        (labeled.astype(int), TypeError, "dtype int64; pass a boolean mask"),
        (labeled[1:], ValueError, r"shape \(29,\); pass one boolean for each of the 30 rows"),
        (labeled[:, None], ValueError, r"shape \(30, 1\)"),
    ):
        with pytest.raises(error, match=message):
            build_graph(kind, X, bad, gamma=1.0, radius=1.0, affinity=affinity)


@pytest.mark.parametrize("n_neighbors", [0, -3, 2.5, "5", None])
def test_bad_n_neighbors(n_neighbors):
    with pytest.raises(ValueError, match=r"n_neighbors=.* pass a whole number >= 1"):
        knn_graph(*make_data(), n_neighbors, 1.0)


@pytest.mark.parametrize("radius", [0, -1.0, np.nan, np.inf, "1"])
def test_bad_radius(radius):
    with pytest.raises(ValueError, match=r"radius=.* pass a finite number > 0"):
        epsilon_graph(*make_data(), radius, 1.0)


def test_bad_rows():
    with pytest.raises(ValueError, match=r"X has shape \(3,\); pass a 2-dimensional array"):
        FullGraph(np.zeros(3), np.zeros(3, bool), 1.0)


def test_bad_block_size():
    with pytest.raises(ValueError, match="size=0 edges per block"):
        next(FullGraph(*make_data(), 1.0).edge_blocks(0))


def test_kinds():
    X, labeled = make_data()
    W = np.ones((30, 30))
    made = {
        "full": FullGraph,
        "bipartite": BipartiteGraph,
        "knn": ListedGraph,
        "epsilon": ListedGraph,
        "precomputed": ListedGraph,
    }
    for kind, cls in made.items():
        affinity = W if kind == "precomputed" else None
        graph = build_graph(kind, X, labeled, gamma=1.0, radius=1.0, affinity=affinity)
        assert type(graph) is cls
        assert isinstance(graph, Graph)
        assert repr(graph) == f"{cls.__name__}(n_vertices=30, n_edges={graph.n_edges})"


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (
            "dense",
            {},
            "'knn', 'full', 'bipartite', or one of KNN(...), Full(",
        ),
        ("anchors", {}, "only SemiSupervisedClassifier and SemiSupervisedRegressor take it"),
        ("precomputed", {}, "fit(X, y, affinity=...)"),
        ("full", {"affinity": np.ones((30, 30))}, "Full takes no affinity"),
        ("bipartite", {"affinity": np.ones((30, 30))}, "Bipartite takes no affinity"),
        ("knn", {"affinity": np.ones((30, 30))}, "KNN takes no affinity"),
        ("epsilon", {"affinity": np.ones((30, 30)), "radius": 1}, "Epsilon takes no affinity"),
    ],
)
def test_build_errors(kind, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        build_graph(kind, *make_data(), gamma=1.0, **options)


def test_epsilon_needs_a_distance():
    with pytest.raises(ValueError, match=re.escape("pass graph=Epsilon(radius=...)")):
        resolve_graph("epsilon")


# ---------------------------------------------------------------- memory


def test_implicit_edges_ask_for_memory_first(monkeypatch):
    graph = FullGraph(np.zeros((10**5, 1), np.float32), np.zeros(10**5, bool), 1.0)
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    need = 24 * (10**5 * (10**5 - 1) // 2) / 2**30
    message = rf"4,999,950,000 edges of FullGraph needs about {need:.1f} GiB, but only 1\.0 GiB"
    with pytest.raises(MemoryError, match=message) as caught:
        graph.edges()
    assert "edge_blocks" in str(caught.value)


def test_enough_or_unknown_memory_is_no_error(monkeypatch):
    graph = FullGraph(*make_data(), GAMMA)
    for free in (24 * graph.n_edges, None):
        monkeypatch.setattr(memory, "available_memory", lambda free=free: free)
        assert len(graph.edges().u) == graph.n_edges
    monkeypatch.setattr(memory, "_NEGLIGIBLE", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 24 * graph.n_edges - 1)
    with pytest.raises(MemoryError, match="MiB"):
        graph.edges()


def test_blocks_need_no_memory_check(monkeypatch):
    monkeypatch.setattr(memory, "_NEGLIGIBLE", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 0)
    graph = FullGraph(*make_data(), GAMMA)
    assert sum(len(block.u) for block in graph.edge_blocks(50)) == graph.n_edges


def test_neighbour_graphs_ask_for_memory_first(monkeypatch):
    X, labeled = make_data(500, 2, 20)
    monkeypatch.setattr(memory, "_NEGLIGIBLE", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"500 rows with 7 neighbours.*smaller n_neighbors"):
        knn_graph(X, labeled, 7, 1.0)
    with pytest.raises(MemoryError, match=r"500 rows with about ([\d,]+) edges") as caught:
        epsilon_graph(X, labeled, 1.0, 1.0)
    expected = int(re.search(r"about ([\d,]+) edges", str(caught.value))[1].replace(",", ""))
    monkeypatch.undo()
    assert expected == pytest.approx(epsilon_graph(X, labeled, 1.0, 1.0).n_edges, abs=1)


def test_epsilon_estimate_from_a_sample(monkeypatch):
    X, labeled = make_data(500, 2, 20)
    n_edges = epsilon_graph(X, labeled, 1.0, 1.0).n_edges
    monkeypatch.setattr("graphkm.graphs.neighbors._SAMPLE", 20_000)
    monkeypatch.setattr(memory, "_NEGLIGIBLE", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError) as caught:
        epsilon_graph(X, labeled, 1.0, 1.0)
    expected = int(re.search(r"about ([\d,]+) edges", str(caught.value))[1].replace(",", ""))
    assert expected == pytest.approx(n_edges, rel=0.1)


def test_available_memory_is_the_smallest_limit(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_system_memory", lambda: 10_000)
    assert memory.available_memory() == 10_000
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("6000\n")
    assert memory.available_memory() == 10_000
    (tmp_path / "memory.max").write_text("9000\n")
    assert memory.available_memory() == 3000
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 1500\n")
    assert memory.available_memory() == 4500
    (tmp_path / "memory.max").write_text("100\n")
    assert memory.available_memory() == 0
    monkeypatch.setattr(memory, "_system_memory", lambda: None)
    (tmp_path / "memory.max").unlink()
    assert memory.available_memory() is None


def test_old_style_groups_limit_memory_too(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(memory, "_system_memory", lambda: 10_000)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("5000\n")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("1000\n")
    assert memory.available_memory() == 4000

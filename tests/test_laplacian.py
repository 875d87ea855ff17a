"""Laplacians against dense formulas, and the bandwidth "spread" against its definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

import graphkm._util.memory as memory
from flat import build_graph
from graphkm import GKMClassifier
from graphkm._util import spread as _spread
from graphkm.graphs import Edges, ListedGraph
from graphkm.graphs import laplacian as laplacian_module
from graphkm.graphs.laplacian import edge_laplacian, laplacian_matrix, power_form, vertex_scales
from graphkm.kernels import resolve_gamma
from oracles import GRAPHS, dense_laplacian, make_case, scales


def dense(L):
    return L.toarray() if sp.issparse(L) else L


def adjacency(graph):
    """Return W with W_uv = W_vu = mu_uv."""
    W = np.zeros((graph.n_vertices,) * 2)
    for u, v, weight in zip(*graph.edges(), strict=True):
        W[u, v] = W[v, u] = weight
    return W


@pytest.mark.dear
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("kind", GRAPHS)
def test_matrix(kind, normalized):
    case = make_case(kind=kind, normalized=normalized)
    graph = case.objective.graph
    L = laplacian_matrix(graph, normalized=normalized)
    assert sp.issparse(L) == (kind in ("knn", "epsilon", "precomputed"))
    np.testing.assert_allclose(dense(L), dense_laplacian(case.problem), atol=1e-14)
    np.testing.assert_allclose(
        vertex_scales(graph, normalized=normalized), scales(case.problem), rtol=1e-13
    )
    W = adjacency(graph)
    degree = W.sum(axis=1)
    expected = np.diag(degree) - W
    if normalized:  # a vertex without edges has a row of zeros
        root = np.divide(1, np.sqrt(degree), out=np.zeros(24), where=degree > 0)
        expected = np.diag((degree > 0) * 1.0) - root[:, None] * W * root
    np.testing.assert_allclose(dense(L), expected, atol=1e-14)
    assert np.linalg.eigvalsh(expected)[0] > -1e-12


@pytest.mark.parametrize("kind", ["full", "bipartite", "knn"])
def test_cuts_of_the_edges_do_not_matter(kind, monkeypatch):
    graph = make_case(kind=kind).objective.graph
    whole = dense(laplacian_matrix(graph, normalized=True))
    monkeypatch.setattr(laplacian_module, "_EDGES", 7)
    np.testing.assert_allclose(dense(laplacian_matrix(graph, normalized=True)), whole, atol=1e-15)


@pytest.mark.parametrize("normalized", [False, True])
def test_quadratic_form_is_the_sum_over_edges(normalized):
    graph = make_case(kind="knn").objective.graph
    s = vertex_scales(graph, normalized=normalized)
    f = np.random.default_rng(0).normal(size=(24, 3))
    u, v, weight = graph.edges()
    gaps = s[u, None] * f[u] - s[v, None] * f[v]
    found = power_form(laplacian_matrix(graph, normalized=normalized), 1, f)
    np.testing.assert_allclose(found, weight @ gaps**2, rtol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["full", "knn"])
def test_powers(kind, degree):
    L = laplacian_matrix(make_case(kind=kind).objective.graph, normalized=True)
    f = np.random.default_rng(0).normal(size=(24, 2))
    expected = np.einsum("ir,ij,jr->r", f, np.linalg.matrix_power(dense(L), degree), f)
    np.testing.assert_allclose(power_form(L, degree, f), expected, rtol=1e-10)


def test_constants_cost_nothing_and_lonely_vertices_neither():
    graph = ListedGraph(5, [0, 1], [1, 2], [0.5, 2.0])
    L = dense(laplacian_matrix(graph))
    np.testing.assert_array_equal(L @ np.ones(5), np.zeros(5))
    N = dense(laplacian_matrix(graph, normalized=True))
    degree = np.array([0.5, 2.5, 2.0, 0.0, 0.0])
    np.testing.assert_allclose(N @ np.sqrt(degree), np.zeros(5), atol=1e-15)
    assert (N[3:] == 0).all() and np.allclose(N[:3].diagonal(), 1)


def test_reweighted_edges():
    edges = Edges(np.array([0, 1]), np.array([1, 2]), np.array([2.0, 3.0]))
    L = edge_laplacian(edges, np.array([1.0, 2.0, 0.5])).toarray()
    b = np.array([[1.0, -2.0, 0.0], [0.0, 2.0, -0.5]])
    np.testing.assert_allclose(L, 2 * np.outer(b[0], b[0]) + 3 * np.outer(b[1], b[1]))


def test_memory_of_a_dense_laplacian(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**25)
    X = np.zeros((3000, 1))
    graph = build_graph("full", X, np.zeros(3000, bool), gamma=1.0)
    with pytest.raises(MemoryError, match=r"FullGraph of 3,000 rows.*'knn'"):
        laplacian_matrix(graph)


# ---------------------------------------------------------------- gamma="spread"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("storage", [np.asarray, np.asfortranarray, sp.csr_array, sp.csr_matrix])
def test_spread_is_the_sum_of_variances(storage, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(50, 7)) * np.arange(1, 8) + 3.0) * (rng.random((50, 7)) < 0.6)
    X = X.astype(dtype)
    expected = 1 / X.astype(float).var(axis=0).sum()
    rtol = 1e-5 if dtype == np.float32 else 1e-12
    assert resolve_gamma("spread", storage(X)) == pytest.approx(expected, rel=rtol)
    # Twice one over the mean squared distance of two rows, each with itself counted.
    mean = 2 * (pdist(X.astype(float)) ** 2).sum() / 50**2
    assert expected == pytest.approx(2 / mean)
    monkeypatch.setattr(_spread, "_BLOCK", 20)  # entries looked at together
    assert resolve_gamma("spread", storage(X)) == pytest.approx(expected, rel=rtol)


def test_spread_of_standardised_columns_is_scale_and_auto():
    X = np.random.default_rng(0).normal(size=(200, 5))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for word in ("spread", "scale", "auto"):
        assert resolve_gamma(word, X) == pytest.approx(0.2)


def test_spread_does_not_see_a_shift():
    X = np.random.default_rng(0).normal(size=(100, 3))
    shifted = X + np.array([1e6, -1e7, 0.0])
    assert resolve_gamma("spread", shifted) == pytest.approx(resolve_gamma("spread", X), rel=1e-8)
    assert resolve_gamma("scale", shifted) < 1e-3 * resolve_gamma("scale", X)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e8, -3.3e-7])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_spread_of_constant_rows_is_one(storage, value):
    assert resolve_gamma("spread", storage(np.full((30, 4), value))) == 1.0
    assert resolve_gamma("spread", storage(np.full((1, 4), value))) == 1.0


def test_estimators_use_it(two):
    clf = GKMClassifier(C_graph=1.0).fit(two.X, two.y)
    assert clf.kernel_.gamma == pytest.approx(1 / two.X.var(axis=0).sum())
    with pytest.raises(ValueError, match="'spread', 'scale', 'auto'"):
        resolve_gamma("wide", two.X)

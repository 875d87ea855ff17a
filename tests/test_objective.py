"""J(w) of the library against the same sums by double loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphkm import objective as objective_module
from oracles import GRAPHS, KERNELS, LOSSES, J, make_case


def coefficients(case, scale=0.4, seed=1):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(len(case.problem.K), case.objective.n_outputs))


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("kind", [*GRAPHS, None])
@pytest.mark.parametrize("loss", LOSSES)
def test_value_is_the_double_loop(loss, kind, p):
    case = make_case(loss, p, kind, C=(0.3, 2.0), C_graph=(0.5, 0.1))
    a = coefficients(case)
    expected = J(case.problem, a)
    found = case.objective.value(case.expansion(a))
    assert found.shape == (2,)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    if kind is not None:  # the graph is a visible part of it
        bare = replace(case.objective, graph=None).value(case.expansion(a))
        assert (found > bare * 1.001).all()


@pytest.mark.parametrize(
    ("p", "degree"), [(1.0, 1), (1.5, 1), (2.0, 1), (2.0, 2), (2.0, 3), (2.0, 4), (3.0, 1)]
)
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("kind", GRAPHS)
def test_value_with_other_laplacians(kind, normalized, p, degree):
    case = make_case(
        "hinge", p, kind, C=(0.3, 2.0), C_graph=(0.5, 0.1), normalized=normalized, degree=degree
    )
    a = coefficients(case)
    found = case.objective.value(case.expansion(a))
    np.testing.assert_allclose(found, J(case.problem, a), rtol=1e-10)
    bare = replace(case.objective, graph=None).value(case.expansion(a))
    assert (found > bare * 1.0001).all()


def test_factor_of_the_graph():
    objective = make_case(kind="knn", C_graph=(0.5, 0.0)).objective
    n_edges = objective.graph.n_edges
    np.testing.assert_allclose(objective.graph_factor, [0.5 * 8 / n_edges, 0.0])
    normalized = replace(objective, normalized=True)
    np.testing.assert_allclose(normalized.graph_factor, [0.5 * 8 / 24, 0.0])


@pytest.mark.parametrize("offset", [0.0, 1.0])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_value_for_every_kernel(kernel, form, offset):
    case = make_case("logistic", 2.0, "knn", kernel, form, offset, C_graph=(0.5, 0.1))
    a = coefficients(case)
    expected = J(case.problem, a)
    np.testing.assert_allclose(case.objective.value(case.expansion(a)), expected, rtol=1e-11)
    single = case.objective.value(case.expansion(a, np.float32))
    np.testing.assert_allclose(single, expected, rtol=1e-4)


def test_value_of_an_expansion_over_some_rows_in_any_order():
    case = make_case()
    a, rows = coefficients(case), np.array([20, 3, 11, 7])
    f = case.objective.expansion()
    f.set(rows, a[rows])
    sparse = np.zeros_like(a)
    sparse[rows] = a[rows]
    np.testing.assert_allclose(case.objective.value(f), J(case.problem, sparse), rtol=1e-12)


def test_value_does_not_depend_on_how_edges_are_cut(monkeypatch):
    case = make_case()
    f = case.expansion(coefficients(case))
    whole = case.objective.value(f)
    monkeypatch.setattr(objective_module, "_EDGES", 7)
    np.testing.assert_allclose(case.objective.value(f), whole, rtol=1e-13)


@pytest.mark.parametrize("kind", [*GRAPHS, None])
@pytest.mark.parametrize("loss", LOSSES)
def test_value_at_zero(loss, kind):
    case = make_case(loss, kind=kind, C=(0.3, 2.0, 0.01), C_graph=(0.5, 0.1, 0.0))
    expected = J(case.problem, np.zeros((24, 3)))
    np.testing.assert_allclose(case.objective.value_at_zero(), expected, rtol=1e-14)
    empty = case.objective.expansion()
    np.testing.assert_allclose(case.objective.value(empty), expected, rtol=1e-14)


def test_sizes_and_edges():
    case = make_case(C=(1.0, 2.0, 3.0), C_graph=(0.0, 0.0, 0.1))
    assert (case.objective.n_labeled, case.objective.n_outputs) == (8, 3)
    assert case.objective.has_edges
    assert not replace(case.objective, graph=None).has_edges
    assert not replace(case.objective, C_graph=np.zeros(3)).has_edges

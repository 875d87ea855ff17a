"""Fields against a dense solution of their linear system."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from graphkm.fields.system import Field, FieldData, FieldSystem, Strength
from graphkm.graphs import KNN, Anchors

PARTS = [KNN(n_neighbors=5), Anchors(n_anchors=30)]


def problem(part, columns=3, n=150, labels=40):
    rng = np.random.default_rng(0)
    graph = part.nodes(rng.normal(size=(n, 3)))
    rows = rng.choice(n, labels, replace=False)
    weights = rng.integers(0, 4, size=labels).astype(float)
    return graph, rows, weights, rng.normal(size=(labels, columns))


def dense(graph, rows, weights, values, strength, degree):
    """Return the matrix and the right-hand sides as they are written down."""
    Z = graph.rows.toarray()[rows]
    L = graph.laplacian.toarray().astype(np.float64)
    T = strength.eps * np.eye(len(L)) + np.linalg.matrix_power(L, degree)
    A = T + strength.C * Z.T @ (weights[:, None] * Z)
    return A, strength.C * Z.T @ (weights[:, None] * values)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("strength", [Strength(0.3, 0.5), Strength(10.0, 0.01)])
def test_solution_is_the_dense_one(part, degree, strength):
    graph, rows, weights, values = problem(part)
    data = FieldData.of(graph, rows, weights, values)
    found = FieldSystem(graph.similarity, degree=degree, tol=1e-6).solve(data, strength)
    A, b = dense(graph, rows, weights, values, strength, degree)
    expected = np.linalg.solve(A, b)
    np.testing.assert_allclose(found, expected, atol=2e-4 * np.abs(expected).max())


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-5])
def test_residual_is_below_the_tolerance(part, degree, tol):
    graph, rows, weights, values = problem(part)
    strength = Strength(3.0, 0.01)
    data = FieldData.of(graph, rows, weights, values)
    found = FieldSystem(graph.similarity, degree=degree, tol=tol).solve(data, strength)
    A, b = dense(graph, rows, weights, values, strength, degree)
    residual = np.linalg.norm(b - A @ found, axis=0) / np.linalg.norm(b, axis=0)
    assert (residual <= 1.1 * tol).all()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("degree", [1, 3])
def test_the_stated_objective_is_least(part, degree):
    graph, rows, weights, values = problem(part, columns=1)
    strength = Strength(2.0, 0.1)
    data = FieldData.of(graph, rows, weights, values)
    g = (
        FieldSystem(graph.similarity, degree=degree, tol=1e-6)
        .solve(data, strength)[:, 0]
        .astype(float)
    )
    L = np.linalg.matrix_power(graph.laplacian.toarray().astype(float), degree)
    Z = graph.rows.toarray()[rows]

    def objective(g):
        prior = strength.eps * g @ g + g @ L @ g
        return 0.5 * prior + 0.5 * strength.C * weights @ (values[:, 0] - Z @ g) ** 2

    least = objective(g)
    rng = np.random.default_rng(1)
    for _ in range(5):
        along = rng.normal(size=len(g))
        h = 1e-3
        slope = (objective(g + h * along) - objective(g - h * along)) / (2 * h)
        bend = (objective(g + h * along) - 2 * least + objective(g - h * along)) / h**2
        assert abs(slope) < 1e-4 * bend


@pytest.mark.parametrize("part", PARTS)
def test_fields_of_several_strengths_are_those_of_each(part):
    graph, rows, weights, values = problem(part)
    data = FieldData.of(graph, rows, weights, values)
    system = FieldSystem(graph.similarity, tol=1e-5)
    strengths = [Strength(3.0, 0.1), Strength(3.0, 0.02), Strength(3.0, 0.02)]
    z = graph.rows[:50]
    found = list(system.along(data, strengths, z))
    for strength, each in zip(strengths, found, strict=True):
        alone = z @ system.solve(data, strength)
        np.testing.assert_allclose(each, alone, atol=1e-3 * np.abs(alone).max())
    np.testing.assert_array_equal(found[1], found[2])  # a start that is good enough stays


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("most", [1, 3, 4])
def test_tables_wider_than_a_backend_takes_are_solved_in_parts(part, most, monkeypatch):
    graph, rows, weights, values = problem(part, columns=4)
    data, strength = FieldData.of(graph, rows, weights, values), Strength(3.0, 0.1)
    system = FieldSystem(graph.similarity, tol=1e-5)
    at = graph.rows[:50]
    whole, along = system.solve(data, strength), list(system.along(data, [strength] * 2, at))
    monkeypatch.setattr("graphkm.backends.host.HostColumns.most_columns", most)
    np.testing.assert_allclose(system.solve(data, strength), whole, atol=1e-5)
    for each, wanted in zip(system.along(data, [strength] * 2, at), along, strict=True):
        np.testing.assert_allclose(each, wanted, atol=1e-5)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("size", [1, 7, 40])
def test_sums_over_rows_are_those_of_blocks(part, size, monkeypatch):
    given = problem(part)
    whole = FieldData.of(*given)
    monkeypatch.setattr("graphkm.fields.system._ROWS", size)
    cut = FieldData.of(*given)
    np.testing.assert_allclose(cut.diagonal, whole.diagonal)
    np.testing.assert_allclose(cut.right, whole.right)
    if whole.across is None:
        assert cut.across is None
    else:
        np.testing.assert_allclose(cut.across.toarray(), whole.across.toarray(), rtol=1e-6)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("degree", [1, 2])
def test_threads_give_the_same_bits(part, degree):
    graph, rows, weights, values = problem(part, n=3000, labels=500)
    data = FieldData.of(graph, rows, weights, values)
    one, two = (
        FieldSystem(graph.similarity, degree=degree, n_threads=n).solve(data, Strength(3.0, 0.01))
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("part", PARTS)
def test_a_weight_of_two_is_a_second_copy_and_of_zero_none(part):
    graph, rows, _, values = problem(part)
    weights = np.ones(len(rows))
    weights[0], weights[1] = 2.0, 0.0
    twice = np.r_[rows[:1], rows[0], rows[2:]]
    copies = np.vstack([values[:1], values[:1], values[2:]])
    system = FieldSystem(graph.similarity, tol=1e-6)
    one = system.solve(FieldData.of(graph, rows, weights, values), Strength(1.0, 0.1))
    other = system.solve(
        FieldData.of(graph, twice, np.ones(len(twice)), copies), Strength(1.0, 0.1)
    )
    np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("unit", [1e-20, 1e-6, 1e6, 1e15])
def test_columns_of_any_size_are_solved_as_well(unit):
    graph, rows, weights, values = problem(PARTS[0], columns=2)
    system, strength = FieldSystem(graph.similarity, tol=1e-5), Strength(1.0, 0.1)
    one = system.solve(FieldData.of(graph, rows, weights, values), strength)
    mixed = values * np.array([1.0, unit])
    other = system.solve(FieldData.of(graph, rows, weights, mixed), strength)
    np.testing.assert_allclose(other / np.array([1.0, unit]), one, atol=1e-4)


def test_nothing_to_fit_is_zero():
    graph, rows, weights, values = problem(PARTS[0])
    data = FieldData.of(graph, rows, weights, 0 * values)
    assert not FieldSystem(graph.similarity).solve(data, Strength(1.0, 0.1)).any()


def test_a_system_that_is_too_hard_warns():
    graph, rows, weights, values = problem(PARTS[0])
    data = FieldData.of(graph, rows, weights, values)
    with pytest.warns(ConvergenceWarning, match="larger eps"):
        FieldSystem(graph.similarity, degree=3, tol=1e-12).solve(data, Strength(3.0, 1e-9))


@pytest.mark.parametrize("part", PARTS)
def test_a_field_is_the_mean_of_its_nodes(part):
    graph, rows, weights, values = problem(part)
    data = FieldData.of(graph, rows, weights, values)
    strength = Strength(1.0, 0.1)
    g = Field(graph.nodes, FieldSystem(graph.similarity).solve(data, strength), strength, 0.0)
    new = np.random.default_rng(2).normal(size=(7, 3))
    np.testing.assert_allclose(g(new), graph.nodes.weights(new).toarray() @ g.values)
    # Far out, a factor of ten in distance is a hundredth of the field.
    out = np.array([[1e4, 1e4, 1e4]])
    np.testing.assert_allclose(100 * g(10 * out), g(out), rtol=0.02)

"""Rows in cells and distances of pairs, in compiled code, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from graphkm._native import RowCells32, RowCells64
from graphkm._native import pair_distances as compiled_distances
from graphkm.backends import RowCells, pair_distances
from graphkm.neighbours.cells import Cells
from graphkm.neighbours.distances import squared_distances

precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def literal(rows, cell, queries, probes, k):
    """Return the k nearest rows of the probed cells by a loop over queries; -1 fills the rest."""
    out = np.full((len(queries), k), -1)
    for q, query in enumerate(queries.astype(np.float64)):
        near = np.flatnonzero(np.isin(cell, probes[q]))
        d2 = ((rows[near].astype(np.float64) - query) ** 2).sum(axis=1)
        found = near[np.argsort(d2, kind="stable")][:k]
        out[q, : len(found)] = found
    return out


def drawn(n, d, n_cells, m, p, dtype, seed=0):
    rng = np.random.default_rng(seed)
    rows, centres = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(n_cells, d))
    probes = np.array([rng.permutation(n_cells + 1)[:p] - 1 for _ in range(m)]).reshape(m, p)
    queries = rng.normal(size=(m, d)).astype(dtype)
    return rows, rng.integers(n_cells, size=n), centres, queries, probes


@precisions
@pytest.mark.parametrize(
    ("n", "d", "n_cells", "m", "p", "k"),
    [
        (1, 1, 1, 1, 1, 1),
        (700, 2, 9, 250, 3, 7),
        (700, 20, 40, 97, 5, 60),
        (300, 130, 3, 96, 2, 4),  # more columns than a slice of a panel
        (200, 300, 1, 9, 1, 200),
        (50, 3, 60, 200, 1, 3),  # empty cells
        (10, 4, 2, 0, 1, 1),
        (10, 4, 2, 5, 0, 2),
        (10, 0, 2, 5, 1, 2),
    ],
)
def test_near_rows_are_those_of_a_loop(dtype, n, d, n_cells, m, p, k):
    rows, cell, centres, queries, probes = drawn(n, d, n_cells, m, p, dtype)
    found = RowCells(rows, cell, centres).nearest(queries, probes, k)
    expected = literal(rows, cell, queries, probes, k)
    if d == 0:  # all rows are equal
        np.testing.assert_array_equal(found >= 0, expected >= 0)
    else:
        np.testing.assert_array_equal(found, expected)


def test_near_rows_far_from_zero_keep_their_digits():
    """Differences from the centre are exact: squares of the coordinates would drown them."""
    rng = np.random.default_rng(0)
    cell = rng.integers(5, size=400)
    centres = 4096.0 * rng.permutation(5)[:, None] * np.ones(6)
    rows = (centres[cell] + rng.integers(-64, 64, size=(400, 6)) / 64).astype(np.float32)
    queries, probes = rows[:100], cell[:100, None]
    cells = RowCells(rows, cell, centres)
    d2 = ((rows[cells.nearest(queries, probes, 9)] - queries[:, None].astype(float)) ** 2).sum(-1)
    expected = literal(rows, cell, queries, probes, 9)
    true = ((rows[expected] - queries[:, None].astype(float)) ** 2).sum(-1)
    np.testing.assert_array_equal(d2, true)


@precisions
def test_what_a_query_finds_does_not_depend_on_the_others(dtype):
    rows, cell, centres, queries, probes = drawn(900, 7, 12, 300, 4, dtype)
    rows, queries = np.round(rows), np.round(queries)  # many ties
    cells = RowCells(rows, cell, centres)
    together = cells.nearest(queries, probes, 11)
    order = np.random.default_rng(1).permutation(300)
    np.testing.assert_array_equal(cells.nearest(queries[order], probes[order], 11), together[order])
    alone = [cells.nearest(queries[i : i + 1], probes[i : i + 1], 11)[0] for i in range(40)]
    np.testing.assert_array_equal(alone, together[:40])


def test_ties_go_to_the_cell_that_is_probed_first_and_then_to_the_first_row():
    rows = np.zeros((200, 3), np.float32)
    cell = np.arange(200) % 2
    found = RowCells(rows, cell, np.zeros((2, 3))).nearest(rows[:2], np.array([[1, 0], [0, 1]]), 3)
    np.testing.assert_array_equal(found, [[1, 3, 5], [0, 2, 4]])


@precisions
def test_queries_that_are_no_numbers_find_nothing(dtype):
    rows = np.eye(3, dtype=dtype)
    queries = np.array([[np.nan, 0, 0], [np.finfo(dtype).max] * 3, [np.inf, 0, 0], [1, 0, 0]])
    found = RowCells.of_one(rows).nearest(queries.astype(dtype), None, 2)
    np.testing.assert_array_equal(found, [[-1, -1], [-1, -1], [-1, -1], [0, 1]])


@precisions
@pytest.mark.parametrize("d", [0, 1, 7, 16, 33, 130])
def test_distances_of_pairs(dtype, d):
    rng = np.random.default_rng(d)
    X, Y = (1e3 + rng.normal(size=(n, d)).astype(dtype) for n in (40, 30))
    X, Y = X.astype(dtype), Y.astype(dtype)
    u, v = rng.integers(40, size=500), rng.integers(30, size=500)
    expected = ((X[u].astype(np.float64) - Y[v].astype(np.float64)) ** 2).sum(axis=1)
    found = pair_distances(X, Y, u, v)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    np.testing.assert_array_equal(pair_distances(Y, X, v, u), found)
    for A, B in ((np.asfortranarray(X), Y), (X, Y[::1, ::-1][:, ::-1]), (X.astype(float), Y)):
        np.testing.assert_array_equal(squared_distances(A, u, v, B), found)


def test_distances_of_too_large_numbers_are_the_largest():
    X = np.array([[1e200], [-1e200]])
    pair = np.array([0]), np.array([1])
    assert squared_distances(X, *pair) == np.finfo(np.float64).max


# ---------------------------------------------------------------- cells


def test_equal_rows_leave_no_empty_cells():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 5)), 100, axis=0)
    assert Cells(X, 5).n_cells == 20
    assert Cells(np.ones((50, 3)), 3).n_cells == 1


def test_queries_are_in_the_order_of_their_cells():
    from graphkm.neighbours.candidates import Queries

    rng = np.random.default_rng(0)
    X = (10 * rng.normal(size=(8, 4))[rng.integers(8, size=500)] + rng.normal(size=(500, 4))) / 9
    cells = Cells(X, 4)
    own = rng.permutation(500)[:90]
    known = cells.order(Queries(X[own], own))
    np.testing.assert_array_equal(known, cells.order(Queries(X[own])))
    np.testing.assert_array_equal(np.sort(known), np.arange(90))


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize("store", [RowCells32, RowCells64])
def test_bad_arguments_of_cells(store):
    dtype = np.float32 if store is RowCells32 else np.float64
    rows, cell, centres = np.ones((4, 3), dtype), np.zeros(4, np.int32), np.ones((2, 3), dtype)
    for bad in (
        (rows, cell[:3], centres),
        (rows, cell, centres[:, :2].copy()),
        (rows, cell + 2, centres),
    ):
        with pytest.raises(ValueError, match=r"entries on axis|out of range"):
            store(*bad)
    with pytest.raises(ValueError, match="out of range"):
        store(rows, cell - 1, centres)
    with pytest.raises(TypeError):
        store(rows.astype(int), cell, centres)
    cells, probes = store(rows, cell, centres), np.zeros((4, 1), np.int32)
    out = np.zeros((4, 2), np.int64)
    for bad in (
        (rows[:, :2].copy(), probes, out),
        (rows, probes[:2], out),
        (rows, probes, out[:3]),
        (rows, probes + 2, out),
        (rows, probes - 2, out),
        (rows, probes, out[:, :0].copy()),
    ):
        with pytest.raises(ValueError, match=r"entries on axis|out of range|no row"):
            cells.nearest(*bad)


def test_bad_arguments_of_pairs():
    X, place, out = np.ones((4, 3)), np.zeros(2, np.int64), np.empty(2)
    for bad in (
        (X, X[:, :2].copy(), place, place, out),
        (X, X, place, place[:1], out),
        (X, X, place, place, out[:1]),
        (X, X, place + 4, place, out),
        (X, X, place, place - 1, out),
    ):
        with pytest.raises(ValueError, match=r"entries on axis|out of range"):
            compiled_distances(*bad)
    with pytest.raises(TypeError):
        compiled_distances(X, X.astype(np.float32), place, place, out)

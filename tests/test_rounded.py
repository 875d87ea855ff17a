"""The exact search by products in single precision: a literal search finds the same."""

from __future__ import annotations

import numpy as np
import pytest

from graphkm.neighbours import NeighbourIndex
from graphkm.neighbours.rounded import MOST, RoundedSearch


def literal(rows, queries, k):
    d2 = ((queries[:, None].astype(float) - rows[None].astype(float)) ** 2).sum(axis=2)
    order = np.lexsort((np.broadcast_to(np.arange(len(rows)), d2.shape), d2), axis=1)
    return order[:, :k]


def drawn(kind, rng, dtype):
    rows, queries = rng.normal(size=(300, 20)), rng.normal(size=(200, 20))
    if kind == "far from 0":
        rows, queries = rows + 1e6, queries + 1e6
    elif kind == "tiny":
        rows, queries = rows * 1e-30, queries * 1e-30
    elif kind == "huge":
        rows, queries = rows * 1e25, queries * 1e25
    elif kind == "copies":
        rows[100:] = rows[rng.integers(100, size=200)]
    elif kind == "an outlier":
        rows[7] = 1e7
        queries[3] = 1e12
    elif kind == "whole numbers":
        rows, queries = rows.round(), queries.round()
    elif kind == "alike":
        rows[:] = 1.0
    return rows.astype(dtype), queries.astype(dtype)


KINDS = [
    "usual",
    "far from 0",
    "tiny",
    "huge",
    "copies",
    "an outlier",
    "whole numbers",
    "alike",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 4, 40, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_finds_what_a_literal_search_finds(kind, k, dtype):
    rows, queries = drawn(kind, np.random.default_rng(0), dtype)
    index = NeighbourIndex(rows)
    near, _ = index.nearest_to(queries, k)
    assert isinstance(index._exact, RoundedSearch)
    wanted = literal(rows, queries, k)
    if kind in ("usual", "copies", "whole numbers"):
        np.testing.assert_array_equal(near, wanted)
    away = (queries[:, None].astype(float) - rows[own] for own in (near, wanted))
    far, least = (np.linalg.norm(each, axis=2) for each in away)
    np.testing.assert_allclose(far, least, rtol=1e-6)


def test_queries_beyond_single_precision_are_searched_otherwise():
    rng = np.random.default_rng(1)
    rows, queries = rng.normal(size=(50, 20)), rng.normal(size=(4, 20))
    queries[2] *= 1e60
    assert (RoundedSearch(rows)(queries, 1)[2] == -1).all()
    near, _ = NeighbourIndex(rows).nearest_to(queries, 1)
    np.testing.assert_array_equal(near, literal(rows, queries, 1))


def test_few_rows_are_proposed_where_none_are_close():
    """The error that is allowed for is small: nearly always the nearest row alone is proposed."""
    rng = np.random.default_rng(2)
    found = RoundedSearch(rng.normal(size=(2000, 20)))(rng.normal(size=(3000, 20)), 1)
    assert (found >= 0).sum() < 3030


@pytest.mark.parametrize("n", [1, 2, 9])
def test_few_rows(n):
    rows = np.random.default_rng(3).normal(size=(n, 16))
    near, d2 = NeighbourIndex(rows).nearest_to(rows, n)
    np.testing.assert_array_equal(near, literal(rows, rows, n))
    assert (d2[:, 0] == 0).all()
    assert n <= MOST


def test_threads_change_nothing():
    rng = np.random.default_rng(4)
    rows, queries = rng.normal(size=(500, 18)), rng.normal(size=(9000, 18))
    one, two = (NeighbourIndex(rows, n_jobs=n).nearest_to(queries, 3) for n in (1, 2))
    np.testing.assert_array_equal(one[0], two[0])

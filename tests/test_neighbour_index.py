"""An index that stays: its rows' neighbours, those of new rows, files and threads."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from graphkm.neighbours import cells as approximate_module
from graphkm.neighbours import index as search_module
from graphkm.neighbours.index import NeighbourIndex

pytestmark = pytest.mark.filterwarnings("error")
forms = pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def brute_force(rows, X, k, own=None):
    """Return the k nearest rows by (distance, number), from all differences."""
    rows, X = np.asarray(rows, dtype=np.float64), np.asarray(X, dtype=np.float64)
    d2 = ((X[:, None] - rows) ** 2).sum(axis=-1)
    if own is not None:
        d2[np.arange(len(X)), own] = np.inf
    near = np.argsort(d2, axis=1, kind="stable")[:, :k]
    return near, np.take_along_axis(d2, near, axis=1)


def assert_equal(found, expected, rtol=1e-12):
    near, d2 = found
    assert (near.dtype, d2.dtype) == (np.int64, np.float64)
    np.testing.assert_array_equal(near, expected[0])
    np.testing.assert_allclose(d2, expected[1], rtol=rtol)


def some(n, d, dtype=np.float64, seed=0):
    """Return rows of which two thirds of the numbers are zero."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * (rng.random((n, d)) < 1 / 3)).astype(dtype)


def clusters(n=4000, d=20, seed=0):
    rng = np.random.default_rng(seed)
    return 4 * rng.normal(size=(30, d))[rng.integers(30, size=n)] + rng.normal(size=(n, d))


# ---------------------------------------------------------------- exact


@pytest.mark.long
@forms
@precisions
@pytest.mark.parametrize(("n", "d", "k"), [(2, 1, 1), (40, 9, 39), (300, 9, 7), (900, 40, 10)])
def test_equals_brute_force(form, dtype, n, d, k):
    rows, X = np.random.default_rng(n).normal(size=(2, n, d)).astype(dtype)
    index = NeighbourIndex(form(rows))
    assert_equal(index.neighbours(k), brute_force(rows, rows, k, np.arange(n)))
    for few in (k, 1):
        assert_equal(index.nearest_to(form(X), few), brute_force(rows, X, few))
    assert_equal(index.nearest_to(form(X), n), brute_force(rows, X, n))


@forms
@pytest.mark.parametrize("d", [3, 20])
def test_queries_that_are_rows_are_their_own_neighbours(form, d):
    rows = np.random.default_rng(0).normal(size=(200, d))
    near, d2 = NeighbourIndex(form(rows)).nearest_to(form(rows[50:60]), 3)
    np.testing.assert_array_equal(near[:, 0], np.arange(50, 60))
    np.testing.assert_array_equal(d2[:, 0], 0)
    assert_equal((near, d2), brute_force(rows, rows[50:60], 3))


@forms
@pytest.mark.parametrize("far", [1e4, -1e6])
def test_queries_far_away(form, far):
    rows = np.random.default_rng(0).normal(size=(200, 4))
    X = np.random.default_rng(1).normal(size=(5, 4)) * abs(far)
    assert_equal(NeighbourIndex(form(rows)).nearest_to(form(X), 4), brute_force(rows, X, 4))


def test_no_queries():
    for form in (np.asarray, sp.csr_array):
        near, d2 = NeighbourIndex(form(some(20, 3))).nearest_to(form(np.zeros((0, 3))), 2)
        assert near.shape == d2.shape == (0, 2)


@precisions
def test_new_rows_of_another_kind_are_converted(dtype):
    rows, X = np.random.default_rng(0).normal(size=(2, 300, 12)).astype(dtype)
    expected = brute_force(rows, X, 5)
    for form in (np.asarray, sp.csr_array):
        index = NeighbourIndex(form(rows))
        for other in (X.tolist(), X.astype(np.float64), sp.coo_array(X), sp.csc_array(X)):
            assert_equal(index.nearest_to(other, 5), expected)


# ---------------------------------------------------------------- sparse rows


@precisions
@pytest.mark.parametrize("values", [1, 3])
def test_ties_of_sparse_rows_fall_by_number(dtype, values):
    """Whole numbers: most distances are shared by many rows."""
    rng = np.random.default_rng(values)
    rows = rng.integers(-values, values + 1, size=(700, 6)).astype(dtype)
    X = rng.integers(-values, values + 1, size=(90, 6)).astype(dtype)
    index = NeighbourIndex(sp.csr_array(rows))
    assert_equal(index.neighbours(9), brute_force(rows, rows, 9, np.arange(700)))
    assert_equal(index.nearest_to(sp.csr_array(X), 9), brute_force(rows, X, 9))
    # Halves are not whole: the rows are searched in the other precision too.
    assert_equal(index.nearest_to(sp.csr_array(X / 2), 9), brute_force(rows, X / 2, 9))


@pytest.mark.parametrize("unit", [1.0, 1 / 3])
def test_thousands_of_equal_sparse_rows(unit):
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=9000)
    rows = sp.csr_array(np.array([[0, 0, 0, 0], [1, 0, 2, 0], [0, 3, 0, 0]])[kind] * unit)
    near, d2 = NeighbourIndex(rows).neighbours(5)
    assert (d2 == 0).all()
    for c in range(3):
        members = np.flatnonzero(kind == c)
        np.testing.assert_array_equal(
            near[members[10:]], np.tile(members[:5], (len(members) - 10, 1))
        )
        np.testing.assert_array_equal(near[members[2]], members[[0, 1, 3, 4, 5]])
    np.testing.assert_array_equal(
        NeighbourIndex(rows).nearest_to(rows[:50], 2)[0],
        [np.flatnonzero(kind == c)[:2] for c in kind[:50]],
    )


def test_large_whole_numbers_are_not_rounded():
    """Counts beyond float32: neighbours differ in the last digit."""
    rows = 2.0**20 + np.array([[0.0], [1.0], [3.0], [7.0], [15.0]])
    near, d2 = NeighbourIndex(sp.csr_array(rows)).neighbours(2)
    assert_equal((near, d2), brute_force(rows, rows, 2, np.arange(5)))


def test_new_rows_are_not_rounded_to_the_precision_of_whole_rows():
    index = NeighbourIndex(sp.csr_array(np.eye(2)))
    near, _ = index.nearest_to(sp.csr_array([[0.5, 0.5 + 1e-9], [0.5 + 1e-9, 0.5]]), 1)
    np.testing.assert_array_equal(near, [[1], [0]])


@pytest.mark.parametrize("unit", [1e-200, 1e-20, 1e30, 1e150])
def test_sparse_rows_in_any_unit(unit):
    rows, X = some(200, 10), some(20, 10, seed=1)
    index = NeighbourIndex(sp.csr_array(rows * unit))
    empty = ~rows.any(axis=1)
    near, _ = index.neighbours(4)
    if unit > 1e-100:  # distances below that underflow, so that all rows tie
        expected = brute_force(rows, rows, 4, np.arange(200))[0]
        np.testing.assert_array_equal(near[~empty], expected[~empty])
        expected = brute_force(rows, X, 4)[0]
        np.testing.assert_array_equal(index.nearest_to(sp.csr_array(X * unit), 4)[0], expected)
    assert (near >= 0).all()
    assert (index.nearest_to(sp.csr_array(X * 1e300 + 1e300), 4)[0] >= 0).all()


@pytest.mark.long
def test_wide_sparse_rows():
    rng = np.random.default_rng(0)
    rows = sp.random_array((120, 100_000), density=3e-4, rng=rng, format="csr")
    X = sp.random_array((30, 100_000), density=3e-4, rng=rng, format="csr")
    index = NeighbourIndex(rows)
    used = np.unique(np.concatenate([rows.indices, X.indices]))
    narrow, queries = rows.tocsc()[:, used].toarray(), X.tocsc()[:, used].toarray()
    assert_equal(index.nearest_to(X, 6), brute_force(narrow, queries, 6))
    assert_equal(index.neighbours(6), brute_force(narrow, narrow, 6, np.arange(120)))


def test_sparse_rows_without_entries():
    for rows in (sp.csr_array((30, 4)), sp.csr_array((30, 0))):
        near, d2 = NeighbourIndex(rows).neighbours(3)
        assert_equal(
            (near, d2), (brute_force(np.zeros((30, 1)), np.zeros((30, 1)), 3, np.arange(30)))
        )


# ---------------------------------------------------------------- approximate


@pytest.mark.long
@precisions
def test_one_index_serves_both_searches(dtype, monkeypatch):
    rows, X = clusters().astype(dtype), clusters(seed=0, n=4300)[4000:].astype(dtype)
    built, calibrated = [], []
    make, calibrate = approximate_module._centres, search_module.calibrate
    monkeypatch.setattr(approximate_module, "_centres", lambda p: built.append(1) or make(p))
    monkeypatch.setattr(
        search_module, "calibrate", lambda *a: calibrated.append(a[1]) or calibrate(*a)
    )
    index = NeighbourIndex(rows, "approximate")
    for found, true in (
        (index.neighbours(10), brute_in_parts(rows, rows, 10, own=True)),
        (index.nearest_to(X, 10), brute_in_parts(rows, X, 10)),
        (index.nearest_to(rows[:300], 5), brute_in_parts(rows, rows[:300], 5)),
    ):
        assert (np.diff(found[1], axis=1) >= 0).all()
        hits = [len(set(a) & set(b)) for a, b in zip(found[0], true, strict=True)]
        assert np.mean(hits) >= 0.95 * true.shape[1]
    assert (built, calibrated) == ([1], [10, 5])  # every k is measured for itself, and once
    index.nearest_to(X, 10)
    assert (built, calibrated) == ([1], [10, 5])


def brute_in_parts(rows, X, k, own=False):
    parts = [slice(i, i + 200) for i in range(0, len(X), 200)]
    numbers = np.arange(len(X))
    found = [brute_force(rows, X[p], k, numbers[p] if own else None)[0] for p in parts]
    return np.concatenate(found)


def test_approximate_far_away():
    rows = clusters()
    far = rows[:20] * 1e3
    near, _ = NeighbourIndex(rows, "approximate").nearest_to(far, 3)
    assert ((near >= 0) & (near < len(rows))).all()
    out = NeighbourIndex(rows, "approximate").nearest_to(rows[:20] * 1e30, 3)[0]  # no float32
    assert ((out >= 0) & (out < len(rows))).all()


# ---------------------------------------------------------------- threads and files


def kinds():
    rng = np.random.default_rng(0)
    yield "exact", np.round(clusters(d=5), 1), np.round(clusters(300, 5, seed=1), 1)
    yield "exact", sp.csr_array(some(4000, 30)), sp.csr_array(some(300, 30, seed=1))
    whole = rng.integers(2, size=(4300, 12)).astype(np.float32)
    yield "exact", sp.csr_array(whole[:4000]), sp.csr_array(whole[4000:])
    yield "approximate", np.round(clusters(), 1), np.round(clusters(300, seed=1), 1)
    wide = np.round(clusters() @ rng.normal(size=(20, 150)), 1)
    yield "approximate", wide, wide[:300] + 0.1


@pytest.mark.dear
@pytest.mark.parametrize("which", range(5))
def test_threads_and_pickles_give_the_same_bits(which):
    method, rows, X = list(kinds())[which]
    index = NeighbourIndex(rows, method, n_jobs=1)
    expected = [*index.neighbours(8), *index.nearest_to(X, 8)]
    other = NeighbourIndex(rows, method, n_jobs=2)
    packed = pickle.dumps(index)
    loaded = pickle.loads(packed)
    with threadpool_limits(limits=2):
        threaded = [*other.neighbours(8), *other.nearest_to(X, 8)]
    back = [*loaded.nearest_to(X, 8), *loaded.neighbours(8)]
    for a, b, c in zip(expected, threaded, back[2:] + back[:2], strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
    stored = rows.nbytes if isinstance(rows, np.ndarray) else rows.data.nbytes * 3
    assert len(packed) < stored + 3000 + 8 * rows.shape[0]
    for name in (b"sklearn", b"_native"):
        assert name not in packed


def test_loaded_index_does_not_calibrate_again(monkeypatch):
    index = NeighbourIndex(clusters(), "approximate")
    index.neighbours(5)
    loaded = pickle.loads(pickle.dumps(index))
    monkeypatch.setattr(search_module, "calibrate", None)
    for one, other in zip(loaded.neighbours(5), index.neighbours(5), strict=True):
        np.testing.assert_array_equal(one, other)


# ---------------------------------------------------------------- refusals


def test_bad_k():
    index = NeighbourIndex(np.zeros((5, 2)))
    for k in (0, 5, -1):
        with pytest.raises(ValueError, match=rf"k={k} neighbours of 5 rows; .* 1 to 4"):
            index.neighbours(k)
    for k in (0, 6, -1):
        with pytest.raises(ValueError, match=rf"k={k} of 5 rows; .* 1 to 5"):
            index.nearest_to(np.zeros((1, 2)), k)


@forms
def test_bad_new_rows(form):
    index = NeighbourIndex(form(np.eye(5)))
    with pytest.raises(ValueError, match="X has 3 columns, and the rows searched have 5"):
        index.nearest_to(form(np.zeros((1, 3))), 1)
    with pytest.raises(ValueError, match="2-dimensional"):
        NeighbourIndex(np.eye(5)).nearest_to(np.zeros(5), 1)


def test_answers_do_not_depend_on_earlier_questions():
    """More neighbours need more cells: an index that read so many for all would answer better."""
    rows = np.random.default_rng(0).normal(size=(3000, 6))
    fresh, asked = (NeighbourIndex(rows, "approximate") for _ in range(2))
    wanted = fresh.neighbours(5)
    asked.nearest_to(rows[:10], 80)
    assert_equal(asked.neighbours(5), wanted)
    assert_equal(pickle.loads(pickle.dumps(asked)).neighbours(5), wanted)
    fresh.nearest_to(rows[:10], 80)
    assert_equal(fresh.nearest_to(rows[:10], 80), asked.nearest_to(rows[:10], 80))


@pytest.mark.long
def test_threads_that_share_an_index_and_ask_for_different_numbers_find_what_one_finds():
    """A search must not see how many cells another one reads."""
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(3000, 6)), rng.normal(size=(2000, 6))
    index, numbers = NeighbourIndex(rows, "approximate"), (1, 60, 2, 40, 3, 20, 5, 10)
    alone = [NeighbourIndex(rows, "approximate").nearest_to(new, k) for k in numbers]
    with ThreadPoolExecutor(8) as threads:
        for found, wanted in zip(
            threads.map(lambda k: index.nearest_to(new, k), numbers), alone, strict=True
        ):
            assert_equal(found, wanted)


def test_threads_that_share_an_index_find_what_one_finds():
    """The first search for so many neighbours prepares the index; others wait for it."""
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(10_000, 6)), rng.normal(size=(400, 6))
    one, index = (NeighbourIndex(rows, "approximate") for _ in range(2))
    for each in (one, index):
        each.nearest_to(new, 1)
    wanted = one.nearest_to(new, 4)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: index.nearest_to(new, 4), range(4)):
            np.testing.assert_array_equal(found[0], wanted[0])
            np.testing.assert_array_equal(found[1], wanted[1])

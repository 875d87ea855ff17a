"""Sums of kernels over centres against SciPy's distances and plain products."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist

from graphkm.backends import as_centres
from graphkm.expansion import KernelExpansion, default_threads
from graphkm.kernels import (
    Cosine,
    FunctionKernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    SquaredExponential,
)
from graphkm.solvers.centres import Centres
from oracles import quadratic

pytestmark = pytest.mark.filterwarnings("error")


def cosine(X, Y):
    products = X @ Y.T
    scale = np.multiply.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    return np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)


# Each kernel with its matrix from SciPy or NumPy, in double precision.
KERNELS = {
    "rbf": (
        SquaredExponential(gamma=0.1, sigma_f=1.4),
        lambda X, Y: 1.4**2 * np.exp(-0.1 * cdist(X, Y, "sqeuclidean")),
    ),
    "linear": (Linear(), lambda X, Y: X @ Y.T),
    "poly": (
        Polynomial(degree=3, gamma=0.1, coef0=0.7),
        lambda X, Y: (0.1 * X @ Y.T + 0.7) ** 3,
    ),
    "poly1": (Polynomial(degree=1, gamma=0.1, coef0=0.0), lambda X, Y: 0.1 * X @ Y.T),
    "laplacian": (
        Laplacian(gamma=0.05),
        lambda X, Y: np.exp(-0.05 * cdist(X, Y, "cityblock")),
    ),
    "cosine": (Cosine(), cosine),
    "callable": (FunctionKernel(quadratic), lambda X, Y: (X @ Y.T + 1) ** 2),
}
FORMS = {"dense": np.asarray, "csr": csr_array}


def rows(rng, n, d, dtype=np.float64):
    """Return rows with zeros, representable in single precision so that both see the same."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    return X.astype(np.float32).astype(dtype)


def tolerance(name, X, Y, a, dtype):
    """Return how far a sum may be off: rounding of exponents or products, and of the sum."""
    eps = np.finfo(dtype).eps
    size = 1.0 + max((np.square(Z).sum(axis=1).max(initial=0.0) for Z in (X, Y)), default=0.0)
    kernel = {"linear": size, "poly": (0.1 * size + 0.7) ** 3, "callable": (size + 1) ** 2}
    exponents = {"rbf": 0.1 * size, "laplacian": 0.05 * size * X.shape[1] ** 0.5}
    factor = kernel.get(name, 2.0) * (1 + exponents.get(name, 0.0))
    return 2 * eps * factor * (1 + np.abs(a).sum(axis=0))


def check(name, X, Y, a, dtype, form="dense", query_form="dense", offset=0.0, n_threads=1):
    kernel, matrix = KERNELS[name]
    f = KernelExpansion(
        kernel, FORMS[form](X), a.shape[1], offset=offset, dtype=dtype, n_threads=n_threads
    )
    if len(X):
        f.set(np.arange(len(X)), a)
    expected = (matrix(Y, X) + offset) @ a if len(X) else np.zeros((len(Y), a.shape[1]))
    found = f.scores(FORMS[query_form](Y))
    assert found.shape == expected.shape and found.dtype == np.float64
    assert (np.abs(found - expected) <= tolerance(name, X, Y, a, dtype)).all()
    return f


every_kernel = pytest.mark.parametrize("name", KERNELS)
precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


# ---------------------------------------------------------------- values


@every_kernel
@precisions
@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=30)
@given(
    n=st.integers(1, 200),
    m=st.integers(0, 200),
    d=st.integers(1, 70),
    outputs=st.sampled_from([1, 2, 7]),
    number=st.integers(0, 10**6),
    offset=st.sampled_from([0.0, 1.0]),
    query_form=st.sampled_from(sorted(FORMS)),
    data_dtype=st.sampled_from([np.float32, np.float64]),
)
def test_any_shape(name, dtype, form, n, m, d, outputs, number, offset, query_form, data_dtype):
    rng = np.random.default_rng(number)
    X, Y = rows(rng, n, d, data_dtype), rows(rng, m, d, data_dtype)
    a = rng.normal(size=(n, outputs))
    if name == "callable" and query_form == "csr" and m == 0:
        query_form = "dense"  # a user's function may not care for empty sparse products
    wide = X.astype(np.float64), Y.astype(np.float64)
    check(name, X if data_dtype == dtype else wide[0], wide[1], a, dtype, form, query_form, offset)


@every_kernel
@precisions
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [5, 6, 7, 11, 12, 13, 47, 48, 49, 191, 192, 193, 255, 257, 400, 800])
def test_around_the_boundaries(name, dtype, form, n):
    """Panels of 4 to 48 centres, runs of 32 panels or 256 rows, tiles of 4 to 8 queries."""
    rng = np.random.default_rng(n)
    X, Y = rows(rng, n, 5), rows(rng, (n * 7) % 67 + 1, 5)
    check(name, X, Y, rng.normal(size=(n, 3)), dtype, form, form)


@every_kernel
@precisions
@pytest.mark.parametrize("form", FORMS)
def test_many_features(name, dtype, form):
    """Panels so large that a run holds only four of them."""
    rng = np.random.default_rng(0)
    X, Y = rows(rng, 230, 1500) / 8, rows(rng, 70, 1500) / 8
    check(name, X, Y, rng.normal(size=(230, 2)), dtype, form, form)


@precisions
@pytest.mark.parametrize(
    ("kernel", "value"),
    [
        (SquaredExponential(gamma=1.0, sigma_f=2.0), 4.0),
        (Linear(), 0.0),
        (Polynomial(degree=2, gamma=1.0, coef0=3.0), 9.0),
        (Laplacian(gamma=1.0), 1.0),
        (Cosine(), 0.0),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_no_features(kernel, value, dtype, form):
    """Estimators refuse such data; here every row is the same empty one."""
    f = KernelExpansion(kernel, FORMS[form](np.empty((9, 0))), dtype=dtype)
    f.set(np.arange(9), np.ones((9, 1)))
    np.testing.assert_array_equal(
        f.scores(FORMS[form](np.empty((5, 0)))), np.full((5, 1), 9 * value)
    )


@precisions
@pytest.mark.parametrize("form", FORMS)
def test_no_centres(dtype, form):
    X = FORMS[form](np.ones((4, 3)))
    f = KernelExpansion(SquaredExponential(gamma=1.0), X, 2, offset=1.0, dtype=dtype)
    assert len(f) == 0
    np.testing.assert_array_equal(f.scores(X), np.zeros((4, 2)))
    np.testing.assert_array_equal(f.intercept, [0.0, 0.0])


def test_data_without_rows():
    f = KernelExpansion(SquaredExponential(gamma=1.0), np.empty((0, 3)))
    np.testing.assert_array_equal(f.scores(np.ones((2, 3))), np.zeros((2, 1)))


@precisions
@pytest.mark.parametrize("form", FORMS)
def test_precomputed(dtype, form):
    rng = np.random.default_rng(1)
    K, queries = rng.normal(size=(20, 20)), rng.normal(size=(7, 20))
    f = KernelExpansion(Precomputed(), FORMS[form](K), 2, offset=1.0, dtype=dtype)
    used, a = np.array([4, 0, 17]), rng.normal(size=(3, 2))
    f.set(used, a)
    np.testing.assert_allclose(f.scores(queries), (queries[:, used] + 1) @ a, rtol=1e-12)
    chosen = np.array([3, 4])
    gram = f.between(chosen, chosen)
    np.testing.assert_allclose(f.scores(K[chosen]), (K[chosen][:, used] + 1) @ a, rtol=1e-12)
    np.testing.assert_allclose(gram, K[[3, 4]][:, [3, 4]] + 1, rtol=1e-6)
    assert gram.dtype == dtype


@every_kernel
@precisions
@pytest.mark.parametrize("form", FORMS)
def test_scores_and_gram_of_rows(name, dtype, form):
    kernel, matrix = KERNELS[name]
    rng = np.random.default_rng(2)
    X, a = rows(rng, 60, 6), rng.normal(size=(60, 2))
    f = KernelExpansion(kernel, FORMS[form](X), 2, offset=1.0, dtype=dtype)
    f.set(np.arange(60), a)
    chosen = np.array([50, 3, 4, 41, 7])
    scores, gram = f.scores(FORMS[form](X)[chosen]), f.between(chosen, chosen)
    bound = tolerance(name, X, X, a, dtype)
    assert gram.dtype == dtype and gram.shape == (5, 5)
    assert (np.abs(scores - (matrix(X[chosen], X) + 1) @ a) <= bound).all()
    assert (np.abs(gram - matrix(X[chosen], X[chosen]) - 1) <= bound.max()).all()


@pytest.mark.parametrize("writeable", [True, False])
def test_a_users_matrix_is_left_alone(writeable):
    """A function may keep what it returns, or return a read-only view as JAX's arrays are."""
    X = np.random.default_rng(3).normal(size=(5, 2))
    kept = quadratic(X, X)
    kept.flags.writeable = writeable
    before = kept.copy()
    f = KernelExpansion(FunctionKernel(lambda A, B: kept), X, offset=1.0, dtype=np.float64)
    gram = f.between(np.arange(5), np.arange(5))
    np.testing.assert_array_equal(gram, before + 1)
    np.testing.assert_array_equal(kept, before)


@pytest.mark.parametrize(
    "kernel", [FunctionKernel(lambda A, B: np.asfortranarray(A @ B.T)), Precomputed()]
)
@precisions
def test_gram_is_what_the_block_stepper_takes(kernel, dtype):
    four = np.arange(4)
    for offset in (0.0, 1.0):
        W = Centres(kernel, 5, 1, offset=offset, sparse=False, dtype=dtype, n_threads=1)
        centres = as_centres(kernel, four, np.eye(5)[four])
        assert W.values(np.eye(5)[four], centres).flags.c_contiguous
    f = KernelExpansion(kernel, np.eye(5), dtype=dtype)
    assert f.between(four, four).flags.c_contiguous


# ---------------------------------------------------------------- precision


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_a_common_offset_costs_no_digits_in_double(name):
    rng = np.random.default_rng(4)
    kernel, matrix = KERNELS[name]
    X = np.round(rng.normal(size=(150, 4)), 6)
    moved = X + 1e6
    exact = moved - 1e6  # what the rounded inputs really are
    f = KernelExpansion(kernel, moved, dtype=np.float64)
    a = rng.normal(size=(150, 1))
    f.set(np.arange(150), a)
    np.testing.assert_allclose(f.scores(moved), matrix(exact, exact) @ a, atol=1e-11)


def test_a_common_offset_costs_no_digits_in_single():
    """The data are float64 and exact; only the differences have to fit in single precision."""
    rng = np.random.default_rng(4)
    kernel, matrix = KERNELS["rbf"]
    X = rng.normal(size=(150, 4)) + 1e6
    f = KernelExpansion(kernel, X, dtype=np.float32)
    a = rng.normal(size=(150, 1))
    f.set(np.arange(150), a)
    np.testing.assert_allclose(f.scores(X), matrix(X - 1e6, X - 1e6) @ a, atol=1e-3)


@precisions
@pytest.mark.parametrize("form", FORMS)
def test_far_apart_is_exactly_zero(dtype, form):
    X = np.array([[0.0], [1e4]])
    for kernel in (SquaredExponential(gamma=1.0), Laplacian(gamma=1.0)):
        f = KernelExpansion(kernel, FORMS[form](X), dtype=dtype)
        f.set(np.array([0]), np.array([[1.0]]))
        assert f.scores(FORMS[form](X))[1, 0] == 0.0


# ---------------------------------------------------------------- growth and state


@every_kernel
@precisions
@pytest.mark.parametrize("form", FORMS)
def test_many_small_appends_equal_one(name, dtype, form):
    rng = np.random.default_rng(5)
    X, a = rows(rng, 300, 5), rng.normal(size=(300, 2))
    data = FORMS[form](X)
    whole = KernelExpansion(KERNELS[name][0], data, 2, dtype=dtype)
    whole.set(np.arange(300), a)
    grown = KernelExpansion(KERNELS[name][0], data, 2, dtype=dtype)
    edges = np.unique(np.concatenate([[0, 300], rng.integers(1, 300, 60)]))
    for first, last in pairwise(edges):
        grown.set(np.arange(first, last), a[first:last])
    assert len(grown) == 300
    np.testing.assert_array_equal(grown.scores(data), whole.scores(data))
    np.testing.assert_array_equal(grown.coefficients, whole.coefficients)


some_rows = st.lists(st.integers(0, 19), min_size=1, unique=True)


@settings(deadline=None, max_examples=50)
@given(st.lists(some_rows, max_size=12), st.sampled_from(sorted(FORMS)))
def test_set_against_a_dictionary(operations, form):
    rng = np.random.default_rng(6)
    X = rows(rng, 20, 3)
    f = KernelExpansion(KERNELS["rbf"][0], FORMS[form](X), 2, dtype=np.float64)
    model = {}
    for chosen in operations:
        values = rng.normal(size=(len(chosen), 2))
        f.set(np.array(chosen), values)
        model.update(zip(chosen, values, strict=True))
    order = list(model)
    assert f.rows.tolist() == order and len(f) == len(order)
    a = np.zeros((20, 2))
    for row, value in model.items():
        a[row] = value
    np.testing.assert_allclose(f.coefficients, a[order])
    np.testing.assert_allclose(f.scores(X), KERNELS["rbf"][1](X, X) @ a, atol=1e-12)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.booleans(), some_rows), max_size=12),
    st.sampled_from(sorted(FORMS)),
    st.booleans(),
)
def test_centres_against_a_dictionary(operations, form, keep_rows):
    """Sums are added to, or rows take the place of all centres."""
    rng = np.random.default_rng(6)
    X = rows(rng, 20, 3)
    data, sparse = FORMS[form](X), form != "dense"
    W = Centres(
        KERNELS["rbf"][0], 3, 2, offset=1.0, sparse=sparse, dtype=np.float64, n_threads=1,
        keep_rows=keep_rows,
    )  # fmt: skip
    model = {}
    for replace, chosen in operations:
        values = rng.normal(size=(len(chosen), 4))
        values[0] = 0.0  # nothing is added to this one
        if replace:
            model = dict(zip(chosen, values, strict=True))
            W.replace(np.array(chosen) + 70, data[chosen], values)
            continue
        W.add(np.array(chosen) + 70, data[chosen], values[:, :2], values[:, 2:])
        for row, value in zip(chosen[1:], values[1:], strict=True):
            model[row] = model.get(row, 0.0) + value
    order = list(model)
    assert W.ids.tolist() == [row + 70 for row in order] and len(W) == len(order)
    sums = np.array([model[row] for row in order]).reshape(-1, 4)
    np.testing.assert_allclose(W.sums, sums)
    if keep_rows:
        np.testing.assert_array_equal(W.rows.toarray() if sparse else W.rows, X[order])
    expected = (KERNELS["rbf"][1](X, X[order]) + 1) @ sums[:, :2]
    np.testing.assert_allclose(W.scores(data), expected, atol=1e-12)


@every_kernel
@precisions
@pytest.mark.parametrize("form", FORMS)
def test_pickle_gives_the_same_bits(name, dtype, form):
    rng = np.random.default_rng(7)
    data = FORMS[form](rows(rng, 70, 4))
    f = KernelExpansion(KERNELS[name][0], data, 3, offset=1.0, dtype=dtype)
    f.set(rng.permutation(70)[:50], rng.normal(size=(50, 3)))
    copy = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(copy.scores(data), f.scores(data))
    np.testing.assert_array_equal(copy.rows, f.rows)
    unused = np.setdiff1d(np.arange(70), f.rows)
    for g in (f, copy):  # and it still grows
        g.set(unused, np.ones((len(unused), 3)))
        g.set(np.arange(5), np.full((5, 3), 2.0))
    np.testing.assert_array_equal(copy.scores(data), f.scores(data))


def test_an_empty_one_grows_after_pickling():
    f = pickle.loads(pickle.dumps(KernelExpansion(Linear(), np.eye(3))))
    f.set(np.array([1]), np.array([[2.0]]))
    assert f.coefficients.tolist() == [[2.0]]


# ---------------------------------------------------------------- sparse and wide, threads


@pytest.mark.parametrize("matrix", [csr_array, csr_matrix])
@precisions
def test_mixed_sparse_and_dense(matrix, dtype):
    rng = np.random.default_rng(8)
    X, Y, a = rows(rng, 90, 8), rows(rng, 40, 8), rng.normal(size=(90, 2))
    for name, (kernel, exact) in KERNELS.items():
        expected, bound = exact(Y, X) @ a, tolerance(name, X, Y, a, dtype)
        for data, queries in [(X, matrix(Y)), (matrix(X), Y), (matrix(X), matrix(Y))]:
            f = KernelExpansion(kernel, data, 2, dtype=dtype)
            f.set(np.arange(90), a)
            assert (np.abs(f.scores(queries) - expected) <= bound).all(), name


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_wide_sparse_data_needs_little_memory():
    """A dense copy of these rows would need 8 GB; the process may have 600 MB more."""
    code = """
        import resource
        import numpy as np
        from scipy.sparse import csr_array
        from graphkm.expansion import KernelExpansion
        from graphkm.kernels import Cosine, Laplacian, Linear, Polynomial, SquaredExponential

        rng = np.random.default_rng(0)
        n, d, k = 2000, 1_000_000, 6
        columns = np.sort(rng.integers(d, size=(n, k)) // k * k + np.arange(k), axis=1)
        columns = np.minimum(columns, d - 1).astype(np.int32)
        columns[:, 0] = 3  # something in common
        X = csr_array((rng.normal(size=n * k), columns.ravel(),
                       np.arange(0, n * k + 1, k, dtype=np.int32)), shape=(n, d))
        X.sum_duplicates()
        a = rng.normal(size=(n, 1))
        used = open("/proc/self/statm").read().split()[0]
        limit = int(used) * resource.getpagesize() + 600 * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for kernel in (SquaredExponential(gamma=0.1), Linear(), Laplacian(gamma=0.1), Cosine(),
                       Polynomial(degree=2, gamma=0.1, coef0=1.0)):
            f = KernelExpansion(kernel, X, dtype=np.float64, n_threads=2)
            f.set(np.arange(n), a)
            found = f.scores(X)
            expected = kernel(X[:50], X) @ a
            np.testing.assert_allclose(found[:50], expected, rtol=1e-9, atol=1e-9)
        print("done")
    """
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("needs /proc")
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert run.stdout == "done\n", run.stderr


@precisions
@pytest.mark.parametrize("form", FORMS)
def test_threads_change_no_bit(dtype, form):
    rng = np.random.default_rng(9)
    n, d = 600, 20
    assert n * n * (0.5 * d + 24) > 4e6  # from here on threads are used
    data, a = FORMS[form](rows(rng, n, d)), rng.normal(size=(n, 3))
    for name in ("rbf", "laplacian", "poly"):
        results = []
        for threads in (1, 2, 3, 64):
            f = KernelExpansion(KERNELS[name][0], data, 3, dtype=dtype, n_threads=threads)
            f.set(np.arange(n), a)
            results.append((f.scores(data), f.between(np.arange(n), np.arange(n))))
        for other in results[1:]:
            for one, two in zip(results[0], other, strict=True):
                np.testing.assert_array_equal(one, two)


def test_concurrent_queries_do_not_meet():
    rng = np.random.default_rng(10)
    X, a = rows(rng, 500, 10), rng.normal(size=(500, 1))
    f = KernelExpansion(KERNELS["rbf"][0], X, n_threads=2)
    f.set(np.arange(500), a)
    alone = f.scores(X)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(f.scores, [X] * 12):
            np.testing.assert_array_equal(scores, alone)


def test_long_inputs_are_cut_without_a_seam(monkeypatch):
    rng = np.random.default_rng(11)
    X, Y = rows(rng, 50, 4), rows(rng, 333, 4)
    for form in FORMS:
        f = KernelExpansion(KERNELS["rbf"][0], FORMS[form](X), 2)
        f.set(np.arange(50), rng.normal(size=(50, 2)))
        whole = f.scores(FORMS[form](Y))
        with monkeypatch.context() as patch:
            patch.setattr("graphkm.expansion._ROWS", 100)
            np.testing.assert_array_equal(f.scores(FORMS[form](Y)), whole)


def test_default_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert default_threads() == 3
    for nonsense in ("", "0", "many", "2,1"):
        monkeypatch.setenv("OMP_NUM_THREADS", nonsense)
        assert 1 <= default_threads() <= (os.cpu_count() or 1)

"""What every backend must do, against plain NumPy. A card is used where there is one."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse

from graphkm.backends import DeviceError, active, config_context, make_store
from graphkm.kernels import Cosine, Laplacian, Linear, Polynomial, SquaredExponential
from graphkm.neighbours import on_device
from graphkm.neighbours.index import NeighbourIndex
from graphkm.neighbours.recall import recall

KERNELS = [
    SquaredExponential(gamma=0.3),
    SquaredExponential(gamma=0.3, sigma_f=2.0),
    Linear(),
    Polynomial(degree=3, gamma=0.2, coef0=1.0),
    Laplacian(gamma=0.2),
    Cosine(),
]


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def backend(request):
    try:
        context = config_context(device=request.param)
        context.__enter__()
    except DeviceError as reason:
        pytest.skip(str(reason))
    yield active()
    context.__exit__(None, None, None)


def rows(n, d, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


# ------------------------------------------------------------------ stores


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n, m, d, outputs", [(1, 1, 1, 1), (129, 300, 5, 3), (70, 257, 24, 40)])
def test_sums_and_values_are_those_of_the_kernel(backend, kernel, dtype, n, m, d, outputs):
    X, S = rows(n, d, 1, dtype), rows(m, d, 2, dtype)
    a = np.random.default_rng(3).normal(size=(m, outputs))
    store = make_store(kernel, d, outputs, sparse=False, dtype=dtype)
    store.append(S[: m // 2])
    store.append(S[m // 2 :])
    store.set(np.arange(m), a)
    K = kernel(X.astype(np.float64), S.astype(np.float64))
    scale = max(1.0, np.abs(K).max())
    tolerance = (1e-5 if dtype == np.float32 else 1e-12) * scale
    np.testing.assert_allclose(store.values(X), K, atol=tolerance)
    np.testing.assert_allclose(backend.get(store.matrix(X)), K, atol=tolerance)
    found = store.product(X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, K @ a, atol=tolerance * np.abs(a).sum(axis=0).max())
    assert len(store) == m


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sparse_rows_give_what_dense_ones_give(backend, kernel):
    X = random_sparse(60, 300, 0.05, random_state=0, format="csr", dtype=np.float32)
    X = csr_array(X)
    store = make_store(kernel, 300, 2, sparse=True, dtype=np.float32)
    store.append(X)
    a = np.random.default_rng(0).normal(size=(60, 2))
    store.set(np.arange(60), a)
    K = kernel(X.toarray().astype(np.float64), X.toarray().astype(np.float64))
    np.testing.assert_allclose(store.values(X), K, atol=2e-5 * max(1.0, K.max()))
    np.testing.assert_allclose(store.product(X), K @ a, atol=1e-3 * max(1.0, K.max()))


def test_coefficients_can_change_and_no_centre_gives_zero(backend):
    X = rows(10, 3)
    store = make_store(Linear(), 3, 1, sparse=False, dtype=np.float64)
    assert store.product(X.astype(np.float64)).tolist() == [[0.0]] * 10
    store.append(X.astype(np.float64))
    store.set(np.arange(10), np.ones((10, 1)))
    store.set(np.array([4]), np.array([[-2.0]]))
    a = np.where(np.arange(10) == 4, -2.0, 1.0)
    K = X.astype(np.float64) @ X.T.astype(np.float64)
    np.testing.assert_allclose(store.product(X.astype(np.float64))[:, 0], K @ a, atol=1e-12)


def test_the_same_call_gives_the_same_bits(backend):
    X, S = rows(700, 20), rows(5000, 20, 1)
    store = make_store(SquaredExponential(gamma=0.05), 20, 2, sparse=False)
    store.append(S)
    store.set(np.arange(5000), np.random.default_rng(0).normal(size=(5000, 2)))
    np.testing.assert_array_equal(store.product(X), store.product(X))


# ------------------------------------------------------------------ nearest rows


def by_brute_force(X, queries, k, own):
    """Return neighbours by distances of differences, in order of distance, then of number."""
    near = np.empty((len(queries), k), np.int64)
    d2 = np.empty((len(queries), k))
    for i, q in enumerate(queries.astype(np.float64)):
        squares = np.square(X.astype(np.float64) - q).sum(axis=1)
        if own:
            squares[i] = np.inf
        order = np.lexsort((np.arange(len(X)), squares))[:k]
        near[i], d2[i] = order, squares[order]
    return near, d2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n, d, k", [(700, 3, 10), (513, 54, 1), (300, 100, 64)])
def test_a_search_finds_the_nearest_rows(backend, n, d, k, dtype):
    if not backend.searches(10**6, d):
        pytest.skip("graphs search on the processor by themselves")
    X, queries = rows(n, d, 0, dtype) + 3, rows(200, d, 1, dtype) + 3
    search = backend.search(X)
    for given, own in ((queries, False), (X, True)):
        near, d2 = search.nearest(None if own else queries, k)
        wanted, distances = by_brute_force(X, given, k, own)
        np.testing.assert_allclose(d2, distances, rtol=1e-9)
        assert (near == wanted).mean() > 0.999


@pytest.mark.parametrize("unit", [1e-30, 1e-15, 1e15, 1e30])
def test_the_unit_of_the_rows_does_not_matter(backend, unit):
    if not backend.searches(10**6, 8):
        pytest.skip("graphs search on the processor by themselves")
    X, queries = rows(1000, 8, 0, np.float64), rows(100, 8, 1, np.float64)
    near, d2 = backend.search(unit * X).nearest(unit * queries, 10)
    wanted, distances = by_brute_force(X, queries, 10, own=False)
    np.testing.assert_array_equal(near, wanted)
    np.testing.assert_allclose(d2 / unit**2, distances, rtol=1e-9)


@pytest.mark.parametrize("tight", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("d", [30, 130])
def test_rows_near_each_other_are_told_apart(backend, d, tight):
    """Groups whose rows differ by less than the rounding of rough distances."""
    if not backend.searches(10**6, d):
        pytest.skip("graphs search on the processor by themselves")
    rng = np.random.default_rng(0)
    X = rows(9001, d)
    grouped = np.flatnonzero(rng.random(len(X)) < tight)
    X[grouped] = X[rng.integers(0, 20, len(grouped))]
    X[grouped] += 0.003 * rows(len(grouped), d, 1)
    near, d2 = backend.search(X).nearest(None, 10)
    some = rng.choice(len(X), 300, replace=False)
    found, distances = by_brute_force(X, X[some], 11, own=False)
    np.testing.assert_array_equal(found[:, 0], some)
    np.testing.assert_array_equal(near[some], found[:, 1:])
    np.testing.assert_allclose(d2[some], distances[:, 1:], rtol=1e-9)


@pytest.mark.parametrize("worth", [0.0, 1.0])
def test_what_a_pilot_leaves_out_changes_no_neighbours(backend, monkeypatch, worth):
    """A card tries cheap distances first, and leaves out those that prove few lists of a pilot."""
    if not backend.searches(10**6, 30):
        pytest.skip("graphs search on the processor by themselves")
    monkeypatch.setattr("graphkm.backends.cuda.search._BLOCK", 2048)
    monkeypatch.setattr("graphkm.backends.cuda.search._PILOT", 100)
    monkeypatch.setattr("graphkm.backends.cuda.search._WORTH", worth)
    X = rows(6000, 30)
    grouped = np.random.default_rng(1).random(len(X)) < 0.3
    X[grouped] = X[0] + 0.0001 * X[grouped]
    search, asked = backend.search(X), []
    search._by = lambda way, given, *rest: (asked.append(len(given)), by(way, given, *rest))[1]
    by = type(search)._by.__get__(search)
    near, d2 = search.nearest(None, 10)
    wanted, distances = by_brute_force(X, X[:300], 11, own=False)
    np.testing.assert_array_equal(near[:300], wanted[:, 1:])
    np.testing.assert_allclose(d2[:300], distances[:, 1:], rtol=1e-9)
    assert max(asked) <= 2048
    assert (sum(asked) < 6000 + 400) == (worth > 0)


@pytest.mark.parametrize("k", [1, 10, 64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["outlier", "line", "copies", "groups far apart"])
def test_what_single_precision_cannot_tell_is_found(backend, kind, dtype, k):
    """Rows whose distances are less than the rounding of their norms in single precision."""
    if not backend.searches(10**6, 8):
        pytest.skip("graphs search on the processor by themselves")
    n, rng = 9001, np.random.default_rng(0)
    X = rows(n, 1 if kind == "line" else 140, 0, np.float64)
    if kind == "outlier":
        X[17] = 1e6 if dtype == np.float32 else 1e12
    elif kind == "copies":
        X = np.repeat(X[: n // 100 + 1], 100, axis=0)[:n]
    elif kind == "groups far apart":
        X += rng.choice([-3000.0, 3000.0], size=(n, 1))
    X = X.astype(dtype)
    near, d2 = backend.search(X).nearest(None, k)
    some = np.append(rng.choice(n, 200, replace=False), 17)
    exact = X.astype(np.float64)
    squares = np.array([np.square(exact - q).sum(axis=1) for q in exact[some]])
    chosen = np.take_along_axis(squares, near[some], axis=1)
    squares[np.arange(len(some)), some] = np.inf
    np.testing.assert_allclose(d2[some], np.sort(squares, axis=1)[:, :k], rtol=1e-9)
    np.testing.assert_allclose(d2[some], chosen, rtol=1e-9)
    assert (near[some] != some[:, None]).all()
    assert all(len(set(row)) == k for row in near[some].tolist())


@pytest.mark.parametrize("order", ["drawn", "sorted"])
def test_ties_go_to_the_first_rows(backend, order):
    if not backend.searches(10**6, 4):
        pytest.skip("graphs search on the processor by themselves")
    X = np.random.default_rng(0).integers(0, 3, size=(2000, 4)).astype(np.float32)
    if order == "sorted":
        X = X[np.lexsort(X.T)]
    near, d2 = backend.search(X).nearest(None, 10)
    wanted, distances = by_brute_force(X, X, 10, own=True)
    np.testing.assert_allclose(d2, distances, rtol=1e-9)
    np.testing.assert_array_equal(near, wanted)


@pytest.mark.parametrize("d", [4, 130])
def test_whole_numbers_with_many_ties_are_searched_exactly(backend, d):
    """Hundreds of rows are as far as the k-th, and distances of one-hot columns are not rounded."""
    if not backend.searches(10**6, d):
        pytest.skip("graphs search on the processor by themselves")
    rng = np.random.default_rng(0)
    values, n = 7, 9001
    X = np.eye(values, dtype=np.float32)[rng.integers(0, values, size=(n, d // values + 1))]
    X = X.reshape(n, -1)
    near, d2 = backend.search(X).nearest(None, 10)
    some = rng.choice(n, 200, replace=False)
    squares = np.array([np.square(X - q).sum(axis=1) for q in X[some]])
    squares[np.arange(len(some)), some] = np.inf
    first = np.argsort(squares, axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(near[some], first)
    np.testing.assert_array_equal(d2[some], np.take_along_axis(squares, first, axis=1))


def cloud(n, d=6):
    rng = np.random.default_rng(0)
    return (4 * rng.normal(size=(30, d)))[rng.integers(0, 30, n)] + rng.normal(size=(n, d))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_find_nearly_all_and_all_cells_find_all(backend, dtype):
    if not backend.searches(10**6, 6):
        pytest.skip("graphs search on the processor by themselves")
    X, queries = np.split(cloud(9301).astype(dtype), [9001])
    search = backend.search(X)
    cells = search.cells
    assert cells.n_cells > 100
    for given in (None, queries):
        near, d2 = search.nearest(given, 10)
        few, some, every = (cells.nearest(given, 10, probes) for probes in (1, 30, cells.n_cells))
        np.testing.assert_array_equal(every[0], near)
        np.testing.assert_array_equal(every[1], d2)
        assert 0.2 < recall(few[1], d2) < recall(some[1], d2)
        assert recall(some[1], d2) > 0.97
    own = np.array([5, 3, 9000])
    np.testing.assert_array_equal(search.nearest_of(own, 10)[0], search.nearest(None, 10)[0][own])
    np.testing.assert_array_equal(
        cells.nearest_of(own, 10, 30)[0], cells.nearest(None, 10, 30)[0][own]
    )


def test_cells_with_fewer_rows_than_neighbours_say_so(backend):
    if not backend.searches(10**6, 2):
        pytest.skip("graphs search on the processor by themselves")
    far = 100.0 * np.arange(40.0)[:, None] * np.ones(2)
    X = np.repeat(far, 5, axis=0) + 0.1 * rows(200, 2, dtype=np.float64)
    near, d2 = backend.search(X).cells.nearest(None, 64, 1)
    assert ((near >= 0) == np.isfinite(d2)).all()
    assert (near[:, -1] == -1).all()


@pytest.mark.cuda
def test_many_rows_are_searched_in_cells_and_few_exactly(monkeypatch):
    try:
        context = config_context(device="cuda")
        context.__enter__()
    except DeviceError as reason:
        pytest.skip(str(reason))
    X = cloud(12_000).astype(np.float32)
    exact = NeighbourIndex(X)
    near, d2 = exact.neighbours(10)
    assert exact.misses_nothing(10)
    monkeypatch.setattr(on_device, "EXACT_WORK", 12_000.0**2 * 6 - 1)
    nearly = NeighbourIndex(X)
    assert not nearly.misses_nothing(10)
    assert 0.95 < recall(nearly.neighbours(10)[1], d2) < 1.0
    assert recall(nearly.nearest_to(X[:50], 10)[1], exact.nearest_to(X[:50], 10)[1]) > 0.95
    np.testing.assert_array_equal(NeighbourIndex(X, "exact").neighbours(10)[0], near)
    monkeypatch.setattr(on_device, "EXACT_WORK", 12_000.0**2 * 6)
    np.testing.assert_array_equal(NeighbourIndex(X).neighbours(10)[0], near)
    context.__exit__(None, None, None)


# ------------------------------------------------------------------ tables


def graph(n, seed=0):
    matrix = random_sparse(n, n, min(1.0, 8 / n), random_state=seed, dtype=np.float32)
    return csr_array(matrix + matrix.T)


@pytest.mark.long
@pytest.mark.parametrize("n, K", [(1, 1), (300, 4), (5000, 20), (257, 64)])
def test_the_passes_of_conjugate_gradients(backend, n, K):
    rng = np.random.default_rng(1)
    matrix, diagonal, inverse = graph(n), rng.uniform(1, 2, n), rng.uniform(1, 2, n)
    x, y, z, image = rng.normal(size=(4, n, K)).astype(np.float32)
    length, ratio = rng.normal(size=(2, K)).astype(np.float32)
    system = backend.columns(matrix, 1)
    np.testing.assert_array_equal(system.get(system.put(x)), x)
    X, out = system.put(x), system.put(np.zeros_like(x))
    sums = system.product(system.put(diagonal), -0.5, X, out)
    wanted = diagonal[:, None] * x - 0.5 * (matrix @ x)
    np.testing.assert_allclose(system.get(out), wanted, atol=1e-4)
    np.testing.assert_allclose(sums, (x * wanted).sum(axis=0), atol=1e-5 * n + 1e-4)
    solution, residual, direction = system.put(y), system.put(z), system.put(x)
    given = (solution, residual, direction, system.put(image), length, system.put(inverse))
    scaled, plain = system.step(*given)
    left = z - length * image
    np.testing.assert_allclose(system.get(solution), y + length * x, atol=1e-5)
    np.testing.assert_allclose(system.get(residual), left, atol=1e-5)
    np.testing.assert_allclose(scaled, (inverse[:, None] * left**2).sum(axis=0), rtol=1e-4)
    np.testing.assert_allclose(plain, (left**2).sum(axis=0), rtol=1e-4)
    system.turn(direction, residual, system.put(inverse), ratio)
    np.testing.assert_allclose(
        system.get(direction), inverse[:, None] * left + ratio * x, atol=1e-4
    )
    np.testing.assert_allclose(system.sums(X, X), (x.astype(float) ** 2).sum(axis=0), rtol=1e-5)
    at = csr_array(random_sparse(7, n, 0.5, random_state=0))
    np.testing.assert_allclose(system.read(system.reader(at), out), at @ wanted, atol=1e-3)
    np.testing.assert_allclose(system.get(system.square(matrix) @ X), matrix @ x, atol=1e-4)


def test_sparse_products(backend):
    A, B = graph(300), graph(300, 1)
    dense = rows(300, 4)
    np.testing.assert_allclose(backend.sparse_product(A, dense), A @ dense, atol=1e-5)
    np.testing.assert_allclose(
        backend.sparse_product(A.T, B).toarray(), (A.T @ B).toarray(), atol=1e-5
    )
    assert backend.block_rows > 0


# ------------------------------------------------------------------ dense matrices


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factorisations(backend, dtype):
    half = rows(50, 40, 0, np.float64)
    A = (half.T @ half + 40 * np.eye(40)).astype(dtype)
    B = rows(40, 3, 1, dtype)
    tolerance = 1e-3 if dtype == np.float32 else 1e-10
    L = backend.cholesky(backend.put(A.copy()))
    np.testing.assert_allclose(backend.get(L @ L.T), A, atol=tolerance * 10)
    once = backend.solve_lower(L, backend.put(B.copy()))
    np.testing.assert_allclose(backend.get(L @ once), B, atol=tolerance)
    twice = backend.solve_lower(L, once.copy(), transposed=True)
    np.testing.assert_allclose(A @ backend.get(twice), B, atol=tolerance * 10)
    inverse = backend.inverse_lower(L.copy())
    np.testing.assert_allclose(backend.get(inverse) @ backend.get(L), np.eye(40), atol=tolerance)
    values, vectors = map(backend.get, backend.eigh(backend.put(A.copy())))
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, atol=tolerance * 100)
    A[3, 3] = -1.0
    assert backend.cholesky(backend.put(A)) is None


# ------------------------------------------------------------------ which backend


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="device='tpu'"), config_context(device="tpu"):
        pass


def test_the_environment_names_a_device(monkeypatch):
    monkeypatch.setenv("GRAPHKM_DEVICE", "abacus")
    with pytest.raises(ValueError, match="GRAPHKM_DEVICE='abacus'"):
        active()
    monkeypatch.setenv("GRAPHKM_DEVICE", "cpu")
    assert active().name == "cpu"


def test_a_device_has_one_backend():
    with config_context(device="auto"):
        found = active()
    with config_context(device=found.name):
        assert active() is found


def test_a_context_ends_where_it_ends():
    before = active()
    with config_context(device="auto"):
        assert active().name in ("cpu", "cuda")
    assert active() is before

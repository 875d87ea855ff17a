"""The compiled passes of conjugate gradients, against NumPy and SciPy in float64."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from graphkm import _native
from graphkm.backends import SparseColumns, columns_step, columns_turn

COLUMNS = [1, 2, 3, 4, 5, 7, 8, 10, 14, 16, 33]
SIZES = [1, 10, 10_007]


def random_matrix(n, seed=0):
    """Return about fifteen entries in every row but one, which has none."""
    rng = np.random.default_rng(seed)
    density = min(1.0, 15 / n)
    matrix = random_array((n, n), density=density, rng=rng, format="lil", dtype=np.float32)
    matrix[n // 2] = 0.0
    return csr_array(matrix, dtype=np.float32)


def tables(n, K, number, seed=1):
    return np.random.default_rng(seed).normal(size=(number, n, K)).astype(np.float32)


def positive(n, seed=2):
    return np.random.default_rng(seed).uniform(0.5, 2.0, n).astype(np.float32)


def per_column(K, seed=3):
    return np.random.default_rng(seed).normal(size=K).astype(np.float32)


def double(*arrays):
    return [array.astype(np.float64) for array in arrays]


def check_product(matrix, diagonal, scale, X):
    out = np.full_like(X, np.nan)
    sums = SparseColumns(matrix).product(diagonal, scale, X, out, n_threads=1)
    D, x = double(diagonal, X)
    expected = D[:, None] * x + scale * (matrix.astype(np.float64) @ x)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=2e-5)
    # The sums are of the rounded table, so they are exact to double precision.
    np.testing.assert_allclose(sums, (x * out).sum(axis=0), rtol=1e-10, atol=1e-10)


@pytest.mark.dear
@pytest.mark.parametrize("K", COLUMNS)
@pytest.mark.parametrize("n", SIZES)
def test_product(n, K):
    (X,) = tables(n, K, 1)
    check_product(random_matrix(n), positive(n), -0.7, X)


@pytest.mark.parametrize("n", SIZES)
def test_product_of_a_matrix_without_entries(n):
    (X,) = tables(n, 3, 1)
    check_product(csr_array((n, n), dtype=np.float32), positive(n), 2.0, X)


@pytest.mark.parametrize("shape", [(0, 3), (5, 0)])
def test_tables_without_entries(shape):
    n, K = shape
    X, out = tables(n, K, 2)
    sums = SparseColumns(csr_array((n, n))).product(positive(n), 1.0, X, out, n_threads=2)
    assert sums.tolist() == [0.0] * K


def test_other_numbers_and_long_indices_are_converted():
    matrix = random_matrix(10).astype(np.float64)
    matrix.indptr, matrix.indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    (X,) = tables(10, 2, 1)
    check_product(matrix, positive(10), 1.0, X)


def test_the_matrix_outlives_its_arrays():
    n = 2000
    X, out = tables(n, 4, 2)
    expected = random_matrix(n) @ X
    matrix = SparseColumns(random_matrix(n))
    junk = [np.full(15 * n, 10**9, np.int32) for _ in range(20)]
    matrix.product(np.zeros(n, np.float32), 1.0, X, out, n_threads=1)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    assert len(junk) == 20


@pytest.mark.parametrize("K", COLUMNS)
@pytest.mark.parametrize("n", SIZES)
def test_step(n, K):
    solution, residual, direction, image = tables(n, K, 4)
    length, inverse = per_column(K), positive(n)
    s, r, d, q, a, m = double(solution, residual, direction, image, length, inverse)
    scaled, plain = columns_step(solution, residual, direction, image, length, inverse, n_threads=1)
    np.testing.assert_allclose(solution, s + a * d, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(residual, r - a * q, rtol=1e-6, atol=1e-6)
    (after,) = double(residual)
    np.testing.assert_allclose(plain, (after**2).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scaled, (m[:, None] * after**2).sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("K", COLUMNS)
@pytest.mark.parametrize("n", SIZES)
def test_turn(n, K):
    direction, residual = tables(n, K, 2)
    ratio, inverse = per_column(K), positive(n)
    d, r, b, m = double(direction, residual, ratio, inverse)
    columns_turn(direction, residual, inverse, ratio, n_threads=1)
    np.testing.assert_allclose(direction, m[:, None] * r + b * d, rtol=1e-6, atol=1e-6)


def iterate(n, K, n_threads):
    """Return everything that two rounds of the three passes compute."""
    matrix, diagonal, inverse = SparseColumns(random_matrix(n)), positive(n), positive(n, 5)
    solution, residual, direction, image = tables(n, K, 4)
    length, ratio = per_column(K), per_column(K, 6)
    sums = []
    for _ in range(2):
        sums.append(matrix.product(diagonal, 0.3, direction, image, n_threads=n_threads))
        sums += columns_step(
            solution, residual, direction, image, length, inverse, n_threads=n_threads
        )
        columns_turn(direction, residual, inverse, ratio, n_threads=n_threads)
    return [solution, residual, direction, image, *sums]


@pytest.mark.long
@pytest.mark.parametrize("K", COLUMNS)
def test_any_number_of_threads_gives_the_same_bits(K):
    one = iterate(10_007, K, 1)
    for n_threads in (2, 5):
        for a, b in zip(one, iterate(10_007, K, n_threads), strict=True):
            assert a.tobytes() == b.tobytes()


def test_the_passes_solve_a_system():
    """Conjugate gradients made of the passes reach the solution of a direct solver."""
    n, K = 300, 3
    random = random_matrix(n)
    graph = csr_array(abs(random + random.T), dtype=np.float32)
    diagonal = (np.asarray(graph.sum(axis=1)).ravel() + 0.5).astype(np.float32)
    (B,) = tables(n, K, 1)
    solution, image, residual, inverse = np.zeros_like(B), np.empty_like(B), B.copy(), 1 / diagonal
    direction = inverse[:, None] * residual
    old = (inverse[:, None] * residual**2).sum(axis=0)
    matrix = SparseColumns(graph)
    for _ in range(60):
        curvature = matrix.product(diagonal, -1.0, direction, image, n_threads=2)
        length = (old / curvature).astype(np.float32)
        new, _plain = columns_step(
            solution, residual, direction, image, length, inverse, n_threads=2
        )
        ratio = (new / old).astype(np.float32)
        columns_turn(direction, residual, inverse, ratio, n_threads=2)
        old = new
    exact = np.linalg.solve(np.diag(diagonal.astype(float)) - graph.toarray(), B.astype(float))
    np.testing.assert_allclose(solution, exact, rtol=1e-3, atol=1e-4)


# ---------------------------------------------------------------- what is refused


def matrix_arrays():
    return {
        "indptr": np.array([0, 1, 2], np.int32),
        "indices": np.array([1, 0], np.int32),
        "values": np.array([1.0, 1.0], np.float32),
    }


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("indptr", np.array([0, 2, 1], np.int32), "must not decrease"),
        ("indptr", np.array([1, 1, 2], np.int32), "must start with 0"),
        ("indptr", np.array([], np.int32), "must start with 0"),
        ("indptr", np.array([0, 1, 1], np.int32), "must end with the number of values"),
        ("indptr", np.array([0, 1, 3], np.int32), "must end with the number of values"),
        ("indices", np.array([1, 2], np.int32), "out of range"),
        ("indices", np.array([-1, 0], np.int32), "out of range"),
        ("indices", np.array([1], np.int32), "indices has 1 entries"),
        ("values", np.array([1.0, np.nan], np.float32), "finite"),
        ("values", np.array([np.inf, 1.0], np.float32), "finite"),
    ],
)
def test_a_bad_matrix(name, array, message):
    _native.SparseColumns(**matrix_arrays())
    with pytest.raises(ValueError, match=message):
        _native.SparseColumns(**(matrix_arrays() | {name: array}))


@pytest.mark.parametrize("name", ["indptr", "indices", "values"])
def test_a_matrix_of_other_numbers(name):
    arrays = matrix_arrays()
    arrays[name] = arrays[name].astype(np.float64)
    with pytest.raises(TypeError):
        _native.SparseColumns(**arrays)


def test_a_matrix_that_is_not_square():
    with pytest.raises(ValueError, match="square"):
        SparseColumns(csr_array((2, 3)))


def product_arguments():
    X, out = tables(5, 3, 2)
    return {"diagonal": positive(5), "scale": 1.0, "X": X, "out": out}


def step_arguments():
    solution, residual, direction, image = tables(5, 3, 4)
    return {
        "solution": solution,
        "residual": residual,
        "direction": direction,
        "image": image,
        "length": per_column(3),
        "inverse_diagonal": positive(5),
    }


def turn_arguments():
    direction, residual = tables(5, 3, 2)
    return {
        "direction": direction,
        "residual": residual,
        "inverse_diagonal": positive(5),
        "ratio": per_column(3),
    }


PASSES = {
    "product": (SparseColumns(random_matrix(5)).product, product_arguments),
    "step": (columns_step, step_arguments),
    "turn": (columns_turn, turn_arguments),
}
ARRAYS = [
    (name, argument)
    for name, (_, arguments) in PASSES.items()
    for argument, value in arguments().items()
    if isinstance(value, np.ndarray)
]


def twice_as_wide(array):
    """Return every other entry of the last axis: the same values, not contiguous."""
    return np.repeat(array, 2, axis=-1)[..., ::2]


@pytest.mark.parametrize(("name", "argument"), ARRAYS)
@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda array: array.astype(np.float64), TypeError),
        (lambda array: array.astype(np.int32), TypeError),
        (lambda array: array[None], TypeError),
        (twice_as_wide, TypeError),
        (lambda array: array[:-1], ValueError),
        (lambda array: np.repeat(array, 2, axis=-1), ValueError),
    ],
    ids=["double", "integer", "another axis", "not contiguous", "too short", "too wide"],
)
def test_a_bad_array(name, argument, change, error):
    call, arguments = PASSES[name]
    given = arguments()
    call(**given, n_threads=1)
    with pytest.raises(error):
        call(**(given | {argument: change(given[argument])}), n_threads=1)


@pytest.mark.parametrize(
    ("name", "argument"),
    [("product", "out"), ("step", "solution"), ("step", "residual"), ("turn", "direction")],
)
def test_what_is_written_must_be_writable(name, argument):
    call, arguments = PASSES[name]
    given = arguments()
    given[argument].flags.writeable = False
    with pytest.raises(TypeError):
        call(**given, n_threads=1)


def test_a_product_into_its_own_table():
    memory = np.zeros((6, 3), np.float32)
    for out in (memory[:5], memory[1:]):
        with pytest.raises(ValueError, match="share memory"):
            PASSES["product"][0](positive(5), 1.0, memory[:5], out, n_threads=1)

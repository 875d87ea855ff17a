"""Kernels against scikit-learn, literal double loops and SVC's own gamma."""

import math
import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from flat import gkm_classifier
from graphkm import GKMClassifier
from graphkm.kernels import (
    Cosine,
    FunctionKernel,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    SquaredExponential,
    resolve_gamma,
    resolve_kernel,
)


def quadratic(X, Y):
    return (X @ Y.T) ** 2


# Each kernel with its formula for one pair and the scikit-learn function it should equal.
CASES = {
    "rbf": (
        SquaredExponential(gamma=0.3, sigma_f=1.5),
        lambda x, y: 1.5**2 * math.exp(-0.3 * sum((x - y) ** 2)),
        lambda X, Y: 2.25 * pairwise.rbf_kernel(X, Y, gamma=0.3),
    ),
    "linear": (Linear(), lambda x, y: sum(x * y), pairwise.linear_kernel),
    "poly": (
        Polynomial(degree=3, gamma=0.5, coef0=1.0),
        lambda x, y: (0.5 * sum(x * y) + 1) ** 3,
        lambda X, Y: pairwise.polynomial_kernel(X, Y, degree=3, gamma=0.5, coef0=1),
    ),
    "laplacian": (
        Laplacian(gamma=0.2),
        lambda x, y: math.exp(-0.2 * sum(abs(x - y))),
        lambda X, Y: pairwise.laplacian_kernel(X, Y, gamma=0.2),
    ),
    "cosine": (
        Cosine(),
        lambda x, y: sum(x * y) / math.hypot(*x) / math.hypot(*y) if any(x) and any(y) else 0.0,
        pairwise.cosine_similarity,
    ),
}
every_kernel = pytest.mark.parametrize(
    ("kernel", "formula", "sklearn_kernel"), CASES.values(), ids=CASES
)
FORMATS = {"dense": np.asarray, "csr_matrix": csr_matrix, "csr_array": csr_array}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))
    X[rng.random(X.shape) < 0.4] = 0
    X[2] = 0  # a zero row, for the cosine
    Y[0] = X[1]
    return X, Y


@every_kernel
@pytest.mark.parametrize("right", FORMATS)
@pytest.mark.parametrize("left", FORMATS)
def test_matrix_is_the_formula(kernel, formula, sklearn_kernel, left, right, rows):
    X, Y = rows
    K = kernel(FORMATS[left](X), FORMATS[right](Y))
    assert type(K) is np.ndarray and K.dtype == np.float64
    np.testing.assert_allclose(K, [[formula(x, y) for y in Y] for x in X], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(K, sklearn_kernel(X, Y), rtol=1e-12, atol=1e-14)


@every_kernel
@pytest.mark.parametrize("form", FORMATS)
def test_diagonal_and_bound(kernel, formula, sklearn_kernel, form, rows):
    X, _ = rows
    diagonal = kernel.diagonal(FORMATS[form](X))
    assert diagonal.shape == (7,) and diagonal.dtype == np.float64
    np.testing.assert_allclose(diagonal, [formula(x, x) for x in X], rtol=1e-12)
    if kernel.bounded is not None:
        assert diagonal.max() == pytest.approx(kernel.bounded)


def test_bounds_known_for_all_x():
    assert SquaredExponential(sigma_f=3).bounded == 9
    assert Laplacian().bounded == Cosine().bounded == 1
    unbounded = [Linear(), Polynomial(), Precomputed(), FunctionKernel(quadratic)]
    assert all(kernel.bounded is None for kernel in unbounded)


@every_kernel
def test_gram_is_symmetric_and_positive_semidefinite(kernel, formula, sklearn_kernel):
    X = np.random.default_rng(1).normal(size=(60, 3)).astype(np.float32)
    K = kernel(X, X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-12 * np.abs(K).max() * len(X)


@every_kernel
def test_integer_and_single_rows_are_evaluated_in_double(kernel, formula, sklearn_kernel):
    X = np.array([[100, -100, 50], [3, 0, 1]], np.int8)  # products overflow int8
    expected = kernel(X.astype(np.float64), X.astype(np.float64))
    np.testing.assert_array_equal(kernel(X, X), expected)
    np.testing.assert_array_equal(kernel(X.astype(np.float32), X.astype(np.float32)), expected)


@every_kernel
def test_no_rows(kernel, formula, sklearn_kernel, rows):
    X, _ = rows
    assert kernel(X, X[:0]).shape == (7, 0)
    assert kernel(X[:0], X).shape == (0, 7)
    assert kernel.diagonal(X[:0]).shape == (0,)


def test_distances_survive_a_large_offset():
    X = np.random.default_rng(2).normal(size=(20, 3))
    # Offsets that are powers of two, and coarse X, keep X + offset exact.
    X = np.round(X * 1024) / 1024
    kernel = SquaredExponential(gamma=1.0)
    np.testing.assert_allclose(kernel(X + 2.0**24, X + 2.0**24), kernel(X, X), rtol=1e-9)


def test_rounding_never_makes_a_distance_negative():
    X = csr_matrix(np.random.default_rng(3).normal(scale=1e4, size=(200, 10)))
    assert SquaredExponential(gamma=100.0)(X, X.copy()).max() <= 1.0


def test_cosine_of_zero_rows_is_zero():
    Z = np.zeros((2, 3))
    np.testing.assert_array_equal(Cosine()(Z, np.ones((1, 3))), [[0.0], [0.0]])
    np.testing.assert_array_equal(Cosine().diagonal(Z), [0.0, 0.0])


def test_with_gamma_fills_only_what_is_open():
    assert SquaredExponential(sigma_f=2.0).with_gamma(0.5) == SquaredExponential(0.5, 2.0)
    assert Polynomial(2, coef0=1.0).with_gamma(0.5) == Polynomial(2, 0.5, 1.0)
    assert Laplacian().with_gamma(0.5) == Laplacian(0.5)
    for kernel in (Laplacian(0.1), Linear(), Cosine(), Precomputed()):
        assert kernel.with_gamma(0.5) is kernel


@pytest.mark.parametrize("kernel", [SquaredExponential(), Polynomial(), Laplacian()])
def test_open_gamma_is_an_error(kernel):
    with pytest.raises(ValueError, match="has no gamma yet"):
        kernel(np.ones((1, 1)), np.ones((1, 1)))


@pytest.mark.parametrize("form", FORMATS)
def test_precomputed_picks_columns(form):
    K = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    picked = Precomputed()(FORMATS[form](K), np.array([3, 0]))
    np.testing.assert_array_equal(picked, [[3, 0], [7, 4], [11, 8]])
    square = FORMATS[form](K[:, :3])
    np.testing.assert_array_equal(Precomputed().diagonal(square), [0, 5, 10])


def test_precomputed_errors():
    with pytest.raises(ValueError, match="integer column indices"):
        Precomputed()(np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match="not square"):
        Precomputed().diagonal(np.ones((2, 3)))


@pytest.mark.parametrize("form", FORMATS)
def test_function_kernel(form):
    X = np.random.default_rng(4).normal(size=(150, 3))
    kernel = FunctionKernel(lambda A, B: Polynomial(2, 1.0)(A, B))
    np.testing.assert_allclose(kernel(FORMATS[form](X), X[:5]), (X @ X[:5].T) ** 2)
    np.testing.assert_allclose(kernel.diagonal(FORMATS[form](X)), (X**2).sum(axis=1) ** 2)


def test_function_kernel_diagonal_asks_for_small_tiles_only():
    sizes = []

    def function(A, B):
        sizes.append((len(A), len(B)))
        return A @ B.T

    FunctionKernel(function).diagonal(np.ones((1000, 1)))
    assert max(max(pair) for pair in sizes) <= 64
    assert sum(n for n, _ in sizes) == 1000


def test_function_kernel_errors():
    X = np.ones((3, 2))
    with pytest.raises(ValueError, match=r"returned shape \(3,\).*shape \(3, 3\)"):
        FunctionKernel(lambda A, B: np.ones(3))(X, X)
    with pytest.raises(ValueError, match="NaN or inf"):
        FunctionKernel(lambda A, B: np.full((3, 3), np.nan))(X, X)


@pytest.mark.parametrize("gamma", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("cls", [SquaredExponential, Polynomial, Laplacian])
def test_bad_gamma(cls, gamma):
    with pytest.raises(ValueError, match="gamma must be a positive"):
        cls(gamma=gamma)
    with pytest.raises(ValueError, match="gamma must be a positive"):
        cls().with_gamma(gamma)
    with pytest.raises(ValueError, match="gamma must be a positive"):
        resolve_gamma(gamma, np.ones((1, 1)))


@pytest.mark.parametrize(
    ("cls", "parameters", "message"),
    [
        (SquaredExponential, {"sigma_f": 0.0}, "sigma_f"),
        (SquaredExponential, {"sigma_f": math.inf}, "sigma_f"),
        (Polynomial, {"degree": 0}, "degree"),
        (Polynomial, {"degree": 2.0}, "degree"),
        (Polynomial, {"coef0": -0.5}, "coef0"),
        (Polynomial, {"coef0": math.nan}, "coef0"),
    ],
)
def test_bad_parameters(cls, parameters, message):
    with pytest.raises(ValueError, match=message):
        cls(**parameters)


def test_resolve_kernel_by_name():
    names = ["rbf", "linear", "poly", "laplacian", "cosine", "precomputed"]
    kernels = [resolve_kernel(name) for name in names]
    assert [kernel.name for kernel in kernels] == names
    assert [kernel.native_code for kernel in kernels] == [0, 1, 2, 3, 4, None]


def test_resolve_kernel_objects_and_functions():
    kernel = Laplacian(0.5)
    assert resolve_kernel(kernel) is kernel
    assert resolve_kernel(quadratic) == FunctionKernel(quadratic)
    assert FunctionKernel.native_code is None


@pytest.mark.parametrize("kernel", ["gaussian", None, 3, SquaredExponential])
def test_resolve_kernel_names_the_choices(kernel):
    with pytest.raises(ValueError, match="'rbf', 'linear', 'poly', 'laplacian', 'cosine'"):
        resolve_kernel(kernel)


@pytest.mark.parametrize("kernel", [*(case[0] for case in CASES.values()), Precomputed()])
def test_kernels_are_values(kernel):
    copy = pickle.loads(pickle.dumps(kernel))
    assert copy == kernel and hash(copy) == hash(kernel) and isinstance(copy, Kernel)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.25])
def test_gamma_is_the_one_of_svc(gamma, form):
    rng = np.random.default_rng(5)
    X = rng.normal(loc=2, scale=3, size=(40, 6)) * (rng.random((40, 6)) < 0.5)
    y = np.arange(40) % 2
    expected = SVC(gamma=gamma).fit(csr_matrix(X) if form != "dense" else X, y)._gamma
    assert resolve_gamma(gamma, FORMATS[form](X)) == pytest.approx(expected, rel=1e-12)


def test_gamma_of_noncanonical_csr():
    X = csr_matrix((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), (2, 2))
    assert resolve_gamma("scale", X) == pytest.approx(resolve_gamma("scale", X.toarray()))
    assert X.nnz == 3  # the user's matrix is left as it was


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 + 0.1])
def test_gamma_of_constant_rows_is_one(value, form):
    X = np.full((1001, 3), value)
    assert resolve_gamma("scale", FORMATS[form](X)) == 1.0


def test_gamma_of_offset_single_precision_does_not_cancel():
    X = (1000 + np.random.default_rng(6).random((5000, 4))).astype(np.float32)
    expected = 1 / (4 * X.astype(np.float64).var())
    assert resolve_gamma("scale", X) == pytest.approx(expected, rel=1e-10)


def test_gamma_makes_no_large_copy():
    X = np.random.default_rng(7).random((600_000, 20), dtype=np.float32)
    expected = 1 / (20 * X.var(dtype=np.float64))
    tracemalloc.start()
    gamma = resolve_gamma("scale", X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert gamma == pytest.approx(expected, rel=1e-9)
    assert peak < X.nbytes * 0.75


def test_unknown_gamma_name():
    with pytest.raises(ValueError, match="'scale', 'auto' or a positive number, got 'median'"):
        resolve_gamma("median", np.ones((2, 2)))


# ---------------------------------------------------------------- traits


def test_kernels_say_what_they_are():
    traits = {
        "rbf": (True, True, 0.5),
        "laplacian": (True, True, None),
        "linear": (True, False, None),
        "poly": (True, False, None),
        "cosine": (True, False, None),
        "precomputed": (False, False, None),
    }
    for name, (has_rows, stationary, gamma) in traits.items():
        kernel = resolve_kernel(name).with_gamma(0.5)
        found = (kernel.has_rows, kernel.stationary, kernel.euclidean_gamma)
        assert found == (has_rows, stationary, gamma)
    assert SquaredExponential().euclidean_gamma is None


def test_parameters_are_addressed_by_name():
    kernel = Polynomial(degree=2, gamma=0.5)
    assert kernel.get_params() == {"degree": 2, "gamma": 0.5, "coef0": 0.0}
    assert kernel.with_params(coef0=1.0) == Polynomial(degree=2, gamma=0.5, coef0=1.0)
    assert clone(kernel) is kernel
    assert Linear().get_params() == {}
    with pytest.raises(ValueError, match="degree must be a whole number"):
        kernel.with_params(degree=0)
    with pytest.raises(ValueError, match="Linear has no parameter 'gamma'; it has none"):
        Linear().with_params(gamma=1.0)


class Bump(Kernel):
    """A kernel from outside, with its formulas and nothing else: exp(-||x - y||^2)."""

    def _matrix(self, X, Y):
        return np.exp(-cdist(X, Y, "sqeuclidean"))

    def _diagonal(self, X):
        return np.ones(X.shape[0])


class StationaryBump(Bump):
    """The same, and it says that it depends on x - y."""

    stationary = True


@pytest.mark.parametrize("kernel", [Bump(), StationaryBump()])
@pytest.mark.parametrize("solver", ["newton", "sgd"])
def test_a_kernel_from_outside(kernel, solver):
    X, truth = make_moons(120, noise=0.1, random_state=0)
    y = np.where(np.arange(120) % 4 == 0, truth, -1)
    given = {"C": 1.0, "C_graph": 0.1, "weights": 1.0, "solver": solver, "random_state": 0}
    own, known = (
        gkm_classifier(kernel=k, precision="double", **given).fit(X, y)
        for k in (kernel, SquaredExponential(gamma=1.0))
    )
    np.testing.assert_allclose(own.decision_function(X), known.decision_function(X), atol=1e-4)


def test_a_stationary_kernel_from_outside_must_reach():
    X = 1e3 * np.arange(10.0)[:, None]
    y = np.where(np.arange(10) < 6, np.arange(10) % 2, -1)
    with pytest.raises(
        ValueError, match=r"StationaryBump\(\) makes every kernel value .* underflow"
    ):
        GKMClassifier(kernel=StationaryBump()).fit(X, y)
    with pytest.raises(ValueError, match=r"gamma=1 makes every kernel value .* underflow"):
        GKMClassifier(kernel=SquaredExponential(gamma=1.0)).fit(X, y)

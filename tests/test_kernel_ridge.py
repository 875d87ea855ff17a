"""Kernel ridge machines: the solution, leave-one-out against refits, weights, units, landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification, make_moons
from sklearn.kernel_ridge import KernelRidge

from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.kernel_ridge.solvers import FullRidge, RidgeProblem, held_out_by_alpha
from graphkm.kernels import SquaredExponential
from graphkm.ridge.landmarks import LandmarkBasis, LandmarkSums

ONE = {"gammas": [0.3], "alphas": [0.2]}


@pytest.fixture
def classes():
    X, y = make_classification(
        90, n_features=5, n_informative=4, n_redundant=0, n_classes=3, random_state=0
    )
    return X, np.array(["a", "b", "c"])[y]


@pytest.fixture
def values():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    return X, 5 + np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * random.normal(size=60)


def random_problem(n=60, seed=0, dtype=np.float64):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)).astype(dtype)
    targets = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]]).astype(np.float64)
    weights = random.uniform(0.2, 3.0, n)
    return RidgeProblem(SquaredExponential(gamma=0.3), X, targets, weights)


# ---------------------------------------------------------------- the solution


def test_solution_is_that_of_scikit_learns_kernel_ridge(values):
    X, y = values
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    machine = KernelRidgeCV(**ONE).fit(X, y, weights)
    mean = np.average(y, weights=weights)
    other = KernelRidge(alpha=0.2, kernel="rbf", gamma=0.3).fit(X, y - mean, weights)
    np.testing.assert_allclose(machine.predict(X + 0.1), mean + other.predict(X + 0.1), rtol=1e-9)
    np.testing.assert_allclose(machine.dual_coef_[0], other.dual_coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(machine.intercept_, mean)


def test_classes_are_the_shares_of_kernel_ridge_on_indicators(classes):
    X, y = classes
    machine = KernelRidgeClassifierCV(**ONE).fit(X, y)
    indicators = (y[:, None] == machine.classes_) - 1 / 3
    other = KernelRidge(alpha=0.2, kernel="rbf", gamma=0.3).fit(X, indicators)
    np.testing.assert_allclose(machine.decision_function(X), other.predict(X), atol=1e-9)
    np.testing.assert_allclose(machine.shares(X), other.predict(X) + 1 / 3, atol=1e-9)
    np.testing.assert_allclose(machine.shares(X).sum(axis=1), 1)
    proba = machine.predict_proba(X)
    assert proba.min() >= 0
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (machine.classes_[proba.argmax(axis=1)] == machine.predict(X)).all()


def test_single_precision_is_refined():
    problem = random_problem(1500, dtype=np.float32)
    single = FullRidge(problem, np.float32).fit(0.1)
    double = FullRidge(problem, np.float64).fit(0.1)
    scale = np.abs(double.coefficients).max()
    np.testing.assert_allclose(single.coefficients, double.coefficients, atol=1e-4 * scale)
    np.testing.assert_allclose(single.held_out, double.held_out, atol=1e-4)


# ---------------------------------------------------------------- leave-one-out


@pytest.mark.dear
@pytest.mark.parametrize("n_classes", [2, 3])
def test_held_out_shares_are_those_of_refits(classes, n_classes):
    X, y = classes
    keep = np.isin(y, ["a", "b", "c"][:n_classes])
    X, y = X[keep], y[keep]
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    weights[3] = 0
    machine = KernelRidgeClassifierCV(**ONE).fit(X, y, weights)
    refits = np.empty_like(machine.held_out_)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        refits[i] = (
            KernelRidgeClassifierCV(**ONE).fit(X[rest], y[rest], weights[rest]).shares(X[i : i + 1])
        )
    np.testing.assert_allclose(machine.held_out_, refits, atol=1e-8)
    hits = machine.classes_[refits.argmax(axis=1)] == y
    assert machine.best_score_ == pytest.approx(np.average(hits, weights=weights))


def test_held_out_targets_are_those_of_refits_with_their_own_mean(values):
    X, y = values
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    weights[3] = 0
    machine = KernelRidgeCV(**ONE).fit(X, y, weights)
    refits = np.empty(len(y))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        refits[i] = KernelRidgeCV(**ONE).fit(X[rest], y[rest], weights[rest]).predict(X[[i]])[0]
    np.testing.assert_allclose(machine.held_out_, refits, rtol=1e-8)
    errors = np.average(np.square(refits - y), weights=weights)
    spread = np.average(np.square(y - machine.origin_), weights=weights)
    assert machine.best_score_ == pytest.approx(1 - errors / spread)


def landmark_fit(problem, landmarks, alpha, cuts=()):
    """Return coefficients and held-out scores, from sums over parts of the rows."""
    basis = LandmarkBasis(problem.kernel, problem.X[landmarks], np.float64)
    parts = list(
        zip(
            *(np.split(a, cuts) for a in (problem.X, problem.targets, problem.weights)), strict=True
        )
    )
    every = zip(*(basis.sums(*part) for part in parts), strict=True)
    sums = LandmarkSums(*(np.sum(own, axis=0) for own in every))
    fit = basis.fit(sums, alpha)
    return fit.coefficients, np.concatenate([basis.held_out(fit, *part) for part in parts])


@pytest.mark.parametrize("cuts", [(), (7, 7, 31)])
def test_landmarks_hold_out_as_refits_do(cuts):
    problem, landmarks = random_problem(50), np.arange(0, 50, 4)
    _, held_out = landmark_fit(problem, landmarks, 0.2, cuts)
    K = problem.kernel(problem.X, problem.X[landmarks])
    gram = K[landmarks]
    for i in (0, 1, 17):
        s = np.where(np.arange(50) == i, 0.0, problem.weights)[:, None]
        a = np.linalg.solve(K.T @ (s * K) + 0.2 * gram, K.T @ (s * problem.targets))
        np.testing.assert_allclose(held_out[i], K[i] @ a, atol=1e-7)


def test_all_ways_to_hold_out_agree():
    problem, every = random_problem(), np.arange(60)
    alphas = np.array([0.01, 1.0])
    by_alpha = list(held_out_by_alpha(problem, every, every, alphas))
    for alpha, searched in zip(alphas, by_alpha, strict=True):
        full = FullRidge(problem, np.float64).fit(alpha)
        coefficients, few = landmark_fit(problem, every, alpha)
        np.testing.assert_allclose(searched, full.held_out, atol=1e-8)
        np.testing.assert_allclose(few, full.held_out, atol=1e-8)
        K = problem.kernel(problem.X, problem.X)
        np.testing.assert_allclose(K @ coefficients, K @ full.coefficients, atol=1e-8)


# ---------------------------------------------------------------- the search


def test_the_best_of_all_pairs_is_chosen(values):
    X, y = values
    gammas, alphas = [0.01, 0.1, 1.0], [0.001, 0.1, 10.0]
    machine = KernelRidgeCV(gammas, alphas).fit(X, y)
    scores = {
        (gamma, alpha): KernelRidgeCV([gamma], [alpha]).fit(X, y).best_score_
        for gamma in gammas
        for alpha in alphas
    }
    assert (machine.gamma_, machine.alpha_) == max(scores, key=scores.get)
    assert machine.best_score_ == pytest.approx(max(scores.values()))


def test_gamma_is_searched_beyond_the_first_ones():
    X = np.linspace(0, 1, 400)[:, None]
    machine = KernelRidgeCV().fit(X, np.sin(40 * X.ravel()))
    assert machine.gamma_ * X.var() > 5
    assert machine.best_score_ > 0.99


def test_units_of_y_change_nothing_but_units(values):
    X, y = values
    machine = KernelRidgeCV().fit(X, y)
    other = KernelRidgeCV().fit(X, 1e4 * y + 1e6)
    assert (other.gamma_, other.alpha_) == (machine.gamma_, machine.alpha_)
    assert other.best_score_ == pytest.approx(machine.best_score_)
    for a, b in ((other.predict(X), machine.predict(X)), (other.held_out_, machine.held_out_)):
        np.testing.assert_allclose(a, 1e4 * b + 1e6, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "cosine", "laplacian", "poly"])
def test_other_kernels(kernel, classes):
    X, y = classes
    machine = KernelRidgeClassifierCV(kernel=kernel).fit(X, y)
    assert (machine.gamma_ is None) == (kernel in ("linear", "cosine"))
    assert machine.best_score_ > 0.5
    with pytest.raises(ValueError, match="no rows"):
        KernelRidgeClassifierCV(kernel="precomputed").fit(X @ X.T, y)


def test_scaling_a_kernel_scales_alpha(values):
    X, y = values
    machine = KernelRidgeCV(kernel="linear").fit(X, y)
    other = KernelRidgeCV(kernel="linear").fit(100 * X, y)
    assert other.alpha_ == pytest.approx(1e4 * machine.alpha_)
    np.testing.assert_allclose(other.predict(100 * X), machine.predict(X), rtol=1e-9)


# ---------------------------------------------------------------- weights and rows


@pytest.mark.parametrize("cls", [KernelRidgeClassifierCV, KernelRidgeCV])
def test_weights_are_repeated_rows(cls, values):
    X, y = values
    y = y > 5.5 if cls is KernelRidgeClassifierCV else y
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = cls(**ONE).fit(X, y, counts)
    repeated = cls(**ONE).fit(X.repeat(counts, axis=0), y.repeat(counts))
    scores = "predict" if cls is KernelRidgeCV else "decision_function"
    np.testing.assert_allclose(
        getattr(weighted, scores)(X), getattr(repeated, scores)(X), atol=1e-8
    )


def test_class_weight_is_a_sample_weight(classes):
    X, y = classes
    weighted = KernelRidgeClassifierCV(**ONE, class_weight={"a": 3.0, "b": 1.0, "c": 0.0})
    weights = np.select([y == "a", y == "b"], [3.0, 1.0])
    plain = KernelRidgeClassifierCV(**ONE).fit(X, y, weights)
    np.testing.assert_allclose(weighted.fit(X, y).held_out_, plain.held_out_)


def test_sparse_rows(classes):
    X, y = classes
    X = np.where(np.abs(X) > 0.5, X, 0)
    dense = KernelRidgeClassifierCV().fit(X, y)
    sparse = KernelRidgeClassifierCV().fit(csr_matrix(X), y)
    assert sparse.gamma_ == pytest.approx(dense.gamma_)
    np.testing.assert_allclose(sparse.held_out_, dense.held_out_, atol=1e-8)
    np.testing.assert_allclose(sparse.shares(csr_matrix(X)), dense.shares(X), atol=1e-8)


def test_few_landmarks(classes):
    X, y = classes
    machine = KernelRidgeClassifierCV(n_landmarks=20, random_state=0).fit(X, y)
    assert machine.support_vectors_.shape == (20, 5)
    assert machine.held_out_.shape == (90, 3)
    again = KernelRidgeClassifierCV(n_landmarks=20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.held_out_, machine.held_out_)
    other = KernelRidgeClassifierCV(n_landmarks=20, random_state=1).fit(X, y)
    assert not np.array_equal(other.support_, machine.support_)


def test_many_rows_in_single_precision():
    X, y = make_moons(9000, noise=0.25, random_state=0)
    parameters = {"gammas": [30.0], "alphas": [0.1], "random_state": 0, "n_landmarks": 200}
    machine = KernelRidgeClassifierCV(**parameters, n_jobs=1).fit(X, y)
    twice = KernelRidgeClassifierCV(**parameters, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(machine.held_out_, twice.held_out_)
    np.testing.assert_array_equal(machine.shares(X[:50]), twice.shares(X[:50]))
    targets = np.where(y, 0.5, -0.5)[:, None]
    problem = RidgeProblem(SquaredExponential(gamma=30.0), X, targets, np.ones(9000))
    _, exact = landmark_fit(problem, machine.support_, 0.1)
    np.testing.assert_allclose(machine.held_out_[:, 1:] - 0.5, exact, atol=1e-3)
    assert machine.best_score_ == pytest.approx(machine.score(X, y), abs=0.01)


def test_a_middle_number_of_rows_is_fitted_on_all_of_them():
    X, y = make_moons(1500, noise=0.25, random_state=0)
    machine = KernelRidgeClassifierCV([3.0], random_state=0).fit(X, y)
    assert len(machine.support_) == 1500
    exact = RidgeProblem(
        SquaredExponential(gamma=3.0), X, np.where(y, 0.5, -0.5)[:, None], np.ones(1500)
    )
    held = FullRidge(exact, np.float64).fit(machine.alpha_).held_out[:, 0]
    np.testing.assert_allclose(machine.held_out_[:, 1] - 0.5, held, atol=1e-3)
    np.testing.assert_allclose(machine.held_out_.sum(axis=1), 1)


# ---------------------------------------------------------------- odd input


def test_duplicate_rows_are_solvable(values):
    X, y = values
    X[::2] = X[0]
    machine = KernelRidgeCV().fit(X, y)
    assert np.isfinite(machine.held_out_).all()


def test_one_row_and_constant_targets():
    one = KernelRidgeCV().fit([[1.0, 2.0]], [3.0])
    assert one.predict([[1.0, 2.0], [5.0, 5.0]]).tolist() == [3.0, 3.0]
    flat = KernelRidgeCV().fit([[1.0], [2.0], [4.0]], [7.0, 7.0, 7.0])
    assert flat.predict([[3.0]]).tolist() == [7.0]
    assert np.isnan(flat.best_score_)


def test_two_rows_of_two_classes():
    machine = KernelRidgeClassifierCV().fit([[0.0], [1.0]], ["no", "yes"])
    assert machine.predict([[0.0], [1.0]]).tolist() == ["no", "yes"]
    np.testing.assert_allclose(machine.held_out_.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gammas": []}, "gammas must be a list"),
        ({"alphas": 1.0}, "alphas must be a list"),
        ({"alphas": [0.0]}, "each of alphas"),
        ({"gammas": ["wide"]}, "each of gammas"),
        ({"n_landmarks": 0}, "n_landmarks"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(parameters, message, values):
    with pytest.raises(ValueError, match=message):
        KernelRidgeCV(**parameters).fit(*values)


def test_bad_targets_are_refused(values):
    X, y = values
    with pytest.raises(ValueError, match="one class"):
        KernelRidgeClassifierCV().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="non-zero"):
        KernelRidgeCV().fit(X, y, np.zeros(len(y)))
    with pytest.raises(ValueError, match="no row has a positive weight"):
        KernelRidgeClassifierCV(class_weight={0: 0, 1: 0}).fit(X, y > 5)
    with pytest.raises(ValueError, match="NaN"):
        KernelRidgeCV().fit(X, np.where(y > 5, np.nan, y))


def test_weights_count_against_each_other_only(values):
    """Ten times the weights want ten times the alpha; almost no noise wants the least of the list.

    The sum of w (y - f)^2 and alpha |f|^2 is ten times as much then, at the same f.
    """
    X, _ = values
    y, weights = np.sin(X[:, 0]), np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    one, ten = (KernelRidgeCV().fit(X, y, factor * weights) for factor in (1.0, 10.0))
    np.testing.assert_allclose(ten.alpha_, 10 * one.alpha_)
    np.testing.assert_allclose(ten.predict(X), one.predict(X), atol=1e-8)

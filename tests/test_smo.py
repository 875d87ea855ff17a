"""The dual solver: against LIBSVM, and against an independent solver of quadratic programs."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import SVC, SVR

from graphkm._native import DenseSmo32, DenseSmo64, GramSmo64, SparseSmo64
from graphkm.baselines.smo import DualSolver, DualTerms
from graphkm.kernels import (
    Cosine,
    FunctionKernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    SquaredExponential,
)

RBF = SquaredExponential(gamma=0.3)
KERNELS = [
    (RBF, {"gamma": 0.3}),
    (Linear(), {"kernel": "linear"}),
    (Polynomial(2, 0.5, 1.0), {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0}),
]


def two_classes(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=n) > 0.8, 1.0, -1.0)


def svc_scores(X, y, C, tol=1e-7, **options):
    """Return what the dual solver says of its own rows."""
    kernel = options.pop("kernel", RBF)
    limits = {name: options.pop(name) for name in ("shrinking", "start") if name in options}
    solver = DualSolver(kernel, X, dtype=options.pop("dtype", np.float64), **options)
    costs = np.broadcast_to(np.asarray(C, float), y.shape)
    return solver.solve(DualTerms.hinge(y, costs), tol=tol, **limits)


def minimum(K, terms, balanced=None, mean=0.0):
    """Return the dual problem's minimum, its scores and its intercept, by an interior point."""
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    a, spread = cp.Variable(len(K)), cp.Variable()
    whole = a if balanced is None else a + spread * balanced / balanced.sum()
    cost = cp.sum_squares(root.T @ whole) / 2 + terms.slope @ a
    cost += terms.bend @ cp.abs(a - terms.kink)
    if balanced is not None:
        cost -= mean * spread
    total = cp.sum(a) + (0 if balanced is None else spread)
    sums = total == 0
    task = cp.Problem(cp.Minimize(cost), [sums, a >= terms.lower, a <= terms.upper])
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(task.value), K @ whole.value


def shifted_terms(y, rng, C=2.0):
    """Return hinge terms for half of the rows, kinks and shifted bounds for the others."""
    n = len(y)
    terms = DualTerms.hinge(y, np.full(n, C))
    rest = np.arange(n // 2, n)
    kink = rng.choice([-0.7, 0.0, 0.7], size=len(rest))
    for name, value in {
        "slope": 0.1 * rng.normal(size=len(rest)),
        "bend": 1.0,
        "kink": kink,
        "lower": kink - 0.7,
        "upper": kink + 0.7,
    }.items():
        getattr(terms, name)[rest] = value
    return terms


# ---------------------------------------------------------------- LIBSVM


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(("kernel", "options"), KERNELS, ids=lambda k: getattr(k, "name", ""))
def test_agrees_with_libsvm(kernel, options, C):
    X, y = two_classes()
    C = C / 30 if kernel.name == "poly" else C
    reference = SVC(C=C, tol=1e-9, **options).fit(X, y)
    found = svc_scores(X, y, C, kernel=kernel)
    np.testing.assert_allclose(found.scores, reference.decision_function(X), atol=1e-4)
    assert abs(found.a.sum()) < 1e-9
    np.testing.assert_allclose(found.intercept, reference.intercept_[0], atol=1e-4)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_single_precision_agrees_with_libsvm(C):
    X, y = two_classes()
    reference = SVC(C=C, gamma=0.3, tol=1e-8).fit(X, y).decision_function(X)
    found = svc_scores(X, y, C, dtype=np.float32, tol=1e-5)
    np.testing.assert_allclose(found.scores, reference, atol=1e-4)


def test_sparse_rows_and_weights():
    X, y = two_classes(d=6)
    X[np.abs(X) < 0.8] = 0.0
    weights = np.random.default_rng(1).uniform(0, 3, len(y))
    reference = SVC(gamma=0.3, tol=1e-9).fit(X, y, weights).decision_function(X)
    sparse = csr_array(X)
    sparse.indices, sparse.indptr = sparse.indices.astype(np.int32), sparse.indptr.astype(np.int32)
    for rows in (X, sparse):
        found = svc_scores(rows, y, weights)
        np.testing.assert_allclose(found.scores, reference, atol=1e-4)


@pytest.mark.parametrize("kernel", [Laplacian(0.4), Cosine(), SquaredExponential(0.3, 2.5)])
def test_other_kernels_agree_with_their_matrix(kernel):
    X, y = two_classes(150)
    K = kernel(X, X)
    reference = SVC(C=2.0, kernel="precomputed", tol=1e-9).fit(K, y).decision_function(K)
    function = FunctionKernel(lambda X, Y: kernel(X, Y))
    for rows, machine in ((X, kernel), (K, Precomputed()), (X, function)):
        found = svc_scores(rows, y, 2.0, kernel=machine)
        np.testing.assert_allclose(found.scores, reference, atol=1e-4)
        np.testing.assert_allclose(K @ found.coefficients + found.intercept, found.scores)


def test_regression_agrees_with_libsvm():
    """The kink is the tube of epsilon-insensitive regression."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=150)
    C, epsilon = np.full(150, 3.0), 0.1
    terms = DualTerms(-y, np.full(150, epsilon), np.zeros(150), -C, C)
    found = DualSolver(RBF, X, dtype=np.float64).solve(terms, tol=1e-8)
    reference = SVR(C=3.0, epsilon=epsilon, gamma=0.3, tol=1e-9).fit(X, y).predict(X)
    np.testing.assert_allclose(found.scores, reference, atol=1e-4)


# ---------------------------------------------------------------- quadratic programs


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("balance", [False, True])
def test_shifted_bounds_and_balance_agree_with_a_qp(seed, balance):
    rng = np.random.default_rng(seed)
    X, y = two_classes(60, 3, seed)
    terms = shifted_terms(y, rng)
    rest = np.arange(30, 60)
    mean = 0.25 if balance else None
    kernel = SquaredExponential(gamma=0.3, sigma_f=1.0 + 0.5 * (seed % 2))
    solver = DualSolver(kernel, X, balanced=rest if balance else None, dtype=np.float64)
    found = solver.solve(terms, tol=1e-9, mean=mean)
    mask = np.isin(np.arange(60), rest).astype(float) if balance else None
    K = kernel(X, X)
    best, scores = minimum(K, terms, mask, 0.0 if mean is None else mean)
    value = found.coefficients @ K @ found.coefficients / 2 + terms.value(found.a)
    if balance:
        value -= mean * found.spread * len(rest)
        np.testing.assert_allclose(found.scores[rest].mean(), mean, atol=1e-8)
    np.testing.assert_allclose(value, best, atol=1e-6)
    np.testing.assert_allclose(found.scores - found.intercept, scores, atol=1e-4)


def test_warm_starts_reach_the_same_solution():
    rng = np.random.default_rng(7)
    X, y = two_classes(120, 3)
    first, second = shifted_terms(y, rng), shifted_terms(y, rng, C=0.5)
    for balanced, mean in ((None, None), (np.arange(60, 120), -0.1)):
        solver = DualSolver(RBF, X, balanced=balanced, dtype=np.float64)
        found = solver.solve(first, tol=1e-9, mean=mean)
        warm = solver.solve(second, found.a, tol=1e-9, mean=mean)
        again = solver.solve(second, warm.a, tol=1e-6, mean=mean)
        solver.reset()
        cold = solver.solve(second, tol=1e-9, mean=mean)
        np.testing.assert_allclose(warm.scores, cold.scores, atol=1e-6)
        assert again.n_iter == 0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_no_step_passes_a_kink_and_raises_the_objective(sign):
    """Steps end where the slope changes: beyond the kink of a large bend the objective rises."""
    X, _ = two_classes(40, 3)
    kink = np.where(np.arange(40) % 2, 0.05, -0.05) * sign
    slope = np.where(np.arange(40) % 2, -1.0, 1.0) * sign
    terms = DualTerms(slope, np.full(40, 0.9), kink, np.full(40, -1.0), np.full(40, 1.0))
    solver = DualSolver(RBF, X, dtype=np.float64)
    K = RBF(X, X)
    values = []
    for steps in range(60):
        solver.reset()
        a = solver.solve(terms, tol=1e-9, max_iter=steps, shrinking=False).a
        values.append(0.5 * a @ K @ a + terms.value(a))
    assert values[-1] < values[0] - 0.1
    assert (np.diff(values) <= 1e-12).all()


@pytest.mark.parametrize("sigma_f", [1.0, 1.3])
def test_rounding_of_a_start_moves_no_row_off_its_bound(sigma_f):
    X, y = two_classes(120, 3)
    terms = shifted_terms(y, np.random.default_rng(7), C=0.5)
    solver = DualSolver(SquaredExponential(gamma=0.4, sigma_f=sigma_f), X, dtype=np.float64)
    found = solver.solve(terms, tol=1e-9).a
    at_bound = (found == terms.lower) | (found == terms.upper)
    if sigma_f == 1:
        assert at_bound.sum() > 20
    free = np.flatnonzero(~at_bound & (found != terms.kink) & (np.abs(found) > 1e-3))
    for change in (1e-15, -1e-15):
        start = found.copy()
        start[free[0]] += change
        assert start.sum() != 0
        assert solver.solve(terms, start, tol=1e-6).n_iter == 0


# ---------------------------------------------------------------- values that are not finite


def test_gram_matrices_beyond_single_precision_are_refused():
    A = np.random.default_rng(1).normal(size=(6, 3))
    K = A @ A.T
    K[0, 1] = K[1, 0] = 1e39
    K[2, 3] = K[3, 2] = -1e39
    y = np.array([1.0, -1, 1, -1, 1, -1])
    with pytest.raises(ValueError, match=r"1e\+39 is not finite in float32; .*precision='double'"):
        DualSolver(Precomputed(), K, dtype=np.float32)
    terms = DualTerms.hinge(y, np.ones(6))
    found = DualSolver(Precomputed(), K, dtype=np.float64).solve(terms, max_iter=50)
    assert np.isfinite(found.scores).all()  # not positive definite, but finite


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", [1e18, 1e25])
def test_kernel_rows_beyond_single_precision_are_refused(sparse, size):
    """The second scan found no partner, and the step read beyond the arrays."""
    X, y = two_classes(30, 3)
    X *= size
    rows = csr_array(X) if sparse else X
    if sparse:
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    solver = DualSolver(Linear(), rows, dtype=np.float32)
    if size > 1e19:  # the squares of smaller entries fit
        with pytest.raises(ValueError, match="not finite in the working precision"):
            solver.solve(DualTerms.hinge(y, np.ones(30)))
    else:
        assert solver.solve(DualTerms.hinge(y, np.ones(30)), max_iter=1000).n_iter <= 1000


@pytest.mark.parametrize("part", ["slope", "bend", "kink"])
def test_terms_must_be_finite(part):
    X, y = two_classes(30, 3)
    terms = DualTerms.hinge(y, np.ones(30))
    getattr(terms, part)[3] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        DualSolver(RBF, X).solve(terms)


# ---------------------------------------------------------------- shrinking, cache, limits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.long
def test_shrinking_and_cache_do_not_change_the_answer(dtype, sparse):
    X, y = two_classes(1500, 5, 3)
    rows = csr_array(X) if sparse else X
    if sparse:
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    reference = SVC(C=5.0, gamma=0.3, tol=1e-8).fit(X, y).decision_function(X)
    for shrinking in (True, False):
        for cache_size in (100.0, 0.5, 1e-6):  # the last is less than one row
            found = svc_scores(
                rows, y, 5.0, 1e-5, dtype=dtype, shrinking=shrinking, cache_size=cache_size
            )
            assert found.gap <= 1e-5
            np.testing.assert_allclose(found.scores, reference, atol=2e-4)


def test_shrinking_with_balance():
    rng = np.random.default_rng(0)
    X, y = two_classes(1200, 4, 5)
    terms, rest = shifted_terms(y, rng, C=0.3), np.arange(600, 1200)
    answers = [
        DualSolver(RBF, X, balanced=rest, dtype=np.float64).solve(
            terms, tol=1e-7, mean=0.1, shrinking=shrinking
        )
        for shrinking in (True, False)
    ]
    np.testing.assert_allclose(answers[0].scores, answers[1].scores, atol=1e-5)
    np.testing.assert_allclose(
        RBF(X, X) @ answers[0].coefficients + answers[0].intercept, answers[0].scores, atol=1e-8
    )


def test_steps_run_out():
    X, y = two_classes()
    solver = DualSolver(RBF, X)
    found = solver.solve(DualTerms.hinge(y, np.full(len(y), 10.0)), tol=1e-9, max_iter=7)
    assert found.n_iter == 7
    assert found.gap > 1e-9


# ---------------------------------------------------------------- degenerate data


def test_repeated_rows():
    X, y = two_classes(60)
    reference = svc_scores(X, y, 3.0).scores
    found = svc_scores(np.repeat(X, 3, axis=0), np.repeat(y, 3), 1.0).scores
    np.testing.assert_allclose(found[::3], reference, atol=1e-5)


def test_equal_rows_of_both_classes():
    X, y = np.zeros((6, 2)), np.array([1.0, -1, 1, -1, 1, 1])
    found = svc_scores(X, y, 1.0)
    np.testing.assert_allclose(found.scores, 1.0, atol=1e-6)  # the majority's side
    assert found.gap <= 1e-7


def test_constant_features_change_nothing():
    X, y = two_classes()
    wide = np.column_stack([X, np.full(len(X), 3.0), np.zeros(len(X))])
    np.testing.assert_allclose(
        svc_scores(X, y, 1.0).scores, svc_scores(wide, y, 1.0).scores, atol=1e-6
    )


def test_tiny_problems():
    X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    np.testing.assert_allclose(svc_scores(X, y, 1e3, kernel=Linear()).scores, [-1, 1], atol=1e-6)
    for C in ([1.0, 0.0], [0.0, 0.0]):  # nothing can move
        found = svc_scores(X, y, C)
        assert found.n_iter == 0
        assert not found.a.any()
    alone = svc_scores(X[:1], y[:1], 1.0)
    np.testing.assert_allclose(alone.scores, -1.0)


# ---------------------------------------------------------------- the compiled module

REFUSED = (TypeError, ValueError)


def native(n=4):
    return DenseSmo64(0, 1.0, 0.0, 1, np.ones((n, 2)), np.ones(n), np.empty(0), 1000)


@pytest.mark.parametrize(
    "make",
    [
        lambda: DenseSmo64(9, 1.0, 0.0, 1, np.ones((4, 2)), np.ones(4), np.empty(0), 1000),
        lambda: DenseSmo64(0, 1.0, 0.0, 1, np.ones((4, 2)), np.ones(3), np.empty(0), 1000),
        lambda: DenseSmo64(0, 1.0, 0.0, 1, np.ones((4, 2)), np.ones(4), np.ones(4), 1000),
        lambda: DenseSmo64(0, 1.0, 0.0, 1, np.ones((4, 2)), np.ones(4), np.ones(3), 1000),
        lambda: DenseSmo64(0, 1.0, 0.0, 1, np.ones((0, 2)), np.ones(0), np.empty(0), 1000),
        lambda: DenseSmo32(0, 1.0, 0.0, 1, np.ones((4, 2)), np.ones(4), np.empty(0), 1000),
        lambda: DenseSmo64(0, 1.0, 0.0, 1, np.ones((4, 2)).T, np.ones(2), np.empty(0), 1000),
        lambda: GramSmo64(np.ones((4, 3)), np.ones(4), np.empty(0), 1000),
        lambda: SparseSmo64(
            0,
            1.0,
            0.0,
            1,
            2,
            np.array([0, 1], np.int32),
            np.array([2], np.int32),
            np.ones(1),
            np.ones(1),
            np.empty(0),
            1000,
        ),
    ],
)
def test_constructors_refuse(make):
    with pytest.raises(REFUSED):
        make()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("slope", np.ones(3)),
        ("slope", np.ones(4, np.float32)),
        ("bend", np.full(4, -1.0)),
        ("bend", np.full(4, np.nan)),
        ("kink", np.ones((4, 1))),
        ("lower", np.full(4, 0.5)),
        ("upper", np.full(4, -0.5)),
        ("coefficients", np.full(4, np.nan)),
        ("scores", np.ones(5)),
        ("tol", 0.0),
    ],
)
def test_solve_refuses(name, value):
    arguments = {
        "slope": np.ones(4),
        "bend": np.zeros(4),
        "kink": np.zeros(4),
        "lower": -np.ones(4),
        "upper": np.ones(4),
        "coefficients": np.zeros(4),
        "scores": np.zeros(4),
        "tol": 1e-3,
        "max_iter": 100,
        "shrinking": True,
        "n_threads": 1,
    }
    assert native().solve(**arguments)[0] == 0
    with pytest.raises(REFUSED):
        native().solve(**(arguments | {name: value}))


def test_rows_live_as_long_as_the_solver():
    solver = GramSmo64(np.eye(3) + 0.5, np.full(3, 1.5), np.empty(0), 1000)
    a, f = np.zeros(3), np.zeros(3)
    y = np.array([1.0, -1.0, 1.0])
    zeros, lower, upper = np.zeros(3), np.minimum(y, 0), np.maximum(y, 0)
    solver.solve(-y, zeros, zeros, lower, upper, a, f, 1e-9, 100, True, 1)
    np.testing.assert_allclose((np.eye(3) + 0.5) @ a, f)


LONG = """
    import threading, time
    import numpy as np
    from graphkm.kernels import SquaredExponential
    from graphkm.baselines.smo import DualSolver, DualTerms

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20000, 20)), rng.choice([-1.0, 1.0], 20000)
    solver = DualSolver(SquaredExponential(gamma=0.05), X, cache_size=20)
    terms = DualTerms.hinge(y, np.full(20000, 1e6))

    def announce():
        begun = time.process_time()
        while time.process_time() < begun + 0.5:  # of work, however long that takes
            time.sleep(0.01)
        print("working", flush=True)

    try:
        threading.Thread(target=announce, daemon=True).start()
        solver.solve(terms, tol=1e-9, max_iter=10**6)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    found = solver.solve(terms, max_iter=5)
    print("well" if found.n_iter == 5 and np.isfinite(found.scores).all() else "ill", flush=True)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.xdist_group("signals")
def test_ctrl_c_stops_the_steps():
    """Random labels at a huge C: a million steps are minutes of work."""
    command = [sys.executable, "-c", textwrap.dedent(LONG)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        try:
            assert run.stdout.readline() == "working\n"
            run.send_signal(signal.SIGINT)
            output, errors = run.communicate()
        finally:
            run.kill()
    assert output.split() == ["interrupted", "well"], errors

"""The blocked solver against the literal Algorithm 1, and what must not change its result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from flat import build_graph
from graphkm.solvers import DivergenceError, Progress
from graphkm.theory import Guarantee, largest_C_graph
from oracles import GRAPHS, KERNELS, LOSSES, algorithm, make_case

RULES = ("uniform", "weight")
T = 150

every_kernel = pytest.mark.parametrize(
    ("kernel", "form"),
    [(k, f) for k in KERNELS for f in ("dense", "csr")],
)


def seed(number=0):
    return np.random.SeedSequence(number)


def assert_same(found, expected, tolerance):
    """Compare coefficients column by column, to a fraction of the column's largest."""
    scale = np.abs(expected).max(axis=0)
    assert (scale > 0).all()
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=tolerance)


def compare(case, number, tolerance, rule="uniform", step="explicit", dtype=np.float64, **options):
    solution = case.run(seed(number), T, rule, step, dtype, **options)
    expected, objective = algorithm(case.problem, case.draws(seed(number), T, rule, dtype), step)
    assert solution.n_iter == T
    assert (np.diff(solution.rows) > 0).all()
    assert_same(case.full(solution), expected, tolerance)
    np.testing.assert_allclose(solution.objective, objective, rtol=10 * tolerance)
    return solution


# ---------------------------------------------------------------- the literal algorithm


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_equals_the_literal_algorithm(loss, p, kind, rule):
    compare(make_case(loss, p, kind), 1, 1e-10, rule)


@pytest.mark.parametrize("offset", [0.0, 1.0])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-4)])
@every_kernel
def test_equals_it_for_every_kernel(kernel, dtype, tolerance, form, offset):
    case = make_case("logistic", 2.0, "knn", kernel, form, offset, C_graph=(0.001, 0.003))
    compare(case, 2, tolerance, dtype=dtype)


@pytest.mark.parametrize("step", ["explicit", "implicit"])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_equals_it_in_single_precision(loss, p, step):
    compare(make_case(loss, p, "knn"), 3, 1e-4, "weight", step, np.float32)


@pytest.mark.parametrize("kind", GRAPHS)
def test_the_graph_matters_in_these_comparisons(kind):
    """Without its edges the literal algorithm is far from what was compared above."""
    case = make_case(kind=kind)
    a = case.full(case.run(seed(1), T))
    draws = case.draws(seed(1), T)
    draws.factor = np.zeros(T)
    assert np.abs(a - algorithm(case.problem, draws)[0]).max() > 1e-3 * np.abs(a).max()


@settings(deadline=None, max_examples=25)
@given(
    number=st.integers(0, 10**6),
    n=st.integers(10, 40),
    n_labeled=st.integers(1, 9),
    outputs=st.integers(1, 4),
    steps=st.integers(1, 60),
    block=st.integers(1, 70),
    loss=st.sampled_from(sorted(LOSSES)),
    form=st.sampled_from(["dense", "csr"]),
    p=st.floats(1.0, 2.5),
)
@example(0, 10, 3, 1, 1, 1, "epsilon_insensitive", "dense", 1.998046875)  # G^2 overflows
def test_equals_it_for_any_shape(number, n, n_labeled, outputs, steps, block, loss, form, p):
    rng = np.random.default_rng(number)
    case = make_case(
        loss, p, "full", form=form, n=n, n_labeled=n_labeled, seed=number,
        C=rng.uniform(0.01, 0.5, outputs), C_graph=rng.uniform(0.0, 0.01, outputs),
    )  # fmt: skip
    solution = case.run(seed(number), steps, block_size=block)
    expected, objective = algorithm(case.problem, case.draws(seed(number), steps))
    found = case.full(solution)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * (1 + np.abs(expected).max()))
    np.testing.assert_allclose(solution.objective, objective, rtol=1e-9)


def test_without_a_graph():
    case = make_case("logistic", kind=None)
    compare(case, 4, 1e-10)
    silent = make_case("logistic", kind="full", C_graph=(0.0, 0.0))
    np.testing.assert_array_equal(
        case.full(case.run(seed(4), T)), silent.full(silent.run(seed(4), T))
    )


def test_one_output_may_have_no_graph():
    compare(make_case("logistic", kind="full", C_graph=(0.0, 0.01)), 5, 1e-10)


def test_points_of_weight_zero_do_not_move_w():
    case = make_case("hinge", C_graph=(0.0, 0.0))
    case.problem.weights[:] = [1.0] + [0.0] * 7
    solution = compare(case, 6, 1e-10)
    assert solution.rows.tolist() == [case.problem.labeled[0]]


def test_averages_the_lemma_not_the_algorithm_box():
    """The lemma's average is over w_1..w_T, so one step gives 0."""
    case = make_case()
    assert case.run(seed(), 1).rows.size == 0
    two = case.full(case.run(seed(), 2))
    first = case.draws(seed(), 2).label[0]
    row, l = case.problem.labeled[first], 8  # noqa: E741
    # w_2 = -C l s loss'(0) Phi, and wbar_3 = 2/(2*3) (1 w_1 + 2 w_2).
    push = l * case.problem.C * case.problem.weights[first] * case.problem.targets[first]
    np.testing.assert_allclose(two[row], 2 / 3 * push, rtol=1e-14)
    assert (np.delete(two, row, axis=0) == 0).all()


# ---------------------------------------------------------------- light edges


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_negligible_edges_are_skipped(dtype, rule):
    case = make_case("logistic", 2.0, "full", graph_gamma=40.0)
    factor = case.draws(seed(7), T, rule, dtype).factor
    if rule == "uniform":  # most weights underflow the precision; the rest still count
        assert 10 < (factor == 0).sum() < T
    compare(case, 7, 1e-10 if dtype == np.float64 else 1e-4, rule, dtype=dtype)


def test_the_limit_of_lightness_is_the_precisions():
    """Edges of 1e-10 of the heaviest count in double precision only."""
    rng = np.random.default_rng(0)
    n = 24
    X = rng.normal(size=(n, 3))
    affinity = np.zeros((n, n))
    affinity[0, 1:] = affinity[1:, 0] = 1e-10
    X[2] = X[1]  # the heavy edge joins equal points, so it has no effect itself
    affinity[1, 2] = affinity[2, 1] = 1.0
    case = make_case(
        "logistic", 1.0, "precomputed", X=X, affinity=affinity, C_graph=(1e9, 3e9), n_labeled=4
    )
    assert not {1, 2} <= set(case.problem.labeled.tolist())
    bare = make_case("logistic", 1.0, None, X=X, affinity=affinity, n_labeled=4)
    double, single = (case.run(seed(8), T, dtype=d) for d in (np.float64, np.float32))
    without = bare.full(bare.run(seed(8), T))
    assert np.abs(case.full(double) - without).max() > 0.1 * np.abs(without).max()
    assert_same(case.full(single)[3:], without[3:], 1e-4)
    compare(case, 8, 1e-10)


# ---------------------------------------------------------------- what must not matter


@pytest.mark.dear
@pytest.mark.parametrize(
    ("dtype", "tolerance", "form", "step"),
    [
        (np.float64, 1e-10, "dense", "explicit"),
        (np.float64, 1e-10, "csr", "implicit"),
        (np.float32, 1e-4, "dense", "implicit"),
        (np.float32, 1e-4, "csr", "explicit"),
    ],
)
def test_block_size_changes_only_rounding(dtype, tolerance, form, step):
    case = make_case("logistic", 1.5, "full", form=form, n=60)
    runs = {b: case.run(seed(9), 1100, step=step, dtype=dtype, block_size=b)
            for b in (1, 7, 128, 1000)}  # fmt: skip
    for solution in runs.values():
        assert_same(case.full(solution), case.full(runs[128]), tolerance)
        np.testing.assert_allclose(solution.objective, runs[128].objective, rtol=tolerance)


def wide_case(form, n=900, outputs=20):
    """Return a problem whose blocks are large enough for threads."""
    rng = np.random.default_rng(10)
    X = rng.normal(size=(n, 10)) * (rng.random((n, 10)) < 0.8)
    base = make_case("hinge", 1.5, "bipartite", form=form, n=30)
    mask = np.arange(n) % 3 == 0
    rows = csr_array(X) if form == "csr" else X
    labeled = np.flatnonzero(mask)
    base.objective = replace(
        base.objective,
        X=rows,
        labeled=labeled,
        targets=np.where(rng.random((len(labeled), outputs)) < 0.5, 1.0, -1.0),
        weights=np.ones(len(labeled)),
        C=np.linspace(0.001, 0.02, outputs),
        C_graph=np.linspace(0.0001, 0.001, outputs),
        graph=build_graph("bipartite", rows, mask, gamma=0.05),
    )
    return base


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_threads_change_nothing(form, dtype):
    case = wide_case(form)
    solver = {"step": "explicit", "dtype": dtype, "block_size": 128}
    one, two, three = (case.run(seed(11), 900, n_threads=n, **solver) for n in (1, 2, 3))
    # The last blocks: ~300 points x ~900 centres x 34, above the 4e6 from which threads start;
    # 128 steps x 20 outputs are above the 2048 of the block stepper.
    assert len(one.rows) > 600
    assert 250 * 600 * 34 > 4e6
    assert 128 * case.objective.n_outputs > 2048
    for other in (two, three):
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
        np.testing.assert_array_equal(one.objective, other.objective)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_the_seed_decides(kind, rule):
    case = make_case(kind=kind)
    first, again, other = (case.run(seed(s), T, rule) for s in (12, 12, 13))
    np.testing.assert_array_equal(first.rows, again.rows)
    np.testing.assert_array_equal(first.coefficients, again.coefficients)
    assert np.abs(case.full(first) - case.full(other)).max() > 1e-6


@pytest.mark.parametrize("rule", RULES)
def test_draws_do_not_depend_on_precision(rule):
    """Coefficients agree to single precision, which other draws would not give."""
    case = make_case("logistic", 1.0, "full")
    single, double, other = (
        case.full(case.run(s, T, rule, dtype=d))
        for s, d in [(seed(14), np.float32), (seed(14), np.float64), (seed(15), np.float64)]
    )
    assert_same(single, double, 1e-4)
    assert np.abs(other - double).max() > 1e-2 * np.abs(double).max()


def test_the_seed_is_not_used_up():
    case, shared = make_case(), seed(16)
    first = case.run(shared, T)
    np.testing.assert_array_equal(first.coefficients, case.run(shared, T).coefficients)
    assert shared.n_children_spawned == 0


# ---------------------------------------------------------------- the loop


def test_a_callback_sees_progress_and_stops():
    case, seen = make_case(), []

    def callback(progress):
        seen.append(progress)
        return progress.n_iter >= 50

    solution = case.run(seed(17), T, block_size=20, callback=callback)
    assert [s.n_iter for s in seen] == [20, 40, 60]
    assert all(type(s) is Progress and s.max_iter == T for s in seen)
    assert 0 < seen[0].n_centres <= seen[-1].n_centres <= 24
    assert solution.n_iter == 60
    assert_same(case.full(solution), algorithm(case.problem, case.draws(seed(17), 60))[0], 1e-10)


# ---------------------------------------------------------------- divergence


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("p", "C_graph"), [(2.0, 100.0), (2.0, 1e6), (3.0, 1.0), (3.0, 1e3), (3.0, 1e6)]
)
def test_divergence_is_an_error_that_helps(p, C_graph, dtype):
    case = make_case("hinge", p, "full", C=(1.0,), C_graph=(C_graph,))
    with pytest.raises(DivergenceError) as info:
        case.run(seed(18), 500, dtype=dtype)
    message = str(info.value)
    assert str(case.guarantee()) in message and "No guarantee" in message
    assert "step='implicit'" in message and "C_graph='guaranteed'" in message


def test_one_diverging_output_is_enough():
    case = make_case("hinge", 2.0, "full", C=(1.0, 1.0), C_graph=(0.0, 1e4))
    with pytest.raises(DivergenceError):
        case.run(seed(19), 500)


@pytest.mark.parametrize("steps", [1, 2, 5, 100, 1000])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_alarm_without_a_graph(loss, C, steps):
    case = make_case(loss, kind=None, C=(C,), C_graph=(0.0,))
    for number in range(3):
        assert case.run(seed(number), steps).n_iter == steps


@pytest.mark.parametrize("steps", [1, 2, 5, 100, 1000])
@pytest.mark.parametrize("C_graph", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("p", [1.0, 1.5])
def test_no_alarm_below_two(p, C_graph, steps):
    for C in (1e-3, 1.0, 1e3):
        case = make_case("hinge", p, "knn", C=(C,), C_graph=(C_graph,))
        assert case.run(seed(20), steps).n_iter == steps


@pytest.mark.parametrize("steps", [1, 2, 5, 100, 1000])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("p", [2.0, 2.5, 3.0])
def test_no_alarm_within_the_guarantee(p, C, steps):
    bare = make_case("hinge", p, "full", C=(C,), C_graph=(0.0,)).guarantee()
    C_graph = 0.99 * largest_C_graph(bare.C, p, bare.R, bare.A) / 8
    case = make_case("hinge", p, "full", C=(C,), C_graph=(C_graph,))
    assert case.guarantee().holds and isinstance(case.guarantee(), Guarantee)
    for number in range(3):
        assert case.run(seed(number), steps).n_iter == steps


def test_the_alarm_does_not_depend_on_blocks():
    """Above the guarantee a run may start wildly and settle; that is judged by its second half."""
    case = make_case("hinge", 2.0, "full", C=(1.0,), C_graph=(2.154,))

    def diverges(number, block):
        try:
            case.run(seed(number), 1500, block_size=block)
        except DivergenceError:
            return True
        return False

    verdicts = {b: [diverges(s, b) for s in range(10)] for b in (20, 128, 2048)}
    assert verdicts[20] == verdicts[128] == verdicts[2048]

"""The implicit step: scalar problems against SciPy, stability, and the same minimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from graphkm import reference
from graphkm._native import run_block
from graphkm.theory import Guarantee
from oracles import LOSSES, J, algorithm, make_case, proximal_loss, proximal_smooth

CODES = {name: (loss.native_code, loss.parameter) for name, loss in LOSSES.items()}
UNBOUNDED = Guarantee(C=1e100, C_graph=0.0, p=1, R=1.0, A=1.0)  # never calls a run divergent


def seed(number=0):
    return np.random.SeedSequence(number)


# ---------------------------------------------------------------- one scalar problem


def one_step(*, loss, parameter, y, f, k, c, p=1.0, gap=0.0, distance=0.0, e=0.0):
    """Return the changes of w at the label and the edge in one step of the compiled code.

    The three points are orthogonal: k = ||Phi_i||^2, distance = ||Phi_u - Phi_v||^2; f and gap
    are the scores after the step has shrunk w, c and e the step size times the term's weight.
    """
    t = 3
    after, rate = 1 / (t * (t + 1)), 2 / (t + 1)
    gram = np.diag([k, distance / 2, distance / 2])
    scores = np.array([[f, gap / 2, -gap / 2]]) / after
    change, weighted = np.zeros((2, 1, 3))
    assert run_block(
        gram=gram,
        scores=scores,
        change=change,
        weighted=weighted,
        norm=np.zeros(1),
        objective=np.zeros((1, 1)),
        first_step=t,
        harmonic=1.5,
        label=np.zeros(1, np.int32),
        target=np.array([[y]]),
        label_weight=np.ones(1),
        u=np.array([1 if e else -1], np.int32),
        v=np.array([2], np.int32),
        edge_weight=np.ones(1),
        C=np.array([c / rate]),
        C_graph=np.array([e / rate]),
        loss=loss,
        parameter=parameter,
        p=p,
        implicit=True,
        n_threads=1,
    )
    np.testing.assert_allclose(weighted, 1.5 * change, rtol=1e-15)
    return change[0] * after


sizes = st.floats(1e-6, 1e6)


@pytest.mark.long
@settings(deadline=None, max_examples=300)
@given(
    name=st.sampled_from(sorted(LOSSES)),
    sign=st.sampled_from([-1.0, 1.0]),
    f=st.floats(-50, 50),
    k=sizes,
    c=sizes,
)
@example(name="hinge", sign=1.0, f=1.0, k=1.0, c=1.0)  # at the kink: the minimum is where it is
@example(name="l1", sign=1.0, f=1.0, k=1.0, c=1.0)
@example(name="logistic", sign=1.0, f=-50.0, k=1e6, c=1e6)
@example(name="logistic", sign=1.0, f=50.0, k=1e-6, c=1e6)
def test_loss_is_minimised(name, sign, f, k, c):
    code, parameter = CODES[name]
    a, at_u, at_v = one_step(loss=code, parameter=parameter, y=sign, f=f, k=k, c=c)
    assert at_u == at_v == 0
    loss = reference.losses(parameter, parameter)[name]

    def objective(step):
        return c * loss.value(sign, f + step * k) + step**2 * k / 2

    scale = c + abs(f) / k  # what f and the step are rounded against
    exact = proximal_loss(loss, sign, f, k, c)
    assert a == pytest.approx(exact, rel=1e-9, abs=1e-13 * scale)
    other = minimize_scalar(objective, bounds=(-c, c), method="bounded", options={"xatol": 1e-12})
    assert objective(a) <= other.fun + 1e-12 * (abs(other.fun) + c)


@settings(deadline=None, max_examples=300)
@given(p=st.floats(1.0, 6.0), gap=st.floats(-50, 50), k=sizes, c=sizes)
@example(p=1.0, gap=2.0, k=1.0, c=2.0)
@example(p=2.0, gap=-3.0, k=2.0, c=5.0)
@example(p=6.0, gap=50.0, k=1e6, c=1e6)
@example(p=1.0001, gap=1e-3, k=1e6, c=1e6)
@example(p=1.5, gap=1e-300, k=1.0, c=1.0)
@example(p=3.0, gap=0.0, k=1.0, c=1.0)
def test_smoothness_is_minimised(p, gap, k, c):
    at_label, at_u, at_v = one_step(
        loss=0, parameter=0.0, y=1.0, f=2.0, k=1.0, c=1.0, p=p, gap=gap, distance=k, e=c
    )
    assert at_label == 0 and at_u == -at_v
    exact = proximal_smooth(p, gap, k, c)
    assert at_v == pytest.approx(exact, rel=1e-9, abs=1e-12 * abs(gap) / k + 1e-300)
    assert abs(at_v) * k <= abs(gap) * (1 + 1e-12) + 1e-300  # a gap closes, it never turns round


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("gap", [0.0, 0.7])
def test_smoothness_at_distance_zero(p, gap):
    """Equal points: any step leaves f as it is, so the full gradient step is as good."""
    *_, at_v = one_step(
        loss=0, parameter=0.0, y=1.0, f=2.0, k=1.0, c=1.0, p=p, gap=gap, distance=0.0, e=0.5
    )
    assert at_v == pytest.approx(0.5 * p * gap ** (p - 1) if gap else 0.0)


@pytest.mark.parametrize("name", LOSSES)
def test_loss_at_a_zero_feature(name):
    """k(x, x) = 0: f(x) cannot move; the step is finite and at most c."""
    code, parameter = CODES[name]
    a, *_ = one_step(loss=code, parameter=parameter, y=1.0, f=0.0, k=0.0, c=3.0)
    assert 0 < a <= 3.0


# ---------------------------------------------------------------- whole runs


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("name", LOSSES)
def test_equals_sequential_proximal_steps(name, p):
    case = make_case(name, p, "knn", C=(0.3, 2.0), C_graph=(0.05, 3.0))
    for steps, block in [(1, 1), (2, 1), (3, 1), (40, 1), (40, 128)]:
        found = case.run(seed(1), steps, step="implicit", block_size=block, guarantee=UNBOUNDED)
        expected, objective = algorithm(case.problem, case.draws(seed(1), steps), "implicit")
        atol = 1e-9 * (1 + np.abs(expected).max())
        np.testing.assert_allclose(case.full(found), expected, rtol=0, atol=atol)
        np.testing.assert_allclose(found.objective, objective, rtol=1e-8)


def norms(case, solution):
    """Return ||wbar|| of every output."""
    a, K = case.full(solution), case.problem.K + case.problem.offset
    return np.sqrt(np.einsum("ir,ij,jr->r", a, K, a))


@pytest.mark.parametrize(("dtype", "slack"), [(np.float64, 1e-6), (np.float32, 0.02)])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("C_graph", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("name", ["hinge", "logistic", "l1"])
def test_no_iterate_leaves_the_ball(name, p, C_graph, kernel, dtype, slack):
    """The edge step never lengthens w, and a loss step by at most 2 C A / (t+1): ||w|| <= C A."""
    case = make_case(name, p, "full", kernel, C=(1.0, 30.0), C_graph=(C_graph, C_graph))
    bound = case.problem.C * len(case.problem.labeled) * case.guarantee().A
    for steps in (2, 10, 400):
        solution = case.run(seed(2), steps, step="implicit", dtype=dtype, guarantee=UNBOUNDED)
        assert np.isfinite(solution.coefficients).all()
        assert (norms(case, solution) <= bound * (1 + slack)).all()


@pytest.mark.parametrize(
    ("p", "C_graph"),
    [
        (2.0, 100.0),
        (3.0, 1.0),
        (3.0, 1e3),
        (2.0, 1e6),
        (3.0, 1e6),
        (4.0, 1e6),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_never_called_divergent(p, C_graph, dtype):
    """These diverge explicitly, and the message then recommends this step."""
    case = make_case("hinge", p, "full", C=(1.0,), C_graph=(C_graph,))
    solution = case.run(seed(18), 500, step="implicit", dtype=dtype)
    assert np.isfinite(solution.coefficients).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-5, 1e-3])
def test_equal_and_nearly_equal_points(apart, p, dtype):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 3))
    X[12:] = X[:12] + apart * rng.normal(size=(12, 3))
    affinity = np.zeros((24, 24))
    affinity[np.arange(12), np.arange(12, 24)] = affinity[np.arange(12, 24), np.arange(12)] = 1.0
    case = make_case(
        "hinge", p, "precomputed", X=X, affinity=affinity, C=(1.0,), C_graph=(1e4,), n_labeled=5
    )
    solution = case.run(seed(4), 600, step="implicit", dtype=dtype, guarantee=UNBOUNDED)
    bound = 5 * case.guarantee().A
    assert norms(case, solution)[0] <= bound * (1 + (1e-6 if dtype == np.float64 else 0.05))
    scores = case.expansion(case.full(solution)).scores(X)
    assert np.isfinite(scores).all()
    if apart < 1e-4:
        np.testing.assert_allclose(scores[12:], scores[:12], atol=1e-3 * np.abs(scores).max())


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("name", LOSSES)
def test_finds_the_minimum_that_the_explicit_step_finds(name, p):
    case = make_case(name, p, "knn", C=(0.2,), C_graph=(0.004,))
    values = {
        step: np.mean(
            [J(case.problem, case.full(case.run(seed(s), 6000, step=step))) for s in range(3)]
        )
        for step in ("explicit", "implicit")
    }
    at_zero = J(case.problem, np.zeros((24, 1)))[0]
    drop = at_zero - min(values.values())
    assert drop > 0.02 * at_zero
    assert math.isclose(values["explicit"], values["implicit"], abs_tol=0.01 * drop)

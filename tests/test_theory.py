"""The guarantee against the paper's lemma, its printed constants and a literal run."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphkm.theory import Guarantee, largest_C_graph, largest_sigma_f

positive = st.floats(1e-3, 1e3)
weights = st.floats(1e-6, 10)
exponents = st.one_of(st.floats(1, 1.9), st.just(2.0), st.floats(2.05, 5))
above_two = st.floats(2.05, 5)


def literal_condition(a, b, p):
    if p < 2:
        return True
    return a < 1 if p == 2 else a * b ** (p - 2) <= (p - 2) ** (p - 2) / (p - 1) ** (p - 1)


def lemma(M, a, b, p):
    return a * M ** (p - 1) - M + b


@given(C=positive, C_graph=weights, p=exponents, R=st.floats(0.05, 3), A=st.floats(0.05, 3))
def test_condition_is_the_printed_one(C, C_graph, p, R, A):
    a, b = C_graph * (2 * R) ** p * p, C * A
    near = literal_condition(a * 1.000001, b, p) != literal_condition(a * 0.999999, b, p)
    assume(not near)
    guarantee = Guarantee(C, C_graph, p, R, A)
    assert (guarantee.a, guarantee.b) == pytest.approx((a, b), rel=1e-12)
    assert guarantee.holds == literal_condition(a, b, p)
    assert math.isinf(guarantee.G) == math.isinf(guarantee.M)
    assert not guarantee.holds or p < 2 or math.isfinite(guarantee.G)
    assert guarantee.holds or math.isinf(guarantee.G)


@given(
    C=positive,
    p=exponents,
    R=st.floats(0.05, 3),
    A=st.floats(0.05, 3),
    C_graph=weights,
    fraction=st.floats(1e-3, 0.999),
)
def test_the_ball_of_radius_m_holds_the_iterates(C, p, R, A, C_graph, fraction):
    limit = largest_C_graph(C, p, R, A)
    guarantee = Guarantee(C, C_graph if p < 2 else fraction * limit, p, R, A)
    assert guarantee.holds
    a, b, M = guarantee.a, guarantee.b, guarantee.M
    assume(M < 1e50)
    assert lemma(M, a, b, p) <= 1e-9 * M
    assert pytest.approx(M + b + a * M ** (p - 1)) == guarantee.G


def test_p_two_numbers_of_the_paper():
    assert largest_C_graph(C=7.0, p=2, R=1.0, A=3.0) == 0.125
    guarantee = Guarantee(C=2.0, C_graph=0.0625, p=2, R=1.0, A=1.0)
    assert (guarantee.a, guarantee.b, guarantee.M, guarantee.G) == (0.5, 2.0, 4.0, 8.0)
    assert not Guarantee(C=2.0, C_graph=0.125, p=2, R=1.0, A=1.0).holds
    assert Guarantee(C=2.0, C_graph=np.nextafter(0.125, 0), p=2, R=1.0, A=1.0).holds


def test_p_three_by_hand():
    # a b <= 1/4 with a = 24 C' and b = C: at C = 2 the limit is C' = 1/192, M = 1/(2a) = 4.
    assert largest_C_graph(C=2.0, p=3, R=1.0, A=1.0) == pytest.approx(1 / 192)
    guarantee = Guarantee(C=2.0, C_graph=largest_C_graph(2.0, 3, 1.0, 1.0), p=3, R=1.0, A=1.0)
    assert guarantee.holds
    radii = [guarantee.M, guarantee.G]
    assert radii == pytest.approx([4.0, 4 + 2 + 0.125 * 16])


def test_p_below_two_by_hand():
    guarantee = Guarantee(C=2.0, C_graph=0.5, p=1, R=1.0, A=1.0)
    assert (guarantee.a, guarantee.b, guarantee.M, guarantee.G) == (1.0, 2.0, 3.0, 6.0)
    assert Guarantee(C=0.1, C_graph=0.01, p=1.5, R=1.0, A=1.0).M == 1.0


@given(C=positive, p=st.one_of(st.just(2.0), above_two), R=st.floats(0.05, 3), A=positive)
def test_largest_c_graph_is_the_boundary(C, p, R, A):
    limit = largest_C_graph(C, p, R, A)
    assert Guarantee(C, limit * (1 - 1e-9), p, R, A).holds
    assert not Guarantee(C, limit * (1 + 1e-9), p, R, A).holds
    if p > 2:  # the boundary belongs to the condition, and the lemma is tight there
        guarantee = Guarantee(C, limit, p, R, A)
        assert guarantee.holds
        M = guarantee.M
        assert lemma(M, guarantee.a, guarantee.b, p) == pytest.approx(0, abs=1e-9 * M)


@given(C=positive, C_graph=weights, p=st.one_of(st.just(2.0), above_two))
def test_largest_sigma_f_is_the_boundary(C, C_graph, p):
    sigma = largest_sigma_f(C, C_graph, p)
    inside, outside = sigma * (1 - 1e-9), sigma * (1 + 1e-9)
    assert Guarantee(C, C_graph, p, inside, inside).holds
    assert not Guarantee(C, C_graph, p, outside, outside).holds


@pytest.mark.parametrize("C_graph", [0.03, 0.5, 8.0])
def test_largest_sigma_f_printed_forms(C_graph):
    assert largest_sigma_f(5.0, C_graph, 2) == pytest.approx(0.5 * (2 * C_graph) ** -0.5)
    expected = (1 / (2**3 * 5.0 * C_graph * 3 * 2**2)) ** (1 / 4)
    assert largest_sigma_f(5.0, C_graph, 3) == pytest.approx(expected)


@pytest.mark.parametrize("p", [1, 1.5, 1.999])
def test_no_limits_below_two(p):
    assert largest_C_graph(1.0, p, 1.0, 1.0) == largest_sigma_f(1.0, 1.0, p) == math.inf
    assert Guarantee(1e6, 1e6, p, 10.0, 10.0).holds


@pytest.mark.parametrize("p", [1, 1.5, 2, 2.5, 10])
def test_without_a_graph_any_p_is_fine(p):
    guarantee = Guarantee(C=3.0, C_graph=0.0, p=p, R=5.0, A=2.0)
    assert guarantee.holds
    assert (guarantee.a, guarantee.M, guarantee.G) == (0.0, 6.0, 12.0)
    assert largest_sigma_f(1.0, 0.0, p) == math.inf


@given(eps=st.floats(1e-6, 10), delta=st.floats(1e-4, 1), C=positive)
def test_iterations_suffice_and_one_fewer_does_not(eps, delta, C):
    guarantee = Guarantee(C, 0.01, 1.5, 1.0, 1.0)
    T = guarantee.iterations(eps, delta)
    assert isinstance(T, int)
    assert guarantee.bound(T) <= eps * delta * (1 + 1e-12)
    assert T == 1 or guarantee.bound(T - 1) > eps * delta * (1 - 1e-12)


def test_bounds():
    guarantee = Guarantee(C=2.0, C_graph=0.0625, p=2, R=1.0, A=1.0)
    assert guarantee.bound(1000) == pytest.approx(2 * 64 / 1000)
    assert guarantee.distance_bound(1000) == pytest.approx(4 * 64 / 1000)
    assert guarantee.iterations(0.5, 0.1) == 2560


def test_without_guarantee_everything_is_infinite():
    guarantee = Guarantee(C=2.0, C_graph=1.0, p=2, R=1.0, A=1.0)
    values = [guarantee.M, guarantee.G, guarantee.bound(10), guarantee.distance_bound(10)]
    assert values == [math.inf] * 4
    assert guarantee.iterations(0.1, 0.1) == math.inf


@pytest.mark.parametrize("p", [np.nextafter(2, 1), 2 - 1e-9, np.nextafter(2, 3), 2 + 1e-9, 2.001])
@pytest.mark.parametrize("C_graph", [1e-300, 1e-6, 0.12, 0.1249, 1.0, 1e300])
@pytest.mark.parametrize("C", [1e-300, 1.0, 1e300])
def test_near_two_and_extremes_never_raise(p, C_graph, C):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guarantee = Guarantee(C, C_graph, float(p), 1.0, 1.0)
        numbers = [guarantee.M, guarantee.G, guarantee.bound(10), guarantee.iterations(0.1, 0.1)]
        numbers += [largest_C_graph(C, p, 1.0, 1.0), largest_sigma_f(C, C_graph, p)]
    assert not any(math.isnan(number) or number < 0 for number in numbers)
    assert guarantee.M <= guarantee.G
    assert str(guarantee)


def test_a_bound_too_large_for_a_float_is_infinite():
    guarantee = Guarantee(C=1e200, C_graph=0.0, p=2, R=1.0, A=1.0)
    assert (guarantee.G, guarantee.bound(1)) == (2e200, math.inf)
    assert guarantee.iterations(0.1, 0.1) == math.inf


def test_limits_are_continuous_at_two():
    assert largest_C_graph(3.0, 2 + 1e-9, 1.0, 1.0) == pytest.approx(0.125, rel=1e-6)
    assert largest_sigma_f(3.0, 0.5, 2 + 1e-9) == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_degenerate_constants(p):
    assert Guarantee(C=1.0, C_graph=1.0, p=p, R=0.0, A=1.0).M == 1.0  # no features: no edge term
    still = Guarantee(C=0.0, C_graph=0.0, p=p, R=1.0, A=1.0)
    assert (still.G, still.iterations(0.1, 0.1)) == (0.0, 1)
    assert Guarantee(C=0.0, C_graph=0.1, p=p, R=1.0, A=1.0).holds


def test_units_of_the_estimators():
    guarantee = Guarantee.for_estimator(2.0, 0.5, n_labeled=10, p=1, R=1.0, A=3.0)
    assert guarantee == Guarantee(C=20.0, C_graph=5.0, p=1, R=1.0, A=3.0)
    heavy = Guarantee.for_estimator(2.0, 0.5, n_labeled=10, p=1, R=1.0, A=3.0, max_weight=4.0)
    assert heavy.C_graph == 20.0
    light = Guarantee.for_estimator(2.0, 0.5, n_labeled=10, p=1, R=1.0, A=3.0, max_weight=0.1)
    assert light == guarantee


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
def test_a_literal_run_stays_within_both_radii(p):
    rng, C = np.random.default_rng(0), 2.0
    X = rng.normal(size=(30, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)  # linear kernel, R = A = 1
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    C_graph = 1.0 if p < 2 else 0.9 * largest_C_graph(C, p, 1.0, 1.0)
    guarantee, w = Guarantee(C, C_graph, p, 1.0, 1.0), np.zeros(5)
    for t in range(1, 2001):
        i, u, v = rng.integers(30, size=3)
        edge = X[u] - X[v]
        push = p * np.sign(w @ edge) * abs(w @ edge) ** (p - 1) * edge
        g = w - C * (y[i] * (w @ X[i]) <= 1) * y[i] * X[i] + C_graph * push
        assert np.linalg.norm(g) <= guarantee.G
        w = w - 2 / (t + 1) * g
        assert np.linalg.norm(w) <= guarantee.M


def test_text_says_what_is_promised():
    holds = str(Guarantee(C=2.0, C_graph=0.0625, p=2, R=1.0, A=1.0))
    assert "within 128 / T" in holds and "||w|| <= 4" in holds
    fails = str(Guarantee(C=2.0, C_graph=1.0, p=3, R=1.0, A=1.0))
    assert "No guarantee" in fails and "C_graph <= 0.005208" in fails


@pytest.mark.parametrize(
    ("name", "value"),
    [("C", -1.0), ("C_graph", math.nan), ("p", 0.5), ("R", math.inf), ("A", -1e-9)],
)
def test_bad_constants(name, value):
    constants = {"C": 1.0, "C_graph": 1.0, "p": 2.0, "R": 1.0, "A": 1.0, name: value}
    with pytest.raises(ValueError, match=f"{name} must be finite and at least"):
        Guarantee(**constants)


@pytest.mark.parametrize(("eps", "delta"), [(0.0, 0.1), (math.nan, 0.1), (0.1, 0.0), (0.1, 1.5)])
def test_bad_precision(eps, delta):
    guarantee = Guarantee(1.0, 0.0, 1, 1.0, 1.0)
    with pytest.raises(ValueError, match="eps must be positive and delta"):
        guarantee.iterations(eps, delta)
    with pytest.raises(ValueError, match="T counts steps"):
        guarantee.bound(0)

"""|t|^p against finite differences and exact values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkm.smoothness import Smoothness

EXPONENTS = [1, 1.3, 1.5, 2, 2.5, 3, 4]
differences = st.floats(-50, 50)


@pytest.mark.parametrize("p", EXPONENTS)
def test_gradient_is_the_derivative(p):
    t, h = np.concatenate([np.linspace(-3, -0.1, 50), np.linspace(0.1, 3, 50)]), 1e-6
    smoothness = Smoothness(p)
    slope = (smoothness.value(t + h) - smoothness.value(t - h)) / (2 * h)
    np.testing.assert_allclose(smoothness.gradient(t), slope, rtol=1e-7)


@pytest.mark.parametrize(
    ("p", "value", "gradient"), [(1, 2, -1), (1.5, 2**1.5, -1.5 * 2**0.5), (2, 4, -4), (3, 8, -12)]
)
def test_known_values(p, value, gradient):
    t = np.array([-2.0, 2.0])
    np.testing.assert_allclose(Smoothness(p).value(t), [value, value])
    np.testing.assert_allclose(Smoothness(p).gradient(t), [gradient, -gradient])


@pytest.mark.parametrize("p", EXPONENTS)
def test_gradient_vanishes_at_zero(p):
    np.testing.assert_array_equal(Smoothness(p).gradient(np.array([0.0, -0.0])), [0, 0])


def test_p_one_pushes_with_full_force_next_to_zero():
    np.testing.assert_array_equal(Smoothness(1).gradient(np.array([-1e-300, 1e-300])), [-1, 1])


@given(p=st.floats(1, 5), s=differences, t=differences)
def test_convex_with_a_true_subgradient(p, s, t):
    smoothness = Smoothness(p)
    left, middle, right = smoothness.value(np.array([s, (s + t) / 2, t]))
    slack = 1e-9 * (1 + left + right)
    assert middle <= (left + right) / 2 + slack
    assert right >= left + smoothness.gradient(np.array(s)) * (t - s) - slack * (1 + abs(t - s))


def test_single_precision_stays_single():
    t = np.array([0.5], np.float32)
    assert Smoothness(1.5).value(t).dtype == Smoothness(1.5).gradient(t).dtype == np.float32


@pytest.mark.parametrize("p", [0.99, 0, -1, math.nan, math.inf])
def test_bad_exponent(p):
    with pytest.raises(ValueError, match="p must be a finite number of at least 1"):
        Smoothness(p)

"""Losses against finite differences, their printed formulas and scikit-learn."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import hinge_loss, log_loss, mean_absolute_error

from graphkm.losses import L1, EpsilonInsensitive, Hinge, Logistic, Loss, SmoothHinge, resolve_loss

LOSSES = [
    Hinge(),
    SmoothHinge(),
    SmoothHinge(tau=2.0),
    Logistic(),
    L1(),
    EpsilonInsensitive(),
    EpsilonInsensitive(epsilon=0.0),
]
scores = st.floats(-1e3, 1e3)
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def targets(loss, n, rng):
    return rng.choice([-1.0, 1.0], n) if loss.task == "classification" else rng.normal(size=n)


def kinks(loss, y):
    """The scores at which the loss is not twice differentiable."""
    if loss.task == "classification":
        return np.stack([y * 1.0, y * (1 - loss.parameter)])
    return np.stack([y - loss.parameter, y + loss.parameter])


def scalar_oracle(loss, y, f):
    """The formulas of the paper, one number at a time."""
    o = y * f
    match loss:
        case Hinge():
            return max(0.0, 1 - o)
        case SmoothHinge(tau=tau):
            if o > 1:
                return 0.0
            return 1 - o - tau / 2 if o < 1 - tau else (1 - o) ** 2 / (2 * tau)
        case Logistic():
            return math.log1p(math.exp(-o))
        case L1():
            return abs(y - f)
        case EpsilonInsensitive(epsilon=epsilon):
            return max(0.0, abs(y - f) - epsilon)


@every_loss
def test_value_is_the_papers_formula(loss):
    rng = np.random.default_rng(0)
    y, f = targets(loss, 500, rng), rng.normal(scale=3, size=500)
    expected = [scalar_oracle(loss, a, b) for a, b in zip(y, f, strict=True)]
    np.testing.assert_allclose(loss.value(y, f), expected, rtol=1e-13, atol=1e-15)


def test_mean_values_agree_with_scikit_learn():
    rng = np.random.default_rng(1)
    y, f = rng.choice([-1.0, 1.0], 200), rng.normal(size=200)
    assert Hinge().value(y, f).mean() == pytest.approx(hinge_loss(y, f))
    assert Logistic().value(y, f).mean() == pytest.approx(log_loss(y, 1 / (1 + np.exp(-f))))
    assert L1().value(y, f).mean() == pytest.approx(mean_absolute_error(y, f))


@every_loss
def test_gradient_is_the_derivative_away_from_kinks(loss):
    rng, h = np.random.default_rng(2), 1e-5
    y, f = targets(loss, 2000, rng), rng.normal(scale=2, size=2000)
    away = (np.abs(f - kinks(loss, y)) > 10 * h).all(axis=0)
    assert away.sum() > 1900
    y, f = y[away], f[away]
    slope = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, f), slope, atol=1e-8)


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_hinge_still_pushes_at_margin_one(y):
    above = np.nextafter(1.0, 2.0)
    np.testing.assert_array_equal(Hinge().gradient(y, y * np.array([1.0, above])), [-y, 0.0])
    assert Hinge().value(y, np.array(y)) == 0.0


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_smooth_hinge_is_continuous_at_both_seams(y):
    loss, f = SmoothHinge(tau=0.5), y * np.array([0.5, 1.0])
    np.testing.assert_allclose(loss.value(y, f), [0.25, 0.0])
    np.testing.assert_array_equal(loss.gradient(y, f), [-y, 0.0])


def test_smooth_hinge_tends_to_the_hinge():
    f = np.linspace(-3, 3, 101)
    gap = Hinge().value(1.0, f) - SmoothHinge(tau=1e-6).value(1.0, f)
    assert gap.min() >= 0
    assert gap.max() <= 5e-7 * (1 + 1e-6)


def test_regression_losses_are_flat_at_their_kinks():
    f = np.array([0.75, 1.0, 1.25])
    np.testing.assert_array_equal(L1().gradient(np.ones(3), f), [-1, 0, 1])
    tube = EpsilonInsensitive(epsilon=0.25)  # both ends lie exactly on the tube
    np.testing.assert_array_equal(tube.gradient(np.ones(3), f), [0, 0, 0])
    outside = np.array([np.nextafter(0.75, 0), np.nextafter(1.25, 2)])
    np.testing.assert_array_equal(tube.gradient(np.ones(2), outside), [-1, 1])


def test_logistic_does_not_overflow():
    y, f = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1e4, -1e4, 1e4, -1e4])
    np.testing.assert_array_equal(Logistic().value(y, f), [0, 1e4, 1e4, 0])
    np.testing.assert_array_equal(Logistic().gradient(y, f), [0, -1, 1, 0])


@every_loss
@given(f=scores, g=scores, y=st.floats(-10, 10))
def test_convex_and_lipschitz(loss, f, g, y):
    y = math.copysign(1.0, y) if loss.task == "classification" else y
    left, middle, right = loss.value(y, np.array([f, (f + g) / 2, g]))
    assert middle <= (left + right) / 2 + 1e-9
    assert abs(left - right) <= loss.lipschitz * abs(f - g) + 1e-9
    # The sub-gradient inequality ties the gradient to the value, kinks included.
    assert right >= left + loss.gradient(y, np.array(f)) * (g - f) - 1e-9
    assert abs(loss.gradient(y, np.array(f))) <= loss.lipschitz


@every_loss
def test_single_precision_stays_single(loss):
    y, f = np.array([1, -1], np.float32), np.array([0.5, 0.25], np.float32)
    assert loss.value(y, f).dtype == loss.gradient(y, f).dtype == np.float32


def test_codes_and_parameters():
    assert [
        loss.native_code for loss in (Hinge, SmoothHinge, Logistic, L1, EpsilonInsensitive)
    ] == [*range(5)]
    assert [loss.parameter for loss in LOSSES] == [0.0, 0.5, 2.0, 0.0, 0.0, 0.1, 0.0]


@pytest.mark.parametrize("tau", [0.0, -1.0, math.nan, math.inf])
def test_bad_tau(tau):
    with pytest.raises(ValueError, match="tau must be a positive"):
        SmoothHinge(tau=tau)


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
def test_bad_epsilon(epsilon):
    with pytest.raises(ValueError, match="epsilon must be"):
        EpsilonInsensitive(epsilon=epsilon)


@pytest.mark.parametrize(
    ("name", "task", "expected"),
    [
        ("hinge", "classification", Hinge()),
        ("smooth_hinge", "classification", SmoothHinge(0.5)),
        ("logistic", "classification", Logistic()),
        ("l1", "regression", L1()),
        ("epsilon_insensitive", "regression", EpsilonInsensitive(0.1)),
    ],
)
def test_resolve_names(name, task, expected):
    assert resolve_loss(name, task) == expected
    assert expected.name == name


def test_resolve_keeps_objects():
    loss = SmoothHinge(tau=0.1)
    assert resolve_loss(loss, "classification") is loss


@pytest.mark.parametrize("loss", ["l1", "squared", L1(), None, Hinge])
def test_resolve_names_the_choices(loss):
    with pytest.raises(ValueError, match="'hinge', 'smooth_hinge', 'logistic'"):
        resolve_loss(loss, "classification")


def test_resolve_refuses_a_classification_loss_for_regression():
    with pytest.raises(ValueError, match="'l1', 'epsilon_insensitive'"):
        resolve_loss("hinge", "regression")


def test_losses_are_values():
    assert SmoothHinge(0.5) == SmoothHinge() and hash(SmoothHinge(0.5)) == hash(SmoothHinge())
    with pytest.raises(dataclasses.FrozenInstanceError):
        SmoothHinge().tau = 1.0
    with pytest.raises(TypeError, match="abstract"):
        Loss()

"""Probabilities from class shares: a slope and offsets that fit held-out labels."""

from __future__ import annotations

import numpy as np
import pytest
from graphkm.gkm.scaling import Scaling
from scipy.optimize import minimize


def drawn(n=4000, k=3, slope=6.0, offsets=None, seed=0, spread=0.3):
    """Return shares, and labels drawn from the probabilities that the shares stand for."""
    rng = np.random.default_rng(seed)
    shares = 1 / k + spread * rng.normal(size=(n, k))
    shares += (1 - shares.sum(axis=1, keepdims=True)) / k
    truth = Scaling(slope, np.zeros(k) if offsets is None else np.asarray(offsets))
    p = truth.probabilities(shares)
    labels = (rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1)
    return shares, np.eye(k)[np.minimum(labels, k - 1)], truth


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("spread", [0.3, 1e-4])
def test_the_slope_that_made_the_labels_is_found(k, spread):
    shares, wanted, truth = drawn(20_000, k, slope=6.0 * 0.3 / spread, spread=spread)
    found = Scaling.fit(shares, wanted, np.ones(len(shares)))
    assert found.slope == pytest.approx(truth.slope, rel=0.05)
    assert np.abs(found.probabilities(shares) - truth.probabilities(shares)).mean() < 0.02


def test_offsets_of_a_rare_class_are_found():
    shares, wanted, _ = drawn(20_000, 2, slope=8.0, offsets=[-0.8, 0.8])
    found = Scaling.fit(shares, wanted, np.ones(len(shares)))
    assert np.diff(found.offsets)[0] == pytest.approx(1.6, abs=0.2)
    codes = wanted.argmax(axis=1)
    before, after = (np.mean(s.argmax(axis=1) != codes) for s in (shares, found.logits(shares)))
    assert after < before - 0.01


@pytest.mark.parametrize("k", [2, 4])
def test_likelihood_is_greatest(k):
    """Against a minimiser without gradients, with the same prior and one label of all classes."""
    shares, wanted, _ = drawn(300, k, slope=5.0, offsets=np.linspace(-1.5, 1.5, k))
    weights = np.random.default_rng(1).integers(1, 4, 300).astype(float)
    found = Scaling.fit(shares, wanted, weights)
    targets = (300 * wanted + 1 / k) / 301

    def lost(values):
        logits = values[0] * shares + values[1:]
        logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        scaled = weights / weights.mean()
        return -(scaled[:, None] * targets * logs).sum() + 5.0 * (values[1:] ** 2).sum()

    start = np.r_[found.slope, found.offsets]
    assert found.offsets.any()
    best = minimize(lost, np.r_[4.0, np.zeros(k)], method="Powell", options={"xtol": 1e-8})
    assert lost(start) <= best.fun + 1e-4


@pytest.mark.parametrize("n", [60, 200])
def test_decisions_stay_where_offsets_are_not_surely_better(n):
    """Classes are alike: offsets that help a few labels are luck."""
    other, _, _ = drawn(2000, seed=99)
    moved = []
    for seed in range(20):
        shares, wanted, _ = drawn(n, 3, seed=seed)
        found = Scaling.fit(shares, wanted, np.ones(n))
        moved.append(np.mean(found.logits(other).argmax(axis=1) != other.argmax(axis=1)))
    assert np.mean(np.array(moved) > 0) <= 0.35 and np.mean(moved) < 0.02


def test_decisions_stay_where_many_rows_lie_behind_the_border():
    """A mass of rows near the border must not tip over, whatever a few labels gain."""
    share = np.r_[np.full(900, 0.02), np.full(300, 0.30), np.full(40, 0.42)]
    label = np.r_[np.arange(900) < 2, np.arange(300) < 120, np.arange(40) < 38].astype(int)
    shares, wanted = np.column_stack([1 - share, share]), np.eye(2)[label]
    found = Scaling.fit(shares, wanted, np.ones(len(share)))
    assert (found.logits(shares).argmax(axis=1) == shares.argmax(axis=1)).all()


@pytest.mark.parametrize("n", [1, 2, 8])
def test_few_labels_and_labels_that_agree_give_finite_probabilities(n):
    shares = np.tile([0.1, 0.9], (n, 1))
    found = Scaling.fit(shares, np.tile([0.0, 1.0], (n, 1)), np.ones(n))
    assert np.isfinite(found.probabilities(shares)).all() and found.slope > 0
    assert found.probabilities(shares)[0, 1] < 1


def test_equal_shares_say_nothing():
    found = Scaling.fit(np.full((10, 2), 0.5), np.eye(2)[np.arange(10) % 2], np.ones(10))
    np.testing.assert_allclose(found.probabilities(np.full((1, 2), 0.5)), 0.5)

"""The judge against a convex solver, a scalar minimiser, and labels without any signal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from graphkm.judge import best_temperature, judge_classes, judge_quantities, mixture_weights
from graphkm.judge.folds import FEWEST
from graphkm.judge.mixture import ALONE, LABELS_ALONE, PRIOR
from graphkm.judge.temperature import BELIEF


def said_by(n_members, n_labels, seed=0, right=0.3):
    """Return log probabilities of the true classes; some members know more than others."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n_members, n_labels, 3))
    scores[:, :, 0] += np.linspace(0, right * 5, n_members)[:, None]
    return log_softmax(scores, axis=-1)[:, :, 0].T


@pytest.mark.filterwarnings("ignore:invalid value encountered in log")  # cvxpy's last digits
@pytest.mark.parametrize("n_labels", [9, 60, 400])
def test_weights_are_those_of_a_convex_solver(n_labels):
    cp = pytest.importorskip("cvxpy")
    logs = said_by(6, n_labels)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, n_labels)
    weights /= weights.mean()
    odds = -np.log([2.0, 3.0, 4.0, 11.0, 21.0, 41.0])
    alone, own = np.arange(6) % 3 == 0, ALONE * (weights @ logs) + odds
    prior = np.empty(6)
    share = n_labels / (n_labels + LABELS_ALONE)
    prior[alone] = PRIOR * share * softmax(own[alone])
    prior[~alone] = PRIOR * (1 - share) * softmax(own[~alone])
    w = cp.Variable(6)
    likely = weights @ cp.log(np.exp(logs) @ w) + prior @ cp.log(w)
    cp.Problem(cp.Maximize(likely), [cp.sum(w) == 1]).solve()
    np.testing.assert_allclose(mixture_weights(logs, weights, odds, alone), w.value, atol=2e-3)


def test_weights_do_not_depend_on_the_order_of_members_or_labels():
    logs, rng = said_by(8, 50), np.random.default_rng(0)
    members, labels = rng.permutation(8), rng.permutation(50)
    found = mixture_weights(logs[labels][:, members])
    np.testing.assert_allclose(found, mixture_weights(logs)[members], atol=1e-9)


def test_a_member_that_was_never_wrong_does_not_break_the_others():
    logs = np.column_stack([np.zeros(30), np.full(30, -800.0)])
    assert mixture_weights(logs)[0] > 0.99


@pytest.mark.parametrize("size", [0.01, 1.0, 300.0])
def test_the_temperature_is_that_of_a_minimiser(size):
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(3, size=80), np.ones(80)
    held = (rng.normal(size=(80, 3)) + 2.0 * np.eye(3)[codes]) / size

    def loss(log_t):
        logs = log_softmax(np.exp(log_t) * size * held, axis=1)[np.arange(80), codes]
        return -logs.sum() + BELIEF * log_t**2

    wanted = size * np.exp(minimize_scalar(loss, bounds=(-2.3, 2.3), method="bounded").x)
    assert best_temperature(held, codes, weights, size) == pytest.approx(wanted, rel=0.06)


def test_the_score_of_a_fold_knows_nothing_of_its_labels():
    rng = np.random.default_rng(0)
    codes, ones = rng.integers(2, size=40), np.ones(40)
    held = rng.normal(size=(200, 40, 2))  # of many guesses the best looks good
    folds = [(np.flatnonzero(np.arange(40) % 5 != i), np.arange(i, 40, 5)) for i in range(5)]
    verdict = judge_classes(held, codes, ones, np.ones(200), np.ones(200), folds)
    seen = judge_classes(held, codes, ones, np.ones(200), np.ones(200), [(folds[0][0], codes[:0])])
    assert seen.score > 0.7 and verdict.score < 0.65
    assert verdict.scores.max() > 0.7


def test_the_score_comes_from_what_members_say_without_a_fold():
    """A member that copies its neighbour's label looks right if it has seen that label."""
    rng = np.random.default_rng(0)
    codes, n = rng.integers(2, size=60), 60
    partner = np.arange(n) ^ 1
    held = np.zeros((2, n, 2))
    held[0, np.arange(n), codes] = 3.0  # knows too much
    held[1] = rng.normal(size=(n, 2))

    def refit(seen, told):
        known = np.isin(partner, seen)
        said = np.where(known[:, None], 3.0 * np.eye(2)[codes[partner]], 0.0)
        return said[seen], said[told]

    fold = np.arange(n) % 4
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    about = (held, codes, np.ones(n), np.ones(2), np.full(2, 5.0), folds)
    assert judge_classes(*about).score == 1.0
    assert judge_classes(*about, [refit, None]).score < 0.75
    ones, targets = np.ones((n, 1)), 3.0 * codes[:, None]
    quantities = judge_quantities(held[:, :, 1:], targets, ones, np.ones(2), folds)
    less = judge_quantities(
        held[:, :, 1:],
        targets,
        ones,
        np.ones(2),
        folds,
        [lambda seen, told: tuple(each[:, 1:] for each in refit(seen, told)), None],
    )
    assert quantities.score > 0.9 > less.score + 0.3


@pytest.mark.parametrize("n_labels", [4, 40])
def test_more_members_on_the_graph_do_not_outvote_the_labels(n_labels):
    """Nobody knows anything: the labels alone keep their share, however many the others are."""
    for n_graph in (1, 60):
        logs = np.full((n_labels, 1 + n_graph), np.log(0.5))
        alone = np.arange(1 + n_graph) == 0
        unheld = mixture_weights(logs[:0], np.ones(n_labels), None, alone)[0]
        assert unheld == pytest.approx(n_labels / (n_labels + LABELS_ALONE))
        found = mixture_weights(logs, None, np.full(1 + n_graph, 5.0), alone)[0]
        share = n_labels / (n_labels + LABELS_ALONE)
        if n_labels >= FEWEST:  # of equal members, those with more prior slowly get more labels
            assert found >= PRIOR / (n_labels + PRIOR) * share
        else:
            assert found == pytest.approx(share)


def test_without_folds_there_is_the_prior_and_no_score():
    rng = np.random.default_rng(0)
    held, codes = rng.normal(size=(3, 40, 2)), rng.integers(2, size=40)
    found = judge_classes(held, codes, np.ones(40), np.ones(3), -np.log([2.0, 4.0, 4.0]), [])
    np.testing.assert_allclose(found.weights, [0.5, 0.25, 0.25])
    assert np.isnan(found.score)


@pytest.mark.parametrize("n", [FEWEST - 1, FEWEST])
def test_few_labels_say_nothing_of_members(n):
    logs = np.log(np.column_stack([np.full(n, 0.9), np.full(n, 0.3)]))
    found = mixture_weights(logs, odds=-np.log([6.0, 3.0]))
    assert (found[0] > found[1]) == (n == FEWEST)


def test_ten_times_the_targets_is_ten_times_the_spread():
    rng = np.random.default_rng(0)
    y, ones = rng.normal(size=(50, 1)), np.ones((50, 1))
    held = y + rng.normal(size=(4, 50, 1)) * np.array([0.1, 0.5, 1.0, 3.0])[:, None, None]
    folds = [(np.arange(25), np.arange(25, 50)), (np.arange(25, 50), np.arange(25))]
    one = judge_quantities(held, y, ones, np.ones(4), folds)
    ten = judge_quantities(1e4 * held, 1e4 * y, ones, np.ones(4), folds)
    np.testing.assert_allclose(one.weights, ten.weights, rtol=1e-6)
    np.testing.assert_allclose(1e4 * one.sizes, ten.sizes)
    assert one.score == pytest.approx(ten.score)
    assert one.weights.argmax() == 0


def test_constant_targets_have_weights():
    verdict = judge_quantities(
        np.ones((3, 10, 1)), np.ones((10, 1)), np.ones((10, 1)), np.ones(3), []
    )
    np.testing.assert_allclose(verdict.weights, 1 / 3)

"""Learning curves: literal refits, brute force over laws, and intervals by simulation."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.neighbors import kneighbors_graph

from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.inspection import learning_curve, refit_with_doubts
from graphkm.inspection.curve import mean_losses
from graphkm.inspection.law import LUCK, fit_law
from graphkm.inspection.refits import draws_of, held_losses, refitted
from graphkm.semi.held import Held, held_of

X, TRUTH = make_moons(240, noise=0.35, random_state=0)
Y = np.where(np.arange(240) < 80, TRUTH, -1)
PLAIN = SemiSupervisedClassifier(LogisticRegression(), graph=None, class_sizes=None, random_state=0)


@pytest.fixture(scope="module")
def model():
    return SemiSupervisedClassifier(**PLAIN.get_params(deep=False)).fit(X, Y)


# ------------------------------------------------------------------ losses


def test_losses_are_those_of_a_literal_refit(model):
    held = held_of(model)
    chosen = np.arange(80) % 3 == 0
    found = refitted(model, X, held, chosen, None, None)
    partly = np.where(np.isin(np.arange(240), held.rows[chosen]), TRUTH, -1)
    again = SemiSupervisedClassifier(**PLAIN.get_params(deep=False)).fit(X, partly)
    rest = held.rows[~chosen]
    assert found.size == chosen.sum() and np.isnan(found.loss[chosen]).all()
    np.testing.assert_array_equal(found.loss[~chosen], again.predict(X[rest]) != TRUTH[rest])


def test_the_model_itself_is_one_of_the_fits(model):
    found = held_losses(model, held_of(model))
    assert found.size == pytest.approx(72)  # ten folds
    assert 1 - found.loss.mean() == pytest.approx(model.best_score_)
    many = SemiSupervisedClassifier(**PLAIN.get_params(deep=False)).fit(X, TRUTH)
    assert held_losses(many, held_of(many)).size == pytest.approx(0.8 * 240)  # five folds
    four = SemiSupervisedClassifier(**PLAIN.get_params(deep=False)).set_params(cv=4).fit(X, Y)
    assert held_losses(four, held_of(four)).size == pytest.approx(60)


def test_every_draw_has_every_class_and_its_share():
    codes = np.r_[np.zeros(60, int), np.ones(37, int), [2, 2, 3]]
    told = np.eye(4)[codes]
    held = Held(np.arange(100), told, told, np.ones(100), "classes")
    draws = draws_of(held, 5, np.random.RandomState(0))
    assert [int(each.sum()) for each in draws] == [25] * 5 + [50] * 5 + [75] * 5
    for chosen in draws:
        counts = np.bincount(codes[chosen], minlength=4)
        assert counts.min() >= 1
        assert np.abs(counts - np.bincount(codes) * chosen.mean()).max() <= 2
    assert not np.array_equal(draws[0], draws[1])


def test_means_and_their_noise_are_those_of_drawn_rows():
    """Rows are drawn anew, many times: the means spread as each draw said they would."""
    rng, n = np.random.default_rng(0), 200
    seen = np.zeros((3, n), bool)
    seen[0, ::2] = seen[1, 50:180] = True
    weights = rng.uniform(0.5, 1.5, n)
    means, noises = [], []
    for _ in range(3000):
        hard = rng.random(n) < 0.3
        losses = (rng.random((3, n)) < np.where(hard, 0.7, 0.1)).astype(float)
        losses[seen] = np.nan
        mean, noise = mean_losses(losses, weights)
        means.append(mean)
        noises.append(noise - 1 / (n + 2) ** 2)
    told = ~seen[0]
    assert mean[0] == pytest.approx(np.average(losses[0, told], weights=weights[told]))
    wanted = np.cov(np.array(means).T)
    np.testing.assert_allclose(np.mean(noises, axis=0), wanted, rtol=0.12)
    assert wanted[0, 2] > 3e-4  # they err together


def test_a_lucky_fit_is_not_more_certain():
    """Three rows without an error say little, beside others with errors."""
    losses = np.full((2, 40), np.nan)
    losses[0, :3], losses[1] = 0.0, np.arange(40) % 4 == 3
    assert mean_losses(losses, np.ones(40))[1][0, 0] > 0.04


# ------------------------------------------------------------------ the law


def test_laws_are_weighed_as_brute_force_does():
    sizes = np.array([20.0, 20.0, 40.0, 72.0])
    losses = np.array([0.31, 0.27, 0.2, 0.17])
    noise = 4e-4 * (np.eye(4) + 1.0)
    law = fit_law(80, sizes, losses, noise)
    means = np.array([0.29, 0.29, 0.2, 0.17])
    wanted = np.zeros(len(law.loss))
    for place in range(0, len(wanted), 97):
        b = law.loss[place] * (1 - law.rest[place]) * 80 ** law.power[place]
        a = law.loss[place] * law.rest[place]
        expected = a + b * sizes ** -law.power[place]
        wanted[place] = sum(
            multivariate_normal(expected, noise + np.diag((luck * means) ** 2)).pdf(losses)
            for luck in LUCK
        )
    used = np.flatnonzero(wanted)
    np.testing.assert_allclose(
        law.weight[used] / law.weight[used].sum(), wanted[used] / wanted[used].sum(), rtol=1e-6
    )
    order = np.argsort(law.at(160))
    below = law.weight[order][law.at(160)[order] <= law.quantile(160, 0.3)].sum()
    assert below == pytest.approx(0.3, abs=0.01)


def test_no_error_at_all_leaves_doubt():
    sizes = np.array([20.0, 40.0, 60.0, 72.0])
    means, noise = mean_losses(np.zeros((4, 80)), np.ones(80))
    law = fit_law(80, sizes, means, noise)
    assert 0.002 < law.quantile(80, 0.9) < 0.03


@pytest.mark.long
def test_intervals_hold_the_truth_of_simulated_learning():
    """Rows differ in how hard they are. Laws are drawn; the interval is for twice the labels."""
    rng, inside, draws = np.random.default_rng(1), 0, 200
    n = 100
    for _ in range(draws):
        loss, rest, power = rng.uniform(0.05, 0.3), rng.random(), rng.choice([0.5, 1.0, 1.5])
        sizes = np.array([25.0] * 3 + [50.0] * 3 + [75.0] * 3 + [90.0])
        true = loss * (rest + (1 - rest) * (sizes / n) ** -power)
        luck = np.exp(0.1 * rng.standard_normal(len(sizes)))
        hard = rng.random(n)  # the same for all fits
        found = np.full((len(sizes), n), np.nan)
        for place, size in enumerate(sizes):
            p = np.minimum(true[place] * luck[place], 0.9)
            wrong = rng.random(n) < 0.5 * p + 0.5 * (hard < p)
            told = rng.permutation(n)[: int(n - size)] if place < 9 else np.arange(n)
            found[place, told] = wrong[told]
        law = fit_law(n, sizes, *mean_losses(found, np.ones(n)))
        wanted = loss * (rest + (1 - rest) * 2.0**-power)
        inside += law.quantile(200, 0.1) <= wanted <= law.quantile(200, 0.9)
    assert 0.7 < inside / draws < 0.95


# ------------------------------------------------------------------ the whole


def test_more_labels_never_cost(model):
    curve = learning_curve(model, X, more=[1, 80, 1000], repeats=2, random_state=0)
    assert curve.more.tolist() == [0, 1, 80, 1000] and curve.labels == 80
    for values in (curve.low, curve.expected, curve.high):
        assert (np.diff(values) >= 0).all() and (values <= 1).all()
    assert (curve.low < curve.expected).all() and (curve.expected < curve.high).all()
    assert curve.sizes.tolist() == pytest.approx([20, 40, 60, 72])
    assert abs(curve.expected[0] - model.best_score_) < 0.05


def test_the_seed_decides(model):
    one, two, other = (learning_curve(model, X, repeats=1, random_state=s) for s in (0, 0, 1))
    assert np.array_equal(one.low, two.low) and not np.array_equal(one.low, other.low)


def test_quantities_have_r_squared():
    rng = np.random.default_rng(0)
    targets = X @ [1.0, 2.0] + rng.normal(0, 0.5, 240)
    partly = np.where(np.arange(240) < 60, targets, np.nan)
    own = SemiSupervisedRegressor(Ridge(), graph=None, random_state=0).fit(X, partly)
    loss = held_losses(own, held_of(own)).loss
    assert 1 - loss.mean() == pytest.approx(r2_score(targets[:60], own.held_out_))
    curve = learning_curve(own, X, random_state=0, repeats=1)
    assert curve.unit == "R^2" and "%" not in repr(curve)
    assert curve.low[0] < own.score(X[60:], targets[60:]) < curve.high[-1] + 0.05


def test_several_quantities_may_have_gaps():
    targets = np.column_stack([X @ [1.0, 2.0], X @ [2.0, -1.0]])
    targets += np.random.default_rng(0).normal(0, 0.5, (240, 2))
    partly = np.where(np.arange(240)[:, None] < [60, 40], targets, np.nan)
    own = SemiSupervisedRegressor(Ridge(), graph=None, random_state=0).fit(X, partly)
    losses = held_losses(own, held_of(own)).loss
    spread = np.nanvar(partly, axis=0)
    first = np.square(own.held_out_ - own.told_) / spread
    np.testing.assert_allclose(losses, np.nanmean(first, axis=1))
    assert np.isfinite(learning_curve(own, X, repeats=1, random_state=0).low).all()


def test_several_labels_are_right_together():
    told = np.column_stack([TRUTH, X[:, 0] > 0.5]).astype(float)
    told[80:] = np.nan
    told[0, 1] = np.nan
    own = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(X, told)
    held = held_of(own)
    loss = held_losses(own, held).loss
    assert np.isnan(loss[0]) and np.isfinite(loss[1:]).all()
    right = ((held.said > own.thresholds_) == (held.told > 0.5)).all(axis=1)
    np.testing.assert_array_equal(loss[1:], ~right[1:])
    assert learning_curve(own, X, repeats=1, random_state=0).unit == "accuracy"


def test_an_order_of_classes_is_kept():
    names = np.array(["low", "mid", "top"])
    codes = np.digitize(X[:, 0], [0.0, 1.0])
    y = pd.Series(pd.Categorical(names[codes], categories=names, ordered=True))
    y[80:] = None
    own = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(X, y)
    held = held_of(own)
    sums = np.cumsum(held.said, axis=1) >= 0.5  # "low", "mid", "top" are sorted already
    np.testing.assert_array_equal(
        held_losses(own, held).loss, sums.argmax(axis=1) != codes[held.rows]
    )
    assert learning_curve(own, X, repeats=1, random_state=0).expected[0] > 0.8


def test_weights_of_labels_are_kept():
    """Heavy labels that are all wrong in one class make copies of the model wrong, too."""
    weights = np.where(TRUTH == 1, 30.0, 1.0)
    own = SemiSupervisedClassifier(**PLAIN.get_params(deep=False)).fit(X, Y, weights)
    held, chosen = held_of(own), np.arange(80) % 2 == 0
    partly = np.where(np.isin(np.arange(240), held.rows[chosen]), TRUTH, -1)
    again = SemiSupervisedClassifier(**PLAIN.get_params(deep=False)).fit(X, partly, weights)
    rest = held.rows[~chosen]
    found = refitted(own, X, held, chosen, None, None).loss[~chosen]
    np.testing.assert_array_equal(found, again.predict(X[rest]) != TRUTH[rest])


def test_edges_alone_have_a_curve():
    near = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)[:, 1:6]
    edges = np.array(list(itertools.chain(*([(i, j) for j in row] for i, row in enumerate(near)))))
    own = SemiSupervisedClassifier(random_state=0).fit(None, Y, affinity=edges)
    curve = learning_curve(own, None, repeats=1, random_state=0, affinity=edges)
    assert 0.6 < curve.low[0] < curve.high[-1] <= 1


# ------------------------------------------------------------------ wrong input, and print


def test_a_model_of_edges_needs_them_again():
    rows, truth = make_moons(60, noise=0.1, random_state=0)
    edges = kneighbors_graph(rows, 4)
    y = np.where(np.arange(60) < 30, truth, -1)
    model = SemiSupervisedClassifier(None, random_state=0).fit(rows, y, affinity=edges)
    assert model.mixture_.linked is not None
    for again in (partial(learning_curve, model, rows), partial(refit_with_doubts, model, rows, y)):
        with pytest.raises(ValueError, match="learnt from edges, and would be fitted again"):
            again()


def test_listed_folds_are_for_all_labels_only():
    folds = [(np.arange(40, 80), np.arange(40)), (np.arange(40), np.arange(40, 80))]
    own = SemiSupervisedClassifier(**PLAIN.get_params(deep=False)).set_params(cv=folds).fit(X, Y)
    assert learning_curve(own, X, repeats=1, random_state=0).labels == 80


def test_rows_without_all_their_labels_are_told():
    told = np.full((240, 2), np.nan)
    told[:40, 0], told[40:80, 1] = TRUTH[:40], TRUTH[40:80]
    own = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(X, told)
    with pytest.raises(ValueError, match="Too few labelled rows have all their labels"):
        learning_curve(own, X, repeats=1)


def test_too_few_labels_are_told():
    few = np.where(np.arange(240) < 15, TRUTH, -1)
    own = SemiSupervisedClassifier(**PLAIN.get_params(deep=False)).fit(X, few)
    with pytest.raises(ValueError, match=r"15 labels are too few.*16 are needed"):
        learning_curve(own, X)
    few[15] = TRUTH[15]
    enough = SemiSupervisedClassifier(**PLAIN.get_params(deep=False)).fit(X, few)
    assert learning_curve(enough, X, repeats=1, random_state=0).labels == 16


@pytest.mark.parametrize("more", [[], [0], [-5], [1.5], "many", [[1]], None])
def test_wrong_numbers_of_labels_are_told(model, more):
    with pytest.raises(ValueError, match="more has numbers of labels"):
        learning_curve(model, X, more=more)


def test_other_wrong_input_is_told(model):
    with pytest.raises(ValueError, match="repeats must be a whole number"):
        learning_curve(model, X, repeats=0)
    with pytest.raises(ValueError, match="X has 50 rows, but the model has a label of row 79"):
        learning_curve(model, X[:50])
    with pytest.raises(ValueError, match="X comes in blocks"):
        learning_curve(model, iter([X]))
    shares = np.where(np.arange(240)[:, None] < 60, [0.3, 0.7], np.nan)
    own = SemiSupervisedClassifier(LogisticRegression(), graph=None).fit(X, shares)
    with pytest.raises(ValueError, match="shares of several classes"):
        learning_curve(own, X)


def test_curves_print_and_become_frames(model):
    curve = learning_curve(model, X, more=[100], repeats=1, random_state=0)
    low, high = 100 * curve.low[1], 100 * curve.high[1]
    assert repr(curve).endswith(f"100 more labels: {low:.1f} % to {high:.1f} %")
    assert curve.frame()["labels"].tolist() == [80, 180]

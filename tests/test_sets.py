"""Sets of classes and intervals of quantities: brute force, and coverage by simulation."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge

from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.exchange import load_model, save_model
from graphkm.inspection import PredictionSets, prediction_intervals, prediction_sets
from graphkm.inspection.conformal import new_count, reach

X, TRUTH = make_moons(200, noise=0.3, random_state=0)
Y = np.where(np.arange(200) < 60, TRUTH, -1)


@pytest.fixture(scope="module")
def model():
    plain = SemiSupervisedClassifier(
        LogisticRegression(), graph=None, class_sizes=None, random_state=0
    )
    return plain.fit(X, Y)


def sure(said, told, new, kind="classes"):
    """Return a stand-in for a fitted model, whose held-out values and answers are given."""
    said, new = np.asarray(said, dtype=float), np.asarray(new, dtype=float)
    found = SimpleNamespace(
        _mixed=None,
        mixture_=SimpleNamespace(tilt=None, kind=kind),
        held_out_=said,
        told_=np.asarray(told, dtype=float),
        labeled_=np.arange(len(said)),
        told_weights_=np.ones(len(said)),
        fit=None,
        predict_proba=lambda X, affinity, ids: new,
        predict=lambda X, affinity, ids: new,
        __sklearn_tags__=lambda: LogisticRegression().__sklearn_tags__(),
    )
    if kind == "classes":
        found.classes_ = np.arange(said.shape[1])
    return found


# ------------------------------------------------------------------ thresholds


def literal(scores, coverage):
    """Return the k-th smallest score of split conformal prediction, in exact arithmetic."""
    k = math.ceil((len(scores) + 1) * Fraction(str(coverage)))
    return sorted(scores)[k - 1] if k <= len(scores) else math.inf


@pytest.mark.parametrize("coverage", [0.05, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99])
def test_the_threshold_is_that_of_split_conformal_prediction(coverage):
    rng = np.random.default_rng(0)
    for n in range(1, 120):
        scores = rng.integers(0, 8, n).astype(float) if n % 2 else rng.random(n)  # with ties
        assert reach(scores, np.ones(n), coverage) == literal(scores.tolist(), coverage)


def test_a_weighted_threshold_is_that_of_copied_rows():
    """A row of weight 3 is three rows, and so is the new one, in exact arithmetic."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(1, 30))
        scores, counts = rng.integers(0, 9, n), rng.integers(0, 5, n)
        if not counts.any():
            continue
        new = Fraction(int((counts**2).sum()), int(counts.sum()))
        asked = Fraction(9, 10) * (int(counts.sum()) + new)
        copies = sorted(np.repeat(scores, counts).tolist())
        wanted = copies[math.ceil(asked) - 1] if asked <= len(copies) else math.inf
        weights = counts.astype(float)
        for scale in (1.0, 0.37):
            own = scale * weights
            assert reach(scores.astype(float), own, 0.9, new_count(own, own)) == wanted


def test_shares_count_by_their_size():
    """A row that is half of each class is half a row of each."""
    said = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.8, 0.2]])
    told = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
    found = prediction_sets(sure(said, told, said), said, coverage=0.6)
    # Scores 0.1 (1), 0.2 (1), 0.3 (1), 0.4 (1/2), 0.6 (1/2); three of five rows are asked for.
    np.testing.assert_allclose(found.thresholds, 0.7)


# ------------------------------------------------------------------ coverage


def exact(n, coverage):
    """Return the probability that the last of l + 1 exchangeable scores is not above the k-th."""
    return min(math.ceil((n + 1) * coverage - 1e-9) / (n + 1), 1.0)


@pytest.mark.dear
@pytest.mark.parametrize("n, coverage", [(9, 0.8), (19, 0.9), (50, 0.9), (8, 0.9)])
@pytest.mark.filterwarnings("ignore:The labels are too few")
def test_sets_cover_exactly_as_often_as_theory_says(n, coverage):
    """The model never sees a label here, so rows are exchangeable and coverage is exact."""
    rng, hits, draws = np.random.default_rng(2), 0.0, 3000
    for _ in range(draws):
        probabilities = rng.dirichlet([1.0, 1.0, 1.0], n + 5)
        classes = (rng.random((n + 5, 1)) > probabilities.cumsum(axis=1)).sum(axis=1)
        told = np.eye(3)[classes[:n]]
        found = prediction_sets(sure(probabilities[:n], told, probabilities[n:]), None, coverage)
        hits += found.members[np.arange(5), classes[n:]].mean()
    # New rows share thresholds. So the error is at most that of as many rows as draws.
    wanted = exact(n, coverage)
    assert abs(hits / draws - wanted) <= 4 * math.sqrt(wanted * (1 - wanted) / draws)


def test_thresholds_by_class_cover_every_class():
    """A rare class is told badly. Its own threshold covers it, a common one does not."""
    rng, hits, draws = np.random.default_rng(3), np.zeros((2, 2)), 600
    for _ in range(draws):
        classes = (rng.random(220) < 0.2).astype(int)
        p = np.where(classes == 1, rng.uniform(0.0, 0.6, 220), rng.uniform(0.0, 0.1, 220))
        said = np.column_stack([1 - p, p])
        stand_in = sure(said[:200], np.eye(2)[classes[:200]], said[200:])
        for place, by_class in enumerate((False, True)):
            inside = prediction_sets(stand_in, None, 0.9, by_class=by_class).members
            own = inside[np.arange(20), classes[200:]]
            hits[place] += [
                own[classes[200:] == c].mean() if c in classes[200:] else 0.9 for c in (0, 1)
            ]
    common, own = hits / draws
    assert common[1] < 0.7 and common[0] > 0.98
    assert np.abs(own - 0.9).max() < 0.02


def test_weights_make_up_for_rows_that_were_chosen_by_doubt():
    rng, hits, draws = np.random.default_rng(4), np.zeros(2), 400
    for _ in range(draws):
        spread = rng.uniform(0.0, 1.0, 1000)
        errors = spread * rng.standard_normal(1000)
        chance = np.where(spread < 0.5, 0.3, 0.05)  # hard rows are seldom labelled
        chosen = rng.random(1000) < chance
        stand_in = sure(np.zeros(chosen.sum()), errors[chosen], np.zeros(1000), "quantities")
        for place, weights in enumerate((None, 1.0 / chance[chosen])):
            low, high = prediction_intervals(stand_in, None, 0.9, weights=weights).T
            hits[place] += np.mean(((low <= errors) & (errors <= high))[~chosen])
    plain, weighted = hits / draws
    assert plain < 0.8
    assert abs(weighted - 0.9) < 0.02


# ------------------------------------------------------------------ real models


def test_sets_of_a_model_are_those_of_a_literal_computation(model):
    found = prediction_sets(model, X[60:], 0.8)
    own = 1.0 - model.held_out_[np.arange(60), TRUTH[:60]]
    wanted = (1.0 - model.predict_proba(X[60:])) <= literal(own.tolist(), 0.8)
    assert np.array_equal(found.members, wanted)
    assert found.lists()[0] == model.classes_[wanted[0]].tolist()
    assert np.array_equal(found.sizes, wanted.sum(axis=1)) and len(found) == 140


def test_sets_are_the_same_of_a_file(tmp_path):
    fields = SemiSupervisedClassifier(estimator=None, random_state=0).fit(X, Y)
    save_model(fields, tmp_path / "a")
    one, two = (prediction_sets(each, X) for each in (fields, load_model(tmp_path / "a")))
    assert np.array_equal(one.members, two.members)


def test_intervals_of_a_model_are_those_of_a_literal_computation():
    rng = np.random.default_rng(0)
    targets = np.column_stack([X @ [1.0, 2.0], X @ [3.0, -1.0]]) + rng.normal(0, 0.2, (200, 2))
    partly = np.where(np.arange(200)[:, None] < [40, 50], targets, np.nan)  # ten gaps
    several = SemiSupervisedRegressor(Ridge(), graph=None, random_state=0).fit(X, partly)
    one = SemiSupervisedRegressor(Ridge(), graph=None, random_state=0).fit(X, partly[:, 0])
    found = prediction_intervals(several, X)
    assert found.shape == (200, 2, 2)
    errors = np.abs(several.held_out_ - several.told_)
    for column, n in enumerate((40, 50)):
        limit = literal(errors[:n, column].tolist(), 0.9)
        wanted = several.predict(X)[:, column, None] + [-limit, limit]
        np.testing.assert_allclose(found[:, column], wanted, rtol=1e-12)
    single = prediction_intervals(one, X)
    assert single.shape == (200, 2)
    np.testing.assert_allclose(single.mean(axis=1), one.predict(X))


# ------------------------------------------------------------------ few labels, and wrong input


def test_too_few_labels_are_told():
    few = np.where(np.arange(200) < 20, TRUTH, -1)
    own = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(X, few)
    with pytest.warns(UserWarning, match="too few for coverage=0.96.*24 labels"):
        assert prediction_sets(own, X, 0.96).members.all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prediction_sets(own, X, 0.95)  # 19 labels are enough
    rows = np.where(few < 0, np.nan, few)
    values = SemiSupervisedRegressor(Ridge(), graph=None, random_state=0).fit(X, rows)
    with pytest.warns(UserWarning, match="so intervals are infinite"):
        assert np.isinf(prediction_intervals(values, X, 0.96)).all()


def test_a_class_with_too_few_labels_is_in_every_set():
    said = np.tile([0.9, 0.1], (40, 1))
    told = np.eye(2)[np.r_[np.zeros(35, int), np.ones(5, int)]]
    with pytest.warns(UserWarning, match="The labels of 1 are too few"):
        found = prediction_sets(sure(said, told, said), None, by_class=True)
    assert found.members.all() and found.thresholds[1] == -np.inf


@pytest.mark.parametrize("coverage", [0.0, 1.0, -1, 90, "much", None, np.nan])
def test_a_coverage_that_is_no_probability_is_told(model, coverage):
    with pytest.raises(ValueError, match="coverage is a probability between 0 and 1; got"):
        prediction_sets(model, X, coverage)


@pytest.mark.parametrize(
    "weights, message",
    [
        (np.ones(3), r"one number for each of the 60 labelled rows.*got shape \(3,\)"),
        (-np.ones(60), "not negative"),
        (np.zeros(60), "not all 0"),
        (np.full(60, np.nan), "finite"),
    ],
)
def test_wrong_weights_are_told(model, weights, message):
    with pytest.raises(ValueError, match=message):
        prediction_sets(model, X, weights=weights)


def test_models_of_another_kind_are_told(model):
    with pytest.raises(ValueError, match=r"this model has classes\. Take prediction_sets"):
        prediction_intervals(model, X)
    values = SemiSupervisedRegressor(Ridge(), graph=None, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"has quantities\. Take prediction_intervals"):
        prediction_sets(values, X)
    both = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0)
    both.fit(X, np.column_stack([TRUTH, 1 - TRUTH]))
    with pytest.raises(ValueError, match=r"has labels\. Take a model for each label"):
        prediction_sets(both, X)


def test_sets_print_and_become_frames():
    found = PredictionSets(np.eye(2, 3, dtype=bool), np.array(["a", "b", "c"]), 0.95, np.zeros(3))
    assert repr(found).startswith("sets that hold the class of 95 % of rows; mean size 1.00")
    frame = found.frame()
    assert frame.columns.tolist() == ["a", "b", "c", "size"] and frame["size"].tolist() == [1, 1]
    none = PredictionSets(np.empty((0, 3), bool), found.classes, 0.9, np.zeros(3))
    assert repr(none).endswith("no rows")

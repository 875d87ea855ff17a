"""Positive and unlabelled rows, against what is known of two Gaussians, and against formulas."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression

from graphkm import PositiveUnlabeledClassifier, SemiSupervisedClassifier
from graphkm.exchange import load_model, save_model, to_onnx
from graphkm.kernel_ridge import KernelRidgeClassifierCV
from graphkm.positive import DrawnAtRandomWarning
from graphkm.positive.answers import names_of_classes, truth_of
from graphkm.positive.prior import share_of_positives
from graphkm.positive.weighing import Scores, shares_of_odds, shift_to_share, weigh

pytestmark = pytest.mark.usefixtures("one_model")

SEED = {"random_state": 0}


def fitted(model, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DrawnAtRandomWarning)
        return model.fit(*data, **more)


def gaussians(n, share, distance, n_positive, seed=0):
    """Return rows, which are positive, and y: the first column tells the classes apart."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    X = rng.normal(size=(n, 2))
    X[:, 0] += distance * truth
    y = np.full(n, -1)
    y[rng.choice(np.flatnonzero(truth), n_positive, replace=False)] = 1
    return X, truth, y


def linear(**more):
    return PositiveUnlabeledClassifier(LogisticRegression(), **{**SEED, **more})


def moved_by(odds, share):
    """Return what moves log odds to a mean probability, from a long list of candidates."""
    steps = np.linspace(-5.0, 5.0, 1001)
    means = np.array([np.mean(1 / (1 + np.exp(-odds - step))) for step in steps])
    return steps[np.abs(means - share).argmin()]


# ---------------------------------------------------------------- two Gaussians


@pytest.mark.dear
@pytest.mark.parametrize(("distance", "share"), [(3.0, 0.3), (2.0, 0.5), (2.0, 0.1)])
@pytest.mark.parametrize("given", [True, False])
def test_it_is_as_good_as_the_bayes_rule(distance, share, given):
    """It is as good as exact odds, moved until positives have the share that it believes in."""
    X, sample, y = gaussians(3000, share, distance, 150)
    model = fitted(linear(class_prior=share if given else None), X, y)
    new, truth, _ = gaussians(20_000, share, distance, 1, seed=1)
    odds = np.log(share / (1 - share)) + distance * new[:, 0] - distance**2 / 2
    believed = odds if given else odds + moved_by(odds, model.class_prior_)
    found = model.score(new, truth.astype(int))
    assert abs(found - np.mean((believed > 0) == truth)) < 0.01
    naive = LogisticRegression().fit(X, y == 1)
    assert found > np.mean(naive.predict(new) == truth) + 0.01
    low, high = model.class_prior_interval_
    assert given or low <= sample.mean() <= high


def test_its_probabilities_are_the_posterior():
    X, _, y = gaussians(3000, 0.4, 2.0, 300)
    model = fitted(linear(class_prior=0.4), X, y)
    new = gaussians(5000, 0.4, 2.0, 1, seed=1)[0]
    posterior = 1 / (1 + 0.6 / 0.4 * np.exp(-2.0 * new[:, 0] + 2.0))
    assert np.abs(model.predict_proba(new)[:, 1] - posterior).mean() < 0.03


@pytest.mark.long
def test_intervals_hold_the_share():
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        of_rest = rng.random(1500) >= 0.3
        scores = rng.normal(size=1500) - 2.5 * of_rest
        found.append(share_of_positives(rng.normal(size=200), scores, rng))
    held = [each.low <= 0.3 <= each.high for each in found]
    assert np.mean(held) >= 0.85
    assert abs(np.mean([each.value for each in found]) - 0.3) < 0.02


def test_the_share_does_not_depend_on_the_scale_of_the_scores():
    rng = np.random.default_rng(0)
    positives, rest = rng.normal(2.0, size=100), rng.normal(size=800)
    one = share_of_positives(positives, rest, np.random.default_rng(1))
    other = share_of_positives(np.exp(positives), np.exp(rest), np.random.default_rng(1))
    assert one == other


@pytest.mark.long
def test_the_estimated_share_is_of_all_rows():
    X, truth, y = gaussians(2000, 0.4, 4.0, 400)
    model = fitted(linear(), X, y)
    low, high = model.class_prior_interval_
    assert low <= truth.mean() <= high
    assert abs(model.class_prior_ - truth.mean()) < 0.05


@pytest.mark.long
def test_clusters_apart_are_told_apart_exactly():
    X, truth, y = gaussians(90, 0.4, 12.0, 15)
    for model in (linear(), PositiveUnlabeledClassifier(**SEED)):
        assert fitted(model, X, y).score(X, truth.astype(int)) == 1.0
        low, high = model.class_prior_interval_
        assert low <= truth.mean() <= high


def test_a_sample_of_many_unlabelled_rows_is_enough():
    X, truth, y = gaussians(6000, 0.5, 4.0, 200)
    model = fitted(linear(class_prior=0.5), X, y)
    assert len(model.estimator_.labeled_) == 2200
    assert model.score(X, truth.astype(int)) > 0.97


# ------------------------------------------------------------------- formulas


def test_first_probabilities_are_those_of_elkan_and_noto():
    """With exact g, the weight of an unlabelled row is (1 - c) / c * g / (1 - g)."""
    rng = np.random.default_rng(0)
    truth = rng.random(200_000) < 0.3
    x = rng.normal(size=200_000) + 3.0 * truth
    ratio = 0.3 * np.exp(3.0 * x - 4.5)
    posterior, c = ratio / (ratio + 0.7), 0.2  # a fifth of the positives is labelled
    labeled = truth & (rng.random(200_000) < c)
    g = c * posterior
    unlabeled = ~labeled
    literal = (1 - c) / c * g / (1 - g)
    share = truth[unlabeled].mean()
    found = shares_of_odds(np.log(g / (1 - g))[unlabeled], share)
    np.testing.assert_allclose(found, literal[unlabeled], atol=0.01)


def test_exact_odds_stay_as_they_are():
    """If the model of every round is exact, all rounds say the same."""
    rng = np.random.default_rng(0)
    truth = rng.random(20_000) < 0.4
    x = rng.normal(size=20_000) + 2.0 * truth
    log_odds = np.log(0.4 / 0.6) + 2.0 * x - 2.0
    posterior = 1 / (1 + np.exp(-log_odds))
    share = posterior.mean()
    seen = []

    def fit(weights):
        seen.append(weights)
        return Scores(np.empty(0), log_odds)

    found = weigh(Scores(np.empty(0), np.log(posterior)), share, fit)
    for weights in seen:
        np.testing.assert_allclose(weights, np.maximum(1 - posterior, 1e-3), atol=1e-6)
    np.testing.assert_allclose(found.probabilities, posterior, atol=1e-6)
    assert abs(found.shift) < 1e-6


@pytest.mark.parametrize("share", [1e-4, 0.3, 0.99])
def test_probabilities_have_the_share_as_their_mean(share):
    odds = np.random.default_rng(0).normal(scale=20.0, size=1000)
    assert abs(shares_of_odds(odds, share).mean() - share) < 1e-9
    moved = 1 / (1 + np.exp(-odds - shift_to_share(odds, share)))
    assert abs(moved.mean() - share) < 1e-9


# ---------------------------------------------------------------- what it takes


def test_every_fit_says_what_is_assumed():
    X, _, y = gaussians(100, 0.5, 6.0, 20)
    with pytest.warns(DrawnAtRandomWarning, match="drawn at random") as seen:
        linear().fit(X, y)
    assert len(seen) == 1 and seen[0].filename == __file__  # the line of the user


@pytest.mark.long
def test_rows_of_other_kinds_give_the_same_model():
    pandas = pytest.importorskip("pandas")
    X, _, y = gaussians(150, 0.5, 4.0, 30)
    one = fitted(linear(), X, y).predict_proba(X)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    model = fitted(linear(), frame, y)
    np.testing.assert_allclose(model.predict_proba(frame), one, atol=1e-6)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    rows = sp.csr_array(X)
    np.testing.assert_allclose(fitted(linear(), rows, y).predict_proba(rows), one, atol=1e-3)


@pytest.mark.long
def test_texts_are_rows():
    texts = [f"the {word} runs {i}" for i in range(20) for word in ("cat", "ship")]
    y = np.full(40, -1)
    y[0:24:2] = 1
    door = SemiSupervisedClassifier(LogisticRegression(), graph=None, **SEED)
    model = fitted(PositiveUnlabeledClassifier(door, class_prior=0.5, **SEED), texts, y)
    assert model.score(texts, np.arange(40) % 2 == 0) > 0.9


@pytest.mark.long
def test_edges_are_followed():
    rng = np.random.default_rng(0)
    truth = rng.random(100) < 0.5
    same = truth[:, None] == truth
    edges = np.argwhere(np.triu(rng.random((100, 100)) < np.where(same, 0.2, 0.005), 1))
    y = np.full(100, -1)
    y[np.flatnonzero(truth)[:20]] = 1
    model = fitted(PositiveUnlabeledClassifier(class_prior=0.5, **SEED), None, y, affinity=edges)
    found = model.classes_[model.label_distributions_.argmax(axis=1)]
    assert np.mean(found == truth) > 0.95
    again = fitted(model.set_params(estimator=LogisticRegression()), rng.normal(size=(100, 2)), y)
    assert not hasattr(again, "label_distributions_")


@pytest.mark.dear
@pytest.mark.parametrize(
    ("name", "marker", "rest"),
    [("spam", None, "not spam"), (1, -1, 0), (1, 0, 0), (0, -1, 1), (2.5, np.nan, 0.0)],
)
def test_classes_have_names(name, marker, rest):
    X, truth, y = gaussians(80, 0.5, 8.0, 20)
    named = np.array([name if each == 1 else marker for each in y], dtype=object)
    model = linear(unlabeled=0 if marker == 0 else -1)
    fitted(model, X, named)
    assert set(model.classes_.tolist()) == {name, rest}
    own = np.array([name if each else rest for each in truth], dtype=object)
    assert model.score(X, own) > 0.97
    assert np.mean(model.predict(X) == own) > 0.97
    second = model.decision_function(X) > 0
    np.testing.assert_array_equal(model.predict(X) == model.classes_[1], second)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1] > 0.5, second)


def test_true_is_a_class():
    assert names_of_classes(True).tolist() == [False, True]
    np.testing.assert_array_equal(truth_of([True, False], -1, True, False), [1.0, 0.0])


@pytest.mark.long
def test_weights_of_zero_hide_labels():
    X, _, y = gaussians(200, 0.5, 4.0, 40)
    weights = np.ones(200)
    hidden = np.flatnonzero(y == 1)[:20]
    weights[hidden] = 0.0
    model = fitted(linear(class_prior=0.5), X, y, sample_weight=weights)
    assert not np.isin(hidden, model.estimator_.labeled_).any()
    twice = fitted(linear(class_prior=0.5), X, y, sample_weight=3.0 * weights)
    np.testing.assert_allclose(twice.predict_proba(X), model.predict_proba(X), atol=1e-9)


@pytest.mark.long
def test_ten_rows_are_enough():
    X = np.append(np.linspace(0, 1, 7), np.linspace(9, 10, 5))[:, None]
    y = np.where(np.arange(12) < 5, 1, -1)
    model = fitted(PositiveUnlabeledClassifier(class_prior=7 / 12, **SEED), X[1:11], y[:10])
    assert model.predict_proba(X).shape == (12, 2)


# --------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (X, np.where(y == 1, 1, 0)), "SemiSupervisedClassifier learns from several"),
        (lambda X, y: (X, np.full(len(y), 1)), "0 rows are unlabelled"),
        (lambda X, y: (X, np.full(len(y), -1)), "No row of y is labelled"),
        (lambda X, y: (X, np.where(np.arange(len(y)) < 4, 1, -1)), "4 rows are positive"),
        (lambda X, y: (np.ones_like(X), y), "too few different values"),
        (lambda X, y: (X[:-1], y), "inconsistent"),
        (lambda X, y: (X, [["a"] if one == 1 else None for one in y]), "y holds lists"),
        (lambda X, y: (np.where(X > 99, X, np.nan), y), "NaN"),
    ],
)
def test_wrong_rows_are_refused(change, words):
    X, _, y = gaussians(60, 0.5, 4.0, 15)
    with pytest.raises(ValueError, match=words):
        fitted(linear(), *change(X, y))


@pytest.mark.parametrize("prior", [0, 1.0, -0.1, "half", True, np.nan, 0.2, 0.9999])
def test_wrong_priors_are_refused(prior):
    X, _, y = gaussians(60, 0.5, 4.0, 15)
    with pytest.raises(ValueError, match="class_prior"):
        fitted(linear(class_prior=prior), X, y)


def test_unlabelled_rows_that_look_alike_ask_for_the_prior():
    X = np.arange(300)[:, None] % 2.0
    y = np.where(np.arange(300) % 4 < 2, 1, -1)
    with pytest.raises(ValueError, match=r"Pass class_prior|too few different"):
        fitted(linear(), X, y)


def test_a_share_without_a_rest_is_refused():
    scores = np.random.default_rng(0).normal(size=2000)
    found = share_of_positives(scores[:1000], scores, np.random.default_rng(1))
    assert found.value > 0.95


def test_sizes_of_named_classes_are_refused():
    X, _, y = gaussians(60, 0.5, 4.0, 15)
    door = SemiSupervisedClassifier(class_sizes={1: 0.5, 0: 0.5})
    with pytest.raises(ValueError, match="class_prior"):
        fitted(PositiveUnlabeledClassifier(door), X, y)


@pytest.mark.parametrize("estimator", ["forest", LinearRegression()])
def test_what_is_no_classifier_is_refused(estimator):
    X, _, y = gaussians(60, 0.5, 4.0, 15)
    with pytest.raises(ValueError, match="estimator must be"):
        fitted(PositiveUnlabeledClassifier(estimator), X, y)


def test_a_model_is_fitted_first():
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(linear(), method)(np.ones((3, 2)))


def test_onnx_is_refused_with_a_reason():
    pytest.importorskip("onnx")
    X, _, y = gaussians(60, 0.5, 4.0, 15)
    with pytest.raises(ValueError, match="PositiveUnlabeledClassifier"):
        to_onnx(fitted(linear(), X, y))


def test_a_score_needs_rows_of_the_rest():
    X, _, y = gaussians(60, 0.5, 4.0, 15)
    model = fitted(linear(), X, y)
    with pytest.raises(ValueError, match="must be named: 0"):
        model.score(X, y)


def test_the_front_door_names_the_class_for_one_class():
    X, _, y = gaussians(60, 0.5, 4.0, 15)
    with pytest.raises(ValueError, match="PositiveUnlabeledClassifier"):
        SemiSupervisedClassifier().fit(X, np.where(y == 1, "spam", ""))


# ------------------------------------------------------------- copies and files


def test_copies_say_the_same():
    X, _, y = gaussians(80, 0.5, 4.0, 20)
    model = fitted(linear(class_prior=0.5), X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    other = clone(model)
    assert other.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert not hasattr(other, "estimator_")
    np.testing.assert_array_equal(fitted(other, X, y).predict_proba(X), model.predict_proba(X))


def test_files_keep_the_model(tmp_path):
    X, _, y = gaussians(80, 0.5, 4.0, 20)
    model = fitted(PositiveUnlabeledClassifier(KernelRidgeClassifierCV(), **SEED), X, y)
    save_model(model, tmp_path / "model.gkm")
    again = load_model(tmp_path / "model.gkm")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.class_prior_interval_ == model.class_prior_interval_
    assert again.classes_.tolist() == model.classes_.tolist()

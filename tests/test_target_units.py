"""Regression does not depend on the units of y, in fits, streams, searches and files."""

from __future__ import annotations

import json
import pickle
from functools import cache

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge
from sklearn.metrics import r2_score
from sklearn.preprocessing import scale
from sklearn.svm import SVR

from cli_runner import run, write_csv
from graphkm import (
    SGD,
    GKMRegressor,
    GKMRegressorCV,
    IteratedLaplacian,
    KernelRidgeCV,
    RowNewton,
    SemiSupervisedRegressor,
)
from graphkm.baselines import LaplacianRegressor
from graphkm.exchange import load_model, save_model
from graphkm.inspection import doubtful_labels, explain, learning_curve
from graphkm.inspection.limits import interval_limits
from graphkm.losses import EpsilonInsensitive

N, KNOWN = 240, 80
X, TRUTH = make_friedman1(N, n_features=5, random_state=0)
Y = np.where(np.arange(N) < KNOWN, TRUTH, np.nan)
UNITS = [(1e-6, 0.0), (1e-3, 0.0), (1e4, 0.0), (1e6, 0.0), (1e-6, 1e3), (1.0, 1e3), (1e6, 1e3)]
SEARCH = {"Cs": [1.0, 100.0], "C_graphs": [10.0], "graphs": [(6, 2)], "random_state": 0}
MODELS = {
    "newton": GKMRegressor(random_state=0),
    "sgd": GKMRegressor(solver=SGD(max_iter=3000), random_state=0),
    "p1": GKMRegressor(random_state=0, smoothness=1),
    "tube": GKMRegressor(loss=EpsilonInsensitive(0.3), C=2.0, random_state=0),
    "rows": GKMRegressor(random_state=0, solver=RowNewton()),
    "search": GKMRegressorCV(**SEARCH),
    "folds": GKMRegressorCV(**SEARCH, cv=3),
    "laplacian": LaplacianRegressor(),
    "cg": LaplacianRegressor(solver="cg", precision="single"),
}


LONG = ("folds", "p1")  # they take seconds


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(m, marks=pytest.mark.slow if m in LONG else ()) for m in MODELS]
)
def test_predictions_follow_the_units(name):
    model = clone(MODELS[name])
    expected = model.fit(X, Y).predict(X)
    assert r2_score(TRUTH, expected) > (0.2 if name == "rows" else 0.7)
    for factor, shift in UNITS[::3] if name in LONG else UNITS:
        found = (model.fit(X, factor * Y + shift).predict(X) - shift) / factor
        # y itself loses digits when 1000 is added to a millionth of it.
        close = 2e-3 if factor < 1 and shift else 1e-6
        close = 1e-2 if name == "cg" else close  # which stops where single precision ends
        np.testing.assert_allclose(found, expected, rtol=0, atol=close)
        transduction = (model.transduction_ - shift) / factor
        np.testing.assert_allclose(transduction[:KNOWN], Y[:KNOWN], atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_without_an_intercept_factors_are_followed(fit_intercept):
    model = GKMRegressor(fit_intercept=fit_intercept, random_state=0)
    low, high = (model.fit(X, factor * Y).predict(X) for factor in (1.0, 1e5))
    np.testing.assert_allclose(high / 1e5, low, atol=1e-6)
    assert (model.origin_ != 0) == fit_intercept


def test_what_is_in_which_units():
    """J, C and epsilon are those of the coded problem; coefficients are multiplied back."""
    model = GKMRegressor(C=3.0, loss=EpsilonInsensitive(0.2), random_state=0, precision="double")
    low = model.fit(X, Y)
    J, C, a, b = low.objective_, low.C_, low.dual_coef_.copy(), low.intercept_.copy()
    high = model.fit(X, 1e3 * Y + 5)
    assert high.objective_ == pytest.approx(J) and high.C_ == C
    np.testing.assert_allclose(high.dual_coef_, 1e3 * a, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(high.intercept_, 1e3 * b + 5, rtol=1e-8)
    assert high.origin_ == pytest.approx(1e3 * np.median(Y[:KNOWN]) + 5)
    coded = GKMRegressor(
        C=3.0, loss=EpsilonInsensitive(0.2), random_state=0, precision="double", fit_intercept=True
    ).fit(X, (Y - np.median(Y[:KNOWN])) / (high.spread_ / 1e3))
    assert coded.spread_ == pytest.approx(1.0) and coded.objective_ == pytest.approx(J)


def test_the_spread():
    normal = np.random.default_rng(0).normal(7.0, 3.0, 4000)
    rows = np.zeros((4000, 1)) + np.arange(4000)[:, None]
    model = GKMRegressor(C_graph=0, solver=SGD(max_iter=5)).fit(rows, normal)
    assert model.spread_ == pytest.approx(3.0, rel=0.05)
    few = np.where(np.arange(50) < 5, 12.0, 2.0)  # four of five are alike
    assert GKMRegressor().fit(rows[:50], few).spread_ == 10.0
    for alike in (0.0, 7.0, 1e-300):
        model = GKMRegressor().fit(rows[:50], np.full(50, alike))
        assert model.spread_ == 1.0
        np.testing.assert_array_equal(model.predict(rows[:50]), np.full(50, alike))


def test_a_wild_target_does_not_set_the_unit():
    y = Y.copy()
    y[0] = 1e7
    clean = GKMRegressor(random_state=0).fit(X[1:], Y[1:]).score(X[1:], TRUTH[1:])
    model = GKMRegressor(random_state=0).fit(X, y)
    assert model.spread_ < 10
    assert model.score(X[1:], TRUTH[1:]) > clean - 0.1


def test_weights_count_in_the_units():
    weight = np.random.default_rng(0).integers(0, 3, N)
    model = GKMRegressor(gamma=0.2, C_graph=0, solver="newton", precision="double")
    weighted = model.fit(X, Y, weight)
    origin, spread, found = weighted.origin_, weighted.spread_, weighted.predict(X)
    again = model.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert (again.origin_, again.spread_) == pytest.approx((origin, spread), rel=1e-12)
    np.testing.assert_allclose(again.predict(X), found, atol=1e-4)


@pytest.mark.long
def test_hidden_targets_are_predicted_as_well_as_shown():
    """Where a constant epsilon and C had R^2 0.08 and 0.02."""
    X, truth = make_friedman1(900, n_features=5, random_state=0)
    y = np.where(np.arange(900) < 100, 1e4 * truth, np.nan)
    search = GKMRegressorCV(random_state=0).fit(scale(X), y)
    hidden = search.score(scale(X)[100:], 1e4 * truth[100:])
    assert hidden > 0.93
    assert search.best_score_ == pytest.approx(hidden, abs=0.03)
    X, truth = load_diabetes(return_X_y=True)
    known = np.random.default_rng(0).permutation(len(truth)) < 100
    y = np.where(known, truth, np.nan)
    search = GKMRegressorCV(random_state=0).fit(scale(X), y)
    svr = SVR(C=50.0).fit(scale(X)[known], truth[known])
    hidden = search.score(scale(X)[~known], truth[~known])
    assert hidden > svr.score(scale(X)[~known], truth[~known]) - 0.03


def test_the_score_shown_is_that_of_the_model():
    """By refits of the plain estimator, fold by fold: the search judges by another loss."""
    rng = np.random.default_rng(1)
    noisy = np.where(np.isnan(Y), np.nan, Y + 2 * rng.standard_t(2, N))
    search = GKMRegressorCV(GKMRegressor(loss="l1"), **SEARCH).fit(X, noisy)
    fold = np.random.default_rng(0).permutation(KNOWN) % 10
    held_out = np.empty(KNOWN)
    for k in range(10):
        y = noisy.copy()
        y[:KNOWN][fold == k] = np.nan
        plain = GKMRegressor(
            solver="newton", loss="l1", smoothness=IteratedLaplacian(), random_state=0
        ).set_params(**search.best_params_)
        held_out[fold == k] = plain.fit(X, y).predict(X[:KNOWN])[fold == k]
    expected = r2_score(noisy[:KNOWN], held_out)
    assert search.best_score_ == pytest.approx(expected, abs=0.05)
    closed = search.cv_results_["mean_test_score"][search.best_index_]
    assert search.best_score_ != closed


# ---------------------------------------------------------------- streams


def stream(y, size, **changes):
    model = GKMRegressor(**({"gamma": 0.5, "random_state": 0} | changes))
    for i in range(0, N, size):
        model.partial_fit(X[i : i + size], y[i : i + size])
    return model


@pytest.mark.long
@pytest.mark.parametrize(
    ("factor", "shift", "size"),
    [(*unit, size) for unit, size in zip(UNITS, [60, 7, 1, 60, 7, 1, 60], strict=True)],
)
def test_streams_follow_the_units(factor, shift, size):
    expected = stream(TRUTH, size).predict(X)
    found = (stream(factor * TRUTH + shift, size).predict(X) - shift) / factor
    np.testing.assert_allclose(found, expected, atol=2e-3 if factor < 1 and shift else 1e-5)


@pytest.mark.parametrize("first", [[3.0], [3.0, 3.0, 3.0], [3.0, 3.0 + 1e-9], [3.0, 1e9]])
def test_a_poor_first_chunk_does_not_set_the_unit_of_a_stream(first):
    y = np.append(first, TRUTH)
    rows = np.vstack([X[: len(first)], X])
    model = GKMRegressor(gamma=0.2, random_state=0)
    usual = GKMRegressor(gamma=0.2, random_state=0).partial_fit(X, TRUTH)
    model.partial_fit(rows[: len(first)], y[: len(first)])
    assert np.isfinite(model.predict(X)).all()
    for i in range(len(first), len(y), 6):
        model.partial_fit(rows[i : i + 6], y[i : i + 6])
    if first[-1] < 100:
        assert usual.spread_ / 4 < model.spread_ < 4 * usual.spread_
        assert model.score(X, TRUTH) > usual.score(X, TRUTH) - 0.1


def test_a_change_of_the_unit_changes_no_prediction():
    model = GKMRegressor(gamma=0.5, random_state=0, precision="double")
    model.partial_fit(X[:4], [1.0, 2.0, 1.5, 1.2])
    before, unit = model.predict(X), model.spread_
    model._measure_stream(np.array([50.0, -80.0]), np.ones(2))
    assert model.spread_ > 5 * unit
    model._set_stream_attributes()
    np.testing.assert_allclose(model.predict(X), before, rtol=1e-12)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_stream_after_a_fit_has_its_own_units():
    model = GKMRegressor(gamma=0.5, random_state=0).fit(X, 1e3 * Y)
    model.partial_fit(X[:9], np.full(9, np.nan))
    assert (model.origin_, model.spread_) == (0.0, 1.0)
    model.partial_fit(X, TRUTH)
    assert model.origin_ == pytest.approx(np.median(TRUTH))


# ---------------------------------------------------------------- files and commands


@pytest.mark.dear
@pytest.mark.parametrize("name", MODELS)
def test_units_travel(name, tmp_path):
    model = clone(MODELS[name]).fit(X, 1e4 * Y + 1e3)
    save_model(model, tmp_path / "m")
    for again in (load_model(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        if hasattr(model, "best_score_"):
            assert again.best_score_ == model.best_score_
            assert again.unlabeled_gain_ == model.unlabeled_gain_
        else:
            np.testing.assert_array_equal(again.intercept_, model.intercept_)
            np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


def test_the_command_shows_what_evaluate_finds(tmp_path, capsys):
    words = ["" if np.isnan(value) else repr(float(1e4 * value)) for value in Y]
    tests = [repr(float(1e4 * t)) for t in TRUTH[KNOWN:]]
    write_csv(tmp_path / "few.csv", X, words, list("abcde"))
    write_csv(tmp_path / "test.csv", X[KNOWN:], tests, list("abcde"))
    assert (
        run(
            "train",
            tmp_path / "few.csv",
            tmp_path / "m.gkm",
            "--method",
            "gkm",
            "--search",
            "--json",
        )
        == 0
    )
    shown = json.loads(capsys.readouterr().out)["best_score"]
    assert run("evaluate", tmp_path / "m.gkm", tmp_path / "test.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)["r2"]
    assert found > 0.9
    assert shown == pytest.approx(found, abs=0.05)


# ---------------------------------------------------------------- the front door


ROWS, EDGES = X[:120], np.argwhere(np.triu(cdist(X[:120], X[:120]) < 0.35, 1))
ONE = np.where(np.arange(120) < 40, TRUTH[:120], np.nan)
TWO = np.column_stack([ONE, np.where(np.arange(120) < 30, 7 - 40 * TRUTH[:120], np.nan)])
DOORS = {
    "fields": (SemiSupervisedRegressor(None, random_state=0), ONE, {}),
    "edges": (SemiSupervisedRegressor(None, random_state=0), ONE, {"affinity": EDGES}),
    "a model": (SemiSupervisedRegressor(Ridge(), random_state=0), ONE, {}),
    "a model of all rows": (SemiSupervisedRegressor(GKMRegressor(), cv=3, random_state=0), ONE, {}),
    "several": (SemiSupervisedRegressor(KernelRidgeCV(), graph="anchors", random_state=0), TWO, {}),
    "auto": (SemiSupervisedRegressor(cv=3, random_state=0), ONE, {}),
}
FAR = [(-1.0, 0.0), (1.0, 1e12), (1e200, 0.0), (1e-200, 0.0)]


@cache
def door(name, factor=1.0, shift=0.0):
    model, y, about = DOORS[name]
    return clone(model).fit(ROWS, factor * y + shift, **about)


def lost(name, factor, shift):
    """Return the digits that y loses, and what they decide: by them a tree chooses its cuts."""
    return 1e-9 if not shift else 0.5 if name == "auto" else 10 * np.spacing(shift) / factor


@pytest.mark.parametrize(("factor", "shift"), FAR)
@pytest.mark.parametrize("name", DOORS)
def test_the_front_door_follows_the_units(name, factor, shift, tmp_path):
    one, other, close = door(name), door(name, factor, shift), lost(name, factor, shift)
    for found, wanted in (
        (other.transduction_, one.transduction_),
        (other.held_out_, one.held_out_),
        *(() if "edges" in name else ((other.predict(ROWS), one.predict(ROWS)),)),
    ):
        np.testing.assert_allclose((found - shift) / factor, wanted, rtol=0, atol=close)
    np.testing.assert_array_equal(other.told_, factor * one.told_ + shift)
    for score in ("best_score_", "unlabeled_gain_"):
        assert getattr(other, score) == pytest.approx(getattr(one, score), abs=close, nan_ok=True)
    own = [each.score(ROWS, each.transduction_) for each in (one, other)]
    assert own[1] == pytest.approx(own[0], abs=close)
    if name not in ("a model", "auto"):  # scikit-learn's models have no form there
        save_model(other, tmp_path / "m")
        again = load_model(tmp_path / "m")
        np.testing.assert_array_equal(again.predict(ROWS), other.predict(ROWS))
        np.testing.assert_array_equal(again.held_out_, other.held_out_)


@pytest.mark.long
@pytest.mark.parametrize(("factor", "shift"), FAR)
@pytest.mark.parametrize("name", ["fields", "a model", "auto"])
def test_what_is_said_of_the_front_door_follows_the_units(name, factor, shift):
    one, other, close = door(name), door(name, factor, shift), lost(name, factor, shift)
    limits = [interval_limits(model, 0.8)[0] for model in (one, other)]
    assert limits[1] / abs(factor) == pytest.approx(limits[0], abs=close)
    whys = [explain(model, ROWS[[50]])[0] for model in (one, other)]
    for part in ("value", "base"):
        found, wanted = (getattr(why, part) for why in reversed(whys))
        assert (found - shift) / factor == pytest.approx(wanted, abs=close)
    for part in ("shares", "columns", "others"):
        each = [getattr(why, part) for why in whys]
        one_part, other_part = (list(v.values()) if isinstance(v, dict) else v for v in each)
        np.testing.assert_allclose(np.divide(other_part, factor), one_part, atol=close)
    whole = whys[1].base + sum(whys[1].shares) + sum(whys[1].others.values())
    assert whole == pytest.approx(whys[1].value, rel=1e-9)
    np.testing.assert_array_equal(whys[1].labels, factor * ONE[:40] + shift)
    doubts = [doubtful_labels(model, ROWS) for model in (one, other)]
    assert {each.row: each.doubt for each in doubts[1]} == pytest.approx(
        {each.row: each.doubt for each in doubts[0]}, abs=close
    )
    if name == "fields" and factor == 1e200:
        curves = [learning_curve(m, ROWS, random_state=0, repeats=1) for m in (one, other)]
        np.testing.assert_allclose(curves[1].expected, curves[0].expected, atol=close)


class Recording(LinearRegression):
    """Keeps the targets of its fit."""

    def fit(self, X, y):
        self.y_ = y
        return super().fit(X, y)


def test_models_of_a_person_learn_targets_as_they_are():
    model = SemiSupervisedRegressor(Recording(), random_state=0).fit(ROWS, 1e3 * ONE + 1)
    (seen,) = {id(part.model.model): part.model.model for part in model.mixture_.parts}.values()
    assert set(seen.y_) == set(1e3 * ONE[:40] + 1)
    alone = SemiSupervisedRegressor(Recording(), graph=None).fit(ROWS, 1e3 * ONE + 1)
    plain = LinearRegression().fit(ROWS[:40], 1e3 * ONE[:40] + 1)
    np.testing.assert_allclose(alone.predict(ROWS), plain.predict(ROWS))
    logs = TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp)
    for own in (logs, PoissonRegressor(max_iter=1000)):  # which take numbers above 0 alone
        found = SemiSupervisedRegressor(own, random_state=0).fit(ROWS, ONE)
        assert found.score(ROWS, TRUTH[:120]) > 0.5

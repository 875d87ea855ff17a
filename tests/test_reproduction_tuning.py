"""Parameters are chosen from labelled training rows alone, and the shared passes are exact."""

from __future__ import annotations

import numpy as np
import pytest

from graphkm.datasets import hide_labels, make_g50c
from reproduction.methods import METHODS, Context
from reproduction.protocol import Protocol
from reproduction.sets import SETS, make_split
from reproduction.tuning import best_of, choose, cross_validate, subsample

QUICK = Protocol.named("quick")


def context(protocol=QUICK, objective="released"):
    return Context(protocol, objective, seed=3)


@pytest.fixture(scope="module")
def rows():
    X, truth = make_g50c(260, n_features=5, random_state=0)
    return X[:200], hide_labels(truth[:200], 0.7, random_state=0), X[200:], truth[200:]


@pytest.mark.long
@pytest.mark.parametrize("objective", ["released", "printed"])
@pytest.mark.parametrize(
    "name", ["gkm-hinge-p1", "gkm-logistic-p2", "gkm-hinge-p3", "gkm-no-graph"]
)
def test_one_pass_over_all_costs_gives_the_single_fits(name, objective, rows):
    X, y, X_test, y_test = rows
    method, around = METHODS[name], context(objective=objective)
    (candidates,) = method.stages(around.protocol)
    together = method.accuracies(candidates, (X, y), (X_test, y_test), around)
    single = [
        np.mean(method.fit(X, y, each, around).predict(X_test) == y_test) for each in candidates
    ]
    assert together == pytest.approx(single)
    assert len(set(together)) > 1  # else nothing was compared


@pytest.mark.parametrize("objective", ["released", "printed"])
def test_three_classes_share_a_pass_too(objective):
    rng = np.random.default_rng(0)
    truth = np.arange(150) % 3
    X = rng.normal(size=(150, 2)) + 2.0 * np.eye(3)[truth][:, :2]
    y = np.where(rng.random(150) < 0.4, truth, -1)
    method, around = METHODS["gkm-hinge-p1"], context(objective=objective)
    (candidates,) = method.stages(QUICK)
    together = method.accuracies(candidates, (X, y), (X, truth), around)
    single = [np.mean(method.fit(X, y, each, around).predict(X) == truth) for each in candidates]
    assert together == pytest.approx(single)


def test_hidden_labels_play_no_part(rows):
    X, y, *_ = rows
    seen = []
    method = METHODS["svm-labeled"]

    class Spy(type(method)):
        def accuracies(self, candidates, train, test, around):
            seen.append((train[1].copy(), test[1].copy()))
            return super().accuracies(candidates, train, test, around)

    choose(Spy(**vars(method)), X, y, context())
    assert len(seen) == QUICK.folds
    assert all((test >= 0).all() for _, test in seen)
    assert sum(len(test) for _, test in seen) == (y >= 0).sum()
    assert all((train < 0).sum() == (y < 0).sum() for train, _ in seen)


@pytest.mark.long
def test_a_choice_beats_the_worst_candidate(rows):
    X, y, X_test, y_test = rows
    for name in ("gkm-hinge-p1", "lapsvm", "cccp", "self-knn", "svm-labeled"):
        method = METHODS[name]
        found = choose(method, X, y, context())
        model = method.fit(X, y, found["parameters"], context())
        assert np.mean(model.predict(X_test) == y_test) > 0.8, name
        assert found["cv_accuracy"] > 0.8, name


def test_equal_scores_go_to_the_middle_of_a_good_region():
    candidates = [{"C": C, "gamma": g} for C in (1, 2, 4) for g in (1, 2, 4)]
    scores = np.array([0.9, 0.5, 0.5, 0.5, 0.9, 0.8, 0.5, 0.8, 0.8])
    assert candidates[best_of(candidates, scores)] == {"C": 2, "gamma": 2}


def test_large_sets_are_thinned_in_the_shares_of_classes_and_labels():
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 0, 1], 9000, p=[0.9, 0.099, 0.001])
    X = np.arange(9000.0)[:, None]
    few = Protocol.named("quick", most_rows=900)
    thin, kept = subsample(X, y, METHODS["gkm-hinge-p1"], context(few))
    assert 900 <= len(kept) <= 910
    assert np.array_equal(y[thin[:, 0].astype(int)], kept)
    assert np.mean(kept < 0) == pytest.approx(0.9, abs=0.02)
    assert (kept == 1).sum() >= few.folds  # so that every fold can have one


def test_a_published_machine_whose_kernel_vanishes_scores_nothing(rows):
    X, y, X_test, y_test = rows
    candidates = [{"gamma": 0.1, "C": 1.0}, {"gamma": 1e9, "C": 1.0}, {"gamma": 1e9, "C": 2.0}]
    scores = METHODS["gkm-hinge-p1"].accuracies(candidates, (X, y), (X_test, y_test), context())
    assert scores[0] > 0.7 and scores[1:] == [0.0, 0.0]


def test_a_class_with_few_labels_lowers_the_number_of_folds(rows):
    X, y, *_ = rows
    y = np.where((y == 1) & (np.cumsum(y == 1) > 2), -1, y)
    scores = cross_validate(METHODS["self-knn"], [{"n_neighbors": 1}], X, y, context())
    assert 0 < scores[0] <= 1


def test_all_methods_of_a_run_get_the_same_rows():
    X, y = SETS["made_g50c"].load()
    first, again = (make_split(X, y, "made_g50c", 90, 0) for _ in range(2))
    other = make_split(X, y, "made_g50c", 90, 1)
    fewer = make_split(X, y, "made_g50c", 50, 0)
    assert np.array_equal(first.X, again.X) and np.array_equal(first.y, again.y)
    assert not np.array_equal(first.X_test, other.X_test)
    assert np.array_equal(first.X_test, fewer.X_test)
    assert np.mean(first.y < 0) == pytest.approx(0.9, abs=0.01)
    assert len(first.X_test) == 55 and len(first.X) == 495
    assert np.array_equal(first.truth[first.y >= 0], first.y[first.y >= 0])


@pytest.mark.parametrize(("name", "rows", "held"), [("g50c", 550, {110}), ("svm2", 338, {67, 68})])
def test_a_fifth_has_the_rows_whose_hits_the_paper_prints(name, rows, held):
    assert SETS[name].rows == rows
    y = np.arange(rows) % 2
    for run in range(5):
        split = make_split(np.eye(rows), y, name, 90, run, "fifth")
        assert len(split.y_test) in held and len(split.y) == rows - len(split.y_test)
        used = np.concatenate([split.X, split.X_test]).sum(axis=0)
        assert (used == 1).all()  # every row is in one part

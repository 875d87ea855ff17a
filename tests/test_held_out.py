"""What models say of labels that they have not seen, against scikit-learn's cross validation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from graphkm import KernelRidgeClassifierCV, SemiSupervisedClassifier
from graphkm.judge.held_out import CHOSEN, class_shares, hold_out_classes, hold_out_values


def rings(n=300, labels=60, seed=0, classes=2):
    """Return rings around each other, which no straight line separates: X, y, truth."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % classes
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1.0 + truth + rng.normal(scale=0.1, size=n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, np.where(np.arange(n) < labels, truth, -1), truth


def wave(n=300, labels=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    truth = np.sin(2 * X[:, 0]) + X[:, 1]
    return X, np.where(np.arange(n) < labels, truth, np.nan), truth


@pytest.mark.parametrize("classes", [2, 3])
def test_out_of_fold_is_cross_val_predict(classes):
    X, _, y = rings(90, classes=classes)
    folds = list(StratifiedKFold(4).split(X, y))
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        held = hold_out_classes(model, X, y, None, folds, np.unique(y))
        expected = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
        assert held.how == "out-of-fold" and held.heat is None
        np.testing.assert_allclose(held.values, expected)
        alone = clone(model).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(class_shares(held, X, np.unique(y)), alone)


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_become_shares_by_the_best_heat(classes):
    X, _, y = rings(90, classes=classes)
    folds = list(StratifiedKFold(4).split(X, y))
    held = hold_out_classes(LinearSVC(), X, y, None, folds, np.unique(y))
    scores = cross_val_predict(LinearSVC(), X, y, cv=folds, method="decision_function")
    if classes == 2:
        scores = np.column_stack([-scores / 2, scores / 2])

    def shares(heat):
        e = np.exp(heat * (scores - scores.max(axis=1, keepdims=True)))
        return e / e.sum(axis=1, keepdims=True)

    def cost(heat):
        return -np.log(shares(heat)[np.arange(90), y]).mean()

    np.testing.assert_allclose(held.values, shares(held.heat))
    # Heats are searched for between e^-3 and e^4 over the mean size of the scores.
    tried = np.exp(np.linspace(-3, 4, 50)) / np.abs(scores).mean()
    assert cost(held.heat) <= min(map(cost, tried)) + 1e-4


def test_regression_is_cross_val_predict():
    X, _, y = wave(80)
    folds = list(KFold(4).split(X))
    held = hold_out_values(Ridge(), X, y, None, folds)
    np.testing.assert_allclose(held.values[:, 0], cross_val_predict(Ridge(), X, y, cv=folds))


def test_a_forest_has_its_bag_if_every_row_was_left_out(monkeypatch):
    X, _, y = rings(60)
    monkeypatch.setattr("graphkm.judge.held_out.BAG", len(y))
    folds = list(StratifiedKFold(3).split(X, y))
    many, few = (RandomForestClassifier(n, random_state=0) for n in (60, 3))
    held = hold_out_classes(many, X, y, None, folds, np.unique(y))
    assert held.how == "out-of-bag"
    bag = clone(many).set_params(oob_score=True).fit(X, y).oob_decision_function_
    np.testing.assert_allclose(held.values, bag)
    held = hold_out_classes(few, X, y, None, folds, np.unique(y))
    assert held.how == "out-of-fold" and held.model.oob_score is False
    expected = cross_val_predict(few, X, y, cv=folds, method="predict_proba")
    np.testing.assert_allclose(held.values, expected)


@pytest.mark.dear
@pytest.mark.parametrize("oob_score", [False, True])
def test_few_labels_make_no_bag(oob_score):
    X, _, y = rings(60)
    forest = RandomForestClassifier(60, oob_score=oob_score, random_state=0)
    folds = list(StratifiedKFold(3).split(X, y))
    assert hold_out_classes(forest, X, y, None, folds, np.unique(y)).how == "out-of-fold"


def test_the_bag_of_a_regressor(monkeypatch):
    X, _, y = wave(60)
    monkeypatch.setattr("graphkm.judge.held_out.BAG", len(y))
    folds = list(KFold(3).split(X))
    how = [
        hold_out_values(RandomForestRegressor(n, random_state=0), X, y, None, folds).how
        for n in (60, 3)
    ]
    assert how == ["out-of-bag", "out-of-fold"]


@pytest.mark.dear
@pytest.mark.parametrize(
    "estimator",
    [
        BaggingClassifier(random_state=0, warm_start=True),
        RandomForestClassifier(9, bootstrap=False, random_state=0),
        make_pipeline(StandardScaler(), RandomForestClassifier(9, random_state=0)),
    ],
)
def test_no_bag(estimator):
    X, y, _ = rings(60, 40)
    model = SemiSupervisedClassifier(estimator, graph=None, random_state=0).fit(X, y)
    assert [each.held_out_by for each in model.members_] == ["out-of-fold"]


@pytest.mark.dear
@pytest.mark.parametrize(
    ("labels", "how"), [(CHOSEN - 1, "out-of-fold"), (CHOSEN, "leave-one-out")]
)
def test_own_machine_leaves_one_out_of_many(labels, how):
    X, _, y = rings(labels)
    machine = KernelRidgeClassifierCV(alphas=[1.0])
    folds = list(StratifiedKFold(2).split(X, y))
    assert hold_out_classes(machine, X, y, None, folds, np.unique(y)).how == how


def test_weights_reach_the_last_step_of_a_pipeline():
    X, _, y = rings(90)
    weights = np.random.default_rng(0).integers(1, 4, 90).astype(float)
    folds = list(StratifiedKFold(3).split(X, y))
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    held = hold_out_classes(pipe, X, y, weights, folds, np.unique(y))
    for train, test in folds:
        part = clone(pipe).fit(X[train], y[train], logisticregression__sample_weight=weights[train])
        np.testing.assert_allclose(held.values[test], part.predict_proba(X[test]))


def test_weights_that_the_estimator_cannot_use():
    X, y, _ = rings()
    with pytest.raises(ValueError, match="takes none") as caught:
        SemiSupervisedClassifier(KNeighborsClassifier()).fit(X, y, np.ones(len(y)))
    assert "folds" not in str(caught.value)


def test_a_class_missing_in_a_fold():
    X, _, y = rings(60, classes=3)
    y = np.array(["a", "b", "c"])[y]
    folds = [(np.flatnonzero(y != "b"), np.flatnonzero(y == "b"))]
    folds += [(np.flatnonzero(y != "x")[::2], np.flatnonzero(y != "b"))]
    for model in (LogisticRegression(), LinearSVC()):
        held = hold_out_classes(model, X, y, None, folds, np.unique(y))
        assert held.values.shape == (60, 3) and np.isfinite(held.values).all()
        assert (held.values[y == "b"].argmax(axis=1) != 1).all()

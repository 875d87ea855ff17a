"""Masked labels are missing labels, and labels of weight 0 count for nothing: everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.linear_model import LogisticRegression, Ridge

from graphkm import (
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)
from graphkm.active import suggest
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.datasets import hide_labels
from graphkm.estimators.labels import as_label_array, labeled_mask
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.model_selection import LabeledKFold
from graphkm.online import prequential

rng = np.random.default_rng(0)
N, SHOWN = 90, 30
X = rng.normal(size=(N, 2)) + 2.0 * (np.arange(N) % 3)[:, None]
CLASSES, TARGETS = np.arange(N) % 3, X[:, 0] + 1.0
HIDDEN = np.arange(N) >= SHOWN

MODELS = {
    "gkm": GKMClassifier(random_state=0),
    "rows": GKMClassifier(solver="row_newton"),
    "sgd": GKMClassifier(solver="sgd", random_state=0),
    "search": GKMClassifierCV(random_state=0),
    "list": GKMClassifierCV(C_graphs=[100.0], graphs=[(6, 1)], random_state=0),
    "regressor": GKMRegressor(random_state=0),
    "regressor search": GKMRegressorCV(C_graphs=[100.0], graphs=[(6, 1)], random_state=0),
    "front door": SemiSupervisedClassifier(LogisticRegression(), random_state=0),
    "anchors": SemiSupervisedClassifier(LogisticRegression(), graph="anchors", random_state=0),
    "front door regressor": SemiSupervisedRegressor(Ridge(), random_state=0),
    "laplacian": LaplacianSVC(),
    "laplacian regressor": LaplacianRegressor(),
    "transductive": TransductiveSVC(),
}
FAST = [name for name in MODELS if name != "search"]
SOME = [
    pytest.param(name, marks=[] if name in FAST else pytest.mark.long, id=name) for name in MODELS
]


def truth_for(model):
    return TARGETS if is_regressor(model) else CLASSES


def scores(model, rows):
    return (model.predict if is_regressor(model) else model.decision_function)(rows)


@pytest.mark.long
@pytest.mark.parametrize("name", SOME)
def test_masked_labels_are_missing(name):
    model, truth = clone(MODELS[name]), truth_for(MODELS[name])
    marked = np.where(HIDDEN, np.nan if is_regressor(model) else -1, truth)
    wanted = clone(model).fit(X, marked)
    found = model.fit(X, np.ma.array(truth, mask=HIDDEN))
    np.testing.assert_array_equal(scores(found, X), scores(wanted, X))
    np.testing.assert_array_equal(found.transduction_, wanted.transduction_)
    assert found.score(X, np.ma.array(truth, mask=~HIDDEN)) == pytest.approx(
        found.score(X[HIDDEN], truth[HIDDEN])
    )


@pytest.mark.parametrize("solver", ["sums", "sgd"])
def test_masked_labels_of_streams_are_missing(solver):
    found, wanted = (
        GKMClassifier(solver=solver, random_state=0).partial_fit(X, y, classes=[0, 1, 2])
        for y in (np.ma.array(CLASSES, mask=HIDDEN), np.where(HIDDEN, -1, CLASSES))
    )
    np.testing.assert_array_equal(found.decision_function(X), wanted.decision_function(X))


def test_masked_labels_elsewhere():
    y, marked = np.ma.array(CLASSES, mask=HIDDEN), np.where(HIDDEN, -1, CLASSES)
    assert labeled_mask(as_label_array([0, np.ma.masked, 1]), -1).tolist() == [True, False, True]
    tests = [test for _, test in LabeledKFold(3).split(X, y)]
    assert sorted(np.concatenate(tests)) == list(range(SHOWN))
    np.testing.assert_array_equal(suggest(None, X, 5, y=y), suggest(None, X, 5, y=marked))
    kept = hide_labels(y, n_per_class=2, random_state=0)
    assert not labeled_mask(as_label_array(kept), -1)[HIDDEN].any()
    chunks = [(X[i : i + 30], y[i : i + 30]) for i in range(0, N, 30)]
    found = prequential(GKMClassifier(solver="sums", random_state=0), chunks, classes=[0, 1, 2])
    assert found.n_tested.tolist() == [0, 0, 0]  # the only labels come first, and are learnt


@pytest.mark.dear
@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("what", ["X", "sample_weight"])
def test_masked_cells_and_weights_are_refused(name, what):
    model, truth = clone(MODELS[name]), truth_for(MODELS[name])
    rows = np.ma.array(X, mask=np.arange(2 * N).reshape(N, 2) == 5)
    weights = np.ma.array(np.ones(N), mask=np.arange(N) == 3)
    given = (rows, truth) if what == "X" else (X, truth, weights)
    with pytest.raises(ValueError, match=f"1 of the .* values of {what} are masked"):
        model.fit(*given)
    if what == "X":
        model.fit(X, np.where(HIDDEN, np.nan, truth))
        with pytest.raises(ValueError, match="of X are masked"):
            model.predict(rows)
    else:
        model.fit(X, np.where(HIDDEN, np.nan, truth))
        with pytest.raises(ValueError, match="of sample_weight are masked"):
            model.score(X, truth, weights)


@pytest.mark.parametrize("model", [KernelRidgeCV(), KernelRidgeClassifierCV()])
def test_ridge_refuses_masks(model):
    y, mask = truth_for(model), np.arange(N) == 3
    for name, given in {
        "X": (np.ma.array(X, mask=np.column_stack([mask, ~mask])), y),
        "y": (X, np.ma.array(y, mask=mask)),
        "sample_weight": (X, y, np.ma.array(np.ones(N), mask=mask)),
    }.items():
        with pytest.raises(ValueError, match=f"values of {name} are masked"):
            model.fit(*given)
    whole = clone(model).fit(np.ma.array(X), np.ma.array(y))  # nothing is masked
    np.testing.assert_array_equal(whole.predict(X), clone(model).fit(X, y).predict(X))


def test_masked_streams_and_blocks_are_refused():
    mask = np.arange(2 * N).reshape(N, 2) == 5
    with pytest.raises(ValueError, match="of X are masked"):
        GKMClassifier(solver="sums").partial_fit(np.ma.array(X, mask=mask), CLASSES)
    with pytest.raises(ValueError, match="of X are masked"):
        suggest(None, np.ma.array(X, mask=mask), 3)
    for block in (
        (np.ma.array(X, mask=mask), CLASSES),
        (X, CLASSES, np.ma.array(np.ones(N), mask=np.arange(N) == 5)),
    ):
        with pytest.raises(ValueError, match="masked"):
            SemiSupervisedClassifier(LogisticRegression()).fit([block])


# ---------------------------------------------------------------------- weights of 0


def test_a_transductive_margin_does_not_avoid_labels_of_weight_zero():
    """It avoids rows without a label. A label of weight 0 is no reason to avoid its row."""
    y, weights = truth_for(MODELS["transductive"]).astype(float), np.ones(N)
    y[60:], weights[SHOWN:45] = -1, 0.0
    counted = weights > 0
    model = TransductiveSVC(gamma=0.5, precision="double", tol=1e-9)
    wanted = clone(model).fit(X[counted], y[counted])
    for given in (y, np.where(counted, y, 7.0)):
        found = clone(model).fit(X, given, sample_weight=weights)
        np.testing.assert_allclose(scores(found, X), scores(wanted, X), atol=1e-6)
        np.testing.assert_array_equal(found.transduction_[~counted], wanted.predict(X[~counted]))
        np.testing.assert_array_equal(found.transduction_[counted], wanted.transduction_)
        np.testing.assert_array_equal(found.support_, np.flatnonzero(counted)[wanted.support_])
        assert found.classes_.tolist() == [0, 1, 2]


AS_UNLABELED = [each for each in SOME if each.id != "transductive"]  # the test above is its own


@pytest.mark.long
@pytest.mark.parametrize("name", AS_UNLABELED)
def test_labels_of_weight_zero_count_for_nothing(name):
    model, truth = MODELS[name], truth_for(MODELS[name])
    missing = np.nan if is_regressor(model) else -1
    y = np.where(np.arange(N) < 45, truth, missing).astype(float)
    weights = np.where((np.arange(N) >= SHOWN) & (np.arange(N) < 45), 0.0, 1.0)
    wrong = np.where(weights == 0, 7.0, y)  # another class, or a target far away
    wanted = clone(model).fit(X, np.where(weights == 0, missing, y))
    for given in (y, wrong):
        found = clone(model).fit(X, given, sample_weight=weights)
        np.testing.assert_allclose(scores(found, X), scores(wanted, X), atol=1e-6)
        np.testing.assert_allclose(found.transduction_, wanted.transduction_, atol=1e-6)
        if not is_regressor(model):
            assert found.classes_.tolist() == [0, 1, 2]
        if hasattr(found, "support_"):
            np.testing.assert_array_equal(found.support_, wanted.support_)


def with_class_weight(model, weight):
    """Return a copy with these class weights, or with an estimator inside that has them."""
    if "class_weight" in model.get_params(deep=False):
        return clone(model).set_params(class_weight=weight)
    return clone(model).set_params(estimator=GKMClassifier(class_weight=weight))


# The front door has no class_weight, and leaves that of its models to them.
@pytest.mark.dear
@pytest.mark.parametrize(
    "name",
    [
        each
        for each in SOME
        if not is_regressor(MODELS[each.id]) and each.id not in ("front door", "anchors")
    ],
)
@pytest.mark.parametrize("others", [{}, {0: 1.0, 1: 3.0}])
def test_a_class_of_weight_zero_is_a_label_of_weight_zero(name, others):
    model, y = MODELS[name], np.where(HIDDEN, -1, CLASSES)
    kept, found = (
        with_class_weight(model, weight) for weight in (others or None, others | {2: 0.0})
    )
    wanted = kept.fit(X, y, sample_weight=np.where(y == 2, 0.0, 1.0))
    found.fit(X, y)
    assert found.classes_.tolist() == wanted.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(scores(found, X), scores(wanted, X), atol=1e-6)
    np.testing.assert_array_equal(found.transduction_, wanted.transduction_)


def test_labels_of_weight_zero_in_blocks():
    y = np.where(HIDDEN, -1, CLASSES)
    cuts = [slice(start, start + 30) for start in range(0, N, 30)]
    model = SemiSupervisedClassifier(LogisticRegression(), random_state=0)
    by_row = [(X[own], y[own], (y[own] != 2).astype(float)) for own in cuts]
    found = clone(model).fit(by_row)
    hidden = [(X[own], np.where(y[own] == 2, -1, y[own])) for own in cuts]
    wanted = clone(model).fit(hidden)
    assert found.classes_.tolist() == wanted.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(scores(found, X), scores(wanted, X), atol=1e-6)


@pytest.mark.parametrize("solver", ["sums", "sgd"])
@pytest.mark.parametrize("classes", [None, [0, 1, 2]])
def test_a_class_of_weight_zero_in_streams(solver, classes):
    found = GKMClassifier(solver=solver, class_weight={2: 0.0}, random_state=0)
    wanted = GKMClassifier(solver=solver, random_state=0)
    for own in (slice(45), slice(45, N)):
        found.partial_fit(X[own], CLASSES[own], classes)
        wanted.partial_fit(X[own], CLASSES[own], classes, (CLASSES[own] != 2).astype(float))
    assert found.classes_.tolist() == wanted.classes_.tolist()
    np.testing.assert_array_equal(found.decision_function(X), wanted.decision_function(X))


@pytest.mark.parametrize("solver", ["sums", "sgd"])
def test_labels_of_weight_zero_in_streams(solver):
    weights = np.where(HIDDEN, 0.0, 1.0)
    found, wanted = (
        GKMClassifier(solver=solver, random_state=0).partial_fit(X, y, [0, 1, 2], w)
        for y, w in ((CLASSES, weights), (np.where(HIDDEN, -1, CLASSES), None))
    )
    np.testing.assert_array_equal(found.decision_function(X), wanted.decision_function(X))


@pytest.mark.parametrize("model", [KernelRidgeCV(), KernelRidgeClassifierCV()])
def test_rows_of_weight_zero_in_ridge(model):
    truth, weights = truth_for(model), np.where(HIDDEN, 0.0, 1.0)
    wanted = clone(model).fit(X[~HIDDEN], truth[~HIDDEN])
    for wrong in (truth, np.where(HIDDEN, 7, truth)):
        found = clone(model).fit(X, wrong, weights)
        np.testing.assert_allclose(found.predict(X), wanted.predict(X), atol=1e-8)
        np.testing.assert_allclose(found.held_out_[~HIDDEN], wanted.held_out_, atol=1e-8)
        assert found.best_score_ == pytest.approx(wanted.best_score_)
        if not is_regressor(model):
            assert found.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", FAST)
def test_nothing_that_counts(name):
    model, truth = clone(MODELS[name]), truth_for(MODELS[name])
    y = np.where(np.arange(N) > 0, truth, np.nan)  # scikit-learn itself refuses weights of 0 alone
    with pytest.raises(ValueError, match="sample_weight is 0"):
        model.fit(X, y, (np.arange(N) == 0).astype(float))
    if not is_regressor(model):
        with pytest.raises(ValueError, match="one class"):
            model.fit(X, truth, np.where(truth == 1, 1.0, 0.0))

"""What fits remember, empty labels, and folds that repeat."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_predict

from graphkm import (
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.estimators import transduction as remembering
from graphkm.exchange import load_model, save_model
from graphkm.model_selection import LabeledKFold, LabeledStratifiedKFold

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
CLASSES = np.where(np.arange(80) < 40, np.where(X[:, 0] > 0, 2, 1), -1)
TARGETS = np.where(np.arange(80) < 40, X[:, 0], np.nan)

MODELS = {
    "gkm": (GKMClassifier(random_state=0), CLASSES),
    "rows": (GKMClassifier(solver="row_newton"), CLASSES),
    "regressor": (GKMRegressor(random_state=0), TARGETS),
    "front door": (SemiSupervisedClassifier(KernelRidgeClassifierCV(), random_state=0), CLASSES),
    "front door regressor": (SemiSupervisedRegressor(KernelRidgeCV(), random_state=0), TARGETS),
    "laplacian": (LaplacianSVC(), CLASSES),
    "laplacian regressor": (LaplacianRegressor(), TARGETS),
    "transductive": (TransductiveSVC(), CLASSES),
}


@pytest.mark.dear
@pytest.mark.parametrize("name", MODELS)
def test_what_is_known_of_training_rows_stays(name, tmp_path):
    model, y = MODELS[name]
    rows = X.copy()
    model = clone(model).fit(rows, y)
    hidden = np.arange(80) >= 40
    before = model.transduction_
    np.testing.assert_array_equal(before[~hidden], y[~hidden])
    if name != "rows":  # whose rows have scores of their own
        np.testing.assert_allclose(before[hidden], model.predict(X[hidden]), rtol=1e-5)
    rows[:] = 7.0
    before[:] = 0
    save_model(model, tmp_path / "m")
    assert model.transduction_.any()
    np.testing.assert_array_equal(load_model(tmp_path / "m").transduction_, model.transduction_)


def left_behind(make):
    """Return what Python's collector finds after a function whose own references are gone."""
    gc.collect()
    gc.disable()
    try:
        gone = make()
        kept = [each() for each in gone if each() is not None]
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        held = [each for one in gc.garbage for each in gc.get_referents(one)]
        return kept, [each for each in held if isinstance(each, np.ndarray | csr_array)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


EVERY = MODELS | {
    "anchors": (
        SemiSupervisedClassifier(LogisticRegression(), graph="anchors", random_state=0),
        CLASSES,
    ),
    "lines": (SemiSupervisedClassifier(LogisticRegression(), random_state=0), CLASSES),
    "lines of a regressor": (SemiSupervisedRegressor(Ridge(), random_state=0), TARGETS),
    "steps": (GKMClassifier(solver="sgd", random_state=0), CLASSES),
    "search": (GKMClassifierCV(C_graphs=[1.0], graphs=[(5, 1)]), CLASSES),
    "regressor search": (GKMRegressorCV(C_graphs=[1.0], graphs=[(5, 1)]), TARGETS),
    "ridge": (KernelRidgeCV(), X[:, 0]),
    "ridge classifier": (KernelRidgeClassifierCV(), X[:, 0] > 0),
}


@pytest.mark.long
@pytest.mark.parametrize("form", [np.array, csr_array])
@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("name", EVERY)
def test_nothing_of_a_model_and_its_rows_outlives_it(name, read, form):
    """Rows may fill the memory, of a card too: they must not wait for the cyclic collector."""
    model, y = EVERY[name]

    def fit_and_forget():
        rows = form(X)
        fitted = clone(model).fit(rows, y)
        fitted.predict(rows)
        if read:
            getattr(fitted, "transduction_", None)
        return [weakref.ref(rows), weakref.ref(fitted)]

    left_behind(fit_and_forget)  # imports and other tests leave circles behind
    assert left_behind(fit_and_forget) == ([], [])


@pytest.mark.long
@pytest.mark.parametrize("solver", ["sgd", "sums"])
def test_nothing_of_a_stream_outlives_it(solver):
    def learn_and_forget():
        rows, stream = X.copy(), GKMClassifier(solver=solver, random_state=0)
        stream.partial_fit(rows, CLASSES, classes=[1, 2]).predict(rows)
        return [weakref.ref(rows), weakref.ref(stream)]

    left_behind(learn_and_forget)
    assert left_behind(learn_and_forget) == ([], [])


@pytest.mark.long
@pytest.mark.parametrize("name", [each for each in MODELS if "front door" not in each])
def test_opting_out(name, tmp_path):
    model, y = MODELS[name]
    model = clone(model).set_params(transduce=False).fit(X, y)
    save_model(model, tmp_path / "m")
    for each in (model, load_model(tmp_path / "m")):
        assert not hasattr(each, "transduction_")
        with pytest.raises(AttributeError, match="Call predict on the training rows"):
            each.transduction_  # noqa: B018
    model.set_params(transduce=True).fit(X, y)
    assert len(model.transduction_) == 80
    with pytest.raises(ValueError, match="transduce"):
        model.set_params(transduce="no").fit(X, y)


@pytest.mark.long
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_large_rows_are_not_copied_and_must_not_change(form, monkeypatch):
    monkeypatch.setattr(remembering, "_LARGE", 100)
    known = GKMClassifier(random_state=0).fit(form(X), CLASSES).transduction_
    rows = form(X.copy())
    assert len(known) == 80
    model = GKMClassifier(random_state=0).fit(rows, CLASSES)
    (rows.data if form is csr_array else rows)[-1] = 7.0
    with pytest.raises(AttributeError, match="X has changed since fit"):
        model.transduction_  # noqa: B018
    monkeypatch.undo()
    model = GKMClassifier(random_state=0).fit(form(X), CLASSES)
    np.testing.assert_array_equal(model.transduction_, known)


@pytest.mark.dear
@pytest.mark.parametrize("way", ["pickle", "copy", "file"])
@pytest.mark.parametrize("name", [name for name in MODELS if name != "rows"])
def test_large_rows_that_change_do_not_hold_a_model_back(name, way, monkeypatch, tmp_path):
    monkeypatch.setattr(remembering, "_LARGE", 100)
    model, y = MODELS[name]
    rows = X.copy()
    model = clone(model).fit(rows, y)
    rows[-1] = 7.0
    if way == "pickle":
        other = pickle.loads(pickle.dumps(model))
    elif way == "copy":
        other = copy.deepcopy(model)
    else:
        save_model(model, tmp_path / "m")
        other = load_model(tmp_path / "m")
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    with pytest.raises(AttributeError, match="changed"):
        other.transduction_  # noqa: B018
    with pytest.raises(AttributeError, match="X has changed since fit"):
        model.transduction_  # noqa: B018
    rows[-1] = X[-1]  # the model itself has forgotten nothing
    assert len(model.transduction_) == 80


@pytest.mark.dear
@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", "b", ""])[np.r_[np.arange(20) % 2, np.full(20, 2)]],
        ["a", "b"] * 10 + [""] * 20,
        pd.Series(["a", "b"] * 10 + [""] * 20),
        np.array([0, 1] * 10 + [""] * 20, dtype=object),
    ],
    ids=["array", "list", "series", "numbers"],
)
def test_an_empty_text_is_no_label(y):
    rows = RNG.normal(size=(40, 2)) + 4.0 * (np.arange(40) % 2)[:, None]
    model = GKMClassifier(random_state=0).fit(rows, y)
    assert len(model.classes_) == 2
    assert model.score(rows, y) == 1.0
    assert len(SemiSupervisedClassifier(None, random_state=0).fit(rows, y).classes_) == 2
    tested = np.concatenate([test for _, test in LabeledStratifiedKFold(5).split(rows, y)])
    assert sorted(tested) == list(range(20))


@pytest.mark.parametrize("kind", [LabeledKFold, LabeledStratifiedKFold])
def test_folds_repeat_by_default(kind):
    def tests(folds):
        return [test.tolist() for _, test in folds.split(X, CLASSES)]

    folds = kind(4)
    assert tests(folds) == tests(folds) == tests(kind(4)) == tests(kind(4, random_state=0))
    free = kind(4, random_state=None)
    assert any(tests(free) != tests(free) for _ in range(5))


@pytest.mark.long
def test_cross_val_predict_says_why_not():
    """Unlabelled rows are in no test fold, which cross_val_predict does not allow."""
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(GKMClassifier(), X, CLASSES, cv=LabeledStratifiedKFold(4))
    found = cross_val_predict(GKMClassifier(), X[:40], CLASSES[:40], cv=LabeledStratifiedKFold(4))
    assert found.shape == (40,)

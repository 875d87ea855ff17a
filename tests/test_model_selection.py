"""Folds of partly labelled data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier

from graphkm import GKMClassifier
from graphkm.model_selection import LabeledKFold, LabeledStratifiedKFold

KINDS = [LabeledKFold, LabeledStratifiedKFold]


def spell(y, marker):
    """Return labels 0, 1, 2 and -1 with another mark of the missing ones."""
    if marker == "text":
        return np.array([None if c < 0 else "abc"[c] for c in y], dtype=object)
    if marker == "words":
        return np.array(["?" if c < 0 else "abc"[c] for c in y])
    if marker == "None":
        return [None if c < 0 else int(c) for c in y]
    if marker == "nan":
        return np.where(y < 0, np.nan, y)
    if marker == "NA":
        return pd.Series([pd.NA if c < 0 else int(c) for c in y], dtype="Int64")
    return y


@pytest.mark.parametrize("marker", ["number", "text", "words", "None", "nan", "NA"])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("n_splits", [2, 5, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_every_labelled_row_is_tested_once(kind, n_splits, shuffle, marker, three):
    y = spell(three.y, marker)
    folds = kind(n_splits, shuffle=shuffle, unlabeled="?" if marker == "words" else -1)
    splits = list(folds.split(three.X, y))
    assert len(splits) == folds.get_n_splits() == folds.get_n_splits(three.X, y) == n_splits
    tested = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(tested), np.flatnonzero(three.y >= 0))
    for train, test in splits:
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(90))
        assert np.isin(np.flatnonzero(three.y < 0), train).all()
        assert (np.diff(train) > 0).all()
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1


def test_strata(three):
    for _, test in LabeledStratifiedKFold(5, random_state=0).split(three.X, three.y):
        assert np.bincount(three.y[test]).tolist() == [2, 2, 2]
    plain = [
        np.bincount(three.y[test], minlength=3).tolist()
        for _, test in LabeledKFold(5, random_state=0).split(three.X, three.y)
    ]
    assert plain != [[2, 2, 2]] * 5


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_decides(kind, three):
    def tests(seed):
        return [t.tolist() for _, t in kind(3, random_state=seed).split(three.X, three.y)]

    assert tests(0) == tests(0) != tests(1)
    ordered = [t.tolist() for _, t in kind(3, shuffle=False).split(three.X, three.y)]
    assert ordered != tests(0)


def test_rare_classes_are_absent_from_some_folds():
    y = np.array([0] * 10 + [1] * 2 + [-1] * 8)
    splits = list(LabeledStratifiedKFold(5, random_state=0).split(np.zeros((20, 1)), y))
    with_rare = [(y[test] == 1).sum() for _, test in splits]
    assert sorted(with_rare) == [0, 0, 0, 1, 1]
    assert all((y[train] == 1).any() for train, _ in splits)


@pytest.mark.parametrize("kind", KINDS)
def test_errors(kind):
    for bad in (1, 0, 2.5, "three", None, True):
        with pytest.raises(ValueError, match="n_splits must be a whole number >= 2"):
            kind(bad)
    X = np.zeros((6, 1))
    with pytest.raises(ValueError, match=r"None of the 6 rows is labelled.*nothing to test"):
        next(kind(2).split(X, np.full(6, -1)))
    with pytest.raises(ValueError, match=r"n_splits=5 is more than the"):
        next(kind(5).split(X, np.array([0, 1, 0, 1, -1, -1])))
    with pytest.raises(ValueError, match="mixes text"):
        next(kind(2).split(X, np.array([0, "a", 0, "a", None, None], dtype=object)))
    with pytest.raises(ValueError, match="requires y"):
        next(kind(2).split(X, None))


def test_every_class_too_small_for_the_folds():
    y = np.array([0, 0, 1, 1, 2, 2, -1])
    with pytest.raises(ValueError, match="labelled rows of every class, at most 2"):
        next(LabeledStratifiedKFold(3).split(np.zeros((7, 1)), y))
    assert len(list(LabeledKFold(3).split(np.zeros((7, 1)), y))) == 3


@pytest.mark.dear
@pytest.mark.parametrize("scoring", [None, "accuracy", "balanced_accuracy", "f1_macro"])
def test_any_scoring_works(scoring, classifier, three):
    folds = LabeledStratifiedKFold(3, random_state=0)
    found = cross_val_score(classifier(), three.X, three.y, cv=folds, scoring=scoring)
    assert found.shape == (3,)
    assert (found > 0.4).all()
    if scoring == "accuracy":
        by_hand = []
        for train, test in folds.split(three.X, three.y):
            clf = classifier().fit(three.X[train], three.y[train])
            by_hand.append(np.mean(clf.predict(three.X[test]) == three.y[test]))
        np.testing.assert_allclose(found, by_hand)


@pytest.mark.long
def test_grid_search(three):
    y = np.array([None if c < 0 else "abc"[c] for c in three.y], dtype=object)
    search = GridSearchCV(
        GKMClassifier(),
        {"C": [0.1, 10.0], "C_graph": [0, 10.0]},
        cv=LabeledStratifiedKFold(3, random_state=0),
        scoring=["accuracy", "balanced_accuracy"],
        refit="accuracy",
        error_score="raise",
    ).fit(three.X, y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_estimator_.classes_.tolist() == ["a", "b", "c"]
    assert search.best_score_ > 0.5


def test_regression(regressor, curve):
    """-1 is a target here, unless it is named as a mark."""
    y = curve.y.copy()
    y[0] = -1.0
    folds = LabeledKFold(3, random_state=0, unlabeled=None)
    tested = np.concatenate([test for _, test in folds.split(curve.X, y)])
    assert sorted(tested) == list(range(30))
    marked = LabeledKFold(3, random_state=0)
    assert len(np.concatenate([test for _, test in marked.split(curve.X, y)])) == 29
    result = cross_validate(
        regressor(C=10.0), curve.X, curve.y, cv=folds, scoring=("r2", "neg_mean_absolute_error")
    )
    assert result["test_r2"].mean() > 0.5


def test_other_estimators_can_use_it_when_everything_is_labelled(two):
    folds = LabeledStratifiedKFold(4, random_state=0)
    assert cross_val_score(KNeighborsClassifier(), two.X, two.truth, cv=folds).mean() > 0.6
    assert "n_splits=4" in repr(folds)

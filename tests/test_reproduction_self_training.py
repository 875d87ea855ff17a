"""SelfTrainingKNN is scikit-learn's self-training, with this library's labels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from reproduction.self_training import SelfTrainingKNN


@pytest.mark.parametrize("options", [{}, {"criterion": "k_best", "k_best": 3}, {"threshold": 0.9}])
def test_it_is_scikit_learns(three, options):
    ours = SelfTrainingKNN(3, **options).fit(three.X, three.y)
    theirs = SelfTrainingClassifier(KNeighborsClassifier(3), max_iter=None, **options)
    theirs.fit(three.X, three.y)
    np.testing.assert_array_equal(ours.predict(three.X), theirs.predict(three.X))
    np.testing.assert_array_equal(ours.predict_proba(three.X), theirs.predict_proba(three.X))
    added = theirs.transduction_
    np.testing.assert_array_equal(ours.transduction_[added >= 0], added[added >= 0])
    assert (ours.transduction_ >= 0).all() and ours.n_iter_ == theirs.n_iter_


def test_text_labels_markers_and_sparse_rows(two):
    words = np.array(["no", "yes", None], dtype=object)[two.y]
    clf = SelfTrainingKNN().fit(sp.csr_array(two.X), words)
    marked = SelfTrainingKNN(unlabeled="?").fit(two.X, np.where(two.y < 0, "?", words))
    numbers = SelfTrainingKNN().fit(two.X, two.y)
    assert clf.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(clf.transduction_, clf.classes_[numbers.transduction_])
    np.testing.assert_array_equal(clf.transduction_, marked.transduction_)


def test_errors_say_what_to_do(two):
    with pytest.raises(ValueError, match="None of the 80 rows is labelled"):
        SelfTrainingKNN().fit(two.X, np.full(80, -1))
    with pytest.raises(ValueError, match="pass n_neighbors=24 or less"):
        SelfTrainingKNN(30).fit(two.X, two.y)
    with pytest.raises(ValueError, match="80 rows and y 79 labels"):
        SelfTrainingKNN().fit(two.X, two.y[1:])
    with pytest.raises(ValueError, match="-1 marks unlabelled rows"):
        SelfTrainingKNN().fit(two.X, np.where(two.truth, 1, -1))


def contradictions(estimator):
    expected = {
        "check_non_transformer_estimators_n_iter": (
            "n_iter_ counts the rounds that add labels, none where all rows have one"
        )
    }
    if estimator.unlabeled == -1:
        expected["check_classifiers_classes"] = "labels {-1, 1} are ambiguous, and refused"
    return expected


@parametrize_with_checks(
    [SelfTrainingKNN(), SelfTrainingKNN(3, unlabeled=None)], expected_failed_checks=contradictions
)
def test_scikit_learn_check(estimator, check):
    check(estimator)

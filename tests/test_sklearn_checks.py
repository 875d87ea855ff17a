"""scikit-learn's own checks of every estimator."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from graphkm import (
    GKMClassifier,
    GKMRegressor,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    Newton,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)

SGD = {"solver": "sgd", "C": 1.0, "gamma": "scale", "random_state": 0}
# Nothing that is counted in rows: then a weight of 2 is a second copy of the row.
EXACT = {"solver": Newton(tol=1e-13), "C": 1.0, "gamma": 0.5, "precision": "double"}

FIRST = [GKMClassifier(), GKMRegressor(), KernelRidgeClassifierCV(), KernelRidgeCV()]
# Both solvers, both precisions and both tasks, every two of them together with the first;
# `test_search_cv` has the searches.
MORE = [
    GKMClassifier(loss="logistic", fit_intercept=True, unlabeled=None, **EXACT),
    GKMClassifier(C_graph=0.1, **SGD),
    GKMRegressor(C_graph=0.01, precision="double", **SGD),
    SemiSupervisedClassifier(None),
    SemiSupervisedRegressor(None),
]
OTHERS = [
    SemiSupervisedClassifier(LogisticRegression()),
    SemiSupervisedRegressor(Ridge()),
    KernelRidgeClassifierCV([0.005], [0.1]),
    KernelRidgeCV([0.005], [0.1]),
    SemiSupervisedClassifier(),
    SemiSupervisedClassifier(LogisticRegression(), graph="anchors", unlabeled=None),
    SemiSupervisedRegressor(),
    SemiSupervisedRegressor(Ridge(), graph="anchors"),
    GKMClassifier(kernel="precomputed", C_graph=0, fit_intercept=True, unlabeled=None),
    GKMClassifier(loss="smooth_hinge", smoothness=1),
    GKMRegressor(loss="l1", smoothness=3),
    GKMRegressor(kernel="laplacian", precision="double", fit_intercept=False),
    GKMClassifier(C_graph=0.1, loss="logistic", **SGD),
    GKMClassifier(loss="smooth_hinge", precision="double", unlabeled=None, **SGD),
    GKMClassifier(kernel="precomputed", C_graph=0, fit_intercept=True, unlabeled=None, **SGD),
    GKMRegressor(C_graph=0.01, loss="l1", **SGD),
]

_STOCHASTIC = (
    "each step draws one row, so that a repeated row changes the draws: a weight of 2 gives the "
    "same objective as two copies, but another path to its minimum"
)
_COUNTED = (
    "gamma='spread', C='auto' and the median target count rows without their weights, and "
    "solutions are exact to tol only"
)
_LEFT_OUT = (
    "the check's labels are noise, on which several alphas do equally well up to rounding, and "
    "probabilities count held-out labels without their weights"
)
_HELD_OUT = (
    "probabilities count held-out labels without their weights; the scores themselves are the same"
)
_NEIGHBOURS = "the copy of a row is its nearest neighbour in the graph, and takes another's place"


NEIGHBOURS = SemiSupervisedClassifier | SemiSupervisedRegressor


def _why_weights_are_no_copies(estimator):
    if isinstance(estimator, NEIGHBOURS):
        return _NEIGHBOURS
    if isinstance(estimator, KernelRidgeClassifierCV | KernelRidgeCV):
        chosen = estimator.gammas is None or isinstance(estimator, KernelRidgeClassifierCV)
        return _LEFT_OUT if chosen else None
    if estimator.solver == EXACT["solver"]:
        return _HELD_OUT
    return _STOCHASTIC if estimator.solver == "sgd" else _COUNTED


def contradictions(estimator):
    """Return the checks that the design contradicts, and why."""
    expected = {}
    why = _why_weights_are_no_copies(estimator)
    if why is not None:
        expected["check_sample_weight_equivalence_on_dense_data"] = why
        expected["check_sample_weight_equivalence_on_sparse_data"] = why
    classifiers = GKMClassifier | SemiSupervisedClassifier
    if isinstance(estimator, classifiers) and estimator.unlabeled == -1:
        expected["check_classifiers_classes"] = (
            "fits labels {-1, 1}; -1 is the default mark of unlabelled rows, as in "
            "sklearn.semi_supervised, and these labels are refused as ambiguous"
        )
    return expected


def test_scores_take_a_weight_of_two_for_two_copies():
    """What the check would see if probabilities were not held out."""
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(40, 3)), np.arange(40) % 2, rng.integers(1, 4, size=40)
    model = GKMClassifier(loss="logistic", fit_intercept=True, **EXACT)
    one = model.fit(X, y, sample_weight=weights).decision_function(X)
    copies = np.repeat(np.arange(40), weights)
    two = model.fit(X[copies], y[copies]).decision_function(X)
    np.testing.assert_allclose(one, two, atol=1e-6)


PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "scikit_learn.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the pages are not here")
def test_the_guide_lists_the_checks_that_fail():
    listed = re.findall(r"^\| `(check_\w+)` \|", PAGE.read_text(), re.MULTILINE)
    expected = {name for each in FIRST + MORE + OTHERS for name in contradictions(each)}
    assert sorted(listed) == sorted(expected)


@pytest.mark.parametrize("name", sorted(contradictions(GKMClassifier())))
def test_listed_checks_fail(name):
    estimator = GKMClassifier()
    checks = estimator_checks_generator(estimator, mark=None)
    check = next(each for _, each in checks if each.func.__name__ == name)
    with pytest.raises((AssertionError, ValueError)):
        check(estimator)


@parametrize_with_checks(FIRST, expected_failed_checks=contradictions)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(MORE, expected_failed_checks=contradictions)
def test_scikit_learn_check_of_more(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS, expected_failed_checks=contradictions)
def test_scikit_learn_check_of_others(estimator, check):
    check(estimator)

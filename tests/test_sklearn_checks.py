"""scikit-learn's own checks of every estimator."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from graphkm import (
    GKMClassifier,
    GKMRegressor,
    GraphCorrectedClassifier,
    GraphCorrectedRegressor,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    Newton,
)

SGD = {"solver": "sgd", "C": 1.0, "gamma": "scale", "random_state": 0}
# Nothing that is counted in rows: then a weight of 2 is a second copy of the row.
EXACT = {"solver": Newton(tol=1e-13), "C": 1.0, "gamma": 0.5, "precision": "double"}

# Both solvers, both precisions and both tasks, every two of them together; `test_search_cv` has
# the searches.
ESTIMATORS = [
    GKMClassifier(),
    GKMClassifier(loss="logistic", fit_intercept=True, unlabeled=None, **EXACT),
    GKMRegressor(),
    GKMClassifier(C_graph=0.1, **SGD),
    GKMRegressor(C_graph=0.01, precision="double", **SGD),
    KernelRidgeClassifierCV(),
    KernelRidgeCV(),
    GraphCorrectedClassifier(),
    GraphCorrectedRegressor(),
]
OTHERS = [
    KernelRidgeClassifierCV([0.005], [0.1]),
    KernelRidgeCV([0.005], [0.1]),
    GraphCorrectedClassifier(LogisticRegression(), unlabeled=None),
    GraphCorrectedClassifier(LogisticRegression(), graph="anchors"),
    GraphCorrectedRegressor(Ridge()),
    GraphCorrectedRegressor(graph="anchors"),
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
    "leave-one-out leaves out a row with all of its weight, but one copy of two; so the chosen "
    "gamma and alpha may differ"
)


_NEIGHBOURS = "the copy of a row is its nearest neighbour in the graph, and takes another's place"


def _why_weights_are_no_copies(estimator):
    if isinstance(estimator, GraphCorrectedClassifier | GraphCorrectedRegressor):
        return _NEIGHBOURS
    if isinstance(estimator, KernelRidgeClassifierCV | KernelRidgeCV):
        return _LEFT_OUT if estimator.gammas is None else None
    if estimator.solver == EXACT["solver"]:
        return None
    return _STOCHASTIC if estimator.solver == "sgd" else _COUNTED


def contradictions(estimator):
    """Return the checks that the design contradicts, and why."""
    expected = {}
    why = _why_weights_are_no_copies(estimator)
    if why is not None:
        expected["check_sample_weight_equivalence_on_dense_data"] = why
        expected["check_sample_weight_equivalence_on_sparse_data"] = why
    classifiers = GKMClassifier | GraphCorrectedClassifier
    if isinstance(estimator, classifiers) and estimator.unlabeled == -1:
        expected["check_classifiers_classes"] = (
            "fits labels {-1, 1}; -1 is the default mark of unlabelled rows, as in "
            "sklearn.semi_supervised, and these labels are refused as ambiguous"
        )
    return expected


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=contradictions)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS, expected_failed_checks=contradictions)
def test_scikit_learn_check_of_others(estimator, check):
    check(estimator)

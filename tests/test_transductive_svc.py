"""TransductiveSVC: against SVC without unlabelled rows, and against the literal procedure."""

from __future__ import annotations

import pickle
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from graphkm import GKMClassifier
from graphkm.baselines import TransductiveSVC
from graphkm.model_selection import LabeledStratifiedKFold

ESTIMATORS = [
    TransductiveSVC(),
    # Nothing that is counted in rows: then a weight of 2 is a second copy of the row.
    TransductiveSVC(gamma=0.5, tol=1e-9, precision="double", unlabeled=None),
]
OTHERS = [
    TransductiveSVC(kernel="linear", balance=False, unlabeled=None),
    TransductiveSVC(kernel="precomputed", unlabeled=None),
]


def contradictions(estimator):
    """Return the checks that the design contradicts, and why."""
    expected = {}
    if estimator.tol != 1e-9:
        why = "gamma='spread' counts rows without their weights, and solutions are exact to tol"
        expected["check_sample_weight_equivalence_on_dense_data"] = why
        expected["check_sample_weight_equivalence_on_sparse_data"] = why
    if estimator.unlabeled == -1:
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


# ---------------------------------------------------------------- oracles


def literal_round(K, y, labeled, C, C_unlabeled, beta, mean):
    """Solve one convex problem of the paper in its primal form, both copies of a row apart.

    beta holds, for the copies +1 and -1 of every unlabelled row, C* where the tangent is taken.
    """
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-12 * values.max()
    root = vectors[:, kept] * np.sqrt(values[kept])
    w, b = cp.Variable(kept.sum()), cp.Variable()
    f = root @ w + b
    rest = np.flatnonzero(~labeled)
    J = cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(1 - cp.multiply(y[labeled], f[labeled])))
    for sign, tangent in zip((1.0, -1.0), beta, strict=True):
        J += C_unlabeled * cp.sum(cp.pos(1 - sign * f[rest])) + tangent @ (sign * f[rest])
    balanced = [] if mean is None else [cp.sum(f[rest]) / len(rest) == mean]
    task = cp.Problem(cp.Minimize(J), balanced)
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return np.asarray(f.value), float(cp.sum_squares(w).value)


def literal_cccp(K, y, labeled, C, C_unlabeled, s, balance):
    """Return the scores, the objective and the rounds of Collobert et al.'s Algorithm 1."""
    known = np.flatnonzero(labeled)
    svc = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K[np.ix_(known, known)], y[known])
    f = svc.decision_function(K[:, known])
    mean = y[known].mean() if balance else None
    beta, rounds = None, 0
    while True:
        u = f[~labeled]
        new = [C_unlabeled * (u < s), C_unlabeled * (-u < s)]
        if beta is not None and np.array_equal(new, beta):
            break
        beta, rounds = new, rounds + 1
        f, squared_norm = literal_round(K, y, labeled, C, C_unlabeled, beta, mean)
    t = np.concatenate([f[~labeled], -f[~labeled]])
    ramp = (np.maximum(1 - t, 0) - np.maximum(s - t, 0)).sum()
    hinge = np.maximum(1 - y[labeled] * f[labeled], 0).sum()
    return f, squared_norm / 2 + C * hinge + C_unlabeled * ramp, rounds


@pytest.mark.parametrize("balance", [True, False])
@pytest.mark.parametrize("s", [-0.3, 0.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_follows_the_literal_procedure(two, seed, s, balance):
    X = two.X + 0.5 * np.random.default_rng(seed).normal(size=two.X.shape)
    labeled = two.y >= 0
    model = TransductiveSVC(
        C=2.0, C_unlabeled=0.7, s=s, balance=balance, gamma=0.3, tol=1e-8, precision="double"
    ).fit(X, two.y)
    y = np.where(two.y == 1, 1.0, -1.0)
    K = model.kernel_(X, X)
    scores, objective, rounds = literal_cccp(K, y, labeled, 2.0, 0.7, s, balance)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-4)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-5)
    assert model.n_rounds_ == rounds
    if balance:
        np.testing.assert_allclose(scores[~labeled].mean(), y[labeled].mean(), atol=1e-6)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_without_unlabelled_rows_it_is_svc(two, C):
    reference = SVC(C=C, gamma=0.3, tol=1e-8).fit(two.X, two.truth)
    model = TransductiveSVC(C=C, gamma=0.3, tol=1e-8, precision="double").fit(two.X, two.truth)
    expected = reference.decision_function(two.X)
    np.testing.assert_allclose(model.decision_function(two.X), expected, atol=1e-4)
    np.testing.assert_array_equal(model.support_, np.sort(reference.support_))
    np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=1e-4)
    assert model.n_rounds_ == 0


def test_without_their_weight_unlabelled_rows_change_nothing(two):
    labeled = two.y >= 0
    exact = {"gamma": 0.3, "tol": 1e-9, "precision": "double"}
    alone = TransductiveSVC(**exact).fit(two.X[labeled], two.y[labeled])
    model = TransductiveSVC(C_unlabeled=0, **exact).fit(two.X, two.y)
    np.testing.assert_allclose(
        model.decision_function(two.X), alone.decision_function(two.X), atol=1e-6
    )


def test_shrinking_cache_and_precision_do_not_matter(two):
    scores = [
        TransductiveSVC(gamma=0.3, tol=1e-6, **changes).fit(two.X, two.y).decision_function(two.X)
        for changes in ({}, {"shrinking": False, "cache_size": 1e-3}, {"precision": "double"})
    ]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-4)
    np.testing.assert_allclose(scores[2], scores[0], atol=1e-4)


# ---------------------------------------------------------------- kinds of input


def test_several_classes_are_one_against_the_rest(three):
    labeled = three.y >= 0
    model = TransductiveSVC(gamma=0.3, C_unlabeled=0.2).fit(three.X, three.y)
    assert model.dual_coef_.shape == (3, len(model.support_))
    for k in range(3):
        y = np.where(labeled, three.y == k, -1).astype(int)
        one = TransductiveSVC(gamma=0.3, C_unlabeled=0.2).fit(three.X, y)
        np.testing.assert_allclose(
            model.decision_function(three.X)[:, k], one.decision_function(three.X), atol=5e-3
        )
    assert (model.predict(three.X) == three.truth).mean() > 0.6


def test_text_labels_and_frames(two):
    names = np.array(["cat", "dog"], dtype=object)[two.truth]
    names[two.y < 0] = None
    frame = pd.DataFrame(two.X, columns=list("abcd"))
    model = TransductiveSVC(gamma=0.3).fit(frame, names)
    numbers = TransductiveSVC(gamma=0.3).fit(two.X, two.y)
    assert model.classes_.tolist() == ["cat", "dog"]
    np.testing.assert_array_equal(model.predict(frame) == "dog", numbers.predict(two.X) == 1)
    assert model.feature_names_in_.tolist() == list("abcd")
    labeled = two.y >= 0
    np.testing.assert_array_equal(model.transduction_[labeled], names[labeled])


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "cosine"])
def test_sparse_rows(two, kernel):
    X = np.where(np.abs(two.X) < 0.5, 0.0, two.X)
    model = TransductiveSVC(kernel=kernel, gamma=0.2, tol=1e-5)
    dense = model.fit(X, two.y).decision_function(X)
    sparse = model.fit(csr_matrix(X), two.y)
    np.testing.assert_allclose(sparse.decision_function(csr_matrix(X)), dense, atol=1e-3)


def test_kernel_values_beyond_the_precision_are_refused():
    A = np.random.default_rng(1).normal(size=(6, 3))
    K = A @ A.T
    K[0, 1] = K[1, 0] = 1e39
    K[2, 3] = K[3, 2] = -1e39
    y = np.array([0, 1, 0, 1, -1, -1])
    with pytest.raises(ValueError, match=r"not finite in float32; .* precision='double'"):
        TransductiveSVC(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="not finite in float32"):
        GKMClassifier(kernel="precomputed", graph="full", C_graph=0.0, solver="sgd").fit(K, y)


def test_precomputed_and_functions(two):
    model = TransductiveSVC(gamma=0.3, tol=1e-6, precision="double").fit(two.X, two.y)
    K = model.kernel_(two.X, two.X)
    expected = model.decision_function(two.X)
    own = TransductiveSVC(kernel="precomputed", tol=1e-6, precision="double").fit(K, two.y)
    np.testing.assert_allclose(own.decision_function(K), expected, atol=1e-4)
    function = TransductiveSVC(kernel=model.kernel_.__call__, tol=1e-6, precision="double")
    scores = function.fit(two.X, two.y).decision_function(two.X)
    np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_class_weight_is_a_factor_of_the_cost(two):
    weight = np.where(two.y == 1, 5.0, 1.0)
    by_class = TransductiveSVC(class_weight={1: 5.0}, balance=False, gamma=0.3).fit(two.X, two.y)
    by_row = TransductiveSVC(balance=False, gamma=0.3).fit(two.X, two.y, sample_weight=weight)
    np.testing.assert_allclose(by_class.dual_coef_, by_row.dual_coef_)


def test_works_with_the_ecosystem(two):
    model = make_pipeline(StandardScaler(), TransductiveSVC())
    search = GridSearchCV(
        model, {"transductivesvc__C": [0.1, 1.0]}, cv=LabeledStratifiedKFold(3)
    ).fit(two.X, two.y)
    assert search.best_score_ > 0.5
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(copy.predict(two.X), search.predict(two.X))


# ---------------------------------------------------------------- errors for people


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"C": 0}, "C must be a finite number > 0, got 0"),
        ({"C": "auto"}, "C must be a finite number > 0, got 'auto'"),
        ({"C_unlabeled": -1}, "C_unlabeled must be 'auto' or a finite number >= 0, got -1"),
        ({"s": 0.2}, "s must be at most 0, got 0.2"),
        ({"s": -1}, "s must be a finite number > -1, got -1"),
        ({"balance": "yes"}, "balance must be True or False, got 'yes'"),
        ({"tol": 0}, "tol must be a finite number > 0, got 0"),
        ({"max_iter": 0}, "max_iter must be 'auto' or a whole number >= 1, got 0"),
        ({"cache_size": 0}, "cache_size must be a finite number > 0, got 0"),
        ({"shrinking": 2}, "shrinking must be True or False, got 2"),
        ({"gamma": "wide"}, "gamma must be"),
        ({"precision": "half"}, "precision must be one of"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"kernel": "unknown"}, "kernel='unknown' is not a kernel"),
    ],
)
def test_parameters_out_of_range(two, changes, message):
    with pytest.raises(ValueError, match=message):
        TransductiveSVC(**changes).fit(two.X, two.y)


def test_labels_that_cannot_be_learnt_from(two):
    with pytest.raises(ValueError, match="only one class"):
        TransductiveSVC(unlabeled=0).fit(two.X, np.where(two.y == 1, 1, 0))
    with pytest.raises(ValueError, match="None of the 80 rows is labelled"):
        TransductiveSVC().fit(two.X, np.full(80, -1))
    with pytest.raises(ValueError, match="-1 marks unlabelled rows"):
        TransductiveSVC().fit(two.X, np.where(two.truth == 1, 1, -1))
    with pytest.raises(ValueError, match="0 for every labelled row"):
        TransductiveSVC().fit(two.X, two.y, sample_weight=(two.y < 0).astype(float))


def test_too_few_steps_are_reported(two):
    with pytest.warns(ConvergenceWarning, match="max_iter=3 steps were not enough"):
        TransductiveSVC(max_iter=3).fit(two.X, two.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TransductiveSVC().fit(two.X, two.y)

"""Laplacian SVM against a convex solver, scikit-learn's SVC, GKM, and itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import graphkm.baselines.early_stopping as early_stopping
from flat import laplacian_parts
from graphkm import Full, GKMClassifier, IteratedLaplacian, Newton
from graphkm.baselines import LaplacianSVC
from laplacian_oracles import laplacian, minimum, neighbour_weights, rbf

# Defaults follow measurements and may change; tests name what they depend on.
EXPLICIT = {
    "gamma_A": 0.05,
    "gamma_I": 0.3,
    "gamma": 0.7,
    "n_neighbors": 5,
    "weights": "local",
    "normalized": False,
    "degree": 1,
    "fit_intercept": True,
    "early_stopping": False,
    "tol": 1e-9,
}


def svc(**changes):
    return LaplacianSVC(**laplacian_parts(**(EXPLICIT | changes)))


@pytest.fixture
def moons():
    X, truth = make_moons(70, noise=0.25, random_state=3)
    X[:, 0] += 0.7 * truth  # so that the best intercept is not 0
    return X, np.where(np.arange(70) < 17, truth, -1), truth


def oracle(X, y, loss="squared_hinge", weights=None, **changes):
    p = EXPLICIT | changes
    labeled = np.flatnonzero(y >= 0)
    W = neighbour_weights(X, p["n_neighbors"])
    L = laplacian(W, p["normalized"])
    M = np.linalg.matrix_power(L, p["degree"])
    weights = np.ones(len(labeled)) if weights is None else weights
    target = 2.0 * (y[labeled] == y.max()) - 1
    return minimum(
        rbf(X, p["gamma"]),
        M,
        labeled,
        target,
        weights,
        p["gamma_A"],
        p["gamma_I"],
        loss,
        p["fit_intercept"],
    )


# ---------------------------------------------------------------- the minimum


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("normalized", "degree"), [(False, 1), (True, 1), (True, 3)])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_newton_finds_the_minimum(moons, loss, normalized, degree, fit_intercept):
    X, y, _ = moons
    changes = {"normalized": normalized, "degree": degree, "fit_intercept": fit_intercept}
    clf = svc(loss=loss, solver="newton", **changes).fit(X, y)
    value, scores = oracle(X, y, loss, **changes)
    assert clf.objective_ == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(clf.decision_function(X), scores, atol=2e-4)
    assert clf.intercept_.shape == (1,) and (clf.intercept_[0] != 0) == fit_intercept


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_rows_of_zeros_get_one_class(fit_intercept):
    y = np.where(np.arange(60) < 12, np.arange(60) % 3, -1)
    clf = LaplacianSVC(kernel="linear", fit_intercept=fit_intercept).fit(np.zeros((60, 20)), y)
    assert len(np.unique(clf.predict(np.zeros((3, 20))))) == 1


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("normalized", "degree"), [(False, 1), (True, 2)])
def test_conjugate_gradients_find_the_minimum(moons, normalized, degree, fit_intercept):
    X, y, _ = moons
    changes = {"normalized": normalized, "degree": degree, "fit_intercept": fit_intercept}
    clf = svc(solver="cg", tol=1e-9, **changes).fit(X, y)
    exact = svc(solver="newton", **changes).fit(X, y)
    value, _ = oracle(X, y, **changes)
    assert clf.objective_ == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(clf.decision_function(X), exact.decision_function(X), atol=1e-6)
    assert clf.solver_ == "cg" and exact.solver_ == "newton"


@pytest.mark.parametrize("solver", ["newton", "cg"])
def test_weights_multiply_losses(moons, solver):
    X, y, _ = moons
    weight = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    clf = svc(solver=solver, tol=1e-9, class_weight={0: 1.0, 1: 2.5}).fit(X, y, weight)
    own = weight[y >= 0] * np.where(y[y >= 0] == 1, 2.5, 1.0)
    assert clf.objective_ == pytest.approx(oracle(X, y, weights=own)[0], rel=1e-7)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("gamma_A", [1e-5, 10.0])
def test_extreme_costs(moons, loss, gamma_A):
    X, y, _ = moons
    clf = svc(loss=loss, gamma_A=gamma_A, gamma_I=100 * gamma_A, tol=1e-8).fit(X, y)
    value, _ = oracle(X, y, loss, gamma_A=gamma_A, gamma_I=100 * gamma_A)
    assert clf.objective_ == pytest.approx(value, rel=1e-5)


def test_without_a_graph_it_is_an_svm(moons):
    X, y, _ = moons
    clf = svc(loss="hinge", gamma_I=0).fit(X, y)
    svm = SVC(C=1 / (2 * 0.05), gamma=0.7, tol=1e-10).fit(X[y >= 0], y[y >= 0])
    np.testing.assert_allclose(clf.decision_function(X), svm.decision_function(X), atol=1e-4)
    assert set(clf.support_) <= set(np.flatnonzero(y >= 0))


def test_hinge_without_labelled_pairs_is_gkm(moons):
    """With C = 1 / (2 gamma_A) and C_graph = gamma_I |E| / (2 gamma_A l)."""
    X, y, _ = moons
    W = neighbour_weights(X, 5)
    W[:17, :17] = 0
    edges, labels = np.count_nonzero(np.triu(W)), 17
    clf = svc(loss="hinge", fit_intercept=False).fit(X, y, affinity=W)
    gkm = GKMClassifier(
        C=1 / (2 * 0.05),
        C_graph=0.3 * edges / (2 * 0.05 * labels),
        gamma=0.7,
        solver=Newton(tol=1e-9),
        precision="double",
        smoothness=IteratedLaplacian(degree=1, normalized=False),
    ).fit(X, y, affinity=W)
    np.testing.assert_allclose(clf.decision_function(X), gkm.decision_function(X), atol=1e-4)
    assert clf.objective_ == pytest.approx(2 * 0.05 * gkm.objective_, rel=1e-7)


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_give_the_same_model(moons, sparse):
    X, y, _ = moons
    X = sp.csr_array(X) if sparse else X
    whole = svc(solver="cg", tol=1e-7).fit(X, y)
    blocks = svc(solver="cg", tol=1e-7, max_memory=1000).fit(X, y)
    assert blocks.n_iter_ == whole.n_iter_
    np.testing.assert_allclose(blocks.dual_coef_, whole.dual_coef_, rtol=1e-5, atol=1e-9)


def test_memory_chooses_the_solver(moons):
    X, y, _ = moons
    assert svc().fit(X, y).solver_ == "newton"
    assert svc(max_memory=50_000, tol=1e-6).fit(X, y).solver_ == "cg"
    assert svc(loss="hinge").fit(X, y).solver_ == "newton"
    for choice in ({"solver": "newton"}, {"loss": "hinge"}):
        with pytest.raises(MemoryError, match="solver='cg'"):
            svc(max_memory=50_000, **choice).fit(X, y)


def test_single_precision_is_near(moons):
    X, y, _ = moons
    exact = svc(solver="cg", tol=1e-4).fit(X, y).decision_function(X)
    for max_memory in ("auto", 1000):
        clf = svc(solver="cg", tol=1e-4, precision="single", max_memory=max_memory).fit(X, y)
        np.testing.assert_allclose(clf.decision_function(X), exact, atol=1e-3)


# ---------------------------------------------------------------- early stopping


def test_stable_decisions_stop_early(moons):
    X, y, _ = moons
    long = svc(solver="cg", tol=1e-9).fit(X, y)
    short = svc(solver="cg", tol=1e-9, early_stopping=True).fit(X, y)
    assert short.n_iter_ < long.n_iter_
    assert short.n_iter_ % early_stopping.INTERVAL == 0
    steps = svc(solver="cg", tol=1e-12, max_iter=short.n_iter_ - early_stopping.INTERVAL)
    with pytest.warns(ConvergenceWarning, match="larger max_iter"):
        before = steps.fit(X, y)
    changed = before.predict(X[y < 0]) != short.predict(X[y < 0])
    assert changed.mean() <= early_stopping.TOLERATED


def test_validation_rows_stop_early(moons):
    X, y, truth = moons
    long = svc(solver="cg", tol=1e-9).fit(X, y)
    clf = svc(solver="cg", tol=1e-9, early_stopping=True)
    assert clf.fit(X, y, validation=(X[20:], truth[20:])).n_iter_ < long.n_iter_
    with pytest.raises(ValueError, match="50 rows and 49 labels"):
        clf.fit(X, y, validation=(X[20:], truth[21:]))


def test_nothing_unlabelled_runs_to_tol(moons):
    X, _, truth = moons
    stopped = svc(solver="cg", tol=1e-8, early_stopping=True).fit(X, truth)
    exact = svc(solver="newton").fit(X, truth)
    assert stopped.objective_ == pytest.approx(exact.objective_, rel=1e-6)


# ---------------------------------------------------------------- classes and input


@pytest.mark.parametrize("solver", ["newton", "cg"])
def test_several_classes_are_one_against_the_rest(three, solver):
    clf = svc(solver=solver, tol=1e-9).fit(three.X, three.y)
    assert clf.decision_function(three.X).shape == (90, 3)
    for c in range(3):
        y = np.where(three.y < 0, -1, three.y == c)
        alone = svc(solver=solver, tol=1e-9).fit(three.X, y)
        np.testing.assert_allclose(
            clf.decision_function(three.X)[:, c], alone.decision_function(three.X), atol=1e-5
        )
    assert clf.dual_coef_.shape == (3, len(clf.support_))
    assert clf.score(three.X, three.truth) > 0.7


def test_text_labels_and_markers(moons):
    X, y, _ = moons
    words = np.array(["no", "yes", None], dtype=object)[y]
    clf = svc().fit(X, words)
    assert clf.classes_.tolist() == ["no", "yes"]
    same = svc(unlabeled="?").fit(X, np.where(y < 0, "?", words))
    numbers = svc().fit(X, np.where(y < 0, np.nan, y))
    np.testing.assert_array_equal(clf.dual_coef_, same.dual_coef_)
    np.testing.assert_array_equal(clf.dual_coef_, numbers.dual_coef_)
    kept = clf.transduction_[y >= 0]
    assert kept.tolist() == words[y >= 0].tolist()
    np.testing.assert_array_equal(clf.transduction_[y < 0], clf.predict(X[y < 0]))


@pytest.mark.parametrize("solver", ["newton", "cg"])
def test_sparse_rows(moons, solver):
    X, y, _ = moons
    dense = svc(solver=solver, tol=1e-8).fit(X, y)
    sparse = svc(solver=solver, tol=1e-8).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(
        sparse.decision_function(sp.csr_array(X)), dense.decision_function(X), atol=1e-6
    )


def test_precomputed_kernel(moons):
    X, y, _ = moons
    W = neighbour_weights(X, 5)
    given = svc(kernel="precomputed").fit(rbf(X, 0.7), y, affinity=W)
    rows = svc().fit(X, y)
    np.testing.assert_allclose(
        given.decision_function(rbf(X, 0.7)), rows.decision_function(X), atol=1e-6
    )


def test_repeated_rows(moons):
    X, y, _ = moons
    X, y = np.vstack([X, X[:20]]), np.concatenate([y, y[:20]])
    for loss in ("hinge", "squared_hinge"):
        clf = svc(loss=loss, tol=1e-8, weights=1.0).fit(X, y)
        assert np.isfinite(clf.dual_coef_).all()
        np.testing.assert_allclose(
            clf.decision_function(X[:20]), clf.decision_function(X[-20:]), atol=1e-9
        )


def test_clone_and_pickle(moons):
    X, y, _ = moons
    clf = clone(svc()).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(again.transduction_, clf.transduction_)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gamma_A": 0}, "gamma_A must be a finite number > 0, got 0"),
        ({"gamma_I": -1}, "gamma_I must be a finite number >= 0, got -1"),
        ({"loss": "logistic"}, "loss must be one of 'squared_hinge', 'hinge', got 'logistic'"),
        ({"loss": "hinge", "solver": "cg"}, "needs a smooth loss"),
        ({"solver": "sgd"}, "solver must be one of"),
        ({"graph": Full()}, r"graph=Full\(weights='auto'\) lists no edges"),
        ({"degree": 0}, "degree must be 'auto' or a whole number >= 1, got 0"),
        ({"max_memory": "all"}, "max_memory must be 'auto' or"),
        ({"early_stopping": 1}, "early_stopping must be True or False"),
        ({"weights": 1e9}, "weights=1e\\+09 makes every edge weight underflow"),
        ({"kernel": "precomputed"}, "square matrix"),
    ],
)
def test_wrong_parameters(moons, changes, message):
    X, y, _ = moons
    with pytest.raises(ValueError, match=message):
        svc(**changes).fit(X, y)


def test_wrong_data(moons):
    X, y, _ = moons
    with pytest.raises(ValueError, match="None of the 70 rows is labelled"):
        svc().fit(X, np.full(70, -1))
    with pytest.raises(ValueError, match="only one class"):
        svc().fit(X, np.where(y == 0, 0, -1))
    with pytest.raises(ValueError, match="0 for every labelled row"):
        svc().fit(X, y, 1.0 * (y < 0))
    with pytest.raises(ValueError, match="joins none of the 70 unlabelled rows"):
        svc().fit(X, y, affinity=np.eye(70))
    with pytest.raises(ValueError, match="leaves no rows"):
        svc(kernel="precomputed").fit(rbf(X, 1.0), y)
    with pytest.raises(OverflowError, match="gamma_I"):
        svc(gamma_I=1e308, degree=4, weights=0.0).fit(X, y)


def test_too_few_steps_warn(moons):
    X, y, _ = moons
    with pytest.warns(ConvergenceWarning, match="Newton's method stopped after 1 steps"):
        svc(loss="hinge", max_iter=1).fit(X, y)


# ---------------------------------------------------------------- scikit-learn

_COUNTED = "gamma='spread' and the neighbours count rows without their weights"
_MARKED = "-1 is the default mark of unlabelled rows: labels {-1, 1} are refused as ambiguous"


def contradictions(estimator):
    expected = {}
    if estimator.gamma_I:
        expected["check_sample_weight_equivalence_on_dense_data"] = _COUNTED
        expected["check_sample_weight_equivalence_on_sparse_data"] = _COUNTED
    if estimator.unlabeled == -1:
        expected["check_classifiers_classes"] = _MARKED
    return expected


@parametrize_with_checks(
    [
        LaplacianSVC(),
        LaplacianSVC(gamma_I=0, gamma=0.5, unlabeled=None, fit_intercept=True, tol=1e-12),
    ],
    expected_failed_checks=contradictions,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        LaplacianSVC(solver="cg"),
        LaplacianSVC(loss="hinge", smoothness=IteratedLaplacian(degree=1, normalized=False)),
        LaplacianSVC(gamma_I=0, kernel="precomputed", fit_intercept=True, unlabeled=None),
    ],
    expected_failed_checks=contradictions,
)
def test_scikit_learn_check_of_others(estimator, check):
    check(estimator)

"""GKMClassifier against convex solvers, NumPy by hand, and itself in other clothes."""

from __future__ import annotations

import tracemalloc

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC

from flat import parts
from graphkm import GKMClassifier
from graphkm.kernels import Cosine, Linear, Polynomial, SquaredExponential
from graphkm.losses import Logistic, SmoothHinge
from graphkm.theory import largest_C_graph

ACCURATE = {"C_graph": 0, "fit_intercept": False, "max_iter": 600_000, "precision": "double"}


def rbf_by_hand(X, Y, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


def minimum(K, signs, C, loss, edges=None, p=2):
    """Return f and J of the minimiser, from a convex solver over a root of K."""
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0))
    w = cp.Variable(len(K))
    f = root @ w
    m = cp.multiply(signs, f[: len(signs)])
    losses = {
        "hinge": lambda: cp.pos(1 - m),
        "logistic": lambda: cp.logistic(-m),
        # The parabola of width tau with straight arms is a Huber function of the positive part.
        "smooth_hinge": lambda: cp.huber(cp.pos(1 - m), 0.5) / (2 * 0.5),
    }
    J = 0.5 * cp.sum_squares(w) + cp.sum(cp.multiply(C, losses[loss]()))
    if edges is not None:
        u, v, weights = edges
        J += cp.sum(cp.multiply(weights, cp.power(cp.abs(f[u] - f[v]), p)))
    problem = cp.Problem(cp.Minimize(J))
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    return np.asarray(f.value), float(problem.value)


@pytest.fixture
def labelled(two):
    """Return the labelled rows only, their labels 0 and 1, and their kernel matrix."""
    X, y = two.X[:24], two.y[:24]
    return X, y, rbf_by_hand(X, X)


# ---------------------------------------------------------------------- the minimum


@pytest.mark.long
@pytest.mark.parametrize("step", ["explicit", "implicit"])
@pytest.mark.parametrize("loss", ["hinge", "smooth_hinge", "logistic"])
def test_without_graph_it_is_the_kernel_machine(loss, step, classifier, labelled):
    X, y, K = labelled
    clf = classifier(loss=loss, step=step, **ACCURATE).fit(X, y)
    f, _ = minimum(K, 2 * y - 1, 1.0, loss)
    np.testing.assert_allclose(clf.decision_function(X), f, atol=0.01)


@pytest.mark.long
def test_intercept_adds_one_to_the_kernel(classifier, labelled):
    X, y, K = labelled
    clf = classifier(**ACCURATE | {"fit_intercept": True}).fit(X, y)
    f, _ = minimum(K + 1, 2 * y - 1, 1.0, "hinge")
    np.testing.assert_allclose(clf.decision_function(X), f, atol=0.01)


@pytest.mark.long
def test_scale_of_the_loss_is_that_of_svc(classifier, two):
    """With the intercept inside the kernel, SVC solves the same problem but for its bias."""
    X = np.vstack([two.X, -two.X])  # symmetric, so that the bias of SVC is 0
    y = np.concatenate([two.truth, 1 - two.truth])
    clf = classifier(**ACCURATE | {"C": 0.3, "max_iter": 1_500_000}).fit(X, y)
    svc = SVC(C=0.3, gamma=0.5, tol=1e-6).fit(X, y)
    assert abs(svc.intercept_[0]) < 1e-4
    np.testing.assert_allclose(clf.decision_function(X), svc.decision_function(X), atol=0.02)


@pytest.mark.long
@pytest.mark.parametrize("p", [1, 2, 3])
def test_scale_of_the_graph_term(p, classifier, two):
    """J = 1/2 ||w||^2 + C sum loss + C_graph (l / |E|) sum mu |f_u - f_v|^p, to the letter."""
    n, X, y = 10, two.X[:30], np.where(np.arange(30) < 10, two.truth[:30], -1)
    rng = np.random.default_rng(0)
    W = np.triu(rng.uniform(0.1, 2.0, (30, 30)) * (rng.random((30, 30)) < 0.2), 1)
    W[:n, :n] = 0  # labelled pairs would be dropped
    u, v = np.nonzero(W)
    clf = classifier(
        C=2.0, C_graph=0.7, p=p, fit_intercept=False,
        max_iter=400_000, precision="double",
    ).fit(X, y, affinity=sp.csr_array(W + W.T))  # fmt: skip
    edges = u, v, 0.7 * n / len(u) * W[u, v]
    f, J = minimum(rbf_by_hand(X, X), 2 * y[:n] - 1, 2.0, "hinge", edges, p)
    without, _ = minimum(rbf_by_hand(X, X), 2 * y[:n] - 1, 2.0, "hinge")
    np.testing.assert_allclose(clf.decision_function(X), f, atol=0.03)
    assert np.abs(f - without).max() > 0.15  # the graph matters here
    assert 1 - 1e-6 < clf.objective_ / J < 1.2  # the run's average bounds it from above


# ---------------------------------------------------------------------- weights


@pytest.mark.long
def test_sample_weight_scales_the_loss_of_its_row(classifier, labelled):
    X, y, K = labelled
    weight = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    clf = classifier(**ACCURATE).fit(X, y, sample_weight=weight)
    f, _ = minimum(K, 2 * y - 1, weight, "hinge")
    equal, _ = minimum(K, 2 * y - 1, 1.0, "hinge")
    np.testing.assert_allclose(clf.decision_function(X), f, atol=0.02)
    assert np.abs(f - equal).max() > 0.1


def test_equal_weights_are_a_larger_loss(classifier, two):
    weighted = classifier(C=1.0).fit(two.X, two.y, sample_weight=np.full(80, 4.0))
    scaled = classifier(C=4.0).fit(two.X, two.y)
    np.testing.assert_allclose(
        weighted.decision_function(two.X), scaled.decision_function(two.X), rtol=1e-6
    )


def test_rows_of_weight_zero_have_no_loss(classifier, labelled):
    X, y, K = labelled
    weight = (np.arange(24) >= 8).astype(float)
    clf = classifier(**ACCURATE).fit(X, y, sample_weight=weight)
    f, _ = minimum(K[8:, 8:], 2 * y[8:] - 1, 1.0, "hinge")
    np.testing.assert_allclose(clf.decision_function(X[8:]), f, atol=0.01)
    assert not np.isin(np.arange(8), clf.support_).any()


def test_weights_of_unlabelled_rows_have_no_effect(classifier, two):
    weight = np.where(two.y < 0, 100.0, 1.0)
    np.testing.assert_array_equal(
        classifier().fit(two.X, two.y, sample_weight=weight).dual_coef_,
        classifier().fit(two.X, two.y).dual_coef_,
    )


def test_class_weight_is_a_sample_weight(classifier, three):
    weight = np.array([2.0, 0.5, 1.0, 7.0])[three.y]  # the last is that of -1, without effect
    np.testing.assert_array_equal(
        classifier(class_weight={0: 2.0, 1: 0.5}).fit(three.X, three.y).dual_coef_,
        classifier().fit(three.X, three.y, sample_weight=weight).dual_coef_,
    )


def test_class_weight_and_sample_weight_multiply(classifier, two):
    weight = np.random.default_rng(0).uniform(0.5, 2, 80)
    np.testing.assert_array_equal(
        classifier(class_weight={1: 3.0}).fit(two.X, two.y, sample_weight=weight).dual_coef_,
        classifier()
        .fit(two.X, two.y, sample_weight=weight * np.where(two.y == 1, 3.0, 1.0))
        .dual_coef_,
    )


def test_balanced_counts_labelled_rows_only(classifier, two):
    y = two.y.copy()
    y[np.flatnonzero(y == 1)[3:]] = -1  # 12 of class 0, 3 of class 1
    n = {c: (y == c).sum() for c in (0, 1)}
    by_hand = {c: (n[0] + n[1]) / (2 * n[c]) for c in (0, 1)}
    assert by_hand == {0: 0.625, 1: 2.5}
    np.testing.assert_array_equal(
        classifier(class_weight="balanced").fit(two.X, y).dual_coef_,
        classifier(class_weight=by_hand).fit(two.X, y).dual_coef_,
    )


# ---------------------------------------------------------------------- several classes


@pytest.mark.dear
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("graph", ["knn", "full", "bipartite"])
def test_one_vs_rest_is_a_binary_fit_per_class(graph, loss, classifier, three):
    X, y, _ = three
    clf = classifier(graph=graph, loss=loss).fit(X, y)
    scores = clf.decision_function(X)
    assert scores.shape == (90, 3)
    for c in range(3):
        one = classifier(graph=graph, loss=loss).fit(X, np.where(y < 0, -1, y == c))
        np.testing.assert_allclose(scores[:, c], one.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(clf.predict(X), scores.argmax(axis=1))
    assert clf.score(X, three.truth) > 0.6


def test_shapes_of_fitted_attributes(classifier, two, three):
    binary, many = classifier().fit(two.X, two.y), classifier().fit(three.X, three.y)
    m, k = len(binary.support_), len(many.support_)
    assert binary.dual_coef_.shape == (1, m)
    assert binary.intercept_.shape == (1,)
    assert binary.support_vectors_.shape == (m, 4)
    assert many.dual_coef_.shape == (3, k)
    assert many.intercept_.shape == (3,)
    assert binary.n_features_in_ == 4
    assert binary.n_iter_ == 400
    assert np.isfinite(many.objective_)
    np.testing.assert_array_equal(binary.support_vectors_, two.X[binary.support_])


def test_swapping_the_classes_flips_the_sign(classifier, two):
    f = classifier().fit(two.X, two.y).decision_function(two.X)
    swapped = classifier().fit(two.X, np.where(two.y < 0, -1, 1 - two.y))
    np.testing.assert_allclose(swapped.decision_function(two.X), -f, atol=1e-6)


# ---------------------------------------------------------------------- the model by hand


def cosine_by_hand(X, Y):
    norms = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
    return X @ Y.T / norms


def tanh_like(X, Y):
    return (1 + X @ Y.T) ** 2 / 10


KERNELS = {
    "rbf": ("rbf", rbf_by_hand),
    "laplacian": (
        "laplacian",
        lambda X, Y: np.exp(-0.5 * np.abs(X[:, None] - Y[None]).sum(axis=2)),
    ),
    "linear": ("linear", lambda X, Y: X @ Y.T),
    "poly": ("poly", lambda X, Y: (0.5 * X @ Y.T) ** 3),
    "cosine": ("cosine", cosine_by_hand),
    "sigma_f": (
        SquaredExponential(gamma=0.2, sigma_f=1.7),
        lambda X, Y: 1.7**2 * rbf_by_hand(X, Y, 0.2),
    ),
    "quadratic": (
        Polynomial(degree=2, gamma=0.3, coef0=1.0),
        lambda X, Y: (0.3 * X @ Y.T + 1) ** 2,
    ),
    "callable": (tanh_like, tanh_like),
}


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("name", KERNELS)
def test_attributes_reproduce_the_scores(name, storage, classifier, three):
    kernel, by_hand = KERNELS[name]
    if name == "callable" and storage is not np.asarray:
        pytest.skip("this function is written for arrays")
    X, new = three.X, np.random.default_rng(1).normal(size=(7, 4))
    clf = classifier(kernel=kernel, C_graph=0.01).fit(storage(X), three.y)
    centres = clf.support_vectors_
    centres = centres.toarray() if sp.issparse(centres) else centres
    np.testing.assert_array_equal(centres, X[clf.support_])
    f = by_hand(new, centres) @ clf.dual_coef_.T + clf.intercept_
    np.testing.assert_allclose(clf.decision_function(storage(new)), f, rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(clf.intercept_, clf.dual_coef_.sum(axis=1))


def test_precomputed_attributes_reproduce_the_scores(classifier, two):
    K = rbf_by_hand(two.X, two.X)
    new = rbf_by_hand(np.zeros((1, 4)), two.X)
    clf = classifier(kernel="precomputed", C_graph=0).fit(K, two.y)
    f = new[:, clf.support_] @ clf.dual_coef_.T + clf.intercept_
    np.testing.assert_allclose(clf.decision_function(new), f.ravel(), rtol=1e-5)
    assert clf.support_vectors_.shape == (len(clf.support_), 0)


def test_no_intercept_is_zero(classifier, two):
    assert classifier(fit_intercept=False).fit(two.X, two.y).intercept_.tolist() == [0.0]


@pytest.mark.parametrize("sparse", [False, True])
def test_precomputed_is_the_kernel_it_holds(sparse, classifier, two):
    W = sp.csr_array(np.where(rbf_kernel(two.X) > 0.3, rbf_kernel(two.X), 0.0))
    named = classifier().fit(two.X, two.y, affinity=W)
    K = rbf_by_hand(two.X, two.X)
    given = classifier(kernel="precomputed").fit(
        sp.csr_array(K) if sparse else K, two.y, affinity=W
    )
    np.testing.assert_array_equal(given.support_, named.support_)
    np.testing.assert_allclose(
        given.decision_function(K), named.decision_function(two.X), atol=1e-4
    )
    np.testing.assert_array_equal(given.transduction_, named.transduction_)


def test_callable_is_the_kernel_it_computes(classifier, two):
    named = classifier(kernel="laplacian").fit(two.X, two.y)
    given = classifier(kernel=lambda X, Y: laplacian_kernel(X, Y, gamma=0.5), weights="kernel")
    # Kernels without a gamma of their own take that of "scale" for the graph; name it.
    scale = 1 / (4 * two.X.var())
    given = given.set_params(graph__weights=scale).fit(two.X, two.y)
    named = clone(named).set_params(graph__weights=scale).fit(two.X, two.y)
    np.testing.assert_allclose(
        given.decision_function(two.X), named.decision_function(two.X), atol=1e-4
    )


def test_gamma_scale_and_auto_are_those_of_svc(classifier, two):
    by_hand = {"scale": 1 / (4 * two.X.var()), "auto": 1 / 4}
    for word, number in by_hand.items():
        clf = classifier(gamma=word).fit(two.X, two.y)
        assert clf.kernel_.gamma == pytest.approx(number)
        np.testing.assert_allclose(
            clf.decision_function(two.X),
            classifier(gamma=number).fit(two.X, two.y).decision_function(two.X),
            atol=1e-5,
        )


# ---------------------------------------------------------------------- probabilities


@pytest.mark.parametrize("problem", ["two", "three"])
def test_probabilities_of_huge_scores_are_finite(problem, classifier, request):
    X, y, _ = request.getfixturevalue(problem)
    clf = classifier(loss="logistic", kernel="linear", C=10, C_graph=0).fit(X, y)
    far = 1e6 * np.vstack([np.eye(4), -np.eye(4), np.ones((1, 4))])
    assert np.abs(clf.decision_function(far)).max() > 1e5
    P = clf.predict_proba(far)
    assert np.isfinite(P).all()
    assert np.isfinite(clf.predict_log_proba(far)).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)


def test_logistic_object_has_probabilities(classifier, two):
    clf = classifier(loss=Logistic()).fit(two.X, two.y)
    named = classifier(loss="logistic").fit(two.X, two.y)
    np.testing.assert_array_equal(clf.predict_proba(two.X), named.predict_proba(two.X))


# ---------------------------------------------------------------------- transduction, score


def test_transduction_keeps_given_labels(classifier, three):
    y = three.y.copy()
    first = np.flatnonzero(y == 0)[three.X[y == 0, 0].argmin()]
    y[first] = 2  # a wrong label far among right ones
    clf = classifier(gamma=0.01, max_iter=2000).fit(three.X, y)
    given = np.flatnonzero(y >= 0)
    assert clf.predict(three.X[[first]])[0] != y[first]
    np.testing.assert_array_equal(clf.transduction_[given], y[given])
    hidden = np.flatnonzero(y < 0)
    np.testing.assert_array_equal(clf.transduction_[hidden], clf.predict(three.X[hidden]))


def test_score_ignores_unlabelled_rows(classifier, two):
    clf = classifier().fit(two.X, two.y)
    y = two.truth.copy()
    y[::3] = -1
    shown = y >= 0
    assert clf.score(two.X, y) == np.mean(clf.predict(two.X[shown]) == y[shown])
    weight = np.random.default_rng(0).uniform(0, 2, 80)
    hits = clf.predict(two.X) == two.truth
    expected = (weight * hits)[shown].sum() / weight[shown].sum()
    assert clf.score(two.X, y, sample_weight=weight) == pytest.approx(expected)


# ---------------------------------------------------------------------- parameters


@pytest.mark.parametrize("p", [2, 3])
@pytest.mark.parametrize("graph", ["knn", "full", "precomputed"])
def test_guaranteed_is_just_below_the_limit(graph, p, classifier, two):
    affinity = 5.0 * rbf_kernel(two.X) if graph == "precomputed" else None
    options = {} if graph == "precomputed" else {"graph": graph}
    options |= {"step": "explicit"}
    clf = classifier(C_graph="guaranteed", C=0.5, p=p, **options)
    clf.fit(two.X, two.y, affinity=affinity)
    found = clf.guarantee_
    assert found.holds
    # The theorem's condition, written out: R = 1, A^2 = k(x, x) + 1, the paper's C is l C.
    a, b = found.C_graph * 2**p * p, 24 * 0.5 * np.sqrt(2)
    assert found.C == 12.0
    assert np.isclose(found.A, np.sqrt(2))
    condition = {2: a, 3: a * b / 0.25}[p]
    assert 0.95 < condition <= 1
    assert found.C_graph < largest_C_graph(found.C, p, 1.0, found.A)
    # The same number, passed by hand in the estimator's units, is the same model.
    heaviest = 1.0 if affinity is None else np.triu(affinity, 1)[:, 24:].max()
    number = found.C_graph / 24 / max(1.0, heaviest)
    same = classifier(C_graph=number, C=0.5, p=p, **options)
    same.fit(two.X, two.y, affinity=affinity)
    np.testing.assert_allclose(
        same.decision_function(two.X), clf.decision_function(two.X), atol=1e-6
    )


def test_guaranteed_below_two_is_the_loss_weight(classifier, two):
    clf = classifier(C_graph="guaranteed", C=0.5, p=1.5, step="explicit").fit(two.X, two.y)
    assert clf.guarantee_.C_graph == pytest.approx(24 * 0.5)
    assert clf.guarantee_.holds


def test_guarantee_of_too_large_a_graph_weight_fails(classifier, two):
    assert not classifier(C_graph=0.05, step="explicit").fit(two.X, two.y).guarantee_.holds


@pytest.mark.parametrize(
    "options",
    [{"step": "implicit"}, {"step": "explicit", "budget": 30}, {"solver": "newton", "C": 1.0}],
    ids=["implicit", "budget", "newton"],
)
def test_nothing_is_promised_that_nobody_proved(options, two):
    parameters = {"C_graph": 1e-4, "p": 2, "normalized": False} | options
    assert GKMClassifier(**parts(**parameters)).fit(two.X, two.y).guarantee_ is None


def test_guaranteed_takes_the_steps_of_the_theorem(two):
    clf = GKMClassifier(C_graph="guaranteed", random_state=0).fit(two.X, two.y)
    assert clf.plan_.solver.step == "explicit" and clf.guarantee_.holds


def test_automatic_number_of_steps_grows_with_the_rows(classifier):
    rng = np.random.default_rng(0)
    counts = []
    for n in (50, 5_000, 500_000):
        X = rng.normal(size=(n, 1)).astype(np.float32)
        y = np.full(n, -1)
        y[:4] = [0, 1, 0, 1]
        clf = classifier(max_iter="auto", C_graph=0, callback=lambda p: counts.append(p) or True)
        assert clf.fit(X, y).n_iter_ == counts[-1].n_iter  # stopped after one block
    asked = [count.max_iter for count in counts]
    assert asked == sorted(set(asked))
    assert asked[0] >= 500
    assert asked[-1] <= 500_000


def test_callback_sees_progress_and_stops(classifier, two):
    seen = []

    def stop(progress):
        seen.append(progress)
        return progress.n_iter >= 600

    clf = classifier(max_iter=100_000, callback=stop).fit(two.X, two.y)
    steps = [progress.n_iter for progress in seen]
    assert steps == sorted(set(steps))
    assert 600 <= steps[-1] < 50_000  # some blocks later, but soon
    assert clf.n_iter_ == steps[-1]
    assert {progress.max_iter for progress in seen} == {100_000}
    centres = [progress.n_centres for progress in seen]
    assert centres == sorted(centres)
    assert 0 < centres[-1] <= 80
    # A stopped fit is the fit with fewer steps.
    short = classifier(max_iter=steps[-1]).fit(two.X, two.y)
    np.testing.assert_array_equal(clf.dual_coef_, short.dual_coef_)


def test_callback_that_answers_nothing_does_not_stop(classifier, two):
    seen = []
    clf = classifier(callback=seen.append).fit(two.X, two.y)
    assert clf.n_iter_ == seen[-1].n_iter == 400


def test_verbose_shows_progress_on_stderr(classifier, two, capsys):
    classifier(verbose=0).fit(two.X, two.y)
    assert capsys.readouterr() == ("", "")
    classifier(verbose=1).fit(two.X, two.y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "400/400" in err
    assert "step" in err


@pytest.mark.parametrize(
    "kernel", [SquaredExponential(gamma=0.3), SquaredExponential(), Linear(), Cosine()]
)
@pytest.mark.parametrize("loss", [SmoothHinge(tau=0.2), Logistic()])
def test_objects_survive_clone_and_set_params(kernel, loss, classifier, two):
    clf = classifier(kernel=kernel, loss=loss)
    copy = clone(clf)
    assert copy.get_params() == clf.get_params()
    assert copy.kernel == kernel
    again = GKMClassifier().set_params(**clf.get_params())
    expected = clf.fit(two.X, two.y).decision_function(two.X)
    for other in (copy, again):
        np.testing.assert_array_equal(other.fit(two.X, two.y).decision_function(two.X), expected)
    assert clf.kernel is kernel  # fit changes no parameter


def test_an_open_gamma_of_a_kernel_object_is_the_estimators(classifier, two):
    opened = classifier(kernel=SquaredExponential(), gamma=0.3).fit(two.X, two.y)
    fixed = classifier(kernel=SquaredExponential(gamma=0.3), gamma=7.0).fit(two.X, two.y)
    np.testing.assert_array_equal(opened.dual_coef_, fixed.dual_coef_)


@pytest.mark.long
def test_tau_of_a_loss_object_matters(classifier, labelled):
    X, y, K = labelled
    half = classifier(loss=SmoothHinge(tau=0.5), **ACCURATE).fit(X, y).decision_function(X)
    wide = classifier(loss=SmoothHinge(tau=5.0), **ACCURATE).fit(X, y).decision_function(X)
    np.testing.assert_allclose(half, minimum(K, 2 * y - 1, 1.0, "smooth_hinge")[0], atol=0.01)
    assert np.abs(half - wide).max() > 0.1


# ---------------------------------------------------------------------- randomness, threads


def test_random_state(classifier, two):
    def model(random_state):
        return classifier(random_state=random_state).fit(two.X, two.y).dual_coef_

    np.testing.assert_array_equal(model(3), model(3))
    assert not np.array_equal(model(3), model(4))
    np.testing.assert_array_equal(model(3), model(np.random.RandomState(3)))
    stream = np.random.RandomState(3)
    first, second = model(stream), model(stream)  # an instance moves on
    np.testing.assert_array_equal(first, model(3))
    assert not np.array_equal(first, second)
    assert not np.array_equal(model(None), model(None))


@pytest.mark.long
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("graph", ["knn", "full", "bipartite", "epsilon"])
def test_threads_do_not_change_a_bit(graph, storage, classifier):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5)).astype(np.float32)
    X[np.abs(X) < 0.3] = 0
    y = np.where(np.arange(3000) < 900, rng.integers(3, size=3000), -1)
    one, two = (
        classifier(graph=graph, radius=0.7, max_iter=1500, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    if graph == "epsilon":
        with pytest.warns(UserWarning, match="no labelled point"):
            one.fit(storage(X), y)
        with pytest.warns(UserWarning, match="no labelled point"):
            two.fit(storage(X), y)
    else:
        one.fit(storage(X), y)
        two.fit(storage(X), y)
    np.testing.assert_array_equal(one.support_, two.support_)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(
        one.decision_function(storage(X)), two.decision_function(storage(X))
    )


# ---------------------------------------------------------------------- kinds of input


def test_float32_stays_float32(classifier, two):
    clf = classifier().fit(two.X.astype(np.float32), two.y)
    assert clf.support_vectors_.dtype == np.float32
    assert classifier().fit(two.X, two.y).support_vectors_.dtype == np.float64
    sparse = classifier().fit(sp.csr_array(two.X.astype(np.float32)), two.y)
    assert sparse.support_vectors_.dtype == np.float32


@pytest.mark.long
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_large_float32_rows_are_not_copied(kernel, classifier):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400_000, 20), dtype=np.float32)  # 32 MB; 64 MB as float64
    y = np.full(400_000, -1)
    y[:100] = np.arange(100) % 2
    clf = classifier(kernel=kernel, graph="bipartite", max_iter=256, gamma="scale", n_jobs=1)
    tracemalloc.start()
    try:
        clf.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes


@pytest.mark.dear
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "cosine"])
def test_sparse_is_dense(kernel, precision, classifier, three):
    X = np.where(np.abs(three.X) < 0.5, 0.0, three.X)
    kwargs = {"kernel": kernel, "C_graph": 0.01, "precision": precision}
    dense = classifier(**kwargs).fit(X, three.y)
    tolerance = 1e-3 if precision == "single" else 1e-9
    scores = []
    for storage in (sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_array):
        clf = classifier(**kwargs).fit(storage(X), three.y)
        assert sp.issparse(clf.support_vectors_)
        scores.append(clf.decision_function(storage(X)))
        np.testing.assert_allclose(
            scores[-1], dense.decision_function(X), rtol=tolerance, atol=tolerance
        )
        np.testing.assert_array_equal(scores[-1], scores[0])
        # Either kind of model takes either kind of rows.
        np.testing.assert_allclose(clf.decision_function(X), scores[0], atol=tolerance)
        np.testing.assert_allclose(
            dense.decision_function(storage(X)), dense.decision_function(X), atol=tolerance
        )


def test_single_and_double_precision_agree(classifier, two):
    single = classifier().fit(two.X, two.y).decision_function(two.X)
    double = classifier(precision="double").fit(two.X, two.y).decision_function(two.X)
    np.testing.assert_allclose(single, double, atol=1e-4)
    assert not np.array_equal(single, double)


@pytest.mark.parametrize("order", ["C", "F"])
def test_layout_of_rows_does_not_matter(order, classifier, two):
    wide = np.asarray(np.repeat(two.X, 2, axis=1), order=order)
    clf = classifier().fit(wide[:, ::2], two.y)
    np.testing.assert_array_equal(clf.dual_coef_, classifier().fit(two.X, two.y).dual_coef_)


def test_feature_names(classifier, two):
    frame = pd.DataFrame(two.X, columns=["a", "b", "c", "d"])
    clf = classifier().fit(frame, two.y)
    assert clf.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    expected = classifier().fit(two.X, two.y).decision_function(two.X)
    np.testing.assert_array_equal(clf.decision_function(frame), expected)


def test_integer_rows(classifier, two):
    X = np.round(3 * two.X).astype(np.int32)
    clf = classifier().fit(X, two.y)
    expected = classifier().fit(X.astype(float), two.y).decision_function(X)
    np.testing.assert_array_equal(clf.decision_function(X), expected)


def test_one_step(classifier, two):
    """The lemma's average of one step is w_1 = 0: nothing learnt, and nothing breaks."""
    clf = classifier(max_iter=1).fit(two.X, two.y)
    assert clf.n_iter_ == 1
    np.testing.assert_array_equal(clf.decision_function(two.X), np.zeros(80))


def test_everything_labelled_needs_no_graph(classifier, two):
    clf = classifier(C_graph=1.0).fit(two.X, two.truth)
    none = classifier(C_graph=0).fit(two.X, two.truth)
    np.testing.assert_array_equal(clf.dual_coef_, none.dual_coef_)


@pytest.mark.long
@pytest.mark.parametrize("graph", ["full", "bipartite", "knn"])
def test_edge_sampling_has_the_same_minimum(graph, classifier, two):
    kwargs = {"graph": graph, "C_graph": 5.0, "max_iter": 100_000, "precision": "double"}
    uniform, weight = (
        classifier(edge_sampling=rule, **kwargs).fit(two.X, two.y).decision_function(two.X)
        for rule in ("uniform", "weight")
    )
    none = classifier(**kwargs | {"C_graph": 0}).fit(two.X, two.y).decision_function(two.X)
    np.testing.assert_allclose(uniform, weight, atol=0.05)
    assert np.abs(uniform - none).max() > 0.2


# ---------------------------------------------------------------------- the point of it all


def test_unlabelled_rows_help_on_two_moons(classifier):
    def accuracy(seed, C_graph):
        X, truth = make_moons(200, noise=0.1, random_state=seed)
        rng = np.random.default_rng(seed)
        y = np.full(200, -1)
        for c in (0, 1):
            y[rng.choice(np.flatnonzero(truth == c), 3, replace=False)] = c
        clf = classifier(
            C_graph=C_graph, gamma=20.0, n_neighbors=8, fit_intercept=False,
            max_iter=20_000, random_state=seed,
        )  # fmt: skip
        hidden = y < 0
        return clf.fit(X, y).score(X[hidden], truth[hidden])

    alone = np.mean([accuracy(seed, 0) for seed in range(6)])
    helped = np.mean([accuracy(seed, 30.0) for seed in range(6)])
    assert helped > alone + 0.04
    assert helped > 0.92

"""Budgets: projection against plain least squares, and what a budget keeps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_moons

from flat import gkm_classifier
from graphkm import SGD, GKMRegressor
from graphkm._native import largest_columns, project_centres
from graphkm.kernels import Linear, SquaredExponential
from graphkm.solvers.budget import Budget
from graphkm.solvers.centres import Centres
from graphkm.streams.edges import Moment
from oracles import kernel_matrix

GAMMA = 0.6
CHUNK = 1000


def make_centres(rng, n, outputs=1, d=2, offset=0.0, dtype=np.float64, kernel=None, sparse=False):
    kernel = kernel or SquaredExponential(gamma=GAMMA)
    W = Centres(kernel, d, outputs, offset=offset, sparse=sparse, dtype=dtype, n_threads=1)
    rows = rng.normal(size=(n, d)).astype(dtype)
    A, B = rng.normal(size=(2, n, outputs))
    W.add(np.arange(n), csr_array(rows) if sparse else rows, A, B)
    return W, rows, A, B


def both_of(A, B, harmonic):
    return np.hstack([A, 2 * (harmonic * A - B)])


def importance(both):
    """Return how much centres matter: W's coefficients count a fifth of those of the average."""
    w, average = np.hsplit(both, 2)
    return ((0.2 * w) ** 2).sum(axis=1) + (average**2).sum(axis=1)


def distance(K_old, old, K_mixed, K_new, new):
    """Return ||sum old phi - sum new phi||^2, summed over columns."""
    return (
        np.einsum("ic,ij,jc->", old, K_old, old)
        - 2 * np.einsum("ic,ij,jc->", old, K_mixed, new)
        + np.einsum("ic,ij,jc->", new, K_new, new)
    )


# ---------------------------------------------------------------- one centre leaves


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_least_important_leaves(outputs):
    rng = np.random.default_rng(1)
    W, rows, A, B = make_centres(rng, 9, outputs)
    both = both_of(A, B, 1.5)
    least = int(np.argmin(importance(both)))
    Budget(8).enforce(W, 1.5)
    assert len(W) == 8 and least not in W.ids
    np.testing.assert_array_equal(W.rows, rows[W.ids])


def test_a_centre_matters_by_its_norm_in_feature_space():
    """The largest coefficient leaves: that of the shortest row of a linear kernel."""
    W = Centres(Linear(), 1, 1, offset=0.0, sparse=False, dtype=np.float64, n_threads=1)
    A = np.array([[2.0], [3.0], [1.0]])
    W.add(np.arange(3), np.array([[1.0], [0.1], [10.0]]), A, A)
    Budget(2).enforce(W, 2.0)
    assert W.ids.tolist() == [0, 2]


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_projection_is_least_squares_onto_the_nearest(offset):
    rng = np.random.default_rng(2)
    W, rows, A, B = make_centres(rng, 14, 2, offset=offset)
    both = both_of(A, B, 0.7)
    least = int(np.argmin(importance(both)))
    stay = np.delete(np.arange(14), least)
    K = kernel_matrix("rbf", rows, rows, gamma=GAMMA) + offset
    near = stay[np.argsort(-K[least, stay])[:8]]
    share = np.linalg.solve(K[np.ix_(near, near)], K[near, least])
    expected = np.hstack([A, B])
    expected[near] += share[:, None] * expected[least]
    Budget(13).enforce(W, 0.7)
    assert W.ids.tolist() == stay.tolist()
    np.testing.assert_allclose(W.sums, expected[stay], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projection_keeps_more_than_removal(dtype):
    """Of crowded centres half leave."""
    rng = np.random.default_rng(4)
    test = rng.normal(size=(50, 2)).astype(dtype)
    W, rows, _, _ = make_centres(np.random.default_rng(5), 200, dtype=dtype)
    sums = np.random.default_rng(6).uniform(0.0, 1.0, (200, 2))
    W.replace(W.ids, W.rows, sums)
    before = W.scores(test)
    Budget(100).enforce(W, 1.0)
    projected = np.abs(W.scores(test) - before).max() / np.abs(before).max()
    W.replace(W.ids, rows[W.ids], sums[W.ids])
    removed = np.abs(W.scores(test) - before).max() / np.abs(before).max()
    assert projected < 0.2 * removed
    assert projected < 0.02


def test_sparse_rows_and_other_kernels_are_projected():
    rng = np.random.default_rng(6)
    W, rows, A, _ = make_centres(rng, 20, kernel=Linear(), sparse=True)
    w = (A * rows).sum(axis=0)  # in two dimensions two centres say everything
    Budget(3).enforce(W, 1.0)
    np.testing.assert_allclose(W.sums[:, 0] @ W.rows.toarray(), w, rtol=1e-6)


# ---------------------------------------------------------------- estimators


def moons(n=3000):
    X, truth = make_moons(n, noise=0.15, random_state=0)
    y = np.where(np.random.default_rng(0).random(n) < 0.1, truth, -1)
    return X, y, truth


def classifier(**changes):
    given = {"C": 1.0, "C_graph": 0.1, "gamma": 2.0, "solver": "sgd", "random_state": 0}
    return gkm_classifier(**(given | changes))


@pytest.mark.dear
@pytest.mark.parametrize("chunk", [1, 90, 3000])
def test_a_stream_never_has_more_centres(chunk):
    X, y, _ = moons()
    model = classifier(budget=25, reservoir_size=100)
    for i in range(0, 120 if chunk == 1 else 3000, chunk):
        model.partial_fit(X[i : i + chunk], y[i : i + chunk], classes=[0, 1])
        assert len(model.stream_.W) <= 25 and len(model.support_vectors_) <= 25


@pytest.mark.dear
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_accuracy_survives_a_budget(how):
    X, y, truth = moons()
    free, bound = (getattr(classifier(budget=b), how)(X, y).score(X, truth) for b in (None, 60))
    assert bound > free - 0.02


@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_a_budget_that_is_never_reached_changes_only_rounding(how):
    X, y, _ = moons(300)
    given = {"precision": "double", "max_iter": 500}
    free, bound = (
        getattr(classifier(budget=b, **given), how)(X, y).decision_function(X) for b in (None, 300)
    )
    np.testing.assert_allclose(free, bound, atol=1e-10)


def test_a_fit_within_a_budget():
    X, y, _ = moons(500)
    model = classifier(budget=20, solver="auto").fit(X, y)
    assert len(model.support_) <= 20 and np.isnan(model.objective_)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    K = kernel_matrix("rbf", X, model.support_vectors_, gamma=2.0)
    np.testing.assert_allclose(model.decision_function(X), K @ model.dual_coef_[0], atol=1e-3)
    assert len(model.transduction_) == 500
    again = classifier(budget=20, solver="auto", n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, again.dual_coef_)
    sparse = classifier(budget=20).fit(csr_array(X), y)
    assert len(sparse.support_) <= 20


def test_three_classes_an_intercept_and_regression():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 2))
    y = np.where(rng.random(600) < 0.3, np.digitize(X[:, 0], [-0.5, 0.5]), -1)
    truth = np.digitize(X[:, 0], [-0.5, 0.5])
    model = classifier(budget=40, fit_intercept=True, C_graph=0.01, gamma=1.0)
    assert model.fit(X, y).score(X, truth) > 0.9
    assert model.partial_fit(X, y).score(X, truth) > 0.9
    regressor = GKMRegressor(solver=SGD(budget=40), gamma=1.0, random_state=0)
    target = np.where(y >= 0, np.sin(X[:, 0]), np.nan)
    assert regressor.fit(X, target).score(X, np.sin(X[:, 0])) > 0.9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": 0}, "budget must be a whole number >= 1"),
    ],
)
def test_budgets_that_make_no_sense(changes, message):
    X, y, _ = moons(100)
    with pytest.raises(ValueError, match=message):
        classifier(**changes).fit(X, y)


def test_no_budget_without_rows():
    X, y, _ = moons(100)
    model = classifier(budget=5, kernel="precomputed", C_graph=0)
    with pytest.raises(ValueError, match="needs the rows themselves"):
        model.fit(kernel_matrix("rbf", X, X, gamma=1.0), y)


# ---------------------------------------------------------------- long streams


@pytest.mark.parametrize("half_life", [None, 100.0])
def test_labels_that_count_stop_growing(half_life):
    """With a budget l is the stream's own up to so many labels, and stays there."""
    X, y, _ = moons(100)
    free, bound = (
        classifier(budget=b, half_life=half_life).partial_fit(X, y, classes=[0, 1]).stream_
        for b in (None, 3)
    )
    limit = 16 * 3
    labels = np.array([1, limit, limit + 1, 10**7])
    at = Moment(np.arange(4), labels, np.zeros(4, np.int64))
    expected = np.minimum(labels, np.inf if half_life is None else half_life / np.log(2))
    np.testing.assert_allclose(free._counted(at), expected, rtol=1e-12)
    np.testing.assert_allclose(bound._counted(at), np.minimum(expected, limit), rtol=1e-12)


def endless(kind, n):
    """Return rows and targets of a stream that does not change."""
    rng = np.random.default_rng(1000 + n)
    X = rng.normal(size=(CHUNK, 10 if kind == "waves" else 4))
    if kind == "waves":
        return X, (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int), rng
    if kind == "bands":
        return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-1, 0, 1]), rng
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int), rng


def long_run(kind, **given):
    """Return the accuracy on new rows after 50,000 rows and after a million."""
    model, scores = gkm_classifier(random_state=0, budget=500, **given), []
    test = [endless(kind, -n)[:2] for n in range(1, 6)]
    X_test, truth = (np.concatenate(part) for part in zip(*test, strict=True))
    for n in range(1_000_000 // CHUNK):
        X, y, rng = endless(kind, n)
        y = np.where(rng.random(CHUNK) < 0.1, y, -1)
        model.partial_fit(X, y, classes=np.unique(truth))
        if (n + 1) * CHUNK in (50_000, 1_000_000):
            scores.append(model.score(X_test, truth))
    return scores


@pytest.mark.dear
@pytest.mark.parametrize("kind", ["waves", "line"])
def test_new_rows_do_not_drive_out_the_average(kind):
    """While l grows, every block has new centres with large coefficients, which once stayed."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(16_000, 10 if kind == "waves" else 50)).astype(np.float32)
    score = np.sin(2 * X[:, 0]) if kind == "waves" else X[:, 1] + rng.normal(size=len(X))
    y = (score + X[:, 1 if kind == "waves" else 0] > 0).astype(int)
    model, scores = gkm_classifier(random_state=0, budget=1000, C_graph=0), []
    for n in range(0, 14_000, 500):
        model.partial_fit(X[n : n + 500], y[n : n + 500], classes=[0, 1])
        scores.append(model.score(X[14_000:], y[14_000:]))
    assert scores[-1] > max(scores) - 0.02


@pytest.mark.slow
@pytest.mark.parametrize("half_life", [None, 20_000.0])
@pytest.mark.parametrize("C_graph", ["auto", 0])
@pytest.mark.parametrize("kind", ["saddle", "waves"])
def test_a_million_rows_do_not_cost_accuracy(kind, C_graph, half_life):
    early, late = long_run(kind, C_graph=C_graph, half_life=half_life)
    assert early > 0.8 and late > early - 0.01


@pytest.mark.slow
def test_a_million_rows_of_four_classes():
    early, late = long_run("bands", C_graph=0)
    assert early > 0.75 and late > early - 0.01


# ---------------------------------------------------------------- bindings


def test_largest_columns_in_order():
    values = np.array([[1.0, 3.0, 3.0, 2.0]], np.float32)
    out = np.empty((1, 3), np.int32)
    largest_columns(values, out)
    assert out.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_largest_columns_puts_what_is_no_number_last(dtype):
    rng = np.random.default_rng(8)
    values = rng.integers(0, 5, size=(40, 60)).astype(dtype)
    values[rng.random(values.shape) < 0.3] = np.nan
    out = np.empty(values.shape, np.int32)
    largest_columns(values, out)
    np.testing.assert_array_equal(out, np.argsort(-values, axis=1, kind="stable"))


def test_bindings_check_their_arguments():
    f8, i4 = np.zeros((2, 2)), np.zeros((2, 1), np.int32)
    wrong = np.zeros((3, 2))
    with pytest.raises(ValueError, match="more columns"):
        largest_columns(f8, np.zeros((2, 3), np.int32))
    with pytest.raises(ValueError, match="out has 3"):
        largest_columns(f8, np.zeros((3, 1), np.int32))
    good = [f8[:, :1].copy(), i4, f8, 1e-8, f8, f8.copy()]
    project_centres(*good)
    for at, bad in ((1, i4 + 2), (1, i4 - 1), (2, wrong), (4, wrong), (5, wrong)):
        with pytest.raises(ValueError):
            project_centres(*(bad if i == at else x for i, x in enumerate(good)))
    with pytest.raises(TypeError):
        project_centres(*(x.astype(np.float32) if i == 0 else x for i, x in enumerate(good)))

"""Sums over rows: literal least squares, the order and cut of rows, forgetting, and drift."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.validation import check_is_fitted

from graphkm import GKMClassifier, GKMRegressor, Sums
from graphkm.exchange import load_model, save_model
from graphkm.kernels import SquaredExponential
from graphkm.ridge import sums
from graphkm.streams.landmarks import LandmarkSet
from stream_oracle import kernel_matrix

GAMMA = 0.7


def make_rows(n, seed=0, share=0.5, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    truth = (X[:, 0] * X[:, 1] > 0).astype(int)
    return X, np.where(rng.random(n) < share, truth, -1), truth


def stream(model, X, y, size=10**9, **given):
    for i in range(0, len(y), size):
        model.partial_fit(X[i : i + size], y[i : i + size], **given)
    return model


def classifier(m=20, half_life=None, **changes):
    given = {"C": 3.0, "gamma": GAMMA, "precision": "double", "random_state": 1} | changes
    return GKMClassifier(solver=Sums(m, half_life), **given)


def literal(model, X, y, weights, C):
    """Return scores at X of the least squares over the model's own landmarks, written out."""
    S = X[model.support_]
    K, P = kernel_matrix("rbf", X, S, gamma=GAMMA), kernel_matrix("rbf", S, S, gamma=GAMMA)
    known = y >= 0
    A, t, w = K[known], np.where(y[known] == 1, 1.0, -1.0), weights[known]
    a = np.linalg.solve(P + C * A.T @ (w[:, None] * A), C * A.T @ (w * t))
    return K @ a


# ---------------------------------------------------------------- the functions


def some_sums(seed, n=30, m=4, outputs=2):
    rng = np.random.default_rng(seed)
    A, Y, w = rng.normal(size=(n, m)), rng.normal(size=(n, outputs)), rng.uniform(0, 2, n)
    return A, Y, w, sums.add_rows(sums.no_rows(m, outputs), A, Y, w)


def test_sums_are_what_they_say():
    A, Y, w, found = some_sums(0)
    np.testing.assert_allclose(np.triu(found.gram), np.triu(A.T @ (w[:, None] * A)), rtol=1e-12)
    np.testing.assert_allclose(found.cross, A.T @ (w[:, None] * Y), rtol=1e-12)
    np.testing.assert_allclose(found.squares, (w[:, None] * Y**2).sum(axis=0), rtol=1e-12)
    assert found.weight == pytest.approx(w.sum()) and found.n_rows == 30
    assert sums.add_rows(found, A[:0], Y[:0], w[:0]) is found


def test_add_scale_leading_and_transformed():
    A, Y, w, whole = some_sums(1)
    parts = [sums.add_rows(sums.no_rows(4, 2), A[p], Y[p], w[p]) for p in (slice(9), slice(9, 30))]
    T = np.random.default_rng(2).normal(size=(4, 3))
    expected = {
        "add": (sums.add(*parts), (A, Y, w)),
        "scale": (sums.scale(whole, 0.25), (A, Y, 0.25 * w)),
        "leading": (sums.leading(whole, 2), (A[:, :2], Y, w)),
        "transformed": (sums.transformed(whole, T), (A @ T, Y, w)),
    }
    for found, rows in expected.values():
        again = sums.add_rows(sums.no_rows(rows[0].shape[1], 2), *rows)
        np.testing.assert_allclose(np.triu(found.gram), np.triu(again.gram), rtol=1e-10)
        np.testing.assert_allclose(found.cross, again.cross, rtol=1e-10)
        np.testing.assert_allclose(found.squares, again.squares, rtol=1e-10)
        assert found.weight == pytest.approx(again.weight)
    assert sums.scale(whole, 1.0) is whole


def test_no_function_changes_its_arrays():
    A, Y, w, found = some_sums(3)
    before = [np.copy(part) for part in found]
    P = np.eye(4)
    sums.add_rows(found, A, Y, w)
    sums.solve(found, P, 2.0)
    sums.choose_C(found, found, P)
    for part, was in zip(found, before, strict=True):
        np.testing.assert_array_equal(part, was)


def test_solve_and_squared_error_are_literal():
    A, Y, w, found = some_sums(4)
    M = np.random.default_rng(5).normal(size=(4, 4))
    P = M @ M.T
    a = sums.solve(found, P, 0.3)
    gradient = P @ a - 0.3 * A.T @ (w[:, None] * (Y - A @ a))
    assert np.abs(gradient).max() < 1e-10
    assert sums.squared_error(found, a) == pytest.approx((w[:, None] * (Y - A @ a) ** 2).sum())


def test_a_singular_matrix_is_solved_too():
    A, Y, w = np.ones((5, 3)), np.full((5, 1), 2.0), np.ones(5)
    found = sums.add_rows(sums.no_rows(3, 1), A, Y, w)
    a = sums.solve(found, np.ones((3, 3)), 1e9)
    np.testing.assert_allclose(A @ a, Y, rtol=1e-3)


def test_C_is_that_of_a_literal_search():
    """The chosen C is as good, for the halves, as the best of a fine grid."""
    rng = np.random.default_rng(7)
    A = rng.normal(size=(400, 5))
    Y = A @ rng.normal(size=(5, 1)) + 5 * rng.normal(size=(400, 1))
    halves = [
        sums.add_rows(sums.no_rows(5, 1), A[p], Y[p], np.ones(200))
        for p in (slice(200), slice(200, 400))
    ]

    def error(C):
        return sum(
            sums.squared_error(judge, sums.solve(fitted, np.eye(5), C))
            for fitted, judge in (halves, halves[::-1])
        )

    best = min(error(C) for C in np.logspace(-6, 6, 200))
    assert error(sums.choose_C(*halves, np.eye(5))) < best * (1 + 1e-3)


@pytest.mark.parametrize(("n", "chosen"), [(19, False), (20, True)])
def test_few_labels_choose_nothing(n, chosen):
    A, Y, w, _ = some_sums(8, n=n)
    judges = np.arange(n) % 2 == 0
    halves = [sums.add_rows(sums.no_rows(4, 2), A[j], Y[j], w[j]) for j in (judges, ~judges)]
    assert (sums.choose_C(*halves, 2 * np.eye(4)) != 5.0) == chosen


# ---------------------------------------------------------------- a stream is least squares


@pytest.mark.dear
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("n", [10, 79, 80, 2000])  # before landmarks are fixed, and after
def test_a_stream_is_literal_least_squares(n, form):
    X, y, _ = make_rows(n)
    weights = np.random.default_rng(1).uniform(0, 2, n)
    model = classifier()
    rows = csr_array(X) if form == "csr" else X
    for i in range(0, n, 300):
        part = slice(i, i + 300)
        model.partial_fit(rows[part], y[part], classes=[0, 1], sample_weight=weights[part])
    found = model.decision_function(rows)
    np.testing.assert_allclose(found, literal(model, X, y, weights, 3.0), rtol=0, atol=1e-7)
    assert model.C_ == 3.0 and len(model.support_) == min(n, 20)


def test_all_rows_as_landmarks_are_kernel_ridge_regression():
    X, y, _ = make_rows(60, share=2.0)
    model = stream(classifier(m=60), X, y, 7, classes=[0, 1])
    oracle = KernelRidge(alpha=1 / 3.0, kernel="rbf", gamma=GAMMA).fit(X[:60], 2 * y - 1)
    # Half of the landmarks are labelled rows at most, and here all rows have labels.
    assert len(model.support_) == 30
    whole = GKMClassifier(3.0, gamma=GAMMA, solver=Sums(60), precision="double", random_state=0)
    np.testing.assert_allclose(whole.fit(X, y).decision_function(X), oracle.predict(X), atol=1e-8)


def test_the_order_of_rows_changes_only_rounding():
    """With landmarks given by the first rows, the others may come in any order."""
    X, y, _ = make_rows(1500)
    order = np.random.default_rng(3).permutation(np.arange(80, 1500))
    fixed = [stream(classifier(), X[:80], y[:80], classes=[0, 1]) for _ in range(2)]
    a, b = (
        stream(model, *rows, 50).decision_function(X)
        for model, rows in zip(fixed, ((X[80:], y[80:]), (X[order], y[order])), strict=True)
    )
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(fixed[0].support_, fixed[1].support_)


@pytest.mark.long
@settings(deadline=None, max_examples=20)
@given(
    cuts=st.lists(st.integers(1, 699), max_size=6, unique=True),
    half_life=st.none() | st.floats(20.0, 1000.0),
    C=st.sampled_from(["auto", 2.0]),
)
def test_the_cut_into_chunks_changes_only_rounding(cuts, half_life, C):
    X, y, _ = make_rows(700, seed=4)
    X[350:] += 3.0
    whole = classifier(C=C, half_life=half_life).partial_fit(X, y, classes=[0, 1])
    cut = classifier(C=C, half_life=half_life)
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), 700], strict=True):
        cut.partial_fit(X[first:last], y[first:last], classes=[0, 1])
        cut.predict(X[:1])  # asking changes nothing
    np.testing.assert_array_equal(whole.support_, cut.support_)
    np.testing.assert_allclose(
        whole.decision_function(X), cut.decision_function(X), rtol=0, atol=1e-8
    )


@pytest.mark.long
@settings(deadline=None, max_examples=20)
@given(
    cuts=st.lists(st.integers(51, 699), max_size=6, unique=True),
    half_life=st.none() | st.floats(20.0, 1000.0),
    C=st.sampled_from(["auto", 2.0]),
)
def test_the_cut_after_the_first_chunk_changes_no_bit(cuts, half_life, C):
    """The first chunk's mean row is subtracted from all rows: only its cut changes rounding."""
    X, y, _ = make_rows(700, seed=4)
    X[350:] += 3.0
    whole, cut = (classifier(C=C, half_life=half_life) for _ in range(2))
    for model, ends in ((whole, [50, 700]), (cut, [50, *sorted(cuts), 700])):
        for first, last in zip([0, *ends], ends, strict=False):
            model.partial_fit(X[first:last], y[first:last], classes=[0, 1])
            model.predict(X[: 1 + (model is cut)])
    np.testing.assert_array_equal(whole.dual_coef_, cut.dual_coef_)
    np.testing.assert_array_equal(whole.support_, cut.support_)


@pytest.mark.long
def test_C_is_chosen_at_fixed_moments():
    """When there are a quarter more labels, from the rows so far, whoever asks in between."""
    X, y, _ = make_rows(600, seed=30)
    often, seldom = classifier(C="auto"), classifier(C="auto")
    found = {}
    for i in range(600):
        often.partial_fit(X[[i]], y[[i]], classes=[0, 1])
        if i >= 79 and i % 3 == 0:
            found[int((y[: i + 1] >= 0).sum())] = often.C_
    seldom.partial_fit(X[:1], y[:1], classes=[0, 1]).partial_fit(X[1:], y[1:])
    assert seldom.C_ == often.C_
    # The landmarks are chosen after 80 rows, and looked at after 160 and 320.
    looks, moments, n = [int((y[:k] >= 0).sum()) for k in (80, 160, 320)], [], 0
    while not moments or moments[-1] < max(found):
        n = looks[0] if not moments else int(np.ceil(1.25 * moments[-1]))
        moments.append(min([n, *(k for k in looks if moments and k > moments[-1])]))
    changes = {int(np.searchsorted(moments, n, "right")) for n in found}
    assert len(set(found.values())) == len(changes)
    at = moments[-2]  # against literal halves of these rows, with the same landmarks
    known = np.flatnonzero(y >= 0)[:at]
    judges = sums.half_of(known)
    S = X[often.stream_.landmarks.ids]
    P = kernel_matrix("rbf", S, S, gamma=GAMMA)
    halves = [(kernel_matrix("rbf", X[k], S, gamma=GAMMA), 2.0 * y[k] - 1)
              for k in (known[judges], known[~judges])]  # fmt: skip

    def error(C):
        return sum(
            ((t - K @ np.linalg.solve(P / C + A.T @ A, A.T @ b)) ** 2).sum()
            for (A, b), (K, t) in (halves, halves[::-1])
        )

    best = min(error(C) for C in np.logspace(-4, 6, 200))
    C = found[min(n for n in found if n >= at)]
    assert error(C / 3.0) < best * (1 + 1e-2)  # classes take three times as much


def test_forgetting_is_weighing_by_age():
    X, y, _ = make_rows(1500, seed=5)
    model = stream(classifier(half_life=200.0), X, y, 130, classes=[0, 1])
    weights = 2.0 ** (-(1499 - np.arange(1500)) / 200.0)
    found = model.decision_function(X)
    np.testing.assert_allclose(found, literal(model, X, y, weights, 3.0), rtol=0, atol=1e-7)


def test_rows_without_labels_age_the_others():
    X, y, _ = make_rows(400, seed=6)
    model = classifier(half_life=50.0).partial_fit(X, y, classes=[0, 1])
    before = model.decision_function(X)
    later = model.partial_fit(X[:200], np.full(200, -1)).decision_function(X)
    assert np.abs(later).max() < np.abs(before).max()


# ---------------------------------------------------------------- targets and rows of all kinds


def test_classes_and_words():
    X, _, _ = make_rows(3000, seed=7, d=2)
    codes = np.digitize(X[:, 0], [-0.5, 0.5])
    words = np.array(["low", "middle", "high"])[codes].astype(object)
    known = np.random.default_rng(0).random(3000) < 0.2
    model = GKMClassifier(solver=Sums(60), unlabeled=None, random_state=0)
    stream(model, X, np.where(known, words, None), 500, classes=["low", "middle", "high"])
    assert model.score(X, words) > 0.95
    assert model.dual_coef_.shape == (3, len(model.support_))
    numbers = GKMClassifier(solver=Sums(60), random_state=0)
    order = {"high": 0, "low": 1, "middle": 2}
    coded = np.array([order[word] for word in words])
    stream(numbers, X, np.where(known, coded, -1), 500, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.dual_coef_, numbers.dual_coef_)


@pytest.mark.long
@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_the_units_of_y_do_not_matter(factor):
    X, _, _ = make_rows(1200, seed=8)
    truth = np.sin(X[:, 0]) + X[:, 1]
    y = np.where(np.arange(1200) % 3 == 0, truth, np.nan)

    def predictions(y):
        model = GKMRegressor(solver=Sums(80), random_state=0)
        for i in range(0, 1200, 5):  # the spread follows the first ten targets
            model.partial_fit(X[i : i + 5], y[i : i + 5])
        return model.predict(X)

    plain = predictions(y)
    assert np.corrcoef(plain, truth)[0, 1] > 0.98
    np.testing.assert_allclose(predictions(factor * y) / factor, plain, rtol=1e-4, atol=1e-4)


def test_single_precision_says_nearly_the_same():
    X, y, truth = make_rows(4000, seed=9)
    models = [stream(classifier(m=100, precision=p, C="auto"), X, y, 500, classes=[0, 1])
              for p in ("single", "double")]  # fmt: skip
    scores = [model.decision_function(X) for model in models]
    assert np.mean((scores[0] > 0) == (scores[1] > 0)) > 0.995
    assert models[0].score(X, truth) > 0.9
    single = stream(classifier(m=100, precision="single"), X.astype(np.float32), y, classes=[0, 1])
    assert single.stream_.kept.rows.dtype == np.float32


def test_copies_of_one_row():
    X, y, truth = make_rows(300, seed=10)
    X, y, truth = (np.repeat(part, 10, axis=0) for part in (X, y, truth))
    model = stream(classifier(m=50, C="auto"), X, y, 100, classes=[0, 1])
    known = y >= 0
    assert model.score(X[known], truth[known]) > 0.8
    assert len(np.unique(model.support_vectors_, axis=0)) == len(model.support_)


def test_ten_times_as_many_rows_are_not_worse():
    X, y, _ = make_rows(40_000, seed=11, share=0.1, d=4)
    new, _, truth = make_rows(4000, seed=12, d=4)
    model = GKMClassifier(solver=Sums(100), random_state=0)
    scores = []
    for i in range(0, 40_000, 4000):
        model.partial_fit(X[i : i + 4000], y[i : i + 4000], classes=[0, 1])
        scores.append(model.score(new, truth))
    assert scores[-1] > scores[0] and min(np.diff(scores)) > -0.02


# ---------------------------------------------------------------- drift


def shifted_stream(n=6000, at=3000, by=6.0):
    X, y, truth = make_rows(n, seed=13, share=0.3, d=2)
    X[at:] += by
    return X, y, truth


def test_landmarks_follow_a_drift():
    X, y, truth = shifted_stream()
    model = stream(classifier(m=60, half_life=500.0, C="auto"), X, y, 400, classes=[0, 1])
    assert (model.support_ >= 3000).mean() > 0.4
    assert model.score(X[-1000:], truth[-1000:]) > 0.9


def test_a_stream_that_does_not_change_keeps_its_landmarks():
    X, y, _ = make_rows(6000, seed=14, share=0.3, d=2)
    for half_life in (None, 500.0):
        model = stream(classifier(m=60, half_life=half_life), X, y, 400, classes=[0, 1])
        assert (model.support_ < 240).all()


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 10])
@pytest.mark.parametrize(("m", "most"), [(20, 0.01), (100, 0.0), (1000, 0.0)])
@pytest.mark.parametrize("forgets", [False, True])
def test_false_alarms_of_drift_are_rare(monkeypatch, forgets, m, most, d):
    """Of the looks at landmarks, over 50 streams that do not change."""
    looks, real = [], LandmarkSet.renewed

    def renewed(self, *given):
        looks.append(real(self, *given))
        return looks[-1]

    monkeypatch.setattr(LandmarkSet, "renewed", renewed)
    n = 64 * m
    for seed in range(50):
        X, y, _ = make_rows(n, seed=seed, share=min(0.1, 500 / n), d=d)
        half_life = 8.0 * m if forgets else None
        model = GKMClassifier(2.0, solver=Sums(m, half_life), random_state=seed)
        model.partial_fit(X, y, classes=[0, 1])
    assert np.mean([change is not None for change in looks]) <= most and len(looks) >= 200


def test_classes_that_change_places_are_forgotten():
    X, y, truth = make_rows(6000, seed=15, share=0.2, d=2)
    y[3000:], truth[3000:] = np.where(y[3000:] < 0, -1, 1 - y[3000:]), 1 - truth[3000:]
    last = slice(5000, 6000)
    new, old = (
        stream(classifier(m=60, half_life=h, C="auto"), X, y, 500, classes=[0, 1]).score(
            X[last], truth[last]
        )
        for h in (300.0, None)
    )
    assert new > 0.9 > old


def test_a_projection_keeps_functions_of_the_old_span():
    rng = np.random.default_rng(16)
    rows = rng.normal(size=(40, 2))
    old = LandmarkSet(SquaredExponential(gamma=0.1), 0.0, rows, np.arange(40), 1)
    far = rng.normal(size=(40, 2)) + 5.0
    change = old.renewed(far, np.arange(40, 80))
    assert change is not None and len(change.landmarks) == 40
    stay = np.setdiff1d(np.arange(40), change.slots)
    np.testing.assert_array_equal(change.landmarks.ids[stay], stay)
    T = old.projection(change, 40)
    np.testing.assert_array_equal(T[:, stay], np.eye(40)[:, stay])
    np.testing.assert_allclose(old.gram @ T[:, change.slots], change.entering, atol=1e-3)
    assert old.renewed(rows + 0.01, np.arange(40, 80)) is None


def test_landmarks_that_no_row_is_near_to_are_replaced():
    """No row is far from all landmarks, but half of the landmarks are far from all rows."""
    rng = np.random.default_rng(31)
    rows = rng.normal(size=(40, 2))
    rows[::2] += 9.0
    old = LandmarkSet(SquaredExponential(gamma=0.1), 0.0, rows, np.arange(40), 1)
    new = rng.normal(size=(60, 2)) + 9.0
    change = old.renewed(new, np.arange(40, 100))
    assert change is not None and (change.slots % 2 == 1).sum() == 20
    assert (change.landmarks.ids[1::2] >= 40).all()
    assert old.renewed(new[:39], np.arange(40, 79)) is None  # fewer rows than landmarks


@pytest.mark.parametrize("n", [19, 20])
def test_few_rows_show_no_drift(n):
    rows = np.random.default_rng(17).normal(size=(40, 2))
    old = LandmarkSet(SquaredExponential(gamma=0.1), 0.0, rows, np.arange(40), 1)
    assert (old.renewed(rows[:n] + 9.0, np.arange(40, 40 + n)) is not None) == (n >= 20)


# ---------------------------------------------------------------- calls


def test_nothing_is_solved_before_it_is_asked_for(monkeypatch):
    from graphkm.streams import sums as sums_stream

    X, y, _ = make_rows(500, seed=18)
    model = stream(classifier(), X, y, 100, classes=[0, 1])
    calls, real = [], sums_stream.solve
    monkeypatch.setattr(sums_stream, "solve", lambda *given: calls.append(1) or real(*given))
    stream(model, X, y, 100)
    assert not calls
    model.predict(X)
    model.decision_function(X)
    assert len(calls) == 1 and len(model.support_vectors_) == 20


def test_asking_what_a_model_has_starts_no_work(monkeypatch):
    from graphkm.streams import sums as sums_stream

    X, y, _ = make_rows(500, seed=18)
    model = stream(classifier(), X, y, 100, classes=[0, 1])
    calls = []
    for place, name in ((sums_stream, "solve"), (sums_stream.SumsStream, "held_out")):
        monkeypatch.setattr(place, name, lambda *given: calls.append(given))
    for name in ("predict_proba", "predict_log_proba", "partial_fit", "predict", "stream_"):
        assert hasattr(model, name)
    assert not hasattr(model, "coef_") and not hasattr(model, "_coef")
    check_is_fitted(model)
    assert repr(model) and not calls
    monkeypatch.undo()
    assert model.predict_proba(X).shape == (500, 2)


def test_a_model_that_is_not_fitted_has_no_function():
    for name in ("expansion_", "support_", "support_vectors_", "dual_coef_", "C_", "calibration_"):
        with pytest.raises(
            AttributeError, match=f"'GKMClassifier' object has no attribute '{name}"
        ):
            getattr(classifier(), name)


SOLVED = ("expansion_", "support_", "support_vectors_", "dual_coef_", "intercept_", "C_")


def refuse(*_):
    raise AssertionError("work was started")


def test_asking_for_f_starts_no_work_before_there_is_anything_to_solve(monkeypatch):
    from graphkm.streams import sums as sums_stream

    X, _, _ = make_rows(500, seed=18)
    monkeypatch.setattr(sums_stream, "solve", refuse)
    monkeypatch.setattr(sums_stream, "leave_one_out", refuse)
    monkeypatch.setattr(sums_stream.LandmarkSet, "values", refuse)
    monkeypatch.setattr(sums_stream.LandmarkSet, "distinct", refuse)
    assert not any(hasattr(classifier(), name) for name in (*SOLVED, "calibration_"))
    model = classifier().partial_fit(X[:50], np.full(50, -1), classes=[0, 1])
    assert all(hasattr(model, name) for name in (*SOLVED, "calibration_"))
    assert len(model.support_) == 0


def test_the_first_of_the_solved_attributes_that_is_asked_for_solves_for_all(monkeypatch):
    from graphkm.streams import sums as sums_stream

    X, y, _ = make_rows(500, seed=18)
    model = stream(classifier(), X, y, 100, classes=[0, 1])
    calls, real = [], sums_stream.solve
    monkeypatch.setattr(sums_stream, "solve", lambda *given: calls.append(1) or real(*given))
    assert not set(SOLVED) & vars(model).keys() and not calls  # who looks here starts no work
    assert all(hasattr(model, name) for name in SOLVED)
    model.predict(X)
    assert len(calls) == 1 and set(SOLVED) <= vars(model).keys()


def test_rows_without_labels_come_first():
    X, y, truth = make_rows(400, seed=19)
    model = classifier(C="auto").partial_fit(X[:200], np.full(200, -1), classes=[0, 1])
    assert len(model.support_) == 0 and (model.decision_function(X) == 0).all()
    assert model.partial_fit(X[200:], y[200:]).score(X, truth) > 0.7


def test_copies_and_files_go_on_alike(tmp_path):
    X, y, _ = make_rows(1000, seed=21)
    for n in (50, 600):  # before and after landmarks are fixed
        model = stream(classifier(C="auto", half_life=300.0), X[:n], y[:n], 200, classes=[0, 1])
        save_model(model, tmp_path / "a")
        others = [
            pickle.loads(pickle.dumps(model)),
            copy.deepcopy(model),
            load_model(tmp_path / "a"),
        ]
        for each in (model, *others):
            stream(each, X[n:], y[n:], 200)
        for other in others:
            np.testing.assert_array_equal(model.dual_coef_, other.dual_coef_)
            np.testing.assert_array_equal(model.predict(X), other.predict(X))
        for i, each in enumerate((model, *others)):
            save_model(each, tmp_path / f"{i}")
        assert len({(tmp_path / f"{i}").read_bytes() for i in range(4)}) == 1


@pytest.mark.parametrize("begun", [False, True])
def test_a_call_that_fails_changes_nothing(monkeypatch, begun):
    from graphkm.streams import sums as sums_stream

    X, y, _ = make_rows(2000, seed=22)
    n = 500 if begun else 40
    model = classifier(half_life=400.0).partial_fit(X[:n], y[:n], classes=[0, 1])
    twin = copy.deepcopy(model)
    bad = X[n:].copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError):
        model.partial_fit(bad, y[n:])
    real, calls = sums_stream.add_rows, []

    def interrupted(*given):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(sums_stream, "add_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[n:], y[n:])
    monkeypatch.undo()
    for each in (model, twin):
        stream(each, X[n:], y[n:], 300)
    np.testing.assert_array_equal(model.dual_coef_, twin.dual_coef_)
    np.testing.assert_array_equal(model.stream_.kept.rows, twin.stream_.kept.rows)


def test_what_sums_cannot_do_is_said():
    X, y, _ = make_rows(100, seed=23)
    for changes, words in (
        ({"C_graph": 0.1}, "has no graph, and C_graph=0.1"),
        ({"loss": "logistic"}, "squared losses, and loss='logistic'"),
    ):
        for call in ("fit", "partial_fit"):
            with pytest.raises(ValueError, match=words):
                getattr(classifier(**changes), call)(X, y)
    with pytest.raises(ValueError, match="n_landmarks must be 'auto' or a whole number >= 2"):
        Sums(1)
    with pytest.raises(ValueError, match="half_life must be a finite number > 0"):
        Sums(half_life=0)
    with pytest.raises(AttributeError, match="nothing"):
        _ = classifier().nothing


# ---------------------------------------------------------------- fit


def test_fit_is_least_squares_too():
    X, y, truth = make_rows(1500, seed=24)
    model = classifier(m=40).fit(X, y)
    scores = literal(model, X, y, np.ones(1500), 3.0)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=0, atol=1e-7)
    K = kernel_matrix("rbf", X[model.support_], X[model.support_], gamma=GAMMA)
    a = model.dual_coef_[0]
    known = y >= 0
    J = 0.5 * a @ K @ a + 1.5 * ((scores[known] - 2 * y[known] + 1) ** 2).sum()
    assert model.objective_ == pytest.approx(J)
    free = GKMClassifier(solver="sums", random_state=0).fit(X, y)
    assert free.score(X, truth) > 0.95 and free.C_ > 0
    assert "chosen on held-out labels" in repr(free.plan_)


@pytest.mark.long
def test_fit_takes_kernel_values():
    X, y, _ = make_rows(300, seed=25)
    K = kernel_matrix("rbf", X, X, gamma=GAMMA)
    one = classifier(m=50).fit(X, y).decision_function(X)
    two = classifier(m=50, kernel="precomputed").fit(K, y).decision_function(K)
    np.testing.assert_allclose(one, two, atol=1e-8)

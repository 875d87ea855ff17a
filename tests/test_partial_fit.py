"""Streams: the literal stream, the cut into chunks, drift, and what a call may not do."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.datasets import make_moons
from sklearn.utils import check_random_state

import stream_oracle
from flat import parts
from graphkm import KNN, Bipartite, Full, GKMClassifier, GKMRegressor
from graphkm.graphs import Affinity
from graphkm.solvers import DivergenceError
from graphkm.streams.reservoir import Kept, Reservoir
from graphkm.streams.schedule import Schedule

GAMMA = 0.7


def make_stream(n=60, seed=0, share=0.3, classes=2, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    truth = rng.integers(classes, size=n)
    X[:, 0] += truth
    y = np.where(rng.random(n) < share, truth, -1)
    return X, y, truth


def chunks(n, size):
    return [slice(i, i + size) for i in range(0, n, size)]


def feed(model, X, y, size, **given):
    for part in chunks(len(y), size):
        model.partial_fit(X[part], y[part], **given)
    return model


def classifier(**changes):
    settings = {"C": 0.5, "C_graph": 0.2, "gamma": GAMMA, "precision": "double", "random_state": 3}
    return GKMClassifier(**parts(**(settings | changes)))


def full_coefficients(model, n):
    a = np.zeros((n, len(model.dual_coef_)))
    a[model.support_] = model.dual_coef_.T
    return a


def seed_of(model):
    numbers = check_random_state(model.random_state).randint(2**31 - 1, size=4)
    return np.random.SeedSequence(numbers.tolist())


def expected(model, X, labeled, targets, weights, loss, graph_gamma=GAMMA):
    kind = {KNN: "knn", Full: "full", Bipartite: "bipartite"}[type(model.plan_.graph)]
    solver = model.plan_.solver
    steps = stream_oracle.draws(
        X, labeled, seed_of(model), kind=kind, k=getattr(model.plan_.graph, "n_neighbors", 10),
        gamma=graph_gamma, size=solver.reservoir_size, half_life=solver.half_life,
        plan=solver.steps_per_row,
    )  # fmt: skip
    a = stream_oracle.learn(
        X, targets, weights, steps, kernel=("rbf", {"gamma": GAMMA}), C=model.C,
        C_graph=model.C_graph, p=model.plan_.smoothness.p, loss=loss, step=solver.step,
        offset=float(model.fit_intercept),
    )  # fmt: skip
    return a, len(steps)


# ---------------------------------------------------------------- the literal stream


@pytest.mark.parametrize("half_life", [None, 9.0, 40.0])
@pytest.mark.parametrize("size", [3, 12, 100])
@pytest.mark.parametrize("kind", ["knn", "full", "bipartite"])
def test_equals_the_literal_stream(kind, size, half_life):
    X, y, _ = make_stream()
    model = classifier(graph=kind, reservoir_size=size, half_life=half_life, n_neighbors=2)
    feed(model, X, y, 17, classes=[0, 1])
    targets = np.where(y == 1, 1.0, -1.0)[:, None]
    a, n_steps = expected(model, X, y >= 0, targets, np.ones(len(y)), "hinge")
    assert model.n_iter_ == n_steps
    np.testing.assert_allclose(full_coefficients(model, len(y)), a, rtol=0, atol=1e-10)


@pytest.mark.parametrize("step", ["explicit", "implicit"])
@pytest.mark.parametrize("plan", ["auto", 0, 0.3, 2.5])
@pytest.mark.parametrize(("loss", "p"), [("hinge", 1.0), ("logistic", 2.0)])
def test_equals_it_for_every_plan_and_step(loss, p, plan, step):
    X, y, _ = make_stream(seed=1, classes=3)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2.0, len(y))
    model = classifier(
        loss=loss, p=p, steps_per_row=plan, step=step, C=0.05, C_graph=0.02, graph="full",
        weights=0.3, fit_intercept=True, reservoir_size=10, class_weight={0: 2.0},
    )  # fmt: skip
    for part in chunks(len(y), 11):
        model.partial_fit(X[part], y[part], [0, 1, 2], sample_weight=weights[part])
    targets = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    weights = weights * np.where(y == 0, 2.0, 1.0)
    a, n_steps = expected(model, X, y >= 0, targets, weights, loss, 0.3)
    assert model.n_iter_ == n_steps
    np.testing.assert_allclose(full_coefficients(model, len(y)), a, rtol=0, atol=1e-10)


def test_the_regressor_equals_it_in_units_of_its_first_chunk():
    X, _, _ = make_stream(seed=2)
    y = np.where(np.arange(len(X)) % 4 == 2, 5 + X[:, 1], np.nan)
    model = GKMRegressor(C=0.5, C_graph=0.1, gamma=GAMMA, precision="double", loss="l1",
                         graph="full", random_state=4)  # fmt: skip
    feed(model, X, y, 44)  # whose 11 targets are enough to tell the spread
    known = ~np.isnan(y)
    first = y[:44][known[:44]]
    origin = np.median(first)
    far = np.abs(first - origin)
    spread = np.quantile(far, 0.8, method="averaged_inverted_cdf") / norm.ppf(0.9)
    targets = np.where(known, (y - origin) / spread, 0.0)[:, None]
    a, _ = expected(model, X, known, targets, np.ones(len(y)), "l1")
    a *= spread
    np.testing.assert_allclose(full_coefficients(model, len(y)), a, rtol=0, atol=1e-10)
    K = stream_oracle.kernel_matrix("rbf", X, X, gamma=GAMMA) + 1.0
    np.testing.assert_allclose(model.predict(X), (K @ a).ravel() + origin, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, a.sum() + origin, rtol=1e-10)


# ---------------------------------------------------------------- the cut into chunks


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    cuts=st.lists(st.integers(1, 79), max_size=6, unique=True),
    size=st.integers(2, 90),
    half_life=st.none() | st.floats(0.5, 100.0),
    kind=st.sampled_from(["knn", "full", "bipartite"]),
    form=st.sampled_from(["dense", "csr"]),
)
def test_chunks_change_only_rounding(seed, cuts, size, half_life, kind, form):
    """Whatever the reservoir keeps: draws depend on the rows up to a step alone."""
    X, y, _ = make_stream(80, seed)
    rows = csr_array(X) if form == "csr" else X
    options = {"reservoir_size": size, "half_life": half_life, "graph": kind}
    whole = classifier(**options).partial_fit(rows, y, classes=[0, 1])
    cut = classifier(**options)
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), 80], strict=True):
        cut.partial_fit(rows[first:last], y[first:last], classes=[0, 1])
    a, b = (full_coefficients(model, 80) for model in (whole, cut))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)


def test_the_same_chunks_give_the_same_bits_at_any_thread_count():
    X, y, _ = make_stream(6000, 5)
    options = {"precision": "single", "steps_per_row": 0.5, "reservoir_size": 200}
    one, two = (feed(classifier(n_jobs=n, **options), X, y, 1500) for n in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.support_, two.support_)


def test_as_good_as_one_long_fit():
    X, truth = make_moons(4000, noise=0.2, random_state=0)
    y = np.where(np.random.default_rng(0).random(4000) < 0.1, truth, -1)
    test_X, test_y = make_moons(4000, noise=0.2, random_state=1)
    options = {"C": 1.0, "C_graph": 0.1, "gamma": 2.0, "precision": "single"}
    fitted = classifier(solver="sgd", **options).fit(X, y)
    for size in (100, 4000):
        streamed = feed(classifier(reservoir_size=300, **options), X, y, size, classes=[0, 1])
        assert streamed.score(test_X, test_y) > fitted.score(test_X, test_y) - 0.01


def test_a_half_life_follows_drift():
    """The classes change places: only what forgets the old rows of the graph sees it."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(6000, 2))
    truth = (X[:, 0] > 0).astype(int)
    truth[3000:] = 1 - truth[3000:]
    y = np.where(rng.random(6000) < 0.05, truth, -1)
    options = {"C": 1.0, "C_graph": 0.01, "gamma": 0.5, "steps_per_row": 1.0,
               "precision": "single"}  # fmt: skip
    after = slice(3000, 6000)
    new, old = (
        feed(classifier(half_life=h, **options), X, y, 500, classes=[0, 1]).score(
            X[after], truth[after]
        )
        for h in (300.0, None)
    )
    assert new > 0.9 > old


# ---------------------------------------------------------------- reservoirs and plans


@pytest.mark.dear
@pytest.mark.parametrize("size", [1, 5, 50])
def test_a_uniform_reservoir_is_uniform(size):
    """Every row is kept equally often; the bound is six standard deviations."""
    n, runs = 50, 4000
    kept = np.zeros(n)
    for seed in range(runs):
        slots = Reservoir(size, None, np.random.default_rng(seed)).offer(np.arange(1, n + 1))[0]
        last = {slot: row for row, slot in enumerate(slots.tolist()) if slot >= 0}
        kept[list(last.values())] += 1
    p = size / n
    assert np.abs(kept / runs - p).max() <= 6 * np.sqrt(p * (1 - p) / runs)


def test_a_half_life_is_one():
    """Long after the start, rows of age h are kept half as often as new ones."""
    n, size, half_life, runs = 400, 10, 50.0, 4000
    kept = np.zeros(n)
    for seed in range(runs):
        slots = Reservoir(size, half_life, np.random.default_rng(seed)).offer(np.arange(1, n + 1))[
            0
        ]
        last = {slot: row for row, slot in enumerate(slots.tolist()) if slot >= 0}
        kept[list(last.values())] += 1
    ages = kept[::-1]
    windows = [ages[a : a + 50].sum() for a in (0, 50, 100)]
    assert windows[0] / windows[1] == pytest.approx(2.0, rel=0.1)
    assert windows[1] / windows[2] == pytest.approx(2.0, rel=0.15)


def test_rows_stay_while_none_is_kept():
    none = np.empty(0, np.int64)
    kept = Kept(4, 10, np.array([3]), none, none)
    assert kept.final().tolist() == [4, 5, 6]


@settings(deadline=None, max_examples=50)
@given(
    labeled=st.lists(st.booleans(), min_size=1, max_size=60),
    plan=st.sampled_from(["auto", 0.0, 0.25, 1.0, 3.3]),
    cut=st.integers(0, 60),
)
def test_the_plan_row_by_row(labeled, plan, cut):
    expected, steps, since = [], 0, 0
    for known in labeled:
        since += bool(since or known)
        target = max(steps + known, stream_oracle.planned(plan, since) if since else 0)
        expected.append(target - steps)
        steps = target
    schedule, mask = Schedule(plan), np.array(labeled)
    found = np.concatenate([schedule.advance(mask[:cut]), schedule.advance(mask[cut:])])
    assert found.tolist() == expected


@pytest.mark.parametrize(("half_life", "rate"), [(400, 2.0), (20_000, 0.693), (1e6, 0.2)])
def test_a_stream_that_forgets_never_slows_down(half_life, rate):
    schedule = Schedule("auto", half_life)
    labeled = np.zeros(1000, bool)
    labeled[0] = True
    first = schedule.advance(labeled).sum()
    labeled[0] = False
    late = [schedule.advance(labeled).sum() for _ in range(150)]
    assert first == pytest.approx(1000 * rate, rel=0.01)
    assert set(late) <= {first - 1, first, first + 1}


def test_drift_is_followed_late_in_a_stream_too():
    X, y, truth = make_stream(16_000, 8, share=0.1)
    X[:, 0] += 4 * truth
    changed = np.arange(len(y)) >= 13_000  # the classes change places
    truth = np.where(changed, 1 - truth, truth)
    y = np.where((y >= 0) & changed, 1 - y, y)
    model = classifier(half_life=300, reservoir_size=200, budget=200, steps_per_row="auto")
    for part in np.split(np.arange(len(y)), 16):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    assert model.score(X[-1000:], truth[-1000:]) > 0.9


# ---------------------------------------------------------------- calls


def test_rows_without_labels_come_first():
    X, y, truth = make_stream(200, 7)
    y[:100] = -1
    X[:, 0] += 4 * truth
    model = classifier().partial_fit(X[:100], y[:100], classes=[0, 1])
    assert model.n_iter_ == 0 and len(model.support_) == 0
    assert (model.decision_function(X) == 0).all()
    assert model.partial_fit(X[100:], y[100:]).score(X, truth) > 0.9


def test_labels_of_every_kind():
    X, y, _ = make_stream(80, 8)
    plain = feed(classifier(), X, y, 30, classes=[0, 1])
    texts = np.array(["no", "yes", None], dtype=object)[y]
    words = feed(classifier(), X, texts, 30, classes=["no", "yes"])
    floats = feed(classifier(), X, np.where(y < 0, np.nan, y), 30, classes=[0.0, 1.0])
    for other in (words, floats):
        np.testing.assert_array_equal(plain.dual_coef_, other.dual_coef_)
    assert set(words.predict(X)) <= {"no", "yes"}


def test_copies_go_on_alike():
    X, y, _ = make_stream(120, 9)
    model = feed(classifier(), X[:60], y[:60], 30, classes=[0, 1])
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for each in (model, *others):
        each.partial_fit(X[60:], y[60:])
    for other in others:
        np.testing.assert_array_equal(model.dual_coef_, other.dual_coef_)
        np.testing.assert_array_equal(model.support_vectors_, other.support_vectors_)


def test_a_failed_call_changes_nothing():
    X, y, _ = make_stream(120, 10)
    model = feed(classifier(), X[:60], y[:60], 30, classes=[0, 1])
    twin = copy.deepcopy(model)
    bad = X[60:].copy()
    bad[3, 1] = np.nan
    strange = np.where(np.arange(60) == 40, 7, y[60:])
    for rows, labels in ((bad, y[60:]), (X[60:], strange), (X[60:, :2], y[60:])):
        with pytest.raises(ValueError):
            model.partial_fit(rows, labels)
    for each in (model, twin):
        each.partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(model.dual_coef_, twin.dual_coef_)


def test_an_interrupted_call_changes_nothing(monkeypatch):
    from graphkm.solvers import descent

    X, y, _ = make_stream(600, 11)
    model = classifier(steps_per_row=2).partial_fit(X[:300], y[:300])
    twin = copy.deepcopy(model)
    real, calls = descent.run_block, []

    def interrupted(**given):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(**given)

    monkeypatch.setattr(descent, "run_block", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[300:], y[300:])
    for each in (model, twin):
        each.partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(model.dual_coef_, twin.dual_coef_)
    np.testing.assert_array_equal(model.support_vectors_, twin.support_vectors_)


def test_a_failed_first_call_leaves_a_new_model():
    X, y, _ = make_stream(60, 12)
    model = classifier()
    with pytest.raises(ValueError, match="none of the classes"):
        model.partial_fit(X, y, classes=[5, 6])
    assert not hasattr(model, "classes_")
    model.partial_fit(X, y, classes=[0, 1])


def test_fit_ends_a_stream_and_the_next_chunk_begins_another():
    X, y, _ = make_stream(60, 13)
    model = classifier().partial_fit(X, y).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, classifier().fit(X, y).dual_coef_)
    model.partial_fit(X[:30], y[:30], classes=[0, 1])
    new = classifier().partial_fit(X[:30], y[:30], classes=[0, 1])
    np.testing.assert_array_equal(model.dual_coef_, new.dual_coef_)


def test_overflow_is_an_error():
    X, y, _ = make_stream(400, 14)
    model = classifier(step="explicit", p=3, C_graph=1e6, graph="full")
    with pytest.raises(DivergenceError, match="step='implicit'"):
        model.partial_fit(X, y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"graph": "epsilon", "radius": 1.0}, r"graph=Epsilon\(radius=1.0"),
        ({"graph": Affinity()}, r"graph=Affinity\(\)"),
        ({"edge_sampling": "weight"}, "edge_sampling='weight'"),
        ({"normalized": True}, "normalized=True"),
        ({"degree": 2}, "degree=2"),
        ({"C_graph": "guaranteed"}, "guaranteed"),
        ({"weights": "local"}, "local"),
        ({"class_weight": "balanced"}, "balanced"),
        ({"steps_per_row": -1}, "steps_per_row"),
        ({"reservoir_size": 1}, "reservoir_size"),
        ({"half_life": 0}, "half_life"),
    ],
)
def test_what_a_stream_cannot_do(changes, message):
    X, y, _ = make_stream(60, 15)
    with pytest.raises(ValueError, match=message):
        classifier(**changes).partial_fit(X, y)


@pytest.mark.parametrize("changes", [{"solver": "newton"}, {"kernel": "precomputed"}])
def test_no_partial_fit_where_there_can_be_none(changes):
    assert not hasattr(classifier(**changes), "partial_fit")
    assert hasattr(classifier(), "partial_fit")


def test_what_the_first_chunk_must_show():
    X, y, _ = make_stream(60, 16)
    with pytest.raises(ValueError, match="pass classes="):
        classifier().partial_fit(X, np.full(60, -1))
    with pytest.raises(ValueError, match="mark of unlabelled rows"):
        classifier().partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(ValueError, match="all alike"):
        classifier(gamma="spread").partial_fit(X[:1], y[:1], classes=[0, 1])
    model = classifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="differ from those of the first call"):
        model.partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match=r"C was 0[.]5 when this stream began"):
        model.set_params(C=2.0).partial_fit(X, y)


@pytest.mark.parametrize("changes", [{"kernel": 1}, {"solver": "adam"}])
def test_what_is_no_part_is_named(changes):
    """Not "no attribute partial_fit": the value itself is wrong."""
    X, y, _ = make_stream(60, 15)
    with pytest.raises(ValueError, match=rf"{next(iter(changes))}.*{next(iter(changes.values()))}"):
        GKMClassifier(**changes).partial_fit(X, y)


def test_a_kind_of_neighbours_from_outside_streams_too():
    @dataclass(frozen=True)
    class Near(KNN):
        n_neighbors: int = 3

    X, y, _ = make_stream(200, 16)
    mine = feed(GKMClassifier(graph=Near(), random_state=0), X, y, 50, classes=[0, 1])
    ours = feed(GKMClassifier(graph=KNN(3), random_state=0), X, y, 50, classes=[0, 1])
    np.testing.assert_array_equal(mine.dual_coef_, ours.dual_coef_)

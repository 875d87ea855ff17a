"""Cuts of the graph into classes of given sizes, and their member of the mixture."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons

from graphkm import SemiSupervisedClassifier
from graphkm.fields.sized_cuts import cut_to_sizes, shifts_to_sizes
from graphkm.fields.system import FieldSystem
from graphkm.graphs import KNN, Anchors
from graphkm.judge.sizes import SLACK
from graphkm.members import Known, Member, Scope, sized_members
from graphkm.members.cuts import Cut
from graphkm.members.sized import FOLDS, PRICE, STEPS
from graphkm.neighbours.distinct import Copies, copies_in_order
from graphkm.semi.odds import odds_of

SIZES = np.array([0.5, 0.3, 0.2])
HOW = {"slack": SLACK, "price": PRICE, "steps": STEPS}


def _shares(n=60, k=3, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(k), n)


def _counts(shares, shift, masses=None):
    return np.bincount((shares + shift).argmax(axis=1), masses, minlength=shares.shape[1])


def _rows_and_labels(sizes=(100, 60, 40), per_class=3, seed=0, spread=1.0):
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[: len(sizes)]
    X, truth = make_blobs(sizes, centers=centres, cluster_std=spread, random_state=seed)
    rng = np.random.default_rng(seed)
    some = [rng.choice(np.flatnonzero(truth == c), per_class, False) for c in range(len(sizes))]
    return X, truth, np.sort(np.concatenate(some))


def _known(X, y, sizes, folds=()):
    ones, classes = np.ones(len(y)), np.arange(len(sizes))
    return Known(X, y, ones, None, classes, list(folds), copies_in_order(X), sizes=sizes)


# ------------------------------------------------------------------ shifts


@pytest.mark.parametrize("slack", [0.0, SLACK])
@pytest.mark.parametrize("price", [0.02, PRICE, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_shifts_are_as_good_as_those_of_a_linear_programme(slack, price, seed):
    """The programme shares rows among classes, and pays the price for sizes beyond the slack."""
    shares, masses = _shares(seed=seed), np.ones(60)
    n, k = shares.shape
    least, most = (1 - slack) * SIZES * n, (1 + slack) * SIZES * n
    gain = np.concatenate([-shares.ravel(), np.full(2 * k, price)])
    whole = np.hstack([np.kron(np.eye(n), np.ones((1, k))), np.zeros((n, 2 * k))])
    sums = np.kron(np.ones((1, n)), np.eye(k))
    many = np.hstack([sums, -np.eye(k), np.zeros((k, k))])
    few = np.hstack([-sums, np.zeros((k, k)), -np.eye(k)])
    bounds = np.concatenate([most, -least])
    best = linprog(gain, np.vstack([many, few]), bounds, whole, np.ones(n))
    shift = shifts_to_sizes(shares, masses, SIZES, slack, price)
    found = (shares + shift).max(axis=1).sum() - np.where(shift > 0, least, most) @ shift
    assert found >= -best.fun - 1e-9  # no dual is below the optimum
    assert found <= -best.fun + 0.05  # and less than a single row away from it
    assert np.abs(shift).max() <= price


@pytest.mark.parametrize("slack", [0.0, SLACK, 0.3])
def test_classes_have_their_sizes_up_to_the_slack(slack):
    for seed in range(5):
        shares = _shares(200, seed=seed)
        shift = shifts_to_sizes(shares, np.ones(200), SIZES, slack, 10.0)
        off = np.abs(_counts(shares, shift) - 200 * SIZES) - slack * 200 * SIZES
        assert off.max() <= 1.0  # a row
    near = _counts(shares, np.zeros(3)) / 200
    assert not shifts_to_sizes(shares, np.ones(200), near, slack, 10.0).any()


def test_a_row_counts_as_often_as_it_is_there():
    shares, times = _shares(40), np.random.default_rng(1).integers(1, 4, 40)
    one = shifts_to_sizes(shares, times.astype(float), SIZES, 0.0, 10.0)
    two = shifts_to_sizes(np.repeat(shares, times, axis=0), np.ones(times.sum()), SIZES, 0.0, 10.0)
    sizes = [_counts(shares, shift, times) for shift in (one, two)]
    assert np.abs(sizes[0] - SIZES * times.sum()).max() <= times.max()
    assert np.abs(sizes[0] - sizes[1]).max() <= times.max()


@pytest.mark.parametrize(("doubt", "moves"), [(1.9, True), (2.1, False)])
def test_a_row_moves_if_it_is_at_most_twice_the_price_in_doubt(doubt, moves):
    ahead = doubt * PRICE
    shares = np.array([[1.0, 0.0], [0.5 + ahead / 2, 0.5 - ahead / 2]])
    shift = shifts_to_sizes(shares, np.ones(2), np.array([0.5, 0.5]), 0.0, PRICE)
    assert (_counts(shares, shift)[1] == 1) == moves


def test_no_row_in_doubt_leaves_the_classes_alone():
    shares = np.eye(2)[[0, 0, 0, 1]]
    assert not shifts_to_sizes(shares, np.ones(4), np.array([0.5, 0.5]), 0.0, PRICE).any()


# ------------------------------------------------------------------ cuts


def test_the_cut_is_the_loop_as_it_is_written():
    X, truth, rows = _rows_and_labels()
    graph = KNN(8).nodes(X, rows)
    sizes, weights = np.array([0.4, 0.3, 0.3]), np.linspace(0.5, 1.5, len(rows))
    own = weights[:, None] * np.eye(3)[truth[rows]]
    every = np.arange(len(rows))
    system = FieldSystem(graph.similarity, tol=1e-6)
    found = cut_to_sizes(system, graph, every, own, sizes, **HOW)

    S, scale, n = graph.similarity.toarray().astype(float), graph.scale, len(X)
    walk = scale[:, None] * S / scale
    at, given = graph.rows.indices, np.eye(3)[truth[rows]]
    sources = np.zeros((n, 3))
    sources[at] = own / own.sum(axis=0)
    u = scale[:, None] * np.linalg.solve((1 + 1e-3) * np.eye(n) - S, scale[:, None] * sources)
    shift = np.zeros(3)
    for _ in range(20):
        u /= u.sum(axis=1, keepdims=True)
        u[at] = given
        shift = shifts_to_sizes(u, np.ones(n), sizes, SLACK, PRICE, shift)
        said = u + shift
        u = np.eye(3)[said.argmax(axis=1)]
        u[at] = given
        for _ in range(STEPS):
            u = walk @ u
    assert np.mean(found.argmax(axis=1) == said.argmax(axis=1)) > 0.99
    assert np.median(np.abs(found - said)) < 1e-4


def test_sizes_move_the_border_between_classes():
    """Two clouds overlap: the larger one of the sizes gets the rows between them."""
    X, truth, rows = _rows_and_labels((100, 100), spread=1.4)
    graph = KNN(8).nodes(X, rows)
    system, own = FieldSystem(graph.similarity), np.eye(2)[truth[rows]]
    parts = []
    for share in (0.4, 0.5, 0.6):
        about = graph, np.arange(len(rows)), own, np.array([share, 1 - share])
        parts.append(np.mean(cut_to_sizes(system, *about, **HOW).argmax(axis=1) == 0))
    assert parts[0] < parts[2]
    assert parts[1] == pytest.approx(0.5, abs=0.5 * SLACK + 0.05)


def test_rows_without_edges_keep_what_they_are():
    graph = KNN(1).nodes(np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, 2]))
    lonely = graph._replace(similarity=0 * graph.similarity)
    about = np.arange(2), np.eye(2), np.array([0.5, 0.5])
    found = cut_to_sizes(FieldSystem(lonely.similarity), lonely, *about, **HOW)
    assert np.isfinite(found).all()
    assert found[[0, 2]].argmax(axis=1).tolist() == [0, 1]


def test_copies_with_two_labels_are_both():
    X = np.array([[0.0], [0.0], [0.1], [5.0], [5.1]])
    graph = KNN(1).nodes(X, np.array([0, 1, 3]))
    assert graph.nodes.counts.tolist() == [2, 1, 1, 1]
    about = np.arange(3), np.eye(2)[[0, 1, 1]], np.array([0.5, 0.5])
    found = cut_to_sizes(FieldSystem(graph.similarity), graph, *about, **HOW)
    assert found[0] - found[0].mean() == pytest.approx([0, 0], abs=PRICE)
    assert found[2:].argmax(axis=1).tolist() == [1, 1]


def test_steps_are_products_one_after_another():
    X, _, rows = _rows_and_labels()
    graph, u = KNN(8).nodes(X, rows), np.random.default_rng(0).random((200, 70), np.float32)
    system, expected = FieldSystem(graph.similarity), u.copy()
    for _ in range(3):
        expected = graph.similarity @ expected
    assert system.moved(u, 3) == pytest.approx(expected, rel=1e-5)
    assert system.moved(u, 3) == pytest.approx(system.moved(system.moved(system.moved(u))))


# ------------------------------------------------------------------ the member


def _member(X, y, rows, sizes, folds):
    graph = KNN(8).nodes(X, rows)
    known = _known(X[rows], y, sizes, folds)
    (member,) = sized_members(known, Scope(graph, 1))
    return member


def _two_folds(n):
    every = np.arange(n)
    return [(every[every % 2 != part], every[every % 2 == part]) for part in (0, 1)]


@pytest.mark.parametrize(("per_class", "most"), [(2, 1), (5, 2)])
def test_labels_are_held_out_by_cuts_that_have_not_seen_them(per_class, most, monkeypatch):
    """There are ten folds, or one for each label: both sides, though a class has two labels."""
    seen = []

    def cut(system, graph, rows, *about, **how):
        seen.append((rows, cut_to_sizes(system, graph, rows, *about, **how)))
        return seen[-1][1]

    monkeypatch.setattr("graphkm.members.sized.cut_to_sizes", cut)
    X, truth, rows = _rows_and_labels(per_class=per_class)
    member = _member(X, truth[rows], rows, SIZES, _two_folds(len(rows)))
    *parts, (whole, _) = seen
    assert len(whole) == len(rows)
    assert len(parts) == min(FOLDS, len(rows))
    for train, found in parts:
        told = np.setdiff1d(whole, train)
        assert 1 <= len(told) <= most
        assert len(np.unique(truth[rows[told]])) == len(told)  # others of the class stay
        expected = np.log(np.maximum(found[rows[told]], 1e-3))
        assert member.held[told] == pytest.approx(expected, abs=1e-6)
    assert np.mean(member.held.argmax(axis=1) == truth[rows]) > 0.5
    assert member.how == "out-of-fold"


def test_copies_are_held_out_together():
    X, truth, rows = _rows_and_labels()
    X[rows[1]] = X[rows[0]]
    y = truth[rows]
    one = _member(X, y, rows, SIZES, _two_folds(len(rows)))
    assert one.held[0] == pytest.approx(one.held[1])


def test_without_folds_nothing_is_held_out():
    X, truth, rows = _rows_and_labels(per_class=1)
    member = _member(X, truth[rows], rows, SIZES, [])
    assert not member.held.any()
    assert member.how == "prior"
    assert np.mean(member.values().argmax(axis=1) == truth) > 0.7


def test_stated_sizes_take_the_place_of_the_shares_of_labels():
    cuts = [Cut(0.1, np.array(sizes)) for sizes in ([0.5, 0.5], [0.75, 0.25])]
    members = [Member("a", np.zeros((4, 2)), cut=cut) for cut in cuts]
    y = np.array([0, 0, 0, 1])
    known = Known(None, y, np.ones(4), None, np.arange(2), [], Copies.of(y))
    plain = odds_of(members, known)
    assert odds_of(members, replace(known, sizes=np.array([0.75, 0.25]))) == pytest.approx(plain)
    assert plain[1] > plain[0]
    even = odds_of(members, replace(known, sizes=np.array([0.5, 0.5])))
    assert even[0] > even[1]


# ------------------------------------------------------------------ the front door


def _fitted(**about):
    X, truth, rows = _rows_and_labels()
    y = np.full(len(X), -1)
    y[rows] = truth[rows]
    return SemiSupervisedClassifier(random_state=0, **about).fit(X, y), X, y, truth


@pytest.mark.dear
@pytest.mark.parametrize(
    ("asked", "there"),
    [(None, False), ("auto", False), ("labels", True), ({0: 0.5, 1: 0.3, 2: 0.2}, True)],
)
def test_only_given_sizes_have_a_cut(asked, there):
    model, *_ = _fitted(class_sizes=asked)
    assert [each.name for each in model.members_].count("cut to sizes") == there


def test_anchors_have_no_cut():
    model, *_ = _fitted(class_sizes={0: 0.5, 1: 0.3, 2: 0.2}, graph=Anchors(50))
    assert "cut to sizes" not in [each.name for each in model.members_]


@pytest.mark.long
def test_only_the_ratios_of_weights_matter():
    model, X, y, _ = _fitted(class_sizes="labels")
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    one, two = (clone(model).fit(X, y, factor * weights) for factor in (1.0, 1000.0))
    assert two.predict_proba(X) == pytest.approx(one.predict_proba(X), abs=1e-6)


def _cells():
    yield make_moons(400, noise=0.15, random_state=0)
    yield make_blobs([200, 100, 100], centers=None, cluster_std=2.0, random_state=1)
    yield make_blobs([150, 150, 60], centers=None, n_features=5, cluster_std=3.0, random_state=2)


@pytest.mark.long
def test_sizes_that_are_wrong_by_a_fifth_cost_less_than_a_point():
    right, wrong = [], []
    for cell, (X, truth) in enumerate(_cells()):
        k = truth.max() + 1
        for seed in range(3):
            rng = np.random.default_rng(seed)
            some = [rng.choice(np.flatnonzero(truth == c), 2, False) for c in range(k)]
            y = np.full(len(X), -1)
            y[np.concatenate(some)] = truth[np.concatenate(some)]
            sizes = np.bincount(truth) / len(truth)
            off = sizes * np.where((np.arange(k) + seed + cell) % 2, 1.2, 1 / 1.2)
            model = SemiSupervisedClassifier(None, class_sizes=None, random_state=0).fit(X, y)
            plain = np.mean(model.predict(X) == truth)
            for given, gains in ((sizes, right), (off, wrong)):
                model.set_params(class_sizes=dict(enumerate(given)))
                gains.append(np.mean(model.fit(X, y).predict(X) == truth) - plain)
    assert np.mean(right) > 0.0
    assert np.mean(wrong) > -0.01

"""Labels as people have them: shares of classes, several labels, several quantities, orders."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array, dok_array
from scipy.special import logsumexp
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score

from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.graphs import KNN
from graphkm.judge.columns import BORROWED, best_lines, column_weights, judge_labels
from graphkm.judge.folds import FEWEST
from graphkm.judge.mixture import ALONE, PRIOR, mixture_weights
from graphkm.judge.thresholds import best_threshold
from graphkm.members import Known, Scope, residual_members
from graphkm.members.clusters import _CS, _ridges
from graphkm.members.member import log_odds, odds_around
from graphkm.members.ranked import rank_shares
from graphkm.neighbours.distinct import Copies
from graphkm.semi.ordered import nearest_class

N, L = 120, 40


def rows_and_labels(gaps: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, three labels of some of them, and the truth."""
    X, moon = make_moons(N, noise=0.1, random_state=0)
    truth = np.column_stack([moon, X[:, 0] > 0.5, X[:, 1] > 0.3]).astype(float)
    y = np.full((N, 3), np.nan)
    y[:L] = truth[:L]
    if gaps:
        y[:10, 0] = y[5:20, 1] = np.nan
    return X, y, truth


def light(**options: object) -> SemiSupervisedClassifier:
    """Return a front door that fits fast."""
    return SemiSupervisedClassifier(LogisticRegression(), random_state=0, **options)


# ------------------------------------------------------------------ shares of classes


@pytest.mark.long
def test_certain_shares_are_classes():
    X, y, _ = rows_and_labels(gaps=False)
    classes = np.where(np.isnan(y[:, 0]), -1, y[:, 0])
    shares = np.full((N, 2), np.nan)
    shares[:L] = np.eye(2)[classes[:L].astype(int)]
    soft = light(targets="shares").fit(X, shares)
    hard = light().fit(X, classes)
    np.testing.assert_allclose(soft.predict_proba(X), hard.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(soft.transduction_, hard.transduction_)
    np.testing.assert_array_equal(soft.labeled_, np.arange(L))


def test_a_row_of_half_and_half_says_nothing_of_members():
    """The judge's likelihood is the cross entropy: a literal sum over rows and classes."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(2), size=30)
    held = rng.dirichlet(np.ones(2), size=(3, 30))
    rows, codes = np.nonzero(shares)
    found = mixture_weights(np.log(held[:, rows, codes]).T, shares[rows, codes])
    w = np.full(3, 1 / 3)
    alone = ALONE * np.einsum("ik,mik->m", shares, np.log(held))
    prior = PRIOR * np.exp(alone - logsumexp(alone))
    for _ in range(3000):
        mixed = np.einsum("m,mik->ik", w, held)
        w = (np.einsum("ik,mik->m", shares / mixed, w[:, None, None] * held) + prior) / 40.0
    np.testing.assert_allclose(found, w, atol=1e-3)


@pytest.mark.long
def test_shares_that_are_less_than_one_leave_the_rest_unknown():
    X, _, truth = rows_and_labels(gaps=False)
    shares = np.full((N, 2), np.nan)
    shares[:L] = 0.6 * np.eye(2)[truth[:L, 0].astype(int)]
    whole = light(targets="shares").fit(X, shares / 0.6)
    less = light(targets="shares").fit(X, shares)  # only ratios of weights matter
    np.testing.assert_allclose(less.predict_proba(X), whole.predict_proba(X), atol=1e-6)


def test_a_frame_of_shares_names_the_classes():
    X, _, truth = rows_and_labels()
    shares = pd.DataFrame({"yes": truth[:, 0], "no": 1 - truth[:, 0]}) * 0.8
    shares.iloc[L:] = np.nan
    model = light().fit(X, shares)
    assert model.classes_.tolist() == ["no", "yes"]
    assert np.mean((model.predict(X) == "yes") == truth[:, 0]) > 0.9
    assert set(model.transduction_[:L]) == {"no", "yes"}


@pytest.mark.parametrize(
    ("row", "message"),
    [([0.8, 0.7], "add up to 1"), ([-0.1, 0.4], "0 or more"), ([np.inf, 0.0], "infinity")],
)
def test_wrong_shares_are_told(row, message):
    X, _, _ = rows_and_labels()
    shares = np.full((N, 2), 0.5)
    shares[3] = row
    with pytest.raises(ValueError, match=message):
        light().fit(X, shares)


def test_shares_of_one_class_are_told():
    X, _, _ = rows_and_labels()
    with pytest.raises(ValueError, match="hold only one class, 0"):
        light(targets="shares").fit(X, np.column_stack([np.ones(N), np.zeros(N)]))


def test_what_targets_hold_can_be_said():
    X, y, _ = rows_and_labels()
    with pytest.raises(ValueError, match=r"Labels are 0, 1 or missing; y holds 0\.25"):
        light(targets="labels").fit(X, np.full((N, 2), 0.25))
    with pytest.raises(ValueError, match="targets must be one of"):
        light(targets="many").fit(X, y)
    with pytest.raises(ValueError, match="needs a column for each class"):
        light(targets="shares").fit(X, y[:, 0])
    with pytest.raises(ValueError, match="one class per row"):
        light(targets="classes").fit(X, y)
    with pytest.raises(ValueError, match="class_sizes is for one class per row"):
        light(class_sizes={0: 1, 1: 2, 2: 3}).fit(X, y)
    with pytest.raises(ValueError, match="None of the 120 rows is labelled"):
        light().fit(X, np.full((N, 2), np.nan))


def test_shares_are_scored_as_parts_of_labels():
    X, y, _ = rows_and_labels()
    classes = np.where(np.isnan(y[:, 0]), -1, y[:, 0]).astype(int)
    model = light().fit(X, classes)
    shares = np.random.default_rng(0).dirichlet([1.0, 1.0], N) * np.linspace(0.2, 1.0, N)[:, None]
    shares[5] = np.nan
    weights = np.random.default_rng(1).uniform(0.5, 1.5, N)
    said, told = model.predict(X), np.arange(N) != 5
    hits = weights[told] @ shares[told, said[told]]
    literal = hits / (weights[told] @ shares[told].sum(axis=1))
    assert model.score(X, shares, weights) == pytest.approx(literal)
    frame = pd.DataFrame(shares[:, ::-1], columns=[1, 0])
    assert model.score(X, frame, weights) == pytest.approx(literal)
    sure = np.eye(2)[said]
    assert model.score(X, sure) == model.score(X, said) == 1.0
    with pytest.raises(ValueError, match="shares of classes are 0 or more"):
        model.score(X, np.ones((N, 2)))


@pytest.mark.long
def test_shares_are_cross_validated_and_searched():
    X, _, truth = rows_and_labels()
    shares = np.where(np.eye(2)[truth[:, 0].astype(int)] == 1, 0.9, 0.1)
    scores = cross_val_score(light(), X, shares, cv=2, error_score="raise")
    assert scores == pytest.approx(0.9)  # all answers are right, and worth nine tenths


# ------------------------------------------------------------------ several labels


@pytest.mark.long
def test_labels_come_in_every_form():
    X, y, truth = rows_and_labels(gaps=False)
    names = np.array(["a", "b", "c"])
    lists = [names[row == 1].tolist() if row[0] == row[0] else None for row in y]
    marked = np.where(np.isnan(y), -1, y).astype(int)
    answers = [
        light().fit(X, each).predict_proba(X)
        for each in (y, pd.DataFrame(y, columns=names), marked, lists, np.ma.masked_invalid(y))
    ]
    for other in answers[1:]:
        np.testing.assert_array_equal(answers[0], other)
    assert light().fit(X, lists).classes_.tolist() == ["a", "b", "c"]
    assert light().fit(X, lists).score(X, lists) > 0.8
    whole = light().fit(X[:L], csr_array(truth[:L]))  # a sparse matrix has no gaps
    np.testing.assert_array_equal(whole.predict(X), light().fit(X[:L], truth[:L]).predict(X))


@pytest.mark.long
def test_series_of_lists_are_lists():
    X, y, _ = rows_and_labels(gaps=False)
    names = np.array(["a", "b", "c"])
    lists = [names[row == 1].tolist() if row[0] == row[0] else None for row in y]
    expected = light().fit(X, lists).predict_proba(X)
    for each in (pd.Series(lists), pl.Series("labels", lists)):
        np.testing.assert_array_equal(light().fit(X, each).predict_proba(X), expected)


@pytest.mark.long
def test_one_name_is_one_label():
    X, y, _ = rows_and_labels(gaps=False)
    lists = [None if np.isnan(row[0]) else ["a"] * int(row[0]) for row in y]
    model = light().fit(X, lists)
    assert model.predict(X).shape == model.predict_proba(X).shape == (N, 1)
    alone = light().fit(X, np.where(np.isnan(y[:, 0]), -1, y[:, 0]).astype(int))
    assert np.mean(model.predict(X)[:, 0] == alone.predict(X)) > 0.95


@pytest.mark.parametrize(
    "lists, message",
    [
        ([[]] * 20 + [None] * 100, "Every list of y is empty"),
        ([["a"], ["b", None]] * 60, r"Row 1 of y is \['b', None\].*none of them empty or missing"),
        ([["a"], ["b", float("nan")]] * 60, "Row 1 of y"),
        ([["a"], ["b", ""]] * 60, "Row 1 of y"),
        ([["a"], ["b", ["c"]]] * 60, "Row 1 of y"),
        ([["a"], ["b", 3]] * 60, "mixes texts with numbers"),
        ([["a"], "b"] * 60, "Row 1 of y is 'b'"),
    ],
)
def test_wrong_lists_are_told(lists, message):
    X, _, _ = rows_and_labels()
    with pytest.raises(ValueError, match=message):
        light().fit(X, lists)


@pytest.mark.long
def test_tables_that_mean_something_else_are_told():
    X, y, truth = rows_and_labels()
    signs = np.where(np.isnan(y), np.nan, 2.0 * y - 1.0)
    with pytest.raises(ValueError, match=r"Every known label of y is 1.*If -1 means that"):
        light().fit(X, signs)
    with pytest.raises(ValueError, match="Every known label of y is 1"):
        light().fit(X, np.where(y == 1, 1.0, np.nan))
    with pytest.raises(ValueError, match="Two columns of y are named 'a'"):
        light().fit(X, pd.DataFrame(y, columns=["a", "b", "a"]))
    with pytest.raises(ValueError, match="ordered is for one class per row"):
        light(ordered=True).fit(X, y)
    with pytest.raises(ValueError, match=r"a column for each of 3 labels.*the shape \(120,\)"):
        light().fit(X, y).score(X, truth[:, 0])


@pytest.mark.long
def test_answers_are_as_scikit_learn_has_them():
    X, y, truth = rows_and_labels()
    model = light().fit(X, y)
    shares, said = model.predict_proba(X), model.predict(X)
    assert shares.shape == said.shape == (N, 3) and set(np.unique(said)) <= {0, 1}
    np.testing.assert_array_equal(said, shares > 0.5)
    np.testing.assert_array_equal(said, model.decision_function(X) > 0)
    assert model.score(X, truth) == pytest.approx(np.mean((said == truth).all(axis=1)))
    some = truth.copy()
    some[0, 0] = np.nan
    assert model.score(X, some) == pytest.approx(np.mean((said == truth)[1:].all(axis=1)))
    kept = model.transduction_
    told = ~np.isnan(y)
    np.testing.assert_array_equal(kept[told], y[told])
    np.testing.assert_array_equal(kept[~told], said[~told])
    assert np.isnan(model.held_out_).sum() == np.isnan(y[:L]).sum()
    assert not hasattr(model, "class_sizes_")
    assert f1_score(truth, said, average="macro") > 0.85


@pytest.mark.long
def test_the_order_of_rows_and_the_size_of_weights_do_not_matter():
    X, y, _ = rows_and_labels()
    model, order = light(), np.random.default_rng(0).permutation(N)
    weights = np.random.default_rng(1).uniform(0.5, 2, N)
    one = model.fit(X, y, weights).predict_proba(X)
    np.testing.assert_allclose(model.fit(X, y, 10 * weights).predict_proba(X), one, atol=1e-9)
    turned = model.fit(X[order], y[order], weights[order]).predict_proba(X)
    np.testing.assert_allclose(turned, one, atol=1e-4)  # the search for weights ends near
    swapped = model.fit(X, y[:, ::-1], weights).predict_proba(X)
    np.testing.assert_allclose(swapped[:, ::-1], one, atol=1e-3)


@pytest.mark.dear
@pytest.mark.parametrize("positives", [0, 1, 2])
def test_rare_labels_are_learnt_as_far_as_they_go(positives):
    X, y, _ = rows_and_labels(gaps=False)
    y[:, 1] = np.where(np.isnan(y[:, 1]), np.nan, 0.0)
    y[:positives, 1] = 1.0
    model = light(thresholds="f1").fit(X, y)
    share = model.predict_proba(X)[:, 1]
    assert np.isfinite(model.held_out_).all() and share.mean() < 0.2
    if positives == 0:
        assert share.max() < 0.1


@pytest.mark.long
def test_a_label_that_no_row_knows_has_a_probability():
    X, y, _ = rows_and_labels(gaps=False)
    y[:, 1] = np.nan
    model = light().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isnan(model.held_out_[:, 1]).all()


@pytest.mark.long
@pytest.mark.parametrize("n", [2, 6, 12])
def test_few_labelled_rows_are_enough(n):
    X, y, _ = rows_and_labels(gaps=False)
    y[n:] = np.nan
    y[:2] = [[0, 1, 0], [1, 0, 1]]
    for model in (light(), SemiSupervisedClassifier(random_state=0)):
        assert np.isfinite(model.fit(X, y).predict_proba(X)).all()


# ------------------------------------------------------------------ members of several columns


def known_columns(kind: str) -> tuple[np.ndarray, Known]:
    X, y, _ = rows_and_labels()
    if kind == "quantities":
        y = np.where(np.isnan(y), np.nan, np.column_stack([X[:, 0], X[:, 1], X.sum(axis=1)]))
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.5, L)
    folds = [(np.arange(L)[np.arange(L) % 4 != i], np.arange(i, L, 4)) for i in range(4)]
    copies = Copies.of(np.arange(L))
    return X, Known(X[:L], y[:L], weights / weights.mean(), None, None, folds, copies, kind)


@pytest.mark.parametrize("kind", ["labels", "quantities"])
def test_ridges_with_gaps_are_fits_of_every_column_alone(kind):
    _, known = known_columns(kind)
    phi = np.random.default_rng(1).normal(size=(L, 4))
    for (held, fit), C in zip(_ridges(phi, known), _CS, strict=True):
        for column in range(3):
            told = np.flatnonzero(~np.isnan(known.y[:, column]))
            for i in told[[0, 5]]:
                kept = np.setdiff1d(told, i)
                s, t = known.weights[kept], known.y[kept, column]
                mean = np.average(t, weights=s)
                A = phi[kept].T @ (s[:, None] * phi[kept]) + np.eye(4) / C
                value = mean + phi[i] @ np.linalg.solve(A, phi[kept].T @ (s * (t - mean)))
                if kind == "labels":
                    value = odds_around(np.array(value), np.array(mean))
                assert held[i, column] == pytest.approx(value, abs=1e-6)
            s, t = known.weights[told], known.y[told, column]
            A = phi[told].T @ (s[:, None] * phi[told]) + np.eye(4) / C
            v = np.linalg.solve(A, phi[told].T @ (s * (t - np.average(t, weights=s))))
            np.testing.assert_allclose(fit.v[:, column], v, atol=1e-9)


@pytest.mark.parametrize("kind", ["labels", "quantities"])
def test_fields_with_gaps_are_dense_solves_of_every_column(kind):
    X, known = known_columns(kind)
    graph = KNN().nodes(X, np.arange(L))
    member = list(residual_members(known, Scope(graph, 1), None))[1]  # C = 0.3, eps = 0.1
    laplacian = np.eye(N) - graph.similarity.toarray()
    train, test = known.folds[1]
    for column in range(3):
        told = np.flatnonzero(~np.isnan(known.y[:, column]))
        usual = np.average(known.y[told, column], weights=known.weights[told])
        own = np.intersect1d(train, told)
        diagonal, right = np.zeros(N), np.zeros(N)
        diagonal[own] = 0.3 * known.weights[own]
        right[own] = diagonal[own] * (known.y[own, column] - usual)
        g = usual + np.linalg.solve(laplacian + np.diag(0.1 + diagonal), right)[test]
        wanted = log_odds(g) if kind == "labels" else g
        np.testing.assert_allclose(member.held[test, column], wanted, atol=0.05)


# ------------------------------------------------------------------ the judge of several columns


def test_lines_minimise_the_penalised_loss():
    rng = np.random.default_rng(0)
    held, y = rng.normal(size=(2, 50, 3)), (rng.random((50, 3)) < 0.3).astype(float)
    held[0] += 2 * y
    cells = np.where(rng.random((50, 3)) < 0.7, rng.uniform(0.5, 2, (50, 3)), 0.0)
    found = best_lines(held, y, cells)
    for m in range(2):
        for j in range(3):

            def loss(line, s=held[m, :, j], t=y[:, j], w=cells[:, j]):
                z = np.exp(line[0]) * s + line[1]
                return (
                    w @ np.logaddexp(0, np.where(t > 0, -z, z))
                    + 2 * line[0] ** 2
                    + line[1] ** 2 / 2
                )

            best = minimize(loss, np.zeros(2), tol=1e-10)
            reached = loss([np.log(found[m, 0, j]), found[m, 1, j]])
            assert reached <= best.fun + 1e-4


def test_weights_of_a_column_are_those_of_the_literal_objective():
    rng = np.random.default_rng(0)
    logs = np.log(rng.uniform(0.05, 0.95, (3, 60, 2)))
    cells = np.where(rng.random((60, 2)) < 0.6, 1.0, 0.0)
    found = column_weights(logs, cells)

    def most_likely(p, s, prior):
        def loss(a):
            w = np.exp(a - logsumexp(a))
            return -s @ np.log(w @ p) - prior @ np.log(w)

        a = minimize(loss, np.zeros(3), tol=1e-12).x
        return np.exp(a - logsumexp(a))

    def usual(loglik):
        return PRIOR * np.exp(ALONE * loglik - logsumexp(ALONE * loglik))

    liks = np.einsum("iq,miq->mq", cells, logs)
    flat = cells > 0
    common = most_likely(np.exp(logs[:, flat]), cells[flat], usual(liks.mean(axis=1)))
    for j in range(2):
        prior = usual(liks[:, j]) + BORROWED * common
        own = most_likely(np.exp(logs[:, :, j]), cells[:, j], prior)
        np.testing.assert_allclose(found[:, j], own, atol=2e-3)


def test_one_column_has_the_weights_of_classes():
    rng = np.random.default_rng(0)
    logs, odds = np.log(rng.uniform(0.05, 0.95, (3, 40))), rng.normal(size=3)
    alone = np.array([True, False, False])
    for n in (FEWEST - 1, FEWEST, 40):
        one = mixture_weights(logs[:, :n].T, np.ones(n), odds, alone)
        several = column_weights(logs[:, :n, None], np.ones((n, 1)), odds, alone)
        np.testing.assert_allclose(several[:, 0], one, atol=1e-5)
    none = column_weights(logs[:, :0, None], np.ones((40, 1)), odds, alone)
    np.testing.assert_allclose(none[:, 0], mixture_weights(logs[:, :0].T, np.ones(40), odds, alone))


def test_a_rare_label_borrows_weights():
    """One member is better where labels are many. Where they are few, both are as good."""
    rng = np.random.default_rng(0)
    sure, guess = np.full((200, 2), np.log(0.9)), np.full((200, 2), np.log(0.5))
    cells = np.column_stack([np.ones(200), np.zeros(200)])
    cells[rng.permutation(200)[: FEWEST + 2], 1] = 1.0
    guess[:, 1] = sure[:, 1]  # both are as good there
    found = column_weights(np.array([guess, sure]), cells)
    assert found[1, 0] > 0.9 and found[1, 1] > 0.7
    apart = column_weights(np.array([guess, sure])[:, :, 1:], cells[:, 1:])
    assert apart[1, 0] == pytest.approx(0.5, abs=0.01)


def test_judged_labels_come_from_other_folds():
    rng = np.random.default_rng(0)
    y = (rng.random((80, 2)) < 0.4).astype(float)
    held = np.array([3.0 * y - 1.5, rng.normal(size=(80, 2))])
    folds = [(np.arange(80)[np.arange(80) % 4 != i], np.arange(i, 80, 4)) for i in range(4)]
    found = judge_labels(held, y, np.ones((80, 2)), np.zeros(2), folds)
    assert found.score == 1.0 and found.weights[0].min() > 0.85
    assert found.losses[0] < 0.1 < found.losses[1]
    twisted = y.copy()
    twisted[folds[0][1]] = 1 - twisted[folds[0][1]]  # labels of a fold do not change its answers
    other = judge_labels(held, twisted, np.ones((80, 2)), np.zeros(2), folds)
    np.testing.assert_array_equal(found.held[folds[0][1]], other.held[folds[0][1]])


# ------------------------------------------------------------------ thresholds


def test_the_best_threshold_is_that_of_all_cuts():
    rng = np.random.default_rng(0)
    for _ in range(20):
        held, others = rng.random(15).round(1), rng.random(9)
        y, weights = (rng.random(15) < held).astype(float), rng.uniform(0.5, 2, 15)

        def f1(t, held=held, y=y, weights=weights, others=others):
            part = weights.sum() / len(others)
            right = weights @ (y * (held > t)) + part * others[others > t].sum()
            told = weights @ (held > t) + part * (others > t).sum()
            return 2 * right / (told + weights @ y + part * others.sum())

        every = np.concatenate([[-1.0], held, others])
        found = best_threshold(held, y, weights, others)
        assert f1(found) == pytest.approx(max(f1(t) for t in every))


@pytest.mark.long
def test_thresholds_are_as_asked():
    X, y, _ = rows_and_labels()
    frame = pd.DataFrame(y, columns=["a", "b", "c"])
    model = light(thresholds={"b": 0.9}).fit(X, frame)
    np.testing.assert_array_equal(model.thresholds_, [0.5, 0.9, 0.5])
    assert (model.predict(X)[:, 1] <= (model.predict_proba(X)[:, 1] > 0.9)).all()
    assert (light(thresholds=0.2).fit(X, y).thresholds_ == 0.2).all()
    chosen = light(thresholds="f1").fit(X, y)
    assert ((chosen.thresholds_ > 0) & (chosen.thresholds_ < 1)).all()
    np.testing.assert_array_equal(chosen.predict(X), chosen.decision_function(X) > 0)
    for wrong, message in (
        ("best", "thresholds must be"),
        (2.0, "between 0 and 1"),
        ({"z": 0.5}, "has the label 'z'"),
        ([0.1, 0.2], "one for each label"),
    ):
        with pytest.raises(ValueError, match=message):
            light(thresholds=wrong).fit(X, frame)
    with pytest.raises(ValueError, match="several labels per row"):
        light(thresholds="f1").fit(X, np.nan_to_num(y[:, 0], nan=-1))


def test_wrong_thresholds_are_told():
    X, y, _ = rows_and_labels()
    for wrong in (True, {0: "x"}, {0: None}, [0.5, 0.5], [0.1, 0.2, 2.0], "f2"):
        with pytest.raises(ValueError, match="thresholds must be"):
            light(thresholds=wrong).fit(X, y)


@pytest.mark.long
@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_decisions_at_the_ends_are_finite(threshold):
    X, y, _ = rows_and_labels()
    model = light(thresholds=threshold).fit(X, y)
    decision = model.decision_function(X)
    assert np.isfinite(decision).all()
    np.testing.assert_array_equal(decision > 0, model.predict(X) == 1)


@pytest.mark.long
def test_what_labels_say_is_kept_in_the_shape_of_held_out_answers():
    X, y, _ = rows_and_labels()
    model = light().fit(X, y)
    assert np.array_equal(model.told_, y[model.labeled_], equal_nan=True)
    assert model.told_.shape == model.held_out_.shape
    shares = np.full((N, 2), np.nan)
    shares[:40] = np.column_stack([np.linspace(0.2, 0.8, 40), np.linspace(0.8, 0.2, 40)])
    weights = np.linspace(1.0, 3.0, N)
    model = light().fit(X, shares, weights)
    np.testing.assert_allclose(model.told_, shares[:40], atol=1e-12)
    ratio = model.told_weights_ / weights[:40]
    np.testing.assert_allclose(ratio, ratio[0])
    number = SemiSupervisedRegressor(Ridge(), random_state=0).fit(X, X[:, 0])
    assert np.array_equal(number.told_, X[number.labeled_, 0])


@pytest.mark.long
def test_thresholds_need_no_unlabelled_rows():
    X, _, truth = rows_and_labels()
    model = light(thresholds="f1").fit(X, truth)
    for place in range(3):
        own = model.held_out_[:, place], truth[:, place], np.ones(N)
        assert model.thresholds_[place] == best_threshold(*own, np.empty(0))


# ------------------------------------------------------------------ several quantities


@pytest.mark.long
def test_several_quantities_with_gaps():
    X, _, _ = rows_and_labels()
    truth = np.column_stack([X[:, 0], 1e4 * X[:, 1], np.sin(3 * X[:, 0])])
    y = np.where(np.arange(N)[:, None] < L, truth, np.nan)
    y[:10, 0] = y[5:20, 1] = np.nan
    model = SemiSupervisedRegressor(Ridge(), random_state=0).fit(X, y)
    said = model.predict(X)
    assert said.shape == (N, 3) and model.score(X, truth) > 0.8
    told = ~np.isnan(y)
    np.testing.assert_array_equal(model.transduction_[told], y[told])
    less = y * np.array([1.0, 1e-4, 1.0])
    other = SemiSupervisedRegressor(Ridge(), random_state=0).fit(X, less)
    np.testing.assert_allclose(other.predict(X) * np.array([1, 1e4, 1]), said, rtol=1e-3, atol=1e-3)
    missing = truth.copy()
    missing[3, 1] = np.nan
    assert np.isfinite(model.score(X, missing))


@pytest.mark.long
def test_one_quantity_is_one_column():
    X, _, _ = rows_and_labels()
    y = np.where(np.arange(N) < L, X[:, 0], np.nan)
    model = SemiSupervisedRegressor(Ridge(), random_state=0)
    one = model.fit(X, y).predict(X)
    assert one.shape == (N,) and model.held_out_.shape == (L,)
    with pytest.warns(UserWarning, match="column-vector"):
        np.testing.assert_array_equal(model.fit(X, y[:, None]).predict(X), one)


# ------------------------------------------------------------------ orders


def test_the_nearest_class_has_the_least_expected_distance():
    shares = np.random.default_rng(0).dirichlet(np.ones(5), size=200)
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    expected = shares @ distance
    found = nearest_class(shares)
    np.testing.assert_allclose(expected[np.arange(200), found], expected.min(axis=1), atol=1e-12)


@pytest.mark.long
def test_orders_are_found_and_told():
    X, _, _ = rows_and_labels()
    level = np.digitize(X[:, 0], [0.0, 0.7, 1.3])
    names = np.array(["low", "fair", "good", "top"])
    texts = pd.Series(names[level]).where(np.arange(N) < L)
    ordered = texts.astype(pd.CategoricalDtype(list(names), ordered=True))
    model = light().fit(X, ordered)
    assert model.order_.tolist() == list(names)
    listed = light(ordered=list(names)).fit(X, texts)
    numbers = light(ordered=True).fit(X, np.where(np.arange(N) < L, level, -1))
    np.testing.assert_array_equal(model.predict(X), listed.predict(X))
    np.testing.assert_array_equal(model.predict(X), names[numbers.predict(X)])
    assert light().fit(X, texts).order_ is None
    shares = model.predict_proba(X)[:, np.argsort(np.argsort(names))]
    np.testing.assert_array_equal(model.predict(X), names[nearest_class(shares)])
    with pytest.raises(ValueError, match="the classes are texts"):
        light(ordered=True).fit(X, texts)
    with pytest.raises(ValueError, match="name each of them once"):
        light(ordered=["low", "top"]).fit(X, texts)
    with pytest.raises(ValueError, match="name each of them once"):
        light(ordered=[*names, "top"]).fit(X, texts)
    more = light(ordered=["none", *names, "more"]).fit(X, texts)
    assert more.order_.tolist() == list(names)
    with pytest.raises(ValueError, match="ordered must be"):
        light(ordered="yes").fit(X, texts)


@pytest.mark.long
def test_numbers_of_ordered_classes_are_members():
    X, _, _ = rows_and_labels()
    noise = np.random.default_rng(0).normal(scale=0.7, size=N)
    level = np.digitize(X[:, 0] + noise, [0.0, 0.7, 1.3])
    y = np.where(np.arange(N) < L, level, -1)
    ordered = SemiSupervisedClassifier(ordered=True, random_state=0).fit(X, y)
    plain = SemiSupervisedClassifier(random_state=0).fit(X, y)
    names = [member.name for member in ordered.members_]
    assert {"ranks, forest", "ranks, linear", "forest"} <= set(names)
    assert not any(member.name.startswith("ranks") for member in plain.members_)
    rest = np.arange(N) >= L
    errors = [np.abs(model.predict(X) - level)[rest].mean() for model in (ordered, plain)]
    assert errors[0] <= errors[1]
    np.testing.assert_allclose(ordered.predict_proba(X).sum(axis=1), 1)


def test_shares_of_ranks_are_areas_under_a_normal_curve():
    rng = np.random.default_rng(0)
    said, spread, ranks = 1.3, 0.8, np.array([2, 0, 3, 1])
    drawn = np.clip(np.round(rng.normal(said, spread, 400_000)), 0, 3)
    shares = rank_shares(np.array([said]), spread, ranks)[0]
    np.testing.assert_allclose(shares, [np.mean(drawn == rank) for rank in ranks], atol=3e-3)


@pytest.mark.long
def test_a_matrix_that_is_a_dict_holds_rows():
    """A dok_array of scipy is a mapping too, and no dict of views."""
    X, y, _ = rows_and_labels()
    model = light().fit(dok_array(X), y)
    np.testing.assert_allclose(
        model.predict_proba(dok_array(X)), light().fit(csr_array(X), y).predict_proba(csr_array(X))
    )

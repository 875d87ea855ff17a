"""Held-out values of members, against fits that were made without the label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from graphkm import KNN, GKMClassifier
from graphkm.members import (
    Known,
    Scope,
    cluster_members,
    diffused_members,
    model_members,
    residual_members,
    usual_models,
)
from graphkm.members.clusters import _CS, _ridges
from graphkm.neighbours.distinct import copies_in_order

N, LABELS = 90, 16


def data(*, quantities=False, copies=False):
    """Return all rows, the numbers of the labelled ones, and what is known of them."""
    X, y = make_moons(N, noise=0.15, random_state=0)
    if copies:
        X[1] = X[0]
        y[1] = y[0]
    labeled = np.arange(LABELS)
    y = np.sin(3 * X[:, 0]) if quantities else y
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.5, LABELS)
    sets = copies_in_order(X[labeled])
    every = np.arange(LABELS)
    folds = [(every[sets.place % 4 != i], every[sets.place % 4 == i]) for i in range(4)]
    known = Known(
        X[labeled],
        y[labeled, None] if quantities else y[labeled],
        weights / weights.mean(),
        None,
        None if quantities else np.array([0, 1]),
        folds,
        sets,
        "quantities" if quantities else "classes",
    )
    return X, labeled, known


def without(known, kept):
    """Return what is known without some labels."""
    weights = known.weights[kept]
    return replace(
        known,
        rows=known.rows[kept],
        y=known.y[kept],
        weights=weights,
        folds=[],
        copies=copies_in_order(known.rows[kept]),
    )


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("quantities", [False, True])
def test_ridges_hold_a_label_out_as_a_fit_without_it(quantities, copies):
    _, _, known = data(quantities=quantities, copies=copies)
    phi = np.random.default_rng(0).normal(size=(LABELS, 5))
    phi[1] = phi[0] if copies else phi[1]
    whole = list(_ridges(phi, known))
    for i in (0, 1, 7):
        kept = np.flatnonzero(known.copies.place != known.copies.place[i])
        one = without(known, kept)
        fits = list(_ridges(phi[kept], one))
        for (held, _), (_, (mean, v, _)), C in zip(whole, fits, _CS, strict=True):
            # The literal fit: minimise |v|^2 / C + sum of weighted squares around the mean.
            A = phi[kept].T @ (one.weights[:, None] * phi[kept]) + np.eye(5) / C
            b = phi[kept].T @ (one.weights[:, None] * (one.targets - mean))
            literal = phi[i] @ np.linalg.solve(A, b)
            np.testing.assert_allclose(phi[i] @ v, literal, atol=1e-9)
            np.testing.assert_allclose(held[i], mean + literal, atol=1e-9)


@pytest.mark.parametrize("quantities", [False, True])
def test_fields_hold_folds_out_as_a_dense_solve_does(quantities):
    X, labeled, known = data(quantities=quantities)
    graph = KNN().nodes(X, labeled)
    found = list(residual_members(known, Scope(graph, 1), None))
    laplacian = np.eye(N) - graph.similarity.toarray()
    wanted = known.targets + (0.0 if quantities else 0.5)
    usual = np.average(wanted, axis=0, weights=known.weights) if quantities else 0.5
    train, test = known.folds[1]
    for member, (C, eps) in zip(
        found, [(C, eps) for C in (0.3, 3.0) for eps in (0.5, 0.1, 0.03, 0.01)], strict=True
    ):
        diagonal, right = np.zeros(N), np.zeros_like(known.targets, shape=(N, wanted.shape[1]))
        diagonal[train] = C * known.weights[train]
        right[train] = C * known.weights[train, None] * (wanted - usual)[train]
        g = np.linalg.solve(laplacian + np.diag(eps + diagonal), right)
        outputs = usual + g[test]
        found = member.held[test] if quantities else np.exp(member.held[test])
        np.testing.assert_allclose(found, outputs, atol=5e-3)
        assert member.values().shape == (N, wanted.shape[1]) and not member.labels_only


def test_the_unlabelled_rows_alone_move_clusters():
    X, labeled, known = data()
    kinds = {m.name.split()[0] for m in cluster_members(known, Scope(KNN().nodes(X, labeled), 1))}
    assert kinds == {"neighbours", "kernel", "near"}
    ranks = {m.rank for m in cluster_members(known, Scope(KNN().nodes(X, labeled), 1))}
    assert {2, 5, 10, 20, LABELS} <= ranks
    diffused = list(
        diffused_members(known, Scope(KNN().nodes(X, labeled), 1), {"line": LogisticRegression()})
    )
    assert [m.name for m in diffused] == ["diffused, line"]
    assert diffused[0].values().shape == (N, 2) and not diffused[0].labels_only


def test_scores_of_models_of_all_rows_become_shares():
    X, labeled, known = data()

    class Scores(SelfTrainingClassifier):
        predict_proba = property()

    member = next(model_members({"s": Scores(LogisticRegression())}, known, X, labeled))
    np.testing.assert_allclose(np.exp(member.held).sum(axis=1), 1)


@pytest.mark.long
def test_a_forest_is_held_out_by_its_bag_and_others_by_folds():
    X, labeled, known = data()
    models = usual_models(known, X, 0, None)
    how = {m.name: m.how for m in model_members(models, known, X, labeled)}
    assert how == {
        "kernel ridge": "out-of-fold",
        "linear": "out-of-fold",
        "forest": "out-of-bag",
        "extra trees": "out-of-bag",
    }
    boosting = {"boosting": HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2)}
    assert next(model_members(boosting, known, X, labeled)).how == "out-of-fold"
    whole = ExtraTreesClassifier(60, random_state=0)
    (extra,) = model_members({"extra": whole}, known, X, labeled)
    twin = clone(whole).set_params(bootstrap=True, oob_score=True)
    twin.fit(known.rows, known.y)
    assert extra.how == "out-of-bag" and not extra.model.model.bootstrap
    np.testing.assert_allclose(np.exp(extra.held), np.maximum(twin.oob_decision_function_, 1e-3))
    whole.fit(known.rows, known.y)
    np.testing.assert_array_equal(extra.model.model.predict_proba(X), whole.predict_proba(X))
    few = RandomForestClassifier(2, oob_score=True, random_state=0)  # some rows have no bag
    assert next(model_members({"few": few}, known, X, labeled)).how == "out-of-fold"


@pytest.mark.dear
@pytest.mark.parametrize(
    "model",
    [
        LabelSpreading(kernel="knn", n_neighbors=5),
        SelfTrainingClassifier(LogisticRegression()),
        GKMClassifier(random_state=0),
    ],
)
def test_models_of_all_rows_get_them(model):
    X, labeled, known = data()
    member = next(model_members({"theirs": model}, known, X, labeled))
    train, test = known.folds[0]
    y = np.full(N, -1)
    y[labeled[train]] = known.codes[train]
    with np.errstate(invalid="ignore"):  # label spreading knows nothing of some rows
        literal = np.nan_to_num(model.fit(X, y).predict_proba(X[labeled[test]]), nan=0.5)
    np.testing.assert_allclose(np.exp(member.held[test]), np.maximum(literal, 1e-3), atol=1e-6)
    assert not member.labels_only


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(random_state=0)])
def test_a_fold_of_one_class_says_nothing(model):
    X, labeled, known = data()
    y = np.zeros(LABELS, np.int64)
    y[3] = 1  # without it there is one class
    member = next(model_members({"line": model}, replace(known, y=y), X, labeled))
    held = np.exp(member.held)
    fold = next(test for _, test in known.folds if 3 in test)
    np.testing.assert_allclose(held[fold], 0.5)
    others = np.setdiff1d(np.arange(LABELS), fold)
    assert np.abs(held[others] - 0.5).min() > 1e-3


def test_a_wide_sparse_table_has_no_trees():
    from scipy.sparse import random

    _, _, known = data()
    names = list(usual_models(known, random(50, 5000, format="csr"), 0, None))
    assert names == ["kernel ridge", "linear"]
    assert "forest" in usual_models(known, random(50, 500, format="csr"), 0, None)


def test_a_line_has_as_many_functions_as_columns_and_a_constant():
    X, labeled, known = data()
    members = model_members(usual_models(known, X, 0, 1), known, X, labeled)
    ranks = {member.name: member.rank for member in members}
    assert ranks.pop("linear") == 3 and set(ranks.values()) == {None}
    one_each = np.array([np.argmin(known.y), np.argmax(known.y)])
    few = without(known, one_each)
    lines = model_members({"line": LogisticRegression()}, replace(few, folds=[]), X, one_each)
    assert [member.rank for member in lines] == [2]  # no more than labels


@pytest.mark.parametrize("quantities", [False, True])
def test_a_correction_is_the_model_and_a_field_of_its_errors(quantities):
    X, labeled, known = data(quantities=quantities)
    scope = Scope(KNN().nodes(X, labeled), 1)
    models = usual_models(known, X, 0, 1)
    (line,) = model_members({"linear": models["linear"]}, known, X, labeled)
    plain = list(residual_members(known, scope, line))
    said = line.held if quantities else np.exp(line.held)
    wanted = known.targets + (0.0 if quantities else 0.5)
    laplacian = np.eye(N) - scope.graph.similarity.toarray()
    for member, (C, eps) in zip(plain[:2], [(0.3, 0.5), (0.3, 0.1)], strict=True):
        assert member.model is line.model and not member.labels_only
        diagonal, right = np.zeros(N), np.zeros((N, wanted.shape[1]))
        diagonal[labeled] = C * known.weights
        right[labeled] = C * known.weights[:, None] * (wanted - said)
        literal = np.linalg.solve(laplacian + np.diag(eps + diagonal), right)
        np.testing.assert_allclose(member.values(), literal, atol=5e-3)


@pytest.mark.parametrize("quantities", [False, True])
def test_without_some_labels_a_member_is_one_that_never_saw_them(quantities):
    X, labeled, known = data(quantities=quantities, copies=True)
    seen, told = known.folds[0]
    whole = list(cluster_members(known, Scope(KNN().nodes(X, labeled), 1)))
    part = without(known, seen)
    fewer = list(cluster_members(part, Scope(KNN().nodes(X, labeled[seen]), 1)))
    changed = replace(known, y=known.y.copy())
    changed.y[told] = changed.y[told] + 5.0 if quantities else 1 - changed.y[told]
    others = list(cluster_members(changed, Scope(KNN().nodes(X, labeled), 1)))
    assert len(whole) == len(fewer) and not np.array_equal(known.y, changed.y)
    for member, less, other in zip(whole, fewer, others, strict=True):
        held, said = member.without(seen, told)
        np.testing.assert_array_equal(held, other.without(seen, told)[0])
        np.testing.assert_array_equal(said, other.without(seen, told)[1])
        if member.name.startswith("neighbours"):  # whose features do not depend on labels
            np.testing.assert_allclose(held, less.held, atol=1e-8)


@pytest.mark.parametrize(
    ("columns", "classes", "quick"),
    [(4, 2, True), (1, 1000, True), (2, 1000, False), (9000, 2, True), (10_000, 2, False)],
)
def test_boosting_is_left_out_where_it_is_slow(columns, classes, quick):
    n = 60 if classes == 2 else 20 * classes
    rows, y = np.zeros((n, columns)), np.arange(n) % 2
    known = Known(rows, y, np.ones(n), None, np.arange(classes), [], copies_in_order(rows))
    assert ("boosting" in usual_models(known, rows, 0, 1)) == quick
    many = replace(known, y=np.zeros(10**7, dtype=np.int8))
    assert "boosting" not in usual_models(many, rows, 0, 1)


@pytest.mark.parametrize("kind", ["classes", "labels", "quantities"])
def test_boosting_needs_twenty_labels_of_a_class(kind):
    """A label of several is there or not, which is two classes; a quantity has none."""
    for n, enough in ((39, kind == "quantities"), (40, True)):
        rows, y = np.zeros((n, 3)), np.arange(n) % 2
        classes = np.arange(2) if kind == "classes" else None
        y = y if kind == "classes" else np.column_stack([y, y, y]).astype(np.float64)
        known = Known(rows, y, np.ones(n), None, classes, [], copies_in_order(rows), kind)
        assert ("boosting" in usual_models(known, rows, 0, 1)) == enough


def test_a_column_that_follows_from_others_is_no_choice():
    X, labeled, known = data()
    wide = np.column_stack([X, 3 * X[:, 0] - X[:, 1], np.ones(N), 1e-6 * X[:, 1]])
    own = replace(known, rows=wide[labeled])
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        assert next(model_members({"line": model}, own, wide, labeled)).rank == 3

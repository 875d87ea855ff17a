"""Rows that belong to no known class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphkm import GKMClassifier, SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.active import Cover, suggest
from graphkm.active import cover as covering
from graphkm.active.novel import smooth_rank
from graphkm.exchange import load_model, save_model
from graphkm.graphs import KNN
from graphkm.inspection import novelty
from graphkm.semi.held import held_of

ALL, TRUTH = make_blobs(500, centers=5, n_features=4, cluster_std=1.5, random_state=2)
X, NEW = ALL[:350], ALL[350:]
FOURTH = 3  # a class without labels
Y = np.where((TRUTH[:350] != FOURTH) & (np.arange(350) < 150), TRUTH[:350], -1)
LABELED = np.flatnonzero(Y >= 0)


@pytest.fixture(scope="module")
def model():
    return SemiSupervisedClassifier(LogisticRegression(), random_state=0).fit(X, Y)


# ------------------------------------------------------------------ what labels leave


def literal(rows, weights):
    """Return the field's covariance before labels, by the formula; and after, given some."""
    graph = KNN(weights="local").nodes(rows)
    K = np.linalg.inv(0.1 * np.eye(len(rows)) + graph.laplacian.toarray())
    factor = K.diagonal().mean()
    return weights @ (K / factor) @ weights.T, factor


def left(K, labeled, at):
    inner = K[np.ix_(labeled, labeled)] + 0.1 * np.eye(len(labeled))
    return (K - K[:, labeled] @ np.linalg.inv(inner) @ K[labeled])[at, at] / K[at, at]


def test_what_labels_leave_is_that_of_the_formula():
    K, _ = literal(X, np.eye(350))
    labeled, asked = np.array([3, 40, 41, 200]), np.array([3, 7, 41, 300])
    wanted = [left(K, labeled, at) for at in asked]
    np.testing.assert_allclose(Cover(X).unexplained(labeled, X[asked]), wanted, atol=1e-4)


def test_without_its_own_label_a_row_is_left_as_if_it_had_none():
    K, _ = literal(X, np.eye(350))
    labeled = np.array([3, 40, 41, 200])
    wanted = [left(K, labeled[labeled != at], at) for at in labeled]
    np.testing.assert_allclose(Cover(X).unexplained_by_others(labeled), wanted, atol=1e-4)


def test_another_row_is_one_more_node():
    labeled = np.array([3, 40, 41, 200])
    z = KNN(weights="local").nodes(X).nodes.weights(NEW[:5]).toarray()
    K, factor = literal(X, np.vstack([np.eye(350), z / 1.1]))
    more = np.zeros_like(K)
    more[350:, 350:] = np.eye(5) / (1.1 * factor)
    wanted = [left(K + more, labeled, at) for at in range(350, 355)]
    np.testing.assert_allclose(Cover(X).unexplained(labeled, NEW[:5]), wanted, atol=1e-4)


def test_labels_tell_nothing_of_a_row_far_from_all():
    cover = Cover(X)
    near, far = cover.unexplained(LABELED, X[LABELED[:1]] + np.array([[0.01], [1e4]]))
    assert near < 0.9 and far > 0.999


def test_many_rows_are_compared_in_parts(monkeypatch):
    cover = Cover(X)
    whole = cover.unexplained(LABELED, ALL)
    monkeypatch.setattr(covering, "_COMPARED", 64)
    np.testing.assert_allclose(cover.unexplained(LABELED, ALL), whole)


@pytest.mark.long
def test_ranks_are_shares_of_smooth_steps():
    rng = np.random.default_rng(0)
    among, values = rng.normal(size=50), np.linspace(-3, 3, 2500)
    spread = min(among.std(), np.subtract(*np.quantile(among, [0.75, 0.25])) / 1.34)
    width = 0.9 * spread * 50**-0.2
    wanted = [np.mean([norm.cdf((value - each) / width) for each in among]) for value in values]
    np.testing.assert_allclose(smooth_rank(values, among), wanted)
    assert smooth_rank(np.array([1.0]), np.ones(4)).tolist() == [0.5]


# ------------------------------------------------------------------ novelty


@pytest.mark.long
def test_rows_of_a_class_without_labels_are_novel(model):
    for rows, truth in ((X, TRUTH[:350]), (NEW, TRUTH[350:])):
        found, novel = novelty(model, rows), truth == FOURTH
        assert found.shape == (len(rows),) and (found >= 0).all() and (found <= 1).all()
        unlabelled = ~np.isin(np.arange(len(rows)), LABELED) if rows is X else novel | True
        area = roc_auc_score(novel[unlabelled], found[unlabelled])
        unsure = 1 - model.predict_proba(rows).max(axis=1)
        assert area > 0.95 and area > roc_auc_score(novel[unlabelled], unsure[unlabelled])


@pytest.mark.long
def test_a_tenth_of_the_rows_of_known_classes_has_more_than_nine_tenths():
    shares = []
    for seed in range(5):
        rows, y = make_blobs(600, centers=3, n_features=4, cluster_std=3.0, random_state=seed)
        told = np.where(np.arange(600) < 120, y, -1)
        fitted = SemiSupervisedClassifier(LogisticRegression(), random_state=0)
        fitted.fit(rows[:400], told[:400])
        found = novelty(fitted, rows)
        shares.append([np.mean(found[120:400] > 0.9), np.mean(found[400:] > 0.9)])
    assert (np.abs(np.mean(shares, axis=0) - 0.1) < 0.05).all()


@pytest.mark.long
def test_the_score_is_that_of_the_formula(model):
    held, cover = held_of(model), Cover(X)

    def odds(u, p):
        return np.log(u / (1 - u)) + np.log((1 - p) / p)

    usual = odds(cover.unexplained_by_others(LABELED), held.said.max(axis=1))
    asked = NEW[:20]
    own = odds(cover.unexplained(LABELED, asked), model.predict_proba(asked).max(axis=1))
    np.testing.assert_allclose(novelty(model, asked), smooth_rank(own, usual), atol=1e-6)


@pytest.mark.long
def test_a_new_class_far_away_is_found(model):
    found = novelty(model, NEW[:5] + 500.0)
    assert found.min() > 0.95


def test_rows_of_the_fit_may_be_passed(model):
    np.testing.assert_array_equal(novelty(model, NEW, rows=X), novelty(model, NEW))


@pytest.mark.long
def test_a_model_from_a_file_has_its_rows(tmp_path):
    live = SemiSupervisedClassifier(None, random_state=0).fit(X, Y)
    save_model(live, tmp_path / "a")
    found = novelty(load_model(tmp_path / "a"), NEW)
    np.testing.assert_allclose(found, novelty(live, NEW))


@pytest.mark.long
def test_copies_and_anchors_need_the_rows(tmp_path):
    rows, y = np.vstack([X[:1], X]), np.append(-1, Y)
    copied = SemiSupervisedClassifier(None, random_state=0).fit(rows, y)
    save_model(copied, tmp_path / "a")
    anchors = SemiSupervisedClassifier(None, graph="anchors", random_state=0).fit(rows, y)
    plain = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0).fit(rows, y)
    for fitted in (copied, load_model(tmp_path / "a"), anchors, plain):
        with pytest.raises(ValueError, match="does not keep the rows of its fit"):
            novelty(fitted, NEW)
        found = novelty(fitted, NEW, rows=rows)
        assert roc_auc_score(TRUTH[350:] == FOURTH, found) > 0.9


@pytest.mark.long
def test_views_have_the_rows_of_the_heaviest():
    both = {"one": ALL[:, :2], "two": ALL}
    fit, new = (
        {name: each[part] for name, each in both.items()} for part in (slice(350), slice(350, 500))
    )
    fitted = SemiSupervisedClassifier(LogisticRegression(), random_state=0).fit(fit, Y)
    found = novelty(fitted, new, rows=fit)
    assert roc_auc_score(TRUTH[350:] == FOURTH, found) > 0.9


@pytest.mark.long
def test_what_has_no_novelty_is_told(model):
    with pytest.raises(TypeError, match="GKMClassifier holds no labels out"):
        novelty(GKMClassifier().fit(X, Y), X)
    targets = np.where(Y < 0, np.nan, Y)
    with pytest.raises(ValueError, match="The model predicts quantities"):
        novelty(SemiSupervisedRegressor(Ridge(), random_state=0).fit(X, targets), X)
    several = np.where(Y[:, None] < 0, np.nan, np.eye(5)[Y][:, :2])
    labels = SemiSupervisedClassifier(LogisticRegression(), random_state=0).fit(X, several)
    with pytest.raises(ValueError, match="The model predicts labels"):
        novelty(labels, X)
    with pytest.raises(ValueError, match="X is None"):
        novelty(model, None)
    with pytest.raises(ValueError, match=f"50 rows were passed, and row {LABELED[-1]} of the fit"):
        novelty(model, NEW, rows=X[:50])


# ------------------------------------------------------------------ suggestions


@pytest.mark.long
def test_novel_rows_are_suggested(model):
    found = suggest(model, X, 10, y=Y, strategy="novelty")
    assert len(np.intersect1d(found, LABELED)) == 0 and len(set(found.tolist())) == 10
    usual = suggest(model, X, 10, y=Y)
    novel = TRUTH[:350] == FOURTH
    assert novel[found].mean() >= 0.8 > novel[usual].mean() - 0.2
    again = suggest(model, X, 10, y=Y, strategy="novelty", cover=Cover(X))
    np.testing.assert_array_equal(found, again)


def test_novel_rows_of_a_sample_are_suggested(model, monkeypatch):
    monkeypatch.setattr(covering, "_ROWS", 200)
    found = suggest(model, X, 5, y=Y, strategy="novelty")
    assert (TRUTH[:350][found] == FOURTH).mean() >= 0.6


@pytest.mark.long
def test_a_pipeline_suggests_novel_rows():
    front = SemiSupervisedClassifier(LogisticRegression(), random_state=0)
    fitted = make_pipeline(StandardScaler(), front).fit(X, Y)
    found = suggest(fitted, X, 5, y=Y, strategy="novelty")
    assert (TRUTH[:350][found] == FOURTH).all()


@pytest.mark.long
def test_strategies_that_cannot_be_are_told(model):
    with pytest.raises(ValueError, match="strategy must be one of 'uncertainty', 'novelty'"):
        suggest(model, X, strategy="new")
    with pytest.raises(TypeError, match="GKMClassifier holds no labels out"):
        suggest(GKMClassifier().fit(X, Y), X, y=Y, strategy="novelty")
    with pytest.raises(TypeError, match="NoneType holds no labels out"):
        suggest(None, X, strategy="novelty")

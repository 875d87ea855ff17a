"""Which rows to label next: the cover against the literal formula, and every kind of model."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cli_runner import moons, run, write_csv
from graphkm import (
    GKMClassifier,
    GKMRegressor,
    KernelRidgeClassifierCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)
from graphkm.active import Cover, suggest, uncertainty
from graphkm.active import cover as module
from graphkm.graphs import KNN

pytestmark = pytest.mark.usefixtures("one_model")


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(300, centers=6, n_features=3, cluster_std=0.4, random_state=1)


def literal_covariance(X, labeled, eps):
    """Return the covariance of all rows by the formula, with dense matrices."""
    graph = KNN(weights="local").nodes(X)
    Z = graph.rows.toarray()
    T = eps * np.eye(Z.shape[1]) + graph.laplacian.toarray()
    prior = Z @ np.linalg.inv(T) @ Z.T
    prior /= prior.diagonal().mean()
    if len(labeled) == 0:
        return prior
    K = prior[np.ix_(labeled, labeled)] + 0.1 * np.eye(len(labeled))
    return prior - prior[:, labeled] @ np.linalg.inv(K) @ prior[labeled]


@pytest.mark.parametrize("eps", [0.01, 0.3])
def test_the_covariance_is_that_of_the_formula(blobs, eps):
    X, _ = blobs
    wanted = literal_covariance(X, [], eps)
    rows, others = np.array([3, 200, 7]), np.array([1, 3])
    np.testing.assert_allclose(Cover(X).covariance(rows, eps=eps), wanted[:, rows], atol=1e-4)
    found = Cover(X).covariance(rows, others, eps)
    np.testing.assert_allclose(found, wanted[np.ix_(others, rows)], atol=1e-4)


@pytest.mark.parametrize("n_labeled", [0, 2, 280])
@pytest.mark.parametrize("cold", [True, False])
def test_a_batch_is_chosen_as_if_the_rows_before_were_labelled(blobs, n_labeled, cold):
    X, _ = blobs
    rng = np.random.default_rng(1)
    interest = np.ones(len(X)) if cold else rng.uniform(0.1, 1.0, len(X))
    known = rng.permutation(len(X))[:n_labeled].tolist()
    for row in Cover(X).choose(6, known[:n_labeled], None if cold else interest):
        K = literal_covariance(X, known, 0.02 if cold else 0.1)
        worth = interest * np.square(K).sum(axis=0) / (0.1 + K.diagonal())
        worth[known] = -1
        assert worth[row] >= 0.999 * worth.max()
        known.append(row)


def test_rows_far_from_all_others_are_not_preferred():
    X, _ = make_blobs(2000, centers=4, n_features=10, random_state=0)
    X[:40] = np.random.default_rng(0).uniform(-40, 40, (40, 10))
    assert (suggest(None, X, 20) < 40).sum() <= 2


def test_a_cold_start_finds_every_cluster(blobs):
    X, truth = blobs
    assert set(truth[suggest(None, X, 6)]) == set(range(6))
    by_chance = [len(set(truth[np.random.default_rng(s).permutation(300)[:6]])) for s in range(20)]
    assert np.mean(by_chance) < 5


@pytest.mark.dear
@pytest.mark.parametrize(
    "model",
    [
        GKMClassifier(random_state=0),
        SemiSupervisedClassifier(random_state=0),
        SemiSupervisedClassifier(LogisticRegression(max_iter=1000), random_state=0),
        SVC(),
        RidgeClassifier(),
        LogisticRegression(),
        RandomForestClassifier(20, random_state=0),
        make_pipeline(StandardScaler(), SVC()),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 6])
def test_every_classifier_with_scores(blobs, model, n_classes):
    X, truth = blobs
    truth = truth % n_classes
    y = np.where(np.arange(300) < 60, truth, -1)
    ours = hasattr(model, "unlabeled")
    fitted = model.fit(X, y) if ours else model.fit(X[:60], y[:60])
    chosen = suggest(fitted, X, 12, y=y)
    assert len(set(chosen)) == 12 and (y[chosen] == -1).all()
    unsure = uncertainty(fitted, X)
    assert unsure.min() > 0 and unsure.max() <= 1
    assert unsure[chosen].mean() > unsure[suggest(None, X, 12, y=y)].mean()


def test_uncertainty_is_one_less_the_margin_of_probabilities():
    X, y = make_moons(100, noise=0.3, random_state=0)
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(uncertainty(model, X), np.maximum(1 - np.abs(2 * p - 1), 1e-3))
    svm = SVC().fit(X, y)
    margin = np.abs(svm.decision_function(X))
    np.testing.assert_allclose(
        uncertainty(svm, X), np.maximum(np.exp(-margin / margin.mean()), 1e-3)
    )


@pytest.mark.filterwarnings("ignore:5 of the graph's connected components")
def test_regressors_get_rows_that_cover(blobs):
    X, truth = blobs
    y = np.where(truth == 0, X[:, 0], np.nan)  # labels in one cluster only
    model = RandomForestRegressor(5, random_state=0).fit(X[truth == 0], X[truth == 0, 0])
    assert set(truth[suggest(model, X, 5, y=y)]) == {1, 2, 3, 4, 5}
    for ours in (GKMRegressor(random_state=0), SemiSupervisedRegressor(None, random_state=0)):
        assert set(truth[suggest(ours.fit(X, y), X, 5, y=y)]) == {1, 2, 3, 4, 5}


@pytest.mark.long
def test_frames_sparse_rows_and_words(blobs):
    pd = pytest.importorskip("pandas")
    X, truth = blobs
    words = np.array(["a", "b", "c", "d", "e", "f"], dtype=object)[truth]
    y = np.where(np.arange(300) < 40, words, None)
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    model = GKMClassifier(random_state=0).fit(frame, y)
    chosen = suggest(model, frame, 5, y=pd.Series(y))
    assert (chosen >= 40).all()
    sparse = sp.csr_matrix(np.maximum(X, 0))
    model = GKMClassifier(random_state=0).fit(sparse, y)
    assert len(suggest(model, sparse, 5, y=y)) == 5


def test_the_marker_of_the_model_and_a_given_one(blobs):
    X, truth = blobs
    y = np.where(np.arange(300) < 40, truth % 2, 9)
    model = GKMClassifier(unlabeled=9, random_state=0).fit(X, y)
    assert (suggest(model, X, 5, y=y) >= 40).all()
    assert (suggest(SVC().fit(X[:40], y[:40]), X, 5, y=y, unlabeled=9) >= 40).all()


def test_a_sample_of_many_rows_and_labels_outside_it(monkeypatch):
    monkeypatch.setattr(module, "_ROWS", 200)
    monkeypatch.setattr(module, "_NODES", 100)
    monkeypatch.setattr(module, "_ANCHORS", 40)
    X, truth = make_blobs(1000, centers=5, cluster_std=0.3, random_state=0)
    cover = Cover(X)
    assert len(cover.rows) == 200 and len(np.unique(cover.rows)) == 200
    assert set(truth[cover.choose(5)]) == set(range(5))
    outside = np.setdiff1d(np.arange(1000), cover.rows)
    known = outside[truth[outside] < 4]
    assert (truth[cover.choose(1, known)] == 4).all()
    interest = np.linspace(0.1, 1, 1000)
    rest = cover.choose(3, cover.rows, interest)  # the whole sample has labels
    np.testing.assert_array_equal(rest, outside[::-1][:3])


def test_only_the_sample_is_predicted(monkeypatch):
    pd = pytest.importorskip("pandas")
    monkeypatch.setattr(module, "_ROWS", 150)
    X, truth = make_blobs(600, centers=3, random_state=0)
    frame, asked = pd.DataFrame(X, columns=["x", "z"]), []

    class Counting(LogisticRegression):
        def predict_proba(self, X):
            asked.append(len(X))
            return super().predict_proba(X)

    chosen = suggest(Counting().fit(frame[:50], truth[:50]), frame, 5)
    assert asked == [150] and len(set(chosen)) == 5


def test_few_rows_copies_and_what_is_left():
    X = np.repeat(np.array([[0.0], [1.0]]), 5, axis=0)
    assert set(suggest(None, X, 2) // 5) == {0, 1}
    assert sorted(suggest(None, X, 50)) == list(range(10))
    y = np.array([0] * 9 + [-1])
    assert suggest(None, X, 3, y=y).tolist() == [9]
    assert len(suggest(None, X, 3, y=np.zeros(10))) == 0


def test_the_same_rows_again(blobs):
    X, _ = blobs
    np.testing.assert_array_equal(suggest(None, X, 9), suggest(None, X, 9))
    np.testing.assert_array_equal(suggest(None, X, 9), suggest(None, X, 9, cover=Cover(X)))


def test_what_is_refused(blobs):
    X, truth = blobs
    with pytest.raises(ValueError, match="n must be"):
        suggest(None, X, 0)
    with pytest.raises(ValueError, match="at least 2 rows"):
        suggest(None, X[:1], 1)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        suggest(None, X, 2, y=[1, 2])

    class Plain(KNeighborsClassifier):
        predict_proba = property()

    with pytest.raises(TypeError, match="Plain has neither predict_proba"):
        suggest(Plain().fit(X, truth), X, 2)


# ---------------------------------------------------------------- the command


def test_the_command_suggests_rows_without_labels(tmp_path, capsys):
    X, y, _ = moons(200, 12)
    rows = write_csv(tmp_path / "rows.csv", X, y)
    assert run("train", rows, tmp_path / "m.gkm") == 0
    capsys.readouterr()
    assert run("suggest", tmp_path / "m.gkm", rows, "-n", 7) == 0
    head, *lines = capsys.readouterr().out.split()
    assert head == "row,prediction,uncertainty" and len(lines) == 7
    numbers = [int(line.split(",")[0]) for line in lines]
    assert all(y[number - 1] == "" for number in numbers)
    assert {line.split(",")[1] for line in lines} <= {"cat", "dog"}
    bare = write_csv(tmp_path / "bare.csv", X)
    out = tmp_path / "next.csv"
    assert run("suggest", tmp_path / "m.gkm", bare, "-n", 3, "--json", "--out", out) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["unlabelled"] == 200 and len(facts["rows"]) == 3
    assert len(out.read_text().split()) == 4


@pytest.mark.long
def test_the_command_says_what_is_wrong(tmp_path, capsys):
    X, _, names = moons(100, 12)
    rows = write_csv(tmp_path / "rows.csv", X, names)
    assert run("train", rows, tmp_path / "m.gkm") == 0
    assert run("suggest", tmp_path / "m.gkm", rows) == 1
    assert "all of its 100 rows have a label" in capsys.readouterr().err
    assert run("suggest", tmp_path / "m.gkm", rows, "--json") == 2


@pytest.mark.long
def test_rows_of_several_views_are_suggested():
    pytest.importorskip("tokenizers")
    said = ("the cat sat on my mat", "prices of stocks fall", "every dog barks")
    texts = [f"{said[k % 3]} {k}" for k in range(30)]
    y = [["cat", "money", "dog"][k % 3] if k < 9 else "" for k in range(30)]
    ridge = KernelRidgeClassifierCV(alphas=[1.0])
    model = SemiSupervisedClassifier(ridge, unlabeled="", random_state=0).fit(texts, y)
    found = suggest(model, texts, 5, y=y)
    assert len(set(found.tolist())) == 5 and found.min() >= 9
    assert suggest(model, np.array(texts), 5, y=y).tolist() == found.tolist()
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(30, 2)), "b": rng.normal(size=(30, 3))}
    assert len(suggest(clone(model).fit(views, y), views, 4, y=y)) == 4


# ------------------------------------------------------------- several labels per row


@pytest.fixture(scope="module")
def several():
    """Return rows, a table of three labels, and a model of them."""
    X, _ = make_blobs(160, centers=4, n_features=3, cluster_std=1.5, random_state=0)
    truth = np.column_stack([X[:, 0] > 0, X[:, 1] > 2, X[:, 2] + X[:, 0] > 0]).astype(float)
    y = np.full(truth.shape, np.nan)
    y[:40] = truth[:40]
    return X, y, SemiSupervisedClassifier(LogisticRegression(), random_state=0).fit(X, y)


def test_several_labels_are_unsure_in_their_mean(several):
    X, _, model = several
    p = model.predict_proba(X)
    wanted = np.maximum((1 - np.abs(2 * p - 1)).mean(axis=1), 1e-3)
    np.testing.assert_allclose(uncertainty(model, X), wanted)
    assert wanted.max() <= 1


def test_a_row_with_unknown_labels_is_suggested_until_all_are_known(several):
    X, y, model = several
    found = suggest(model, X, 200, y=y)
    assert sorted(found) == list(range(40, 160))
    some = y.copy()
    some[40:] = 0.0
    some[50, 1] = np.nan
    some[60, :2] = np.nan
    assert sorted(suggest(model, X, 5, y=some)) == [50, 60]
    by_names = [[name for name in range(3) if row[name]] for row in y[:40]] + [None] * 120
    assert suggest(model, X, 5, y=by_names).tolist() == suggest(model, X, 5, y=y).tolist()


def test_labels_that_are_known_do_not_count(several):
    X, y, model = several
    unsure = 1 - np.abs(2 * model.predict_proba(X) - 1)
    row = 40 + int(unsure[40:].sum(axis=1).argmax())
    first = suggest(model, X[40:], 1, y=y[40:])
    some = y[40:].copy()
    some[first, unsure[40:][first].argmax(axis=1)] = 1.0
    assert first[0] != suggest(model, X[40:], 1, y=some)[0]
    assert unsure[row].sum() >= unsure[40 + first[0]].sum()


@pytest.mark.parametrize("kind", ["list", "one for each", "chain"])
def test_models_of_scikit_learn_with_several_labels_are_taken(several, kind):
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.multioutput import ClassifierChain

    X, y, _ = several
    model = {
        "list": RandomForestClassifier(10, random_state=0),
        "one for each": OneVsRestClassifier(LogisticRegression()),
        "chain": ClassifierChain(LogisticRegression()),
    }[kind].fit(X[:40], y[:40].astype(int))
    said = model.predict_proba(X)
    p = np.column_stack([each[:, 1] for each in said]) if kind == "list" else said
    wanted = np.maximum((1 - np.abs(2 * p - 1)).mean(axis=1), 1e-3)
    np.testing.assert_allclose(uncertainty(model, X), wanted)
    assert len(suggest(model, X, 4)) == 4

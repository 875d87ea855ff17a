"""Several views of the same rows, names of labels, and members of rows that encoders made."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import sqrtm
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.embed import TextEmbedder, Words
from graphkm.members import Known, leading_members, named_member
from graphkm.neighbours.distinct import Copies
from graphkm.semi import member_list
from graphkm.semi.mixed_views import MixedViews
from graphkm.semi.views import Views, are_texts, copies_of

pytestmark = pytest.mark.usefixtures("one_model")

ANIMALS = ("the cat sleeps on the sofa", "a dog barks at the cat", "my kitten chases a mouse")
MONEY = (
    "the bank raised its interest rates",
    "stocks fell on the market",
    "she pays by credit card",
)


def two_views(n=120, seed=0):
    """Return two views, each of which tells two of three classes apart, and the classes."""
    X, truth = make_blobs(n, 2, centers=[[0, 0], [0, 0], [6, 0]], random_state=seed)
    Z, _ = make_blobs(n, 3, random_state=seed + 1)
    Z = np.random.default_rng(seed).normal(size=(n, 3)) + 6.0 * (truth == 1)[:, None]
    return {"left": X, "right": Z}, truth


def few(truth, per_class=6):
    y = np.full(len(truth), -1)
    for c in np.unique(truth):
        y[np.flatnonzero(truth == c)[:per_class]] = c
    return y


def texts(n=60, seed=0):
    """Return short texts of two subjects, and the subjects."""
    rng = np.random.default_rng(seed)
    subject = rng.integers(0, 2, n)
    made = [f"{(ANIMALS, MONEY)[s][rng.integers(3)]} {k}" for k, s in enumerate(subject)]
    return made, np.array(["animals", "money"])[subject]


def of_texts(vectors, words=True):
    """Return views of texts whose vectors are made by a function."""
    own = {"vectors": TextEmbedder(vectors, cache=None)}
    return own | {"words": Words()} if words else own


def lengths(some):
    """Return vectors of texts: how often some letters occur."""
    return np.array([[1.0 + each.count(c) for c in "abcdeiknorst"] for each in some])


# ------------------------------------------------------------------ a dict of views


@pytest.mark.long
def test_two_views_tell_more_than_each_of_them(all_models):
    views, truth = two_views()
    y, rest = few(truth), few(truth) == -1
    both = SemiSupervisedClassifier(random_state=0).fit(views, y)
    found = [np.mean(both.predict(views)[rest] == truth[rest])]
    for each in views.values():
        model = SemiSupervisedClassifier(random_state=0).fit(each, y)
        found.append(np.mean(model.predict(each)[rest] == truth[rest]))
    assert found[0] > 0.85 > max(found[1:]) + 0.05
    kinds = {member.name.split(": ")[0] for member in both.members_}
    assert kinds == {"left", "right"}
    assert set(both.views_) == {"left", "right"} and both.n_features_in_ == 5
    np.testing.assert_array_equal(both.transduction_[rest], both.predict(views)[rest])


def test_the_mixture_is_the_sum_of_those_of_the_views():
    views, truth = two_views()
    model = SemiSupervisedClassifier(random_state=0, class_sizes=None).fit(views, few(truth))
    mixed = model.mixture_
    assert isinstance(mixed, MixedViews)
    assert sum(mixed.shares.values()) == pytest.approx(1.0)
    parts = [mixed.shares[name] * mixed.views[name].at(X, X) for name, X in views.items()]
    np.testing.assert_allclose(model.predict_proba(views), sum(parts), atol=1e-6)


def test_one_view_is_the_plain_rows():
    views, truth = two_views()
    plain = SemiSupervisedClassifier(random_state=0).fit(views["left"], few(truth))
    alone = SemiSupervisedClassifier(random_state=0).fit({"left": views["left"]}, few(truth))
    mine, other = alone.predict_proba({"left": views["left"]}), plain.predict_proba(views["left"])
    np.testing.assert_allclose(mine, other, atol=1e-9)


@pytest.mark.long
def test_the_order_of_rows_and_the_unit_of_weights_do_not_matter():
    views, truth = two_views(60)
    y, turn = few(truth), np.random.default_rng(0).permutation(60)
    turned = {name: each[turn] for name, each in views.items()}
    model = SemiSupervisedClassifier(random_state=0)
    one = clone(model).fit(views, y).predict_proba(views)
    two = clone(model).fit(turned, y[turn]).predict_proba(views)
    np.testing.assert_allclose(two, one, atol=1e-4)  # sums over rows round differently
    one = clone(model).fit(views, y, np.ones(60)).predict_proba(views)
    two = clone(model).fit(views, y, np.full(60, 10.0)).predict_proba(views)
    np.testing.assert_allclose(two, one, atol=1e-6)


def test_copies_are_equal_in_all_views():
    views = Views(
        {"a": np.array([[1.0], [1.0], [2.0], [1.0]]), "b": sp.csr_array(np.eye(4)[[0, 0, 2, 3]])}
    )
    place = copies_of(views).place
    assert place[0] == place[1] and len(set(place.tolist())) == 3


@pytest.mark.long
def test_sparse_rows_frames_and_other_graphs():
    pandas = pytest.importorskip("pandas")
    views, truth = two_views()
    y = few(truth)
    table = pandas.DataFrame(views["left"], columns=["x", "z"])
    given = {"left": table, "right": sp.csr_array(np.maximum(views["right"], 0))}
    for graph in ("auto", "anchors", None):
        model = SemiSupervisedClassifier(graph=graph, random_state=0).fit(given, y)
        assert np.mean(model.predict(given) == truth) > 0.8
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.predict_proba(given), model.predict_proba(given))
    with pytest.raises(ValueError, match="feature names"):
        model.predict({**given, "left": table.rename(columns={"x": "other"})})


def test_edges_beside_views():
    views, truth = two_views()
    same = np.triu(truth[:, None] == truth, 1) & (np.random.default_rng(0).random((120, 120)) < 0.1)
    edges = np.argwhere(same)
    model = SemiSupervisedClassifier(random_state=0).fit(views, few(truth), affinity=edges)
    assert np.mean(model.transduction_ == truth) > 0.95
    new = {name: each[:3] for name, each in views.items()}
    assert model.predict(new, affinity=[(0, 5), (1, 6)]).shape == (3,)
    assert model.predict(new).shape == (3,)


@pytest.mark.long
def test_quantities_of_two_views():
    rng = np.random.default_rng(0)
    views = {"one": rng.normal(size=(100, 2)), "two": rng.normal(size=(100, 2))}
    truth = views["one"][:, 0] + 2.0 * views["two"][:, 1]
    y = np.where(np.arange(100) < 40, truth, np.nan)
    model = SemiSupervisedRegressor(random_state=0).fit(views, y)
    assert model.score(views, truth) > 0.4
    assert {name.split(": ")[0] for name, *_ in model.members_} == {"one", "two"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "X is an empty dict"),
        ({"a": np.ones((3, 1)), "b": np.ones((4, 1))}, "'a' has 3, 'b' has 4"),
    ],
)
def test_views_that_do_not_go_together_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        SemiSupervisedClassifier().fit(given, [0, 1, -1])


@pytest.mark.long
def test_other_views_than_those_of_the_fit_are_refused():
    views, truth = two_views()
    model = SemiSupervisedClassifier(random_state=0).fit(views, few(truth))
    with pytest.raises(ValueError, match="X lacks the view 'right'"):
        model.predict({"left": views["left"]})
    plain = SemiSupervisedClassifier(random_state=0).fit(views["left"], few(truth))
    with pytest.raises(ValueError, match="learnt from plain rows"):
        plain.predict(views)
    plain.set_params(views=[StandardScaler()])
    with pytest.raises(ValueError, match="views must be a dict of encoders"):
        plain.fit(views["left"], few(truth))
    plain.set_params(views={"a": StandardScaler})
    with pytest.raises(ValueError, match="has no transform"):
        plain.fit(views["left"], few(truth))


@pytest.mark.long
def test_a_later_fit_forgets_the_views():
    views, truth = two_views()
    model = SemiSupervisedClassifier(random_state=0).fit(views, few(truth))
    model.fit(views["left"], few(truth))
    assert not hasattr(model, "views_")
    assert model.predict(views["left"]).shape == truth.shape


# ------------------------------------------------------------------ texts


@pytest.mark.long
def test_texts_are_rows():
    made, truth = texts()
    y = np.where(np.arange(60) < 16, truth, None)
    model = SemiSupervisedClassifier(views=of_texts(lengths), random_state=0).fit(made, y)
    assert np.mean(model.predict(made) == truth) > 0.9
    assert {name.split(": ")[0] for name, *_ in model.members_} == {"vectors", "words"}
    assert model.predict(["a cat", "", None]).shape == (3,)


@pytest.mark.long
def test_the_usual_views_of_texts():
    made, truth = texts()
    y = np.where(np.arange(60) < 10, truth, None)
    for given in (made, np.array(made), np.array(made, dtype=object)):
        model = SemiSupervisedClassifier(random_state=0).fit(given, y)
        assert list(model.views_) == ["vectors", "words"]
        assert np.mean(model.predict(given) == truth) > 0.9


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["a", "b"], True),
        (np.array(["a", None], dtype=object), True),
        ([None, None], False),
        (["a", 1], False),
        ("text", False),
        (np.array([["a"]], dtype=object), False),
        ([1.0, 2.0], False),
        ([["a", "b"]], False),
        (iter(["a"]), False),
    ],
)
def test_what_texts_are(given, expected):
    assert are_texts(given) is expected


@pytest.mark.long
def test_a_table_with_a_column_of_texts():
    pandas = pytest.importorskip("pandas")
    made, truth = texts(80)
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {"review": made, "stars": rng.normal(size=80) + 3.0 * (truth == "money")}
    )
    y = np.where(np.arange(80) < 20, truth, None)
    views = {"text": (Words(), "review"), "table": (StandardScaler(), ["stars"])}
    model = SemiSupervisedClassifier(views=views, random_state=0).fit(table, y)
    assert np.mean(model.predict(table) == truth) > 0.95
    array = table.to_numpy(dtype=object)
    views = {"text": (Words(), 0), "table": (StandardScaler(), [1])}
    same = SemiSupervisedClassifier(views=views, random_state=0).fit(array, y)
    np.testing.assert_allclose(same.predict_proba(array), model.predict_proba(table), atol=1e-9)


# ------------------------------------------------------------------ names of labels


def test_names_are_labels_where_there_are_none():
    made, truth = texts()
    y = np.full(60, None, dtype=object)
    names = {"animals": "a cat, a dog and a mouse", "money": "bank, market and credit card"}
    model = SemiSupervisedClassifier(label_names=names, random_state=0).fit(made, y)
    assert model.classes_.tolist() == ["animals", "money"]
    assert np.mean(model.transduction_ == truth) > 0.9


def test_a_label_may_have_a_name_and_no_row():
    made, truth = texts()
    y = np.where((np.arange(60) < 20) & (truth == "animals"), truth, None)
    names = {"money": "bank, market and credit card"}
    model = SemiSupervisedClassifier(label_names=names, random_state=0).fit(made, y)
    assert np.mean(model.transduction_ == truth) > 0.8
    assert np.isfinite(model.predict_proba(made)).all()


def test_labels_that_are_words_are_their_own_names():
    made, truth = texts()
    y = np.where(np.arange(60) < 4, truth, None)
    model = SemiSupervisedClassifier(views=of_texts(lengths), random_state=0).fit(made, y)
    assert any("names of labels" in member.name for member in model.members_)
    codes = np.where(truth == "money", 1, 0)
    known = np.where(np.arange(60) < 4, codes, -1)
    coded = SemiSupervisedClassifier(views=of_texts(lengths), random_state=0).fit(made, known)
    assert not any("names of labels" in member.name for member in coded.members_)


@pytest.mark.long
def test_names_are_judged_by_labels_alone():
    """Rows of names are never held out, so scores are those of the labels."""
    made, truth = texts()
    y = np.where(np.arange(60) < 16, truth, None)
    model = SemiSupervisedClassifier(views=of_texts(lengths), random_state=0)
    with_names, without = clone(model).fit(made, y), model.set_params(label_names=None).fit(made, y)
    for fitted in (with_names, without):
        for member in fitted.members_:
            assert (16 * member.score) % 1 == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("names", "message"),
    [("cat", "must be 'auto', None or a mapping"), ({"animals": 3}, "which is no text")],
)
def test_wrong_names_are_named(names, message):
    made, truth = texts()
    y = np.where(np.arange(60) < 16, truth, None)
    with pytest.raises(ValueError, match=message):
        SemiSupervisedClassifier(views=of_texts(lengths), label_names=names).fit(made, y)


def test_names_are_of_the_kind_of_the_labels():
    """Numbers and texts in one array would all become texts."""
    made, truth = texts()
    y = np.where(np.arange(60) < 16, np.where(truth == "money", 1, 0), -1)
    model = SemiSupervisedClassifier(views=of_texts(lengths), label_names={"money": "a bank"})
    with pytest.raises(ValueError, match="names the label 'money', which no row has"):
        model.fit(made, y)


@pytest.mark.long
@pytest.mark.parametrize(("room", "found"), [(0, True), (-1, False)])
def test_many_rows_of_encoders_are_averaged_as_far_as_memory_goes(
    room, found, monkeypatch, all_models
):
    made, truth = texts()
    y = np.where(np.arange(60) < 16, truth, None)
    monkeypatch.setattr(member_list, "can_have_features", lambda n, n_labels: False)
    # The six texts differ by a number, which the vectors do not see; two names come to them.
    monkeypatch.setattr(member_list, "ENTRIES", 8 * 12 + room)
    model = SemiSupervisedClassifier(views=of_texts(lengths, words=False), random_state=0)
    names = [member.name for member in model.fit(made, y).members_]
    assert any("diffused" in name for name in names) is found


def test_names_need_texts():
    views, truth = two_views()
    model = SemiSupervisedClassifier(label_names={0: "zero", 1: "one", 2: "two"})
    with pytest.raises(ValueError, match="needs a view that is made of texts"):
        model.fit(views, few(truth))
    with pytest.raises(ValueError, match="None of the 120 rows is labelled"):
        model.fit(views["left"], np.full(120, -1))


# ------------------------------------------------------------------ members, by literal sums


def known_rows(X, y):
    classes = np.unique(y)
    n, ones = len(y), np.ones(len(y))
    folds = [(np.setdiff1d(np.arange(n), np.arange(k, n, 4)), np.arange(k, n, 4)) for k in range(4)]
    return Known(X, y, ones, None, classes, folds, Copies.of(np.arange(n)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_leading_models_are_models_of_the_rows(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * [5, 3, 1, 1, 0.5, 0.1]
    y = rng.integers(0, n_classes, 40)
    (member,) = leading_members(known_rows(X[:40], y), X, {"linear": LogisticRegression()})
    root = np.real(sqrtm(np.cov(X, rowvar=False, bias=True)))
    Z = (X - X.mean(axis=0)) @ root
    Z *= np.sqrt(X.var(axis=0).sum() / Z.var(axis=0).sum())
    expected = LogisticRegression().fit(Z[:40], y)
    np.testing.assert_allclose(
        member.model.model.predict_proba(X), expected.predict_proba(Z), atol=1e-4
    )
    varied = np.linalg.eigvalsh(np.cov(X, rowvar=False, bias=True)) ** 2
    assert member.rank == round(varied.sum() ** 2 / (varied**2).sum())
    assert not member.labels_only


@pytest.mark.parametrize("n_names", [2, 3])
def test_a_row_has_the_label_whose_name_it_is_like(n_names):
    rng = np.random.default_rng(0)
    X, names = rng.normal(size=(50, 4)), rng.normal(size=(n_names, 4))
    labels = np.arange(n_names)
    y = np.tile(labels, 5)[: 4 * n_names]
    member = named_member(known_rows(X[: len(y)], y), X, names, labels)
    scores = X @ names.T
    scores = scores - scores.mean(axis=1, keepdims=True)
    scores -= scores.mean(axis=0)
    expected = softmax(scores / np.sqrt(np.mean(scores**2)), axis=1)
    np.testing.assert_allclose(member.model.model.predict_proba(X), expected, atol=1e-6)
    np.testing.assert_allclose(np.exp(member.held), expected[: len(y)], atol=1e-6)

"""Explanations: every label has its share, and shares add up to the answer."""

from __future__ import annotations

import copy
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, make_moons
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphkm import (
    GKMClassifier,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)
from graphkm.embed import Words
from graphkm.inspection import explain, novelty, prediction_sets
from graphkm.judge.held_out import HeldOut
from graphkm.members import Known
from graphkm.members.by_label import model_by_label
from graphkm.neighbours.distinct import Copies

X, TRUTH = load_iris(return_X_y=True)
LABELED = np.sort(np.random.default_rng(0).permutation(150)[:60])
Y = np.full(150, -1)
Y[LABELED] = TRUTH[LABELED]
NEW = X[::25] + 0.05


@pytest.fixture(scope="module")
def model():
    return SemiSupervisedClassifier(random_state=0).fit(X, Y)


def test_shares_add_up_to_the_probability(model):
    found = explain(model, NEW)
    np.testing.assert_allclose(
        [why.total for why in found], model.predict_proba(NEW).max(axis=1), atol=1e-8
    )
    assert [why.answer for why in found] == model.predict(NEW).tolist()
    assert np.array_equal(found[0].labeled, LABELED) and np.array_equal(found[0].labels, Y[LABELED])


@pytest.mark.long
def test_what_is_no_sum_over_labels_stands_beside_them():
    boosting = HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=5, random_state=0)
    model = SemiSupervisedClassifier(boosting, random_state=0).fit(X, Y)
    found = explain(model, NEW)
    np.testing.assert_allclose(
        [why.total for why in found], model.predict_proba(NEW).max(axis=1), atol=1e-8
    )
    name = next(name for name in found[0].others if "boosting" in name.lower())
    weight = sum(w.weight for w in model.evidence_.witnesses if w.corrected == name)
    said = np.log(np.maximum(model.mixture_.parts[0].model.model.predict_proba(NEW), 1e-3))
    if len(model.evidence_.witnesses) == 1:
        assert weight == 1.0
    assert all(abs(why.others[name]) <= weight for why in found) and said.shape == (6, 3)


@pytest.mark.long
def test_another_class_can_be_explained(model):
    found = explain(model, NEW, of=2)
    np.testing.assert_allclose(
        [why.value for why in found], model.predict_proba(NEW)[:, 2], atol=1e-12
    )
    np.testing.assert_allclose(
        [why.total for why in found], [why.value for why in found], atol=1e-8
    )
    with pytest.raises(ValueError, match="of=7 is no class of the model"):
        explain(model, NEW, of=7)


def test_labels_of_the_class_speak_for_it_and_others_against_it(model):
    for why in explain(model, NEW):
        own = why.labels == why.answer
        assert why.shares[own].sum() > 0 > why.shares[~own].sum()


@pytest.mark.long
def test_votes_are_what_members_say(model):
    found = explain(model, NEW)
    for why in found:
        assert abs(sum(vote.weight for vote in why.votes) - 1.0) < 1e-12
        others = why.others.get("sizes of the classes", 0.0)
        said = sum(vote.weight * vote.said for vote in why.votes)
        assert abs(said + others - why.value) < 1e-4  # fields are kept in single precision


def test_shares_are_integrals_of_gradients():
    """The literal definition: labels grow from 0 to 1 together; the answer is differentiated."""
    ridge = KernelRidgeClassifierCV(random_state=0)
    model = SemiSupervisedClassifier(ridge, graph=None, random_state=0).fit(X, Y)
    (witness,) = model.evidence_.witnesses
    total = witness.model(NEW[:1])
    terms = total.shares[0][:, None] * total.targets

    def answer(sizes):
        shares = np.maximum(total.base + sizes @ terms, 1e-3)
        powers = shares**witness.temperature
        return powers / powers.sum()

    column, h = answer(np.ones(60)).argmax(), 1e-6
    (why,) = explain(model, NEW[:1])
    grid = (np.arange(2000) + 0.5) / 2000
    order = np.searchsorted(why.labeled, model.evidence_.labeled)
    for place in (0, 17, 42):
        step = h * (np.arange(60) == place)
        ends = [[answer(a + sign * step)[column] for a in grid] for sign in (1, -1)]
        slope = np.mean(np.subtract(*ends)) / (2 * h)
        assert abs(why.shares[order[place]] - slope) < 1e-3


def known_of(y, weights=None):
    classes = None if y.dtype.kind == "f" else np.unique(y)
    targets = y[:, None] if classes is None else y
    kind = "quantities" if classes is None else "classes"
    ones = np.ones(len(y)) if weights is None else weights
    return Known(X[LABELED], targets, ones, weights, classes, [], Copies.of(np.arange(60)), kind)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(30, random_state=0),
        ExtraTreesClassifier(30, random_state=0),
        KernelRidgeClassifierCV(random_state=0),
        LogisticRegression(tol=1e-10, max_iter=5000),
        make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=5000)),
        RandomForestRegressor(30, random_state=0),
        KernelRidgeCV(random_state=0),
        make_pipeline(StandardScaler(), RidgeCV()),
    ],
    ids=lambda each: type(each[-1] if hasattr(each, "steps") else each).__name__,
)
def test_models_are_sums_over_labels(estimator, weighted):
    rng = np.random.default_rng(1)
    classes = hasattr(estimator, "predict_proba") or "Classifier" in type(estimator).__name__
    y = TRUTH[LABELED] if classes else X[LABELED, 0] + rng.normal(size=60)
    weights = rng.uniform(0.5, 1.5, 60) if weighted else None
    if weighted:
        weights /= weights.mean()
    name = (
        f"{estimator.steps[-1][0]}__sample_weight"
        if hasattr(estimator, "steps")
        else "sample_weight"
    )
    fitted = estimator.fit(X[LABELED], y, **({name: weights} if weighted else {}))
    found = model_by_label(HeldOut(fitted, None, "prior"), known_of(y, weights))(NEW)
    whole = found.whole
    if not classes:
        said = fitted.predict(NEW)[:, None]
    elif hasattr(fitted, "shares"):
        said = fitted.shares(NEW)
    else:
        said = fitted.predict_proba(NEW)
    if found.link == "logits":
        whole = np.exp(whole) / np.exp(whole).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(whole, said, atol=1e-4 if found.link == "logits" else 1e-6)


@pytest.mark.parametrize(("iterations", "summed"), [(1000, True), (2, False)])
def test_a_line_that_ended_early_is_no_sum(iterations, summed):
    """A sum over labels that is not what the model says is not shown."""
    line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=iterations))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SemiSupervisedClassifier(line, graph=None, random_state=0).fit(X, Y)
    found = explain(model, NEW)
    assert ("pipeline" in str(found[0].others).lower()) is not summed
    np.testing.assert_allclose(
        [why.total for why in found], model.predict_proba(NEW).max(axis=1), atol=1e-8
    )


def test_two_classes_have_one_line():
    two = LABELED[TRUTH[LABELED] > 0]
    line = LogisticRegression(tol=1e-10, max_iter=5000).fit(X[two], TRUTH[two])
    n = len(two)
    known = Known(
        X[two], TRUTH[two], np.ones(n), None, np.array([1, 2]), [], Copies.of(np.arange(n))
    )
    whole = model_by_label(HeldOut(line, None, "prior"), known)(NEW).whole
    np.testing.assert_allclose(whole[:, 1] - whole[:, 0], line.decision_function(NEW), atol=1e-3)


def test_members_on_the_graph_are_ridge_regressions():
    y = np.where(np.isin(np.arange(150), LABELED), X[:, 3], np.nan)
    model = SemiSupervisedRegressor(None, random_state=0).fit(X, y)
    witness = next(w for w in model.evidence_.witnesses if " m=" in w.member.name)
    graph = model.evidence_.graphs[""]
    found = witness.member.by_label(np.arange(149))  # two rows are equal
    np.testing.assert_allclose(found.whole, witness.member.values(), atol=1e-5)
    gram = found.shares[graph.rows.indices]  # a ridge's hat matrix is symmetric
    np.testing.assert_allclose(gram, gram.T, atol=1e-4)
    assert (np.linalg.eigvalsh((gram + gram.T) / 2) > -1e-6).all()


@pytest.mark.long
def test_quantities_add_up():
    y = np.where(np.isin(np.arange(150), LABELED), X[:, 3], np.nan)
    model = SemiSupervisedRegressor(random_state=0).fit(X, y)
    found = explain(model, NEW)
    np.testing.assert_allclose([why.total for why in found], model.predict(NEW), atol=1e-8)
    assert found[0].answer is None and "quantity" in str(found[0])


@pytest.mark.long
def test_sizes_of_classes_stand_beside_labels():
    model = SemiSupervisedClassifier(
        LogisticRegression(), class_sizes={0: 0.6, 1: 0.2, 2: 0.2}, random_state=0
    ).fit(X, Y)
    found = explain(model, NEW)
    np.testing.assert_allclose(
        [why.total for why in found], model.predict_proba(NEW).max(axis=1), atol=1e-8
    )
    assert any(abs(why.others["sizes of the classes"]) > 1e-3 for why in found)


def test_far_rows_have_the_prior():
    moons, truth = make_moons(100, noise=0.1, random_state=0)
    y = np.where(np.arange(100) < 20, truth, -1)
    model = SemiSupervisedClassifier(None, random_state=0).fit(moons, y)
    (why,) = explain(model, np.array([[100.0, 100.0]]), of=1)
    assert np.abs(why.shares).max() < 1e-4
    assert abs(why.total - model.predict_proba(np.array([[100.0, 100.0]]))[0, 1]) < 1e-8


@pytest.mark.long
def test_shares_of_classes_are_one_row():
    shares = np.full((150, 3), np.nan)
    shares[LABELED] = 0.8 * np.eye(3)[TRUTH[LABELED]] + 0.2 / 3
    line = LogisticRegression(max_iter=1000)
    model = SemiSupervisedClassifier(line, random_state=0).fit(X, shares)
    (why,) = explain(model, NEW[:1])
    assert np.array_equal(why.labeled, LABELED) and len(why.shares) == 60
    assert np.array_equal(why.labels, TRUTH[LABELED])  # the class with most of each row
    assert abs(why.total - model.predict_proba(NEW[:1]).max()) < 1e-8


def columns_alone(model, rows, column):
    """What the members without graph say of a class, summed by hand, and of the mean row."""
    evidence = model.evidence_
    mean = evidence.rows[""].mean(axis=0)
    said, start = np.zeros(len(rows)), 0.0
    for w in evidence.witnesses:
        held = w.member.model
        for given, place in ((rows, 0), (mean[None], 1)):
            shares = held.model.shares(given) if hasattr(held.model, "shares") else None
            shares = held.model.predict_proba(given) if shares is None else shares
            powers = np.maximum(shares, 1e-3) ** w.temperature
            answer = (powers / powers.sum(axis=1, keepdims=True))[:, column] * w.weight
            if place:
                start += answer[0]
            else:
                said += answer
    return said, start


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        KernelRidgeClassifierCV(random_state=0),
    ],
    ids=["linear", "kernel"],
)
def test_columns_add_up_to_what_changes_from_the_mean_row(estimator):
    model = SemiSupervisedClassifier(estimator, graph=None, class_sizes=None, random_state=0)
    model.fit(X, Y)
    found = explain(model, NEW, of=1)
    said, start = columns_alone(model, NEW, 1)
    totals = [sum(why.columns.values()) for why in found]
    np.testing.assert_allclose(totals, said - start, atol=2e-3)


def test_columns_of_a_forest_follow_its_paths():
    """The literal sum along the path of one row in every tree."""
    forest = RandomForestRegressor(5, random_state=0)
    y = np.where(np.isin(np.arange(150), LABELED), X[:, 3], np.nan)
    model = SemiSupervisedRegressor(forest, graph=None, random_state=0).fit(X[:, :3], y)
    (why,) = explain(model, NEW[:1, :3])
    (witness,) = model.evidence_.witnesses
    wanted, roots = np.zeros(3), []
    for each in witness.member.model.model.estimators_:
        tree = each.tree_
        roots.append(tree.value[0, 0, 0])
        path = each.decision_path(NEW[:1, :3].astype(np.float32)).indices
        for node, child in pairwise(path):
            wanted[tree.feature[node]] += tree.value[child, 0, 0] - tree.value[node, 0, 0]
    np.testing.assert_allclose(list(why.columns.values()), wanted / 5, atol=1e-9)
    assert abs(np.mean(roots) + sum(why.columns.values()) - why.value) < 1e-6


@pytest.mark.long
def test_columns_have_their_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = SemiSupervisedClassifier(random_state=0).fit(frame, Y)
    (why,) = explain(model, frame.iloc[[7]])
    assert list(why.columns) == ["a", "b", "c", "d"] and "columns: " in str(why)


VIEWS = {"sepals": X[:, :2], "petals": X[:, 2:]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "rows", "fit"),
    [
        ({}, csr_matrix(X), {}),
        ({}, VIEWS, {}),
        ({"ordered": True}, X, {}),
        ({}, X, {"sample_weight": np.linspace(0.5, 2.0, 150)}),
        ({"graph": "anchors"}, X, {}),
        ({"graph": None}, X, {}),
        ({"class_sizes": {0: 50, 1: 50, 2: 50}}, X, {}),
    ],
    ids=["sparse", "views", "ordered", "weights", "anchors", "no graph", "cut to sizes"],
)
def test_sums_hold_for_every_kind_of_fit(options, rows, fit):
    model = SemiSupervisedClassifier(
        [LogisticRegression(max_iter=1000), KernelRidgeClassifierCV(random_state=0)],
        random_state=0,
        **options,
    ).fit(rows, Y, **fit)
    new = {name: each[5:8] for name, each in rows.items()} if rows is VIEWS else rows[5:8]
    found = explain(model, new)
    np.testing.assert_allclose(
        [why.total for why in found], model.predict_proba(new).max(axis=1), atol=1e-8
    )
    assert len(str(found[0]).splitlines()) > 5


def test_names_of_labels_stand_beside_labels():
    texts = ["the cat sat on the mat", "dogs bark at night", "a cat purrs", "the dog runs"] * 6
    y = np.where(np.arange(24) < 8, [0, 1] * 12, -1)
    model = SemiSupervisedClassifier(
        LogisticRegression(),
        views={"words": Words()},
        label_names={0: "cat", 1: "dog"},
        random_state=0,
    ).fit(texts, y)
    found = explain(model, ["my cat", "a dog"])
    np.testing.assert_allclose(
        [why.total for why in found], model.predict_proba(["my cat", "a dog"]).max(1), atol=1e-8
    )
    assert found[0].others["names of the labels"] > 0
    assert all((why.neighbours < 24).all() for why in found)


def test_ways_lead_along_edges_from_a_label_to_the_row(model):
    row = int(np.setdiff1d(np.arange(150), LABELED)[5])
    (why,) = explain(model, X[[row]])
    graph = model.evidence_.graphs[""]
    node = np.argsort(graph.nodes.numbers)  # rows that are nodes are in the order of rows
    assert why.neighbours[0] == row or np.allclose(X[why.neighbours[0]], X[row])
    way = why.way_from(int(why.labeled[why.strongest(1)[0]]))
    assert len(way) and way[-1] == why.neighbours[0]
    nodes = np.searchsorted(graph.nodes.numbers[node], way)
    edges = graph.similarity
    assert all(edges[node[a], node[b]] > 0 for a, b in pairwise(nodes))


def test_they_print_and_are_a_frame_and_a_figure(model):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    found = explain(model, NEW[:2], plot=True)
    assert "before labels count" in repr(found) and "other labels" in repr(found)
    frame = found.frame()
    totals = frame.groupby("row")["share"].sum()
    np.testing.assert_allclose(totals, [why.value for why in found], atol=1e-8)
    assert len(found.figure.axes) == 2


@pytest.mark.long
def test_what_cannot_be_explained_is_told(model):
    with pytest.raises(ValueError, match="is a copy, or comes from a file"):
        explain(copy.deepcopy(model), NEW)
    with pytest.raises(TypeError, match="GKMClassifier has no members to explain"):
        explain(GKMClassifier().fit(X, Y), NEW)
    labels = np.where(Y[:, None] < 0, np.nan, (TRUTH[:, None] == np.arange(2)).astype(float))
    several = SemiSupervisedClassifier(LogisticRegression(), random_state=0).fit(X, labels)
    with pytest.raises(ValueError, match="one class or one quantity per row"):
        explain(several, NEW)


def test_an_explained_model_is_copied_without_its_graph(model):
    assert "evidence_" in vars(model) and "evidence_" not in vars(copy.deepcopy(model))


@pytest.mark.long
def test_shares_do_not_depend_on_where_columns_have_their_zero():
    line = LogisticRegression(tol=1e-8, max_iter=10_000)
    found = []
    for moved in (0.0, 20.0):
        model = SemiSupervisedClassifier(line, graph=None, random_state=0).fit(X + moved, Y)
        found.append(explain(model, NEW + moved))
    for own, other in zip(*found, strict=True):
        np.testing.assert_allclose(own.shares, other.shares, atol=5e-3)


def test_columns_of_quantities_have_the_unit_of_y():
    y = np.where(np.isin(np.arange(150), LABELED), X[:, 3], np.nan)
    found = []
    for unit in (1.0, 1e4):
        model = SemiSupervisedRegressor(KernelRidgeCV(random_state=0), graph=None, random_state=0)
        model.fit(X, unit * y)
        (own,) = model.evidence_.witnesses
        start = own.member.model.model.predict(X[LABELED].mean(axis=0)[None])[0]
        why = explain(model, NEW)
        totals = np.array([sum(each.columns.values()) for each in why])
        np.testing.assert_allclose(start + totals, model.predict(NEW), rtol=1e-5)
        found.append(totals / unit)
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_models_of_dask_are_told_to_come_here():
    class Far:
        def to_local(self):
            raise AssertionError("it is for the person to ask for")

    for ask in (explain, prediction_sets, novelty):
        with pytest.raises(TypeError, match=r"A Far of graphkm.dask .* pass model.to_local\(\)"):
            ask(Far(), NEW)

"""The front door on anchors, and rows that are read in blocks."""

from __future__ import annotations

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading

from graphkm import (
    GKMClassifier,
    GKMClassifierCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)
from graphkm.baselines import LaplacianSVC
from graphkm.exchange import load_model, save_model, to_onnx
from graphkm.graphs import KNN, Anchors
from graphkm.graphs.anchors import RowDraw, drawn_rows
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.online import read_stream
from graphkm.semi.block_rows import find_known

ANCHORS = Anchors(n_anchors=120)


def spirals(n=1500, n_labeled=30, seed=0):
    """Return two spirals, of which the graph finds more than the labels tell."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    t = 1 + 9 * rng.random(n)
    X = np.column_stack([t * np.cos(t + np.pi * truth), t * np.sin(t + np.pi * truth)])
    X += 0.15 * rng.normal(size=X.shape)
    y = np.full(n, -1)
    labeled = rng.permutation(n)[:n_labeled]
    y[labeled] = truth[labeled]
    return X, y, truth


def targets(X, y):
    """Return a quantity that changes along the spirals, known at the labelled rows."""
    return np.where(y >= 0, np.linalg.norm(X, axis=1) + 20 * (y == 1), np.nan)


def cut(X, y, size=170):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def classifier(**more):
    """Return the front door with the library's own machine, so that it can be saved."""
    machine = KernelRidgeClassifierCV(random_state=0)
    return SemiSupervisedClassifier(machine, **{"graph": ANCHORS, "random_state": 0} | more)


def regressor():
    return SemiSupervisedRegressor(KernelRidgeCV(random_state=0), graph=ANCHORS, random_state=0)


def weights_of(model):
    return {each.name: each.weight for each in model.members_}


def assert_same(other, model, X, atol=1e-6):
    """The members with their weights, and the probabilities."""
    assert weights_of(other) == pytest.approx(weights_of(model), abs=atol)
    assert other.best_score_ == pytest.approx(model.best_score_)
    assert other.unlabeled_gain_ == pytest.approx(model.unlabeled_gain_)
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=atol)


@pytest.fixture(scope="module")
def fitted():
    X, y, truth = spirals()
    return X, y, truth, classifier().fit(X, y)


# ------------------------------------------------------------------ anchors


def test_anchors_find_more_than_the_labels_tell(fitted):
    X, y, truth, model = fitted
    alone = KernelRidgeClassifierCV(random_state=0).fit(X[y >= 0], y[y >= 0])
    assert model.score(X, truth) > 0.9 > alone.score(X, truth)
    assert model.mixture_.values.shape == (120, 2)
    np.testing.assert_array_equal(model.transduction_[y >= 0], y[y >= 0])
    assert sum(each.weight for each in model.members_ if each.unlabeled) > 0.5


@pytest.mark.long
def test_quantities_in_other_units():
    X, y, _ = spirals(n_labeled=60)
    known = targets(X, y)
    model = regressor().fit(X, known)
    np.testing.assert_array_equal(model.transduction_[y >= 0], known[y >= 0])
    large = regressor().fit(X, 1e4 * known)
    np.testing.assert_allclose(large.predict(X), 1e4 * model.predict(X), rtol=1e-4, atol=1)


def test_text_labels_frames_and_sparse_rows(fitted):
    pd = pytest.importorskip("pandas")
    X, y, _, model = fitted
    words = np.array(["odd", "even", None], dtype=object)[y]
    frame = pd.DataFrame(X, columns=["a", "b"])
    other = classifier().fit(frame, words)
    assert list(other.feature_names_in_) == ["a", "b"]
    said = np.where(model.predict(X) == 0, "odd", "even")
    np.testing.assert_array_equal(other.predict(frame), said)
    sparse = classifier().fit(sp.csr_array(X), y)
    assert (sparse.predict(sp.csr_array(X)) == model.predict(X)).mean() > 0.99


@pytest.mark.long
def test_the_same_from_a_cluster(fitted):
    da = pytest.importorskip("dask.array")
    pytest.importorskip("distributed")
    from graphkm import dask

    X, y, _, model = fitted
    rows, labels = da.from_array(X, chunks=(400, 2)), da.from_array(y, chunks=400)
    about = {"graph": ANCHORS, "random_state": 0}
    there = dask.SemiSupervisedClassifier(model.estimator, **about).fit(rows, labels).to_local()
    assert_same(there, model, X)
    known = targets(X, y)
    here = regressor().fit(X, known)
    there = dask.SemiSupervisedRegressor(here.estimator, **about)
    there = there.fit(rows, da.from_array(known, chunks=400)).to_local()
    assert weights_of(there) == pytest.approx(weights_of(here), abs=1e-6)
    np.testing.assert_allclose(here.predict(X), there.predict(X), rtol=1e-6)


def test_copies_and_files_predict_the_same(fitted, tmp_path):
    X, y, _, model = fitted
    for one in (model, regressor().fit(X, targets(X, y))):
        save_model(one, tmp_path / "model.gkm")
        for other in (load_model(tmp_path / "model.gkm"), pickle.loads(pickle.dumps(one))):
            np.testing.assert_array_equal(other.predict(X), one.predict(X))
            assert other.graph == ANCHORS
            np.testing.assert_array_equal(other.transduction_, one.transduction_)


def test_anchors_of_blocks_have_a_form_in_onnx(fitted):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx_graphs import answers

    X, _, _, model = fitted
    rows = X.astype(np.float32).astype(np.float64)
    found = answers(to_onnx(model), rows)["probabilities"]
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-5)


@pytest.mark.parametrize("kind", [LaplacianSVC, GKMClassifier, GKMClassifierCV])
@pytest.mark.parametrize("graph", ["anchors", Anchors(5)])
def test_machines_that_join_rows_refuse_anchors(kind, graph):
    X, y, _ = spirals(100)
    model = kind(GKMClassifier(graph=graph)) if kind is GKMClassifierCV else kind(graph=graph)
    with pytest.raises(ValueError, match="joins nodes, not rows; only SemiSupervisedClassifier"):
        model.fit(X, y)


# ------------------------------------------------------------------ blocks


def test_rows_are_drawn_as_if_their_number_was_known():
    X = np.arange(5000.0)[:, None]
    for most, m in ((40, 40), (40, 7), (6000, 5000)):
        draw = RowDraw(most, seed=3)
        for start in range(0, 5000, 777):
            draw.add(X[start : start + 777])
        np.testing.assert_array_equal(draw.first(m).ravel(), drawn_rows(5000, m, seed=3))


@pytest.mark.dear
@pytest.mark.parametrize("size", [1, 170, 1500])
def test_blocks_give_the_same_model(fitted, size):
    X, y, _, model = fitted
    other = classifier().fit(cut(X, y, size))
    assert_same(other, model, X)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))


def test_blocks_give_the_same_regressor():
    X, y, _ = spirals(n_labeled=60)
    known = targets(X, y)
    model, other = regressor().fit(X, known), regressor().fit(cut(X, known))
    assert weights_of(other) == pytest.approx(weights_of(model), abs=1e-6)
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-6)
    np.testing.assert_array_equal(other.predict(cut(X, known)), other.predict(X))


def test_one_seed_decides_anchors_and_folds(fitted):
    """A generator of numbers is asked once by blocks, as by rows in memory."""
    X, y, _, _ = fitted
    one, other = (
        classifier(random_state=np.random.RandomState(4)).fit(*given)
        for given in ((X, y), (cut(X, y),))
    )
    assert_same(other, one, X)


@pytest.mark.long
@pytest.mark.parametrize("graph", ["auto", "anchors", Anchors()])
def test_blocks_live_on_anchors(fitted, graph):
    X, y, _, _ = fitted
    other = classifier(graph=graph).fit(cut(X, y))
    assert_same(other, classifier(graph="anchors").fit(X, y), X)
    assert len(other.mixture_.nodes.points) == len(X) // 3


def test_all_answers_take_blocks(fitted, tmp_path):
    X, y, _, model = fitted
    wanted = model.predict_proba(X)
    path = tmp_path / "rows.npy"
    np.save(path, X)
    for rows in (cut(X, y), np.load(path, mmap_mode="r")):
        np.testing.assert_array_equal(model.predict(rows), model.predict(X))
        np.testing.assert_allclose(model.predict_proba(rows), wanted, atol=1e-9)
        np.testing.assert_allclose(model.predict_log_proba(rows), np.log(wanted), atol=1e-6)
        found = model.decision_function(rows)
        np.testing.assert_allclose(found, model.decision_function(X), atol=1e-6)


def test_blocks_are_added(monkeypatch, fitted):
    X, y, _, model = fitted
    monkeypatch.setattr("graphkm.semi.blocks._LEAST", 100)
    other = classifier().fit(cut(X, y, 60))
    assert_same(other, model, X, atol=1e-5)
    np.testing.assert_array_equal(other.predict(cut(X, y, 90)), model.predict(X))


@pytest.mark.long
def test_blocks_of_frames_sparse_rows_and_weights():
    pd = pytest.importorskip("pandas")
    X, y, _ = spirals()
    weights = np.where(np.arange(len(y)) % 3, 1.0, 2.0)
    weights[np.flatnonzero(y >= 0)[:3]] = 0.0
    whole = classifier().fit(X, y, weights)
    pieces = [(X[i : i + 400], y[i : i + 400], weights[i : i + 400]) for i in range(0, 1500, 400)]
    assert_same(classifier().fit(pieces), whole, X)
    frames = [(pd.DataFrame(a, columns=["p", "q"]), pd.Series(b)) for a, b, _ in pieces]
    assert list(classifier().fit(frames).feature_names_in_) == ["p", "q"]
    sparse = classifier().fit([(sp.csr_matrix(a), b, c) for a, b, c in pieces])
    assert (sparse.predict(sp.csr_matrix(X)) == whole.predict(X)).mean() > 0.99


class ByName(ClassifierMixin, BaseEstimator):
    """Looks at the column "p" of frames, and takes nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.middle_ = X["p"].mean()
        return self

    def predict_proba(self, X):
        found = 1 / (1 + np.exp(self.middle_ - X["p"].to_numpy()))
        return np.column_stack([1 - found, found])


def test_models_of_blocks_see_the_names_of_columns():
    pd = pytest.importorskip("pandas")
    X, y, _ = spirals(600, 80)
    frame = pd.DataFrame(X, columns=["q", "p"])
    make = lambda: SemiSupervisedClassifier(ByName(), graph=ANCHORS, random_state=0)  # noqa: E731
    pieces = [(frame[i : i + 250], y[i : i + 250]) for i in range(0, 600, 250)]
    assert_same(make().fit(pieces), make().fit(frame, y), frame)


def test_files_are_read_in_blocks(tmp_path, fitted):
    X, y, _, model = fitted
    lines = [f"{a!r},{b!r},{'' if c < 0 else c}" for (a, b), c in zip(X.tolist(), y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,label", *lines]))
    stream = read_stream(tmp_path / "rows.csv", chunk_size=200)
    other = classifier().fit(stream)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_array_equal(other.predict(stream), model.predict(X))


def test_models_of_blocks_say_how_training_rows_are_told(fitted, tmp_path):
    """No row is kept but the labelled ones, in copies and files neither."""
    X, y, _, _ = fitted
    model = classifier().fit(cut(X, y))
    save_model(model, tmp_path / "model.gkm")
    for other in (model, copy.deepcopy(model), load_model(tmp_path / "model.gkm")):
        np.testing.assert_array_equal(other.predict(cut(X, y)), model.predict(X))
        with pytest.raises(AttributeError, match="Call predict on the training rows"):
            _ = other.transduction_


@pytest.mark.long
def test_a_mapped_file_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("graphkm.semi.blocks._NUMBERS", 2**17)
    n, d = 100_000, 64
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 255, size=(20, d))
    file = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", dtype=np.uint8, shape=(n, d))
    group = rng.integers(20, size=n)
    for start in range(0, n, 10_000):
        own = slice(start, start + 10_000)
        file[own] = np.clip(centres[group[own]] + rng.normal(scale=9, size=(10_000, d)), 0, 255)
    file.flush()
    truth = group % 2
    y = np.where(np.arange(n) % 500 == 0, truth, -1).astype(np.int8)
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    make = lambda: classifier(graph=Anchors(n_anchors=50))  # noqa: E731
    make().fit(X[:500], np.where(np.arange(500) < 100, truth[:500], -1))  # imports
    tracemalloc.start()
    model = make().fit(X, y)
    assert (model.predict(X) == truth).mean() > 0.9
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    as_floats = 8 * n * d
    assert peak < 0.3 * as_floats, peak / as_floats
    small = slice(0, 9000)  # more than a block
    there, here = make().fit(X[small], y[small]), make().fit(np.array(X[small]), y[small])
    assert_same(there, here, X[small], atol=1e-5)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("graph", "in_blocks"), [("anchors", True), (ANCHORS, True), ("auto", False), (KNN(), False)]
)
def test_a_mapped_array_is_read_in_blocks_on_anchors(tmp_path, monkeypatch, graph, in_blocks):
    X, y, _ = spirals(300)
    np.save(tmp_path / "rows.npy", X)
    read = []
    fit_blocks = SemiSupervisedClassifier._fit_blocks
    monkeypatch.setattr(
        SemiSupervisedClassifier,
        "_fit_blocks",
        lambda *args: (read.append(args), fit_blocks(*args))[1],
    )
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = classifier(graph=graph).fit(mapped, y)
    assert bool(read) == in_blocks
    assert_same(model, classifier(graph=graph).fit(X, y), X)


# ------------------------------------------------------------------ labels with several columns


def several_labels(n_labeled=120):
    """Return spirals with three labels per row, of which some are not known."""
    X, y, truth = spirals(n_labeled=n_labeled)
    table = np.column_stack([truth == 1, X[:, 0] > 0, X[:, 1] > 3]).astype(float)
    table[np.random.default_rng(0).random(table.shape) < 0.2] = np.nan
    table[y < 0] = np.nan
    return X, table


def several_quantities(n_labeled=80):
    X, y, _ = spirals(n_labeled=n_labeled)
    table = np.column_stack([targets(X, y), np.where(y >= 0, X[:, 0] - X[:, 1], np.nan)])
    table[np.flatnonzero(y >= 0)[:9], 0] = np.nan
    return X, table


def soft_labels():
    """Return shares of three classes; rows of zeros are unlabelled."""
    X, y, truth = spirals(n_labeled=90)
    table = np.column_stack([truth == 0, truth == 1, X[:, 1] > 3]).astype(float) + 0.2
    table = np.where((y >= 0)[:, None], table / table.sum(axis=1, keepdims=True), 0.0)
    table[np.flatnonzero(y >= 0)[::7]] *= 0.5  # the rest is unknown
    return X, table


def names_of(table, names):
    """Return lists of names in place of 0 and 1; None if any is not known."""
    lists = np.empty(len(table), dtype=object)
    for place, line in enumerate(table):
        if not np.isnan(line).any():
            lists[place] = [n for n, has in zip(names, line, strict=True) if has]
    return lists


@pytest.mark.long
@pytest.mark.parametrize("size", [90, 400])
@pytest.mark.parametrize("make", [several_labels, soft_labels])
def test_blocks_of_tables_give_the_same_model(monkeypatch, make, size):
    monkeypatch.setattr("graphkm.semi.blocks._LEAST", 170)
    X, table = make()
    weights = np.random.default_rng(1).random(len(X)) * (np.arange(len(X)) % 9 > 0)
    model = classifier().fit(X, table, weights)
    pieces = [(a, b, weights[i * size :][:size]) for i, (a, b) in enumerate(cut(X, table, size))]
    other = classifier().fit(pieces)
    assert_same(other, model, X)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_array_equal(other.labeled_, model.labeled_)
    np.testing.assert_allclose(other.held_out_, model.held_out_, atol=1e-6)


@pytest.mark.long
def test_blocks_of_several_quantities():
    X, table = several_quantities()
    model, other = regressor().fit(X, table), regressor().fit(cut(X, table))
    assert weights_of(other) == pytest.approx(weights_of(model), abs=1e-6)
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-6)
    assert other.predict(cut(X, table)).shape == table.shape


@pytest.mark.long
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_blocks_of_frames_name_the_labels(kind, monkeypatch):
    frames = pytest.importorskip(kind)
    monkeypatch.setattr("graphkm.semi.blocks._LEAST", 600)
    X, table = several_labels()
    names = ["round", "right", "high"]
    frame = frames.DataFrame(dict(zip(names, table.T, strict=True)))
    model, other = classifier().fit(X, frame), classifier().fit(cut(X, frame))
    assert list(other.classes_) == names
    assert_same(other, model, X)


@pytest.mark.long
@pytest.mark.parametrize(("least", "names"), [(1, ["a", "b", "c"]), (500, [3, 1, 2])])
def test_every_block_may_have_other_names(monkeypatch, least, names):
    monkeypatch.setattr("graphkm.semi.blocks._LEAST", least)
    X, _ = several_labels()
    table = np.column_stack([X[:, 0] > 0, X[:, 0] < 0, X[:, 1] > 5]).astype(float)
    table[np.arange(len(X)) % 12 > 0] = np.nan
    order = np.argsort(X[:, 0], kind="stable")  # the first blocks have one name, the last another
    X, lists = X[order], names_of(table[order], names)
    model = classifier().fit(X, lists.tolist())
    for given in (lists, lists.tolist()):
        other = classifier().fit(cut(X, given))
        assert list(other.classes_) == sorted(names)
        assert_same(other, model, X)


@pytest.mark.long
def test_a_mapped_array_takes_tables_of_labels(tmp_path, monkeypatch):
    monkeypatch.setattr("graphkm.semi.blocks._NUMBERS", 2**10)
    monkeypatch.setattr("graphkm.semi.blocks._FEWEST", 2**8)
    X, table = several_labels()
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = classifier(thresholds="f1").fit(X, table)
    other = classifier(thresholds="f1").fit(mapped, table)
    assert_same(other, model, X)
    np.testing.assert_allclose(other.thresholds_, model.thresholds_, atol=1e-6)


def test_missing_texts_of_small_blocks_are_no_class(fitted):
    pd = pytest.importorskip("pandas")
    X, y, _, model = fitted
    words = pd.Series(np.array(["a", "b", np.nan], dtype=object)[y], dtype=object)
    other = classifier().fit(cut(X, words))
    assert list(other.classes_) == ["a", "b"]
    np.testing.assert_array_equal(other.predict(X) == "b", model.predict(X) == 1)


@pytest.mark.long
def test_ordered_classes_keep_their_order_in_blocks():
    pd = pytest.importorskip("pandas")
    X, y, _ = spirals(n_labeled=60)
    words = np.array(["low", "high", None], dtype=object)[y]
    labels = pd.Series(pd.Categorical(words, ["low", "high"], ordered=True))
    pieces = cut(X, labels)
    assert list(classifier().fit(pieces).order_) == ["low", "high"]


def test_tables_that_do_not_belong_together(monkeypatch):
    monkeypatch.setattr("graphkm.semi.blocks._LEAST", 1)
    pd = pytest.importorskip("pandas")
    X, _, truth = spirals(100)
    model = classifier(graph="anchors")
    two, three = np.eye(2)[truth], np.eye(3)[truth]
    wrong = [
        (two[:50], three[50:], "Blocks of y have 2 and 3 columns; pass the same columns"),
        (two[:50], truth[50:], "Some blocks of y have several columns .* pass all blocks"),
        (
            pd.DataFrame(two[:50], columns=["a", "b"]),
            pd.DataFrame(two[50:], columns=["b", "a"]),
            "pass the same names in the same order",
        ),
        (two[:50], 3 * two[50:], "Row 0 of y in Block 1 has the shares .* add up to 1"),
        (two[:50], np.full((50, 2), "x"), "several columns, which must hold numbers"),
        ([["a"]] * 50, [["b"], "a"] * 25, "Row 1 of y is 'a', .* pass a list for every row"),
        (two[:50], two[50:60], "50 rows, but 10 labels"),
    ]
    for first, second, message in wrong:
        with pytest.raises(ValueError, match=message):
            model.fit([(X[:50], first), (X[50:], second)])
    with pytest.raises(ValueError, match="Some blocks of y are lists, and others are tables"):
        monkeypatch.setattr("graphkm.semi.blocks._LEAST", 1000)
        model.fit([(X[:50], [["a"]] * 50), (X[50:], two[50:])])
    with pytest.raises(ValueError, match="targets='labels' needs a column for each label"):
        classifier(targets="labels").fit(cut(X, truth))


class Unread:
    """Blocks that must not be read."""

    def __iter__(self):
        yield pytest.fail("rows were read")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": LabelSpreading()}, "'LabelSpreading' learns from unlabelled rows"),
        ({"estimator": [LogisticRegression(), LabelSpreading()]}, "read in blocks"),
        ({"graph": "knn"}, "Blocks of rows need graph='anchors'; got graph='knn'"),
        ({"graph": KNN()}, "Blocks of rows need graph='anchors'"),
        ({"graph": None}, "Blocks of rows need graph='anchors'; got graph=None"),
        ({"cv": 1}, "cv must be a whole number >= 2, got 1"),
        ({"random_state": "now"}, "cannot be used to seed"),
    ],
)
def test_wrong_parameters_are_refused_before_rows_are_read(parameters, message):
    with pytest.raises(ValueError, match=message):
        classifier().set_params(**parameters).fit(Unread())


def test_blocks_that_cannot_be_used():
    X, y, _ = spirals(100)
    model = classifier(graph="anchors")
    with pytest.raises(ValueError, match="can be read once"):
        model.fit(each for each in cut(X, y))
    with pytest.raises(ValueError, match="y to be passed"):
        model.fit(X)
    with pytest.raises(ValueError, match="None of the 100 rows is labelled"):
        model.fit(cut(X, np.full(100, -1)))
    with pytest.raises(ValueError, match="only one class"):
        model.fit(cut(X, np.where(y == 0, 0, -1)))
    with pytest.raises(ValueError, match="single class"):
        model.fit(cut(X, np.where(y == 0, -1, 1)))
    with pytest.raises(ValueError, match="hold their own weights"):
        model.fit(cut(X, y), sample_weight=np.ones(100))
    with pytest.raises(ValueError, match="Block 0 of X is NaN in 1 places"):
        model.fit(cut(np.where(X[50, 0] == X, np.nan, X), y))
    with pytest.raises(ValueError, match="values as large as 1e"):
        model.fit(cut(np.where(X[50, 0] == X, 1e200, X), y))
    with pytest.raises(ValueError, match="10 rows, but 9 labels"):
        model.fit([(X[:10], y[:9])])
    with pytest.raises(ValueError, match="1 rows, which have no neighbours"):
        model.fit([(X[:1], y[:1])])


def test_blocks_of_different_kinds(monkeypatch):
    monkeypatch.setattr("graphkm.semi.blocks._LEAST", 1)
    X, y, _ = spirals(100)
    model = classifier(graph="anchors")
    with pytest.raises(
        ValueError, match="Block 1 of X is of another kind than the first: 3 columns"
    ):
        model.fit([(X[:50], y[:50]), (np.ones((50, 3)), y[50:])])
    with pytest.raises(ValueError, match="float32 instead of 2 columns of float64"):
        model.fit([(X[:50], y[:50]), (X[50:].astype(np.float32), y[50:])])
    with pytest.raises(ValueError, match="Some blocks have weights"):
        model.fit([(X[:50], y[:50]), (X[50:], y[50:], np.ones(50))])
    with pytest.raises(ValueError, match="Block 1 of X is a list"):
        model.fit(_Blocks([(X[:50], y[:50]), [1, 2]]))


class _Blocks:
    def __init__(self, blocks):
        self._blocks = blocks

    def __iter__(self):
        return iter(self._blocks)


@pytest.mark.parametrize("targets", ["auto", "quantities"])
@pytest.mark.parametrize("mark", [-1, np.nan])
def test_what_is_known_of_a_block_keeps_no_more_of_it(targets, mark):
    """No array is a slice of a larger one, which would stay in memory with it."""
    X = np.arange(3000.0).reshape(-1, 3)
    y = np.where(np.arange(1000) % 100 == 0, np.arange(1000) % 3, mark)
    drawn = np.array([1, 5])
    about = (X, y, np.ones(1000), drawn, "Block 0", np.dtype(np.float64))
    known = find_known(*about, -1, targets)
    arrays = [each for each in known if isinstance(each, np.ndarray)]
    assert len(arrays) == 6 and len(known.places) == 10
    assert all(each.base is None or len(each.base) <= 10 for each in arrays)

"""`GKMClassifier` and `GKMRegressor` on anchors, and rows that are read in blocks."""

from __future__ import annotations

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from graphkm import (
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GraphCorrectedClassifier,
    GraphCorrectedRegressor,
)
from graphkm.exchange import load_model, save_model, to_onnx
from graphkm.graphs import KNN, Anchors
from graphkm.graphs.anchors import RowDraw, drawn_rows
from graphkm.machines import KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.online import read_stream
from graphkm.solvers import SGD, Newton, RowNewton

ANCHORS = Anchors(n_anchors=120)


def spirals(n=1500, n_labeled=30, seed=0):
    """Return two spirals, of which the field finds more than the labels tell."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    t = 1 + 9 * rng.random(n)
    X = np.column_stack([t * np.cos(t + np.pi * truth), t * np.sin(t + np.pi * truth)])
    X += 0.15 * rng.normal(size=X.shape)
    y = np.full(n, -1)
    labeled = rng.permutation(n)[:n_labeled]
    y[labeled] = truth[labeled]
    return X, y, truth


def targets(X, y, seed=0):
    """Return a quantity that changes along the spirals, known at the labelled rows."""
    t = np.linalg.norm(X, axis=1) + 20 * (y == 1)
    return np.where(y >= 0, t, np.nan), t


def cut(X, y, size=170):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


@pytest.fixture(scope="module")
def fitted():
    X, y, truth = spirals()
    return X, y, truth, GKMClassifier(graph=ANCHORS, random_state=0).fit(X, y)


def test_classifier_is_the_corrected_kernel_machine(fitted):
    X, y, truth, model = fitted
    machine = KernelRidgeClassifierCV(random_state=0)
    other = GraphCorrectedClassifier(machine, graph=ANCHORS, random_state=0).fit(X, y)
    assert other.field_ is not None  # else nothing is compared
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(model.transduction_, other.transduction_)
    assert model.score(X, truth) > 0.9 > machine.fit(X[y >= 0], y[y >= 0]).score(X, truth)
    assert model.plan_.graph == ANCHORS and model.plan_.kernel == model.kernel_
    assert model.field_.values.shape == (120, 1)
    assert set(model.support_) <= set(np.flatnonzero(y >= 0))
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_regressor_is_the_corrected_kernel_machine():
    X, y, _ = spirals(n_labeled=60)
    known, _ = targets(X, y)
    model = GKMRegressor(graph="anchors", random_state=0).fit(X, known)
    machine = KernelRidgeCV(random_state=0)
    other = GraphCorrectedRegressor(machine, graph="anchors", random_state=0).fit(X, known)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-12)
    np.testing.assert_array_equal(model.transduction_[y >= 0], known[y >= 0])
    large = GKMRegressor(graph="anchors", random_state=0).fit(X, 1e4 * known)
    np.testing.assert_allclose(large.predict(X), 1e4 * model.predict(X), rtol=1e-4, atol=1)


def test_text_labels_frames_and_sparse_rows(fitted):
    pd = pytest.importorskip("pandas")
    X, y, _, model = fitted
    words = np.array(["odd", "even", None], dtype=object)[y]
    frame = pd.DataFrame(X, columns=["a", "b"])
    other = GKMClassifier(graph=ANCHORS, random_state=0).fit(frame, words)
    assert list(other.feature_names_in_) == ["a", "b"]
    said = np.where(model.predict(X) == 0, "odd", "even")
    np.testing.assert_array_equal(other.predict(frame), said)
    sparse = GKMClassifier(graph=ANCHORS, random_state=0).fit(sp.csr_array(X), y)
    assert (sparse.predict(sp.csr_array(X)) == model.predict(X)).mean() > 0.99


def test_the_same_from_a_cluster(fitted):
    da = pytest.importorskip("dask.array")
    pytest.importorskip("distributed")
    from graphkm import dask

    X, y, _, model = fitted
    rows, labels = da.from_array(X, chunks=(400, 2)), da.from_array(y, chunks=400)
    there = dask.GKMClassifier(n_anchors=120, random_state=0).fit(rows, labels).to_local()
    size = np.abs(model.field_.values).max()
    np.testing.assert_allclose(there.field_.values, model.field_.values, atol=1e-6 * size)
    np.testing.assert_array_equal(there.predict(X), model.predict(X))
    known, _ = targets(X, y)
    targets_there = da.from_array(known, chunks=400)
    there = dask.GKMRegressor(n_anchors=120, random_state=0).fit(rows, targets_there).to_local()
    here = GKMRegressor(graph=ANCHORS, random_state=0).fit(X, known)
    np.testing.assert_allclose(here.predict(X), there.predict(X), rtol=1e-6)


def test_copies_and_files_predict_the_same(fitted, tmp_path):
    X, y, _, model = fitted
    regressor = GKMRegressor(graph=ANCHORS, random_state=0).fit(X, targets(X, y)[0])
    for one in (model, regressor):
        save_model(one, tmp_path / "model.gkm")
        for other in (load_model(tmp_path / "model.gkm"), pickle.loads(pickle.dumps(one))):
            np.testing.assert_array_equal(other.predict(X), one.predict(X))
            assert other.plan_.graph == ANCHORS
            np.testing.assert_array_equal(other.transduction_, one.transduction_)


def test_onnx_has_no_form_for_a_field(fitted):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="adds a field over its training rows"):
        to_onnx(fitted[3])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "newton"}, "Newton\\(\\) has none; leave solver='auto'"),
        ({"solver": SGD()}, "SGD\\(\\) has none"),
        ({"solver": RowNewton()}, "RowNewton\\(\\) has none"),
        ({"C": 3.0}, "leave C='auto'"),
        ({"C_graph": 0.1}, "leave C_graph='auto'"),
        ({"loss": "logistic"}, "squared losses"),
        ({"kernel": "precomputed"}, "leaves no rows"),
    ],
)
def test_what_does_not_go_with_anchors(parameters, message):
    X, y, _ = spirals(60)
    with pytest.raises(ValueError, match=message):
        GKMClassifier(graph="anchors", **parameters).fit(X, y)


def test_streams_searches_and_laplacians_refuse_anchors():
    from graphkm.machines import LaplacianSVC

    X, y, _ = spirals(100)
    with pytest.raises(ValueError, match="partial_fit cannot use graph=Anchors"):
        GKMClassifier(graph="anchors").partial_fit(X, y)
    with pytest.raises(ValueError, match="lists no edges"):
        LaplacianSVC(graph="anchors").fit(X, y)
    with pytest.raises(ValueError, match="join no rows"):
        Anchors().build(X, y >= 0)
    with pytest.raises(ValueError, match="leave Cs"):
        GKMClassifierCV(GKMClassifier(graph="anchors"), Cs=[1.0]).fit(X, y)


def test_a_search_takes_what_anchors_choose(fitted):
    X, y, truth, _ = fitted
    search = GKMClassifierCV(GKMClassifier(graph=ANCHORS), random_state=0).fit(X, y)
    assert search.best_params_ == search.best_estimator_.corrected_.best_params_
    assert search.score(X, truth) > 0.9
    scored = GKMClassifierCV(GKMClassifier(graph=ANCHORS), scoring="accuracy", random_state=0)
    assert scored.fit(X, y).best_estimator_.corrected_.scoring == "accuracy"


def test_without_a_graph_anchors_do_not_matter():
    X, y, _ = spirals(100)
    given = {"C_graph": 0, "solver": Newton(), "random_state": 0}
    plain = GKMClassifier(graph=KNN(), **given).fit(X, y)
    other = GKMClassifier(graph="anchors", **given).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), other.decision_function(X))


# ------------------------------------------------------------------ blocks


def test_rows_are_drawn_as_if_their_number_was_known():
    X = np.arange(5000.0)[:, None]
    for most, m in ((40, 40), (40, 7), (6000, 5000)):
        draw = RowDraw(most, seed=3)
        for start in range(0, 5000, 777):
            draw.add(X[start : start + 777])
        np.testing.assert_array_equal(draw.first(m).ravel(), drawn_rows(5000, m, seed=3))


@pytest.mark.parametrize("size", [1, 170, 1500])
def test_blocks_give_the_same_model(fitted, size):
    X, y, _, model = fitted
    other = GKMClassifier(graph=ANCHORS, random_state=0).fit(cut(X, y, size))
    np.testing.assert_allclose(other.decision_function(X), model.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(other.transduction_, model.transduction_)
    np.testing.assert_array_equal(other.support_, model.support_)
    assert repr(other.plan_) == repr(model.plan_)


def test_probabilities_take_the_blocks_that_predict_takes(fitted, tmp_path):
    X, y, _, model = fitted
    wanted = model.predict_proba(X)
    path = tmp_path / "rows.npy"
    np.save(path, X)
    search = GKMClassifierCV(GKMClassifier(graph=ANCHORS), random_state=0).fit(X, y)
    for rows in (cut(X, y), np.load(path, mmap_mode="r")):
        np.testing.assert_array_equal(model.predict(rows), model.predict(X))
        np.testing.assert_allclose(model.predict_proba(rows), wanted, atol=1e-9)
        np.testing.assert_allclose(model.predict_log_proba(rows), np.log(wanted), atol=1e-6)
        np.testing.assert_allclose(search.predict_proba(rows), search.predict_proba(X), atol=1e-9)


def test_blocks_are_added(monkeypatch, fitted):
    X, y, _, model = fitted
    monkeypatch.setattr("graphkm.semi.blocks._LEAST", 100)
    other = GKMClassifier(graph=ANCHORS, random_state=0).fit(cut(X, y, 60))
    np.testing.assert_allclose(other.decision_function(X), model.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(other.predict(cut(X, y, 90)), model.predict(X))


def test_blocks_of_frames_sparse_rows_and_weights():
    pd = pytest.importorskip("pandas")
    X, y, _ = spirals()
    weights = np.where(np.arange(len(y)) % 3, 1.0, 2.0)
    weights[np.flatnonzero(y >= 0)[:3]] = 0.0
    make = lambda: GraphCorrectedClassifier(graph=ANCHORS, random_state=0)  # noqa: E731
    whole = make().fit(X, y, weights)
    pieces = [(X[i : i + 400], y[i : i + 400], weights[i : i + 400]) for i in range(0, 1500, 400)]
    np.testing.assert_allclose(
        make().fit(pieces).decision_function(X), whole.decision_function(X), atol=1e-6
    )
    np.testing.assert_array_equal(make().fit(pieces).transduction_, whole.transduction_)
    frames = [(pd.DataFrame(a, columns=["p", "q"]), pd.Series(b)) for a, b, _ in pieces]
    assert list(make().fit(frames).feature_names_in_) == ["p", "q"]
    sparse = make().fit([(sp.csr_matrix(a), b, c) for a, b, c in pieces])
    assert (sparse.predict(sp.csr_matrix(X)) == whole.predict(X)).mean() > 0.99


def test_files_are_read_in_blocks(tmp_path, fitted):
    X, y, _, model = fitted
    lines = [f"{a!r},{b!r},{'' if c < 0 else c}" for (a, b), c in zip(X.tolist(), y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,label", *lines]))
    stream = read_stream(tmp_path / "rows.csv", chunk_size=200)
    other = GKMClassifier(graph=ANCHORS, random_state=0).fit(stream)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_array_equal(other.transduction_, model.transduction_)
    np.testing.assert_array_equal(other.predict(stream), model.predict(X))


def test_copies_of_models_from_blocks_know_all_rows(fitted, tmp_path):
    X, y, _, _ = fitted
    model = GraphCorrectedClassifier(graph=ANCHORS, random_state=0).fit(cut(X, y))
    save_model(model, tmp_path / "model.gkm")
    for other in (copy.deepcopy(model), load_model(tmp_path / "model.gkm")):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_array_equal(other.transduction_, model.transduction_)
        assert len(other.transduction_) == len(y)


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
    make = lambda: GKMClassifier(graph=Anchors(n_anchors=50), random_state=0)  # noqa: E731
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
    np.testing.assert_allclose(
        there.decision_function(X[small]), here.decision_function(X[small]), atol=1e-5
    )


def test_blocks_that_cannot_be_used():
    X, y, _ = spirals(100)
    model = GKMClassifier(graph="anchors")
    with pytest.raises(ValueError, match="can be read once"):
        model.fit(each for each in cut(X, y))
    with pytest.raises(ValueError, match="y to be passed"):
        model.fit(X)
    with pytest.raises(ValueError, match="Blocks of rows need graph='anchors'"):
        GraphCorrectedClassifier().fit(cut(X, y))
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
    with pytest.raises(ValueError, match="10 rows and that of y 9"):
        model.fit([(X[:10], y[:9])])
    with pytest.raises(ValueError, match="1 rows, which have no neighbours"):
        model.fit([(X[:1], y[:1])])


def test_blocks_of_different_kinds(monkeypatch):
    monkeypatch.setattr("graphkm.semi.blocks._LEAST", 1)
    X, y, _ = spirals(100)
    model = GKMClassifier(graph="anchors")
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


def test_a_graph_of_rows_is_no_place_for_a_field():
    with pytest.raises(ValueError, match="needs graph=KNN"):
        GKMClassifier(graph="full", solver="field").fit(*spirals(60)[:2])

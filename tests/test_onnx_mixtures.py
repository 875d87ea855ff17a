"""The front door as an ONNX graph, held to onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.baselines import LaplacianSVC
from graphkm.exchange import to_onnx
from graphkm.exchange.onnx_nodes import check_size
from graphkm.graphs import KNN, Anchors
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.neighbours.index import NeighbourIndex
from onnx_graphs import answers, rows_of

SCALER = StandardScaler().fit(rows_of(240))
X, NEAR = (
    SCALER.transform(rows).astype(np.float32).astype(np.float64)
    for rows in (rows_of(240), rows_of(150, seed=1))
)
NEW = np.vstack([NEAR, 2.0**5 * NEAR[:20], X[:40]])
F = X[:, 0] + X[:, 1] ** 2 + 0.3 * np.random.default_rng(3).normal(size=240)
KNOWN = np.arange(240) < 90
LINE = make_pipeline(StandardScaler(), LogisticRegression())
BOOSTING = HistGradientBoostingClassifier(max_iter=10, random_state=0)
TREES = ExtraTreesClassifier(20, random_state=0)
RIDGE = KernelRidgeClassifierCV(random_state=0)


def labels(k, names=("a", "b", "c")):
    y = np.array(names, dtype=object)[np.digitize(F, [0.7] if k == 2 else [0.0, 1.2])]
    y[~KNOWN] = None
    return y


def assert_same_classes(model, rows=NEW):
    found, wanted = answers(to_onnx(model), rows), model.predict_proba(rows)
    assert list(found) == ["label", "scores", "probabilities"]
    np.testing.assert_allclose(found["probabilities"], wanted, atol=1e-5)
    np.testing.assert_array_equal(found["label"], model.predict(rows))
    np.testing.assert_allclose(found["scores"], model.decision_function(rows), atol=1e-4)


def assert_same_quantities(model, rows=NEW):
    found, wanted = answers(to_onnx(model), rows), model.predict(rows)
    assert list(found) == ["prediction"]
    np.testing.assert_allclose(found["prediction"], wanted, rtol=1e-6, atol=1e-5)


GRAPHS = [None, "auto", Anchors(40), KNN(search="exact")]


@pytest.mark.dear
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_classes(graph, k):
    model = SemiSupervisedClassifier([LINE, TREES, RIDGE], graph=graph, random_state=0)
    assert_same_classes(model.fit(X, labels(k)))


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("graph", [None, "auto", "anchors"])
def test_classes_of_the_usual_models(graph, k):
    model = SemiSupervisedClassifier(graph=graph, random_state=0).fit(X, labels(k))
    kinds = {type(part.model.model).__name__ for part in model.mixture_.parts}
    assert kinds & {"RandomForestClassifier", "HistGradientBoostingClassifier"}
    assert_same_classes(model)


@pytest.mark.dear
@pytest.mark.parametrize("graph", ["auto", Anchors(40), Anchors(200)], ids=str)
def test_fields_alone(graph):
    """Rows far from all nodes are told the prior."""
    model = SemiSupervisedClassifier(None, graph=graph, random_state=0).fit(X, labels(3))
    assert not model.mixture_.parts and model.mixture_.values is not None
    assert_same_classes(model)
    far = answers(to_onnx(model), 1e5 + NEW[:1])["probabilities"]
    np.testing.assert_allclose(far, 1 / 3, atol=1e-3)


@pytest.mark.dear
@pytest.mark.parametrize("k", [2, 3])
def test_corrections(k):
    model = SemiSupervisedClassifier(TREES, graph=Anchors(60), random_state=0).fit(X, labels(k))
    parts = model.mixture_.parts
    assert any(part.field is not None for part in parts)
    assert_same_classes(model)
    proto = to_onnx(model)  # trees that several parts correct are asked once
    assert [node.op_type for node in proto.graph.node].count("TreeEnsembleRegressor") == 1


@pytest.mark.dear
@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_quantities(graph):
    y = np.where(KNOWN, F + 100.0, np.nan)
    models = [KernelRidgeCV(random_state=0), make_pipeline(MinMaxScaler(), Ridge())]
    model = SemiSupervisedRegressor(models, graph=graph, random_state=0).fit(X, y)
    assert_same_quantities(model)


@pytest.mark.long
@pytest.mark.parametrize("graph", [None, "auto", "anchors"])
def test_quantities_of_the_usual_models(graph):
    y = np.where(KNOWN, np.round(F) + 7.0, np.nan)
    assert_same_quantities(SemiSupervisedRegressor(graph=graph, random_state=0).fit(X, y))


@pytest.mark.parametrize(
    "names", [("no", "ä ✓", "yes"), (10, 20, 2**40), (1.0, 2.0, 7.0), (False, True)]
)
def test_labels_keep_their_type(names):
    y = labels(len(names), names)
    model = SemiSupervisedClassifier(LINE, graph=None, unlabeled=None, random_state=0).fit(X, y)
    kind = answers(to_onnx(model), NEW)["label"].dtype.kind
    assert kind == ("O" if isinstance(names[0], str) else np.array(names).dtype.kind)
    assert_same_classes(model)


GIVEN = {
    "scores": RidgeClassifier(),
    "scaled trees": make_pipeline(StandardScaler(), MinMaxScaler(), TREES),
    "scaled ridge": make_pipeline(StandardScaler(), RIDGE),
    "of all rows": [LaplacianSVC(), BOOSTING],
}


@pytest.mark.dear
@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("graph", [None, Anchors(40)], ids=str)
def test_given_models(kind, graph):
    model = SemiSupervisedClassifier(GIVEN[kind], graph=graph, random_state=0)
    # Far out all scores of a kernel machine round to 0, and any class may be the largest.
    assert_same_classes(model.fit(X, labels(3)), NEAR)


@pytest.mark.dear
@pytest.mark.parametrize("graph", ["auto", Anchors(40)], ids=str)
def test_behind_a_scaler(graph):
    rows = rows_of(240)
    inside = SemiSupervisedClassifier([LINE, TREES], graph=graph, random_state=0)
    model = make_pipeline(StandardScaler(), inside).fit(rows, labels(3))
    assert_same_classes(model, rows_of(200, seed=5))


@pytest.mark.long
@pytest.mark.parametrize("rows", [csr_array(X * (X > 0)), X.astype(np.float32)], ids=type)
def test_rows_of_other_kinds(rows):
    model = SemiSupervisedClassifier([RIDGE, TREES], random_state=0).fit(rows, labels(2))
    assert_same_classes(model)


@pytest.mark.long
def test_many_columns_of_whole_numbers():
    """Where nodes are equally far, either may be the last one that a row reaches."""
    rows, digits = load_digits(return_X_y=True)
    y = np.where(np.arange(1000) < 100, digits[:1000], -1)
    model = SemiSupervisedClassifier([LINE, TREES], random_state=0).fit(rows[:1000], y)
    new, nodes = rows[1000:], model.mixture_.nodes
    d2 = nodes.index.nearest_to(new, nodes.n_neighbors + 1)[1]
    tie = d2[:, -1] == d2[:, -2]
    assert 0 < tie.sum() < 0.1 * len(new)
    assert_same_classes(model, new[~tie])


@pytest.mark.long
def test_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = SemiSupervisedClassifier([LINE, BOOSTING], random_state=0).fit(frame, labels(3))
    wanted = model.predict_proba(pd.DataFrame(NEW, columns=list("abcde")))
    found = answers(to_onnx(model), NEW)["probabilities"]
    np.testing.assert_allclose(found, wanted, atol=1e-5)


# ---------------------------------------------------------------- what has no form


def test_a_member_without_a_form_is_named(tmp_path):
    model = SemiSupervisedClassifier(SVC(), graph=None, random_state=0).fit(X, labels(2))
    with pytest.raises(ValueError, match=r"holds a SVC.*estimator='auto'.*joblib\.dump"):
        to_onnx(model, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_search_that_may_miss_nodes_is_refused(monkeypatch):
    model = SemiSupervisedClassifier(None, random_state=0).fit(X, labels(2))
    monkeypatch.setattr(NeighbourIndex, "misses_nothing", lambda self, k: False)
    with pytest.raises(ValueError, match=r"240 nodes approximately.*KNN\(search='exact'\)"):
        to_onnx(model)


def test_an_approximate_index_says_so():
    rows = np.random.default_rng(0).normal(size=(4000, 6))
    assert NeighbourIndex(rows, "exact").misses_nothing(5)
    assert not NeighbourIndex(rows, "approximate").misses_nothing(5)


@pytest.mark.long
def test_too_many_nodes_are_refused(monkeypatch, tmp_path):
    model = SemiSupervisedClassifier([LINE, TREES], graph=None, random_state=0).fit(X, labels(2))
    small = SemiSupervisedClassifier(None, random_state=0).fit(X, labels(2))
    for each in (small, model):  # constants, and the options of a node
        size = to_onnx(each).ByteSize()
        monkeypatch.setattr("graphkm.exchange.onnx_nodes.MOST", size - 1)
        with pytest.raises(ValueError, match=r"GB at most.*graph=Anchors\(n_anchors=1000\)"):
            to_onnx(each, tmp_path / "a")
        monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"2\.1 GB at most, and this model needs 8 GB"):
        check_size(8 * 10**9)


def test_an_unfitted_mixture_is_refused():
    with pytest.raises(ValueError, match="not fitted"):
        to_onnx(SemiSupervisedClassifier())

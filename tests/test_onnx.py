"""ONNX graphs, held to onnxruntime."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from graphkm import GKMClassifier, GKMRegressor, GKMRegressorCV
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.exchange import to_onnx
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.kernels import Polynomial, SquaredExponential

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 5)).astype(np.float32).astype(np.float64)
SHOWN = np.arange(150) % 3 == 0
TWO = np.where(SHOWN, np.where(X[:, 0] + X[:, 1] ** 2 > 0.7, 4, 1), -1)
FOUR = np.where(SHOWN, 10 * (X[:, 0] > 0) + 3 * (X[:, 1] > 0), -1)
REAL = np.where(SHOWN, np.sin(X[:, 0]) + 7, np.nan)


def run(proto, rows):
    onnx.checker.check_model(proto, full_check=True)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows.astype(np.float32)}), strict=True))


def assert_alike(model, rows):
    """Scores agree as single precision can; labels wherever that does not decide."""
    answer = run(to_onnx(model), rows)
    f = model.decision_function(rows)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    size = np.abs(last.dual_coef_).sum(axis=1).max() * float(last.kernel_.diagonal(X).max())
    atol = 1e-5 + 1e-6 * size
    assert answer["scores"].shape == f.shape
    np.testing.assert_allclose(answer["scores"], f, atol=atol)
    scores = np.sort(np.column_stack([-f, f]) if f.ndim == 1 else f, axis=1)
    clear = scores[:, -1] - scores[:, -2] > 2 * atol
    labels = model.predict(rows)
    assert clear.mean() > 0.8 and len(np.unique(labels[clear])) == len(last.classes_)
    assert answer["label"][clear].tolist() == labels[clear].tolist()


@pytest.mark.dear
@pytest.mark.parametrize("y", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize(
    "model",
    [
        GKMClassifier(random_state=0),
        GKMClassifier(solver="sgd", fit_intercept=True, random_state=0),
        GKMClassifier(kernel=SquaredExponential(0.2, sigma_f=3.0), solver="sgd", random_state=0),
        GKMClassifier(kernel="linear", fit_intercept=True, solver="sgd", random_state=0),
        GKMClassifier(kernel=Polynomial(2, 0.5, 1.0), solver="sgd", random_state=0),
        LaplacianSVC(fit_intercept=True),
        TransductiveSVC(),
    ],
)
def test_classifiers(model, y):
    assert_alike(clone(model).fit(X, y), X)


def test_sparse_centres():
    rows = csr_array(np.where(np.abs(X) > 0.5, X, 0))
    assert_alike(GKMClassifier(solver="sgd", random_state=0).fit(rows, TWO), rows.toarray())


@pytest.mark.parametrize(
    "names", [["no", "yes", "ä ✓"], [10, 20, 2**40], [1.0, 2.0, 7.0], [False, True]]
)
def test_labels_keep_their_type(names):
    names = np.array(names)
    y = np.full(150, None, dtype=object)
    y[SHOWN] = names[np.digitize(X[SHOWN, 0], [-0.5, 0.5][: len(names) - 1])]
    model = GKMClassifier(solver="sgd", unlabeled=None, random_state=0).fit(X, y)
    assert_alike(model, X)
    kind = run(to_onnx(model), X[:1])["label"].dtype.kind
    assert kind == ("O" if names.dtype.kind == "U" else names.dtype.kind)


@pytest.mark.parametrize(
    "model",
    [
        GKMRegressor(random_state=0),
        GKMRegressorCV(),
        LaplacianRegressor(),
        GKMRegressor(kernel=Polynomial(3, 0.1, 1.0), solver="sgd", random_state=0),
        make_pipeline(StandardScaler(), GKMRegressor(random_state=0)),
    ],
)
def test_regressors(model):
    model = clone(model).fit(X, REAL)
    answer = run(to_onnx(model), X)
    assert list(answer) == ["prediction"]
    np.testing.assert_allclose(answer["prediction"], model.predict(X), atol=1e-4)


def test_ridge_machines():
    assert_alike(KernelRidgeClassifierCV(alphas=[0.1]).fit(X, X[:, 0] > 0), X)
    model = KernelRidgeCV(alphas=[0.1]).fit(X, 5 + X[:, 0])
    np.testing.assert_allclose(run(to_onnx(model), X)["prediction"], model.predict(X), atol=1e-4)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((-1, 3)), MaxAbsScaler()])
def test_scaling_is_part_of_the_graph(scaler):
    rows = (X * [1.0, 10.0, 0.1, 1.0, 5.0] + 2.0).astype(np.float32).astype(np.float64)
    last = GKMClassifier(solver="sgd", random_state=0)
    model = make_pipeline(clone(scaler), MaxAbsScaler(), "passthrough", last).fit(rows, FOUR)
    assert_alike(model, rows)


def test_a_graph_is_written_whole(tmp_path):
    model = GKMClassifier(random_state=0).fit(X, TWO)
    proto = to_onnx(model, tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == proto
    assert [p.name for p in tmp_path.iterdir()] == ["model.onnx"]


@pytest.mark.long
def test_what_onnx_cannot_express():
    with pytest.raises(ValueError, match="ONNX has no kernel 'laplacian'"):
        to_onnx(GKMClassifier(kernel="laplacian").fit(X, TWO))
    with pytest.raises(ValueError, match="cannot clip"):
        to_onnx(make_pipeline(MinMaxScaler(clip=True), GKMClassifier()).fit(X, TWO))
    with pytest.raises(ValueError, match="not fitted"):
        to_onnx(GKMClassifier())


def test_without_onnx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"graphkm\[onnx\]"):
        to_onnx(GKMClassifier().fit(X, TWO))

"""Every kind of model that can be exported, held to onnxruntime and to svm-predict."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from graphkm import GKMClassifier, GKMClassifierCV, GKMRegressor, GKMRegressorCV
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.exchange import to_libsvm, to_onnx
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

ROUNDING = 3e-4  # of the largest score: models themselves round kernel values to single precision


def rows_of(n, seed=0):
    """Return rows that single precision holds as they are, on a scale of their own."""
    rng = np.random.default_rng(seed)
    scales = np.array([1.0, 3.0, 0.2, 10.0, 0.5, 1.0])
    return (rng.normal(size=(n, 6)) * scales + scales).astype(np.float32).astype(np.float64)


def table(n, n_classes, shown, seed=0):
    """Return rows without clusters, and classes that are noisy steps of a linear function."""
    X, rng = rows_of(n, seed), np.random.default_rng(seed)
    f = StandardScaler().fit_transform(X) @ [1.0, -1.0, 0.5, 1.0, 0.0, 0.0]
    f += 0.7 * rng.normal(size=n)
    steps = [0.6] if n_classes == 2 else [-1.0, 1.2]
    y = np.array([3, 5, 8])[np.digitize(f, steps)]
    return X, np.where(np.arange(n) < shown, y, -1), np.where(np.arange(n) < shown, f + 7, np.nan)


def answers(proto, X):
    onnx.checker.check_model(proto, full_check=True)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X.astype(np.float32)}), strict=True))


def assert_same_classifier(model, X):
    """Compare labels, scores and probabilities."""
    found = answers(to_onnx(model), X)
    f, labels = model.decision_function(X), model.predict(X)
    atol = ROUNDING * np.abs(f).max()
    np.testing.assert_allclose(found["scores"], f, atol=atol)
    best = np.sort(np.column_stack([-f, f]) if f.ndim == 1 else f, axis=1)
    # Only where two classes are as near as the scores' own rounding may labels differ.
    clear = best[:, -1] - best[:, -2] > 2 * np.abs(found["scores"] - f).max()
    assert clear.mean() > 0.95 and len(np.unique(labels)) == len(model.classes_)
    np.testing.assert_array_equal(found["label"][clear], labels[clear])
    if not hasattr(model, "predict_proba"):
        assert "probabilities" not in found
        return
    P = model.predict_proba(X)  # of steeper curves than the scores
    np.testing.assert_allclose(found["probabilities"][clear], P[clear], atol=4 * ROUNDING)


CLASSIFIERS = {
    "newton": GKMClassifier(solver="newton", random_state=0),
    "intercept": GKMClassifier(solver="newton", fit_intercept=True, random_state=0),
    "sgd": GKMClassifier(solver="sgd", random_state=0),
    "sums": GKMClassifier(solver="sums", random_state=0),
    "balanced": GKMClassifier(solver="newton", class_weight="balanced", random_state=0),
    "linear": GKMClassifier(solver="newton", kernel="linear", random_state=0),
    "poly": GKMClassifier(solver="newton", kernel="poly", random_state=0),
    "search": GKMClassifierCV(GKMClassifier(solver="newton"), Cs=[1.0, 10.0], random_state=0),
    "laplacian": LaplacianSVC(probability=True),
    "transductive": TransductiveSVC(probability=True),
}


@pytest.mark.long
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classifiers(kind, n_classes):
    X, y, _ = table(300, n_classes, 120)
    model = clone(CLASSIFIERS[kind])
    if kind == "sums":
        model.partial_fit(X, y)
    else:
        model.fit(X, y)
    assert_same_classifier(model, X)
    assert_same_classifier(model, rows_of(200, seed=1))


@pytest.mark.dear
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weights", [None, "balanced"])
@pytest.mark.parametrize("n", [200, 1200])  # with 1,000 labels probabilities have curves
def test_kernel_ridge(n_classes, weights, n):
    X, y, _ = table(n, n_classes, n)
    model = KernelRidgeClassifierCV(class_weight=weights, random_state=0).fit(X, y)
    assert (model.calibration_.curves is not None) == (n == 1200)
    assert_same_classifier(model, X)


@pytest.mark.dear
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((-1, 3)), MaxAbsScaler()])
def test_pipelines_of_scalers(scaler, n_classes):
    X, y, targets = table(300, n_classes, 120)
    last = GKMClassifier(solver="sgd", random_state=0)
    assert_same_classifier(make_pipeline(scaler, MaxAbsScaler(), last).fit(X, y), X)
    model = make_pipeline(scaler, GKMRegressor(random_state=0)).fit(X, targets)
    assert_same_regressor(model, X)


# ---------------------------------------------------------------- many rows, and fields


@pytest.mark.long
@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_rows(n_classes):
    """Probabilities of many labels have curves, and a model may stand behind a scaler."""
    X, y, _ = table(2600, n_classes, 1300)
    model = GKMClassifier(random_state=0).fit(StandardScaler().fit_transform(X), y)
    rows = StandardScaler().fit_transform(rows_of(2600)).astype(np.float32).astype(np.float64)
    assert_same_classifier(model, rows)
    pipeline = make_pipeline(StandardScaler(), model)
    pipeline.steps[0][1].fit(rows_of(2600))
    assert_same_classifier(pipeline, rows_of(500, seed=3))


def spirals(n):
    X, truth = make_moons(n, noise=0.08, random_state=0)
    return X, np.where(np.arange(n) < 12, truth, -1)


ROWS = GKMClassifier(solver="row_newton", random_state=0)
FIELDS = {
    "rows": ROWS,
    "search": GKMClassifierCV(ROWS, C_graphs=[5e4], graphs=[(6, 1)], random_state=0),
}


@pytest.mark.parametrize("kind", FIELDS)
@pytest.mark.parametrize("program", ["ONNX", "LIBSVM"])
def test_fields_are_refused(kind, program, tmp_path):
    X, y = spirals(400)
    model = clone(FIELDS[kind]).fit(X, y)
    assert getattr(model, "best_estimator_", model).field_ is not None
    path = tmp_path / "model"
    for whole in (model, make_pipeline(StandardScaler().fit(X), model)):
        with pytest.raises(ValueError, match=f"adds a field.*{program} has no form") as error:
            if program == "ONNX":
                to_onnx(whole, path)
            else:
                to_libsvm(whole, path, ranges=None if whole is model else tmp_path / "ranges")
    assert list(tmp_path.iterdir()) == []
    assert "--solver newton" in str(error.value)


def test_what_the_error_offers_can_be_written():
    X, y = spirals(400)
    model = clone(ROWS).fit(X, y)
    X = X.astype(np.float32).astype(np.float64)
    imitation = KernelRidgeClassifierCV(n_landmarks=200, random_state=0).fit(X, model.predict(X))
    assert_same_classifier(imitation, X)
    assert_same_classifier(GKMClassifier(solver="newton", random_state=0).fit(X, y), X)


# ---------------------------------------------------------------- regressors


REGRESSORS = {
    "newton": GKMRegressor(solver="newton", random_state=0),
    "sgd": GKMRegressor(solver="sgd", random_state=0),
    "without intercept": GKMRegressor(fit_intercept=False, random_state=0),
    "search": GKMRegressorCV(random_state=0),
    "ridge": KernelRidgeCV(random_state=0),
    "laplacian": LaplacianRegressor(),
}


def assert_same_regressor(model, X):
    found = answers(to_onnx(model), X)
    assert list(found) == ["prediction"]
    wanted = model.predict(X)
    np.testing.assert_allclose(found["prediction"], wanted, atol=ROUNDING * wanted.std())


@pytest.mark.dear
@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors(kind):
    X, _, targets = table(300, 2, 120)
    known = np.isfinite(targets)
    rows = (X[known], targets[known]) if kind == "ridge" else (X, targets)
    assert_same_regressor(clone(REGRESSORS[kind]).fit(*rows), X)


# ---------------------------------------------------------------- svm-predict


@pytest.mark.long
@pytest.mark.skipif(shutil.which("svm-predict") is None, reason="LIBSVM is not installed")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [each for each in CLASSIFIERS if each != "sums"])
def test_svm_predict_gives_our_labels(kind, n_classes, tmp_path):
    rows, y, _ = table(400, n_classes, 200)
    model, X = clone(CLASSIFIERS[kind]).fit(rows, y), rows_of(400, seed=7)
    f = model.decision_function(X)
    best = np.sort(np.column_stack([-f, f]) if f.ndim == 1 else f, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-5 * np.abs(f).max()
    to_libsvm(model, tmp_path / "model")
    dump_svmlight_file(X, np.zeros(len(X)), str(tmp_path / "rows"), zero_based=False)
    command = ["svm-predict", "-q", "rows", "model", "out"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    theirs = np.loadtxt(tmp_path / "out")
    assert clear.mean() > 0.95
    np.testing.assert_array_equal(theirs[clear], model.predict(X)[clear])

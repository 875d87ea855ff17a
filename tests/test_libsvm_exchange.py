"""LIBSVM's model format, held to LIBSVM's own programs."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from graphkm import GKMClassifier, GKMClassifierCV, GKMRegressor
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.exchange import (
    ModelFileError,
    PairwiseClassifier,
    from_libsvm,
    load_model,
    save_model,
    to_libsvm,
)
from graphkm.kernels import Polynomial, SquaredExponential

needs_libsvm = pytest.mark.skipif(
    any(shutil.which(f"svm-{name}") is None for name in ("train", "predict", "scale")),
    reason="LIBSVM's svm-train, svm-predict and svm-scale are not installed",
)

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 5))
X[:, 3] = 0  # a column that is not in the file
SPARSE = csr_array(np.where(np.abs(X) > 0.7, X, 0))
SHOWN = np.arange(150) % 3 == 0
TWO = np.where(SHOWN, np.where(X[:, 0] + X[:, 1] ** 2 > 0.7, 4, 1), -1)
FOUR = np.where(SHOWN, 10 * (X[:, 0] > 0) + 3 * (X[:, 1] > 0), -1)
REAL = np.where(SHOWN, np.sin(X[:, 0]) + 7, np.nan)


def run(*command):
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


def svm_predict(model, rows, folder, ranges=None):
    data = folder / "data"
    dump_svmlight_file(rows, np.zeros(rows.shape[0]), str(data), zero_based=False)
    if ranges is not None:
        scaled = subprocess.run(
            ["svm-scale", "-r", str(ranges), str(data)], check=True, capture_output=True
        )
        data.write_bytes(scaled.stdout)
    run("svm-predict", "-q", data, model, folder / "out")
    return np.loadtxt(folder / "out", ndmin=1)


def is_clear(model, rows):
    """Return where rounding does not decide."""
    f = model.decision_function(rows)
    if f.ndim == 1:
        return np.abs(f) > 1e-5
    best = np.sort(f, axis=1)
    return best[:, -1] - best[:, -2] > 1e-5


# ---------------------------------------------------------------- written for svm-predict


@pytest.mark.long
@needs_libsvm
@pytest.mark.parametrize("rows", [X, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("y", [TWO, FOUR], ids=["two", "four"])
@pytest.mark.parametrize(
    "model",
    [
        GKMClassifier(random_state=0),
        GKMClassifier(solver="sgd", fit_intercept=True, random_state=0, precision="double"),
        GKMClassifier(kernel=SquaredExponential(0.2, sigma_f=3.0)),
        GKMClassifier(kernel="linear", fit_intercept=True, solver="sgd", random_state=0),
        GKMClassifier(kernel=Polynomial(2, 0.5, 1.0)),
        GKMClassifierCV(Cs=[1.0, 10.0]),
        LaplacianSVC(fit_intercept=True),
        TransductiveSVC(),
    ],
)
def test_svm_predict_gives_our_labels(tmp_path, model, y, rows):
    model = clone(model).fit(rows, y)
    written = to_libsvm(model, tmp_path / "model")
    assert list(written) == list(written.values()) == model.classes_.tolist()
    clear = is_clear(model, rows)
    assert clear.mean() > 0.9 and len(np.unique(model.predict(rows))) == len(model.classes_)
    theirs = svm_predict(tmp_path / "model", rows, tmp_path)
    np.testing.assert_array_equal(theirs[clear], model.predict(rows)[clear])
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@needs_libsvm
@pytest.mark.parametrize("rows", [X, SPARSE], ids=["dense", "sparse"])
def test_svm_predict_gives_our_targets(tmp_path, rows):
    poly = GKMRegressor(kernel=Polynomial(3, 0.1, 1.0), precision="double")
    for model in (GKMRegressor(precision="double"), LaplacianRegressor(), poly):
        model.fit(rows, REAL)
        assert to_libsvm(model, tmp_path / "model") == {}
        theirs = svm_predict(tmp_path / "model", rows, tmp_path)
        # svm-predict prints six digits of numbers around 7.
        np.testing.assert_allclose(theirs, model.predict(rows), rtol=2e-6)


@pytest.mark.long
@needs_libsvm
def test_other_labels_are_codes(tmp_path):
    for names in (["no", "so", "yes"], [0.5, 1.5, 2.5], [2**40, 2**41, 2**42]):
        y = np.full(150, None, dtype=object)
        y[SHOWN] = np.array(names, dtype=object)[np.digitize(X[SHOWN, 0], [-0.5, 0.5])]
        if names[0] == 0.5:  # classes that scikit-learn would take for targets
            model = GKMClassifier(unlabeled=None).fit(X, np.where(SHOWN, X[:, 0] > 0, None))
            names = [False, True]
        else:
            model = GKMClassifier(unlabeled=None).fit(X, y)
        with pytest.raises(ValueError, match="labels='codes'"):
            to_libsvm(model, tmp_path / "model")
        assert to_libsvm(model, tmp_path / "model", labels="codes") == dict(enumerate(names))
        theirs = svm_predict(tmp_path / "model", X, tmp_path)
        clear = is_clear(model, X)
        assert [names[int(c)] for c in theirs[clear]] == model.predict(X)[clear].tolist()
    with pytest.raises(ValueError, match="labels must be"):
        to_libsvm(model, tmp_path / "model", labels="words")


@pytest.mark.long
@needs_libsvm
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((-1, 3)), MaxAbsScaler()])
def test_scaling_is_written_for_svm_scale(tmp_path, scaler):
    rows = X * [1.0, 10.0, 0.1, 1.0, 5.0] + 2.0
    model = make_pipeline(clone(scaler), MaxAbsScaler(), GKMClassifier(random_state=0)).fit(
        rows, FOUR
    )
    with pytest.raises(ValueError, match="pass ranges="):
        to_libsvm(model, tmp_path / "model")
    to_libsvm(model, tmp_path / "model", ranges=tmp_path / "ranges")
    theirs = svm_predict(tmp_path / "model", rows, tmp_path, tmp_path / "ranges")
    f = np.sort(model.decision_function(rows), axis=1)
    clear = f[:, -1] - f[:, -2] > 1e-2  # svm-scale prints six digits
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(theirs[clear], model.predict(rows)[clear])


@pytest.mark.dear
@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (GKMClassifier(), {}, "not fitted; call fit"),
        (GKMClassifier(kernel="laplacian"), {}, "no kernel 'laplacian'"),
        (GKMClassifier(kernel="cosine"), {}, "no kernel 'cosine'"),
        (KNeighborsClassifier(), {}, "KNeighborsClassifier cannot be written for LIBSVM"),
        (GKMClassifier(), {"ranges": "x"}, "this model has none"),
        (
            make_pipeline(MinMaxScaler(clip=True), GKMClassifier()),
            {"ranges": "x"},
            "cannot clip",
        ),
    ],
)
def test_what_libsvm_cannot_express(tmp_path, model, options, message):
    if "not fitted" not in message:
        model = clone(model).fit(X, TWO)
    with pytest.raises(ValueError, match=message):
        to_libsvm(model, tmp_path / "model", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ModelFileError, match="folder that exists"):
        to_libsvm(GKMClassifier().fit(X, TWO), tmp_path / "nowhere" / "model")


# ---------------------------------------------------------------- read from svm-train


KERNELS = {"linear": ["-t", 0], "poly": ["-t", 1, "-r", 1, "-g", 0.3], "rbf": ["-t", 2]}


@needs_libsvm
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("svm_type", [0, 1, 3, 4], ids=["c_svc", "nu_svc", "eps_svr", "nu_svr"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_models_of_svm_train(tmp_path, svm_type, kernel, n_classes):
    y = [TWO, FOUR][n_classes // 4] if svm_type < 2 else REAL
    options = ["-s", svm_type, *KERNELS[kernel], "-n", 0.3]
    dump_svmlight_file(SPARSE[SHOWN], y[SHOWN], str(tmp_path / "train"), zero_based=False)
    run("svm-train", "-q", *options, tmp_path / "train", tmp_path / "model")
    model = from_libsvm(tmp_path / "model", n_features=5)
    theirs = svm_predict(tmp_path / "model", SPARSE, tmp_path)
    ours = model.predict(SPARSE)
    if svm_type < 2:
        assert len(model.classes_) == n_classes and len(set(theirs)) == n_classes
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=2e-6)
    save_model(model, tmp_path / "saved")
    np.testing.assert_array_equal(load_model(tmp_path / "saved").predict(X), model.predict(X))


@pytest.mark.long
@needs_libsvm
def test_our_models_come_back(tmp_path):
    for y in (TWO, FOUR):
        model = GKMClassifier(random_state=0, fit_intercept=True).fit(SPARSE, y)
        to_libsvm(model, tmp_path / "model")
        back = from_libsvm(tmp_path / "model", n_features=5)
        clear = is_clear(model, SPARSE)
        np.testing.assert_array_equal(back.predict(SPARSE)[clear], model.predict(SPARSE)[clear])
    model = GKMRegressor(precision="double").fit(SPARSE, REAL)
    to_libsvm(model, tmp_path / "model")
    back = from_libsvm(tmp_path / "model", n_features=5)
    np.testing.assert_allclose(back.predict(SPARSE), model.predict(SPARSE), rtol=1e-9)


GOOD = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.1
label 1 -1
nr_sv 1 1
SV
0.5 1:1 3:2.5
-0.5 2:-1
"""


def test_a_small_model_is_what_it_says(tmp_path):
    (tmp_path / "a").write_text(GOOD)
    model = from_libsvm(tmp_path / "a")
    x = np.array([[0.3, 0.2, 1.0]])
    k = [np.exp(-0.5 * ((x - s) ** 2).sum()) for s in ([1, 0, 2.5], [0, -1, 0])]
    np.testing.assert_allclose(model.decision_function(x), 0.5 * k[0] - 0.5 * k[1] - 0.1)
    assert model.classes_.tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("c_svc", "one_class", "its type is one_class"),
        ("rbf", "sigmoid", "its kernel is sigmoid"),
        ("rbf", "precomputed", "its kernel is precomputed"),
        ("gamma 0.5\n", "", "values of gamma, not 1"),
        ("gamma 0.5", "gamma 1e999", "no number"),
        ("gamma 0.5", "gamma 1_0", "no number"),
        ("gamma 0.5", "gamma -1", "gamma must be"),
        ("gamma 0.5", "gamma 0.5\ngamma 0.5", "begins with 'gamma'"),
        ("gamma 0.5", "delta 0.5", "begins with 'delta'"),
        ("nr_class 2", "nr_class 1000000", "not as many labels"),
        ("nr_class 2", "nr_class 3", "no number"),
        ("total_sv 2", "total_sv 2000000000", "cut short"),
        ("total_sv 2", "total_sv -2", "cut short"),
        ("label 1 -1", "label 1 1", "twice"),
        ("nr_sv 1 1", "nr_sv 3 -1", "twice, or nr_sv"),
        ("rho 0.1", "rho 0.1 0.2", "values of rho"),
        ("1:1 3:2.5", "3:1 1:2.5", "too late"),
        ("1:1 3:2.5", "0:1 1:2.5", "too late"),
        ("3:2.5", "99999999999:2.5", "no whole number"),
        ("3:2.5", "3000000000:2.5", "too late"),
        ("3:2.5", "3", "no number"),
        ("3:2.5", "3:nan", "no number"),
        ("SV\n", "", "begins with"),
        (GOOD, "", "no line 'SV'"),
        (GOOD, "\x00\xff", "cannot be read as a model"),
    ],
)
def test_damaged_models_are_refused(tmp_path, old, new, message):
    (tmp_path / "a").write_text(GOOD.replace(old, new))
    with pytest.raises(ModelFileError, match=message):
        from_libsvm(tmp_path / "a")


def test_a_model_that_was_read_is_not_fitted_again(tmp_path):
    with pytest.raises(TypeError, match="fit a GKMClassifier"):
        PairwiseClassifier().fit(X, TWO)


def test_widths_and_missing_files(tmp_path):
    (tmp_path / "a").write_text(GOOD)
    assert from_libsvm(tmp_path / "a", n_features=7).n_features_in_ == 7
    with pytest.raises(ModelFileError, match="n_features=2"):
        from_libsvm(tmp_path / "a", n_features=2)
    with pytest.raises(FileNotFoundError):
        from_libsvm(tmp_path / "b")

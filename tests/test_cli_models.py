"""Models by the command line: the same as by Python, and told in plain words."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest
from scipy.sparse import random_array
from sklearn import metrics
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cli_runner import moons, process, read_predictions, run, write_csv, write_libsvm
from graphkm import (
    KNN,
    SGD,
    Anchors,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    IteratedLaplacian,
    Newton,
    SemiSupervisedClassifier,
)
from graphkm.baselines import LaplacianSVC, TransductiveSVC
from graphkm.exchange import load_model, save_model
from graphkm.io import read_libsvm

pytestmark = pytest.mark.usefixtures("one_model")


@pytest.fixture
def folder(tmp_path):
    """Return a folder with partly labelled moons, and other ones to test on."""
    X, y, names = moons()
    write_csv(tmp_path / "few.csv", X[:200], y[:200])
    write_csv(tmp_path / "test.csv", X[200:], names[200:])
    write_csv(tmp_path / "new.csv", X[200:])
    return tmp_path


GKM = ("--method", "gkm")


def as_python(values):
    """Return labels of a file as the estimators take them."""
    return np.array([None if value == "" else value for value in values], dtype=object)


def predicted(folder, model="m.gkm", data="new.csv"):
    out = folder / "out.csv"
    assert run("predict", folder / model, folder / data, "--out", out) == 0
    return read_predictions(out)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("flags", "model"),
    [
        (GKM, make_pipeline(StandardScaler(), GKMClassifier(unlabeled=None, random_state=0))),
        ([*GKM, "--scale", "none", "--p", "2"], GKMClassifier(unlabeled=None, random_state=0)),
        (
            ["--scale", "none", "--graph", "anchors", "--set", "n_anchors=60"],
            SemiSupervisedClassifier(graph=Anchors(n_anchors=60), unlabeled=None, random_state=0),
        ),
        (
            [*GKM, "--scale", "none", "--C-graph", "1", "--set", "degree=3",
             "--set", "normalized=False", "--set", "tol=1e-4"],
            GKMClassifier(
                C_graph=1, smoothness=IteratedLaplacian(3, normalized=False),
                solver=Newton(tol=1e-4), unlabeled=None, random_state=0,
            ),
        ),
        (
            [*GKM, "--scale", "none", "--C", "2", "--C-graph", "0.5", "--gamma", "3",
             "--neighbors", "5", "--solver", "sgd", "--p", "1.5", "--loss", "logistic",
             "--seed", "4", "--set", "max_iter=300", "--set", "precision=double"],
            GKMClassifier(
                2, 0.5, gamma=3, graph=KNN(n_neighbors=5), solver=SGD(max_iter=300), smoothness=1.5,
                loss="logistic", random_state=4, precision="double", unlabeled=None,
            ),
        ),
        (
            ["--method", "lapsvm", "--scale", "minmax", "--set", "gamma_I=0.1"],
            make_pipeline(MinMaxScaler(), LaplacianSVC(gamma_I=0.1, unlabeled=None)),
        ),
        (
            ["--method", "tsvm", "--scale", "none", "--C", "3"],
            TransductiveSVC(C=3, unlabeled=None),
        ),
    ],
)  # fmt: skip
def test_predictions_are_those_of_python(folder, flags, model):
    assert run("train", folder / "few.csv", folder / "m.gkm", *flags) == 0
    X, y, _ = moons()
    model = clone(model).fit(X[:200], as_python(y[:200]))  # parameters of tests stay alive
    header, rows = predicted(folder)
    assert header == ["prediction", "decision"]
    assert [row[0] for row in rows] == model.predict(X[200:]).tolist()
    np.testing.assert_array_equal([float(row[1]) for row in rows], model.decision_function(X[200:]))


@pytest.mark.long
@pytest.mark.parametrize("n", [300, pytest.param(15_100, marks=pytest.mark.long)])
def test_sparse_rows_give_the_model_of_python(tmp_path, n):
    """A file of many sparse rows and labels gets the graph that Python's default has."""
    rng = np.random.default_rng(0)
    X = random_array((n, 30), density=0.1, format="csr", rng=rng)
    truth = 1 + (X @ rng.normal(size=30) > 0)
    shown = np.arange(n) < (120 if n < 1000 else 510)
    write_libsvm(tmp_path / "few.libsvm", X, np.where(shown, truth, 0))
    write_libsvm(tmp_path / "new.libsvm", X[-200:], truth[-200:])
    flags = (*GKM, "--unlabeled", "0", "--task", "classify")
    assert run("train", tmp_path / "few.libsvm", tmp_path / "m.gkm", *flags) == 0
    _, rows = predicted(tmp_path, data="new.libsvm")
    X, y = read_libsvm(tmp_path / "few.libsvm")
    model = GKMClassifier(unlabeled=0, random_state=0).fit(X, y.astype(int))
    assert [int(row[0]) for row in rows] == model.predict(X[-200:]).tolist()
    wanted = model.decision_function(X[-200:])
    np.testing.assert_allclose([float(row[1]) for row in rows], wanted, rtol=1e-9)


@pytest.mark.long
def test_several_classes_have_a_column_each(tmp_path, three):
    y = np.where(three.y < 0, "", three.y.astype(str))
    names = list("abcd")
    write_csv(tmp_path / "few.csv", three.X, y, names)
    write_csv(tmp_path / "new.csv", three.X, None, names)
    assert run("train", tmp_path / "few.csv", tmp_path / "m.gkm", *GKM, "--scale", "none") == 0
    header, rows = predicted(tmp_path)
    assert header == ["prediction", "decision_0", "decision_1", "decision_2"]
    model = GKMClassifier(random_state=0).fit(three.X, three.y)
    assert [int(row[0]) for row in rows] == model.predict(three.X).tolist()
    scores = np.array([[float(value) for value in row[1:]] for row in rows])
    np.testing.assert_array_equal(scores, model.decision_function(three.X))


def test_regression(tmp_path, curve, capsys):
    y = ["" if np.isnan(value) else repr(float(value)) for value in curve.y]
    write_csv(tmp_path / "few.csv", curve.X, y)
    write_csv(tmp_path / "new.csv", curve.X)
    write_csv(tmp_path / "test.csv", curve.X, list(map(repr, curve.truth.tolist())))
    assert run("train", tmp_path / "few.csv", tmp_path / "m.gkm", *GKM, "--scale", "none") == 0
    assert "numbers from" in capsys.readouterr().out
    header, rows = predicted(tmp_path)
    model = GKMRegressor(random_state=0).fit(curve.X, curve.y)
    assert header == ["prediction"]
    expected = model.predict(curve.X)
    np.testing.assert_array_equal([float(row[0]) for row in rows], expected)
    assert run("evaluate", tmp_path / "m.gkm", tmp_path / "test.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["r2"] == pytest.approx(metrics.r2_score(curve.truth, expected))
    error = metrics.mean_absolute_error(curve.truth, expected)
    assert found["mean_absolute_error"] == pytest.approx(error)
    squared = metrics.mean_squared_error(curve.truth, expected)
    assert found["root_mean_squared_error"] == pytest.approx(squared**0.5)


def test_evaluate_is_scikit_learn_on_labelled_rows(folder, capsys):
    X, y, names = moons()
    # A crooked model, so that there are errors to count.
    flags = (*GKM, "--C-graph", "0", "--gamma", "0.01", "--scale", "none")
    assert run("train", folder / "few.csv", folder / "m.gkm", *flags) == 0
    labels = names[200:].copy()
    labels[::3] = ""
    write_csv(folder / "part.csv", X[200:], labels)
    capsys.readouterr()
    assert run("evaluate", folder / "m.gkm", folder / "part.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    model = GKMClassifier(C_graph=0, gamma=0.01, unlabeled=None, random_state=0)
    guess = model.fit(X[:200], as_python(y[:200])).predict(X[200:])
    known = labels != ""
    truth, guess = labels[known].tolist(), guess[known].tolist()
    assert found["rows"] == 100 and found["labelled"] == known.sum()
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, guess)) != 1.0
    balanced = metrics.balanced_accuracy_score(truth, guess)
    assert found["balanced_accuracy"] == pytest.approx(balanced)
    assert found["macro_f1"] == pytest.approx(metrics.f1_score(truth, guess, average="macro"))
    assert found["confusion"] == metrics.confusion_matrix(truth, guess).tolist()
    assert run("evaluate", folder / "m.gkm", folder / "part.csv") == 0
    printed = capsys.readouterr().out
    assert f"{100 * found['accuracy']:.2f} %" in printed and "true \\ predicted" in printed


def test_search_tells_what_the_library_found(folder, capsys):
    few = folder / "few.csv"
    search = ("train", few, folder / "m.gkm", *GKM, "--search", "--scale", "none")
    assert run(*search, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    X, y, _ = moons()
    model = GKMClassifier(unlabeled=None)
    own = GKMClassifierCV(model, random_state=0).fit(X[:200], as_python(y[:200]))
    best = {name.rpartition("__")[2]: value for name, value in own.best_params_.items()}
    assert found["best_params"] == pytest.approx(best)
    assert found["best_score"] == pytest.approx(own.best_score_)
    assert found["unlabeled_gain"] == pytest.approx(own.unlabeled_gain_)
    assert found["candidates"] == len(own.cv_results_["params"]) and found["method"] == "gkm"
    _, rows = predicted(folder)
    assert [row[0] for row in rows] == own.predict(X[200:]).tolist()
    assert type(load_model(folder / "m.gkm")) is GKMClassifier  # the best one alone is kept
    assert run(*search) == 0
    printed = capsys.readouterr().out
    assert own.unlabeled_gain_ == 0 and own.best_score_ == 1
    assert "The unlabelled rows did not change held-out accuracy, 100.0 %." in printed


@pytest.mark.long
def test_search_of_numbers_in_folds(tmp_path, curve, capsys):
    y = ["" if np.isnan(value) else repr(float(value)) for value in curve.y]
    write_csv(tmp_path / "few.csv", curve.X, y)
    flags = (*GKM, "--search", "--scale", "none", "--cv", "3", "--set", "Cs=[1,10]", "--json")
    assert run("train", tmp_path / "few.csv", tmp_path / "m.gkm", *flags) == 0
    found = json.loads(capsys.readouterr().out)
    search = GKMRegressorCV(Cs=[1, 10], cv=3, random_state=0).fit(curve.X, curve.y)
    assert found["best_score"] == pytest.approx(search.best_score_)
    assert found["task"] == "regress"


def test_nothing_is_claimed_that_was_not_held_out(folder, capsys):
    few = folder / "few.csv"
    assert run("train", few, folder / "m.gkm", *GKM) == 0
    printed = capsys.readouterr().out
    assert "not measured" in printed and "labelled  12 (6 %)" in printed
    assert run("train", few, folder / "m.gkm", "--holdout", "0.5", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 200 - found["held_out"]["rows"]
    assert found["labelled"] == 12 - found["held_out"]["rows"] == 6
    assert 0 <= found["held_out"]["accuracy"] <= 1


@pytest.mark.long
def test_rows_held_out_are_not_learnt(tmp_path, capsys):
    # Labels without any pattern: only one who has seen them knows them.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    write_csv(tmp_path / "noise.csv", X, y, list("abc"))
    flags = (*GKM, "--holdout", "0.5", "--gamma", "100", "--C", "100", "--C-graph", "0", "--json")
    assert run("train", tmp_path / "noise.csv", tmp_path / "m.gkm", *flags) == 0
    assert json.loads(capsys.readouterr().out)["held_out"]["accuracy"] < 0.65
    flags = ("--holdout", "0.5", "--json")
    assert run("train", tmp_path / "noise.csv", tmp_path / "m.gkm", *flags) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["held_out"]["accuracy"] < 0.65 and found["best_score"] < 0.65


def test_info(folder, capsys):
    few = folder / "few.csv"
    assert run("train", few, folder / "m.gkm", *GKM, "--unlabeled", "none", "--C", "3") == 0
    capsys.readouterr()
    assert run("info", folder / "m.gkm") == 0
    printed = capsys.readouterr().out
    for text in ("GKMClassifier with C=3", "cat, dog", "200 rows, 12", "2: x, z", "standard"):
        assert text in printed
    assert run("info", folder / "m.gkm", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["columns"] == ["x", "z"] and found["parameters"]["C"] == 3
    assert found["classes"] == ["cat", "dog"] and found["unlabeled"] == "none"


def test_models_of_python_can_be_used(folder, capsys):
    X, y, _ = moons()
    model = GKMClassifier(unlabeled=None, random_state=0).fit(X[:200], as_python(y[:200]))
    save_model(model, folder / "m.gkm")
    _, rows = predicted(folder)
    assert [row[0] for row in rows] == model.predict(X[200:]).tolist()
    assert run("info", folder / "m.gkm") == 0 and "2, without names" in capsys.readouterr().out


@pytest.mark.long
def test_sparse_rows_stay_sparse(tmp_path, two, capsys):
    X = np.where(np.abs(two.X) < 0.7, 0.0, 3 * two.X)
    write_libsvm(tmp_path / "few.libsvm", X, two.truth)
    assert run("train", tmp_path / "few.libsvm", tmp_path / "m.gkm", "--json") == 0
    assert json.loads(capsys.readouterr().out)["scale"] == "maxabs"
    assert run("info", tmp_path / "m.gkm", "--json") == 0
    assert json.loads(capsys.readouterr().out)["sparse"] is True
    assert run("train", tmp_path / "few.libsvm", tmp_path / "m.gkm", "--scale", "standard") == 2
    assert "--scale maxabs" in capsys.readouterr().err


@pytest.mark.long
def test_demo(tmp_path, capsys):
    out = tmp_path / "moons.png"
    assert run("demo", "--out", out, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    gain = found["accuracy_with_unlabelled"] - found["accuracy_labelled_only"]
    assert found["gain"] == pytest.approx(gain) and gain > 0.05
    assert out.read_bytes().startswith(b"\x89PNG")
    assert run("demo", "--no-plot") == 0
    printed = capsys.readouterr().out
    assert (
        f"improved accuracy by {100 * gain:.1f} points" in printed
        and "994 unlabelled points" in printed
    )


def test_export_to_libsvm(folder, capsys):
    program = shutil.which("svm-predict")
    X, y, _ = moons()
    assert run("train", folder / "few.csv", folder / "m.gkm", *GKM, "--scale", "minmax") == 0
    capsys.readouterr()
    assert run("export", folder / "m.gkm", "--to", "libsvm") == 0
    printed = capsys.readouterr().out
    assert "0 is cat, 1 is dog" in printed and "m.libsvm.range, for svm-scale -r" in printed
    assert (folder / "m.libsvm.range").exists()
    codes = np.where(y == "cat", 3, np.where(y == "dog", 7, 0))
    write_libsvm(folder / "few.svm", X[:200], codes[:200])
    flags = (*GKM, "--scale", "none", "--unlabeled", "0")
    assert run("train", folder / "few.svm", folder / "n.gkm", *flags) == 0
    assert run("export", folder / "n.gkm", "--to", "libsvm", "--out", folder / "n.model") == 0
    if program is None:
        pytest.skip("svm-predict is not installed")
    write_libsvm(folder / "new.svm", X[200:], np.zeros(100))
    command = [program, "new.svm", "n.model", "out"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    labels = [row[0] for row in predicted(folder, "n.gkm", "new.svm")[1]]
    assert set(labels) == {"3", "7"} and (folder / "out").read_text().split() == labels


def test_export_to_onnx(folder):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    assert run("train", folder / "few.csv", folder / "m.gkm", *GKM) == 0
    assert run("export", folder / "m.gkm", "--to", "onnx") == 0
    session = runtime.InferenceSession(str(folder / "m.onnx"))
    X = moons()[0][200:].astype(np.float32)
    labels = session.run(None, {session.get_inputs()[0].name: X})[0]
    assert list(labels) == [row[0] for row in predicted(folder)[1]]


@pytest.mark.long
def test_the_same_bytes_again_and_from_a_process(folder):
    for name in ("a.gkm", "b.gkm"):
        assert run("train", folder / "few.csv", folder / name, *GKM, "--seed", "3") == 0
    flags = (*GKM, "--seed", "3", "--threads", "1")
    done = process("train", "few.csv", "c.gkm", *flags, folder=folder)
    assert done.returncode == 0 and done.stderr == ""
    models = [(folder / name).read_bytes() for name in ("a.gkm", "b.gkm", "c.gkm")]
    assert models[0] == models[1] and len(models[2]) == len(models[0])


@pytest.mark.long
@pytest.mark.parametrize("method", ["mixture", "gkm", "lapsvm", "tsvm"])
def test_probabilities_of_every_method(tmp_path, method):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 2))
    lines = [
        f"{a},{b},{'' if i % 2 else 'no' if a < 0 else 'yes'}" for i, (a, b) in enumerate(rows)
    ]
    (tmp_path / "few.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    files = [str(tmp_path / name) for name in ("few.csv", "m.gkm", "out.csv")]
    assert run("train", files[0], files[1], "--method", method) == 0
    assert run("predict", files[1], files[0], "--proba", "--out", files[2]) == 0
    head, *found = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()]
    assert head == ["prediction", "decision", "probability_no", "probability_yes"]
    for word, _, no, yes in found:
        assert float(no) + float(yes) == pytest.approx(1) and 0 < float(no) < 1
        assert word == ("yes" if float(yes) > float(no) else "no")
    (tmp_path / "few.csv").write_text("\n".join(["a,b,label", *(f"{a},{b},{a}" for a, b in rows)]))
    assert run("train", files[0], files[1], "--task", "regress") == 0
    assert run("predict", files[1], files[0], "--proba", "--out", files[2]) == 2

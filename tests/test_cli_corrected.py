"""`graphkm train --model`: any model, corrected over a graph, trained, kept and told in words."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from cli_runner import moons, read_predictions, run, write_csv, write_libsvm
from graphkm import (
    Anchors,
    GraphCorrectedClassifier,
    GraphCorrectedRegressor,
    KernelRidgeClassifierCV,
)
from graphkm.exchange import load_model

skops = pytest.importorskip("skops.io")

QUICK = ("--set", "n_estimators=20")
FOREST = RandomForestClassifier(20, random_state=0)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with partly labelled moons, other ones to test on, and a curve."""
    X, y, names = moons(300, 60)
    write_csv(tmp_path / "few.csv", X[:200], y[:200])
    write_csv(tmp_path / "test.csv", X[200:], names[200:])
    write_csv(tmp_path / "new.csv", X[200:])
    numbers = [repr(float(v)) if k % 3 == 0 else "" for k, v in enumerate(np.sin(3 * X[:200, 0]))]
    write_csv(tmp_path / "curve.csv", X[:200], numbers)
    return tmp_path


def trained(folder, kind, *flags, data="few.csv"):
    return run("train", folder / data, folder / "m.gkm", "--model", kind, *flags)


def predicted(folder):
    assert run("predict", folder / "m.gkm", folder / "new.csv", "--out", folder / "out.csv") == 0
    return read_predictions(folder / "out.csv")


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "flags", "inside", "more"),
    [
        ("forest", QUICK, FOREST, {}),
        ("forest", (*QUICK, "--graph", "anchors"), FOREST, {"graph": "anchors"}),
        ("boosting", ("--set", "max_iter=5"), HistGradientBoostingClassifier(max_iter=5), {}),
        (
            "svm",
            ("--set", "C=10", "--graph", "anchors", "--set", "n_anchors=50", "--set", "Cs=[1]"),
            SVC(C=10),
            {"graph": Anchors(n_anchors=50), "Cs": [1]},
        ),
        ("logistic", (), LogisticRegression(max_iter=1000), {}),
        ("kernel", (), None, {}),
        (
            "kernel",
            ("--set", "alphas=[1]"),
            KernelRidgeClassifierCV(alphas=[1], random_state=0),
            {},
        ),
    ],
)  # fmt: skip
def test_predictions_are_those_of_python(folder, kind, flags, inside, more, capsys):
    assert trained(folder, kind, *flags, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    X, y, names = moons(300, 60)
    model = GraphCorrectedClassifier(inside, unlabeled=None, random_state=0, **more)
    labels = np.array([None if value == "" else value for value in y[:200]], dtype=object)
    whole = make_pipeline(StandardScaler(), model).fit(X[:200], labels)
    header, rows = predicted(folder)
    assert header == ["prediction", "decision"]
    assert [row[0] for row in rows] == whole.predict(X[200:]).tolist()
    scores = [float(row[1]) for row in rows]
    np.testing.assert_array_equal(scores, whole.decision_function(X[200:]))
    assert found["unlabeled_gain"] == whole[-1].unlabeled_gain_ and found["method"] == kind
    assert found["labels_held_out"] == found["labelled"] == whole[-1].n_held_out_
    assert run("evaluate", folder / "m.gkm", folder / "test.csv", "--json") == 0
    accuracy = json.loads(capsys.readouterr().out)["accuracy"]
    assert accuracy == pytest.approx(np.mean(whole.predict(X[200:]) == names[200:]))


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "flags", "inside"),
    [
        ("forest", QUICK, RandomForestRegressor(20, random_state=0)),
        ("boosting", (), HistGradientBoostingRegressor()),
        ("svm", (), SVR()),
        ("kernel", (), None),
    ],
)
def test_regression(folder, kind, flags, inside, capsys):
    assert trained(folder, kind, *flags, data="curve.csv") == 0
    X = moons(300, 60)[0]
    y = np.where(np.arange(200) % 3 == 0, np.sin(3 * X[:200, 0]), np.nan)
    model = GraphCorrectedRegressor(inside, random_state=0)
    whole = make_pipeline(StandardScaler(), model).fit(X[:200], y)
    values = [float(row[0]) for row in predicted(folder)[1]]
    np.testing.assert_array_equal(values, whole.predict(X[200:]))
    told = capsys.readouterr().out
    raised = re.search(r"The graph raised held-out R\^2 from (\S+) to (\S+) \(67 held-out", told)
    assert (raised is None) == (model.fit(whole[0].transform(X[:200]), y).field_ is None)
    if raised:
        assert float(raised[2]) == pytest.approx(model.best_score_, abs=1e-4)


def test_a_sentence_tells_what_the_graph_bought(folder, capsys):
    assert trained(folder, "logistic") == 0
    told = capsys.readouterr().out
    found = re.search(
        r"The graph raised held-out accuracy from ([\d.]+) % to ([\d.]+) % \(([\d.]+) points, "
        r"(\d+) held-out labels\)\.",
        told,
    )
    before, after, points, n = map(float, found.groups())
    assert after > before and points == pytest.approx(after - before, abs=0.11)
    assert f"labelled   {n:.0f}" in told
    assert run("info", folder / "m.gkm") == 0
    shown = capsys.readouterr().out
    assert found[0] in shown and "LogisticRegression, judged out-of-fold" in shown
    assert re.search(
        r"field +neighbours=[\d.]+, kernel=[\d.e-]+, near=[\d.e-]+, on 200 nodes", shown
    )


@pytest.mark.long
def test_a_graph_that_does_not_help_is_said_not_to(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(200, 12))
    y = [str(int(row[0] > 0)) if k < 100 else "" for k, row in enumerate(X)]
    write_csv(tmp_path / "few.csv", X, y, list("abcdefghijkl"))
    assert trained(tmp_path, "forest") == 0
    told = capsys.readouterr().out
    assert "The graph did not help on held-out labels; the model is the forest alone." in told
    assert "\nfield" not in told


def test_too_few_labels_are_said_to_tell_nothing(tmp_path, capsys):
    X, _, names = moons(100)
    y = [names[k] if k < 6 else "" for k in range(100)]
    write_csv(tmp_path / "few.csv", X, y)
    assert trained(tmp_path, "kernel") == 0
    assert (
        "How much the graph helps is not known: there are too few labels" in capsys.readouterr().out
    )
    assert run("info", tmp_path / "m.gkm", "--json") == 0
    assert json.loads(capsys.readouterr().out)["unlabeled_gain"] is None


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("forest", "--loss", "logistic"), "--loss does not go with --model forest"),
        (("logistic", "--solver", "sgd"), "--solver does not go with --model logistic"),
        (("svm", "--C", "3"), "--C does not go with --model svm"),
        (("kernel", "--p", "1"), "--p does not go with --model kernel"),
        (("forest", "--method", "tsvm"), "--method tsvm and --model forest: pass only one"),
        (("forest", "--graph", "full"), "--graph full does not go with --model"),
        (("forest", "--graph", "anchors", "--neighbors", "3"), "n_neighbors is no parameter of"),
        (("forest", "--set", "n_estimator=3"), "Did you mean n_estimators?"),
        (("logistic", "--task", "regress"), "--model logistic knows classes only"),
        (("tree",), "tree"),
    ],
)
def test_options_that_do_not_go_together_are_refused_by_name(folder, flags, told, capsys):
    assert trained(folder, *flags) == 2
    assert told in re.sub(r"[\s│]+", " ", capsys.readouterr().err)
    assert not (folder / "m.gkm").exists()


def test_a_logistic_regression_of_numbers_is_refused(folder, capsys):
    assert trained(folder, "logistic", data="curve.csv") == 2
    assert "--model logistic knows classes only" in capsys.readouterr().err


@pytest.mark.long
def test_sparse_rows(tmp_path, capsys):
    X, y, _ = moons(200, 60)
    codes = [0 if value == "" else 1 + (value == "cat") for value in y]
    write_libsvm(tmp_path / "few.svm", X, codes)
    unlabeled = ("--unlabeled", "0")
    assert trained(tmp_path, "boosting", *unlabeled, data="few.svm") == 2
    assert "--model boosting takes no sparse rows" in capsys.readouterr().err
    for kind in ("forest", "svm", "logistic", "kernel"):
        assert trained(tmp_path, kind, *unlabeled, data="few.svm") == 0
        model = tmp_path / "m.gkm"
        assert run("evaluate", model, tmp_path / "few.svm", *unlabeled) == 0
    capsys.readouterr()


def test_exports_are_refused(folder, capsys):
    for kind in ("kernel", "logistic"):
        assert trained(folder, kind) == 0
        for to in ("libsvm", "onnx"):
            assert run("export", folder / "m.gkm", "--to", to) == 1
            assert "adds a field over its training rows" in capsys.readouterr().err


# ---------------------------------------------------------------- files


def test_the_kernel_machine_is_an_ordinary_model_file(folder):
    assert trained(folder, "kernel", "--threads", "1") == 0
    model = load_model(folder / "m.gkm")
    assert model[-1].n_jobs is model[-1].estimator_.n_jobs is None


def test_a_skops_file_is_no_model_file_of_python(folder):
    assert trained(folder, "logistic") == 0
    with pytest.raises(OSError, match="not a graphkm model"):
        load_model(folder / "m.gkm")


def test_a_damaged_skops_file_is_refused(folder, capsys):
    assert trained(folder, "logistic") == 0
    content = (folder / "m.gkm").read_bytes()
    flipped = bytearray(content)
    flipped[len(content) // 3] ^= 0xFF
    for damaged in (content[: len(content) // 2], bytes(flipped)):
        (folder / "m.gkm").write_bytes(damaged)
        for command in (("info",), ("predict",)):
            data = () if command == ("info",) else (folder / "new.csv",)
            assert run(*command, folder / "m.gkm", *data) == 3
            assert "damaged" in capsys.readouterr().err


class Stranger:
    """A type that no model of the command line consists of."""

    def __setstate__(self, state):
        raise AssertionError("code of a file was run")


def test_other_types_in_a_skops_file_are_refused_by_name(folder, capsys):
    stranger = Stranger()
    stranger.value = 1
    for content in ({"model": stranger, "note": {}}, {"model": SVC(), "note": {}}, [1]):
        skops.dump(content, folder / "m.gkm")
        assert run("info", folder / "m.gkm") == 3
    told = capsys.readouterr().err
    assert "Stranger, which no model of graphkm train consists of" in told
    assert told.count("not a model of graphkm train.") == 2

"""`graphkm train`: the front door, trained, kept and told in words."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cli_runner import moons, read_predictions, run, write_csv, write_libsvm
from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.cli.gains import gain_sentence
from graphkm.exchange import load_model
from graphkm.exchange.skops_files import is_skops_file, load_with_skops
from graphkm.semi import MemberTable
from graphkm.semi.report import MemberReport

skops = pytest.importorskip("skops.io")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with partly labelled moons, other ones to test on, and steps."""
    place = tmp_path_factory.mktemp("semi")
    X, y, names = moons(300, 40)
    write_csv(place / "few.csv", X[:200], y[:200])
    write_csv(place / "test.csv", X[200:], names[200:])
    write_csv(place / "new.csv", X[200:])
    rows, _, targets = steps()
    texts = [repr(float(v)) if np.isfinite(v) else "" for v in targets]
    write_csv(place / "steps.csv", rows, texts, list("abcdef"))
    return place


def steps():
    """Return rows whose quantities have steps, as trees do; all of these, and those shown."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    truth = 1.0 * (X[:, 0] > 0) + 2.0 * (X[:, 1] > 0.5) + 0.1 * rng.normal(size=150)
    return X, truth, np.where(np.arange(150) < 80, truth, np.nan)


def loaded(path):
    """Return the model at the end of a file's pipeline."""
    return (load_with_skops(path)[0] if is_skops_file(path) else load_model(path))[-1]


def trained(folder, *flags, data="few.csv", model="m.gkm"):
    return run("train", folder / data, folder / model, *flags)


@pytest.mark.long
def test_classes_are_those_of_python(folder, capsys):
    assert trained(folder, "--json", "--threads", "1") == 0
    found = json.loads(capsys.readouterr().out)
    X, y, names = moons(300, 40)
    labels = np.array([None if value == "" else value for value in y[:200]], dtype=object)
    model = SemiSupervisedClassifier(unlabeled=None, random_state=0)
    whole = make_pipeline(StandardScaler(), model).fit(X[:200], labels)
    assert found["method"] == "mixture" and found["best_score"] == whole[-1].best_score_
    assert found["unlabeled_gain"] == whole[-1].unlabeled_gain_
    assert [each["name"] for each in found["members"]] == [each.name for each in whole[-1].members_]
    out = folder / "out.csv"
    assert run("predict", folder / "m.gkm", folder / "new.csv", "--proba", "--out", out) == 0
    header, rows = read_predictions(out)
    assert header == ["prediction", "decision", "probability_cat", "probability_dog"]
    assert [row[0] for row in rows] == whole.predict(X[200:]).tolist()
    shares = [[float(cell) for cell in row[2:]] for row in rows]
    np.testing.assert_array_equal(shares, whole.predict_proba(X[200:]))
    assert run("evaluate", folder / "m.gkm", folder / "test.csv", "--json") == 0
    accuracy = json.loads(capsys.readouterr().out)["accuracy"]
    assert (
        accuracy == pytest.approx(np.mean(whole.predict(X[200:]) == names[200:])) and accuracy > 0.9
    )
    assert run("suggest", folder / "m.gkm", folder / "new.csv", "-n", "3") == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert loaded(folder / "m.gkm").n_jobs is None


@pytest.mark.long
def test_the_heaviest_members_and_the_gain_are_told(folder, capsys):
    assert trained(folder) == 0
    told = capsys.readouterr().out
    lines = told.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("members "))
    weights = [
        float(re.search(r"(\d\.\d{3})  ", line)[1]) for line in lines[start + 1 : start + 11]
    ]
    assert weights == sorted(weights, reverse=True) and weights[0] > 0
    more = re.search(r"and (\d+) more, none of them heavier", lines[start + 11])
    model = loaded(folder / "m.gkm")
    assert int(more[1]) == len(model.members_) - 10
    score = f"accuracy {100 * model.best_score_:.1f} % on labels that were held out"
    assert score in told and "not measured" not in told
    sentence = re.search(r"The unlabelled rows (raised|lowered|did not change) held-out.*", told)[0]
    assert sentence == gain_sentence(model)
    assert run("info", folder / "m.gkm") == 0
    shown = capsys.readouterr().out
    for text in (sentence, score, more[0], "SemiSupervisedClassifier"):
        assert text in shown
    assert run("info", folder / "m.gkm", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["members"]) == len(model.members_)
    assert found["members"][0]["weight"] == model.members_[0].weight


@pytest.mark.long
def test_quantities_and_models_of_scikit_learn(folder, capsys):
    assert trained(folder, "--threads", "1", data="steps.csv", model="q.gkm") == 0
    X, _, y = steps()
    whole = make_pipeline(StandardScaler(), SemiSupervisedRegressor(random_state=0)).fit(X, y)
    write_csv(folder / "rows.csv", X, names=list("abcdef"))
    out = folder / "out.csv"
    assert run("predict", folder / "q.gkm", folder / "rows.csv", "--out", out) == 0
    values = [float(row[0]) for row in read_predictions(out)[1]]
    np.testing.assert_array_equal(values, whole.predict(X))
    assert run("info", folder / "q.gkm") == 0
    assert gain_sentence(whole[-1]) in capsys.readouterr().out
    assert is_skops_file(folder / "q.gkm")  # trees count here
    kept = load_with_skops(folder / "q.gkm")[0][-1]
    inside = [part.model.model for part in kept.mixture_.parts]
    assert {type(each).__name__ for each in inside} & {"RandomForestRegressor", "Pipeline"}
    assert all(each.get_params().get("n_jobs") is None for each in inside)
    with pytest.raises(OSError, match="no file of save_model"):
        load_model(folder / "q.gkm")


@pytest.mark.long
@pytest.mark.parametrize("graph", ["auto", "None"])
def test_mixtures_go_to_onnx_and_not_to_libsvm(folder, capsys, graph):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    assert trained(folder, "--set", f"graph={graph}", model="e.gkm") == 0
    used = "The model does not use the unlabelled rows." not in capsys.readouterr().out
    assert used == (graph != "None")
    assert run("export", folder / "e.gkm", "--to", "libsvm") == 1
    told = capsys.readouterr().err
    assert "a mixture of members" in told and "train with --method gkm --solver newton" in told
    assert "--to onnx" in told
    assert run("export", folder / "e.gkm", "--to", "onnx") == 0
    session = runtime.InferenceSession(str(folder / "e.onnx"))
    assert [each.name for each in session.get_outputs()] == ["label", "scores", "probabilities"]


@pytest.mark.long
def test_sparse_rows(tmp_path, capsys):
    X, y, _ = moons(200, 60)
    codes = [0 if value == "" else 1 + (value == "cat") for value in y]
    write_libsvm(tmp_path / "few.svm", X, codes)
    flags = ("--unlabeled", "0", "--graph", "anchors", "--set", "n_anchors=50")
    assert trained(tmp_path, *flags, data="few.svm") == 0
    assert run("evaluate", tmp_path / "m.gkm", tmp_path / "few.svm", "--unlabeled", "0") == 0
    assert "graph=Anchors(n_anchors=50" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--loss", "logistic"), "--loss: SemiSupervisedClassifier has no parameter loss"),
        (("--C", "3"), "--C: SemiSupervisedClassifier has no parameter C"),
        (("--graph", "full"), "graph must be one of 'knn', 'anchors'; got 'full'"),
        (("--graph", "anchors", "--neighbors", "3"), "n_neighbors is no parameter of"),
        (("--model", "forest"), "No such option: --model"),
        (("--method", "semi"), "'semi' is not one of 'mixture', 'gkm', 'lapsvm', 'tsvm'"),
        (("--solver", "sgd"), "has no parameter solver. It belongs to --method gkm"),
        (("--set", "grap=knn"), "Did you mean graph?"),
    ],
)
def test_options_that_do_not_go_together_are_refused_by_name(folder, flags, told, capsys):
    assert trained(folder, *flags, model="none.gkm") == 2
    assert told in re.sub(r"[\s│]+", " ", capsys.readouterr().err)
    assert not (folder / "none.gkm").exists()


@pytest.mark.parametrize(
    ("score", "gain", "told"),
    [
        (0.96, 0.04, "The unlabelled rows raised held-out accuracy from 92.0 % to 96.0 % (4.0 poi"),
        (0.90, -0.02, "The unlabelled rows lowered held-out accuracy from 92.0 % to 90.0 % (-2.0"),
        (0.90, 0.0, "The unlabelled rows did not change held-out accuracy, 90.0 %."),
        (
            np.nan,
            np.nan,
            "How much the unlabelled rows help is not known: there are too few labels",
        ),
    ],
)
def test_the_sentence_says_which_way_it_went(score, gain, told):
    model = SemiSupervisedClassifier()
    model.members_ = MemberTable([MemberReport("field", 1.0, 0.9, 0.3, True, "out-of-fold", 1.0)])
    model.best_score_, model.unlabeled_gain_, model.classes_ = score, gain, np.array([0, 1])
    assert gain_sentence(model).startswith(told)


@pytest.mark.long
def test_the_sentence_does_not_speak_of_rows_that_are_not_there(tmp_path, capsys):
    X, _, names = moons(60, 60)
    write_csv(tmp_path / "all.csv", X, names)
    assert trained(tmp_path, data="all.csv") == 0
    told = capsys.readouterr().out
    assert re.search(r"^graph +The graph of all rows (raised|lowered|did not)", told, re.MULTILINE)
    assert "unlabelled rows" not in told
    assert run("info", tmp_path / "m.gkm") == 0
    assert "The graph of all rows" in capsys.readouterr().out


def test_too_few_labels_are_said_to_tell_nothing(tmp_path, capsys):
    X, _, names = moons(100)
    first = [int(np.flatnonzero(names == name)[0]) for name in ("cat", "dog")]
    write_csv(tmp_path / "few.csv", X, [names[k] if k in first else "" for k in range(100)])
    assert trained(tmp_path) == 0
    told = capsys.readouterr().out
    assert "How much the unlabelled rows help is not known: there are too few labels" in told
    assert re.search(r"^held-out score +none: too few labels", told, re.MULTILINE)
    assert run("info", tmp_path / "m.gkm", "--json") == 0
    assert json.loads(capsys.readouterr().out)["unlabeled_gain"] is None


@pytest.mark.long
def test_a_graph_that_does_not_help_is_said_not_to(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(200, 12))
    y = [str(int(row[0] > 0)) if k < 100 else "" for k, row in enumerate(X)]
    write_csv(tmp_path / "few.csv", X, y, list("abcdefghijkl"))
    assert trained(tmp_path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["unlabeled_gain"] <= 0
    assert run("info", tmp_path / "m.gkm") == 0
    told = capsys.readouterr().out
    assert re.search(r"The unlabelled rows (lowered|did not change) held-out accuracy", told)


@pytest.mark.long
def test_folds_are_those_of_python(folder, capsys):
    assert trained(folder, "--cv", "3", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    X, y, _ = moons(300, 40)
    labels = np.array([None if value == "" else value for value in y[:200]], dtype=object)
    model = SemiSupervisedClassifier(unlabeled=None, random_state=0, cv=3)
    whole = make_pipeline(StandardScaler(), model).fit(X[:200], labels)
    assert found["best_score"] == whole[-1].best_score_


# ---------------------------------------------------------------- files


@pytest.mark.long
def test_a_skops_file_is_no_model_file_of_python(folder):
    assert trained(folder, data="steps.csv", model="q.gkm") == 0
    with pytest.raises(OSError, match=r"no file of save_model.*load_with_skops"):
        load_model(folder / "q.gkm")


@pytest.mark.long
def test_a_damaged_skops_file_is_refused(folder, capsys):
    assert trained(folder, data="steps.csv", model="q.gkm") == 0
    content = (folder / "q.gkm").read_bytes()
    flipped = []
    for place in (*range(0, len(content), len(content) // 7), len(content) - 1):
        flipped.append(bytearray(content))
        flipped[-1][place] ^= 0xFF
    assert any(place[:4] != b"PK\x03\x04" for place in flipped)  # no zip file at all any more
    for damaged in (content[: len(content) // 2], *map(bytes, flipped)):
        (folder / "q.gkm").write_bytes(damaged)
        for command in (("info",), ("predict",)):
            data = () if command == ("info",) else (folder / "new.csv",)
            assert run(*command, folder / "q.gkm", *data) == 3
            told = capsys.readouterr().err
            assert "damaged" in told or "not a graphkm model" in told


class Stranger:
    """A type that no model of the command line consists of."""

    def __setstate__(self, state):
        raise AssertionError("code of a file was run")


def test_other_types_in_a_skops_file_are_refused_by_name(folder, capsys):
    stranger = Stranger()
    stranger.value = 1
    for content in ({"model": stranger, "note": {}}, {"model": SVC(), "note": {}}, [1]):
        skops.dump(content, folder / "q.gkm")
        assert run("info", folder / "q.gkm") == 3
    told = capsys.readouterr().err
    assert "Stranger, which no model of graphkm train consists of" in told
    assert told.count("not a model of graphkm train.") == 2

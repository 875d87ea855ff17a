"""Sets, doubtful labels and explanations on the command line, beside the same in Python."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from cli_runner import moons, read_predictions, run, run_machine, write_csv, wrong
from graphkm import SemiSupervisedClassifier
from graphkm.cli.model_files import last_step, read_model
from graphkm.inspection import (
    doubtful_labels,
    explain,
    novelty,
    prediction_intervals,
    prediction_sets,
)

pytestmark = pytest.mark.usefixtures("one_model")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return a folder with moons of which two labels are wrong, and a model of them."""
    folder = tmp_path_factory.mktemp("trust")
    X, y, names = moons(150, 40)
    known = np.flatnonzero(y != "")
    for k in known[:2]:
        y[k] = "cat" if y[k] == "dog" else "dog"
    with open(folder / "rows.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["code", "x", "z", "label"])
        writer.writerows([f"r{k}", *X[k], y[k]] for k in range(len(X)))
    write_csv(folder / "new.csv", X[:40] * 1.02, names[:40])
    assert run("train", folder / "rows.csv", folder / "model.gkm", "--id", "code") == 0
    return folder, X, y, known


@pytest.fixture(scope="module")
def quantities(tmp_path_factory):
    """Return a folder with a model of quantities, and their rows."""
    folder = tmp_path_factory.mktemp("quantities")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X @ [1.0, -2.0] + rng.normal(0, 0.2, 80)
    labels = [repr(float(value)) if k < 40 else "" for k, value in enumerate(y)]
    write_csv(folder / "rows.csv", X, labels)
    assert run("train", folder / "rows.csv", folder / "model.gkm") == 0
    return folder, X


def asked(folder):
    """Return the front door of a folder's model, and what its rows become for it."""
    model, _ = read_model(folder / "model.gkm")
    return last_step(model), model[:-1].transform


# ------------------------------------------------------------------ predict --sets


def test_sets_are_those_of_python(trained):
    folder, X, _, _ = trained
    out = folder / "sets.csv"
    assert (
        run("predict", folder / "model.gkm", folder / "new.csv", "--sets", 0.9, "--out", out) == 0
    )
    header, rows = read_predictions(out)
    assert header == ["prediction", "decision", "set"]
    model, prepared = asked(folder)
    found = prediction_sets(model, prepared(X[:40] * 1.02), 0.9)
    assert [row[2] for row in rows] == [";".join(each) or "-" for each in found.lists()]


def test_intervals_are_those_of_python(quantities):
    folder, X = quantities
    out = folder / "sets.csv"
    arguments = ("predict", folder / "model.gkm", folder / "rows.csv", "--sets", "0.8")
    assert run(*arguments, "--out", out) == 0
    header, rows = read_predictions(out)
    assert header == ["prediction", "low", "high"]
    model, prepared = asked(folder)
    expected = prediction_intervals(model, prepared(X), 0.8)
    np.testing.assert_allclose(np.array([row[1:] for row in rows], float), expected)


def test_too_few_labels_are_told_in_words_of_the_command(trained, capsys):
    folder = trained[0]
    out = folder / "all.csv"
    assert (
        run("predict", folder / "model.gkm", folder / "new.csv", "--sets", 0.99, "--out", out) == 0
    )
    assert "--sets 0.99" in capsys.readouterr().err
    assert {row[2] for row in read_predictions(out)[1]} == {"cat;dog"}


def test_errors_of_sets(trained, capsys):
    folder = trained[0]
    machine = folder / "machine.gkm"
    assert run_machine("train", folder / "rows.csv", machine, "--id", "code") == 0
    capsys.readouterr()
    code, said = wrong(capsys, "predict", machine, folder / "new.csv", "--sets", 0.9)
    assert code == 2 and "GKMClassifier, which holds no labels out" in said
    code, said = wrong(capsys, "predict", folder / "model.gkm", folder / "new.csv", "--sets", 90)
    assert code == 2 and "--sets 90: it is a share of rows between 0 and 1" in said


@pytest.mark.dear
@pytest.mark.parametrize(("name", "told"), [("wild;cat", True), ("-", True), ("wild,cat", False)])
def test_names_that_a_set_cannot_hold_are_refused(tmp_path, capsys, name, told):
    """With ; between classes, the set of "wild;cat" would be that of "wild" and "cat"."""
    X, y, _ = moons(60, 30)
    y[y == "cat"] = name
    write_csv(tmp_path / "new.csv", X)
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows(
            [["x", "z", "label"], *([*row, word] for row, word in zip(X, y, strict=True))]
        )
    assert run("train", tmp_path / "rows.csv", tmp_path / "m.gkm") == 0
    capsys.readouterr()
    arguments = ("predict", tmp_path / "m.gkm", tmp_path / "new.csv", "--sets", 0.8)
    if told:
        code, said = wrong(capsys, *arguments)
        assert code == 2 and f"the class {name!r} could not be told from others" in said
        return
    assert run(*arguments, "--out", tmp_path / "out.csv") == 0
    sets = {word for row in read_predictions(tmp_path / "out.csv")[1] for word in row[2].split(";")}
    assert name in sets <= {name, "dog", "-"}


# ------------------------------------------------------------------ predict --novelty


def test_novelty_is_that_of_python(trained):
    folder, X, _, _ = trained
    out = folder / "novel.csv"
    assert run("predict", folder / "model.gkm", folder / "new.csv", "--novelty", "--out", out) == 0
    header, rows = read_predictions(out)
    assert header == ["prediction", "decision", "novelty"]
    model, prepared = asked(folder)
    expected = novelty(model, prepared(X[:40] * 1.02))
    np.testing.assert_allclose(np.array([row[2] for row in rows], float), expected)


def test_quantities_have_no_novelty(quantities, capsys):
    folder, _ = quantities
    code, said = wrong(capsys, "predict", folder / "model.gkm", folder / "rows.csv", "--novelty")
    assert code == 2 and "--novelty is for one class per row" in said


# ------------------------------------------------------------------ evaluate --doubtful


def test_doubtful_labels_are_those_of_python(trained, capsys):
    folder, X, _, known = trained
    arguments = ("evaluate", folder / "model.gkm", folder / "rows.csv", "--doubtful")
    capsys.readouterr()
    assert run(*arguments, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    model, prepared = asked(folder)
    expected = doubtful_labels(model, prepared(X))
    assert told["of_training"] and len(told["labels"]) == 40
    assert [line["row"] - 1 for line in told["labels"]] == [line.row for line in expected]
    assert {line["id"] for line in told["labels"][:2]} == {f"r{k}" for k in known[:2]}
    first = told["labels"][0]
    assert first["doubt"] == pytest.approx(expected[0].doubt)
    assert [each["id"] for each in first["near"]] == [f"r{each.row}" for each in expected[0].near]
    assert run(*arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("wrong labels  about ")
    assert lines[3].split()[0] == first["id"] and lines[-1].startswith("(the first 20 of 40")


def test_doubtful_labels_without_the_rows_of_training(trained, capsys):
    folder = trained[0]
    capsys.readouterr()
    assert run("evaluate", folder / "model.gkm", folder / "new.csv", "--doubtful", "--json") == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert not told["of_training"] and told["labels"][0]["near"] == []
    assert "does not have the labels that the model was trained with" in said.err


def test_doubtful_quantities(quantities, capsys):
    folder, _ = quantities
    capsys.readouterr()
    assert run("evaluate", folder / "model.gkm", folder / "rows.csv", "--doubtful") == 0
    said = capsys.readouterr()
    assert "wrong labels" in said.out and said.err == ""


# ------------------------------------------------------------------ explain


@pytest.mark.long
def test_explanations_are_those_of_python(trained, capsys):
    folder, X, y, _ = trained
    arguments = ("explain", folder / "rows.csv", "--id", "code", "--row", "r60", "--row", "r3")
    capsys.readouterr()
    assert run(*arguments, "--most", 3, "--json") == 0
    told = json.loads(capsys.readouterr().out)["rows"]
    _, prepared = asked(folder)
    labels = np.where(y == "", None, y)
    model = SemiSupervisedClassifier(random_state=0).fit(prepared(X), labels)
    expected = explain(model, prepared(X)[[60, 3]])
    for each, one in zip(told, expected, strict=True):
        assert each["answer"] == one.answer and each["value"] == pytest.approx(one.value)
        top = one.strongest(3)
        assert [label["row"] for label in each["labels"]] == [f"r{k}" for k in one.labeled[top]]
        shares = sum(label["share"] for label in each["labels"]) + each["other_labels"]
        total = each["base"] + shares + sum(each["others"].values())
        assert total == pytest.approx(each["value"], abs=1e-8)
        assert list(each["columns"]) == ["x", "z"]
        assert list(each["columns"].values()) == pytest.approx(list(one.columns.values()))


def test_explanations_in_words(trained, capsys):
    folder = trained[0]
    capsys.readouterr()
    arguments = ("explain", folder / "rows.csv", "--drop", "code", "--row", "61", "--of", "cat")
    assert run(*arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("row 61: the probability of cat is ")
    assert lines[1].split() == ["adds", "what", "label", "by", "way", "of", "rows"]


def test_errors_of_explanations(trained, capsys):
    rows = trained[0] / "rows.csv"
    capsys.readouterr()
    code, said = wrong(capsys, "explain", rows, "--drop", "code", "--row", "999")
    assert code == 2 and "--row 999: no row is called that. Rows are called 1 to 150" in said
    arguments = ("explain", rows, "--drop", "code", "--row", "1", "--of", "bird")
    code, said = wrong(capsys, *arguments)
    assert code == 2 and "the classes are cat, dog" in said

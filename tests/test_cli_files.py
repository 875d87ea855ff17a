"""Files of the command line: formats, columns, markers, standard input; and what is wrong."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma

import numpy as np
import pytest

from cli_runner import (
    moons,
    process,
    read_predictions,
    run,
    write_csv,
    write_libsvm,
    write_parquet,
)
from graphkm.exchange.skops_files import is_skops_file

pytestmark = pytest.mark.usefixtures("one_model")

X, Y, NAMES = moons(120, 16)
CODES = np.where(Y == "cat", "1", np.where(Y == "dog", "2", ""))
GKM = ("--method", "gkm")
TRAIN = (*GKM, "--scale", "none", "--gamma", "2")


def decisions(folder, model, data, *flags):
    """Return predictions and decision values of a model."""
    out = folder / "out.csv"
    assert run("predict", folder / model, data, "--out", out, *flags) == 0
    _, rows = read_predictions(out)
    return [row[0] for row in rows], np.array([float(row[1]) for row in rows])


@pytest.fixture
def new(tmp_path):
    """Return a file of rows to predict."""
    return write_csv(tmp_path / "new.csv", X)


def test_all_formats_give_the_same_model(tmp_path, new):
    files = {
        "a": (write_csv(tmp_path / "a.csv", X, CODES), ()),
        "b": (write_parquet(tmp_path / "b.parquet", X, CODES), ()),
        "c": (write_libsvm(tmp_path / "c.libsvm", X, CODES), ("--unlabeled", "0")),
        "d": (write_csv(tmp_path / "d.tsv", X, CODES, delimiter="\t"), ()),
        "e": (write_csv(tmp_path / "e.txt", X, CODES, delimiter=";"), ()),
    }
    found = {}
    for name, (path, flags) in files.items():
        # A moderate C: with a large one rounding errors grow.
        assert run("train", path, tmp_path / f"{name}.gkm", *TRAIN, "--C", "10", *flags) == 0
        found[name] = decisions(tmp_path, f"{name}.gkm", new)
    labels, scores = found["a"]
    assert set(labels) == {"1", "2"}
    for other_labels, other_scores in found.values():
        assert other_labels == labels
        # Sparse and dense rows are summed in another order.
        np.testing.assert_allclose(other_scores, scores, rtol=1e-4, atol=1e-6)
    for name in "bde":
        np.testing.assert_array_equal(found[name][1], scores)


@pytest.mark.long
@pytest.mark.parametrize("pack", [gzip, bz2, lzma])
@pytest.mark.parametrize("kind", ["csv", "libsvm", "parquet"])
def test_compressed_files(tmp_path, pack, kind):
    write = {"csv": write_csv, "libsvm": write_libsvm, "parquet": write_parquet}[kind]
    plain = write(tmp_path / f"a.{kind}", X, np.where(CODES == "", "2", CODES))
    packed = tmp_path / f"b.{kind}.{ {gzip: 'gz', bz2: 'bz2', lzma: 'xz'}[pack] }"
    packed.write_bytes(pack.compress(plain.read_bytes()))
    for path, model in ((plain, "a.gkm"), (packed, "b.gkm")):
        assert run("train", path, tmp_path / model, *TRAIN) == 0
    assert (tmp_path / "a.gkm").read_bytes() == (tmp_path / "b.gkm").read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["csv", pytest.param("libsvm", marks=pytest.mark.slow)])
def test_standard_input(tmp_path, kind):
    write = {"csv": write_csv, "libsvm": write_libsvm}[kind]
    path = write(tmp_path / f"a.{kind}", X, np.where(CODES == "", "2", CODES))
    done = process("train", "-", "piped.gkm", *TRAIN, stdin=path.read_text(), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run("train", path, tmp_path / "read.gkm", *TRAIN) == 0
    assert (tmp_path / "piped.gkm").read_bytes() == (tmp_path / "read.gkm").read_bytes()
    done = process("predict", "read.gkm", "-", stdin=path.read_text(), folder=tmp_path)
    labels, _ = decisions(tmp_path, "read.gkm", path)
    assert [line.split(",")[0] for line in done.stdout.split()[1:]] == labels


def test_a_second_file_of_unlabelled_rows(tmp_path, new):
    labeled = Y != ""
    order = np.concatenate([np.flatnonzero(labeled), np.flatnonzero(~labeled)])
    write_csv(tmp_path / "one.csv", X[order], Y[order])
    write_csv(tmp_path / "labelled.csv", X[labeled], Y[labeled])
    # Another order of the columns, and labels that must not be used.
    write_csv(tmp_path / "more.csv", X[~labeled][:, ::-1], NAMES[~labeled], ("z", "x"))
    assert run("train", tmp_path / "one.csv", tmp_path / "one.gkm", *TRAIN) == 0
    more = ("--unlabeled-data", tmp_path / "more.csv")
    assert run("train", tmp_path / "labelled.csv", tmp_path / "two.gkm", *TRAIN, *more) == 0
    one, two = (decisions(tmp_path, name, new)[1] for name in ("one.gkm", "two.gkm"))
    np.testing.assert_array_equal(one, two)


def test_columns_are_found_by_name(tmp_path, new):
    write_csv(tmp_path / "few.csv", X, Y)
    assert run("train", tmp_path / "few.csv", tmp_path / "m.gkm", *TRAIN) == 0
    expected = decisions(tmp_path, "m.gkm", new)
    with open(tmp_path / "mixed.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["z", "note", "label", "x"])
        for k, row in enumerate(X.tolist()):
            writer.writerow([repr(row[1]), f'row "{k}", new', NAMES[k], repr(row[0])])
    ids = [f"row {k}" for k in range(len(X))]
    write_parquet(tmp_path / "mixed.parquet", X[:, ::-1], None, ("z", "x"), id=ids)
    for name in ("mixed.csv", "mixed.parquet"):
        found = decisions(tmp_path, "m.gkm", tmp_path / name)
        assert found[0] == expected[0]
        np.testing.assert_array_equal(found[1], expected[1])
    assert run("evaluate", tmp_path / "m.gkm", tmp_path / "mixed.csv") == 0


def test_missing_columns_are_named(tmp_path, capsys):
    write_csv(tmp_path / "few.csv", X, Y, ("width", "height"))
    assert run("train", tmp_path / "few.csv", tmp_path / "m.gkm") == 0
    write_csv(tmp_path / "new.csv", X, None, ("width", "hight"))
    assert run("predict", tmp_path / "m.gkm", tmp_path / "new.csv") == 1
    assert "lacks 1 of the model's 2 columns: height." in capsys.readouterr().err


@pytest.mark.long
def test_labels_by_name_by_number_and_by_default(tmp_path, capsys):
    front = np.column_stack([NAMES, X.astype(object)])
    for name, first in (("names.csv", [["kind", "x", "z"]]), ("bare.csv", [])):
        with open(tmp_path / name, "w", newline="") as file:
            csv.writer(file).writerows([*first, *front.tolist()])
    write_csv(tmp_path / "last.csv", X, NAMES, label="whatever")
    write_csv(tmp_path / "nameless.csv", X, NAMES, names=None)
    models = []
    for path, flags in (
        ("names.csv", ("--label", "kind")),
        ("names.csv", ("--label", "1")),
        ("bare.csv", ("--label", "1")),
        ("last.csv", ()),
        ("nameless.csv", ()),
    ):
        assert run("train", tmp_path / path, tmp_path / "m.gkm", *TRAIN, *flags) == 0
        assert run("evaluate", tmp_path / "m.gkm", tmp_path / path, "--json") == 0
        models.append(json.loads(capsys.readouterr().out.splitlines()[-1]))
    named = [model.pop("label") for model in models]
    assert named == ["kind", "kind", 1, "whatever", 3]
    assert all(model == models[0] for model in models) and models[0]["labelled"] == 120
    assert run("train", tmp_path / "names.csv", tmp_path / "m.gkm", "--label", "colour") == 2
    assert "the columns are kind, x, z" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("kind", ["csv", "parquet", "libsvm"])
def test_markers(tmp_path, kind, capsys):
    write = {"csv": write_csv, "libsvm": write_libsvm, "parquet": write_parquet}[kind]
    numbers = np.array([-1.0 if code == "" else float(code) for code in CODES])
    path = write(tmp_path / f"a.{kind}", X, numbers.astype(int))
    assert run("train", path, tmp_path / "m.gkm", "--json", "--unlabeled", "-1") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["labelled"] == 16 and found["classes"] == [1, 2]
    assert run("train", path, tmp_path / "m.gkm") == 0
    printed = capsys.readouterr()
    assert "3: -1 (104)" in printed.out and "pass --unlabeled -1" in printed.err


@pytest.mark.long
def test_question_marks_and_words_mark_unlabelled_rows(tmp_path, capsys):
    for k, mark in enumerate(("?", "", "nan", "unknown")):
        path = write_csv(tmp_path / f"{k}.csv", X, np.where(Y == "", mark, Y))
        assert run("train", path, tmp_path / "m.gkm", "--json", "--unlabeled", "unknown") == 0
        assert json.loads(capsys.readouterr().out)["classes"] == ["cat", "dog"]
    lines = write_libsvm(tmp_path / "a.libsvm", X, CODES).read_text().splitlines()
    text = "\n".join("?" + line[1:] if line[0] == "0" else line for line in lines)
    (tmp_path / "a.libsvm").write_text(text)
    assert run("train", tmp_path / "a.libsvm", tmp_path / "m.gkm", "--json") == 0
    assert json.loads(capsys.readouterr().out)["labelled"] == 16


def test_libsvm_of_another_width(tmp_path, capsys):
    (tmp_path / "a.libsvm").write_text("1 1:1 3:2\n2 2:1\n1 1:2\n2 3:-1\n")
    (tmp_path / "narrow.libsvm").write_text("0 1:1\n")
    (tmp_path / "wide.libsvm").write_text("0 1:1\n0 4:1\n")
    assert run("train", tmp_path / "a.libsvm", tmp_path / "m.gkm", "--neighbors", "2") == 0
    assert len(decisions(tmp_path, "m.gkm", tmp_path / "narrow.libsvm")[0]) == 1
    out = tmp_path / "wide.csv"
    assert run("predict", tmp_path / "m.gkm", tmp_path / "wide.libsvm", "--out", out) == 1
    assert "line 2: the index of '4:1' is beyond the 3 features" in capsys.readouterr().err
    assert not out.exists() and not list(tmp_path.glob(".*"))


@pytest.mark.long
def test_features_of_libsvm_files_are_dropped_by_index(tmp_path, new, capsys):
    write_libsvm(tmp_path / "plain.libsvm", X, CODES)
    wide = np.column_stack([X[:, 0], np.arange(len(X)), X[:, 1], np.ones(len(X))])
    lines = write_libsvm(tmp_path / "wide.libsvm", wide, CODES).read_text()
    (tmp_path / "wide.libsvm").write_text(lines.replace(" 4:1", " 4:red"))
    drop = ("--drop", "2", "--drop", "4")
    flags = ("--scale", "none", "--unlabeled", "0")
    plain, wide = tmp_path / "plain.libsvm", tmp_path / "wide.libsvm"
    search = (*GKM, "--search", "--set", "Cs=[1.0]")
    for command, more in (("train", GKM), ("train", search), ("stream", ()), ("train", ())):
        assert run(command, plain, tmp_path / "plain.gkm", *flags, *more) == 0
        assert run(command, wide, tmp_path / "wide.gkm", *flags, *more, *drop) == 0
        labels, scores = decisions(tmp_path, "plain.gkm", plain)
        # To a mixture a row that is a training row to the last bit is that node of its graph, and
        # LIBSVM's text has rounded those of the CSV file.
        others = [(new, ())] if more or command == "stream" else []
        for data, given in [(wide, ()), (wide, drop), *others]:
            again, found = decisions(tmp_path, "wide.gkm", data, *given)
            assert again == labels
            np.testing.assert_allclose(found, scores, rtol=1e-4, atol=1e-6)
        assert decisions(tmp_path, "plain.gkm", wide, *drop)[0] == labels
        capsys.readouterr()
        for model, data in (("plain.gkm", plain), ("wide.gkm", wide)):
            assert run("evaluate", tmp_path / model, data, "--json") == 0
        before, after = map(json.loads, capsys.readouterr().out.splitlines())
        assert before == after
    assert run("train", wide, tmp_path / "m.gkm", *flags, "--drop", "id") == 2
    assert "pass the feature's index" in capsys.readouterr().err
    everything = [flag for k in "1234" for flag in ("--drop", k)]
    assert run("train", wide, tmp_path / "m.gkm", *flags, *everything) == 1
    assert "no values of features beside those dropped" in capsys.readouterr().err
    assert run("train", wide, tmp_path / "m.gkm", *flags, *drop[:2]) == 1
    assert "line 1: the value of '4:red' is not a number" in capsys.readouterr().err


def test_indices_from_zero_are_remembered(tmp_path):
    for name, shift in (("zero", 0), ("one", 1)):
        lines = [f"{k % 2} {shift}:{k} {shift + 1}:{-k % 3}" for k in range(12)]
        (tmp_path / f"{name}.libsvm").write_text("\n".join(lines))
        (tmp_path / f"{name}.new.libsvm").write_text(f"0 {shift + 1}:2\n")
        assert run("train", tmp_path / f"{name}.libsvm", tmp_path / f"{name}.gkm") == 0
    zero, one = (
        decisions(tmp_path, f"{name}.gkm", tmp_path / f"{name}.new.libsvm")
        for name in ("zero", "one")
    )
    np.testing.assert_array_equal(zero[1], one[1])


def test_bad_rows_are_refused_or_left_out(tmp_path, capsys):
    text = write_csv(tmp_path / "a.csv", X, Y).read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join([*text[:5], "1.0,,cat", *text[5:]]))
    flags = ("--missing", "error")
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm", *flags) == 1
    message = capsys.readouterr().err
    assert "a.csv, line 6: a value is missing" in message and "--missing drop" in message
    for flags in (("--missing", "drop"), ("--skip-bad-rows",)):
        # A gap is no bad row: it is filled in unless --missing says otherwise.
        assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm", *flags, "--json") == 0
        printed = capsys.readouterr()
        assert json.loads(printed.out)["rows"] == 120 + (flags == ("--skip-bad-rows",))
        assert ("note: 1 row was left out" in printed.err) is ("drop" in flags)


@pytest.mark.long
def test_columns_can_be_left_out(tmp_path, capsys):
    ids = [f"row {k}" for k in range(len(X))]
    with open(tmp_path / "a.csv", "w", newline="") as file:
        rows = [[ids[k], *X[k].tolist(), Y[k]] for k in range(len(X))]
        csv.writer(file).writerows([["id", "x", "z", "label"], *rows])
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm") == 0
    assert "id (120 different texts in 120 rows)" in capsys.readouterr().out
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm", *TRAIN, "--drop", "id") == 0
    write_parquet(tmp_path / "a.parquet", X, Y, id=ids)
    assert run("train", tmp_path / "a.parquet", tmp_path / "p.gkm", *TRAIN, "--drop", "id") == 0
    write_csv(tmp_path / "b.csv", X, Y)
    assert run("train", tmp_path / "b.csv", tmp_path / "b.gkm", *TRAIN) == 0
    assert (tmp_path / "m.gkm").read_bytes() == (tmp_path / "b.gkm").read_bytes()


def test_a_row_of_the_wrong_width_is_not_shifted_by_a_dropped_column(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("id,x,label\n1,2,a\n5,b\n3,4,b\n")
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm", "--drop", "id") == 1
    assert "line 3: there are" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "flags", "code", "message"),
    [
        ("", (), 1, "a.csv is empty."),
        ("\n\n", (), 1, "a.csv is empty."),
        ("x,z,label\n", (), 1, "a.csv holds no rows."),
        ("x,z,label\n1,2,\n3,4,?\n", (), 1, "none of its 2 rows has a label."),
        ("x,z,label\n1,2,a\n3,4,a\n", (), 1, "all 2 labelled rows are of one class, a;"),
        ("x,z,label\n1,2,a\n3,nan,b\n", ("--missing", "error"), 1, "line 3: a value is missing"),
        ("x,z,label\n1,2,a\n3,inf,b\n", (), 1, "line 3: the value of 'inf' is not finite"),
        ("x,z,label\n1,2,a\n3,b\n", (), 1, "line 3: there are 2 fields where 3 are expected"),
        ("x,label\n" + "\n".join(f"{k},{k}" for k in range(30)), (), 2, "pass --task classify or"),
        ("x,label\n1,a\n2,b\n", ("--task", "regress"), 1, "the label 'a' is not a number"),
        ("x,label\n1,a\n2,b\n", (*GKM, "--C", "-1"), 2, "C must be 'auto' or a finite number > 0"),
        ("x,label\n1,a\n2,b\n", (*GKM, "--set", "colour=3"), 2, "parameter colour. It has C,"),
        ("x,label\n1,a\n2,b\n", (*GKM, "--set", "lanmarks=x"), 2, "Did you mean landmarks?"),
        ("x,label\n1,a\n2,b\n", ("--set", "tol"), 2, "write --set NAME=VALUE"),
        ("x,label\n1,a\n2,b\n", ("--graph", "epsilon"), 2, "pass --set radius=NUMBER"),
        ("x,label\n1,a\n2,b\n", ("--graph", "epsilon", "--set", "weights=1"), 2, "radius=NUMBER"),
        ("x,label\n1,a\n2,b\n", (*GKM, "--set", "max_iter=9"), 2, "--solver newton or sgd"),
        ("x,label\n1,a\n2,b\n", ("--graph", "full", "--neighbors", "5"), 2, "n_neighbors is no"),
        ("x,label\n1,a\n2,b\n", (*GKM, "--p", "1", "--set", "degree=3"), 2, "degree is no par"),
        ("x,label\n1,a\n2,b\n", ("--method", "tsvm", "--p", "1"), 2, "has no parameter p."),
        ("x,label\n1,a\n2,b\n", ("--delimiter", "x"), 2, "one of , ; | tab space"),
        ("x,label\n1,1.5\n2,2.5\n", ("--method", "tsvm"), 2, "knows classes only"),
        ("1,2\n3,4\n", ("--label", "x"), 2, "has no such column"),
        ("0,1\n3,4\n", (), 1, "Pass --header or --no-header."),
        ("1 2:x\n2 1:1\n", ("--format", "libsvm"), 1, "line 1: the value of '2:x' is not a number"),
        ("1 1:1\n2 1:2\n", ("--format", "libsvm", "--unlabeled", "x"), 2, "are numbers"),
        ("PAR1", ("--format", "parquet"), 1, "cannot be read as Parquet"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(tmp_path, text, flags, code, message, capsys):
    (tmp_path / "a.csv").write_text(text)
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm", *flags) == code
    printed = capsys.readouterr()
    assert message in printed.err and printed.out == ""
    assert printed.err.startswith("graphkm: ") and printed.err.count("\n") == 1
    assert not (tmp_path / "m.gkm").exists()


def test_files_that_cannot_be_read_or_written(tmp_path, capsys):
    good = write_csv(tmp_path / "a.csv", X, Y)
    for arguments, message in (
        (("train", tmp_path / "no.csv", tmp_path / "m.gkm"), "no.csv: no such file"),
        (("train", tmp_path / "no.parquet", tmp_path / "m.gkm"), "no.parquet: no such file"),
        (("train", good, tmp_path / "no" / "m.gkm"), "there is no such folder"),
        (("predict", tmp_path / "no.gkm", good), "no.gkm"),
        (("info", good), "a.csv"),
    ):
        assert run(*arguments) == 3, arguments
        printed = capsys.readouterr().err
        assert message in printed and printed.count("\n") == 1, printed
    assert run("train", tmp_path, tmp_path / "m.gkm") == 1
    printed = capsys.readouterr().err
    assert "holds no pictures" in printed and printed.count("\n") == 1, printed


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, capsys):
    write_csv(tmp_path / "a.csv", X, Y)
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm") == 0
    out = tmp_path / "out.csv"
    out.write_text("before")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert run("predict", tmp_path / "m.gkm", tmp_path / "a.csv", "--out", out) == 3
    assert out.read_text() == "before" and not list(tmp_path.glob(".*"))
    assert capsys.readouterr().err == "graphkm: no space left on device.\n"


# ---------------------------------------------------------------- what predict leaves behind


def test_a_failing_predict_prints_nothing(tmp_path, capsys):
    train = write_csv(tmp_path / "few.csv", X, Y)
    assert run("train", train, tmp_path / "m.gkm", *TRAIN) == 0
    (tmp_path / "bad.csv").write_text("x,z\n1,2\n1,word\n")
    capsys.readouterr()
    assert run("predict", tmp_path / "m.gkm", tmp_path / "bad.csv") == 1
    told = capsys.readouterr()
    assert told.out == "" and "word" in told.err
    (tmp_path / "none.csv").write_text("x,z\n")
    assert run("predict", tmp_path / "m.gkm", tmp_path / "none.csv") == 0
    assert capsys.readouterr().out == "prediction,decision\n"


@pytest.mark.dear
@pytest.mark.parametrize("command", ["predict", "suggest"])
def test_the_output_before_is_kept(tmp_path, new, command):
    train = write_csv(tmp_path / "few.csv", X, Y)
    assert run("train", train, tmp_path / "m.gkm", *TRAIN) == 0
    out = tmp_path / "out.csv"
    out.write_text("by hand")
    assert run(command, tmp_path / "m.gkm", new, "--out", out) == 0
    assert out.read_text() != "by hand"
    assert (tmp_path / "out.csv.previous").read_text() == "by hand"


def test_the_same_file_again_has_the_same_bytes(tmp_path):
    X, _, names = moons(200, 4)
    y = [name if k < 4 else "" for k, name in enumerate(names)]
    data = write_csv(tmp_path / "four.csv", X, y)
    first, second = tmp_path / "first.gkm", tmp_path / "second.gkm"
    for model in (first, second):
        assert run("train", data, model) == 0
    assert not is_skops_file(first)  # zip files tell the time
    assert first.read_bytes() == second.read_bytes()

"""`graphkm convert`, and other commands that read the files of other tools."""

import csv
import json

import pytest

from cli_runner import moons, run, write_csv, wrong
from graphkm.app.journal import Answer, Journal
from graphkm.app.reading import read_material
from graphkm.formats import read_annotations

pytestmark = pytest.mark.usefixtures("one_model")


@pytest.fixture
def page(tmp_path):
    """Return rows, and what the labelling page wrote of them: two people, skips, one undone."""
    rows = tmp_path / "rows.csv"
    rows.write_text('x,note\n1,"two\nlines"\n2,b\n3,c\n4,c\n', "utf-8")
    material = read_material(rows)
    out = tmp_path / "labels.csv"
    for who, said in (
        ("eva", [(0, "label", "a"), (1, "skip", None), (3, "unknown", None), (2, "label", "b")]),
        ("tom", [(0, "label", "b"), (1, "skip", None), (1, "undo", None), (3, "skip", None)]),
    ):
        journal = Journal(out, material, named=True)
        for row, kind, label in said:
            journal.add(Answer(row, kind, label, annotator=who))
        journal.close()
    return tmp_path


def test_the_page_to_every_format_and_back(page):
    whole = page / "whole.csv"
    assert run("convert", page / "labels.csv", whole, "--rows", page / "rows.csv") == 0
    with whole.open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines == [
        ["x", "note", "label", "annotator", "row", "status"],
        ["1", "two\nlines", "a", "eva", "1", ""],
        ["1", "two\nlines", "b", "tom", "1", ""],
        ["2", "b", "", "eva", "2", "skipped"],
        ["3", "c", "b", "eva", "3", ""],
        ["4", "c", "", "eva", "4", "unknown"],
        ["4", "c", "", "tom", "4", "skipped"],
    ]
    for format in ("jsonl", "label-studio", "prodigy"):
        assert run("convert", whole, page / "there.json", "--to", format) == 0
        assert run("convert", page / "there.json", page / "back.csv") == 0
        assert (page / "back.csv").read_bytes() == whole.read_bytes()


def test_a_page_without_names_finds_rows_by_their_cells(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("x,note\n1,b\n3,c\n3,c\n4,d\n", "utf-8")
    journal = Journal(tmp_path / "labels.csv", read_material(rows))
    for row, label in ((1, "u"), (3, "v")):
        journal.add(Answer(row, "label", label))
    journal.close()
    out = tmp_path / "out.csv"
    assert run("convert", tmp_path / "labels.csv", out, "--rows", rows) == 0
    assert [len(row.answers) for row in read_annotations(out).rows] == [0, 1, 0, 1]


def test_other_rows_are_refused(page, capsys):
    (page / "rows.csv").write_text("x,note\n9,b\n8,c\n", "utf-8")
    code, said = wrong(
        capsys, "convert", page / "labels.csv", page / "o.csv", "--rows", page / "rows.csv"
    )
    assert code == 1
    assert "row 1 of" in said and "is no row of" in said


@pytest.mark.long
def test_train_and_predict_read_tasks(tmp_path, capsys):
    X, y, _ = moons(120, 30)
    write_csv(tmp_path / "rows.csv", X, y)
    tasks, pre = tmp_path / "tasks.json", tmp_path / "pre.json"
    assert run("convert", tmp_path / "rows.csv", tasks, "--to", "label-studio") == 0
    for data, name in ((tmp_path / "rows.csv", "a.gkm"), (tasks, "b.gkm")):
        assert run("train", data, tmp_path / name, "--method", "gkm") == 0
        assert (
            run("predict", tmp_path / name, data, "--proba", "--out", tmp_path / f"{name}.csv") == 0
        )
    said = [(tmp_path / f"{name}.gkm.csv").read_bytes() for name in "ab"]
    assert said[0] == said[1]
    # The same predictions, as Label Studio shows them before people answer.
    given = ("--to", "label-studio", "--model", tmp_path / "b.gkm")
    assert run("convert", tasks, pre, *given) == 0
    with (tmp_path / "b.gkm.csv").open() as file:
        lines = list(csv.DictReader(file))
    for task, line in zip(json.loads(pre.read_text()), lines, strict=True):
        [told] = task["predictions"]
        assert told["result"][0]["value"] == {"choices": [line["prediction"]]}
        best = max(float(line["probability_cat"]), float(line["probability_dog"]))
        assert told["score"] == pytest.approx(best)
        assert told["model_version"].startswith("b.gkm ")
    capsys.readouterr()


def test_people_who_differ_leave_a_row_unlabelled(tmp_path, capsys):
    lines = ["x,z,label,annotator,row"]
    X, y, _ = moons(60, 60)
    for k, ((a, b), label) in enumerate(zip(X, y, strict=True)):
        lines.append(f"{a},{b},{label},eva,{k}")
        if k < 5:
            lines.append(f"{a},{b},{'dog' if label == 'cat' else 'cat'},tom,{k}")
    (tmp_path / "l.csv").write_text("\n".join(lines) + "\n")
    assert run("convert", tmp_path / "l.csv", tmp_path / "l.json", "--to", "label-studio") == 0
    capsys.readouterr()
    assert run("train", tmp_path / "l.json", tmp_path / "m.gkm", "--method", "gkm", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["labelled"] == 55
    assert "5 rows" in err


def test_notes_and_facts(tmp_path, capsys):
    path = tmp_path / "l.csv"
    path.write_text("file,label,annotator,row,status\na.png,cat,eva,1,\nb.png,,eva,2,skipped\n")
    assert run("convert", path, tmp_path / "c.json", "--to", "coco", "--json") == 0
    out, err = capsys.readouterr()
    facts = json.loads(out)
    assert (facts["rows"], facts["labelled"], facts["skips"]) == (2, 1, 1)
    assert "COCO has no place for answers that skip a row (1)" in err
    [note] = facts["notes"]
    assert note in err


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (("l.csv", "o.json"), 2, "--to"),
        (("l.csv", "o.json", "--to", "yaml"), 2, "no format"),
        (("l.csv", "l.csv"), 2, "is an input"),
        (("l.csv", "o.csv", "--several", "--regression"), 2, "do not go together"),
        (("l.csv", "o.csv", "--rename", "a"), 2, "OLD=NEW"),
        (("l.csv", "o.csv", "--drop", "q"), 1, "'q'"),
        (("l.csv", "o.csv", "--question", "q"), 1, "no column 'q'"),
        (("gone.csv", "o.csv"), 3, "no such file"),
    ],
)
def test_wrong_usage(tmp_path, monkeypatch, capsys, arguments, code, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.csv").write_text("a,label\n1,x\n")
    found, said = wrong(capsys, "convert", *arguments)
    assert found == code
    assert why in said
    assert (tmp_path / "l.csv").read_text() == "a,label\n1,x\n"
    assert not (tmp_path / "o.csv").exists()

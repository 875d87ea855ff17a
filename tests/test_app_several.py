"""The labelling page where rows have several labels, without a browser."""

from __future__ import annotations

import csv
import json
import time

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("pyarrow")

from cli_runner import run
from graphkm.app.classes import AnswerError, Classes
from graphkm.app.journal import Answer, Journal
from graphkm.app.journal_file import JournalError
from graphkm.app.reading import read_material
from graphkm.app.session import MeanwhileError
from graphkm.app.targets import OneClass, Quantity, SeveralLabels, changed_share
from graphkm.cli.learning_rows import read_rows
from graphkm.cli.model_files import read_model
from graphkm.cli.opening import Source
from graphkm.cli.options import LearningFileOptions, Task
from label_server import label_page
from label_team import Alone

pytestmark = pytest.mark.usefixtures("one_model")

NAMES = ["left", "low", "far"]


def tags(X):
    """Return the labels of points: any number of three, by where they are."""
    has = np.column_stack([X[:, 0] < 0, X[:, 1] < 0, (X**2).sum(axis=1) > 4.5])
    return [[name for name, one in zip(NAMES, line, strict=True) if one] for line in has]


@pytest.fixture
def rows(tmp_path):
    """Return points in a file, and their labels."""
    X = np.random.default_rng(0).normal(size=(150, 2)) * 1.5
    lines = [f"{a!r},{b!r}" for a, b in X.tolist()]
    (tmp_path / "rows.csv").write_text("x,z\n" + "\n".join(lines) + "\n")
    return read_material(tmp_path / "rows.csv"), tags(X)


@pytest.fixture
def session(tmp_path, rows):
    material, truth = rows
    made = Alone(material, Journal(tmp_path / "labels.csv", material, several=True))
    made.start()
    yield made, truth
    made.end()


def settled(session):
    end = time.monotonic() + 60
    while not (state := session.state())["current"]:
        assert time.monotonic() < end, state
        time.sleep(0.02)
    return state


def cells(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_labels_as_numbers_and_words():
    kind = SeveralLabels(["a", "b"])
    scores = np.array([[0.9, 0.4], [0.2, 0.1], [0.5, 1.4]])
    assert kind.words(kind.codes(scores)) == ["a", "-", "b"]
    assert kind.colours(kind.codes(scores)) == [[0], [], [1]]
    assert kind.shares(kind.codes(scores)) == pytest.approx([1 / 3, 1 / 3])
    # As graphkm.active.uncertainty: the mean of 1 - |2 p - 1| over the labels.
    assert kind.unsure(scores) == pytest.approx([0.5, 0.3, 0.5])
    assert kind.unsure(np.array([[0.5, 0.5]]))[0] > kind.unsure(np.array([[0.5, 1.0]]))[0]
    wanted = kind.table(["a;b", "-", "b"])
    assert kind.errors(scores, wanted).tolist() == [1.0, 0.0, 0.0]
    assert kind.gaps(scores, wanted) == pytest.approx([0.1, -0.3, 0.0])
    assert changed_share(np.zeros((2, 1)), np.array([[0.0, 0.0], [0.0, 1.0]])) == 0.5


def test_what_a_person_means():
    known = Classes(["red", "blue"])
    assert SeveralLabels.meant(known, ["green", " Blue", "red", "red"]) == "red;blue;green"
    assert SeveralLabels.meant(known, []) == "-"
    for wrong, words in ((["a;b"], "separates"), (["-"], "none of them"), (None, "may be empty")):
        with pytest.raises(AnswerError, match=words):
            SeveralLabels.meant(known, wrong)
    for one in (OneClass, Quantity):
        with pytest.raises(AnswerError):
            one.meant(known, ["red"])


@pytest.mark.long
def test_a_session_learns_several_labels_from_start_to_end(session, tmp_path):
    session, truth = session
    state = settled(session)
    assert state["several"]
    for _ in range(60):
        row = state["queue"][0]
        session.answer(row, "label", truth[row])
        state = settled(session)
    assert sorted(state["classes"]) == sorted(NAMES)
    by_name = dict(zip(state["classes"], state["counts"], strict=True))
    answered = {answer.row for answer in session.journal.answers}
    assert by_name == {name: sum(name in truth[row] for row in answered) for name in NAMES}
    assert state["accuracy"]["value"] > 0.6 and state["accuracy"]["rows"] >= 10
    assert state["steady"] is not None
    colours = session.colours()
    said = [{state["classes"][k] for k in each} for each in colours["predicted"]]
    right = [said[k] == set(truth[row]) for k, row in enumerate(session.map()["rows"])]
    assert np.mean(right) > 0.75
    some = next(iter(answered))
    assert {state["classes"][k] for k in colours["labelled"][some]} == set(truth[some])
    found = session.row(next(row for row in range(150) if row not in answered))
    assert set(found["chances"]) == set(NAMES) and found["label"] is None and found["names"] == []
    assert all(0 <= chance <= 1 for chance in found["chances"].values())


def test_lists_are_in_the_journal_and_one_column_in_the_file(session, tmp_path):
    session, _ = session
    session.answer(3, "label", ["b", "a"])
    session.answer(4, "label", [])
    session.answer(5, "label", ["a"])
    assert session.undo()["labelled"] == 2
    state = session.answer(6, "label", ["A", "new"])
    assert state["classes"] == ["b", "a", "new"] and state["counts"] == [1, 2, 1]
    assert session.row(6)["names"] == ["a", "new"] and session.row(4)["label"] == "-"
    lines = (tmp_path / "labels.csv.journal").read_text().splitlines()
    entries = [json.loads(line) for line in lines][1:]
    assert [entry["label"] for entry in entries] == [["b", "a"], [], ["a"], None, ["a", "new"]]
    assert "annotator" not in entries[0]
    head, *lines = cells(tmp_path / "labels.csv")
    assert head == ["x", "z", "label"] and [line[-1] for line in lines] == ["b;a", "-", "a;new"]


def test_a_journal_with_lists_goes_on_with_lists(tmp_path, rows):
    material, _ = rows
    out = tmp_path / "labels.csv"
    with_lists = Journal(out, material, several=True)
    with_lists.add(Answer(0, "label", "a;b"))
    with_lists.add(Answer(1, "label", "-"))
    with_lists.close()
    again = Journal(out, material)
    assert again.several and again.labels() == {0: "a;b", 1: "-"}
    again.close()
    with pytest.raises(JournalError, match="several labels"):
        Journal(out, material, several=False)


def test_one_label_per_row_becomes_several_when_asked(tmp_path, rows):
    material, _ = rows
    out = tmp_path / "labels.csv"
    one = Journal(out, material)
    one.add(Answer(0, "label", "a"))
    one.close()
    more = Alone(material, Journal(out, material, several=True))
    state = more.answer(1, "label", ["a", "b"])
    assert state["classes"] == ["a", "b"] and state["counts"] == [2, 1]
    more.end()
    again = Journal(out, material)
    assert again.labels() == {0: "a", 1: "a;b"}
    again.close()


def test_a_column_of_names_is_taken_as_it_is(tmp_path):
    (tmp_path / "rows.csv").write_text("x,label\n1,a; b\n2,\n3,-\n4,b\n")
    found = read_material(tmp_path / "rows.csv")
    journal = Journal(tmp_path / "out.csv", found)
    assert journal.several and journal.labels() == {0: "a;b", 2: "-", 3: "b"}
    journal.close()
    plain = Journal(tmp_path / "plain.csv", found, several=False)
    assert plain.labels()[0] == "a; b"
    plain.close()


def test_names_that_cannot_be_one_of_several(tmp_path, rows):
    material, _ = rows
    journal = Journal(tmp_path / "labels.csv", material, several=True)
    with pytest.raises(AnswerError, match="separates"):
        Alone(material, journal, classes=["a;b", "c"])
    journal.close()


def test_a_wrong_label_of_several_is_worth_a_second_look(session):
    session, truth = session
    for row in range(60):
        session.answer(row, "label", truth[row])
    middle = min(range(60), key=lambda row: "far" in truth[row])
    wrong = [name for name in ("left", "low") if name not in truth[middle]]
    session.answer(middle, "label", wrong)
    assert middle in [entry["row"] for entry in settled(session)["mistakes"][:5]]


def test_two_tabs_with_several_labels(session):
    session, _ = session
    session.answer(5, "label", ["a"], seen=None)
    with pytest.raises(MeanwhileError, match="'a'"):
        session.answer(5, "label", ["b"], seen=None)
    session.answer(5, "label", ["b"], seen={"kind": "label", "label": "a"})
    assert session.row(5)["names"] == ["b"]


@pytest.mark.long
def test_from_the_page_to_train_and_predictions(tmp_path, rows):
    _, truth = rows
    arguments = ("rows.csv", "--out", "labels.csv", "--classes", ",".join(NAMES), "--several")
    with label_page(tmp_path, *arguments) as page:
        for row in range(60):
            page.post("api/answer", {"row": row, "kind": "label", "label": truth[row]})
        status, _, body = page.request(
            "POST", "api/answer", {"row": 1, "kind": "label", "label": [1]}
        )
        assert status == 400 and b"list of texts" in body
        said = page.post("api/predictions", {})["said"]
        assert "labels.gkm holds a model of 60 labels and 150 rows." in said
    note = read_model(tmp_path / "labels.gkm")[1]
    assert note.targets == sorted(NAMES) and note.separator == ";"
    head, *lines = cells(tmp_path / "labels.predictions.csv")
    assert head == ["x", "z", "label", "prediction", *(f"probability_{n}" for n in sorted(NAMES))]
    right = [set(line[3].split(";")) - {"-"} == set(truth[k]) for k, line in enumerate(lines)]
    assert np.mean(right[60:]) > 0.6
    # The file of labels is what graphkm train --separator ";" reads.
    source = Source.at(str(tmp_path / "labels.csv"))
    learnt = read_rows(source, LearningFileOptions(separator=";"), Task.auto)
    assert learnt.note.targets == sorted(NAMES) and learnt.note.label == "label"
    wanted = [[name in truth[k] for name in sorted(NAMES)] for k in range(60)]
    assert np.array_equal(learnt.y, wanted)
    # The same page, continued without the option, and with the model of before.
    with label_page(tmp_path, *arguments[:-1]) as page:
        assert page.get("api/state")["several"]
    with label_page(tmp_path, "rows.csv", "--out", "more.csv", "--model", "labels.gkm") as page:
        state = page.learnt()
        assert state["several"] and "rows with different labels" in state["first"]
    assert run("label", tmp_path / "rows.csv", "--out", tmp_path / "no.csv", "--no-several",
               "--model", tmp_path / "labels.gkm") == 2  # fmt: skip


def test_options_that_do_not_go_together(tmp_path, rows, capsys):
    out = tmp_path / "o.csv"
    assert run("label", tmp_path / "rows.csv", "--out", out, "--several", "--regression") == 2
    assert "do not go together" in capsys.readouterr().err

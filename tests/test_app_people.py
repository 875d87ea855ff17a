"""The labelling page where several people answer, without a browser."""

from __future__ import annotations

import csv
import json
import time

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("pyarrow")

from sklearn.datasets import make_blobs

from cli_runner import run
from graphkm.app.journal import Answer, Journal
from graphkm.app.people import NAMELESS, reckon
from graphkm.app.reading import read_material
from graphkm.app.targets import OneClass, Quantity, SeveralLabels
from label_server import label_page
from label_team import Alone

pytestmark = pytest.mark.usefixtures("one_model")


@pytest.fixture
def rows(tmp_path):
    """Return a table of three clusters, in a file."""
    X, truth = make_blobs(150, centers=3, n_features=2, cluster_std=0.6, random_state=3)
    lines = [f"{a!r},{b!r}" for a, b in X.tolist()]
    (tmp_path / "rows.csv").write_text("x,z\n" + "\n".join(lines) + "\n")
    return read_material(tmp_path / "rows.csv"), [f"c{k}" for k in truth]


def settled(session):
    end = time.monotonic() + 60
    while not (state := session.state())["current"]:
        assert time.monotonic() < end, state
        time.sleep(0.02)
    return state


def cells(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def opened(tmp_path, material, name, **more):
    return Alone(
        material,
        Journal(tmp_path / "labels.csv", material, named=name is not None),
        me=name,
        **more,
    )


# ------------------------------------------------------------------ the journal


def test_every_answer_has_a_name_and_a_line(tmp_path, rows):
    material, _ = rows
    eva = opened(tmp_path, material, "eva")
    eva.answer(3, "label", "a")
    eva.answer(4, "label", "b")
    eva.end()
    tom = opened(tmp_path, material, "tom")
    tom.answer(3, "label", "b")
    tom.answer(5, "label", "a")
    tom.end()
    head, *lines = cells(tmp_path / "labels.csv")
    assert head == ["x", "z", "label", "annotator", "row"]
    assert [line[2:] for line in lines] == [
        ["a", "eva", "4"], ["b", "tom", "4"], ["b", "eva", "5"], ["a", "tom", "6"]]  # fmt: skip
    assert lines[0][:2] == material.written(3)
    entries = (tmp_path / "labels.csv.journal").read_text().splitlines()[1:]
    assert [json.loads(line)["annotator"] for line in entries] == ["eva", "eva", "tom", "tom"]


def test_people_take_back_and_replace_only_what_is_their_own(tmp_path, rows):
    material, _ = rows
    eva = opened(tmp_path, material, "eva")
    eva.answer(3, "label", "a")
    eva.end()
    tom = opened(tmp_path, material, "tom")
    assert not tom.state()["canUndo"] and tom.state()["recent"] == []
    # What others said is hidden before an answer, on the map too.
    assert tom.row(3)["label"] is None and tom.row(3)["others"] == []
    assert tom.colours()["labelled"] == {}
    tom.answer(3, "label", "b", seen=None)
    assert tom.row(3)["label"] == "b"
    assert tom.row(3)["others"] == [{"name": "eva", "label": "a"}]
    tom.answer(3, "label", "a")
    assert tom.journal.standing() == {3: {"eva": "a", "tom": "a"}}
    tom.answer(3, "unknown")
    assert tom.journal.standing() == {3: {"eva": "a"}} and tom.state()["labelled"] == 1
    for _ in range(3):
        tom.undo()
    assert not tom.state()["canUndo"]
    tom.end()
    again = Journal(tmp_path / "labels.csv", material)
    assert again.standing() == {3: {"eva": "a"}} and len(again.answers) == 1
    again.close()


def test_a_journal_without_names_is_that_of_a_person_without_a_name(tmp_path, rows):
    material, _ = rows
    out = tmp_path / "labels.csv"
    old = Journal(out, material)
    old.add(Answer(0, "label", "a"))
    old.add(Answer(1, "label", "b"))
    old.add(Answer(1, "undo"))
    old.close()
    before = (tmp_path / "labels.csv.journal").read_bytes()
    assert b"annotator" not in before and cells(out)[0] == ["x", "z", "label"]
    eva = Journal(out, material, named=True)
    eva.add(Answer(0, "label", "b", annotator="eva"))
    assert eva.standing() == {0: {None: "a", "eva": "b"}}
    eva.close()
    assert (tmp_path / "labels.csv.journal").read_bytes().startswith(before)
    assert [line[2:] for line in cells(out)[1:]] == [["a", "", "1"], ["b", "eva", "1"]]
    # Without a name one goes on as that person, and nothing of the others is lost.
    again = Journal(out, material)
    again.add(Answer(0, "label", "c"))
    assert again.standing() == {0: {"eva": "b", None: "c"}}
    again.close()


def test_a_table_with_a_column_called_annotator(tmp_path):
    (tmp_path / "rows.csv").write_text("annotator,row\n1,2\n3,5\n4,4\n")
    found = read_material(tmp_path / "rows.csv")
    journal = Journal(tmp_path / "labels.csv", found, named=True)
    journal.close()
    assert cells(tmp_path / "labels.csv")[0] == [
        "annotator", "row", "label", "annotator_3", "row_4"]  # fmt: skip


# --------------------------------------------------------------- who is reliable


def answers_of(people, truth, rng, names):
    """Return answers of people with known shares of right ones, to all rows."""
    return [
        (row, who, right if rng.random() < share else names[rng.integers(len(names))])
        for row, right in enumerate(truth)
        for who, share in people.items()
    ]


def test_reliabilities_agreed_labels_and_questions():
    rng, kind = np.random.default_rng(0), OneClass(["a", "b", "c"])
    truth = rng.choice(kind.names, 300).tolist()
    table = kind.table(truth)
    held_out = 0.7 * table + 0.1
    good, bad = (
        answers_of({"eva": 0.95}, truth, rng, "abc"),
        answers_of({None: 0.4}, truth, rng, "abc"),
    )
    given = good + bad[:200]
    found = reckon(given, kind, np.arange(300), held_out, table, [None])
    assert [each["name"] for each in found.reports] == ["eva", NAMELESS]
    assert [each["answers"] for each in found.reports] == [300, 200]
    assert found.reports[0]["reliability"] == pytest.approx(0.967, abs=0.05)
    assert found.reports[1]["reliability"] == pytest.approx(0.6, abs=0.08)
    assert len(found.agreed) > 50 and set(found.agreed) < set(range(200))
    assert np.mean([truth[row] == label for row, label in found.agreed.items()]) > 0.9
    assert set(found.ask[None]) == set(range(200, 300))  # what this person has not answered
    doubtful = {row for row, _, label in good[200:] if label != truth[row]}
    assert doubtful <= set(found.ask[None][: 3 * len(doubtful) + 3])


def test_several_labels_have_one_reliability_and_rows_are_asked_by_their_sum():
    rng, kind = np.random.default_rng(1), SeveralLabels(["a", "b"])
    truth = [["-", "a", "b", "a;b"][k] for k in rng.integers(4, size=200)]
    table = kind.table(truth)
    given = [(row, "eva", label) for row, label in enumerate(truth)]
    flipped = {"-": "a;b", "a": "b", "b": "a", "a;b": "-"}
    given += [(row, "tom", flipped[t] if row % 3 == 0 else t) for row, t in enumerate(truth[:150])]
    held_out = 0.6 * table + 0.2
    held_out[160] = 1 - held_out[160]  # the model contradicts eva in both labels
    held_out[170, 0] = 1 - held_out[170, 0]  # and in one
    found = reckon(given, kind, np.arange(200), held_out, table, ["tom"])
    assert [(each["name"], each["answers"]) for each in found.reports] == [
        ("eva", 200),
        ("tom", 150),
    ]
    assert found.reports[0]["reliability"] > 0.9 > found.reports[1]["reliability"]
    assert [found.agreed[row] for row in (0, 3, 6)] == [truth[row] for row in (0, 3, 6)]
    assert found.ask["tom"][:2] == [160, 170] and set(found.ask["tom"]) == set(range(150, 200))


def test_nothing_to_compare():
    kind, table = OneClass(["a", "b"]), np.eye(2)[[0, 0, 1]]
    held_out = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    rows = np.array([2, 5, 9])
    alone = [(2, "eva", "a"), (5, "eva", "a"), (9, "eva", "b")]
    found = reckon(alone, kind, rows, held_out, table, ["eva"])
    assert found.reports == [] and found.ask == {"eva": []} and found.agreed == {}
    # A second person is asked where the model doubts the first one.
    assert reckon(alone, kind, rows, held_out, table, ["tom"]).ask["tom"] == [5, 2, 9]
    one = [(2, "eva", "a"), (5, "tom", "a")]
    assert reckon(one, kind, rows[:2], held_out[:2], table[:2], ["eva"]).reports == []
    many = [(2, "eva", "1"), (2, "tom", "2")]
    assert reckon(many, Quantity([]), rows[:1], np.ones((1, 1)), np.ones((1, 1)), ["eva"]).ask == {}


# -------------------------------------------------------------------- the session


@pytest.mark.long
def test_a_second_person_is_asked_now_and_then_for_rows_of_the_first(tmp_path, rows):
    material, truth = rows
    eva = opened(tmp_path, material, "eva")
    for row in range(40):
        wrong = row in (7, 21)
        eva.answer(
            row, "label", "c0" if wrong and truth[row] != "c0" else "c1" if wrong else truth[row]
        )
    eva.end()
    tom = opened(tmp_path, material, "tom")
    tom.start()
    state = settled(tom)
    assert state["annotator"] == "tom" and state["people"] == []
    for _ in range(30):
        row = state["queue"][0]
        tom.answer(row, "label", truth[row])
        state = settled(tom)
    second = [answer.row for answer in tom.journal.answers if answer.how == "second"]
    assert 3 <= len(second) <= 10 and {7, 21} <= set(second) <= set(range(40))
    assert len(set(second)) == len(second)
    names = [each["name"] for each in state["people"]]
    assert sorted(names) == ["eva", "tom"] and all(
        0 < p["reliability"] < 1 for p in state["people"]
    )
    assert state["labelled"] == 40 + 30 - len(second)
    assert all(tom.row(m["row"])["answer"] is not None for m in state["mistakes"])
    tom.end()


@pytest.mark.long
def test_second_answers_on_request_and_when_nothing_else_is_left(tmp_path, rows):
    material, truth = rows
    eva = opened(tmp_path, material, "eva")
    for row in range(150):
        eva.answer(row, "label", truth[row])
    eva.end()
    tom = opened(tmp_path, material, "tom")
    tom.start()
    state = settled(tom)
    assert len(state["queue"]) > 5 and state["second"] == state["queue"]
    tom.end()
    uwe = opened(tmp_path, material, "uwe", second="first")
    uwe.start()
    for _ in range(4):
        row = settled(uwe)["queue"][0]
        uwe.answer(row, "label", truth[row])
    assert [answer.how for answer in uwe.journal.answers[-4:]] == ["second"] * 4
    uwe.end()


@pytest.mark.long
def test_one_person_is_asked_nothing_twice(tmp_path, rows):
    material, truth = rows
    eva = opened(tmp_path, material, "eva", second="first")
    eva.start()
    state = settled(eva)
    for _ in range(20):
        row = state["queue"][0]
        eva.answer(row, "label", truth[row])
        state = settled(eva)
    assert state["labelled"] == 20 and state["second"] == [] and state["people"] == []
    eva.end()


@pytest.mark.long
def test_what_rows_are_whose_answers_differ(tmp_path, rows):
    material, truth = rows
    other = {"c0": "c1", "c1": "c2", "c2": "c0"}
    for name, wrong in (("eva", ()), ("uwe", ()), ("tom", range(0, 60, 2))):
        session = opened(tmp_path, material, name)
        for row in range(60):
            session.answer(row, "label", other[truth[row]] if row in wrong else truth[row])
        session.start()
        settled(session)
        saved = session.team.now()
        session.end()
    # Tom answered last, and he is often wrong: the others are believed.
    assert [saved[row] for row in range(60)] == truth[:60]


def test_a_class_that_only_an_outvoted_answer_has_stays_a_class(tmp_path, rows):
    material, truth = rows
    eva = opened(tmp_path, material, "eva")
    eva.answer(0, "label", "only eva's")
    for row in range(1, 12):
        eva.answer(row, "label", truth[row])
    eva.end()
    tom = opened(tmp_path, material, "tom")
    tom.answer(0, "label", truth[0])
    tom.end()
    again = opened(tmp_path, material, "tom")
    again.start()
    state = settled(again)
    assert (
        "only eva's" in state["classes"] and state["learning"] == "" and len(state["people"]) == 2
    )
    again.end()


# -------------------------------------------------------------------- the command


@pytest.mark.long
def test_two_people_on_the_page(tmp_path, rows):
    _, truth = rows
    arguments = ("rows.csv", "--out", "labels.csv", "--annotator")
    for name in ("eva", "tom"):
        with label_page(tmp_path, *arguments, f" {name} ") as page:
            for row in range(12):
                page.post("api/answer", {"row": row, "kind": "label", "label": truth[row]})
            state = page.learnt()
    assert state["annotator"] == "tom" and state["labelled"] == 12
    assert {each["name"]: each["agreement"] for each in state["people"]} == {"eva": 1.0, "tom": 1.0}
    assert len(cells(tmp_path / "labels.csv")) == 25


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--second"], "name who answers"),
        (["--annotator", " "], "1 to 100 letters"),
        (["--annotator", "a\nb"], "in one line"),
    ],
)
def test_names_that_are_refused(tmp_path, rows, capsys, options, words):
    out = tmp_path / "labels.csv"
    assert run("label", tmp_path / "rows.csv", "--out", out, *options) == 2
    assert words in capsys.readouterr().err and not out.exists()

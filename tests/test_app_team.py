"""Several people at the labelling page, without a server: who gets which row, names, search."""

from __future__ import annotations

import csv
import json
import threading
from urllib.parse import urlencode

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("pyarrow")

from graphkm.app.classes import AnswerError
from graphkm.app.ground import Ground
from graphkm.app.journal import Answer, Journal
from graphkm.app.journal_file import JournalError
from graphkm.app.live_model import LiveModel
from graphkm.app.reading import read_material
from graphkm.app.reserving import LASTS, Reserved
from graphkm.app.searching import PAGE, Search, Wanted
from graphkm.app.session import MeanwhileError, Session
from graphkm.app.team import Team
from graphkm.app.visitors import MOST, Visitors

pytestmark = pytest.mark.usefixtures("one_model")


@pytest.fixture
def material(tmp_path):
    """Return a table of 60 rows with words."""
    words = ["Große Katze", "kleiner Hund", "ﬁsh"]
    lines = [f"{k},{k % 7},{words[k % 3]} {k}" for k in range(60)]
    (tmp_path / "rows.csv").write_text("x,z,words\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return read_material(tmp_path / "rows.csv", drop=["words"])


@pytest.fixture
def team(tmp_path, material):
    """Return a function that opens the labelling of Eva and Tom."""
    opened = []

    def open_team(**more):
        more = {"people": ["eva", "tom"], "second": "never"} | more
        journal = Journal(tmp_path / "labels.csv", material, named=True)
        opened.append(Team(material, journal, **more))
        return opened[-1]

    yield open_team
    for each in opened:
        each.end()


def both(team):
    return Session(team, "eva"), Session(team, "tom")


def cells(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


# ---------------------------------------------------------------- who gets which row


def test_no_row_is_on_two_screens_and_every_row_is_given_once(team):
    eva, tom = both(team())
    given = {"eva": [], "tom": []}
    rng = np.random.default_rng(0)
    while True:
        first, second = eva.state()["queue"][:2], tom.state()["queue"][:2]
        assert not set(first) & set(second)
        if not first and not second:
            break
        who, rows = (eva, first) if rng.random() < 0.5 or not second else (tom, second)
        if rows:
            given[who.me].append(rows[0])
            who.answer(rows[0], "label", "ab"[rows[0] % 2], seen=None, first=True)
    assert sorted(given["eva"] + given["tom"]) == list(range(60))
    assert eva.team.journal.standing() == {
        row: {who: "ab"[row % 2]} for who, rows in given.items() for row in rows
    }


def test_many_threads_get_every_row_once(team):
    opened = team(people=["a", "b", "c", "d"])
    given: list[int] = []

    def work(name):
        session = Session(opened, name)
        while queue := session.state()["queue"]:
            session.answer(queue[0], "label", "x", seen=None, first=True)
            given.append(queue[0])

    threads = [threading.Thread(target=work, args=(name,)) for name in opened.people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for name in opened.people:  # rows that were on the screens of others at the end
        work(name)
    assert sorted(given) == list(range(60))


def test_a_row_on_another_screen_is_refused_and_said(team):
    eva, tom = both(team())
    row = eva.state()["queue"][0]
    tom.state()
    assert tom.row(row)["holder"] == "eva" and tom.look(row)["holder"] == "eva"
    with pytest.raises(AnswerError, match=f"eva has row {row + 1} on the screen") as found:
        tom.answer(row, "label", "a", seen=None)
    assert (found.value.code, found.value.values) == ("reserved", {"name": "eva", "row": row + 1})
    free = next(k for k in range(60) if k not in eva.state()["queue"] + tom.state()["queue"])
    assert tom.look(free)["holder"] is None and eva.row(free)["holder"] == "tom"
    assert free not in eva.state()["queue"]
    tom.look(None)
    assert eva.row(free)["holder"] is None


def test_an_answer_that_came_first_is_told_before_a_second_is_kept(team):
    eva, tom = both(team())
    free = next(k for k in range(60) if k not in eva.state()["queue"] + tom.state()["queue"])
    assert not tom.row(free)["answered"]
    eva.answer(free, "label", "a")
    with pytest.raises(MeanwhileError, match=f"eva has answered row {free + 1} meanwhile"):
        tom.answer(free, "label", "b", seen=None, first=True)
    assert tom.row(free)["answered"]
    tom.answer(free, "label", "b", seen=None, first=False)
    assert eva.team.journal.standing()[free] == {"eva": "a", "tom": "b"}


def test_a_reservation_ends_and_survives_the_process(tmp_path):
    now = [1000.0]
    path = tmp_path / "labels.csv.reserved"
    reserved = Reserved(path, clock=lambda: now[0])
    reserved.put("eva", [(3, "check"), (4, "suggested")], 9)
    again = Reserved(path, clock=lambda: now[0])
    assert again.taken("tom") == {3, 4, 9} and again.hand("eva").rows[0] == (3, "check")
    now[0] += LASTS - 1
    again.touch("eva")
    now[0] += LASTS - 1
    assert again.holder(3, "tom") == "eva"
    now[0] += 2
    assert again.holder(3, "tom") is None and again.taken("tom") == set()
    assert not again.heard("eva") and again.present() == []
    for odd in (b"", b"{", b"[3]", b'[{"who": "eva"}]', b'[{"rows": null, "who": 3}]', b"\xff"):
        path.write_bytes(odd)
        assert Reserved(path, clock=lambda: now[0]).taken("tom") == set()


def test_an_idle_screen_takes_no_rows_from_others(tmp_path, team):
    now = [0.0]
    opened = team()
    opened.reserved = Reserved(clock=lambda: now[0])
    eva, tom = both(opened)
    tom.touch()
    row = tom.state()["queue"][0]
    now[0] += LASTS + 1
    eva.touch()
    state = tom.state(idle=True)
    assert state["paused"] and state["queue"] == [] and eva.row(row)["holder"] is None
    rows = eva.state()["queue"][:2]
    opened.reserved.put("eva", [(row, "check"), *opened.reserved.hand("eva").rows[:1]])
    tom.touch()
    assert row not in tom.state()["queue"] and tom.row(row)["holder"] == "eva" and len(rows) == 2
    assert not tom.state(idle=True)["paused"] and tom.state()["queue"]


def test_second_answers_are_for_those_who_ask_for_them(team):
    opened = team(second="first")
    eva, tom = both(opened)
    for row in (5, 6):
        eva.answer(row, "label", "a")
    assert set(tom.state()["queue"]) == {5, 6} == set(tom.state()["second"])
    tom.answer(5, "label", "b", seen=None, first=True)  # it was asked for: nothing is in the way
    assert opened.journal.standing()[5] == {"eva": "a", "tom": "b"}


def test_a_row_that_one_does_not_know_goes_to_another(team):
    eva, tom = both(team())
    for _ in range(3):
        eva.answer(eva.state()["queue"][0], "unknown")
    unknown = {answer.row for answer in eva.team.journal.answers}
    while queue := tom.state()["queue"]:
        tom.answer(queue[0], "label", "a")
        eva.team.reserved = Reserved()  # Eva's screen is closed
    assert len(unknown) == 3 and eva.team.standing.labelled("tom") == set(range(60))


# ---------------------------------------------------------------- names of classes


def test_a_class_is_renamed_in_every_answer_and_taken_back(tmp_path, team, material):
    opened = team(classes=["cat", "dog"])
    eva, tom = both(opened)
    eva.answer(1, "label", "cat")
    tom.answer(2, "label", "cat")
    tom.answer(3, "label", "dog")
    state = eva.rename("cat", "feline")
    assert state["classes"] == ["feline", "dog"] and state["counts"] == [2, 1]
    assert state["recent"][0] == {"row": -1, "kind": "rename", "label": "feline", "old": "cat"}
    assert [line[3] for line in cells(tmp_path / "labels.csv")[1:]] == ["feline", "feline", "dog"]
    with pytest.raises(AnswerError, match="not one of the classes feline, dog"):
        eva.answer(4, "label", "cat")
    opened.end()
    again = team(classes=["cat", "dog"])  # the same command: the names are those of today
    eva, tom = both(again)
    assert eva.state()["classes"] == ["feline", "dog"]
    tom.answer(5, "label", "feline")
    assert tom.undo()["counts"] == [2, 1]
    state = eva.undo()  # after a restart, and after what others did
    assert state["classes"] == ["cat", "dog"] and state["counts"] == [2, 1]
    assert [line[3] for line in cells(tmp_path / "labels.csv")[1:]] == ["cat", "cat", "dog"]
    assert eva.undo()["counts"] == [1, 1]


def test_two_classes_become_one_and_two_again(team):
    eva, tom = both(team())
    for row, label in enumerate(["cat", "Kitty", "dog", "Kitty"]):
        eva.answer(row, "label", label)
    state = tom.rename("Kitty", "CAT")  # a known class in other letters
    assert state["classes"] == ["cat", "dog"] and state["counts"] == [3, 1]
    assert eva.team.journal.labels() == {0: "cat", 1: "cat", 2: "dog", 3: "cat"}
    state = tom.undo()
    assert state["classes"] == ["cat", "dog", "Kitty"] and state["counts"] == [1, 1, 2]
    assert eva.rename("cat", "Cat")["classes"][0] == "Cat"  # other letters of the same class
    for old, new, words in (
        ("no", "x", "no class 'no'"),
        ("dog", " ", "empty"),
        ("dog", "dog", "already"),
    ):
        with pytest.raises(AnswerError, match=words):
            eva.rename(old, new)


def test_names_of_several_labels_and_of_labels_of_the_data(tmp_path):
    (tmp_path / "rows.csv").write_text("x,label\n1,a;b\n2,b\n3,\n4,\n")
    found = read_material(tmp_path / "rows.csv")
    team = Team(found, Journal(tmp_path / "labels.csv", found))
    session = Session(team)
    session.answer(2, "label", ["a", "c"])
    session.rename("a", "b")
    assert team.journal.labels() == {0: "b", 1: "b", 2: "b;c"}
    assert session.state()["classes"] == ["b", "c"]
    state = session.undo()
    assert (state["classes"], state["counts"]) == (["b", "c", "a"], [2, 1, 2])
    assert team.journal.labels() == {0: "a;b", 1: "b", 2: "a;c"}
    with pytest.raises(AnswerError, match="separates"):
        session.rename("a", "x;y")
    team.end()


def test_a_model_of_the_old_names_is_forgotten(team):
    opened = team(people=[None])
    session = Session(opened)
    for row in range(40):
        session.answer(row, "label", "low" if row % 7 < 3 else "high")
    before = opened.learner
    opened.ground.cover()
    before.model = LiveModel(before.X, opened.ground.cover())
    late = before.learn(opened.labels())
    session.rename("high", "low")
    opened._take(late)  # it was on its way when the classes changed
    assert session.colours()["predicted"] == [] and session.row(50)["said"] is None
    opened._take(before.learn(opened.labels()))
    session.undo()
    opened._take(before.learn(opened.labels()))
    said = {session.row(row)["said"] for row in range(60)}
    assert said == {"low", "high"}


@pytest.mark.parametrize("correction", [("label", "low"), ("unknown", None)])
def test_a_class_that_was_corrected_away_is_no_hindrance_after_a_restart(team, correction):
    before = team(people=[None])
    session = Session(before)
    for row in range(22):
        label = "typo" if row == 9 else "low" if row % 2 else "high"
        session.answer(row, "label", label)
    session.answer(9, *correction)
    before.end()
    again = team(people=[None])
    assert again.classes.names == ["high", "low"]
    again.learner.model = LiveModel(again.learner.X, again.ground.cover())
    learnt = [again.learner.learn(each) for each in [*again._past(), again.labels()]]
    assert [each.n_labels for each in learnt] == [9, 19, 22 if correction[1] else 21]
    assert learnt[0].kind.names == ("high", "low")


def test_damaged_names_in_a_journal_are_refused(tmp_path, material):
    for odd in ('"row": 3', '"row": -1, "label": ""', '"row": -1, "label": "x", "old": 3'):
        place = tmp_path / "l.csv.journal"
        place.write_text(
            json.dumps({"graphkm": 1, "rows": material.fingerprint()})
            + "\n{" + odd + ', "kind": "rename"}\n'
        )  # fmt: skip
        with pytest.raises(JournalError, match="line 2 is damaged"):
            Journal(tmp_path / "l.csv", material)
    place.unlink()
    journal = Journal(tmp_path / "l.csv", material)
    journal.add(Answer(0, "label", "a"))
    journal.add(Answer(-1, "rename", "b", old="a"))
    journal.add(Answer(-1, "undo"))
    journal.close()
    again = Journal(tmp_path / "l.csv", material)
    assert again.labels() == {0: "a"}
    again.close()


# ---------------------------------------------------------------- search


def found(session, **given):
    given = {name: str(value) for name, value in given.items()}
    return [each["row"] for each in Search(session.team, session.me)(Wanted.of(given))["rows"]]


def test_rows_are_found_by_words_label_person_and_answer(team):
    eva, tom = both(team())
    assert found(eva, words="GROSSE katze") == list(range(0, 60, 3))[:PAGE]
    assert found(eva, words="FISH") == list(range(2, 60, 3))[:PAGE]
    assert found(eva, words="katze hund") == [] and found(eva, words="katze 12") == [12]
    assert found(eva, start=58) == [58, 59] and found(eva, start=99) == []
    page = Search(eva.team, "eva")(Wanted())
    assert len(page["rows"]) == PAGE and page["next"] == PAGE
    eva.answer(3, "label", "a")
    tom.answer(4, "label", "b")
    tom.answer(6, "unknown")
    assert found(eva, label="a") == [3] and found(eva, person="tom") == [4]
    assert found(eva, person="tom", label="a") == [] and found(tom, kind="unknown") == [6]
    assert found(eva, kind="answered") == [3, 4] and 6 in found(eva, kind="unanswered")
    assert 3 not in found(tom, kind="unanswered") and found(tom, kind="doubtful") == []


def test_a_search_tells_nothing_where_second_answers_are_wanted(team):
    eva, tom = both(team(second="first"))
    eva.answer(3, "label", "a")
    assert found(tom, label="a") == found(tom, person="eva") == []
    tom.answer(3, "label", "b")
    assert found(tom, label="a") == found(tom, person="eva") == [3]


@pytest.mark.parametrize(
    "given", [{"kind": "no"}, {"start": "-1"}, {"start": "9" * 20}, {"words": "x" * 501}]
)
def test_searches_that_make_no_sense(given):
    with pytest.raises(AnswerError):
        Wanted.of(given)
    assert urlencode(given)


# ---------------------------------------------------------------- visitors


def test_visitors_of_a_demo_share_no_answers_and_write_nothing(tmp_path, material):
    ground, now, before = Ground(material), [0.0], sorted(tmp_path.iterdir())
    visitors = Visitors(
        lambda: Team(material, Journal(None, material), ground=ground), clock=lambda: now[0]
    )
    one, other = visitors.arrives(), visitors.arrives()
    assert visitors.admits(one) == (one,) and visitors.admits("guess") is None
    first = visitors.session(one)
    first.answer(3, "label", "a")
    assert first.state()["labelled"] == 1 and visitors.session(one).row(3)["label"] == "a"
    assert visitors.session(other).state()["labelled"] == 0
    with pytest.raises(AnswerError, match="no file for the model"):
        first.write_model()
    assert not first.state()["canSave"] and sorted(tmp_path.iterdir()) == before
    assert first.undo()["labelled"] == 0
    now[0] += 1801
    visitors.session(other)
    visitors.arrives()
    assert visitors.admits(one) is None and visitors.admits(other) is not None
    visitors.end()
    assert MOST == 30

"""`graphkm screen`: the order of rows, what the model expects, and what random rows tell."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from cli_runner import moons, run, write_csv, wrong
from graphkm.active import recall_so_far

LINEAR = ("--ranker", "linear")


def told(capsys, *arguments):
    """Run the command; return its standard output."""
    capsys.readouterr()
    assert run("screen", *arguments) == 0
    return capsys.readouterr().out


def facts(capsys, *arguments):
    return json.loads(told(capsys, *arguments, "--json"))


def column(path, k=0):
    with open(path, newline="") as file:
        return [line[k] for line in csv.reader(file)][1:]


@pytest.fixture
def cats(tmp_path):
    """Return a file of 200 rows, their labels so far, and all labels."""
    X, y, names = moons(200, 40)

    def write(y):
        return write_csv(tmp_path / "rows.csv", X, y)

    return write, y, names


def test_relevant_rows_come_first(cats, tmp_path, capsys):
    write, y, names = cats
    data, out = write(y), tmp_path / "next.csv"
    said = told(capsys, data, "--relevant", "cat", "--out", out, *LINEAR)
    rows, chances = np.array(column(out), int) - 1, np.array(column(out, 1), float)
    assert sorted(rows) == np.flatnonzero(y == "").tolist()
    assert (np.diff(chances) <= 0).all()
    assert (names[rows[:40]] == "cat").mean() > 0.9 > 0.1 > (names[rows[-40:]] == "cat").mean()
    n = int((y == "cat").sum())
    assert f"40 of 200 rows are screened, and {n} of them are cat." in said
    assert f"--out {out} has them in order" in said
    assert run("screen", data, "--relevant", "cat", "--out", out, "-n", 7, *LINEAR) == 0
    assert column(out) == [str(row + 1) for row in rows[:7]]
    found = facts(capsys, data, "--relevant", "cat", *LINEAR)
    assert found["expected_left"] == pytest.approx(chances.sum(), abs=0.01)
    assert found["expected_recall"] == pytest.approx(n / (n + chances.sum()), abs=1e-3)
    assert found["drawn"] is None and found["out"] is None


def test_the_front_door_follows_the_graph(cats, tmp_path, capsys):
    write, y, names = cats
    few = y.copy()
    few[np.flatnonzero(y != "")[8:]] = ""
    data, found = write(few), {}
    for ranker in ("mixture", "linear"):
        out = tmp_path / f"{ranker}.csv"
        assert run("screen", data, "--relevant", "cat", "--ranker", ranker, "--out", out) == 0
        first = np.array(column(out), int)[:80] - 1
        found[ranker] = (names[first] == "cat").mean()
    assert found["mixture"] > found["linear"] + 0.02


@pytest.mark.long
def test_random_rows_bound_what_is_missed(cats, tmp_path, capsys):
    write, y, names = cats
    drawn = tmp_path / "drawn.csv"
    ask = ("--relevant", "cat", "--drawn", drawn, *LINEAR)
    said = told(capsys, write(y), *ask)
    assert f"{drawn} has the 160 rows that are left in a random order" in said
    order = np.array(column(drawn), int) - 1
    assert sorted(order) == np.flatnonzero(y == "").tolist()
    assert (np.diff(order) < 0).any()
    for many in (30, 120, 158):
        y = y.copy()
        y[order[:many]] = names[order[:many]]
        found = facts(capsys, write(y), *ask)["drawn"]
        before = np.setdiff1d(np.arange(200), order)
        seen = np.append(names[before] == "cat", names[order[:many]] == "cat")
        bound = recall_so_far(seen, 200, drawn=many)
        assert found["screened"] == many and found["rows"] == 160
        assert found["relevant"] == (names[order[:many]] == "cat").sum()
        assert found["bound"]["left_at_most"] == bound.left_at_most
        assert found["bound"]["at_least"] == pytest.approx(bound.at_least)
        left = (names[order[many:]] == "cat").sum()
        assert left <= bound.left_at_most
        said = told(capsys, write(y), *ask)
        assert f"at most {bound.left_at_most:,} more are missed" in said
        assert ("enough: you can stop" in said) == bound.enough
    assert bound.enough
    assert column(drawn) == [str(row + 1) for row in order]  # it is not drawn anew


def test_the_session_of_the_guide(tmp_path, capsys, monkeypatch):
    guide = (Path(__file__).parents[1] / "docs/guide/active.md").read_text(encoding="utf-8")
    told = re.findall(r"^\$ graphkm (screen .+)\n((?:.+\n)+?)```", guide, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    X, _, _ = moons(2000, 2000, seed=2)
    truth = np.where(X[:, 0] < -0.8, "yes", "no").astype(object)
    y = np.where(np.arange(2000) < 60, truth, "")

    def asked(place):
        command, said = told[place]
        write_csv("papers.csv", X, y)
        capsys.readouterr()
        assert run(*command.split()) == 0
        assert capsys.readouterr().out.split() == said.split()

    asked(0)
    order = np.array(column("next.csv"), int)[:300] - 1
    y[order] = truth[order]
    asked(1)
    drawn = np.array(column("random.csv"), int)[:700] - 1
    y[drawn] = truth[drawn]
    asked(2)
    assert len(told) == 3


def test_rows_out_of_the_random_order_do_not_count(cats, tmp_path, capsys):
    write, y, names = cats
    drawn = tmp_path / "drawn.csv"
    ask = ("--relevant", "cat", "--drawn", drawn, *LINEAR)
    told(capsys, write(y), *ask)
    order = np.array(column(drawn), int) - 1
    y[order[[0, 1, 2, 5, 6]]] = names[order[[0, 1, 2, 5, 6]]]
    data = write(y)
    assert facts(capsys, data, *ask)["drawn"]["screened"] == 3
    assert "2 screened rows of" in told(capsys, data, *ask)


def test_files_that_are_no_random_order_are_refused(cats, tmp_path, capsys):
    write, y, _ = cats
    data, drawn = write(y), tmp_path / "drawn.csv"
    ask = ("screen", data, "--relevant", "cat", "--drawn", drawn, *LINEAR)
    assert run(*ask) == 0
    capsys.readouterr()
    whole = drawn.read_text()
    for text, why in (
        (whole.replace("row", "name", 1), "begins with 'name' and not with 'row'"),
        (whole + "201\n", "there is no row 201"),
        (whole + whole.splitlines()[1] + "\n", "a row stands in it twice"),
        (whole[: whole.rstrip().rindex("\n") + 1], "lacks the row"),
        ("", "begins with ''"),
    ):
        drawn.write_text(text)
        assert why in wrong(capsys, *ask)[1]


def test_ids_texts_and_several_labels(tmp_path, capsys):
    X, _, names = moons(120, 120)
    for k, (a, b) in enumerate(X):
        line = [f"p{k}", a, b, f"{names[k]};odd" if k % 2 else names[k]]
        if k >= 40:
            line[-1] = ""
        with open(tmp_path / "tags.csv", "a", newline="", encoding="utf-8") as file:
            if not k:
                csv.writer(file).writerow(["paper", "x", "z", "tags"])
            csv.writer(file).writerow(line)
    out = tmp_path / "next.csv"
    ask = (tmp_path / "tags.csv", "--id", "paper", "--label", "tags", "--separator", ";")
    told(capsys, *ask, "--relevant", "cat", "--out", out, *LINEAR)
    assert out.read_text().startswith("paper,chance\np")
    first = [int(name[1:]) for name in column(out)][:30]
    assert (names[first] == "cat").mean() > 0.9
    code, said = wrong(capsys, "screen", *ask, "--relevant", "red", *LINEAR)
    assert code == 2 and "no row has this label; the labels are cat, dog, odd" in said


def test_what_cannot_be_ranked_is_refused(cats, tmp_path, capsys):
    write, y, names = cats
    data = write(y)
    assert "--target 1:" in wrong(capsys, "screen", data, "--relevant", "cat", "--target", 1)[1]
    assert "--alpha 0:" in wrong(capsys, "screen", data, "--relevant", "cat", "--alpha", 0)[1]
    assert "is a folder" in wrong(capsys, "screen", tmp_path, "--relevant", "cat")[1]
    said = wrong(capsys, "screen", data, "--relevant", "cat", "--skip-bad-rows")[1]
    assert "would never be screened" in said
    assert "is an input" in wrong(capsys, "screen", data, "--relevant", "cat", "--out", data)[1]
    data = write(names)
    assert (
        "all of its 200 rows are screened" in wrong(capsys, "screen", data, "--relevant", "cat")[1]
    )

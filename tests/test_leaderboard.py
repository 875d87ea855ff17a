"""The leaderboard: its file of results, methods of others, fits under limits, and standings."""

from __future__ import annotations

import functools
import sys
import time
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
if not BENCHMARKS.is_dir():  # tests of a source distribution
    pytest.skip("the benchmarks are not here", allow_module_level=True)
pytest.importorskip("pandas")
sys.path.insert(0, str(BENCHMARKS))
try:
    from leaderboard import methods, report, results, running, tables
    from leaderboard.cells import KIND_OF, Cell
    from leaderboard.sets import SETS
finally:
    sys.path.remove(str(BENCHMARKS))

RNG = np.random.default_rng(0)
ROWS = np.concatenate([RNG.normal(-2, 0.5, (15, 2)), RNG.normal(2, 0.5, (15, 2))])
CELL = Cell("moons", 4, ROWS, np.repeat([0, 2], 15), [np.array([0, 1, 15, 16])])
CELLS = {("moons", "4"): CELL}
LINE = {
    **dict.fromkeys(results.COLUMNS, ""),
    **{"set": "moons", "labels": "4", "split": "0", "draw": CELL.draw(0), "method": "theirs"},
    **{"status": "ok", "accuracy": "97.5", "measured": "2026-01-31", "run": "them"},
}
LIMITS = running.Limits(60, 8)


# ------------------------------------------------------------- the file of results


def test_lines_are_added_at_once_and_read_again(tmp_path):
    file = tmp_path / "results.csv"
    assert results.read(file) == []
    results.append(file, LINE | {"parameters": '{"C": 1, "k": 2}'})
    results.append(file, LINE | {"split": "1", "status": 'error: "x", y'})
    found = results.read(file)
    assert [line["split"] for line in found] == ["0", "1"]
    assert found[0]["parameters"] == '{"C": 1, "k": 2}' and found[1]["status"] == 'error: "x", y'


def test_a_torn_line_is_left_out_and_spoils_no_other(tmp_path):
    file = tmp_path / "results.csv"
    results.append(file, LINE)
    with file.open("a") as stream:
        stream.write("moons,4,1,abc")
    assert [line["split"] for line in results.read(file)] == ["0"]
    results.append(file, LINE | {"split": "2"})
    assert [line["split"] for line in results.read(file)] == ["0", "2"]


def test_the_last_line_of_a_fit_counts():
    new = LINE | {"accuracy": "50"}
    assert results.merged([LINE, LINE | {"split": "1"}], [new]) == [new, LINE | {"split": "1"}]


def test_a_file_without_a_column_is_refused(tmp_path):
    file = tmp_path / "results.csv"
    file.write_text("set,labels,split\nmoons,4,0\n")
    with pytest.raises(SystemExit, match="lacks the columns accuracy"):
        results.read(file)


def test_a_right_line_has_no_complaint():
    assert results.complaints([LINE], CELLS) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"set": "moon"}, "no cell 'moon' with '4' labels"),
        ({"labels": "5"}, "no cell 'moons' with '5' labels"),
        ({"split": "7"}, "split is '7'; moons has 0"),
        ({"draw": "00000000"}, "other rows than the protocol's"),
        ({"method": ""}, "method is empty"),
        ({"status": "fine"}, "status is 'fine'"),
        ({"accuracy": ""}, "status is ok, and accuracy is empty"),
        ({"accuracy": "975"}, "accuracy is '975'; it is from 0 to 100"),
        ({"accuracy": "nan"}, "accuracy is 'nan'"),
        ({"cpu_seconds": "-1"}, "cpu_seconds is '-1'"),
        ({"peak_mb": "much"}, "peak_mb is 'much'"),
        ({"measured": "yesterday"}, "measured is 'yesterday'"),
    ],
)
def test_a_wrong_line_is_told(change, said):
    (complaint,) = results.complaints([LINE | change], CELLS)
    assert complaint.startswith("line 2: ") and said in complaint


def test_lines_that_contradict_each_other_are_told():
    same, other = results.complaints([LINE, LINE | {"version": "2"}], CELLS)
    assert same == "line 3: the same fit as line 2"
    assert other == "theirs has lines of the versions , 2"


def test_a_draw_is_known_by_its_rows():
    other = Cell("moons", 4, ROWS, CELL.y, [np.array([0, 1, 15, 17])])
    tested = Cell("moons", 4, ROWS, CELL.y, CELL.splits, tests=[np.arange(5, 9)])
    assert len({CELL.draw(0), other.draw(0), tested.draw(0)}) == 3


# ------------------------------------------------------------------ fits and methods


def test_every_set_has_a_kind():
    assert set(SETS) == set(KIND_OF)


@pytest.mark.parametrize("given", [False, True])
def test_a_method_of_others(tmp_path, given):
    file = tmp_path / "theirs.py"
    head = "X, y, random_state, edges" if given else "X, y, random_state"
    file.write_text(
        "import numpy as np\nTITLE = 'Nearest'\n"
        f"def fit_predict({head}):\n"
        "    assert random_state == 0 and set(y) == {-1, 0, 1}\n"
        f"    assert {'edges is None' if given else 'True'}\n"
        "    return (X[:, 0] > 0).astype(int)\n"
    )
    name, method = methods.added(file)
    assert (name, method.title) == ("theirs", "Nearest")
    task = running.Task(CELL, 0, name, method)
    (line,) = running.run([task], tmp_path, LIMITS, 1, "them")
    # Its codes 0 and 1 are the classes 0 and 2 of the cell.
    assert (line["status"], line["accuracy"], line["run"]) == ("ok", "100.0000", "them")
    assert results.complaints([{k: str(v) for k, v in (LINE | line).items()}], CELLS) == []


def test_files_that_are_no_method_are_refused(tmp_path):
    with pytest.raises(SystemExit, match=r"is no Python file"):
        methods.added(tmp_path / "none.py")
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(SystemExit, match=r"has no function fit_predict\(X, y, random_state\)"):
        methods.added(tmp_path / "empty.py")
    (tmp_path / "svc.py").write_text("def fit_predict(X, y, random_state): ...")
    with pytest.raises(SystemExit, match="there is a method 'svc' already"):
        methods.added(tmp_path / "svc.py")


def line_of(function, tmp_path, limits=LIMITS):
    method = methods.Method("a method", function, methods.GROUPS[1], "")
    (line,) = running.run([running.Task(CELL, 0, "one", method)], tmp_path, limits, 1, "own")
    return line


def test_a_fit_that_fails_is_a_line_too(tmp_path):
    def broken(_):
        raise ValueError("no\nluck")

    assert line_of(broken, tmp_path)["status"] == "error: ValueError: no"
    short = line_of(lambda problem: (problem.y[:3], {}), tmp_path)
    assert "shape (3,) and not (30,)" in short["status"] and "accuracy" not in short


def test_memory_has_a_limit_and_is_that_of_the_fit(tmp_path):
    def large(problem, n=20_000_000):
        kept = np.ones(n)
        return np.zeros(30, dtype=int) + int(kept[0] < 0), {}

    assert float(line_of(large, tmp_path)["peak_mb"]) == pytest.approx(160, abs=30)
    much = functools.partial(large, n=2_000_000_000)
    assert line_of(much, tmp_path)["status"] == "did not fit"


@pytest.mark.long
def test_time_has_a_limit(tmp_path):
    def slow(_):
        while True:
            time.process_time()

    assert line_of(slow, tmp_path, running.Limits(1, 8))["status"] == "over the limit"


def test_our_version_knows_the_sources():
    assert running.version("graphkm").count("+") == 1
    assert running.version("no-such-package") == "missing"


def test_several_labels_have_their_own_scores():
    Y = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]])
    cell = Cell("emotions", 1, np.zeros((4, 1)), Y, [np.array([0])])
    assert np.isnan(cell.partly(0)[1:]).all() and (cell.partly(0)[0] == Y[0]).all()
    shares = np.array([[9, 9, 9], [0.1, 0.9, 0.2], [0.9, 0.2, 0.3], [0.9, 0.1, 0.2]])
    found = running.scored(cell, 0, shares, shares > 0.25)
    # The third label does not occur among the tested rows, and has no part in F1.
    assert found["macro_f1"] == pytest.approx(100 * np.mean([1.0, 2 / 3]))
    # One pair of labels of the third row is in the wrong order, of two.
    assert found["ranking_loss"] == pytest.approx((0 + 0.5 + 0) / 3)


# ----------------------------------------------------------------------- standings


def lines_of(values):
    """Return lines of accuracies by cell and method; None failed."""
    return [
        LINE
        | {"set": name, "method": method, "run": "own", "version": "1", "cpu_seconds": "2"}
        | {"peak_mb": "10", "accuracy": "" if value is None else str(value)}
        | {"status": "over the limit" if value is None else "ok"}
        for name, row in values.items()
        for method, value in row.items()
    ]


def test_standings_by_hand():
    values = {
        "moons": {"svc": 70, "forest": 60, "poisson": 90, "ours": 80, "tsvm": 85},
        "g50c": {"svc": 80, "forest": 90, "poisson": None, "ours": 95},
    }
    found = tables.standings(report.frame(lines_of(values)))
    first, second, *_, last = found.index
    assert (first, second) == ("SemiSupervisedClassifier", "Poisson learning")
    # TransductiveSVC ran on one of two cells: it has no part in the ranks of the others.
    assert last == "TransductiveSVC"
    rank = {"SemiSupervisedClassifier": 1.5, "RandomForest": 3.0, "Poisson learning": 2.5, "SVC": 3}
    assert {name: found.loc[name, "rank"] for name in rank} == rank
    assert found.loc["TransductiveSVC", "rank"] == 2 and not found.loc["TransductiveSVC", "main"]
    wins = ["SemiSupervisedClassifier", "Poisson learning", "TransductiveSVC"]
    assert found.loc[wins, "wins"].tolist() == [1, 1, 0]
    assert found.loc["Poisson learning", "failed"] == 1
    assert found.loc["SemiSupervisedClassifier", "accuracy"] == 87.5
    assert np.isnan(found.loc["Poisson learning", "accuracy"])
    # The best of labels alone had 70 and 90.
    assert found.loc["SemiSupervisedClassifier", "gain"] == 7.5
    assert found.loc["SVC", "worst"] == "-10.0 (g50c 4)"
    shown = tables.board(report.frame(lines_of(values)))
    assert "| SemiSupervisedClassifier | this library" in shown
    assert "over the limit" in tables.across(report.frame(lines_of(values)))


def test_methods_of_others_carry_the_name_of_their_run():
    lines = [*lines_of({"moons": {"svc": 70, "ours": 80}}), LINE]
    assert set(report.frame(lines)["method"]) == {
        *("SVC", "SemiSupervisedClassifier", "theirs (them)"),
    }


def test_means_are_over_the_splits_that_all_have():
    lines = [
        line | {"split": split, "accuracy": str(float(line["accuracy"]) + 10 * int(split))}
        for split in "012"
        for line in lines_of({"moons": {"svc": 50, "ours": 60}})
        if not (split == "2" and line["method"] == "ours")
    ]
    found = report.frame(lines).set_index("method")
    assert found["accuracy"].to_dict() == {"SVC": 55, "SemiSupervisedClassifier": 65}
    assert set(found["splits"]) == {2}


def test_draws_that_lack_a_method_are_not_stored():
    lines = lines_of({"moons": {"svc": 70, "ours": 80}, "g50c": {"svc": 70}, "cora": {"sgc": 1}})
    more = [line | {"split": "1"} for line in lines if line["method"] == "svc"]
    assert report.whole([*lines, *more]) == lines[:2]


def test_versions_are_not_mixed(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "RESULTS", tmp_path / "stored")
    for version, split in (("1", "0"), ("2", "1")):
        line = LINE | {"version": version, "split": split, "run": "own"}
        results.append(tmp_path / "results.csv", line)
    with pytest.raises(SystemExit, match="several versions cannot be stored: theirs"):
        report.write(tmp_path, store=True)
    assert not (tmp_path / "stored").exists()

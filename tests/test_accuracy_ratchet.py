"""The accuracy ratchet: what is red, what is green, and what it says, on made numbers."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
if not BENCHMARKS.is_dir():  # tests of a source distribution
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))
try:
    import accuracy
    from ratchet.cells import CELLS, SHORT
    from ratchet.judging import Result, compare, judge, read, write
    from ratchet.running import measure, scored
finally:
    sys.path.remove(str(BENCHMARKS))


def result(cell="g50c 50", scores=(90.0, 92.0, 94.0, 92.0), metric="accuracy", **other):
    made = Result("development", cell, 550, 50, 500, "GKM", False, metric, 1.0, {})
    return replace(made, scores=dict(enumerate(scores, 2)), **other)


def moved(old, *by):
    """Return the result with its scores moved, by one number or one for every split."""
    steps = by * len(old.scores) if len(by) == 1 else by
    scores = {s: v + d for (s, v), d in zip(old.scores.items(), steps, strict=True)}
    return replace(old, scores=scores)


STORED = [result(f"cell {i}") for i in range(40)]


def changed(which, *by):
    return [moved(each, *by) if i in which else each for i, each in enumerate(STORED)]


def test_the_same_numbers_are_green():
    assert judge(STORED, STORED) == ([], [])


def test_a_cell_that_falls_is_named():
    failures, risen = judge(changed([7], -3.0, -2.0, -3.0, -2.0), STORED)
    assert len(failures) == 1 and risen == []
    assert failures[0].startswith("cell 7: GKM falls by 2.50 points of accuracy")


def test_three_standard_errors_of_the_paired_difference_are_the_limit():
    # Differences of mean d and spread s over four splits: t = 2 d / s.
    pattern = np.array([-1.0, 1.0, -1.0, 1.0]) * np.sqrt(3 / 4)  # of standard deviation 1
    for t, red in ((2.9, 0), (3.1, 1)):
        failures, _ = judge(changed([3], *(-5.0 * t + 10.0 * pattern)), STORED)
        assert len([line for line in failures if line.startswith("cell 3")]) == red


def test_pairs_of_splits_are_compared_and_not_means():
    # Splits differ by 40 points; the paired difference is the same in each of them.
    wide = [result("wide", (50.0, 70.0, 90.0, 60.0))]
    failures, _ = judge([moved(wide[0], -2.0)], wide)
    assert any(line.startswith("wide: GKM falls by 2.00") for line in failures)


def test_one_split_in_which_another_candidate_won_is_noise():
    assert judge(changed([3], 0.0, -3.0, 0.0, 0.0), STORED)[0] == []


def test_a_cell_may_lose_nine_rows():
    # Four splits of 500 rows: a row is 0.05 points of the mean.
    for rows, red in ((8, 0), (10, 1)):
        fallen = -100.0 * rows / 2000
        assert len(judge(changed([3], fallen), STORED)[0]) == red


def test_all_cells_together_fall_by_a_little():
    failures, _ = judge(changed(range(40), -0.3), STORED)
    assert len(failures) == 1
    assert failures[0].startswith("all cells: GKM falls by 0.30 points of accuracy")
    assert judge(changed(range(40), -0.19), STORED) == ([], [])


def test_a_mean_over_fewer_fits_may_fall_further():
    left_out = {each.cell for each in STORED[10:]}
    few = changed(range(10), -0.39)[:10]
    assert judge(few, STORED, left_out)[0] == []  # 0.2 * sqrt(40 / 10)
    assert len(judge(changed(range(10), -0.41)[:10], STORED, left_out)[0]) == 1


def test_a_larger_brier_score_is_a_fall():
    old = [result(metric="Brier", scores=(20.0, 21.0, 22.0, 20.0))]
    failures, risen = judge([moved(old[0], 3.0, 2.0, 3.0, 2.0)], old)
    assert "g50c 50: GKM falls by 2.50 points of Brier" in " ".join(failures)
    failures, risen = judge([moved(old[0], -3.0, -2.0, -3.0, -2.0)], old)
    assert failures == [] and "rises by 2.50 points of Brier" in risen[0]


def test_a_score_that_is_no_number_is_red():
    failures, _ = judge(changed([2], float("nan")), STORED)
    assert any(line.startswith("cell 2") for line in failures)


def test_a_stored_cell_that_was_not_measured_is_named():
    failures, _ = judge(STORED[1:], STORED)
    assert failures == [
        "cell 0: GKM: in the file, but not measured. If this is as it should be, "
        "run `make accuracy ARGS=--update`"
    ]
    assert judge(STORED[1:], STORED, left_out={"cell 0"}) == ([], [])


def test_a_new_cell_asks_for_an_update():
    failures, _ = judge([*STORED, result("new")], STORED)
    assert failures == [
        "new: GKM: not in the file. If it is new, run `make accuracy ARGS=--update`"
    ]
    elsewhere = replace(STORED[0], scores={9: 90.0})  # no split in common
    assert compare(elsewhere, STORED[0]) is None
    assert "not in the file" in judge([elsewhere, *STORED[1:]], STORED)[0][0]


def test_rivals_are_not_judged():
    rival = result("cell 0", rival=True, estimator="forest")
    assert judge([*STORED, moved(rival, -30.0)], [*STORED, rival]) == ([], [])
    assert judge(STORED, [*STORED, rival]) == ([], [])


def test_the_file_keeps_what_is_judged(tmp_path):
    rival = result("cell, with a comma", rival=True, metric="R^2", scores=(12.5, -3.25))
    write(tmp_path / "a.csv", [*STORED, rival])
    assert read(tmp_path / "a.csv") == [*STORED, rival]
    assert read(tmp_path / "none.csv") == []
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[1].endswith("accuracy,4,92.00,0.82,1.00,2:90.000 3:92.000 4:94.000 5:92.000")


def test_the_stored_file_has_the_cells_of_the_list():
    stored = read(accuracy.FILE)
    assert [name for name in CELLS if name not in {each.cell for each in stored}] == []
    assert {each.cell for each in stored} <= CELLS.keys()
    assert CELLS.keys() >= SHORT
    for each in stored:
        assert tuple(each.scores) == CELLS[each.cell].splits
        assert (each.metric == "R^2") == (not CELLS[each.cell].classes)
    sizes = [each.rows for each in stored]
    assert min(sizes) <= 100 and max(sizes) == 5000


def test_without_the_data_folder_a_cell_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHKM_DATA", str(tmp_path))
    reason = measure("svmguide2 40 of 150", (0,), rivals=False)
    assert "svmguide2.libsvm.bz2 is not in the data folder; set GRAPHKM_DATA" in reason


MADE = (
    "moons 4",
    "iris 12 of 150",
    "wine 15 of 150",
    "diabetes 40 of 100",
    "swiss roll 50 of 1000",
)


@pytest.mark.parametrize("name", MADE)
def test_the_draws_of_made_cells(name, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHKM_DATA", str(tmp_path))  # they need no data
    cell = CELLS[name]
    first, second = cell.draw(cell.splits[0]), cell.draw(cell.splits[1])
    again = cell.draw(cell.splits[0])
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.y, second.y, equal_nan=not cell.classes)
    missing = first.y == -1 if cell.classes else np.isnan(first.y)
    assert missing[first.hidden].all() and len(first.truth) == min(500, missing.sum())
    np.testing.assert_array_equal(first.X_test, first.X[first.hidden])


def made_run(monkeypatch, capsys, measured, stored, *given):
    """Run the command on made numbers; return its exit code, what it prints, and what it writes."""
    written = []
    monkeypatch.setattr(accuracy, "run", lambda plan, **_: iter(measured))
    monkeypatch.setattr(accuracy, "read", lambda file: stored)
    monkeypatch.setattr(accuracy, "write", lambda file, results: written.append(results))
    monkeypatch.setattr(accuracy, "CELLS", dict.fromkeys(e.cell for e in stored))
    monkeypatch.setattr(accuracy, "planned", lambda *_: accuracy.CELLS)
    monkeypatch.setattr("sys.argv", ["accuracy.py", *given])
    return accuracy.main(), capsys.readouterr().out, written


def test_the_command_is_green_red_or_writes(monkeypatch, capsys):
    old = [result("a"), result("b")]
    fallen = moved(old[1], -3.0)
    same = [("a", [old[0]]), ("b", [old[1]])]
    code, said, _ = made_run(monkeypatch, capsys, same, old)
    assert code == 0 and "accuracy: green; 2 cells" in said
    code, said, written = made_run(monkeypatch, capsys, [same[0], ("b", [fallen])], old)
    assert code == 1 and "RED b: GKM falls by 3.00" in said and written == []
    code, said, written = made_run(monkeypatch, capsys, [("b", [fallen]), same[0]], old, "--update")
    assert code == 0 and written == [[old[0], fallen]]


def test_the_command_without_data_is_green_and_writes_nothing(monkeypatch, capsys):
    old = [result("a"), result("b")]
    part = [("a", [old[0]]), ("b", "b.mat is not in the data folder")]
    code, said, _ = made_run(monkeypatch, capsys, part, old)
    assert code == 0 and "not run: b; b.mat is not in the data folder" in said
    code, said, written = made_run(monkeypatch, capsys, part, old, "--update")
    assert code == 1 and "Nothing was written" in said and written == []


def test_scores_are_those_of_the_rows_asked_for():
    class Model:
        classes_ = np.array([0, 1])

        def __init__(self, share):
            self.share = share

        def predict(self, X):
            return (X[:, 0] > 0).astype(int)

        def predict_proba(self, X):
            sure = np.where(self.predict(X) == 1, self.share, 1 - self.share)
            return np.column_stack([1 - sure, sure])

    draw = CELLS["iris 12 of 150"].draw(0)
    rows, truth = np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([1, 0, 0, 2])
    draw = replace(draw, X_test=rows, truth=truth, hidden=None)
    found = scored(Model(0.8), draw, classes=True)
    assert found["accuracy"] == 50.0
    # Right: 2 * 0.2^2. Wrong: 2 * 0.8^2. Of a class that is not known: 0.8^2 + 0.2^2 + 1.
    assert found["Brier"] == pytest.approx(100 * (2 * 0.08 + 1.28 + 1.68) / 4)
    assert scored(Model(1.0), replace(draw, truth=truth * 1.0), classes=False)["R^2"] < 0

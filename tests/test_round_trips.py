"""The script of round trips: nothing is lost, and what is lost would be seen."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
if not BENCHMARKS.is_dir():  # tests of a source distribution
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))
try:
    import round_trips
finally:
    sys.path.remove(str(BENCHMARKS))

WHOLE = ("csv", "jsonl", "label-studio", "prodigy")


def test_nothing_is_lost_without_a_note():
    found = {each["format"]: each for each in round_trips.lines(60)}
    assert set(found) == set(round_trips.FORMATS)
    for name, each in found.items():
        assert each["lost"] == 0
        assert each["cells kept"] == each["cells"] > 0
        for part in (*round_trips.PARTS, *round_trips.ODD):
            assert each[part] > 0
            if name in WHOLE:
                assert each[f"{part} kept"] == each[part] and each["named"] == 0
    assert found["argilla"]["named"] > 0


@pytest.mark.parametrize("what", ["a cell", "an id", "an answer", "a name", "a prediction"])
def test_what_is_lost_is_seen(monkeypatch, tmp_path, what):
    def forgetful(found, path, format):
        rows = list(found.rows)
        for k, row in enumerate(rows):
            given = [a for a in row.answers if a.status == "given"]
            if not (row.guesses and given and given[0].who):
                continue
            others = tuple(a for a in row.answers if a is not given[0])
            rows[k] = {
                "a cell": replace(row, cells=row.cells | {"text": row.cells["text"] + " "}),
                "an id": replace(row, id="9999999"),
                "an answer": replace(row, answers=others),
                "a name": replace(row, answers=(replace(given[0], who="tim"), *others)),
                "a prediction": replace(row, guesses=()),
            }[what]
            break
        return write(replace(found, rows=rows) if format == "prodigy" else found, path, format)

    write = round_trips.write
    monkeypatch.setattr(round_trips, "write", forgetful)
    assert round_trips.trip("class", "prodigy", 40, tmp_path)["lost"] == 1

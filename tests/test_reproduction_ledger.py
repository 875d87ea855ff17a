"""Results survive interruptions, and are never taken for what they are not."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from reproduction.ledger import Ledger, ResultsError
from reproduction.protocol import Protocol


def test_rows_are_kept_in_order(tmp_path):
    ledger = Ledger(tmp_path / "new" / "folder")
    for k in range(3):
        ledger.append({"key": f"cell {k}", "value": k})
    assert [row["value"] for row in Ledger(ledger.folder).rows()] == [0, 1, 2]


def test_the_last_row_of_a_key_counts(tmp_path):
    ledger = Ledger(tmp_path)
    for status in ("error", "ok"):
        ledger.append({"key": "cell", "status": status})
    assert ledger.rows() == [{"key": "cell", "status": "ok"}]


def test_a_half_written_line_is_ignored_and_replaced(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.append({"key": "a"})
    with ledger.path.open("a") as file:
        file.write('{"key": "b", "accuracy": 0.')
    again = Ledger(tmp_path)
    assert [row["key"] for row in again.rows()] == ["a"]
    again.append({"key": "c"})
    assert [json.loads(line)["key"] for line in again.path.read_text().splitlines()] == ["a", "c"]


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.append({"key": "a"})
    with ledger.path.open("a") as file:
        file.write("nonsense\n")
    ledger.append({"key": "b"})
    with pytest.raises(ResultsError, match="Line 2 of"):
        ledger.rows()


def test_numpy_values_become_plain_ones(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.append({"key": "a", "number": np.float32(0.5), "numbers": np.arange(3)})
    assert ledger.rows() == [{"key": "a", "number": 0.5, "numbers": [0, 1, 2]}]


def test_what_is_no_number_is_refused_and_leaves_the_file_whole(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.append({"key": "a"})
    with pytest.raises(ValueError):
        ledger.append({"key": "b", "accuracy": float("nan")})
    assert [row["key"] for row in ledger.rows()] == ["a"]


def test_a_folder_has_one_protocol(tmp_path):
    ledger = Ledger(tmp_path)
    quick, full = (asdict(Protocol.named(name)) for name in ("quick", "full"))
    ledger.keep_protocol(quick)
    ledger.keep_protocol(quick)
    with pytest.raises(ResultsError, match=r"other settings \(name, runs.*cpu_limit"):
        ledger.keep_protocol(full)
    assert Protocol(**ledger.protocol()).describe() == Protocol.named("quick").describe()


def test_a_folder_without_results_says_so(tmp_path):
    with pytest.raises(ResultsError, match="holds no results"):
        Ledger(tmp_path).protocol()

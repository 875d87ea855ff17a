"""The paper's printed numbers, by our names for its sets and methods.

The tables are those of arXiv 1606.06793 (`paper_tables/SOURCE.md`).
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

# All other printed names are ours in capitals.
_NAMES = {"coil": "coil20", "cod-rna": "cod_rna", "mushroom": "mushrooms", "svm3": "svmguide3",
          "svm": "svm-all-labels"}  # fmt: skip

Key = tuple[str, str, int, str]
"""A set, a method, the per cent of hidden labels, and the measure."""


@cache
def paper_values() -> dict[Key, float]:
    """Return the numbers of Tables 2, 3 and 5.

    Measures are "accuracy" (per cent), "seconds" and "memory_mb". The paper gives one memory for
    both shares of hidden labels.

    Examples
    --------
    >>> paper_values()["covtype", "lapsvm", 90, "accuracy"]
    80.2
    """
    return _losses("table2_losses_80.csv", 80) | _losses("table3_losses_90.csv", 90) | _comparison()


@cache
def unlabeled_values() -> dict[tuple[str, int, str], float]:
    """Return the numbers of Table 4: per set, per cent hidden, and "accuracy" or "f1"."""
    answer = {}
    for row in _rows("table4_unlabeled_fraction.csv"):
        name = _name(row.pop("dataset"))
        for column, value in row.items():
            measure, hidden = column.split("_")
            answer[name, int(hidden), {"acc": "accuracy"}.get(measure, measure)] = float(value)
    return answer


def _losses(file: str, hidden: int) -> dict[Key, float]:
    answer = {}
    for row in _rows(file):
        name = _name(row.pop("dataset"))
        for column, value in row.items():
            measure = "accuracy" if column.startswith("acc") else "seconds"
            _, loss, power = column.rsplit("_", 2)
            answer[name, f"gkm-{loss}-{power}", hidden, measure] = float(value)
    return answer


def _comparison() -> dict[Key, float]:
    answer = {}
    for row in _rows("table5_comparison.csv"):
        name, method = _name(row["dataset"]), _name(row["method"])
        for hidden in (80, 90):
            answer[name, method, hidden, "accuracy"] = float(row[f"acc_{hidden}"])
            answer[name, method, hidden, "seconds"] = float(row[f"time_{hidden}_s"])
            answer[name, method, hidden, "memory_mb"] = float(row["memory_mb"])
    return answer


def _rows(file: str) -> list[dict[str, str]]:
    text = (files(__package__) / "paper_tables" / file).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _name(printed: str) -> str:
    return _NAMES.get(printed.lower(), printed.lower())


def is_hits(value: float, rows: int) -> bool:
    """Return whether a printed percentage can be a whole number of hits among so many rows."""
    return abs(100.0 * round(value / 100.0 * rows) / rows - value) < 0.00501

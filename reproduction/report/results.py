"""From the file of results to CSV files, and the numbers that the report reads from these."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..cells import sizes_of
from ..experiments import GROWING, RIVALS
from ..ledger import Ledger, Row, no_results
from ..methods import METHODS
from ..protocol import Protocol
from ..sets import SETS

_PLACE = ("part", "objective", "dataset", "method", "hidden")
_MEASURES = {"accuracy": 100.0, "f1": 100.0, "cpu_seconds": 1.0, "memory_mb": 1.0, "data_mb": 1.0,
             "n_support": 1.0, "majority": 100.0}  # fmt: skip
_SIZES = ("n_train", "n_labeled", "n_test")
_COSTS = ("dataset", "method", "hidden", "rows", "status", "reason", "cpu_seconds", "memory_mb",
          "accuracy")  # fmt: skip
_CLAIMS = ("dataset", "laplacian_difference", "fit_accuracy", "stream_accuracy")
_CURVE = ("objective", "method", "minimum", "bound", "minimum_certified_to")

REVEALED = ("fifth", "released")
"""The test part and the objective that the paper's numbers reveal."""


class Spread(NamedTuple):
    """The runs of one number."""

    mean: float
    sd: float
    least: float
    most: float
    runs: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return the spread of some values; raise LookupError if there are none."""
        v = np.array(list(values), dtype=float)
        if not len(v):
            raise LookupError("There are no values.")
        sd = float(v.std(ddof=1)) if len(v) > 1 else 0.0
        return cls(float(v.mean()), sd, float(v.min()), float(v.max()), len(v))

    @property
    def error(self) -> float:
        """Two standard errors of the mean."""
        return float(2 * self.sd / np.sqrt(self.runs))


def write_tables(folder: Path) -> None:
    """Write the CSV files of a folder that has a file of results."""
    rows = Ledger(folder).rows()
    if not rows:
        raise no_results(folder)
    good: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["status"] == "ok":
            good[row["kind"]].append(row)
    tables = {
        "cells": _cells(rows),
        "costs": [{name: row.get(name, "") for name in _COSTS}
                  for row in rows if row["kind"] == "growth"],
        "convergence": [line for row in good["convergence"] for line in _curve(row)],
        "graph": [line for row in good["graph"] for line in _edges(row)],
        "sets": [{"dataset": row["dataset"], "rows": row["n_rows"], "columns": row["n_features"],
                  "classes": " ".join(map(str, row["classes"]))} for row in good["size"]],
        "claims": [{name: row[name] for name in _CLAIMS} for row in good["claims"]],
        "machines": _machines(rows),
        "failures": [{"cell": row["key"], "error": row.get("reason", "")}
                     for row in rows if row["status"] == "error"],
    }  # fmt: skip
    for name, lines in tables.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            head = list(lines[0]) if lines else ["empty"]
            writer = csv.DictWriter(file, head, lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


def _cells(rows: list[Row]) -> list[Row]:
    groups: dict[tuple[Any, ...], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        groups[tuple(row[name] for name in _PLACE)][row["kind"]].append(row)
    lines = []
    for place, kinds in groups.items():
        fits = sorted(kinds["fit"], key=lambda row: row["run"])
        if not fits:
            continue
        good, choices = ([row for row in some if row["status"] == "ok"]
                         for some in (fits, kinds["choice"]))  # fmt: skip
        line: Row = dict(zip(_PLACE, place, strict=True))
        line |= {"status": "ok" if good else fits[0]["status"], "runs": len(good)}
        line["reason"] = "" if good else fits[0].get("reason", "")
        for name, factor in _MEASURES.items():
            line |= _columns(name, [row[name] for row in good], factor)
        line |= _columns("best", [row["best_on_test"] for row in choices], 100.0)
        line |= {name: good[0][name] if good else "" for name in _SIZES}
        chosen = Counter(json.dumps(row["parameters"]) for row in good).most_common(1)
        line["parameters"] = chosen[0][0].strip("{}").replace('"', "") if chosen else ""
        lines.append(line)
    return sorted(lines, key=lambda line: [list(SETS).index(line["dataset"]), str(line)])


def _columns(name: str, values: Iterable[Any], factor: float = 1.0) -> Row:
    numbers = [factor * value for value in values if value is not None]
    spread = [float(f"{x:.6g}") for x in Spread.of(numbers)[:4]] if numbers else [""] * 4
    return dict(zip((name, f"{name}_sd", f"{name}_min", f"{name}_max"), spread, strict=True))


def _curve(row: Row) -> list[Row]:
    gaps, hits = np.array(row["gaps"]), 100 * np.array(row["accuracies"])
    steps = np.array(row["steps"])
    late = steps >= steps[-1] / 10  # the last decade
    slopes = np.polyfit(np.log(steps[late]), np.log(gaps[:, late] * steps[late]).T, 1)[0]
    shared = {name: row[name] for name in _CURVE} | {"C_graph": row["parameters"]["C_graph"]}
    shared |= _columns("slope", slopes)  # of log(gap T) in log T
    return [
        shared | {"steps": T, "runs": len(gaps)} | _columns("gap", gap) | _columns("accuracy", hit)
        for T, gap, hit in zip(row["steps"], gaps.T, hits.T, strict=True)
    ]


def _edges(row: Row) -> list[Row]:
    points, classes = row["points"], row["classes"]
    return [
        dict(zip(("ux", "uy", "uz", "vx", "vy", "vz"), points[u] + points[v], strict=True))
        | {"weight": weight, "u_class": classes[u], "v_class": classes[v]}
        for (u, v), weight in zip(row["edges"], row["weights"], strict=True)
    ]


def _machines(rows: list[Row]) -> list[Row]:
    seconds = defaultdict(list)
    for row in rows:
        seconds[json.dumps(row["environment"])].append(row.get("cpu_seconds", 0.0))
    return [{"machine": name, "results": len(taken), "cpu_hours": round(sum(taken) / 3600, 3)}
            for name, taken in seconds.items()]  # fmt: skip


class Results:
    """The CSV files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.protocol = Protocol(**Ledger(folder).protocol())
        self.tables: dict[str, list[Row]] = defaultdict(list)
        self.tables |= {path.stem: read_csv(path) for path in sorted(folder.glob("*.csv"))}
        self._cells = {tuple(row[name] for name in _PLACE): row for row in self.tables["cells"]}
        large = {row["dataset"] for row in self.tables["costs"]}
        for dataset, method, hidden in product(large, RIVALS, (90, 80)):
            place = ("tenth", "", dataset, method, _hidden(method, hidden))
            self._cells.setdefault(place, self._whole_set(dataset, method, hidden))

    def costs(self, dataset: str, method: str, hidden: int = 90) -> list[Row]:
        """Return the costs of a method on more and more rows."""
        place = (dataset, method, _hidden(method, hidden))
        rows = (row for row in self.tables["costs"]
                if (row["dataset"], row["method"], row["hidden"]) == place)  # fmt: skip
        return sorted(rows, key=lambda row: row["rows"])

    def _whole_set(self, dataset: str, method: str, hidden: int) -> Row:
        """Return a rival's cell on a large set, for Table 5: its fit on the most rows."""
        rows, most = self.costs(dataset, method, hidden), sizes_of(dataset)[-1]
        last: Row = rows[-1] if rows else {"status": "ok", "rows": 0}
        if last["status"] == "ok" and last["rows"] == most:
            return last | {"accuracy": 100 * last["accuracy"], "runs": 1}
        if last["status"] == "ok":
            last = {"status": "not reached", "reason": f"{last['rows']:,} of {most:,} rows"}
        return {"status": last["status"], "reason": last["reason"], "runs": 0}

    def get(
        self, dataset: str, method: str, hidden: int, variant: tuple[str, str] = REVEALED
    ) -> Row | None:
        """Return a cell; a rival has no objective, and one that sees all labels has none hidden."""
        part, objective = variant
        objective = objective if method.startswith("gkm-") and method != "gkm-best" else ""
        part = "tenth" if method in RIVALS and dataset in GROWING else part
        return self._cells.get((part, objective, dataset, method, _hidden(method, hidden)))

    def spread(self, *place: Any, measure: str = "accuracy") -> Spread | None:
        """Return the spread of a measure over the runs of a cell that ended."""
        row = self.get(*place) or {}
        mean = row.get(measure, "")
        if mean == "":
            return None
        usual = {"sd": 0.0, "min": mean, "max": mean}
        sd, least, most = (row.get(f"{measure}_{name}", usual[name]) for name in usual)
        return Spread(mean, sd, least, most, row["runs"])


def _hidden(method: str, hidden: int) -> int:
    return 0 if METHODS[method].labels == "all" else hidden


def read_csv(path: Path) -> list[Row]:
    """Return the lines of a CSV file, with numbers where there are numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{k: _value(v) for k, v in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

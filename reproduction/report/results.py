"""The results of a folder, averaged over the runs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ledger import Ledger, Row
from ..methods import METHODS
from ..protocol import Protocol
from ..sets import SETS

# Measures of a fit, and their units in the report.
_MEASURES = {"accuracy": 100.0, "f1": 100.0, "cpu_seconds": 1.0, "memory_mb": 1.0, "data_mb": 1.0}


@dataclass(frozen=True)
class Summary:
    """All runs of one method on one set at one share of hidden labels.

    Accuracies and F1 scores are in per cent. If no run was ok, `status` says how the first one
    ended, and the means are empty.
    """

    status: str
    reason: str
    runs: int
    mean: dict[str, float]
    deviation: dict[str, float]
    best_on_test: float | None


class Results:
    """A folder's rows, and their summaries by set, method and share of hidden labels."""

    def __init__(self, ledger: Ledger) -> None:
        self.rows = ledger.rows()
        self.protocol = Protocol.from_dict(ledger.protocol())
        groups: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
        best: dict[tuple[str, str, int], list[float]] = defaultdict(list)
        for row in self.rows:
            place = (row["dataset"], row["method"], row["hidden"])
            if row["kind"] == "fit":
                groups[place].append(row)
            elif row["kind"] == "choice" and row.get("best_on_test") is not None:
                best[place].append(row["best_on_test"])
        self._summaries = {
            place: _summarise(rows, best.get(place)) for place, rows in groups.items()
        }

    def get(self, dataset: str, method: str, hidden: int) -> Summary | None:
        """Return the summary, or None; a method that sees all labels has none hidden."""
        if METHODS[method].labels == "all":
            hidden = 0
        return self._summaries.get((dataset, method, hidden))

    def of_kind(self, kind: str) -> list[Row]:
        """Return the rows of this kind whose status is ok."""
        return [row for row in self.rows if row["kind"] == kind and row["status"] == "ok"]

    def datasets(self, methods: tuple[str, ...], hidden: tuple[int, ...]) -> list[str]:
        """Return the sets that have any of these fits, small sets first."""
        found = {
            name
            for name, method, share in self._summaries
            if method in methods and (share in hidden or share == 0)
        }
        return [name for name in SETS if name in found]

    @property
    def environments(self) -> list[dict[str, Any]]:
        """The machines and versions of the results, each once."""
        answer: list[dict[str, Any]] = []
        for row in self.rows:
            if row["environment"] not in answer:
                answer.append(row["environment"])
        return answer


def _summarise(rows: list[Row], best: list[float] | None) -> Summary:
    rows = sorted(rows, key=lambda row: row["run"])
    good = [row for row in rows if row["status"] == "ok"]
    if not good:
        return Summary(rows[0]["status"], rows[0].get("reason", ""), 0, {}, {}, None)
    mean, deviation = {}, {}
    for name, factor in _MEASURES.items():
        values = [factor * row[name] for row in good if row.get(name) is not None]
        if values:
            mean[name] = float(np.mean(values))
            deviation[name] = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    limit = 100.0 * float(np.mean(best)) if best else None
    return Summary("ok", "", len(good), mean, deviation, limit)

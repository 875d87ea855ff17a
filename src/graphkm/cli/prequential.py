"""How predictions did on rows that had not been learnt yet."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..machines.labels import missing_mask
from .printing import percent

_WINDOW = 1000  # rows that "the last" means


@dataclass
class Record:
    """Counts of rows, and of predictions that were right (or how far off they were).

    Attributes
    ----------
    task : str
    resumed : int
        Rows that had been learnt before this run.
    """

    task: str
    resumed: int = 0
    n_rows: int = 0
    n_labeled: int = 0
    n_tested: int = 0
    total: float = 0.0
    _last: deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW), repr=False)

    def count(self, y: Any) -> None:
        """Count a chunk's rows."""
        self.n_rows += len(y)
        self.n_labeled += int((~missing_mask(y)).sum())

    def test(self, model: Any, X: Any, y: Any) -> None:
        """Predict the labelled rows of a chunk and compare."""
        labeled = ~missing_mask(y)
        if not labeled.any():
            return
        predicted, truth = model.predict(X[labeled]), y[labeled]
        marks = predicted == truth if self.task == "classify" else np.abs(predicted - truth)
        self.n_tested += len(truth)
        self.total += float(np.sum(marks))
        self._last.extend(np.asarray(marks, dtype=float).tolist())

    @property
    def overall(self) -> float:
        """Accuracy, or mean absolute error, over everything tested; NaN if nothing was."""
        return self.total / self.n_tested if self.n_tested else float("nan")

    @property
    def recent(self) -> float:
        """The same over the last rows tested."""
        return float(np.mean(self._last)) if self._last else float("nan")

    def short(self) -> str:
        """Return it as a progress bar shows it."""
        if not self.n_tested:
            return ""
        return percent(self.recent) if self.task == "classify" else f"error {self.recent:.4g}"

    def lines(self) -> dict[str, str | None]:
        """Return it in words."""
        name = "accuracy" if self.task == "classify" else "mean absolute error"
        if not self.n_tested:
            return {name: "not measured: no labelled row came after the first chunk"}
        show = percent if self.task == "classify" else "{:.6g}".format
        last = min(self.n_tested, _WINDOW)
        return {
            name: f"{show(self.overall)} on {self.n_tested:,} labelled rows, each predicted before "
            f"it was learnt; {show(self.recent)} on the last {last:,}"
        }

    def facts(self) -> dict[str, Any]:
        """Return it for programs."""
        name = "accuracy" if self.task == "classify" else "mean_absolute_error"
        return {
            "tested": self.n_tested,
            f"prequential_{name}": self.overall,
            f"prequential_{name}_recent": self.recent,
        }

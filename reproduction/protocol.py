"""How experiments are run: the paper's protocol, and a quick look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_GRID = tuple(2.0**k for k in range(-5, 6, 2))


@dataclass(frozen=True)
class Protocol:
    """The settings that all cells of a folder of results share; `describe` explains them."""

    name: str  # quick or full
    runs: int  # each holds out other rows and hides other labels
    quick_runs: int  # of the paper's machine and of the SVM of labelled rows, on small sets
    folds: int = 5  # of the cross-validation that chooses parameters
    costs: tuple[float, ...] = _GRID  # values of C
    widths: tuple[float, ...] = _GRID  # values of gamma
    most_rows: int = 40_000  # for the choice of parameters, before a method's divisor
    cpu_limit: float = 360.0  # seconds of one cell
    memory_limit: float = 4e9  # bytes that the training of one cell may take
    growth_cpu: float = 1800.0  # the same limits of the cells that measure costs
    growth_memory: float = 1e11

    @classmethod
    def named(cls, name: str, **changes: Any) -> Protocol:
        """Return the protocol of this name, with changes."""
        usual: dict[str, dict[str, Any]] = {
            "quick": {"runs": 2, "quick_runs": 2, "folds": 3, "costs": _GRID[1::2],
                      "widths": _GRID[::2], "most_rows": 8000, "cpu_limit": 20.0,
                      "growth_cpu": 20.0},
            "full": {"runs": 5, "quick_runs": 20},
        }  # fmt: skip
        return cls(name, **{**usual[name], **changes})

    def limits_of(self, kind: str) -> tuple[float, float]:
        """Return the seconds and bytes that a cell of this kind may take."""
        growth = self.growth_cpu, self.growth_memory
        return growth if kind == "growth" else (self.cpu_limit, self.memory_limit)

    def describe(self) -> str:
        """Describe the protocol in a few sentences."""
        values = (", ".join(f"{value:g}" for value in grid) for grid in (self.costs, self.widths))
        limits = (f"{seconds:g} CPU seconds and {memory / 1e9:g} GB"
                  for seconds, memory in map(self.limits_of, ("fit", "growth")))  # fmt: skip
        return (
            "A tenth or a fifth of the rows is for testing. On sets of up to 5,000 rows GKM and "
            f"the SVM of labelled rows have {self.quick_runs} runs, each with a choice of its own; "
            f"all else has {self.runs} runs with the first run's choice. A choice is "
            f"{self.folds}-fold cross-validation over the labelled training rows with C in "
            f"{{{next(values)}}} and gamma in {{{next(values)}}}, on at most {self.most_rows:,} "
            f"training rows ({self.most_rows // 10:,} for the SVM of all labels and Self-KNN, "
            f"{self.most_rows // 40:,} for LapSVM and CCCP); fits use all rows. The printed J "
            "averages losses and edges, its edges come from the full graph, and its kernel is "
            "K + 1. In the released J, as in the code of the authors, C multiplies the sum of the "
            "losses, edges join labelled to unlabelled rows and there is no intercept. For p = 2 "
            "and 3, C' is the largest value that the theorem allows. A cell may take "
            f"{next(limits)}; one that measures costs on more and more rows may take "
            f"{next(limits)}. A fit of more than a tenth of its time is not repeated."
        )

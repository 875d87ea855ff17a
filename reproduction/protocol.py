"""How experiments are run: the paper's protocol, an economical form of it, and a quick look."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

_GRID = tuple(2.0**k for k in range(-5, 6, 2))


@dataclass(frozen=True)
class Protocol:
    """The settings that all cells of a folder of results share; `describe` explains them."""

    name: str  # quick, economical or full
    runs: int  # each holds out other rows and hides other labels
    folds: int = 5  # of the cross-validation that chooses parameters
    costs: tuple[float, ...] = _GRID  # values of C
    widths: tuple[float, ...] = _GRID  # values of gamma
    most_rows: int | None = None  # for the choice of parameters, before a method's divisor
    choose_once: bool = True  # all runs use the parameters of the first; cheap choices are repeated
    as_printed: bool = False  # the objective of the paper, not that of the authors' code
    cpu_limit: float = 600.0  # seconds of one cell
    memory_limit: float = 4e9  # bytes that the training of one cell may take

    @classmethod
    def named(cls, name: str, **changes: Any) -> Protocol:
        """Return the protocol of this name, with changes.

        Examples
        --------
        >>> Protocol.named("full").runs, Protocol.named("quick", as_printed=True).as_printed
        (5, True)
        """
        usual: dict[str, dict[str, Any]] = {
            "quick": {"runs": 2, "folds": 3, "costs": _GRID[1::2], "widths": _GRID[::2],
                      "most_rows": 8000, "cpu_limit": 20.0},
            "economical": {"runs": 5, "most_rows": 40_000},
            "full": {"runs": 5, "choose_once": False},
        }  # fmt: skip
        return cls(name, **{**usual[name], **changes})

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Protocol:
        """Return the protocol that `as_dict` described."""
        return cls(**values | {name: tuple(values[name]) for name in ("costs", "widths")})

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as JSON holds them."""
        return asdict(self) | {"costs": list(self.costs), "widths": list(self.widths)}

    def describe(self) -> str:
        """Describe the protocol in a few sentences."""
        lines = [
            f"Nine tenths of the rows for training, one tenth for testing, {self.runs} runs; "
            f"parameters by {self.folds}-fold cross-validation over the labelled training rows, C "
            f"in {_values(self.costs)} and gamma in {_values(self.widths)}."
        ]
        if self.most_rows is not None:
            lines.append(
                f"Parameters are chosen on at most {self.most_rows:,} training rows "
                f"({self.most_rows // 10:,} for SVM on all labels and Self-KNN, "
                f"{self.most_rows // 40:,} for LapSVM and CCCP), drawn in the shares of the "
                "classes and of labelled rows; fits use all rows."
            )
        if self.choose_once:
            lines.append(
                "They are chosen on the first run's training rows and kept for the others; on sets "
                "of up to 5,000 rows every run of GKM and of SVM on labelled rows chooses anew."
            )
        lines.append(
            "Losses and edges are averaged, edges are drawn from the full graph and the kernel is "
            "K + 1, as printed."
            if self.as_printed
            else "C multiplies the sum of the losses, edges join labelled to unlabelled rows and "
            "there is no intercept, as in the code that the authors released."
        )
        slow = (
            ""
            if self.name == "full"
            else "; a fit of more than a tenth of that time is not repeated"
        )
        limits = f"{self.cpu_limit:g} CPU seconds and {self.memory_limit / 1e9:g} GB per cell"
        return " ".join([*lines, f"Limits: {limits}{slow}."])


def _values(grid: tuple[float, ...]) -> str:
    return "{" + ", ".join(f"{value:g}" for value in grid) + "}"

"""How experiments are run: the paper's protocol, an economical form of it, and a quick look."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

_GRID = tuple(2.0**k for k in range(-5, 6, 2))


@dataclass(frozen=True)
class Protocol:
    """What is the same for all cells of a folder of results.

    Parameters
    ----------
    name : {"quick", "economical", "full"}
        Which one it is.
    runs : int
        Repetitions, with other rows held out and other labels hidden.
    folds : int
        Folds of the cross-validation over the labelled training rows, which chooses parameters.
    costs, widths : tuple of float
        The grids of C and of gamma.
    most_rows : int or None
        Parameters are chosen on at most so many training rows, drawn in the shares of the classes
        and of labelled rows; None for all. Slower methods take a tenth or a fortieth of them.
    choose_once : bool
        Whether all runs use the parameters of the first run, except where a choice takes seconds.
    as_printed : bool
        True for the paper as printed: losses and edges are averaged, edges are drawn from the full
        graph, the kernel is K + 1. False for the constants, the labelled-unlabelled edges and the
        kernel of its authors' code.
    cpu_limit : float
        CPU seconds of one cell.
    memory_limit : float
        Bytes that the training of one cell may take.
    """

    name: str
    runs: int
    folds: int = 5
    costs: tuple[float, ...] = _GRID
    widths: tuple[float, ...] = _GRID
    most_rows: int | None = None
    choose_once: bool = True
    as_printed: bool = False
    cpu_limit: float = 600.0
    memory_limit: float = 4e9

    @classmethod
    def named(cls, name: str, **changes: Any) -> Protocol:
        """Return one of the three, with changes.

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
        """Return the protocol whose plain values these are."""
        known: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
        }
        return cls(**known)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values, for the file beside the results."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }

    def describe(self) -> str:
        """Say in a few sentences what was done."""
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
        lines.append(
            f"Limits: {self.cpu_limit:g} CPU seconds and {self.memory_limit / 1e9:g} GB per cell"
            + (
                "."
                if self.name == "full"
                else "; a fit of more than a tenth of that time is not repeated."
            )
        )
        return " ".join(lines)


def _values(grid: tuple[float, ...]) -> str:
    return "{" + ", ".join(f"{value:g}" for value in grid) + "}"

"""Several labels or quantities per row: the options for them, and what the columns hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io import DataFileError
from ..io.columns import listed
from .fit_options import TrainingOptions
from .options import LearningFileOptions, Method, Task, UsageError

_MANY = 20  # more different whole numbers in a column are quantities
_SHOWN = 10  # labels in a summary


@dataclass(frozen=True)
class LabelFrame:
    """A table with names of its columns, as far as a fit looks at frames: pandas is not needed."""

    values: NDArray[np.float64]
    columns: list[str]

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""
        return self.values.shape

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def to_numpy(self) -> NDArray[np.float64]:
        """Return the values."""
        return self.values


def check_several(
    files: LearningFileOptions, fit: TrainingOptions, task: Task, method: Method
) -> None:
    """Raise for options that do not go together, before anything is read."""
    if files.labels is not None:
        _check_columns(files)
    several = "--labels" if files.labels is not None else "--separator"
    if files.labels is None and files.separator is None:
        if fit.thresholds is not None:
            raise UsageError("--thresholds is for several labels per row: --labels, --separator.")
        return
    if method is not Method.mixture:
        raise UsageError(
            f"{several}: --method {method.value} learns one label per row; --method mixture learns "
            "several."
        )
    if fit.ordered is not None:
        raise UsageError(f"--ordered is for one class per row, and {several} for several labels.")
    if files.separator is not None:
        if not files.separator:
            raise UsageError("--separator: it is empty; name the sign between names, like ';'.")
        if task is Task.regress:
            raise UsageError("--separator is for names of labels; --labels names quantities.")


def _check_columns(files: LearningFileOptions) -> None:
    if files.label is not None:
        raise UsageError(
            "--label and --labels do not go together: --label names one column, and --labels "
            "several."
        )
    if files.separator is not None:
        raise UsageError(
            "--labels and --separator do not go together: --labels names a column for each label, "
            "and --separator belongs to one column with names of labels, which --label names."
        )
    names = files.label_columns
    if len(names) < 2:
        raise UsageError(
            f"--labels {files.labels}: name two columns or more, as in a,b,c; --label names one."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--labels {files.labels}: {twice} is named twice.")


def decide_several(y: NDArray[np.float64], names: Sequence[str], task: Task, file: str) -> str:
    """Return "classify" for labels and "regress" for quantities: what the columns hold.

    Examples
    --------
    >>> decide_several(np.array([[0.0, 1.0], [1.0, np.nan]]), ["a", "b"], Task.auto, "a.csv")
    'classify'
    >>> decide_several(np.array([[0.5, 1.0], [1.0, np.nan]]), ["a", "b"], Task.auto, "a.csv")
    'regress'
    """
    if task is Task.regress:
        return "regress"
    other = ~np.isnan(y) & (y != 0) & (y != 1)
    if not other.any():
        return "classify"
    fractions = bool((y[other] % 1 != 0).any())
    many = any(len(np.unique(column[~np.isnan(column)])) > _MANY for column in y.T)
    if task is Task.auto and (fractions or many):
        return "regress"
    row, place = np.argwhere(other)[0]
    raise UsageError(
        f"{file}: the column {names[place]!r} holds {y[row, place]:g}, and labels are 0 or 1, yes "
        "or no, true or false. If the columns are quantities, pass --task regress."
    )


def check_table(y: NDArray[np.float64], names: Sequence[str], file: str) -> None:
    """Raise if a label or a quantity is not known for any row."""
    empty = [name for name, column in zip(names, y.T, strict=True) if np.isnan(column).all()]
    if len(empty) == len(names):
        raise DataFileError(
            f"{file}: none of its {len(y):,} rows has a label. Fill some in, or name other columns."
        )
    if empty:
        raise DataFileError(
            f"{file}: no row has a value for {listed(empty)}; fill some in, or leave it out of "
            "--labels."
        )
    if len(names) < 2:
        raise DataFileError(
            f"{file}: its only label is {names[0]!r}; two labels are needed. Are --label and "
            "--separator right?"
        )


def table_doubts(y: NDArray[np.float64], names: Sequence[str]) -> list[str]:
    """Return what the user should look at: labels that every row has, or none."""
    said = []
    for name, column in zip(names, y.T, strict=True):
        known = column[~np.isnan(column)]
        if len(np.unique(known)) == 1:
            who = "all of the" if known[0] else "none of the"
            said.append(f"{who} {len(known):,} rows that know the label {name} have it.")
    return said


def counted_labels(y: NDArray[np.float64], names: Sequence[str]) -> str:
    """Return how many rows have each label, of those that know it.

    Examples
    --------
    >>> counted_labels(np.array([[0.0, 1.0], [1.0, np.nan]]), ["a", "b"])
    '2: a (1 of 2), b (1 of 1)'
    """
    known, have = (~np.isnan(y)).sum(axis=0), (y == 1).sum(axis=0)
    told = [f"{name} ({h:,} of {k:,})" for name, h, k in zip(names, have, known, strict=True)]
    return f"{len(names):,}: {', '.join(told[:_SHOWN])}{', ...' * (len(told) > _SHOWN)}"


def counted_quantities(y: NDArray[np.float64], names: Sequence[str]) -> str:
    """Return how many rows know each quantity, and its range.

    Examples
    --------
    >>> counted_quantities(np.array([[0.5, 1.0], [1.0, np.nan]]), ["a", "b"])
    'a from 0.5 to 1 (2 rows), b from 1 to 1 (1 row)'
    """
    told = []
    for name, column in zip(names, y.T, strict=True):
        known = column[~np.isnan(column)]
        rows = f"{len(known):,} row{'s' * (len(known) != 1)}"
        told.append(f"{name} from {known.min():.6g} to {known.max():.6g} ({rows})")
    return f"{', '.join(told[:_SHOWN])}{', ...' * (len(told) > _SHOWN)}"


def facts_of(y: NDArray[np.float64], names: Sequence[str], task: str) -> dict[str, Any]:
    """Return how many rows know each label or quantity, and have it, for programs."""
    facts: dict[str, Any] = {"known": dict(zip(names, (~np.isnan(y)).sum(axis=0), strict=True))}
    if task == "classify":
        facts["having"] = dict(zip(names, (y == 1).sum(axis=0), strict=True))
    return facts

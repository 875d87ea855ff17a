"""Columns that say how sure predictions are: sets of classes, or intervals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..exchange.storable import MIXED
from ..inspection.limits import class_limits, interval_limits
from ..tables.several_labels import NONE, joined_names
from .learning_rows import label_text
from .model_files import FileNote, last_step
from .options import UsageError

BETWEEN = ";"
"""What stands between the classes of a set."""


class Further(NamedTuple):
    """Columns of the output, after those of predictions."""

    names: list[str]
    rows: Callable[[Callable[[str], Any]], list[list[Any]]]
    """Takes a function that asks the model by the name of a method, and returns their cells."""


def ranges_of(model: Any, note: FileNote, coverage: float, path: Path) -> Further:
    """Return the column of sets of classes, or the columns of intervals.

    Parameters
    ----------
    model : estimator or Pipeline
        The model.
    note : FileNote
        Its note.
    coverage : float
        Which share of rows is to have the truth inside.
    path : Path
        The file of the model, for messages.
    """
    last = last_step(model)
    if not isinstance(last, MIXED):
        raise UsageError(
            f"--sets: {path} holds a {type(last).__name__}, which holds no labels out. Train with "
            "--method mixture, or leave --sets out."
        )
    if not 0.0 < coverage < 1.0:
        raise UsageError(f"--sets {coverage:g}: it is a share of rows between 0 and 1, like 0.9.")
    if note.task == "regress":
        return _intervals(last, note, coverage)
    if note.several:
        raise UsageError("--sets is for one class per row, and rows of the model have several.")
    return _sets(last, coverage)


def _sets(model: Any, coverage: float) -> Further:
    words = [label_text(label) for label in model.classes_]
    odd = next((word for word in words if BETWEEN in word or word == NONE), None)
    if odd is not None:
        raise UsageError(
            f"--sets: classes of a set have {BETWEEN} between them, and {NONE} is an empty set, so "
            f"the class {odd!r} could not be told from others. Train with other names."
        )
    limits = class_limits(model, coverage)

    def rows(ask: Callable[[str], Any]) -> list[list[Any]]:
        inside = 1.0 - ask("predict_proba") <= limits
        return [
            [joined_names((w for w, own in zip(words, row, strict=True) if own), BETWEEN)]
            for row in inside
        ]

    return Further(["set"], rows)


def _intervals(model: Any, note: FileNote, coverage: float) -> Further:
    limits = interval_limits(model, coverage)
    names = [f"{end}_{name}" for name in note.targets for end in ("low", "high")]

    def rows(ask: Callable[[str], Any]) -> list[list[Any]]:
        said = ask("predict")
        said = said.reshape(len(said), -1)
        ends = np.stack([said - limits, said + limits], axis=-1)
        return [row.ravel().tolist() for row in ends]

    return Further(names or ["low", "high"], rows)

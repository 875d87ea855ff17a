"""Columns that say how sure predictions are: sets of classes, intervals, and novelty."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..exchange.storable import MIXED
from ..inspection import novelty as novelty_of
from ..inspection.limits import class_limits, interval_limits
from ..tables.several_labels import NONE, joined_names
from .learning_rows import label_text
from .model_files import FileNote, last_step
from .options import UsageError

BETWEEN = ";"
"""What stands between the classes of a set."""


Ask = Callable[[str], Any]


class Further(NamedTuple):
    """Columns of the output, after those of predictions."""

    names: list[str]
    rows: Callable[[Any, Ask], list[list[Any]]]
    """Takes rows, and a function that asks the model of them by the name of a method, and returns
    the cells."""


def further_columns(
    model: Any, note: FileNote, coverage: float | None, novelty: bool, path: Path
) -> list[Further]:
    """Return the columns that are asked for.

    Parameters
    ----------
    model : estimator or Pipeline
        The model.
    note : FileNote
        Its note.
    coverage : float or None
        Which share of rows is to have the truth in its set or interval; None for no sets.
    novelty : bool
        Whether there is a column of novelty.
    path : Path
        The file of the model, for messages.
    """
    last, flag = last_step(model), "--sets" if coverage is not None else "--novelty"
    if not isinstance(last, MIXED):
        raise UsageError(
            f"{flag}: {path} holds a {type(last).__name__}, which holds no labels out. Train with "
            f"--method mixture, or leave {flag} out."
        )
    found = [] if coverage is None else [_ranges(last, note, coverage)]
    if novelty:
        if note.several or note.task == "regress":
            raise UsageError("--novelty is for one class per row, and the model has no classes.")
        found.append(_novelty(model))
    return found


def _ranges(model: Any, note: FileNote, coverage: float) -> Further:
    if not 0.0 < coverage < 1.0:
        raise UsageError(f"--sets {coverage:g}: it is a share of rows between 0 and 1, like 0.9.")
    if note.task == "regress":
        return _intervals(model, note, coverage)
    if note.several:
        raise UsageError("--sets is for one class per row, and rows of the model have several.")
    return _sets(model, coverage)


def _novelty(model: Any) -> Further:
    last = last_step(model)

    def rows(X: Any, _: Ask) -> list[list[Any]]:
        prepared = X if last is model else model[:-1].transform(X)
        try:
            return [[value] for value in novelty_of(last, prepared).tolist()]
        except ValueError as error:  # what follows "Pass them" is for people who write Python
            raise UsageError(f"--novelty: {str(error).partition(' Pass them')[0]}") from None

    return Further(["novelty"], rows)


def _sets(model: Any, coverage: float) -> Further:
    words = [label_text(label) for label in model.classes_]
    odd = next((word for word in words if BETWEEN in word or word == NONE), None)
    if odd is not None:
        raise UsageError(
            f"--sets: classes of a set have {BETWEEN} between them, and {NONE} is an empty set, so "
            f"the class {odd!r} could not be told from others. Train with other names."
        )
    limits = class_limits(model, coverage)

    def rows(_: Any, ask: Ask) -> list[list[Any]]:
        inside = 1.0 - ask("predict_proba") <= limits
        return [
            [joined_names((w for w, own in zip(words, row, strict=True) if own), BETWEEN)]
            for row in inside
        ]

    return Further(["set"], rows)


def _intervals(model: Any, note: FileNote, coverage: float) -> Further:
    limits = interval_limits(model, coverage)
    names = [f"{end}_{name}" for name in note.targets for end in ("low", "high")]

    def rows(_: Any, ask: Ask) -> list[list[Any]]:
        said = ask("predict")
        said = said.reshape(len(said), -1)
        ends = np.stack([said - limits, said + limits], axis=-1)
        return [row.ravel().tolist() for row in ends]

    return Further(names or ["low", "high"], rows)

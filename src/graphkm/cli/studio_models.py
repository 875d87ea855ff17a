"""Models of a Label Studio project: fitted, written and asked as `train` and `predict` do."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..formats import Annotations, Guess, Row
from ..formats.csv_text import write_csv
from ..formats.label_config import Control
from ..formats.tables import to_lines
from ..formats.values import SEPARATOR
from ..studio.models import Work

_TEXTS = ("text", "hypertext", "paragraphs")


def fit(rows: Annotations, control: Control, path: Path) -> None:
    """Write a model of rows, some of them with answers."""
    from .estimators import make_estimator
    from .fit_options import FitOptions
    from .learning_rows import read_rows
    from .model_files import write_model
    from .opening import Source
    from .options import Format, LearningFileOptions, Scale, Task
    from .preparing import fit_prepared
    from .views import encoders_of

    text = write_csv(to_lines(rows, by_row=True)).encode()
    options = LearningFileOptions(
        format=Format.csv,
        label=rows.question,
        header=True,
        delimiter=",",
        encoding="utf-8",
        text=control.columns[0] if control.shows in _TEXTS and control.columns else None,
        separator=SEPARATOR if control.kind == "several" else None,
    )
    task = Task.regress if control.kind == "quantity" else Task.classify
    learnt = read_rows(Source("tasks.csv", io.BytesIO(text)), options, task)
    estimator = make_estimator("mixture", learnt.note.task, FitOptions())
    fitted, chosen = fit_prepared(estimator, Scale.auto, learnt)
    encoders = encoders_of(fitted, learnt.names)
    note = replace(learnt.note, scale=chosen, method="mixture", encoders=encoders)
    write_model(fitted, path, note)


def load(path: Path) -> Any:
    """Return a model and its note."""
    from .model_files import read_model

    return read_model(path)


def ask(model: Any, rows: Sequence[Row], version: str) -> list[Guess]:
    """Return what a model says of rows."""
    from .guesses import guesses_of

    fitted, note = model
    return guesses_of(fitted, note, rows, version)


WORK = Work(fit, load, ask)

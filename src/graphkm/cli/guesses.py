"""What a model says of rows that come from another tool."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..formats import Annotations, Guess, Row
from ..formats.csv_text import write_csv
from ..formats.tables import to_lines
from .model_files import FileNote, read_model
from .options import FileOptions, UsageError


def with_guesses(found: Annotations, model: Path) -> Annotations:
    """Return rows with one more guess each: that of the model in a file."""
    fitted, note = read_model(model)
    version = f"{model.name} {hashlib.sha256(model.read_bytes()).hexdigest()[:8]}"
    guesses = guesses_of(fitted, note, found.rows, version)
    rows = [
        replace(row, guesses=(*row.guesses, guess))
        for row, guess in zip(found.rows, guesses, strict=True)
    ]
    kind = "quantity" if note.task == "regress" else "several" if note.several else found.kind
    return replace(found, rows=rows, kind=kind)


def guesses_of(fitted: Any, note: FileNote, rows: Sequence[Row], version: str) -> list[Guess]:
    """Return what a model says of rows.

    The score is the probability of the class. Of several labels it is that of the label of which
    the model is least sure. Quantities have none.
    """
    from .learning_rows import label_text
    from .row_files import open_known, read_whole

    if note.several and note.task == "regress":
        raise UsageError("--model: it predicts several quantities, and there is one question.")
    plain = Annotations([replace(row, answers=(), guesses=()) for row in rows], _free_name(rows))
    text = write_csv(to_lines(plain, by_row=True)).encode()
    options = FileOptions(header=True, delimiter=",", encoding="utf-8")
    with open_known("rows.csv", options, note, labels=False, source=io.BytesIO(text)) as table:
        X, _ = read_whole(table)
    answers = fitted.predict(X)
    shares = fitted.predict_proba(X) if hasattr(fitted, "predict_proba") else None
    guesses = []
    for k, answer in enumerate(answers):
        share = None if shares is None else np.asarray(shares[k])
        if note.several:
            value: Any = tuple(name for name, has in zip(note.targets, answer, strict=True) if has)
            score = None if share is None else float(np.maximum(share, 1.0 - share).min())
        elif note.task == "classify":
            value = (label_text(answer),)
            score = None if share is None else float(share.max())
        else:
            value, score = float(answer), None
        guesses.append(Guess(value, score, version))
    return guesses


def _free_name(rows: Sequence[Row]) -> str:
    """Return a name for the empty column of labels that no column of the rows has."""
    taken, name = {name for row in rows for name in row.cells}, "label"
    while name in taken:
        name += "_"
    return name

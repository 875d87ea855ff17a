"""Rows of other tools' JSON as a table, for commands that read rows."""

from __future__ import annotations

import io
from dataclasses import replace

from ..formats import Annotations, Row, read_annotations
from ..formats.csv_text import write_csv
from ..formats.shape import Answer, majority
from ..formats.tables import to_lines
from .output import say

_ENDINGS = (".json", ".jsonl")


def is_json(path: str) -> bool:
    """Return whether a file is JSON by its name, compressed or not.

    Examples
    --------
    >>> is_json("tasks.json"), is_json("db.jsonl.gz"), is_json("rows.csv")
    (True, True, False)
    """
    name = path.lower()
    for packed in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(packed)
    return name.endswith(_ENDINGS)


def table_of(path: str) -> io.BytesIO:
    """Return the rows of a file as CSV, with the answer of most people in the column label."""
    found = read_annotations(path)
    rows = [_decided(row) for row in found.rows]
    split = sum(
        len(_given(row)) > 0 and not one.answers for row, one in zip(found.rows, rows, strict=True)
    )
    if split:
        say(
            f"note: {path}: as many people say one thing of {split:,} rows as another. These rows "
            "count as unlabelled; graphkm.annotators learns whom to believe."
        )
    table = to_lines(Annotations(rows, "label", found.kind), by_row=True)
    return io.BytesIO(write_csv(table).encode())


def _given(row: Row) -> list[Answer]:
    return [answer for answer in row.answers if answer.value is not None]


def _decided(row: Row) -> Row:
    value = majority(row)
    return replace(row, answers=() if value is None else (Answer(value),), guesses=())

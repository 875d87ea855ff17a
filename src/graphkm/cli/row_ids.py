"""What edges call the rows of a file: the cells of the column that --id names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io import DataFileError
from ..io.cells import texts
from ..io.columns import Chooser, Columns, Head
from ..tables.naming import find_column
from .column_choice import KnownColumns, TrainingColumns
from .model_files import FileNote
from .opening import Source, reading
from .options import LearningFileOptions, TrainingFileOptions, UsageError

_LONGEST = 15  # digits of whole numbers that are exact as floats, too


@dataclass(frozen=True)
class _OneColumn:
    """Chooses one column, as text."""

    name: str
    like: Chooser  # of all columns: it tells whether the first line holds names

    def likely_label(self, width: int) -> str | int | None:
        return self.like.likely_label(width)

    def choose(self, head: Head) -> Columns:
        return Columns(head, (), None, (find_column(head, self.name, "--id"),))


def training_ids(
    source: Source, more: Source | None, options: LearningFileOptions, note: FileNote
) -> NDArray[Any] | None:
    """Return the ids of all rows to learn from; None without --id: rows then have numbers.

    Parameters
    ----------
    source, more
        The file of rows, and the file of more unlabelled rows.
    options
        How they are read.
    note
        What is known of the columns of the first file.
    """
    if options.id is None:
        return None
    drop = options.drop or ()
    labels = options.label_columns
    first = TrainingColumns(options.label, drop, options.id, numbers_only=False, labels=labels)
    found = _cells(source, options, _OneColumn(options.id, first))
    if more is not None:
        named = replace(options, header=True) if note.columns is not None else options
        like = KnownColumns(note, None, drop, labels=False)
        found += _cells(more, named, _OneColumn(options.id, like))
    return as_ids(found)


def _cells(source: Source, options: TrainingFileOptions, column: _OneColumn) -> list[str]:
    with source.open(options) as opened:
        if opened.format == "libsvm":
            raise UsageError(
                f"--id {column.name}: {opened.name} is a LIBSVM file, which has no such column. "
                "Leave --id out; edges then have the numbers of rows from 0."
            )
        columns, pieces = opened.cells(column, **reading(options))
        found = [cell for piece in pieces for cell in texts(piece.columns[columns.kept[0]])]
    check_ids(found, opened.name, column.name)
    return found


def check_ids(found: Sequence[str], file: str, column: str) -> None:
    """Raise if a row has no id, or the id of another row."""
    places: dict[str, int] = {}
    for place, cell in enumerate(found, 1):
        if not cell:
            raise DataFileError(
                f"{file}: row {place:,} has no id in the column {column!r}, by which rows are "
                "found. Fill it in."
            )
        before = places.setdefault(cell, place)
        if before != place:
            raise DataFileError(
                f"{file}: the rows {before:,} and {place:,} have the id {cell!r} in the column "
                f"{column!r}, by which rows are found. Ids must differ; is --id right?"
            )


def as_ids(found: Sequence[str]) -> NDArray[Any]:
    """Return ids as the library takes them: whole numbers if all of them are, else texts.

    Examples
    --------
    >>> as_ids(["7", "12"])
    array([ 7, 12])
    >>> as_ids(["007", "12"]).tolist()
    ['007', '12']
    """
    return np.array(found).astype(np.int64) if all_whole(found) else np.array(found, dtype=str)


def all_whole(found: Iterable[str]) -> bool:
    """Return whether all texts are whole numbers, and short enough to be exact as floats."""
    return all(is_whole(text) and len(text) <= _LONGEST for text in found)


def is_whole(text: str) -> bool:
    """Return whether a text is a whole number as files have it: 1, and not 01 or 1.0."""
    return text.removeprefix("-").isdecimal() and str(int(text)) == text

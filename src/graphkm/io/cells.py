"""Tables as they are: every cell as text, or as Parquet has it.

The compiled parser reads numbers alone. This reader is slower and takes any table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bad_rows import BadRows
from .columns import Chooser, Columns
from .csv import csv_head, fields
from .parquet import TypedColumn, open_parquet, parquet_columns, typed
from .records import n_folds, rows_of_block, unfolded
from .text import Lines

Column = list[str] | TypedColumn


@dataclass(frozen=True)
class Cells:
    """Some rows of a table, column by column."""

    columns: dict[int, Column]  # by position in the file
    places: list[int]  # the line or row number of every row, for messages

    def chosen(self, rows: NDArray[np.bool_]) -> Cells:
        """Return some of the rows."""
        if rows.all():
            return self
        kept = np.flatnonzero(rows).tolist()
        columns = {
            k: [column[i] for i in kept] if isinstance(column, list) else column.chosen(rows)
            for k, column in self.columns.items()
        }
        return Cells(columns, [self.places[i] for i in kept])


def csv_cells(
    lines: Lines, chooser: Chooser, *, unlabeled: Any, header: bool | str, delimiter: str | None
) -> tuple[Columns, Iterator[Cells]]:
    """Return the columns of a CSV file, and its cells in pieces; see `csv_table`."""
    columns, delimiter, rest = csv_head(lines, chooser, unlabeled, header, delimiter)
    return columns, _csv_pieces(rest, columns, delimiter)


def _csv_pieces(lines: Lines, columns: Columns, delimiter: str) -> Iterator[Cells]:
    width, read, line = columns.head.width, columns.read, lines.n_before
    for block in lines.blocks:
        rows, places = [], []
        for text in rows_of_block(block):
            place, folds = line + 1, n_folds(text)
            line += 1 + folds
            if not text.strip():
                continue
            found = fields(text.rstrip("\r"), delimiter)
            complaint = _complaint(found, text, width)
            if complaint:
                lines.bad_rows.add(place, complaint)
                continue
            rows.append(list(map(unfolded, found)) if folds else found)
            places.append(place)
        if rows:
            across = list(zip(*rows, strict=True))
            yield Cells({k: list(across[k]) for k in read}, places)


def _complaint(found: list[str], text: str, width: int) -> str | None:
    if '"' in text and any(field.startswith('"') for field in found) and text.count('"') % 2:
        return f"the quotes of {text[:40]!r} are not closed"
    if len(found) != width:
        return f"there are {len(found)} fields where {width} are expected: {text[:40]!r}"
    return None


def parquet_cells(
    source: Any, bad_rows: BadRows, chooser: Chooser
) -> tuple[Columns, Iterator[Cells]]:
    """Return the columns of a Parquet file, and its cells in pieces."""
    file, head = open_parquet(source, bad_rows.name)
    columns = chooser.choose(head)
    return columns, _parquet_pieces(file, columns, bad_rows)


def _parquet_pieces(file: Any, columns: Columns, bad_rows: BadRows) -> Iterator[Cells]:
    first_row = 0
    for arrays, n_rows in parquet_columns(file, columns, bad_rows.name):
        places = list(range(first_row, first_row + n_rows))
        yield Cells({k: _column(values) for k, values in arrays.items()}, places)
        first_row += n_rows


def _column(values: Any) -> Column:
    """Return a column of Parquet: numbers, dates and truth values as such, all else as text."""
    column = typed(values)
    if column is not None:
        return column
    return ["" if value is None else str(value) for value in values.to_pylist()]


def texts(column: Column) -> list[str]:
    """Return a column as text; whole numbers have no point."""
    return column if isinstance(column, list) else column.texts()


def joined_cells(pieces: list[Cells]) -> Cells:
    """Join pieces; there must be at least one."""
    columns: dict[int, Column] = {}
    for k, first in pieces[0].columns.items():
        parts: list[Any] = [piece.columns[k] for piece in pieces]
        columns[k] = (
            list(chain.from_iterable(parts)) if isinstance(first, list) else first.joined(parts)
        )
    return Cells(columns, list(chain.from_iterable(piece.places for piece in pieces)))

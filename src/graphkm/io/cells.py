"""Tables as they are: every cell as text, or as the number that Parquet has for it.

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
from .parquet import open_parquet, parquet_columns
from .text import Lines

Column = list[str] | NDArray[np.float64]  # texts, or numbers with NaN where one is missing


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
            k: column[rows] if isinstance(column, np.ndarray) else [column[i] for i in kept]
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
        for text in block.decode("utf-8", "backslashreplace").split("\n")[:-1]:
            line += 1
            if not text.strip():
                continue
            found = fields(text.rstrip("\r"), delimiter)
            complaint = _complaint(found, text, width)
            if complaint:
                lines.bad_rows.add(line, complaint)
                continue
            rows.append(found)
            places.append(line)
        if rows:
            across = list(zip(*rows, strict=True))
            yield Cells({k: list(across[k]) for k in read}, places)


def _complaint(found: list[str], text: str, width: int) -> str | None:
    if '"' in text and any(field.startswith('"') for field in found) and text.count('"') % 2:
        return f"the quotes of {text[:40]!r} are not closed in their line"
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
    """Return a column of Parquet: numbers as such, dates as days since 1970, all else as text."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        micros = values.cast(pa.timestamp("us"), safe=False).cast(pa.int64(), safe=False)
        return micros.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) / 86_400e6
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    if any(test(kind) for test in numeric):
        return values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return ["" if value is None else str(value) for value in values.to_pylist()]


def joined_cells(pieces: list[Cells]) -> Cells:
    """Join pieces; there must be at least one."""
    columns: dict[int, Column] = {}
    for k, first in pieces[0].columns.items():
        parts = [piece.columns[k] for piece in pieces]
        texts = isinstance(first, list)
        columns[k] = list(chain.from_iterable(parts)) if texts else np.concatenate(parts)
    return Cells(columns, list(chain.from_iterable(piece.places for piece in pieces)))

"""Files of rows in any format: opened, identified, read in pieces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .bad_rows import BadRows
from .cells import Cells, csv_cells, parquet_cells
from .columns import Chooser, Columns, Piece
from .csv import csv_table
from .encodings import TextEncoding
from .files import DataFileError, open_source, source_name
from .parquet import parquet_table
from .text import Lines, line_blocks

_LIBSVM_LINE = re.compile(rb"\s*[^\s,;]+(\s+\d+:[^\s,;]+)+\s*(#.*)?")


@dataclass(frozen=True)
class OpenTable:
    """An open file of rows, whose format is known."""

    source: Any  # a path, "-" or a binary file
    format: str  # libsvm, csv or parquet
    lines: Lines  # empty for Parquet

    @property
    def encoding(self) -> str | None:
        """The encoding of CSV, as far as it was read; None for other formats."""
        return self.lines.encoding.taken if self.format == "csv" else None

    @property
    def bad_rows(self) -> BadRows:
        """The bad rows read so far."""
        return self.lines.bad_rows

    @property
    def name(self) -> str:
        """The file's name in messages."""
        return self.bad_rows.name

    @property
    def folder(self) -> Path:
        """Where the file lies; the present folder for a stream."""
        return Path(self.name).parent

    def columns(
        self,
        chooser: Chooser,
        *,
        labels: str = "auto",
        unlabeled: Any = None,
        header: bool | str = "auto",
        delimiter: str | None = None,
    ) -> tuple[Columns, Iterator[Piece]]:
        """Return the columns of a CSV or Parquet file and its rows; see `csv_table`."""
        common = {"labels": labels, "unlabeled": unlabeled}
        if self.format == "parquet":
            return parquet_table(self.source, self.bad_rows, chooser, **common)
        return csv_table(self.lines, chooser, **common, header=header, delimiter=delimiter)

    def cells(
        self, chooser: Chooser, *, unlabeled: Any, header: bool | str, delimiter: str | None
    ) -> tuple[Columns, Iterator[Cells]]:
        """Return the columns of a CSV or Parquet file and its cells, whatever they hold."""
        if self.format == "parquet":
            return parquet_cells(self.source, self.bad_rows, chooser)
        given = {"unlabeled": unlabeled, "header": header, "delimiter": delimiter}
        return csv_cells(self.lines, chooser, **given)


@contextmanager
def open_table(
    source: Any,
    format: str | None = None,
    *,
    name: str | None = None,
    encoding: str | None = None,
    **options: Any,
) -> Iterator[OpenTable]:
    r"""Open a file of rows; a warning at the end reports rows that were left out.

    Another warning says that the encoding is a guess, if the text is not UTF-8.

    Parameters
    ----------
    source : path, "-" or binary file
    format : {"libsvm", "csv", "parquet"}, optional
        Default: the format that the first line looks like.
    name : str, optional
        The file's name in messages. Default: its path.
    encoding : str, optional
        The encoding of a text. Default: the one that its first bytes mark, else UTF-8, else
        Windows-1252.
    **options
        `on_bad_row` and `advice` of `BadRows`.

    Examples
    --------
    >>> import io
    >>> from graphkm.io.columns import AllBesideLabel
    >>> with open_table(io.BytesIO(b"x;z;kind\n1;2;cat\n"), name="pets.csv") as table:
    ...     columns, pieces = table.columns(AllBesideLabel("kind"))
    ...     table.format, columns.names, [(X.tolist(), y.tolist()) for X, y in pieces]
    ('csv', ('x', 'z'), [([[1.0, 2.0]], ['cat'])])
    """
    place = "row" if format == "parquet" else "line"
    bad_rows = BadRows(source_name(source) if name is None else name, place=place, **options)
    text = TextEncoding(encoding)
    if format == "parquet":
        yield OpenTable(source, format, Lines(iter(()), bad_rows))
    else:
        with open_source(source) as opened:
            named = replace(opened, name=bad_rows.name)
            blocks, n_blank = line_blocks(named, encoding=text), 0
            for first in blocks:
                if first.strip():
                    break
                n_blank += first.count(b"\n")
            else:
                raise DataFileError(f"{bad_rows.name} is empty.")
            lines = Lines(chain([first], blocks), bad_rows, n_blank, text)
            yield OpenTable(source, format or format_by_text(first), lines)
    bad_rows.report()
    text.report(bad_rows.name)


def format_by_text(text: bytes) -> str:
    """Return the format of a text that begins so.

    Examples
    --------
    >>> format_by_text(b"+1 3:1 7:0.5"), format_by_text(b"x,label"), format_by_text(b"PAR1...")
    ('libsvm', 'csv', 'parquet')
    """
    if text.startswith(b"PAR1"):
        return "parquet"
    line = text.lstrip(b"\r\n").split(b"\n", 1)[0]
    return "libsvm" if _LIBSVM_LINE.fullmatch(line.rstrip()) else "csv"


def joined(pieces: Iterable[Piece]) -> Piece:
    """Join pieces; there must be at least one.

    Examples
    --------
    >>> joined([(np.ones((1, 2)), np.zeros(1)), (np.ones((2, 2)), np.zeros(2))])[0].shape
    (3, 2)
    """
    Xs, ys = zip(*pieces, strict=True)
    if len(Xs) == 1:
        return Xs[0], ys[0]
    X = sparse.vstack(Xs, format="csr") if sparse.issparse(Xs[0]) else np.concatenate(Xs)
    return X, np.concatenate(ys)

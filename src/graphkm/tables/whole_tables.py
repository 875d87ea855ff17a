"""Whole tables to rows of numbers and words, for the command line and for the labelling page.

The compiled parser reads a table of plain numbers. Any other table is read cell by cell, which is
slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._util.progress import progress_bar
from ..io.bad_rows import BadRows
from ..io.cells import Cells, Column, joined_cells
from ..io.columns import Chooser, Columns, Piece
from ..io.files import DataFileError
from ..io.kinds import EMPTY, NUMBER, WORD, values
from ..io.row_files import OpenTable, joined
from .label_kinds import label_kind
from .labels import labels_of
from .treatments import NO_ENCODED, Treatment, names_columns, rows_of, treat

_GAPS = "Fix it, or pass --missing impute to fill such values in, or --missing drop."


def _no_bar(name: str) -> Any:
    return progress_bar(False)


@dataclass(frozen=True)
class TableFile:
    """A CSV or Parquet file that can be opened again and again."""

    opening: Callable[..., AbstractContextManager[OpenTable]]  # takes options of `BadRows`
    for_numbers: Chooser  # chooses the columns of a table of plain numbers
    for_cells: Chooser  # chooses the columns of any table
    reading: dict[str, Any]  # how the text is read: unlabeled, header, delimiter
    skip_bad_rows: bool = False
    bar: Callable[[str], Any] = _no_bar  # takes the file's name; shows how many rows were read

    def numbers(self, labels: str) -> tuple[OpenTable, Columns, Piece]:
        """Return all rows; raise if a feature is anything but plain numbers."""
        with self.opening() as opened:
            columns, pieces = opened.columns(self.for_numbers, labels=labels, **self.reading)
            if set(columns.features) & set(columns.head.truths):
                raise DataFileError(f"{opened.name}: true and false are no plain numbers.")
            if columns.labels:
                raise DataFileError(f"{opened.name}: the compiled parser reads one label.")
            return opened, columns, whole_rows(opened.name, pieces, self.bar(opened.name))

    def cells(self) -> tuple[OpenTable, Columns, Cells]:
        """Return all cells, whatever they hold."""
        with self.opening(on_bad_row="skip" if self.skip_bad_rows else "error") as opened:
            columns, pieces = opened.cells(self.for_cells, **self.reading)
            found = []
            with self.bar(opened.name) as bar:
                for piece in pieces:
                    found.append(piece)
                    bar.update(len(piece.places))
        if not found:
            raise DataFileError(f"{opened.name} holds no rows.")
        return opened, columns, joined_cells(found)


def whole_rows(name: str, pieces: Iterable[Piece], bar: Any) -> Piece:
    """Return all rows of the file of that name in one piece; raise if there are none.

    Examples
    --------
    >>> pieces = [(np.ones((2, 1)), np.zeros(2)), (np.ones((1, 1)), np.zeros(1))]
    >>> whole_rows("train.csv", pieces, progress_bar(False))[0].shape
    (3, 1)
    """
    found = []
    with bar as shown:
        for X, y in pieces:
            found.append((X, y))
            shown.update(len(y))
    if not found:
        raise DataFileError(f"{name} holds no rows.")
    return joined(found)


@dataclass(frozen=True)
class WholeTable:
    """The rows of a table, and what became of its columns."""

    opened: OpenTable  # it is closed; it tells the name, the format and the encoding
    columns: Columns
    treatment: Treatment
    X: Any  # floats, or objects if some columns are categories
    y: NDArray[Any]  # floats with NaN, of one axis or two, or texts with None


class MoreRows(Protocol):
    """Unlabelled rows of another file, which has the columns of a table."""

    def numbers(self, opened: OpenTable, columns: Columns) -> Any:
        """Return the features of its rows, if the table holds plain numbers."""

    def cells(self, opened: OpenTable, columns: Columns) -> tuple[OpenTable, Columns, Cells]:
        """Return its cells."""


def read_whole_table(
    file: TableFile,
    categorical: str,
    *,
    labels: str = "number",
    missing: str = "impute",
    more: MoreRows | None = None,
    encoded: Mapping[str, str] = NO_ENCODED,
) -> WholeTable:
    r"""Read a whole table, and unlabelled rows of another file.

    Parameters
    ----------
    file : TableFile
        The table.
    categorical : str
        The columns that are categories; see `treat`.
    labels : {"number", "text", "auto"}, default="number"
        What labels are; "auto" lets the first ones tell.
    missing : {"impute", "drop", "error"}, default="impute"
        What becomes of rows with missing values. "impute" keeps them.
    more : MoreRows, optional
        Rows of another file. What a column holds is judged by both files.
    encoded : mapping, default={}
        The columns that encoders read, texts or paths of pictures, and their kinds.

    Examples
    --------
    >>> import io
    >>> from graphkm.io.columns import AllBesideLabel
    >>> from graphkm.io.row_files import open_table
    >>> def opening(**options):
    ...     return open_table(io.BytesIO(b"x;hue;kind\n1;red;cat\n2;blue;dog\n"), **options)
    >>> every = AllBesideLabel("kind")
    >>> reading = {"unlabeled": None, "header": "auto", "delimiter": None}
    >>> found = read_whole_table(TableFile(opening, every, every, reading), "auto", labels="auto")
    >>> found.X.tolist(), found.y.tolist(), found.treatment.kinds
    ([[1.0, 'red'], [2.0, 'blue']], ['cat', 'dog'], ('number', 'word'))
    """
    if not names_columns(categorical) and not encoded:
        try:
            return _by_numbers(file, labels, more)
        except DataFileError:
            pass  # it is not all numbers
    return _by_cells(file, categorical, labels, missing, more, encoded)


def _by_numbers(file: TableFile, labels: str, more: MoreRows | None) -> WholeTable:
    opened, columns, (X, y) = file.numbers(labels)
    y, kind = _numbers_of_labels(y)
    if more is not None:
        X, y = with_unlabeled(X, y, more.numbers(opened, columns))
    return WholeTable(opened, columns, Treatment(label=kind), X, y)


def _numbers_of_labels(y: NDArray[Any]) -> tuple[NDArray[Any], str]:
    """Return labels as floats if they are numbers that are written unusually, and their kind.

    Examples
    --------
    >>> _numbers_of_labels(np.array(["1,5", None], dtype=object))
    (array([1.5, nan]), 'decimal comma')
    """
    kind = label_kind(y.tolist()) if y.dtype == object else NUMBER
    if kind in (NUMBER, WORD, EMPTY):
        return y, NUMBER
    return values(["" if word is None else word for word in y.tolist()], kind)[0], kind


def with_unlabeled(X: Any, y: NDArray[Any], others: Any) -> Piece:
    """Return rows and their labels, followed by other rows, whose labels are missing."""
    missing = np.nan if y.dtype.kind == "f" else None
    none = np.full((others.shape[0], *y.shape[1:]), missing, dtype=y.dtype)
    return joined([(X, y), (others, none)])


def _by_cells(
    file: TableFile,
    categorical: str,
    labels: str,
    missing: str,
    more: MoreRows | None,
    encoded: Mapping[str, str],
) -> WholeTable:
    opened, columns, cells = file.cells()
    judged, features = cells, columns.features
    if more is not None:
        second, found, other = more.cells(opened, columns)
        places = dict(zip(features, found.features, strict=True))
        other = Cells({k: other.columns[j] for k, j in places.items()}, other.places)
        judged = Cells({k: _both(cells.columns[k], other.columns[k]) for k in features}, [])
    columns, treatment = treat(judged, columns, categorical, encoded)
    X, cells = _features(opened, cells, columns, treatment, missing)
    y = labels_of(cells, columns, labels, file.reading["unlabeled"], opened.bad_rows)
    if more is not None:
        X, y = with_unlabeled(X, y, _features(second, other, columns, treatment, missing)[0])
    if columns.labels and {*treatment.kinds} == {NUMBER} and not np.isnan(X).any():
        treatment = replace(treatment, kinds=())  # plain numbers, as the compiled parser has them
    return WholeTable(opened, columns, treatment, X, y)


def _both(one: Column, other: Column) -> Column:
    """Return a column of two files, to judge it. Where one has texts, the texts tell."""
    if isinstance(one, list) and isinstance(other, list):
        return one + other
    if isinstance(one, list) or isinstance(other, list):
        return one if isinstance(one, list) else other
    return other if one.empty else one


def _features(
    opened: OpenTable, cells: Cells, columns: Columns, treatment: Treatment, missing: str
) -> tuple[Any, Cells]:
    """Return the features of a file's rows, and their cells without the rows that are left out."""
    # The file has reported the bad rows that it counted itself.
    bad = replace(opened.bad_rows, count=0, reasons=[])
    gaps = BadRows(opened.name, "skip" if missing == "drop" else "error", bad.place, _GAPS)
    X, cells = rows_of(cells, columns, treatment.kinds, missing, bad, gaps, opened.folder)
    bad.report()
    gaps.report()
    if not len(X):
        raise DataFileError(f"{opened.name}: every row has a missing value.")
    return X, cells

"""Tables to material: their columns are prepared as `graphkm train` prepares them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io import DataFileError
from ..io.columns import Columns, Head
from ..io.csv import csv_head, fields
from ..io.kinds import EMPTY, IMAGE, NUMBER, TEXT, WORD, label_word, number_text, values
from ..io.records import unfolded
from ..io.row_files import open_table
from ..tables.label_kinds import label_kind
from ..tables.naming import check_names, find_column, label_column
from ..tables.treatments import NoFeaturesError
from ..tables.useless_columns import constant_columns
from ..tables.whole_tables import TableFile, read_whole_table
from .encoded_columns import EncodedColumn
from .encoding import Encoding
from .features import Learnt
from .material import Material

Cells = Callable[[int], list[str]]  # of a row, in the order of the file


@dataclass(frozen=True)
class TableReading:
    """How a table is read.

    Parameters
    ----------
    label : str, optional
        The column of labels that are known; None is the one called "label", if there is one.
    images, text : str, optional
        A column of paths of images, relative to the file's folder, or of texts.
    drop : sequence of str, default=()
        Columns that are shown and not learnt from.
    id : str, optional
        The column that identifies rows.
    categorical : str, default="auto"
        The columns that are categories; see `graphkm.tables.treatments.treat`.
    regression : bool, default=False
        Whether labels are quantities.
    unlabeled : str, optional
        The mark of unlabelled rows, besides an empty cell, ?, nan, NA, N/A, null and None.
    header : bool or "auto", default="auto"
        Whether the first line of CSV holds names.
    delimiter : str, optional
        What separates the fields of CSV; None judges by the first lines.
    encoding : str, optional
        The encoding of CSV; None judges by its bytes.
    """

    label: str | None = None
    images: str | None = None
    text: str | None = None
    drop: Sequence[str] = ()
    id: str | None = None
    categorical: str = "auto"
    regression: bool = False
    unlabeled: str | None = None
    header: bool | str = "auto"
    delimiter: str | None = None
    encoding: str | None = None

    @property
    def reading(self) -> dict[str, Any]:
        """How the text of a table is read."""
        return {"unlabeled": self.unlabeled, "header": self.header, "delimiter": self.delimiter}


@dataclass(frozen=True)
class PageColumns:
    """Chooses what is learnt from: all columns but the label and those that are only shown."""

    options: TableReading

    def likely_label(self, width: int) -> str | int | None:
        """Return a column's name if an option has one: the first line holds names then."""
        own = self.options
        given = (own.label, own.text, own.images, own.id, *own.drop)
        return next((name for name in given if name and not name.lstrip("-").isdigit()), None)

    def choose(self, head: Head) -> Columns:
        """Return the columns; the label is not read with them."""
        check_names(head.file, head.names or ())
        label = label_column(head, self.options.label)
        hidden = {label, *head.index, *self.only_shown(head)}
        return Columns(head, tuple(k for k in range(head.width) if k not in hidden), None)

    def only_shown(self, head: Head) -> dict[int, str]:
        """Return the columns that are not learnt from, and why."""
        found = dict.fromkeys(head.index, "an index")
        found |= {find_column(head, name, "--drop"): "--drop" for name in self.options.drop}
        for name, flag, why in (
            (self.options.id, "--id", "it identifies rows"),
            (self.options.text, "--text", "a text"),
            (self.options.images, "--images", "an image"),
        ):
            if name is not None:
                found[find_column(head, name, flag)] = why
        return found

    def encoded(self, head: Head) -> tuple[int, str] | None:
        """Return the column that an encoder reads, and its kind."""
        if self.options.text is not None:
            return find_column(head, self.options.text, "--text"), TEXT
        if self.options.images is not None:
            return find_column(head, self.options.images, "--images"), IMAGE
        return None


def read_table(
    path: Path, format: str | None, options: TableReading, encoding: Encoding
) -> Material:
    """Return the rows of a CSV or Parquet file."""
    chooser = PageColumns(options)
    with open_table(path, format, encoding=options.encoding) as opened:
        columns, _ = opened.cells(chooser, **options.reading)
    head, format = columns.head, opened.format
    names = list(head.names or (str(k + 1) for k in range(head.width)))
    label = label_column(head, options.label)
    cells = _parquet_cells(path) if format == "parquet" else _csv_cells(path, chooser, options)
    others = [k for k in range(head.width) if k != label]

    def shown(row: int) -> list[tuple[str, str]]:
        found = cells(row)
        return [(names[k], found[k]) for k in others]

    def line(row: int) -> list[str]:
        found = cells(row)
        return [found[k] for k in others]

    found = _learnt(path, format, chooser, columns, options)
    if found is None:
        found = Learnt.nothing(_length(path, format, chooser, options))
    n = len(found.X)
    if n < 2:
        raise DataFileError(f"{path}: it has {n} rows; two at least are needed.")
    about: dict[str, Any] = {
        "shown": shown,
        "written": line,
        "header": None if head.names is None else [names[k] for k in others],
        "given": given_labels([cells(row)[label] for row in range(n)], options, path)
        if label is not None
        else np.full(n, None, dtype=object),
        "label": "label" if label is None else names[label],
        "format": format,
    }
    why = {names[k]: reason for k, reason in chooser.only_shown(head).items()}
    wanted = chooser.encoded(head)
    if wanted is None:
        return found.material(why, **about)
    place, kind = wanted
    column = EncodedColumn(path, place, names[place], [cells(row)[place] for row in range(n)])
    about["encoder"] = encoding.model
    make = column.texts if kind == TEXT else column.images
    return make(found, why, about, encoding)


def _learnt(
    path: Path, format: str, chooser: PageColumns, columns: Columns, options: TableReading
) -> Learnt | None:
    """Return the features; None if there are none beside a column of texts or images."""
    try:
        if not columns.features:
            raise NoFeaturesError(f"{path}: it has no column to learn from.")
        opening = partial(open_table, path, format, encoding=options.encoding, advice="Fix it.")
        file = TableFile(opening, chooser, chooser, options.reading)
        found = read_whole_table(file, options.categorical)
    except NoFeaturesError:
        if chooser.encoded(columns.head) is None:
            raise
        return None
    X, treatment = found.X, found.treatment
    places = list(found.columns.features)
    kinds = list(treatment.kinds) or [NUMBER] * X.shape[1]
    names = list(found.columns.names or (str(k + 1) for k in places))
    out = constant_columns(X)
    # A column of texts or images is left to learn from, even if all others go.
    enough = len(out) < X.shape[1] or chooser.encoded(columns.head) is not None
    out = out if found.columns.names is not None and enough else {}
    stay = [k for k in range(X.shape[1]) if k not in out]
    return Learnt(
        X=X[:, stay] if out else X,
        names=[names[k] for k in stay],
        kinds=[kinds[k] for k in stay],
        places=[places[k] for k in stay],
        left_out=treatment.left_out | {names[k]: why for k, why in out.items()},
    )


def _length(path: Path, format: str, chooser: PageColumns, options: TableReading) -> int:
    with open_table(path, format, encoding=options.encoding, advice="Fix it.") as opened:
        _, pieces = opened.cells(chooser, **options.reading)
        return sum(len(piece.places) for piece in pieces)


# -------------------------------------------------------------- what is shown


def _csv_cells(path: Path, chooser: PageColumns, options: TableReading) -> Cells:
    """Return a function that gives the cells of a row. Lines are kept: they take less memory."""
    with open_table(path, "csv", encoding=options.encoding) as opened:
        _, delimiter, rows = csv_head(opened.lines, chooser, **options.reading)
        lines = [line for block in rows.blocks for line in block.split(b"\n") if line.strip()]

    def cells(row: int) -> list[str]:
        line = lines[row].decode("utf-8", "surrogateescape").rstrip("\r")
        return list(map(unfolded, fields(line, delimiter)))

    return cells


def _parquet_cells(path: Path) -> Cells:
    """Return a function that gives the cells of a row."""
    from pyarrow import parquet

    columns = parquet.read_table(path).columns

    def cells(row: int) -> list[str]:
        return [cell_text(column[row].as_py()) for column in columns]

    return cells


def cell_text(value: Any) -> str:
    """Return a value of Parquet as text."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return str(value) if isinstance(value, int) else number_text(value)


def given_labels(words: list[str], options: TableReading, path: Path) -> NDArray[np.object_]:
    """Return labels as texts, None where there is none; quantities with a decimal point."""
    found = [label_word(word.strip(), options.unlabeled) for word in words]
    if options.regression:
        texts = ["" if word is None else word for word in found]
        kind = label_kind(found)
        numbers, wrong = values(texts, NUMBER if kind in (WORD, EMPTY) else kind)
        for row, reason in sorted(wrong.items()):
            said = reason.replace("the value of", "the label")
            raise DataFileError(f"{path}: row {row + 1}: {said}. Fix it, or drop --regression.")
        found = [number_text(value) or None for value in numbers]
    given = np.empty(len(found), dtype=object)
    given[:] = found
    return given

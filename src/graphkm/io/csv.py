"""CSV: columns of numbers, and a label that may be a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._native import parse_csv
from .columns import Chooser, Columns, Head, Piece, mark_unlabeled
from .files import DataFileError
from .kinds import MISSING, is_word
from .records import first_row, folded, n_folds, rows_of_block, unfolded
from .text import Lines

UNNAMED = ("", "Unnamed: 0")  # names of the first column, where pandas has put its index
DELIMITERS = (",", ";", "\t", "|", " ")  # in order of preference
_MISSING, _TEXT = 1, 2  # `LabelKind` in native/csv.hpp
_LABEL, _SKIPPED = -2, -1  # `Place` in native/csv.hpp
SEPARATOR = re.compile(rb'"?sep=(.)"?\s*\n', re.IGNORECASE)
"""Excel's first line."""


def csv_table(
    lines: Lines,
    chooser: Chooser,
    *,
    labels: str,
    unlabeled: Any,
    header: bool | str,
    delimiter: str | None,
) -> tuple[Columns, Iterator[Piece]]:
    """Return the columns of a CSV file, and its rows in pieces.

    The first block must hold a line that is not blank. Without a delimiter, the first usual one in
    the first line is taken. The other options are those of `graphkm.online.read_stream`.
    """
    columns, delimiter, rest = csv_head(lines, chooser, unlabeled, header, delimiter)
    return columns, rest.parse(CsvParser(columns, delimiter, labels, unlabeled))


def csv_head(
    lines: Lines, chooser: Chooser, unlabeled: Any, header: bool | str, delimiter: str | None
) -> tuple[Columns, str, Lines]:
    """Return the columns of a CSV file, its delimiter, and the rows below its names.

    Rows come as UTF-8, each in one line (see `records`).
    """
    name, (delimiter, lines) = lines.bad_rows.name, _in_rows(lines, delimiter)
    text, n_before = next(lines.blocks), lines.n_before
    begin = [*rows_of_block(text)[:2], ""]
    first, second = (list(map(unfolded, fields(row, delimiter))) for row in begin[:2])
    named = bool(header)
    if header == "auto":
        label = chooser.likely_label(len(first))
        named = has_header(first, second, label, unlabeled, name)
    if named:
        text = text[text.index(b"\n") + 1 :]
        n_before += 1 + n_folds(begin[0])
    index = (0,) if named and len(first) > 1 and first[0] in UNNAMED else ()
    names, row = (first, second) if named else (None, first)
    head = Head(name, names, len(first), row, index, delimiter)
    columns = chooser.choose(head)
    return columns, delimiter, replace(lines, blocks=chain([text], lines.blocks), n_before=n_before)


def _in_rows(lines: Lines, delimiter: str | None) -> tuple[str, Lines]:
    """Return the delimiter of a file, and its rows: as UTF-8, each in one line."""
    name, n_before = lines.bad_rows.name, lines.n_before
    blocks = lines.encoding.as_utf8(lines.blocks, lines.bad_rows, n_before)
    block = next(blocks)
    text = block.lstrip(b"\r\n")
    told = SEPARATOR.match(text)
    if told:
        delimiter, text = told[1].decode(), text[told.end() :]
        if delimiter not in DELIMITERS:
            raise DataFileError(
                f"{name}: its first line names {delimiter!r} as the delimiter, which is none of "
                f"{', '.join(map(repr, DELIMITERS))}."
            )
    n_before += block[: len(block) - len(text)].count(b"\n")
    text = text or next(blocks, b"")
    if not text:
        raise DataFileError(f"{name} holds no rows.")
    if delimiter is None:
        delimiter = likely_delimiter([part.decode() for part in text.split(b"\n", 2)[:2]])
    first, text = first_row(text, blocks, delimiter)
    width = len(fields(rows_of_block(first)[0], delimiter))
    rows = folded(chain([text], blocks), delimiter, width)
    return delimiter, replace(lines, blocks=rows, n_before=n_before, folded=True)


def likely_delimiter(begin: list[str]) -> str:
    """Return the delimiter of a table with these first lines.

    Examples
    --------
    >>> likely_delimiter(["x,z", "1,2"]), likely_delimiter(["1,5;2,5;cat", "2,5;3,5;dog"])
    (',', ';')
    """
    parts = [part for line in begin for part in fields(line, ";")]
    if ";" in begin[0] and all("," not in part or not is_word(part) for part in parts):
        return ";"
    return next((sign for sign in DELIMITERS if sign in begin[0]), ",")


def fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of one line, without quotes and surrounding spaces.

    A quote inside a field is text, as in the compiled parser.

    Examples
    --------
    >>> fields('a, "b, ""c"" d" ,6" pipe,', ",")
    ['a', 'b, "c" d', '6" pipe', '']
    """
    if '"' not in line:
        return [field.strip() for field in line.split(delimiter)]
    sign = re.escape(delimiter)
    field = re.compile(rf'[^\S{sign}]*"((?:[^"]|"")*)"[^{sign}]*|[^{sign}]*')
    found, start = [], 0
    while start <= len(line):
        match = field.match(line, start)
        assert match is not None  # it may be empty
        quoted = match[1]
        found.append((match[0] if quoted is None else quoted.replace('""', '"')).strip())
        start = match.end() + 1
    return found


def has_header(
    first: list[str], second: list[str], label: str | int | None, unlabeled: Any, name: str
) -> bool:
    """Return whether the first line holds names: it has words where numbers should be.

    Raises
    ------
    DataFileError
        If it is unclear. A wrong guess would lose a row or invent one.

    Examples
    --------
    >>> has_header(["x0", "x1", "y"], ["1", "2", "cat"], -1, None, "a.csv")
    True
    >>> has_header(["1", "2", "cat"], ["3", "4", "dog"], -1, None, "a.csv")
    False
    """
    if isinstance(label, str):
        return True
    missing = MISSING | {str(unlabeled)}
    words = [k for k, value in enumerate(first) if value not in missing and is_word(value)]
    below = [second[k] for k in words] if len(second) == len(first) else []
    only_label = label is not None and words == [label % len(first)]
    all_words = all(k in words or value in missing for k, value in enumerate(first))
    doubtful = not words and len(first) > 1 and first == [str(k) for k in range(len(first))]
    named = bool(words)
    if words and not any(cell not in missing and not is_word(cell) for cell in below):
        # No name stands above a number. Words above words may be categories.
        doubtful = all(cell in missing for cell in below) if only_label else not all_words
        doubtful = doubtful and bool(below or only_label)
        named = not only_label and not any(first[k] == second[k] for k in words if below)
    if doubtful:
        raise DataFileError(
            f"{name}: its first line ({', '.join(first[:8])}) may hold names or values. Pass "
            "header=True or header=False."
        )
    return named


def is_number(field: str) -> bool:
    """Return whether a field of a table is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


class CsvParser:
    """The compiled parser, its arrays, and whether labels are numbers or text."""

    def __init__(self, columns: Columns, delimiter: str, labels: str, unlabeled: Any) -> None:
        self._n_features = len(columns.features)
        self._places = np.full(columns.head.width, _SKIPPED, np.int32)
        self._places[list(columns.features)] = np.arange(self._n_features)
        if columns.label is not None:
            self._places[columns.label] = _LABEL
        self._delimiter, self._labels, self._unlabeled = delimiter, labels, unlabeled
        marks = MISSING if unlabeled is None else MISSING | {str(unlabeled)}
        self._markers = "".join(f"{mark}\n" for mark in sorted(marks) if mark).encode()
        self._names = columns.head.names
        self._make_room(0)

    def reserve(self, text: bytes) -> None:
        """Make room for all rows of a text: a feature takes at least two bytes of it."""
        if len(text) > self._size:
            self._make_room(len(text))

    def _make_room(self, size: int) -> None:
        self._size, n_rows = size, size // (2 * self._n_features) + 1
        self._values = np.empty((n_rows, self._n_features))
        self._numbers = np.empty(n_rows)
        self._kinds = np.empty(n_rows, np.uint8)
        self._spans = np.empty((n_rows, 2), np.int64)

    def resume(self, text: bytes, offset: int, row: int) -> tuple[int, int, int, int, int, int]:
        """Continue at an offset."""
        return parse_csv(
            text,
            offset,
            row,
            self._values,
            self._numbers,
            self._kinds,
            self._spans,
            self._places,
            self._delimiter.encode(),
            self._markers,
            self._labels != "number",
        )

    def take(self, text: bytes, n_rows: int) -> Piece:
        """Return copies of the rows read."""
        kinds = self._kinds[:n_rows]
        if self._labels == "auto" and not (kinds == _MISSING).all():
            # The first labels decide for the whole file.
            self._labels = "text" if (kinds == _TEXT).any() else "number"
        X = self._values[:n_rows].copy()
        if self._labels == "text":
            return X, self._words(text, n_rows)
        marker = None if isinstance(self._unlabeled, str) else self._unlabeled
        return X, mark_unlabeled(self._numbers[:n_rows].copy(), marker)

    def _words(self, text: bytes, n_rows: int) -> NDArray[np.object_]:
        y = np.full(n_rows, None, dtype=object)
        for row in np.flatnonzero(self._kinds[:n_rows] != _MISSING):
            begin, end = self._spans[row]
            word = self.text(text[begin:end])
            y[row] = word.replace('""', '"') if text[begin - 1 : begin] == b'"' else word
        return y

    def text(self, part: bytes) -> str:
        """Return a part of a block as text."""
        return unfolded(part.decode("utf-8", "surrogateescape"))

    def facts(self, text: str, before: str) -> dict[str, Any]:
        """Return values for the message of a complaint, the name of its column among them."""
        n_fields = len(fields(text, self._delimiter))
        place = len(fields(before, self._delimiter)) - 1
        column = f"{place + 1}" if self._names is None else repr(self._names[place])
        where = f", in column {column}"
        return {"n_fields": n_fields, "n_columns": len(self._places), "where": where}

"""Tables as text (CSV): numbers in columns, one of which holds the label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._native import parse_csv
from .bad_rows import BadRows
from .files import DataFileError, OpenFile
from .libsvm import mark_unlabeled
from .text import line_blocks, parse_lines

DELIMITERS = ",;\t |"
_MISSING, _TEXT = 1, 2  # `LabelKind` in native/csv.hpp

Piece = tuple[NDArray[np.float64], NDArray[Any]]


def csv_pieces(
    opened: OpenFile,
    bad_rows: BadRows,
    *,
    label: str | int | None,
    labels: str,
    n_features: int | None,
    header: bool | str,
    delimiter: str,
    unlabeled: Any,
) -> Iterator[Piece]:
    """Yield rows and labels of a CSV file, some at a time; see `graphkm.online.read_stream`."""
    blocks = line_blocks(opened)
    text, n_blank = b"", 0
    for block in blocks:
        text = block.lstrip(b"\r\n")
        n_blank += block[: len(block) - len(text)].count(b"\n")
        if text:
            break
    if not text:
        raise DataFileError(f"{opened.name} is empty: it holds neither names nor rows.")
    lines = [line.decode("utf-8", "backslashreplace") for line in text.split(b"\n", 2)[:2]]
    first, second = (fields(line, delimiter) for line in lines)
    named = bool(header)
    if header == "auto":
        named = has_header(first, second, label, unlabeled, opened.name)
    names: Sequence[Any] = first if named else range(len(first))
    column = label_column(names, label, opened.name, named=named)
    _check_width(len(names) - (column >= 0), n_features, names, opened.name)
    if named:
        text = text[text.index(b"\n") + 1 :]
    parser = CsvParser(len(names), column, delimiter, labels, unlabeled)
    before = n_blank + int(named)
    yield from parse_lines(_chained(text, blocks), parser, bad_rows, line=before)


def _chained(text: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield text
    yield from blocks


def fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of one line, without quotes and the spaces around them.

    Examples
    --------
    >>> fields('a, "b, c" ,2', ",")
    ['a', 'b, c', '2']
    """
    found = [""]
    pieces = line.split('"')
    for k, piece in enumerate(pieces):
        if k % 2:  # between quotes
            found[-1] += piece
        elif piece == "" and 0 < k < len(pieces) - 1:  # a doubled quote
            found[-1] += '"'
        else:
            head, *tail = piece.split(delimiter)
            found[-1] += head
            found.extend(tail)
    return [field.strip() for field in found]


def has_header(
    first: list[str], second: list[str], label: str | int | None, unlabeled: Any, name: str
) -> bool:
    """Return whether a file's first line holds names: words where numbers should be.

    Raises
    ------
    DataFileError
        If it may be either, since a guess could lose a row or invent one.

    Examples
    --------
    >>> has_header(["x0", "x1", "y"], ["1", "2", "cat"], -1, None, "a.csv")
    True
    >>> has_header(["1", "2", "cat"], ["3", "4", "dog"], -1, None, "a.csv")
    False
    """
    if isinstance(label, str):
        return True
    missing = ("", "?", str(unlabeled))
    words = [k for k, value in enumerate(first) if value not in missing and not is_number(value)]
    doubtful = len(first) > 1 and first == [str(k) for k in range(len(first))]
    if label is not None and words == [label % len(first)]:
        # Only the label is a word: a name or a class, as the next line's shows.
        below = second[words[0]] if len(second) == len(first) else ""
        doubtful = below in missing
        words = words if is_number(below) else []
    if doubtful:
        raise DataFileError(
            f"{name}: its first line ({', '.join(first[:8])}) may hold names or values. Pass "
            "header=True or header=False."
        )
    return bool(words)


def is_number(field: str) -> bool:
    """Return whether a field of a table is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def label_column(names: Sequence[Any], label: str | int | None, name: str, *, named: bool) -> int:
    """Return the position of the label's column, -1 if there is none."""
    if label is None:
        return -1
    listed = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
    if isinstance(label, str):
        found = [k for k, column in enumerate(names) if column == label] if named else []
        if len(found) != 1:
            many = "several columns are" if found else "no column is"
            raise DataFileError(
                f"{name}: {many} called {label!r}; the columns are {listed}. Pass label= with the "
                "name or the position of the label's column, or None if there is none."
            )
        return found[0]
    if not -len(names) <= label < len(names):
        raise DataFileError(
            f"{name}: label={label} where there are {len(names)} columns ({listed}). Pass a "
            f"position between 0 and {len(names) - 1}; -1 is the last column."
        )
    return label % len(names)


def _check_width(found: int, n_features: int | None, names: Sequence[Any], name: str) -> None:
    if found < 1:
        raise DataFileError(
            f"{name}: its first line has {len(names)} field, and no feature is left beside the "
            "label. Is delimiter= right?"
        )
    if n_features is not None and found != n_features:
        raise DataFileError(
            f"{name} has {found} features where n_features={n_features} are expected. Is "
            "delimiter= right, and label= (None where no column holds a label)?"
        )


class CsvParser:
    """The compiled parser, its arrays, and what labels have turned out to be."""

    def __init__(
        self, n_columns: int, label_column: int, delimiter: str, labels: str, unlabeled: Any
    ) -> None:
        self._n_columns, self._label_column = n_columns, label_column
        self._n_features = n_columns - (label_column >= 0)
        self._delimiter, self._labels, self._unlabeled = delimiter, labels, unlabeled
        self._make_room(0)

    def reserve(self, text: bytes) -> None:
        """Have room for the most rows the text can hold: a digit and an end per feature."""
        if len(text) > self._size:
            self._make_room(len(text))

    def _make_room(self, size: int) -> None:
        self._size, n_rows = size, size // (2 * self._n_features) + 1
        self._values = np.empty((n_rows, self._n_features))
        self._numbers = np.empty(n_rows)
        self._kinds = np.empty(n_rows, np.uint8)
        self._spans = np.empty((n_rows, 2), np.int64)

    def resume(self, text: bytes, offset: int, row: int) -> tuple[int, int, int, int, int, int]:
        """Read on at an offset."""
        marker = b"" if self._unlabeled is None else str(self._unlabeled).encode()
        return parse_csv(
            text,
            offset,
            row,
            self._values,
            self._numbers,
            self._kinds,
            self._spans,
            self._label_column,
            self._delimiter.encode(),
            marker,
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
            word = text[begin:end].decode("utf-8", "backslashreplace")
            y[row] = word.replace('""', '"') if text[begin - 1 : begin] == b'"' else word
        return y

    def facts(self, text: str) -> dict[str, Any]:
        """Return what messages may mention."""
        n_fields = len(fields(text, self._delimiter))
        return {"n_fields": n_fields, "n_columns": self._n_columns}

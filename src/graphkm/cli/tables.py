"""Files of rows, opened with the command line's options: for learning, or for a model."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from .._files import is_stream
from ..io import DataFileError
from ..io.columns import Chooser, Columns, Head, Piece, listed
from ..io.csv import is_number
from ..io.files import STDIN, format_by_name, open_source, source_name
from ..io.libsvm import libsvm_pieces, whole_libsvm
from ..io.tables import OpenTable, open_table
from .models import FileNote
from .options import FileOptions, Format, TrainingFileOptions, UsageError

USUAL_LABEL = "label"
_DELIMITERS = {",": ",", ";": ";", "|": "|", "tab": "\t", "\t": "\t", "\\t": "\t",
               "space": " ", " ": " "}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """An open file of rows."""

    name: str  # in messages
    format: str  # libsvm, csv or parquet
    pieces: Iterator[Piece]  # labels are floats with NaN, or texts with None
    columns: Columns | None = None  # None for LIBSVM
    zero_based: bool = False  # LIBSVM: whether indices count from 0
    dropped: tuple[int, ...] = ()  # LIBSVM: indices of skipped features


@contextmanager
def open_training(path: str, options: TrainingFileOptions, labels: str = "auto") -> Iterator[Table]:
    """Open a file to learn from; labels are "number", "text", or "auto": the first ones tell."""
    on_bad_row = "skip" if options.skip_bad_rows else "error"
    chooser = TrainingColumns(options.label, options.drop or ())
    with _open(path, options, on_bad_row=on_bad_row) as opened:
        if opened.format == "libsvm":
            dropped = _indices(options.drop)
            yield _libsvm(opened, options.unlabeled, options.features, options.zero_based, dropped)
        else:
            yield _table(opened, options, chooser, labels)


@contextmanager
def open_known(
    path: str,
    options: FileOptions,
    note: FileNote,
    *,
    labels: bool = True,
    skip: bool | None = None,
) -> Iterator[Table]:
    """Open a file for a model, whose note says what the rows look like.

    `labels` says whether labels are read. `skip` says whether bad rows are left out; it is None if
    the command has no such option.
    """
    if options.unlabeled is None:
        options = replace(options, unlabeled=note.unlabeled)
    if options.header is None and note.columns is not None:
        options = replace(options, header=True)  # the model finds its columns by their names
    handling = {"on_bad_row": "skip"} if skip else {}
    if skip is None:
        handling["advice"] = "Fix it."
    with _open(path, options, **handling) as opened:
        if opened.format != "libsvm":
            chooser = KnownColumns(note, options.label, options.drop or (), labels)
            yield _table(opened, options, chooser, note.labels)
            return
        dropped = tuple(note.dropped) if options.drop is None else _indices(options.drop)
        width = note.n_features + len(dropped)
        table = _libsvm(opened, options.unlabeled, width, note.zero_based, dropped)
        dense = table.pieces if note.sparse else ((X.toarray(), y) for X, y in table.pieces)
        yield replace(table, pieces=dense)


@contextmanager
def _open(path: str, options: FileOptions, **handling: str) -> Iterator[OpenTable]:
    format = format_by_name(path) if options.format is Format.auto else options.format.value
    source = _in_memory(path) if format == "parquet" else path
    with open_table(source, format, name=source_name(path), **handling) as opened:
        if format is None and opened.format == "parquet":
            raise UsageError(f"{opened.name} looks like Parquet; pass --format parquet.")
        yield opened


def _in_memory(path: str) -> Any:
    """Return a source that pyarrow can seek in: the path, or the contents in memory."""
    with open_source(path) as opened:
        whole = opened.compressed or path == STDIN or is_stream(path)
        return io.BytesIO(opened.file.read()) if whole else path


def _table(opened: OpenTable, options: FileOptions, chooser: Chooser, labels: str) -> Table:
    if options.delimiter is not None and options.delimiter not in _DELIMITERS:
        raise UsageError(f"--delimiter {options.delimiter}: it must be one of , ; | tab space.")
    columns, pieces = opened.columns(
        chooser,
        labels=labels,
        unlabeled=options.unlabeled,
        header="auto" if options.header is None else options.header,
        delimiter=None if options.delimiter is None else _DELIMITERS[options.delimiter],
    )
    return Table(opened.name, opened.format, pieces, columns)


def _libsvm(
    opened: OpenTable,
    unlabeled: str | None,
    n_features: int | None,
    zero_based: bool | None,
    dropped: tuple[int, ...],
) -> Table:
    """Return the rows of a LIBSVM file, in one piece if the number of features is unknown."""
    mark = _as_number(unlabeled)
    if n_features is not None and zero_based is not None:
        pieces = libsvm_pieces(opened.lines, n_features, zero_based, mark, dropped)
    else:
        counting = "auto" if zero_based is None else zero_based
        X, y, zero_based = whole_libsvm(opened.lines, counting, mark, drop=dropped)
        found = X.shape[1] + len(dropped)
        n_features = n_features or found
        if n_features < found:
            raise DataFileError(
                f"{opened.name} has {found} features, more than --features {n_features}."
            )
        X.resize(X.shape[0], n_features - len(dropped))
        pieces = iter([(X, y)])
    if n_features == len(dropped):
        beside = " beside those dropped" if dropped else ""
        raise DataFileError(f"{opened.name} holds no values of features{beside}.")
    return Table(opened.name, "libsvm", pieces, zero_based=zero_based, dropped=dropped)


def _indices(drop: Sequence[str] | None) -> tuple[int, ...]:
    """Return the indices of a LIBSVM file that --drop names.

    Examples
    --------
    >>> _indices(["7", "3", "7"])
    (3, 7)
    """
    wrong = [index for index in drop or () if not (index.isascii() and index.isdigit())]
    if wrong:
        raise UsageError(
            f"--drop {wrong[0]}: features of LIBSVM files have no names; pass the feature's index."
        )
    return tuple(sorted({int(index) for index in drop or ()}))


def _as_number(mark: str | None) -> float | None:
    if mark is None or mark in ("?", ""):
        return None
    try:
        return float(mark)
    except ValueError:
        raise UsageError(f"--unlabeled {mark}: labels of LIBSVM files are numbers.") from None


@dataclass(frozen=True)
class TrainingColumns:
    """Chooses columns to learn from: all but the label and the dropped ones are features."""

    label: str | None
    drop: Sequence[str]

    def likely_label(self, width: int) -> str | int | None:
        """Return the label's name or position: the last column by default."""
        return _place(self.label or -1)

    def choose(self, head: Head) -> Columns:
        """Return the columns; raise if the first row has a word as a feature."""
        dropped = {find_column(head, column, "--drop") for column in self.drop}
        label = _label_column(head, self.label)
        if label is None:
            label = max((k for k in range(head.width) if k not in dropped), default=0)
        features = tuple(k for k in range(head.width) if k != label and k not in dropped)
        columns = Columns(head, features, label)
        if not features:
            raise DataFileError(
                f"{head.file}: no feature is left beside the label; its first line has "
                f"{head.width} column(s). Is --delimiter right?"
            )
        names = columns.names or ()
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataFileError(f"{head.file}: several columns are called {twice!r}; rename them.")
        _refuse_words(columns)
        return columns


@dataclass(frozen=True)
class KnownColumns:
    """Chooses the columns that a model was trained on."""

    note: FileNote
    label: str | None
    drop: Sequence[str]
    labels: bool  # whether labels are read

    def likely_label(self, width: int) -> str | int | None:
        """Return the label's name or position; None if all columns must be features."""
        if width == self.note.n_features:
            return None
        return _place(self.label or self.note.label or -1)

    def choose(self, head: Head) -> Columns:
        """Return the columns: by name if both have names, else by position."""
        by_name = self.note.columns is not None and head.names is not None
        columns = self._by_name(head) if by_name else self._by_position(head)
        return columns if self.labels else replace(columns, label=None)

    def _by_name(self, head: Head) -> Columns:
        wanted, names = self.note.columns or [], head.names or ()
        missing = [name for name in wanted if name not in names]
        if missing:
            raise DataFileError(
                f"{head.file} lacks {len(missing)} of the model's {len(wanted)} columns: "
                f"{listed(missing)}. If its first line holds values and not names, pass "
                "header=False."
            )
        features = tuple(find_column(head, name, "--drop") for name in wanted)
        label = self.label if self.labels else None
        if label is None and self.note.label in names:
            label = str(self.note.label)
        return Columns(head, features, None if label is None else find_column(head, label))

    def _by_position(self, head: Head) -> Columns:
        """Return the columns of a file without names; they must be in the model's order."""
        dropped = {find_column(head, column, "--drop") for column in self.drop}
        left = [k for k in range(head.width) if k not in dropped]
        known = self.note.n_features
        label = _label_column(head, self.label if self.labels else None)
        if label is None and len(left) == known + 1:
            number = self.note.label
            numbered = isinstance(number, int) and number - 1 in left
            label = int(number) - 1 if numbered else left[-1]  # type: ignore[arg-type]
        features = tuple(k for k in left if k != label)
        if len(features) != known:
            raise DataFileError(
                f"{head.file} has {len(features)} columns of features, and the model knows "
                f"{known}. Are --delimiter, --label and --drop right?"
            )
        return Columns(head, features, label)


def find_column(head: Head, wanted: str, flag: str = "--label") -> int:
    """Return the position of a column given by its name or its number from 1.

    Examples
    --------
    >>> find_column(Head("a.csv", ["x", "z"], 2), "z")
    1
    >>> find_column(Head("a.csv", None, 2), "-1")
    1
    """
    names = list(head.names or ())
    if names.count(wanted) > 1:
        raise DataFileError(f"{head.file}: several columns are called {wanted!r}; rename them.")
    if wanted in names:
        return names.index(wanted)
    try:
        number = int(wanted)
    except ValueError:
        number = 0
    if not 1 <= abs(number) <= head.width:
        kind = (
            f"the columns are {listed(names)}"
            if names
            else f"it has {head.width} columns without names"
        )
        raise UsageError(f"{flag} {wanted}: {head.file} has no such column; {kind}.")
    return number - 1 if number > 0 else head.width + number


def _label_column(head: Head, label: str | None) -> int | None:
    """Return the position of the given label, or of the column called label."""
    if label is None and USUAL_LABEL in (head.names or ()):
        label = USUAL_LABEL
    return None if label is None else find_column(head, label)


def _place(column: str | int) -> str | int:
    """Return a column as `graphkm.io` takes it: a name, or a position from 0.

    Examples
    --------
    >>> _place("3"), _place(-1), _place("kind")
    (2, -1, 'kind')
    """
    if isinstance(column, str) and not column.lstrip("-").isdigit():
        return column
    number = int(column)
    return number - 1 if number > 0 else number


def _refuse_words(columns: Columns) -> None:
    head = columns.head
    if len(head.first_row) != head.width:
        return  # the parser says what is wrong with the row
    for k in columns.features:
        word = head.first_row[k]
        if word in ("", "?") or is_number(word):
            continue
        column = str(k + 1) if head.names is None else head.names[k]
        call = f"number {column}" if head.names is None else repr(column)
        raise DataFileError(
            f"{head.file}: the column {call} holds words ({word!r}), and features are numbers. "
            f"Leave it out with --drop {column}, or pass --label {column} if it is the label."
        )

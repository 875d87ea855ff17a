"""Files of rows, opened with the command line's options: for learning, or for a model."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._util.files import is_stream
from ..io import DataFileError
from ..io.bad_rows import BadRows
from ..io.cells import Cells, Column, joined_cells, texts
from ..io.columns import Chooser, Columns, Piece
from ..io.encodings import TextEncoding
from ..io.files import STDIN, format_by_name, open_source, source_name
from ..io.kinds import EMPTY, NUMBER, WORD, values
from ..io.libsvm import libsvm_pieces, whole_libsvm
from ..io.row_files import OpenTable, joined, open_table
from ..tables.treatments import Treatment, label_kind, labels_of, rows_of, treat
from .column_choice import KnownColumns, TrainingColumns
from .model_files import FileNote
from .options import FileOptions, Format, Missing, TrainingFileOptions, UsageError
from .output import progress_bar

_DELIMITERS = {",": ",", ";": ";", "|": "|", "tab": "\t", "\t": "\t", "\\t": "\t",
               "space": " ", " ": " "}  # fmt: skip
_GAPS = "Fix it, or pass --missing impute to fill such values in, or --missing drop."
_ADVICE = "Fix it. A model that is trained with --missing impute fills missing values in."


@dataclass(frozen=True)
class Table:
    """An open file of rows."""

    name: str  # in messages
    format: str  # libsvm, csv or parquet
    pieces: Iterator[Piece]  # labels are floats with NaN, or texts with None
    columns: Columns | None = None  # None for LIBSVM
    zero_based: bool = False  # LIBSVM: whether indices count from 0
    dropped: tuple[int, ...] = ()  # LIBSVM: indices of skipped features
    treatment: Treatment = field(
        default_factory=Treatment
    )  # of a table that is not all plain numbers
    kept: deque[tuple[str, ...]] = field(default_factory=deque)  # cells to copy, of rows read
    opened: OpenTable | None = None  # tells the encoding

    @property
    def encoding(self) -> str | None:
        """The encoding of CSV, as far as it was read; None for other formats."""
        return None if self.opened is None else self.opened.encoding

    @property
    def kept_names(self) -> list[str]:
        """The names of the columns to copy, or their numbers from 1."""
        if self.columns is None:
            return []
        names = self.columns.head.names
        return [str(k + 1) if names is None else names[k] for k in self.columns.kept]


@contextmanager
def open_training(
    path: str, options: TrainingFileOptions, labels: str = "auto", source: Any = None
) -> Iterator[Table]:
    """Open a file of numbers to learn from.

    Labels are "number", "text", or "auto": the first ones tell.
    """
    on_bad_row = "skip" if options.skip_bad_rows else "error"
    chooser = TrainingColumns(options.label, options.drop or (), options.id)
    with _open(path, options, source, on_bad_row=on_bad_row) as opened:
        if opened.format == "libsvm":
            dropped = _indices(options.drop)
            yield _libsvm(opened, options.unlabeled, options.features, options.zero_based, dropped)
        else:
            yield _table(opened, options, chooser, labels)


def read_any(
    path: str, options: TrainingFileOptions, labels: str, more: str | None = None
) -> tuple[Table, Piece]:
    """Read a whole file to learn from, and `more` unlabelled rows of another one.

    Numbers are read by the compiled parser, any other table by cells. What a column holds is judged
    by both files.
    """
    again = _readable_twice(path)
    others = None if more is None else (more, _readable_twice(more))
    plain = replace(options, skip_bad_rows=False)
    if options.categorical in ("auto", "none"):
        try:
            return _read_numbers(path, plain, labels, again, others)
        except DataFileError:
            if _is_libsvm(path, options, again):
                if not options.skip_bad_rows:
                    raise
                return _read_numbers(path, options, labels, again, others)
    return _read_cells(path, options, labels, again, others)


def _readable_twice(path: str) -> Any:
    """Return a path, or what a pipe holds."""
    if path == STDIN or is_stream(path):
        with open_source(path) as opened:
            return io.BytesIO(opened.file.read())
    return path


def _read_numbers(
    path: str,
    options: TrainingFileOptions,
    labels: str,
    source: Any,
    others: tuple[str, Any] | None,
) -> tuple[Table, Piece]:
    with open_training(path, options, labels, source) as table:
        columns = table.columns
        if columns is not None and set(columns.features) & set(columns.head.truths):
            raise DataFileError(f"{table.name}: true and false are no plain numbers.")
        X, y = read_whole(table)
    kind = label_kind(y.tolist()) if y.dtype == object else NUMBER
    if kind not in (NUMBER, WORD, EMPTY):
        table = replace(table, treatment=Treatment(label=kind))
        y, _ = values(["" if word is None else word for word in y.tolist()], kind)
    if others is None:
        return table, (X, y)
    known, skip = table_note(table, X, options), options.skip_bad_rows
    with open_known(others[0], options, known, labels=False, skip=skip, source=others[1]) as second:
        return table, joined([(X, y), _unlabeled(read_whole(second)[0], y)])


def _unlabeled(X: Any, y: NDArray[Any]) -> Piece:
    """Return rows with labels like y, all of them missing."""
    return X, np.full(X.shape[0], np.nan if y.dtype.kind == "f" else None, dtype=y.dtype)


def table_note(table: Table, X: Any, options: TrainingFileOptions) -> FileNote:
    """Return what a model file says of a table's columns, before the task is known."""
    columns = table.columns
    return FileNote(
        task="",
        format=table.format,
        columns=None if columns is None or columns.names is None else list(columns.names),
        n_features=X.shape[1],
        label=None if columns is None else columns.label_name,
        labels="",
        unlabeled=options.unlabeled,
        zero_based=table.zero_based,
        sparse=issparse(X),
        dropped=list(table.dropped),
        kinds=list(table.treatment.kinds),
        left_out=table.treatment.left_out,
        label_kind=table.treatment.label,
        id=options.id,
        encoding=table.encoding,
    )


def _is_libsvm(path: str, options: FileOptions, source: Any) -> bool:
    try:
        with _open(path, options, source) as opened:
            return opened.format == "libsvm"
    except DataFileError:
        return True  # it cannot be read as anything


def _read_cells(
    path: str,
    options: TrainingFileOptions,
    labels: str,
    source: Any,
    others: tuple[str, Any] | None,
) -> tuple[Table, Piece]:
    chooser = TrainingColumns(options.label, options.drop or (), options.id, numbers_only=False)
    opened, columns, cells = _whole_cells(path, options, chooser, source)
    table = Table(opened.name, opened.format, iter(()), columns, opened=opened)
    judged, features = cells, columns.features
    if others is not None:
        width = np.empty((0, len(features)))
        known = KnownColumns(table_note(table, width, options), None, options.drop or (), False)
        named = options if columns.names is None else replace(options, header=True)
        second, found, more = _whole_cells(others[0], named, known, others[1])
        more = Cells(
            {k: more.columns[j] for k, j in zip(features, found.features, strict=True)}, more.places
        )
        judged = Cells({k: _both(cells.columns[k], more.columns[k]) for k in features}, [])
    columns, treatment = treat(judged, columns, options.categorical)
    table = replace(table, columns=columns, treatment=treatment)
    X, cells = _features(opened, cells, table, options)
    y = labels_of(cells, columns, labels, options.unlabeled, opened.bad_rows)
    if others is None:
        return table, (X, y)
    return table, joined([(X, y), _unlabeled(_features(second, more, table, options)[0], y)])


def _whole_cells(
    path: str, options: TrainingFileOptions, chooser: Chooser, source: Any
) -> tuple[OpenTable, Columns, Cells]:
    on_bad_row = "skip" if options.skip_bad_rows else "error"
    with _open(path, options, source, on_bad_row=on_bad_row) as opened:
        if opened.format == "libsvm":
            raise UsageError("--categorical: features of LIBSVM files are numbers.")
        columns, pieces = opened.cells(chooser, **reading(options))
        found = []
        with progress_bar(f"reading {opened.name}", "rows") as bar:
            for piece in pieces:
                found.append(piece)
                bar.update(len(piece.places))
    if not found:
        raise DataFileError(f"{opened.name} holds no rows.")
    return opened, columns, joined_cells(found)


def _both(one: Column, other: Column) -> Column:
    """Return a column of two files, to judge it. Where one has texts, the texts tell."""
    if isinstance(one, list) and isinstance(other, list):
        return one + other
    if isinstance(one, list) or isinstance(other, list):
        return one if isinstance(one, list) else other
    return other if one.empty else one


def _features(
    opened: OpenTable, cells: Cells, table: Table, options: TrainingFileOptions
) -> tuple[Any, Cells]:
    """Return the features of a file's rows, and their cells without the rows that are left out."""
    name, place, drop = opened.name, opened.bad_rows.place, options.missing is Missing.drop
    bad = BadRows(name, "skip" if options.skip_bad_rows else "error", place)
    gaps = BadRows(name, "skip" if drop else "error", place, _GAPS)
    assert table.columns is not None
    policy = missing_policy(options, found_some=True)
    X, cells = rows_of(cells, table.columns, table.treatment.kinds, policy, bad, gaps)
    bad.report()
    gaps.report()
    if not len(X):
        raise DataFileError(f"{opened.name}: every row has a missing value.")
    return X, cells


def missing_policy(options: TrainingFileOptions, *, found_some: bool) -> str:
    """Return what becomes of missing values: as the options say; by default they are filled in.

    A table of numbers in which none is missing gets no imputer unless it was asked for.
    """
    if options.missing is not None:
        return options.missing.value
    return "impute" if found_some else "error"


def read_whole(table: Table) -> Piece:
    """Return all rows of a table; raise if there are none."""
    pieces = []
    with progress_bar(f"reading {table.name}", "rows") as bar:
        for X, y in table.pieces:
            pieces.append((X, y))
            bar.update(len(y))
    if not pieces:
        raise DataFileError(f"{table.name} holds no rows.")
    return joined(pieces)


@contextmanager
def open_known(
    path: str,
    options: FileOptions,
    note: FileNote,
    *,
    labels: bool = True,
    skip: bool | None = None,
    kept: Sequence[tuple[str, str]] = (),
    source: Any = None,
) -> Iterator[Table]:
    """Open a file for a model, whose note says what the rows look like.

    `labels` says whether labels are read. `skip` says whether bad rows are left out; it is None if
    the command has no such option. `kept` are columns to copy, each with its option. `source` holds
    the file's contents if the path can be read only once.
    """
    if options.unlabeled is None:
        options = replace(options, unlabeled=note.unlabeled)
    if options.header is None and note.columns is not None:
        options = replace(options, header=True)  # the model finds its columns by their names
    handling = {"on_bad_row": "skip"} if skip else {}
    if skip is None:
        handling["advice"] = "Fix it." if note.missing == "impute" else _ADVICE
    with _open(path, options, source, **handling) as opened:
        if opened.format != "libsvm":
            chooser = KnownColumns(note, options.label, options.drop or (), labels, kept)
            plain = note.plain and (not labels or note.label_kind == NUMBER)
            if plain and not kept:
                yield _table(opened, options, chooser, note.labels)
            else:
                yield _known_cells(opened, options, note, chooser)
            return
        if any(flag for _, flag in kept):
            raise UsageError(f"{kept[-1][1]} {kept[-1][0]}: LIBSVM files have no columns to copy.")
        dropped = tuple(note.dropped) if options.drop is None else _indices(options.drop)
        width = note.n_features + len(dropped)
        table = _libsvm(opened, options.unlabeled, width, note.zero_based, dropped)
        dense = table.pieces if note.sparse else ((X.toarray(), y) for X, y in table.pieces)
        yield replace(table, pieces=dense)


def _known_cells(
    opened: OpenTable, options: FileOptions, note: FileNote, chooser: KnownColumns
) -> Table:
    columns, pieces = opened.cells(chooser, **reading(options))
    table = Table(opened.name, opened.format, iter(()), columns, opened=opened)

    def rows(found: Iterator[Cells]) -> Iterator[Piece]:
        for piece in found:
            X, cells = rows_of(piece, columns, note.kinds, note.missing, opened.bad_rows)
            y = labels_of(cells, columns, note.labels, options.unlabeled, opened.bad_rows)
            table.kept.extend(zip(*(texts(cells.columns[k]) for k in columns.kept), strict=True))
            if len(y):
                yield X, y

    return replace(table, pieces=rows(pieces))


def reading(options: FileOptions) -> dict[str, Any]:
    """Return how the text of a table is read."""
    if options.delimiter is not None and options.delimiter not in _DELIMITERS:
        raise UsageError(f"--delimiter {options.delimiter}: it must be one of , ; | tab space.")
    return {
        "unlabeled": options.unlabeled,
        "header": "auto" if options.header is None else options.header,
        "delimiter": None if options.delimiter is None else _DELIMITERS[options.delimiter],
    }


@contextmanager
def _open(
    path: str, options: FileOptions, source: Any = None, **handling: str
) -> Iterator[OpenTable]:
    """Open a file; `source` holds its contents if the path can be read only once."""
    format = format_by_name(path) if options.format is Format.auto else options.format.value
    if isinstance(source, io.BytesIO):
        source.seek(0)
    else:
        source = _in_memory(path) if format == "parquet" else path
    _check_encoding(options.encoding)
    handling |= {} if options.encoding is None else {"encoding": options.encoding}
    with open_table(source, format, name=source_name(path), **handling) as opened:
        if format is None and opened.format == "parquet":
            raise UsageError(f"{opened.name} looks like Parquet; pass --format parquet.")
        yield opened


def _check_encoding(name: str | None) -> None:
    try:
        TextEncoding(name)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _in_memory(path: str) -> Any:
    """Return a source that pyarrow can seek in: the path, or the contents in memory."""
    with open_source(path) as opened:
        whole = opened.compressed or path == STDIN or is_stream(path)
        return io.BytesIO(opened.file.read()) if whole else path


def _table(opened: OpenTable, options: FileOptions, chooser: Chooser, labels: str) -> Table:
    columns, pieces = opened.columns(chooser, labels=labels, **reading(options))
    return Table(opened.name, opened.format, pieces, columns, opened=opened)


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

"""Files of rows, opened with the command line's options: for learning, or for a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..io.cells import Cells, texts
from ..io.columns import Chooser, Piece, listed
from ..io.kinds import NUMBER
from ..io.row_files import OpenTable
from ..tables.labels import labels_of
from ..tables.several_labels import split_names, table_of_names
from ..tables.treatments import rows_of
from ..tables.whole_tables import whole_rows
from .column_choice import KnownColumns, TrainingColumns
from .folder_rows import is_folder, open_known_folder
from .libsvm_rows import libsvm_indices, libsvm_rows
from .model_files import VIEWS, FileNote
from .opening import open_file, reading
from .options import FileOptions, TrainingFileOptions, UsageError
from .output import progress_bar, say
from .row_table import Table

_ADVICE = "Fix it. A model that is trained with --missing impute fills missing values in."


@contextmanager
def open_training(
    path: str, options: TrainingFileOptions, labels: str = "auto", source: Any = None
) -> Iterator[Table]:
    """Open a file of numbers to learn from.

    `labels` says what labels are: "number", "text", or "auto", which lets the first ones tell.
    """
    on_bad_row = "skip" if options.skip_bad_rows else "error"
    chooser = TrainingColumns(options.label, options.drop or (), options.id)
    with open_file(path, options, source, on_bad_row=on_bad_row) as opened:
        if opened.format == "libsvm":
            dropped = libsvm_indices(options.drop)
            yield _libsvm(opened, options, options.features, options.zero_based, dropped)
        else:
            yield _number_rows(opened, options, chooser, labels)


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
    if note.n_features == 0:
        raise UsageError(
            "the model has learnt from edges alone, and no column of a file tells it anything. Ask "
            "it in Python: predict(None, affinity=edges, ids=ids)."
        )
    if note.format == VIEWS:
        raise UsageError(
            "the model was saved in Python, and its views are not all made of one column of texts "
            "or pictures. Ask it in Python, or train it with graphkm train."
        )
    if is_folder(path):
        yield with_named_labels(open_known_folder(path, options, note, kept), note)
        return
    if options.unlabeled is None:
        options = replace(options, unlabeled=note.unlabeled)
    if options.header is None and note.columns is not None:
        options = replace(options, header=True)  # the model finds its columns by their names
    handling = {"on_bad_row": "skip"} if skip else {}
    if skip is None:
        handling["advice"] = "Fix it." if note.missing == "impute" else _ADVICE
    with open_file(path, options, source, **handling) as opened:
        if opened.format != "libsvm":
            chooser = KnownColumns(note, options.label, options.drop or (), labels, kept)
            one = note.label_kind == NUMBER and not note.label_columns
            if note.plain and (one or not labels) and not kept:
                table = _number_rows(opened, options, chooser, note.labels)
            else:
                table = _known_cells(opened, options, note, chooser)
            yield with_named_labels(table, note)
            return
        if any(flag for _, flag in kept):
            raise UsageError(f"{kept[-1][1]} {kept[-1][0]}: LIBSVM files have no columns to copy.")
        dropped = tuple(note.dropped) if options.drop is None else libsvm_indices(options.drop)
        width = note.n_features + len(dropped)
        table = _libsvm(opened, options, width, note.zero_based, dropped)
        dense = table.pieces if note.sparse else ((X.toarray(), y) for X, y in table.pieces)
        yield table.with_pieces(dense)


def _known_cells(
    opened: OpenTable, options: FileOptions, note: FileNote, chooser: KnownColumns
) -> Table:
    columns, pieces = opened.cells(chooser, **reading(options))
    table = Table(opened.name, opened.format, iter(()), columns, opened=opened)

    def rows(found: Iterator[Cells]) -> Iterator[Piece]:
        for piece in found:
            X, cells = rows_of(
                piece, columns, note.kinds, note.missing, opened.bad_rows, folder=opened.folder
            )
            y = labels_of(cells, columns, note.labels, options.unlabeled, opened.bad_rows)
            table.kept.extend(zip(*(texts(cells.columns[k]) for k in columns.kept), strict=True))
            if len(y):
                yield X, y

    return table.with_pieces(rows(pieces))


def with_named_labels(table: Table, note: FileNote) -> Table:
    """Return a table with a column for each label of the model, if one has their names."""
    if note.separator is None:
        return table
    return table.with_pieces(_by_names(table, note.separator, note.targets))


def _by_names(table: Table, separator: str, names: Sequence[str]) -> Iterator[Piece]:
    strange: dict[str, None] = {}
    for X, y in table.pieces:
        words = y.tolist() if y.dtype == object else [None] * len(y)
        found = (split_names(word, separator) or () for word in words)
        strange |= {name: None for each in found for name in each if name not in names}
        yield X, table_of_names(words, separator, names)
    if strange:
        say(f"note: the model does not know these labels of {table.name}: {listed([*strange])}.")


def _number_rows(opened: OpenTable, options: FileOptions, chooser: Chooser, labels: str) -> Table:
    columns, pieces = opened.columns(chooser, labels=labels, **reading(options))
    return Table(opened.name, opened.format, pieces, columns, opened=opened)


def _libsvm(
    opened: OpenTable,
    options: FileOptions,
    n_features: int | None,
    zero_based: bool | None,
    dropped: tuple[int, ...],
) -> Table:
    given = opened, options.unlabeled, n_features, zero_based, dropped
    pieces, zero_based = libsvm_rows(*given)
    return Table(opened.name, "libsvm", pieces, zero_based=zero_based, dropped=dropped)


def read_whole(table: Table) -> Piece:
    """Return all rows of a table; raise if there are none."""
    return whole_rows(table.name, table.pieces, reading_bar(table.name))


def reading_bar(name: str) -> Any:
    """Return a bar that shows how many rows of a file were read."""
    return progress_bar(f"reading {name}", "rows")

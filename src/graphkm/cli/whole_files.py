"""Whole files to learn from, and the note that a model keeps of their columns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..io.cells import Cells
from ..io.columns import Chooser, Columns, Piece
from ..io.row_files import OpenTable
from ..tables.treatments import names_columns
from ..tables.whole_tables import TableFile, read_whole_table, with_unlabeled
from .column_choice import KnownColumns, TrainingColumns
from .model_files import FileNote
from .opening import Source, reading
from .options import LearningFileOptions, TrainingFileOptions, UsageError
from .row_files import open_known, open_training, read_whole, reading_bar
from .row_table import Table

_NO_CATEGORIES = "--categorical: features of LIBSVM files are numbers."


def read_any(
    source: Source, options: LearningFileOptions, labels: str, more: Source | None = None
) -> tuple[Table, Piece]:
    """Read a whole file to learn from, and `more` unlabelled rows of another one."""
    if _is_libsvm(source, options):
        if options.labels is not None or options.separator is not None:
            raise UsageError("--labels, --separator: LIBSVM files have one label per row.")
        if options.encoded:
            raise UsageError("--text, --images: features of LIBSVM files are numbers.")
        return _read_libsvm(source, options, labels, more)
    given = options.label, options.drop or (), options.id
    more_about: dict[str, Any] = {"encoded": options.encoded, "labels": options.label_columns}
    chooser = partial(TrainingColumns, *given, **more_about)
    file = _table_file(source, options, chooser(), chooser(numbers_only=False))
    found = read_whole_table(
        file,
        options.categorical,
        labels=labels,
        missing=missing_policy(options, found_some=True),
        more=None if more is None else _SecondFile(more, options),
        encoded=options.encoded,
    )
    table = _closed(found.opened, found.columns)
    return replace(table, treatment=found.treatment), (found.X, found.y)


def _is_libsvm(source: Source, options: TrainingFileOptions) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # who reads the file to its end says what is wrong with it
        with source.open(options) as opened:
            return opened.format == "libsvm"


def _read_libsvm(
    source: Source, options: TrainingFileOptions, labels: str, more: Source | None
) -> tuple[Table, Piece]:
    if names_columns(options.categorical):
        raise UsageError(_NO_CATEGORIES)
    with open_training(source.path, options, labels, source.contents) as table:
        X, y = read_whole(table)
    if more is not None:
        X, y = with_unlabeled(X, y, _rows_like(table_note(table, X, options), more, options))
    return table, (X, y)


def _rows_like(note: FileNote, source: Source, options: TrainingFileOptions) -> Any:
    """Return the features of all rows of a file, whose columns a note describes."""
    given: dict[str, Any] = {"skip": options.skip_bad_rows, "source": source.contents}
    with open_known(source.path, options, note, labels=False, **given) as table:
        return read_whole(table)[0]


@dataclass(frozen=True)
class _SecondFile:
    """A file of more rows, without labels. If the first file holds numbers, it may be LIBSVM."""

    source: Source
    options: TrainingFileOptions

    def numbers(self, opened: OpenTable, columns: Columns) -> Any:
        """Return the features of its rows."""
        options = replace(self.options, skip_bad_rows=False)
        return _rows_like(self._note(opened, columns), self.source, options)

    def cells(self, opened: OpenTable, columns: Columns) -> tuple[OpenTable, Columns, Cells]:
        """Return the cells of its rows."""
        options = self.options
        if columns.names is not None:
            options = replace(options, header=True)
        if _is_libsvm(self.source, options):
            raise UsageError(_NO_CATEGORIES)
        known = KnownColumns(self._note(opened, columns), None, options.drop or (), False)
        return _table_file(self.source, options, known, known).cells()

    def _note(self, opened: OpenTable, columns: Columns) -> FileNote:
        width = np.empty((0, len(columns.features)))
        return table_note(_closed(opened, columns), width, self.options)


def _table_file(
    source: Source, options: TrainingFileOptions, for_numbers: Chooser, for_cells: Chooser
) -> TableFile:
    return TableFile(
        partial(source.open, options),
        for_numbers,
        for_cells,
        reading(options),
        options.skip_bad_rows,
        reading_bar,
    )


def _closed(opened: OpenTable, columns: Columns) -> Table:
    """Return what is known of a table after its rows were read."""
    return Table(opened.name, opened.format, iter(()), columns, opened=opened)


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


def missing_policy(options: TrainingFileOptions, *, found_some: bool) -> str:
    """Return what becomes of missing values: as the options say; by default they are filled in.

    A table of numbers in which none is missing gets no imputer unless it was asked for.
    """
    if options.missing is not None:
        return options.missing.value
    return "impute" if found_some else "error"

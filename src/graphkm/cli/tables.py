"""Files that have been looked into, and whose rows come in pieces."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from .._files import is_stream
from ..io import BadRows, DataFileError
from ..io.files import STDIN, format_by_name, open_source, source_name
from ..io.text import line_blocks
from .csv_table import csv_table
from .dropping import Blocks
from .errors import UsageError
from .layout import Head, Layout, known_layout, training_layout
from .memory import Memory
from .options import FileOptions, Format, TrainingFileOptions

_LIBSVM_LINE = re.compile(rb"\s*[^\s,;]+(\s+\d+:[^\s,;]+)+\s*(#.*)?")

Pieces = Iterator[tuple[Any, Any]]
LayOut = Callable[[Head], Layout]


@dataclass(frozen=True)
class Table:
    """A file of rows.

    Attributes
    ----------
    name : str
        What messages call it.
    format : str
        libsvm, csv or parquet.
    pieces : iterator of (X, y)
        Some rows at a time; y is of floats with NaN, or of texts with None.
    layout : Layout, optional
        Its columns; None for LIBSVM.
    zero_based : bool
        For LIBSVM: what indices count from.
    """

    name: str
    format: str
    pieces: Pieces
    layout: Layout | None = None
    zero_based: bool = False


@contextmanager
def open_training(path: str, options: TrainingFileOptions, labels: str = "auto") -> Iterator[Table]:
    """Open a file to learn from; labels are "number", "text" or what the first ones are."""

    def lay_out(head: Head) -> Layout:
        return training_layout(head, options.label, options.drop or ())

    with _open(path, options, skip=options.skip_bad_rows) as reader:
        if reader.format == "libsvm":
            yield reader.libsvm(options.features, options.zero_based)
        else:
            yield reader.table(lay_out, labels, None)


@contextmanager
def open_known(
    path: str,
    options: FileOptions,
    memory: Memory,
    *,
    labels: bool = True,
    skip: bool | None = None,
) -> Iterator[Table]:
    """Open a file for a model that knows what its rows look like.

    Parameters
    ----------
    path, options
        The file.
    memory : Memory
        What the model knows.
    labels : bool
        Whether labels are read.
    skip : bool, optional
        Whether bad rows are left out; None where the command has no such option.
    """

    def lay_out(head: Head) -> Layout:
        if labels:
            return known_layout(head, memory, options.label, options.drop or ())
        return replace(known_layout(head, memory, None, options.drop or ()), label=None)

    if options.unlabeled is None:
        options = replace(options, unlabeled=memory.unlabeled)
    with _no_hint(skip is None), _open(path, options, skip=bool(skip)) as reader:
        if reader.format != "libsvm":
            yield reader.table(lay_out, memory.labels, memory)
            return
        table = reader.libsvm(memory.n_features, memory.zero_based)
        dense = table.pieces if memory.sparse else ((X.toarray(), y) for X, y in table.pieces)
        yield replace(table, pieces=dense)


@contextmanager
def _no_hint(wanted: bool) -> Iterator[None]:
    """Cut the advice to leave bad rows out where there is no such option."""
    try:
        yield
    except DataFileError as error:
        if not wanted:
            raise
        message = str(error).replace(", or pass on_bad_row='skip' to leave such rows out", "")
        raise DataFileError(message) from error


@dataclass(frozen=True)
class _Reader:
    """An open file of a known format."""

    source: Any
    format: str
    options: FileOptions
    bad_rows: BadRows

    def libsvm(self, n_features: int | None, zero_based: bool | None) -> Table:
        """Return the rows of a LIBSVM file; they come all at once if their width is unknown."""
        from .libsvm_table import libsvm_pieces_of, whole_libsvm

        unlabeled = _as_number(self.options.unlabeled)
        if n_features is not None and zero_based is not None:
            pieces = libsvm_pieces_of(self.source, self.bad_rows, n_features, zero_based, unlabeled)
            return Table(self.source.name, "libsvm", pieces, zero_based=zero_based)
        skip = self.bad_rows.on_bad_row
        X, y, from_zero = whole_libsvm(self.source, n_features, zero_based, unlabeled, skip)
        return Table(self.source.name, "libsvm", iter([(X, y)]), zero_based=from_zero)

    def table(self, lay_out: LayOut, labels: str, memory: Memory | None) -> Table:
        """Return the rows of a table."""
        if self.format == "csv":
            layout, pieces = csv_table(
                self.source, self.options, self.bad_rows, lay_out, labels, memory
            )
        else:
            from .parquet_table import parquet_table

            layout, pieces = parquet_table(
                self.source, self.options.unlabeled, self.bad_rows, lay_out, labels
            )
        order = layout.order
        if order is not None:
            pieces = ((X[:, order], y) for X, y in pieces)
        return Table(self.bad_rows.name, self.format, pieces, layout)


@contextmanager
def _open(path: str, options: FileOptions, *, skip: bool) -> Iterator[_Reader]:
    name, on_bad_row = source_name(path), "skip" if skip else "error"
    format = options.format.value if options.format is not Format.auto else format_by_name(path)
    with open_source(path) as opened:
        if format == "parquet":
            in_memory = opened.compressed or path == STDIN or is_stream(path)
            source: Any = io.BytesIO(opened.file.read()) if in_memory else path
            bad_rows = BadRows(name, on_bad_row, "row")
            yield _Reader(source, format, options, bad_rows)
        else:
            blocks = line_blocks(opened)
            first = next((block for block in blocks if block.strip()), b"")
            if not first:
                raise DataFileError(f"{name} is empty.")
            source = Blocks(chain([first], blocks), name)
            bad_rows = BadRows(name, on_bad_row)
            yield _Reader(source, format or _format_by_text(first, name), options, bad_rows)
        bad_rows.report()


def _format_by_text(text: bytes, name: str) -> str:
    """Return the format that a first line looks like.

    Examples
    --------
    >>> _format_by_text(b"+1 3:1 7:0.5", "x"), _format_by_text(b"x,label", "x")
    ('libsvm', 'csv')
    """
    if text.startswith(b"PAR1"):
        raise UsageError(f"{name} looks like Parquet; pass --format parquet.")
    line = text.lstrip(b"\r\n").split(b"\n", 1)[0]
    return "libsvm" if _LIBSVM_LINE.fullmatch(line.rstrip()) else "csv"


def _as_number(mark: str | None) -> float | None:
    if mark is None or mark in ("?", ""):
        return None
    try:
        return float(mark)
    except ValueError:
        raise UsageError(f"--unlabeled {mark}: labels of LIBSVM files are numbers.") from None

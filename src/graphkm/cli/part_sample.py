"""A sample of the rows of many files, from which the preparation of their columns is learnt."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graphs.anchors import drawn_rows
from ..io import DataFileError
from ..io.columns import Columns
from ..io.csv import csv_head, fields
from ..io.file_parts import FilePart
from ..io.kinds import label_word
from ..io.parquet import open_parquet
from ..io.records import rows_of_block, unfolded
from ..io.row_files import OpenTable
from .column_choice import TrainingColumns
from .learning_rows import Rows, read_rows
from .opening import Source, open_file, reading
from .options import Format, LearningFileOptions, Task, UsageError

SAMPLE = 100_000
"""Rows that are drawn to learn from what columns hold: medians, spreads, the usual categories. In 4
of 5 draws a median of so many rows is within 0.2 % of the rows of the true one, and a category of
one row in a thousand is seen a hundred times."""

_LEAST = 20  # labelled rows of a task's files that are looked at besides, at least


class Sampled(NamedTuple):
    """The drawn and some labelled rows of some parts of files."""

    rows: Any
    """Lines of CSV, or a table of pyarrow."""
    counts: list[int]
    """How many rows each part has."""
    n_labeled: int


def file_chooser(options: LearningFileOptions) -> TrainingColumns:
    """Return what chooses the columns of a file to learn from."""
    given = options.label, options.drop or (), options.id
    return TrainingColumns(*given, numbers_only=False, encoded=options.encoded)


def settled(path: str, options: LearningFileOptions) -> tuple[LearningFileOptions, Any]:
    """Return options that say of all files what the first one shows, and its columns.

    The format, the delimiter, and whether there are names do not depend on a part's first rows
    then.
    """
    with open_file(path, options) as opened:
        if opened.format == "libsvm":
            raise UsageError(f"--dask: {path} is LIBSVM; write CSV or Parquet.")
        if opened.format == "parquet":
            file, head = open_parquet(opened.source, path)
            file.close()
            return replace(options, format=Format.parquet), file_chooser(options).choose(head)
        columns, delimiter, _ = _csv(opened, options)
    named = columns.head.names is not None
    told = {"format": Format.csv, "delimiter": delimiter, "header": named}
    return replace(options, **told), columns  # type: ignore[arg-type]


def _csv(opened: OpenTable, options: LearningFileOptions) -> tuple[Columns, str, Any]:
    how = reading(options)
    given = how["unlabeled"], how["header"], how["delimiter"]
    return csv_head(opened.lines, file_chooser(options), *given)


def sample_of(
    parts: Sequence[FilePart],
    drawn: Sequence[NDArray[np.int64]],
    most_labeled: int,
    options: LearningFileOptions,
    first: Columns,
) -> Sampled:
    """Return rows of parts: those whose numbers are drawn, and some of the labelled ones.

    Parameters
    ----------
    parts : list of FilePart
        The parts.
    drawn : list of ndarray
        Numbers of rows of each part.
    most_labeled : int
        About how many labelled rows are taken besides.
    options : LearningFileOptions
        As `settled` returns them.
    first : Columns
        Those of the first file, which all files must have.
    """
    read = _table if parts[0].format == "parquet" else _lines
    found, counts, n_labeled = [], [], 0
    for part, own in zip(parts, drawn, strict=True):
        rows, is_labeled = read(part, options, first)
        n_labeled += int(is_labeled.sum())
        wanted = np.zeros(len(is_labeled), dtype=bool)
        wanted[own[own < len(wanted)]] = True
        labeled = np.flatnonzero(is_labeled)
        share = min(len(labeled), -(-most_labeled // len(parts)))
        wanted[labeled[drawn_rows(len(labeled), share, 0)] if share else labeled[:0]] = True
        counts.append(len(wanted))
        found.append(_taken(rows, np.flatnonzero(wanted)))
    return Sampled(_joined(found), counts, n_labeled)


def _lines(
    part: FilePart, options: LearningFileOptions, first: Columns
) -> tuple[list[str], NDArray[np.bool_]]:
    """Return the lines of CSV, folded, and which have a label."""
    with open_file(part.path, options, part.source()) as opened:
        columns, delimiter, lines = _csv(opened, options)
        _check_alike(part, columns, first)
        rows = [text for block in lines.blocks for text in rows_of_block(block) if text.strip()]
    label = columns.label
    assert label is not None
    said = (_field(text, label, delimiter) for text in rows)
    has = [label_word(word, options.unlabeled) is not None for word in said]
    return rows, np.array(has, dtype=bool)


def _field(text: str, place: int, delimiter: str) -> str:
    """Return one field of a row; "" if the row has none there, which the reader will tell."""
    found = fields(text, delimiter)
    return unfolded(found[place]) if place < len(found) else ""


def _table(
    part: FilePart, options: LearningFileOptions, first: Columns
) -> tuple[Any, NDArray[np.bool_]]:
    """Return the rows of Parquet, and which have a label."""
    import pyarrow as pa

    file, head = open_parquet(part.source(), part.path)
    with file:
        columns = file_chooser(options).choose(head)
        _check_alike(part, columns, first)
        table = pa.Table.from_batches(file.iter_batches(), file.schema_arrow)
    assert columns.label is not None
    values = table.column(columns.label)
    if pa.types.is_floating(values.type):
        values = values.fill_null(np.nan)
        known = ~np.isnan(values.to_numpy())
        mark = options.unlabeled
        if mark is not None:
            known &= np.array([label_word(f"{v:g}", mark) is not None for v in values.to_pylist()])
        return table, known
    words = ("" if value is None else str(value) for value in values.to_pylist())
    return table, np.array([label_word(word, options.unlabeled) is not None for word in words])


def _check_alike(part: FilePart, columns: Columns, first: Columns) -> None:
    own, wanted = columns.head, first.head
    if (own.names, own.width) == (wanted.names, wanted.width):
        return
    if own.names is None or wanted.names is None:
        what = f"{own.width} columns instead of {wanted.width}"
    else:
        odd = sorted({*own.names} ^ {*wanted.names}) or ["another order"]
        what = f"other columns ({', '.join(odd[:5])})"
    raise DataFileError(
        f"{part.path} has {what} than {wanted.file}; files that are read together have the same "
        "columns in the same order."
    )


def _taken(rows: Any, places: NDArray[np.int64]) -> Any:
    return [rows[i] for i in places] if isinstance(rows, list) else rows.take(places)


def _joined(found: list[Any]) -> Any:
    if isinstance(found[0], list):
        return [text for lines in found for text in lines]
    import pyarrow as pa

    return pa.concat_tables(found, promote_options="permissive")


# ------------------------------------------------------------------ all parts together


def drawn_places(parts: Sequence[FilePart]) -> Iterator[NDArray[np.int64]]:
    """Yield which rows of every part are drawn; all of them if they are no more than `SAMPLE`."""
    sizes = [part.n_rows for part in parts]
    ends, n = np.cumsum(sizes), sum(sizes)
    some = drawn_rows(n, min(n, SAMPLE), 0)
    for end, size, own in zip(
        ends, sizes, np.split(some, np.searchsorted(some, ends[:-1])), strict=True
    ):
        yield own - (end - size)


def labelled_share(n_rows: int, n_all: int) -> int:
    """Return how many labelled rows a task looks at besides those that are drawn.

    Examples
    --------
    >>> labelled_share(10**6, 10**7), labelled_share(10, 10**7)
    (10000, 20)
    """
    return max(_LEAST, SAMPLE * n_rows // n_all)


def rows_of_sample(
    name: str, found: Sequence[Sampled], first: Columns, options: LearningFileOptions, task: Task
) -> Rows:
    """Return the sampled rows as `graphkm train` would read them from one file."""
    rows = _joined([each.rows for each in found if len(each.rows)] or [found[0].rows])
    out = io.BytesIO()
    if isinstance(rows, list):
        options = replace(options, encoding=None)
        text = io.TextIOWrapper(out, "utf-8", "surrogateescape", newline="")
        if first.head.names is not None:
            csv.writer(text, delimiter=first.head.delimiter).writerow(first.head.names)
        text.writelines(f"{unfolded(row)}\n" for row in rows)
        text.detach()
    else:
        from pyarrow import parquet

        parquet.write_table(rows, out)
    return read_rows(Source(name, out), options, task)

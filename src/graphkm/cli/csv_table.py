"""CSV files: what their first lines tell, and their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from ..io import BadRows, DataFileError
from ..io.files import OpenFile
from ..io.tables import csv_pieces, fields, has_header, is_number
from .dropping import Blocks, keep_columns
from .errors import UsageError
from .layout import Head, Layout
from .memory import Memory
from .options import FileOptions

_DELIMITERS = {",": ",", ";": ";", "|": "|", "tab": "\t", "\t": "\t", "\\t": "\t",
               "space": " ", " ": " "}  # fmt: skip
_GUESSED = (",", ";", "\t", "|", " ")


def csv_table(
    source: Blocks,
    options: FileOptions,
    bad_rows: BadRows,
    lay_out: Callable[[Head], Layout],
    labels: str,
    memory: Memory | None,
) -> tuple[Layout, Iterator[tuple[Any, Any]]]:
    """Return a table's columns and its rows, in pieces."""
    block = source.read()
    lines = [line.decode("utf-8", "backslashreplace") for line in _first_lines(block)]
    delimiter = _delimiter(options.delimiter, lines[0])
    first, second = (fields(line, delimiter) for line in lines)
    named = _is_named(first, second, options, memory, source.name)
    layout = lay_out(Head(source.name, first if named else None, len(first)))
    if memory is None:
        _refuse_words(source.name, layout, first, second if named else first, named)
    blocks = chain([block], iter(source.read, b""))
    kept, width = layout.kept, len(first)
    if len(kept) < width:
        blocks = chain(keep_columns(blocks, kept, width, delimiter))
    opened = OpenFile(Blocks(blocks, source.name), source.name, compressed=True)  # type: ignore[arg-type]
    return layout, csv_pieces(
        opened,
        bad_rows,
        label=None if layout.label is None else kept.index(layout.label),
        labels=labels,
        n_features=len(layout.features),
        header=named,
        delimiter=delimiter,
        unlabeled=options.unlabeled,
    )


def _first_lines(block: bytes) -> list[bytes]:
    lines = block.lstrip(b"\r\n").split(b"\n", 2)[:2]
    return [line.removesuffix(b"\r") for line in lines]


def _delimiter(given: str | None, line: str) -> str:
    r"""Return what separates fields: as given, or the first usual sign in the line.

    Examples
    --------
    >>> _delimiter(None, "x;y;label"), _delimiter("tab", "a b")
    (';', '\t')
    """
    if given is None:
        return next((sign for sign in _GUESSED if sign in line), ",")
    if given not in _DELIMITERS:
        raise UsageError(f"--delimiter {given}: it must be one of , ; | tab space.")
    return _DELIMITERS[given]


def _is_named(
    first: list[str], second: list[str], options: FileOptions, memory: Memory | None, name: str
) -> bool:
    """Return whether the first line holds names."""
    if options.header is not None:
        return options.header
    if memory is not None and memory.columns is not None:
        return True  # or the columns could not be told
    without_label = memory is not None and len(first) == memory.n_features
    label = None if without_label else _place(options.label or (memory and memory.label) or -1)
    return has_header(first, second, label, options.unlabeled, name)


def _place(column: str | int) -> str | int:
    """Return a column as `has_header` counts: from 0 where it is a number.

    Examples
    --------
    >>> _place("3"), _place(-1), _place("kind")
    (2, -1, 'kind')
    """
    if isinstance(column, str) and not column.lstrip("-").isdigit():
        return column
    number = int(column)
    return number - 1 if number > 0 else number


def _refuse_words(name: str, layout: Layout, first: list[str], row: list[str], named: bool) -> None:
    """Raise if the first row has words where features should be."""
    if len(row) != len(first):
        return  # the parser says it better
    for k in layout.features:
        if row[k] in ("", "?") or is_number(row[k]):
            continue
        column, call = (first[k], repr(first[k])) if named else (str(k + 1), f"number {k + 1}")
        raise DataFileError(
            f"{name}: the column {call} holds words ({row[k]!r}), and features are numbers. Leave "
            f"it out with --drop {column}, or pass --label {column} if it is the label."
        )

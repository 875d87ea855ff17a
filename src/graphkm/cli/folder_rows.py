"""Folders of pictures or text files, as rows for a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io import DataFileError
from ..io.columns import Columns, Head, Piece
from ..io.kinds import IMAGE, TEXT
from ..tables.folders import FolderRows, read_folder
from .model_files import FOLDER, FileNote
from .options import FileOptions, UsageError
from .output import say
from .row_table import Table

FILE, LABEL = "file", "label"
"""What a row's path inside its folder is called, and its class."""
_PIECE = 1000  # rows that are handed on at a time
KINDS = {"images": IMAGE, "texts": TEXT}
"""The kinds of columns that files are."""
COLUMNS = {IMAGE: FILE, TEXT: "text"}
"""What the only feature is called."""
_OF_TABLES = (
    *("label", "labels", "separator", "unlabeled", "drop", "id", "text", "images", "features"),
    *("zero_based", "header", "delimiter", "encoding"),
)


def is_folder(path: str) -> bool:
    """Return whether a path leads to a folder."""
    return path != "" and Path(path).is_dir()


def open_known_folder(
    path: str, options: FileOptions, note: FileNote, kept: Sequence[tuple[str, str]] = ()
) -> Table:
    """Return the files of a folder for a model that knows texts, or pictures, alone.

    Their paths are copied to the output; `kept` are columns to copy, each with its option.
    """
    for name, flag in kept:
        if flag:
            raise UsageError(f"{flag} {name}: {path} is a folder, whose rows have no columns.")
    if len(note.kinds) != 1 or not note.encoded:
        wanted = ", ".join(note.columns or []) or f"{note.n_features:,} columns"
        raise UsageError(
            f"{path} is a folder, and the model has learnt from columns of a table: {wanted}. Give "
            "a table with these columns."
        )
    found = read_files(path, options)
    if KINDS[found.kind] != note.kinds[0]:
        raise DataFileError(
            f"{path} holds {found.kind}, and the model has learnt from {note.kinds[0]}s."
        )
    head = Head(path, [FILE, COLUMNS[note.kinds[0]], LABEL], 3)
    table = Table(path, FOLDER, iter(()), Columns(head, (1,), 2, (0,)))
    y = _labels(found, note)

    def pieces() -> Iterator[Piece]:
        for start in range(0, len(found), _PIECE):
            some = slice(start, start + _PIECE)
            table.kept.extend((name,) for name in found.names[some])
            yield as_objects(found.items[some])[:, None], y[some]

    return table.with_pieces(pieces())


def read_files(path: str, options: FileOptions) -> FolderRows:
    """Return the files of a folder; name those that are left out on standard error."""
    if not is_folder(path):
        raise UsageError(f"{path} is no folder; give a folder of files of the same kind.")
    for name in _OF_TABLES:
        if getattr(options, name, None) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{flag}: {path} is a folder, whose rows have no columns. Leave it out."
            )
    found = read_folder(Path(path), verbose=_shown())
    for note in found.notes:
        say(f"note: {note}")
    return found


def _shown() -> int:
    import sys

    return int(sys.stderr.isatty())


def _labels(found: FolderRows, note: FileNote) -> NDArray[Any]:
    """Return the classes of files as the model has them: texts, or numbers."""
    if note.labels != "number":
        return as_objects(found.labels)
    try:
        return np.array([np.nan if each is None else float(each) for each in found.labels])
    except ValueError:
        return np.full(len(found), np.nan)  # sub-folders that are no classes of this model


def as_objects(values: list[Any]) -> NDArray[np.object_]:
    """Return values as an array of one axis, whatever they are."""
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out

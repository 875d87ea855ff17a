"""Files of the command line: opened as its options say."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from .._util.files import is_stream
from ..io.encodings import TextEncoding
from ..io.files import STDIN, format_by_name, open_source, source_name
from ..io.parquet import RowGroups
from ..io.row_files import OpenTable, open_table
from .json_rows import is_json, table_of
from .options import FileOptions, Format, UsageError

_DELIMITERS = {",": ",", ";": ";", "|": "|", "tab": "\t", "\t": "\t", "\\t": "\t",
               "space": " ", " ": " "}  # fmt: skip


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
def open_file(
    path: str, options: FileOptions, source: Any = None, **handling: str
) -> Iterator[OpenTable]:
    """Open a file; `source` holds its contents if the path can be read once, or some rows of it."""
    format = format_by_name(path) if options.format is Format.auto else options.format.value
    if not isinstance(source, io.BytesIO) and options.format is Format.auto and is_json(path):
        source, format = table_of(path), "csv"
        options = replace(options, encoding="utf-8")
    if isinstance(source, io.BytesIO):
        source.seek(0)
    elif not isinstance(source, RowGroups):
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


@dataclass(frozen=True)
class Source:
    """A file that can be read again and again, even if it is a pipe."""

    path: str
    contents: Any  # what a pipe holds; the path for a file

    @classmethod
    def at(cls, path: str) -> Source:
        """Return the file at a path; a pipe is read to its end now."""
        if path == STDIN or is_stream(path):
            with open_source(path) as opened:
                return cls(path, io.BytesIO(opened.file.read()))
        return cls(path, path)

    def open(self, options: FileOptions, **handling: str) -> AbstractContextManager[OpenTable]:
        """Open it as the options say."""
        return open_file(self.path, options, self.contents, **handling)

"""Files that are read in parts, by many processes: CSV cut between rows, Parquet by row groups."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .csv import SEPARATOR
from .files import DataFileError, format_by_name, open_source
from .parquet import RowGroups, open_parquet

_CUT = 2**21  # bytes of CSV between two cuts; also what is read at a time
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")  # UTF-16 and UTF-32: no byte is a row
_BYTE_MARK = b"\xef\xbb\xbf"
_QUOTE, _NEWLINE = ord('"'), ord("\n")
_FORMATS = ("csv", "parquet")


class FilePart(NamedTuple):
    """Some rows of a file that stand together."""

    path: str
    format: str
    start: int
    """The first byte of CSV, or the first row group of Parquet."""
    stop: int
    """The byte or the row group that follows."""
    n_rows: int
    """Rows of Parquet; of CSV the lines, of which some may be blank."""
    head: bytes = b""
    """The line of names of CSV, and what stands before it."""
    number: int = 0
    """Which part of its file it is."""

    @property
    def name(self) -> str:
        """What messages call it."""
        if self.number == 0:
            return self.path
        unit = "row group" if self.format == "parquet" else "byte"
        return f"{self.path} (from {unit} {self.start:,} on)"

    def source(self) -> Any:
        """Return what `open_table` takes to read these rows."""
        if self.format == "parquet":
            return RowGroups(self.path, self.start, self.stop)
        with open_source(self.path) as opened:
            if opened.compressed:
                return self.path
            opened.file.seek(self.start)
            return io.BytesIO(self.head + opened.file.read(self.stop - self.start))


def data_files(place: str) -> list[str]:
    """Return the CSV or Parquet files of a folder, or those that a pattern fits, in their order.

    Sub-folders are searched, too. Files and folders whose names begin with a point or an underscore
    are passed over, as Spark and Dask do.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.csv", "a.csv.gz", "_SUCCESS", "notes.md"):
    ...         Path(folder, name).touch()
    ...     [os.path.basename(path) for path in data_files(folder)]
    ['a.csv.gz', 'b.csv']
    """
    root = Path(place)
    if root.is_dir():
        seen = (path for path in sorted(root.rglob("*")) if path.is_file() and _counts(path, root))
        found = [str(path) for path in seen if format_by_name(path.name) in _FORMATS]
        if not found:
            raise DataFileError(f"{place} holds no CSV and no Parquet files.")
    else:
        plain = not glob.has_magic(place)
        found = [
            path
            for path in sorted(glob.glob(place, recursive=True))
            if os.path.isfile(path) and (plain or not os.path.basename(path).startswith("_"))
        ]
        if not found:
            raise DataFileError(f"{place}: there is no such file, and no file fits the pattern.")
        odd = next((path for path in found if format_by_name(path) not in _FORMATS), None)
        if odd is not None:
            raise DataFileError(
                f"{odd}: its name tells neither CSV nor Parquet; give it an ending such as .csv or "
                ".parquet."
            )
    kinds = [str(format_by_name(path)) for path in found]
    if len(set(kinds)) > 1:
        counts = " and ".join(f"{kinds.count(kind)} of {kind}" for kind in _FORMATS)
        raise DataFileError(
            f"{place} holds files of two formats, {counts}; name those of one, as in '*.parquet'."
        )
    return found


def _counts(path: Path, root: Path) -> bool:
    return not any(part.startswith((".", "_")) for part in path.relative_to(root).parts)


def cut_file(path: str, named: bool) -> list[FilePart]:
    """Return the smallest parts of a file: CSV of about 2 MiB each, or single row groups.

    CSV is cut at newlines outside quotes. Compressed files, and CSV in UTF-16, are one part.

    Parameters
    ----------
    path : str
        The file.
    named : bool
        Whether the first line of CSV holds the names of the columns.
    """
    if format_by_name(path) == "parquet":
        file, _ = open_parquet(path, path)
        with file:
            groups = (file.metadata.row_group(i).num_rows for i in range(file.num_row_groups))
            parts = [FilePart(path, "parquet", i, i + 1, n) for i, n in enumerate(groups)]
        return [part._replace(number=i) for i, part in enumerate(parts) if part.n_rows]
    with open_source(path) as opened:
        first = opened.file.read(_CUT)
        if opened.compressed or first.startswith(_WIDE_MARKS):
            n_rows = first.count(b"\n") + sum(block.count(b"\n") for block in _blocks(opened.file))
            return [FilePart(path, "csv", 0, os.path.getsize(path), n_rows)]
        opened.file.seek(0)
        cuts = list(_cuts(_blocks(opened.file)))
    if not cuts:
        return []
    head = _head(first, named)
    starts = [len(head), *(stop for stop, _ in cuts[:-1])]
    return [
        FilePart(path, "csv", start, stop, n_rows, head, i)
        for i, (start, (stop, n_rows)) in enumerate(zip(starts, cuts, strict=True))
        if stop > start
    ]


def _blocks(file: Any) -> Iterator[bytes]:
    while block := file.read(_CUT):
        yield block


def _cuts(blocks: Iterable[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where parts end, and how many lines each has; the end of the file is the last."""
    place = last = n_rows = n_quotes = 0
    for block in blocks:
        text = np.frombuffer(block, dtype=np.uint8)
        newlines = np.flatnonzero(text == _NEWLINE)
        if b'"' in block or n_quotes % 2:
            quotes = np.flatnonzero(text == _QUOTE)
            inside = (n_quotes + np.searchsorted(quotes, newlines)) % 2 == 1
            newlines, n_quotes = newlines[~inside], n_quotes + len(quotes)
        if len(newlines):
            end = place + int(newlines[-1]) + 1
            yield end, n_rows + len(newlines)
            last, n_rows = end, 0
        place += len(block)
    if place > last:
        yield place, 1  # the last line has no newline; or a quote is not closed


def _head(text: bytes, named: bool) -> bytes:
    """Return what stands before the first row: a mark, Excel's first line, the line of names."""
    start = len(_BYTE_MARK) if text.startswith(_BYTE_MARK) else 0
    while text[start : start + 1] in (b"\r", b"\n"):
        start += 1
    told = SEPARATOR.match(text, start)
    start = told.end() if told else start
    if not named:
        return text[:start] if told else text[: min(start, len(_BYTE_MARK))]
    return text[: start + _end_of_row(text[start:])]


def _end_of_row(text: bytes) -> int:
    """Return where the first row ends, which is not blank."""
    place = n_quotes = 0
    for line in text.splitlines(keepends=True):
        place, n_quotes = place + len(line), n_quotes + line.count(b'"')
        if n_quotes % 2 == 0 and line.strip():
            break
    return place


def put_together(parts: Sequence[FilePart], most_rows: int, most_bytes: int) -> list[FilePart]:
    """Return larger parts: those of one file that follow each other, as long as they are small.

    Examples
    --------
    >>> parts = [FilePart("a.csv", "csv", i, i + 9, 5, b"", i // 9) for i in (0, 9, 18)]
    >>> [(part.start, part.stop, part.n_rows) for part in put_together(parts, 10, 100)]
    [(0, 18, 10), (18, 27, 5)]
    """
    found = list[FilePart]()
    for part in parts:
        last = found[-1] if found else None
        if last is not None and (last.path, last.stop) == (part.path, part.start):
            size = 0 if part.format == "parquet" else part.stop - last.start
            if last.n_rows + part.n_rows <= most_rows and size <= most_bytes:
                found[-1] = last._replace(stop=part.stop, n_rows=last.n_rows + part.n_rows)
                continue
        same = last is not None and last.path == part.path
        found.append(part._replace(number=last.number + 1 if same and last else 0))
    return found

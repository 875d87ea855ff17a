"""Streams of chunks from files and standard input, with bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

from ..io.bad_rows import BadRows
from ..io.columns import AllBesideLabel
from ..io.csv import DELIMITERS
from ..io.encodings import TextEncoding
from ..io.files import STDIN, DataFileError, binary_file, format_by_name, source_name
from ..io.libsvm import check_indices, libsvm_pieces
from ..io.row_files import OpenTable, open_table
from .chunks import Chunk, cut_into_chunks

_FORMATS = ("libsvm", "csv", "parquet")


def read_stream(
    source: Any,
    *,
    format: str = "auto",
    chunk_size: int = 1000,
    n_features: int | None = None,
    label: str | int | None = "label",
    labels: str = "auto",
    unlabeled: Any = None,
    on_bad_row: str = "error",
    start: int = 0,
    zero_based: bool = False,
    header: bool | str = "auto",
    delimiter: str = ",",
    encoding: str | None = None,
) -> FileStream:
    r"""Return the chunks of a file as a stream, which can start at any row.

    Memory holds only a few blocks of the file and one chunk at a time.

    Parameters
    ----------
    source : path, "-" or binary file
        "-" is standard input. Text may be compressed with gzip, bz2 or xz.
    format : {"auto", "libsvm", "csv", "parquet"}
        "auto" goes by the file's name: .libsvm, .svm, .svmlight, .csv, .tsv, .parquet or .pq,
        which .gz, .bz2 or .xz may follow.
    chunk_size : int
        Rows per chunk; the last one may be shorter.
    n_features : int, optional
        The number of features. LIBSVM's format needs it, because it leaves out zeros. For tables
        it is checked.
    label : str, int or None
        The name or position of the label's column in a table (-1: the last one). None: there is
        none, and all rows are unlabelled. In LIBSVM's format the label comes first.
    labels : {"auto", "number", "text"}
        Whether labels of tables are numbers (y holds floats, NaN where unknown) or text (y holds
        objects, None where unknown). "auto" looks at the first block of rows with labels.
    unlabeled : optional
        The marker of unlabelled rows, besides ``?``, NaN and, in tables, an empty field, NA, N/A,
        null and None.
    on_bad_row : {"error", "skip"}
        Raise at a row that cannot be used (missing or infinite values, a wrong number of features,
        a field that is not a number), or leave such rows out. `bad_rows` then counts them, and a
        `BadRowWarning` reports them at the end.
    start : int
        The first row to return, to continue where an earlier reader stopped. The rows before it
        are read and checked too.
    zero_based : bool
        Whether indices in LIBSVM's format count from 0. There is no "auto": only a whole file
        would show it.
    header : bool or "auto"
        Whether the first line of a CSV file holds the columns' names. "auto": it does if it has
        words where numbers should be, or if `label` is a name.
    delimiter : {",", ";", "\\t", " ", "|"}
        The separator of CSV fields; a tab for files called .tsv. A first line like ``sep=;``, which
        Excel writes, tells it too.
    encoding : str, optional
        The encoding of a text, such as "windows-1252". Default: the one that its first bytes mark,
        else UTF-8, else Windows-1252, and then a warning says so.

    Returns
    -------
    FileStream
        An iterable of `Chunk`.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO(b"x,z,label\n1,2,cat\n3,4,?\n5,6,dog\n")
    >>> stream = read_stream(file, format="csv", chunk_size=2)
    >>> for chunk in stream:
    ...     print(chunk.first_row, chunk.X.tolist(), chunk.y.tolist())
    0 [[1.0, 2.0], [3.0, 4.0]] ['cat', None]
    2 [[5.0, 6.0]] ['dog']
    >>> [chunk.y.tolist() for chunk in stream.from_row(2)]
    [['dog']]
    """
    stem = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    if delimiter == "," and ".tsv" in os.path.basename(stem).lower():
        delimiter = "\t"
    return FileStream(
        source=source,
        format=_format(source, format),
        chunk_size=chunk_size,
        n_features=n_features,
        label=label,
        labels=labels,
        unlabeled=unlabeled,
        on_bad_row=on_bad_row,
        start=start,
        zero_based=zero_based,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
    )


@dataclass
class _Reading:
    """The state of one reading."""

    bad_rows: BadRows
    place: int | None  # the initial position of an open file
    used: bool = False


@dataclass(frozen=True, kw_only=True)
class FileStream:
    """The chunks of a file. `read_stream` makes it and explains its attributes.

    Attributes
    ----------
    bad_rows : BadRows
        The rows left out so far by the latest reading.
    """

    source: Any
    format: str
    chunk_size: int
    n_features: int | None
    label: str | int | None
    labels: str
    unlabeled: Any
    on_bad_row: str
    start: int
    zero_based: bool
    header: bool | str
    delimiter: str
    encoding: str | None
    _reading: _Reading = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self)
        place = None
        if not _is_path(self.source):
            file = binary_file(self.source)
            seekable = hasattr(file, "seekable") and file.seekable()
            place = file.tell() if seekable else None
        bad_rows = BadRows(source_name(self.source), self.on_bad_row)
        object.__setattr__(self, "_reading", _Reading(bad_rows, place))

    @property
    def bad_rows(self) -> BadRows:
        """The rows left out so far by the latest reading."""
        return self._reading.bad_rows

    def from_row(self, row: int) -> FileStream:
        """Return the same stream from this row on.

        To continue after a chunk, pass its `first_row` plus its length.
        """
        stream = replace(self, start=row)
        stream._reading.place = self._reading.place
        return stream

    def __iter__(self) -> Iterator[Chunk]:
        self._rewind()
        handling = {"on_bad_row": self.on_bad_row, "encoding": self.encoding}
        with open_table(self.source, self.format, **handling) as table:
            self._reading.bad_rows = table.bad_rows
            yield from cut_into_chunks(self._pieces(table), self.chunk_size, self.start)

    def _pieces(self, table: OpenTable) -> Iterator[Any]:
        if self.format == "libsvm":
            assert self.n_features is not None
            return libsvm_pieces(table.lines, self.n_features, self.zero_based, self.unlabeled)
        options = {k: getattr(self, k) for k in ("labels", "unlabeled", "header", "delimiter")}
        return table.columns(AllBesideLabel(self.label, self.n_features), **options)[1]

    def _rewind(self) -> None:
        if _is_path(self.source):
            return
        if self._reading.place is not None:
            binary_file(self.source).seek(self._reading.place)
        elif self._reading.used:
            raise DataFileError(
                f"{source_name(self.source)} can be read only once. Save it to a file to read it "
                "again."
            )
        self._reading.used = True


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) and source != STDIN


def _format(source: Any, format: str) -> str:
    if format in _FORMATS:
        return format
    if format != "auto":
        raise ValueError(f"format={format!r} is none of 'auto', {', '.join(map(repr, _FORMATS))}.")
    told = format_by_name(source_name(source))
    if told is None:
        raise ValueError(
            f"The name of {source_name(source)} does not tell its format. Pass format='libsvm', "
            "'csv' or 'parquet'."
        )
    return told


def _check(stream: FileStream) -> None:
    for name, least in (("chunk_size", 1), ("start", 0)):
        value = getattr(stream, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name}={value!r} must be an integer of at least {least}.")
    TextEncoding(stream.encoding)  # raises if there is none of that name
    if stream.labels not in ("auto", "number", "text"):
        raise ValueError(f"labels={stream.labels!r} is none of 'auto', 'number', 'text'.")
    if stream.header not in (True, False, "auto"):
        raise ValueError(f"header={stream.header!r} is none of True, False, 'auto'.")
    if stream.delimiter not in DELIMITERS:
        raise ValueError(f"delimiter={stream.delimiter!r} is none of {', '.join(DELIMITERS)!r}.")
    if stream.format == "libsvm":
        check_indices(stream.n_features, bool(stream.zero_based))
        if stream.n_features is None:
            raise ValueError(
                f"LIBSVM's format does not tell how many features {source_name(stream.source)} "
                "has, and a stream cannot wait for its end. Pass n_features=."
            )
        if isinstance(stream.unlabeled, str):
            raise ValueError(f"unlabeled={stream.unlabeled!r}: labels of LIBSVM are numbers.")

"""Sources of bytes: paths, open files and standard input, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

STDIN = "-"

_ENDINGS = {
    "libsvm": "libsvm", "svm": "libsvm", "svmlight": "libsvm",
    "csv": "csv", "tsv": "csv", "parquet": "parquet", "pq": "parquet",
}  # fmt: skip
_PACKED = ("gz", "bz2", "xz")
_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"BZh": bz2.open,
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
}


class DataFileError(ValueError):
    """A file does not hold what it should. The message says where, and what to do."""


@dataclass(frozen=True)
class OpenFile:
    """A binary file that is being read."""

    file: BinaryIO  # yields decompressed bytes
    name: str  # in messages
    compressed: bool  # whether reading decompresses

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; none at the end of the file."""
        if not self.compressed:
            # `read1` returns what a pipe has, instead of waiting for `size` bytes.
            live = isinstance(self.file, io.BufferedReader)
            return self.file.read1(size) if live else self.file.read(size)  # type: ignore[attr-defined]
        try:
            return self.file.read(size)
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk's fault, not the file's
            raise DataFileError(
                f"{self.name} cannot be decompressed to its end ({error}): it was cut short or "
                "altered. Fetch it again, or compress the original anew."
            ) from error


def source_name(source: Any) -> str:
    """Return the name of a source in messages.

    Examples
    --------
    >>> source_name("data/train.csv"), source_name("-")
    ('data/train.csv', 'standard input')
    """
    if isinstance(source, str | os.PathLike):
        return "standard input" if source == STDIN else os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"the given {type(source).__name__}"


def format_by_name(name: str) -> str | None:
    """Return the format that a file's name tells; None if it tells none.

    Examples
    --------
    >>> format_by_name("w8a.libsvm.bz2"), format_by_name("rows.pq"), format_by_name("data.txt")
    ('libsvm', 'parquet', None)
    """
    parts = os.path.basename(name).lower().split(".")
    if parts[-1] in _PACKED:
        parts.pop()
    return _ENDINGS.get(parts[-1]) if len(parts) > 1 else None


@contextmanager
def open_source(source: Any) -> Iterator[OpenFile]:
    r"""Open a path, "-" (standard input) or a binary file, and decompress it.

    A file that was open before stays open.

    Examples
    --------
    >>> with open_source(io.BytesIO(gzip.compress(b"1 2:3\n"))) as opened:
    ...     opened.read(100)
    b'1 2:3\n'
    """
    name = source_name(source)
    if isinstance(source, str | os.PathLike) and source != STDIN:
        with open(source, "rb") as file:
            yield _decompressed(file, name)
    else:
        yield _decompressed(binary_file(source), name)


def binary_file(source: Any) -> Any:
    """Return the binary file of a source that is not a path."""
    file = sys.stdin if isinstance(source, str) and source == STDIN else source
    file = getattr(file, "buffer", file)  # of a file in text mode
    if isinstance(file, io.TextIOBase) or not callable(getattr(file, "read", None)):
        raise TypeError(
            f"{source!r} is neither a path nor a binary file. Open files with mode 'rb', and wrap "
            "text in io.BytesIO(text.encode())."
        )
    return file


def _decompressed(file: Any, name: str) -> OpenFile:
    start, file = _peek(file)
    for magic, opener in _OPENERS.items():
        if start.startswith(magic):
            return OpenFile(opener(file), name, compressed=True)
    return OpenFile(file, name, compressed=False)


def _peek(file: Any) -> tuple[bytes, Any]:
    """Return the first bytes, and a file that begins with them."""
    if hasattr(file, "peek"):
        return file.peek(8)[:8], file
    if hasattr(file, "seekable") and file.seekable():
        place = file.tell()
        start = file.read(8)
        file.seek(place)
        return start, file
    if isinstance(file, io.RawIOBase):
        return _peek(io.BufferedReader(file))
    return b"", file

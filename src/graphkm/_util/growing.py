"""Files that grow at their end, which one process at a time may use."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import BinaryIO


def open_alone(path: Path) -> BinaryIO:
    """Open a file for reading and for adding to its end; it is made if it is not there.

    Raise BlockingIOError if another process has opened it so. On Windows nothing is checked.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, open_alone(Path(folder, "a")) as file:
    ...     add(file, b"x")
    ...     try:
    ...         open_alone(Path(folder, "a"))
    ...     except BlockingIOError:
    ...         print("in use")
    in use
    """
    file = open(path, "a+b")  # noqa: SIM115 - the caller closes it
    try:
        import fcntl
    except ImportError:  # Windows
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        file.close()
        raise
    return file


def add(file: BinaryIO, content: bytes) -> None:
    """Write at the end; what was written is on the disk when this returns, or not there at all."""
    end = file.seek(0, os.SEEK_END)
    try:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    except OSError:  # a full disk: no half line stays behind
        with contextlib.suppress(OSError):
            file.truncate(end)
        raise

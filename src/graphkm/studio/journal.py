"""What Label Studio has told, on disk before it is acknowledged.

Every line is an object of JSON with a checksum, as in the journal of the labelling page. Lines are
only added. A last line that was not finished was never acknowledged, and is cut off.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..app.journal_lines import read_line, with_checksum
from ..formats import AnnotationsError

Entry = dict[str, Any]


class Journal:
    """A file of entries.

    Parameters
    ----------
    path : Path
        The file; it is made if it is not there.
    take : callable
        Takes every entry that the file holds.

    Examples
    --------
    >>> import tempfile
    >>> from contextlib import closing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, found = Path(folder, "a.journal"), []
    ...     with closing(Journal(path, found.append)) as journal:
    ...         journal.add({"task": 1})
    ...     with closing(Journal(path, found.append)):
    ...         found
    [{'task': 1}]
    """

    def __init__(self, path: Path, take: Callable[[Entry], None]) -> None:
        self.path = path
        self._file = open(path, "a+b")  # noqa: SIM115 - open while the server is
        _lock(self._file)
        self._file.seek(0)
        lines = self._file.read().split(b"\n")[:-1]
        for number, line in enumerate(lines, 1):
            try:
                take(read_line(line, True))
            except (ValueError, TypeError, KeyError) as error:
                self._file.close()
                raise AnnotationsError(
                    f"{path}: line {number} is damaged ({error}). Take the file from a copy, or "
                    "delete this line: what it says is lost then, and the others stay."
                ) from error
        self._file.truncate(sum(len(line) + 1 for line in lines))

    def add(self, *entries: Entry) -> None:
        """Keep entries; when this returns, they are on the disk."""
        lines = [with_checksum(json.dumps(each).encode()) + b"\n" for each in entries]
        end = self._file.seek(0, os.SEEK_END)
        try:
            self._file.write(b"".join(lines))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:  # a full disk: no half line stays behind
            with contextlib.suppress(OSError):
                self._file.truncate(end)
            raise

    def close(self) -> None:
        """Let others use the file."""
        self._file.close()


def _lock(file: Any) -> None:
    """Raise if another process has the file open."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise AnnotationsError(f"{file.name} is in use: a backend runs with it already.") from error

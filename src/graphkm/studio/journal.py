"""What Label Studio has told, on disk before it is acknowledged.

Every line is an object of JSON with a checksum, as in the journal of the labelling page. Lines are
only added. A last line that was not finished was never acknowledged, and is cut off.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._util.growing import add, open_alone
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
        try:
            self._file = open_alone(path)
        except BlockingIOError as error:
            raise AnnotationsError(f"{path} is in use: a backend runs with it already.") from error
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
        add(self._file, b"".join(lines))

    def close(self) -> None:
        """Let others use the file."""
        self._file.close()

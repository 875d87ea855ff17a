"""The file behind a journal: lines that are only ever added, each on the disk before it counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .._util.growing import add, open_alone
from .journal_lines import SUM, read_line, with_checksum


class JournalError(Exception):
    """A journal that does not belong to these rows, or cannot be used."""


class JournalFile:
    """Lines of JSON with checksums, which one process at a time may use.

    Parameters
    ----------
    place : Path
        The file. It is made if it does not exist.
    """

    def __init__(self, place: Path) -> None:
        self.place = place
        try:
            self.handle = open_alone(place)
        except BlockingIOError as error:
            raise JournalError(
                f"{place} is in use: the page is open for these labels already."
            ) from error
        try:
            self._signed = False
            self._lines, self._whole = self._read()
        except BaseException:
            self.handle.close()
            raise

    def entries(self) -> list[Any]:
        """Return what the lines say; raise JournalError if one is damaged."""
        return [self._entry(number) for number in range(1, len(self._lines) + 1)]

    def damaged(self, number: int, error: Exception) -> JournalError:
        """Return what to say of a line that cannot be used."""
        advice = "delete this line: its answer is lost then, and the others stay"
        return JournalError(
            f"{self.place}: line {number} is damaged ({error}). Take the file from a copy, "
            f"or {advice if number > 1 else 'move it away'}."
        )

    def clean(self) -> None:
        """Cut off an unfinished last line: it was never acknowledged."""
        self.handle.truncate(sum(len(line) + 1 for line in self._lines) - self._whole)
        if self._whole:
            self.handle.write(b"\n")

    def append(self, entry: dict[str, Any]) -> None:
        """Add a line; it is on the disk when this returns, or not there at all."""
        add(self.handle, with_checksum(json.dumps(entry, ensure_ascii=False).encode()) + b"\n")

    def close(self) -> None:
        """Let others use the file."""
        self.handle.close()

    def _read(self) -> tuple[list[bytes], bool]:
        """Return whole lines, and whether only the end of the last one is missing or damaged."""
        self.handle.seek(0)
        *lines, rest = self.handle.read().split(b"\n")
        found = SUM.search(rest)
        last = b"" if found is None else rest[: found.end()]
        whole = found is not None and with_checksum(rest[: found.start()] + b"}") == last
        return [*lines, *([last] if whole else [])], whole

    def _entry(self, number: int) -> Any:
        line = self._lines[number - 1]
        try:
            entry = read_line(line, self._signed)
        except (ValueError, TypeError) as error:
            raise self.damaged(number, error) from error
        self._signed = self._signed or SUM.search(line) is not None
        return entry

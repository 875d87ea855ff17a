"""Results that last: one JSON line per cell, appended whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, Any]


class ResultsError(Exception):
    """A folder of results cannot be used as asked; the message says what to do."""


class Ledger:
    """The results of a folder, and the protocol they were made by.

    A row is written in one piece and flushed to the disk before the next one is started. The next
    write drops an unfinished line that an interruption left.

    Parameters
    ----------
    folder : path
        Created at the first write.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(folder)
    ...     ledger.append({"key": "a", "accuracy": 0.5})
    ...     Ledger(folder).rows()
    [{'key': 'a', 'accuracy': 0.5}]
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / "results.jsonl"
        self._repaired = False

    def rows(self) -> list[Row]:
        """Return all rows; the last one of a key counts."""
        answer: dict[str, Row] = {}
        for number, line in enumerate(self._complete_lines(), start=1):
            try:
                row = json.loads(line)
                answer[row["key"]] = row
            except (ValueError, KeyError, TypeError) as error:
                raise ResultsError(
                    f"Line {number} of {self.path} is no result. Remove that line: its cell will "
                    "be run again."
                ) from error
        return list(answer.values())

    def append(self, row: Row) -> None:
        """Add a row, for good."""
        self.folder.mkdir(parents=True, exist_ok=True)
        line = json.dumps(row, default=_plain, allow_nan=False).encode() + b"\n"
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            if not self._repaired:
                os.ftruncate(handle, len(_whole(self._content())))
                self._repaired = True
            while line:  # a full disk may take a part only; the next write then raises
                line = line[os.write(handle, line) :]
            os.fsync(handle)
        except OSError:
            self._repaired = False  # the next append drops what was written of this row
            raise
        finally:
            os.close(handle)

    def keep_protocol(self, protocol: Row) -> None:
        """Note the protocol, or refuse if the folder holds results of another."""
        path = self.folder / "protocol.json"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            part = self.folder / f".protocol.{os.getpid()}.part"
            part.write_text(json.dumps(protocol, indent=1) + "\n", encoding="utf-8")
            os.replace(part, path)
            return
        known = self.protocol()
        if known != protocol:
            apart = [name for name in protocol if known.get(name) != protocol[name]]
            raise ResultsError(
                f"{self.folder} holds results made with other settings ({', '.join(apart)}). Name "
                "another folder with --out, or pass the settings of that one."
            )

    def protocol(self) -> Row:
        """Return the protocol of the folder."""
        path = self.folder / "protocol.json"
        if not path.exists():
            raise ResultsError(
                f"{self.folder} holds no results. `python -m reproduction run NAME --out "
                "DIR` makes some."
            )
        return json.loads(path.read_text(encoding="utf-8"))

    def _content(self) -> bytes:
        return self.path.read_bytes() if self.path.exists() else b""

    def _complete_lines(self) -> list[bytes]:
        return _whole(self._content()).splitlines()


def _whole(content: bytes) -> bytes:
    """Return the complete lines, without an unfinished last one."""
    return content[: content.rfind(b"\n") + 1]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a result: {value!r}")

"""The file of results: one JSON line per cell."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from graphkm._util.files import replacing

Row = dict[str, Any]


class ResultsError(Exception):
    """A folder of results cannot be used as asked; the message says what to do."""


class Ledger:
    """The results of a folder, and their protocol. The first write creates the folder.

    Every row is flushed to the disk. If an interruption leaves an unfinished line, the next write
    removes it.

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
        for number, line in enumerate(self._complete_lines().splitlines(), start=1):
            try:
                row = json.loads(line)
                answer[row["key"]] = row
            except (ValueError, KeyError, TypeError) as error:
                raise ResultsError(
                    f"Line {number} of {self.path} is not a result. Remove that line: its cell "
                    "will run again."
                ) from error
        return list(answer.values())

    def append(self, row: Row) -> None:
        """Add a row and flush it to the disk."""
        self.folder.mkdir(parents=True, exist_ok=True)
        line = json.dumps(row, default=_plain, allow_nan=False).encode() + b"\n"
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            if not self._repaired:
                os.ftruncate(handle, len(self._complete_lines()))
                self._repaired = True
            while line:  # a full disk may take only a part; the next write then raises
                line = line[os.write(handle, line) :]
            os.fsync(handle)
        except OSError:
            self._repaired = False  # the next append removes the part that was written
            raise
        finally:
            os.close(handle)

    def keep_protocol(self, protocol: Row) -> None:
        """Write the protocol down; raise if the folder holds results of another one."""
        path = self.folder / "protocol.json"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.write(json.dumps(protocol, indent=1).encode() + b"\n")
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

    def _complete_lines(self) -> bytes:
        """Return the file without an unfinished last line."""
        content = self.path.read_bytes() if self.path.exists() else b""
        return content[: content.rfind(b"\n") + 1]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as a result: {value!r}")

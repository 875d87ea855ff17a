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


def no_results(folder: Path) -> ResultsError:
    """Return the error of a folder without results."""
    command = f"python -m reproduction run NAME --out {folder}"
    return ResultsError(f"{folder} holds no results. `{command}` makes some.")


class Ledger:
    """The results of a folder, and their protocol. The first write creates the folder.

    Every row is flushed to the disk. If an interruption leaves an unfinished line, the next write
    removes it.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / "results.jsonl"

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
        with self.path.open("ab+") as file:
            if file.tell() > 0:
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":
                    file.truncate(len(self._complete_lines()))
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def keep_protocol(self, protocol: Row) -> None:
        """Write the protocol down; raise if the folder holds results of another one."""
        text = json.dumps(protocol, indent=1)
        path = self.folder / "protocol.json"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.write(text.encode() + b"\n")
        elif (kept := self.protocol()) != (ours := json.loads(text)):
            apart = ", ".join(name for name in ours if kept.get(name) != ours[name])
            raise ResultsError(
                f"{self.folder} holds results made with other settings ({apart}). Name another "
                "folder with --out, or pass the settings of that one."
            )

    def protocol(self) -> Row:
        """Return the protocol of the folder."""
        path = self.folder / "protocol.json"
        if not path.exists():
            raise no_results(self.folder)
        return json.loads(path.read_text(encoding="utf-8"))

    def _complete_lines(self) -> bytes:
        """Return the file without an unfinished last line."""
        content = self.path.read_bytes() if self.path.exists() else b""
        return content[: content.rfind(b"\n") + 1]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as a result: {value!r}")

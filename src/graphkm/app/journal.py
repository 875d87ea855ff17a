"""Answers on disk before they are acknowledged.

There are two files. The journal, PATH.journal, has one line of JSON for every answer, in order;
lines are only ever added, and each is flushed to the disk before the answer counts. The last entry
of a line is a checksum of what stands before it. Lines of older journals have none. The file of
labels, PATH, is plain CSV: every labelled row with its columns and its label. It follows from the
journal, is brought up to date with every answer, and is written anew when the page is started.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from .._util.files import replacing
from .material import Material

VERSION = 1
Kind = Literal["label", "unknown", "skip", "undo"]
KINDS: tuple[Kind, ...] = get_args(Kind)
How = Literal["file", "check", "suggested", "chosen"]
_SUM = re.compile(rb', "crc32": "([0-9a-f]{8})"}')


class JournalError(Exception):
    """A journal that does not belong to these rows, or cannot be used."""


@dataclass(frozen=True)
class Answer:
    """What a person said of a row.

    Parameters
    ----------
    row : int
        Its number, from 0.
    kind : {"label", "unknown", "skip", "undo"}
        "unknown" rows are not shown again, "skip" rows later. "undo" takes the last answer back.
    label : str or None
        The label, if the kind is "label".
    said : str or None
        What the model said of the row before the answer.
    how : {"file", "check", "suggested", "chosen"}
        Why the row was shown: "check" rows were drawn at random.
    """

    row: int
    kind: Kind
    label: str | None = None
    said: str | None = None
    how: How = "chosen"


class Journal:
    """The journal of answers and the file of labels.

    Parameters
    ----------
    path : Path
        The file of labels.
    material : Material
        The rows.

    Attributes
    ----------
    answers : list of Answer
        All that were not taken back, oldest first.
    behind : str
        Why the file of labels lacks answers that the journal has; empty if it lacks none.
    """

    def __init__(self, path: Path, material: Material) -> None:
        self.path, self._material = path, material
        self.place = path.with_name(path.name + ".journal")
        self.answers: list[Answer] = []
        self.behind = ""
        given = enumerate(material.given)
        self._given = {row: str(label) for row, label in given if label is not None}
        self._ever = set(self._given.items())  # every label that a row had, taken back or not
        if path.exists() and not self.place.exists():
            raise JournalError(
                f"{path} exists, and {self.place.name} beside it does not, so this file was not "
                "written by the labelling page. Name another file with --out."
            )
        self._file = open(self.place, "a+b")  # noqa: SIM115 - open while the page is
        try:
            _lock(self._file)
            self._replay()
            # What a person has changed by hand in the file of labels is not thrown away.
            self._write_labels(keep_previous=self._changed_by_hand())
        except BaseException:
            self._file.close()
            raise

    def add(self, answer: Answer) -> None:
        """Keep an answer; when this returns, it is on the disk, in the journal.

        If the file of labels cannot be written, the answer is kept all the same, and the next
        answer writes the file anew.
        """
        before = self.labels()
        self._append(asdict(answer))
        self._take(answer)
        after = self.labels()
        changed = {row for row in before | after if before.get(row) != after.get(row)}
        if not changed and not self.behind:
            return
        grown = changed == set(after) - set(before) and not self.behind
        self.behind = "it was not written"
        try:
            if grown:
                self._add_labels({row: after[row] for row in changed})
            else:
                self._write_labels()
        except OSError as error:
            self.behind = error.strerror or str(error)
        else:
            self.behind = ""

    def labels(self, upto: int | None = None) -> dict[int, str]:
        """Return the label of every labelled row: those of the data, and those that were given.

        `upto` counts only the first answers.
        """
        found = dict(self._given)
        for answer in self.answers[:upto]:
            if answer.kind == "label" and answer.label is not None:
                found[answer.row] = answer.label
            elif answer.kind == "unknown":
                found.pop(answer.row, None)
        return found

    def close(self) -> None:
        """Let others use the files."""
        self._file.close()

    def _take(self, answer: Answer) -> None:
        if answer.label is not None:
            self._ever.add((answer.row, answer.label))
        if answer.kind != "undo":
            self.answers.append(answer)
        elif self.answers:
            self.answers.pop()

    def _append(self, entry: dict[str, Any]) -> None:
        line = with_checksum(json.dumps(entry, ensure_ascii=False).encode()) + b"\n"
        end = self._file.seek(0, os.SEEK_END)
        try:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:  # a full disk: no half line stays behind
            with contextlib.suppress(OSError):
                self._file.truncate(end)
            raise

    def _replay(self) -> None:
        """Read the journal. An unfinished last line is cut off: it was never acknowledged."""
        self._file.seek(0)
        *lines, rest = self._file.read().split(b"\n")
        found = _SUM.search(rest)
        last = b"" if found is None else rest[: found.end()]
        whole = found is not None and with_checksum(rest[: found.start()] + b"}") == last
        if whole:  # only its end is missing, or damaged
            lines.append(last)
        signed = False
        for number, line in enumerate(lines, 1):
            try:
                entry, signed = _entry(line, signed), signed or _SUM.search(line) is not None
                if number == 1:
                    self._check(entry)
                else:
                    self._take(self._checked(Answer(**entry)))
            except (ValueError, TypeError) as error:
                advice = "delete this line: its answer is lost then, and the others stay"
                raise JournalError(
                    f"{self.place}: line {number} is damaged ({error}). Take the file from a copy, "
                    f"or {advice if number > 1 else 'move it away'}."
                ) from error
        self._file.truncate(sum(len(line) + 1 for line in lines) - whole)
        if whole:
            self._file.write(b"\n")
        if not lines:
            self._append({"graphkm": VERSION, "rows": self._material.fingerprint()})

    def _checked(self, answer: Answer) -> Answer:
        if not 0 <= answer.row < len(self._material):
            raise ValueError(f"row {answer.row}")
        if answer.kind not in KINDS or not isinstance(answer.label, str | None):
            raise ValueError(f"{answer.kind} {answer.label}")
        (answer.label or "").encode()  # raises if a letter is half of a pair
        return answer

    def _check(self, entry: Any) -> None:
        if not isinstance(entry, dict) or entry.get("graphkm") != VERSION:
            raise JournalError(f"{self.place} is not a journal of this version; move it away.")
        if len(entry) > 2:  # a checksum whose name is damaged
            raise ValueError("it has entries that do not belong there")
        if entry.get("rows") != self._material.fingerprint():
            raise JournalError(
                f"{self.place} belongs to other rows. Name another file with --out, or the file "
                "of rows that was labelled."
            )

    def _changed_by_hand(self) -> bool:
        """Return whether the file of labels has lines that do not follow from the journal."""
        if not self.path.exists():
            return False
        found = self.path.read_bytes().splitlines(keepends=True)
        whole = {line for line in found if line.endswith(b"\n")}  # the last may be torn
        known = {_csv_line(self._material.line(*pair)) for pair in self._ever}
        return bool(whole - known - {_csv_line(self._material.columns() or [])})

    def _add_labels(self, labels: dict[int, str]) -> None:
        with open(self.path, "ab") as file:
            for row, label in labels.items():
                file.write(_csv_line(self._material.line(row, label)))
            file.flush()
            os.fsync(file.fileno())

    def _write_labels(self, *, keep_previous: bool = False) -> None:
        with replacing(self.path, keep_previous=keep_previous) as file:
            header = self._material.columns()
            if header is not None:
                file.write(_csv_line(header))
            for row, label in self.labels().items():
                file.write(_csv_line(self._material.line(row, label)))


def with_checksum(text: bytes) -> bytes:
    """Return an object of JSON with the checksum of its text as its last entry.

    Examples
    --------
    >>> with_checksum(b'{"row": 1}')
    b'{"row": 1, "crc32": "01964fb4"}'
    """
    return text[:-1] + b', "crc32": "%08x"}' % zlib.crc32(text[:-1])


def _entry(line: bytes, signed: bool) -> Any:
    """Return what a line says; it must have a checksum if one before it had (`signed`)."""
    found = _SUM.search(line)
    if found is None and signed:
        raise ValueError("it has no checksum")
    if found is None:
        return json.loads(line)
    text = line[: found.start()] + b"}"
    if with_checksum(text) != line:
        raise ValueError("its checksum is not that of its text")
    return json.loads(text)


def _csv_line(cells: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode(errors="backslashreplace")  # file names may not be text


def _lock(file: Any) -> None:
    """Raise if another process has the journal open."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise JournalError(
            f"{file.name} is in use: the page is open for these labels already."
        ) from error

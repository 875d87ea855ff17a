"""Answers on disk before they are acknowledged.

There are two files. The journal, PATH.journal, has one line of JSON for every answer, in order;
lines are only ever added, and each is flushed to the disk before the answer counts. The last entry
of a line is a checksum of what stands before it. Lines of older journals have none. The file of
labels, PATH, is plain CSV (`LabelFile`). It follows from the journal, is brought up to date with
every answer, and is written anew when the page is started.

Several labels of a row are a list in the journal, and elsewhere a text with ; between the names.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ..tables.several_labels import joined_names, split_names
from .journal_lines import SUM, read_line, with_checksum
from .label_file import Given, LabelFile
from .material import Material
from .targets import SEPARATOR

VERSION = 1
Kind = Literal["label", "unknown", "skip", "undo"]
KINDS: tuple[Kind, ...] = get_args(Kind)
How = Literal["file", "check", "suggested", "second", "chosen"]


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
    how : {"file", "check", "suggested", "second", "chosen"}
        Why the row was shown: "check" rows were drawn at random, and others had answered "second".
    annotator : str or None
        Who answered; None is a person without a name.
    """

    row: int
    kind: Kind
    label: str | None = None
    said: str | None = None
    how: How = "chosen"
    annotator: str | None = None


class Journal:
    """The journal of answers and the file of labels.

    Parameters
    ----------
    path : Path
        The file of labels.
    material : Material
        The rows.
    several : bool or None, default=None
        Whether rows have several labels; None: if they have in the journal or in the data.
    annotator : str or None, default=None
        Who answers now.

    Attributes
    ----------
    answers : list of Answer
        All that were not taken back, oldest first.
    behind : str
        Why the file of labels lacks answers that the journal has; empty if it lacks none.
    """

    def __init__(
        self,
        path: Path,
        material: Material,
        *,
        several: bool | None = None,
        annotator: str | None = None,
    ) -> None:
        self.path, self._material, self.annotator = path, material, annotator
        self.place = path.with_name(path.name + ".journal")
        self.answers: list[Answer] = []
        self.behind = ""
        self._ever: set[Given] = set()  # every label that a row had, taken back or not
        self._lists = False  # whether the journal has several labels
        if path.exists() and not self.place.exists():
            raise JournalError(
                f"{path} exists, and {self.place.name} beside it does not, so this file was not "
                "written by the labelling page. Name another file with --out."
            )
        self._file = open(self.place, "a+b")  # noqa: SIM115 - open while the page is
        try:
            _lock(self._file)
            self._replay()
            self.several = self._has_several(several)
            self._given = self._labels_of_the_data()
            self._ever |= {(row, None, label) for row, label in self._given.items()}
            named = annotator is not None or any(who is not None for _, who, _ in self._ever)
            self._labels = LabelFile(path, material, named)
            # What a person has changed by hand in the file of labels is not thrown away.
            by_hand = self._labels.has_others(self._ever)
            self._labels.write(self.lines(), keep_previous=by_hand)
        except BaseException:
            self._file.close()
            raise

    def _has_several(self, asked: bool | None) -> bool:
        if asked is False and self._lists:
            raise JournalError(
                f"{self.place}: its rows have several labels, so it goes on with several."
            )
        given = (label for label in self._material.given if label is not None)
        found = self._lists or any(SEPARATOR in str(label) for label in given)
        return found if asked is None else asked

    def _labels_of_the_data(self) -> dict[int, str]:
        given = {
            row: str(label) for row, label in enumerate(self._material.given) if label is not None
        }
        return (
            {row: _joined(_split(label)) for row, label in given.items()} if self.several else given
        )

    def add(self, answer: Answer) -> None:
        """Keep an answer; when this returns, it is on the disk, in the journal.

        If the file of labels cannot be written, the answer is kept all the same, and the next
        answer writes the file anew.
        """
        before = self.lines()
        self._append(self._written(answer))
        self._take(answer)
        after = self.lines()
        if before == after and not self.behind:
            return
        grown = after[: len(before)] == before and not self.behind
        self.behind = "it was not written"
        try:
            if grown:
                self._labels.add(after[len(before) :])
            else:
                self._labels.write(after)
        except OSError as error:
            self.behind = error.strerror or str(error)
        else:
            self.behind = ""

    def standing(self, upto: int | None = None) -> dict[int, dict[str | None, str]]:
        """Return the labels of every labelled row, by who gave them, the last one last.

        Labels of the data are those of a person without a name. `upto` counts only the first
        answers.
        """
        found: dict[int, dict[str | None, str]] = {
            row: {None: label} for row, label in self._given.items()
        }
        for answer in self.answers[:upto]:
            if answer.kind == "skip":
                continue
            of_row = found.setdefault(answer.row, {})
            of_row.pop(answer.annotator, None)
            if answer.kind == "label" and answer.label is not None:
                of_row[answer.annotator] = answer.label
            if not of_row:
                del found[answer.row]
        return found

    def labels(self, upto: int | None = None) -> dict[int, str]:
        """Return the label of every labelled row; of several people's, the one given last."""
        return {row: list(each.values())[-1] for row, each in self.standing(upto).items()}

    def lines(self) -> list[Given]:
        """Return what the file of labels has: one line for each person's answer to a row."""
        found = self.standing().items()
        return [(row, who, label) for row, each in found for who, label in each.items()]

    def close(self) -> None:
        """Let others use the files."""
        self._file.close()

    def _take(self, answer: Answer) -> None:
        if answer.label is not None:
            self._ever.add((answer.row, answer.annotator, answer.label))
        if answer.kind != "undo":
            self.answers.append(answer)
            return
        places = range(len(self.answers) - 1, -1, -1)  # people take back only what is their own
        own = (k for k in places if self.answers[k].annotator == answer.annotator)
        last = next(own, None)
        if last is not None:
            del self.answers[last]

    def _written(self, answer: Answer) -> dict[str, Any]:
        """Return an answer as the journal has it: older versions know no annotators."""
        entry = asdict(answer)
        if answer.annotator is None:
            del entry["annotator"]
        if self.several:
            entry |= {name: _split(entry[name]) for name in ("label", "said")}
        return entry

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
        found = SUM.search(rest)
        last = b"" if found is None else rest[: found.end()]
        whole = found is not None and with_checksum(rest[: found.start()] + b"}") == last
        if whole:  # only its end is missing, or damaged
            lines.append(last)
        signed = False
        for number, line in enumerate(lines, 1):
            try:
                entry, signed = read_line(line, signed), signed or SUM.search(line) is not None
                if number == 1:
                    self._check(entry)
                else:
                    self._take(self._checked(entry))
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

    def _checked(self, entry: Any) -> Answer:
        if not isinstance(entry, dict):
            raise ValueError("it is no object of JSON")
        for name in ("label", "said"):
            names = entry.get(name)
            if isinstance(names, list):
                if not all(isinstance(one, str) for one in names):
                    raise ValueError(f"{names}")
                self._lists, entry[name] = True, _joined(names)
        answer = Answer(**entry)
        if not 0 <= answer.row < len(self._material):
            raise ValueError(f"row {answer.row}")
        if answer.kind not in KINDS or not isinstance(answer.label, str | None):
            raise ValueError(f"{answer.kind} {answer.label}")
        if not isinstance(answer.annotator, str | None):
            raise ValueError(f"annotator {answer.annotator}")
        for text in (answer.label, answer.annotator):
            (text or "").encode()  # raises if a letter is half of a pair
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


def _split(label: str | None) -> list[str] | None:
    return split_names(label, SEPARATOR)


def _joined(names: list[str] | None) -> str:
    return joined_names(names or (), SEPARATOR)


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

"""Answers on disk before they are acknowledged.

There are two files. The journal, PATH.journal, has one line of JSON for every answer, in order;
lines are only ever added, and each is flushed to the disk before the answer counts (`JournalFile`).
The last entry of a line is a checksum of what stands before it. Lines of older journals have none.
The file of labels, PATH, is plain CSV (`LabelFile`). It follows from the journal, is brought up to
date with every answer, and is written anew when the page is started.

Several labels of a row are a list in the journal, and elsewhere a text with ; between the names.
A class that is renamed, or merged with another, is a line as well. It changes what answers before
it mean, and can be taken back as an answer can.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from ..tables.several_labels import joined_names, split_names
from .journal_file import JournalError, JournalFile
from .label_file import Given, LabelFile
from .material import Material
from .targets import SEPARATOR

VERSION = 1
Kind = Literal["label", "unknown", "skip", "undo", "rename"]
KINDS: tuple[Kind, ...] = get_args(Kind)
How = Literal["file", "check", "suggested", "second", "chosen"]
NO_ROW = -1
"""The row of an entry that concerns no single row."""


@dataclass(frozen=True)
class Answer:
    """What a person said of a row, or did to the classes.

    Parameters
    ----------
    row : int
        Its number, from 0.
    kind : {"label", "unknown", "skip", "undo", "rename"}
        "unknown" rows are not shown again, "skip" rows later. "undo" takes back what the person did
        last. "rename" gives a class another name, which may be that of another class.
    label : str or None
        The label, if the kind is "label"; the new name, if it is "rename".
    said : str or None
        What the model said of the row before the answer.
    how : {"file", "check", "suggested", "second", "chosen"}
        Why the row was shown: "check" rows were drawn at random, and others had answered "second".
    annotator : str or None
        Who answered; None is a person without a name.
    old : str or None
        The name that a class had before.
    """

    row: int
    kind: Kind
    label: str | None = None
    said: str | None = None
    how: How = "chosen"
    annotator: str | None = None
    old: str | None = None


class Journal:
    """The journal of answers and the file of labels.

    Parameters
    ----------
    path : Path or None
        The file of labels; None keeps answers in memory alone.
    material : Material
        The rows.
    several : bool or None, default=None
        Whether rows have several labels; None: if they have in the journal or in the data.
    named : bool, default=False
        Whether people have names now.

    Attributes
    ----------
    acts : list of Answer
        All that people did and did not take back, oldest first, with today's names of classes.
    answers : list of Answer
        Those of them that concern a row.
    behind : str
        Why the file of labels lacks answers that the journal has; empty if it lacks none.
    """

    def __init__(
        self,
        path: Path | None,
        material: Material,
        *,
        several: bool | None = None,
        named: bool = False,
    ) -> None:
        self.path, self._material = path, material
        self.place = None if path is None else path.with_name(path.name + ".journal")
        self._told: list[Answer] = []  # as the file has them, without those taken back
        self.acts: list[Answer] = []
        self.answers: list[Answer] = []
        self.behind = ""
        self._ever: set[Given] = set()  # every label that a row had, taken back or not
        self._lists = False  # whether the journal has several labels
        if path is not None and self.place is not None:
            _belongs(path, self.place)
        self.file = None if self.place is None else JournalFile(self.place)
        try:
            self._replay()
            self.several = self._has_several(several)
            self._of_data = self._labels_of_the_data()
            self._ever |= {(row, None, label) for row, label in self._of_data.items()}
            self._resolve()
            self._ever |= set(self.lines())
            named = named or any(who is not None for _, who, _ in self._ever)
            self._labels = None if path is None else LabelFile(path, material, named)
            if self._labels is not None:
                # What a person has changed by hand in the file of labels is not thrown away.
                by_hand = self._labels.has_others(self._ever)
                self._labels.write(self.lines(), keep_previous=by_hand)
        except BaseException:
            self.close()
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
        if self.file is not None:
            self.file.append(self._written(answer))
        self._take(answer)
        self._follow(answer)
        after = self.lines()
        self._ever.update(after if answer.kind in ("rename", "undo") else ())
        if self._labels is None or (before == after and not self.behind):
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

    def renamed(self, names: Iterable[str]) -> list[str]:
        """Return today's names of classes."""
        found = list(names)
        for act in self.acts:
            if act.kind == "rename":
                found = [str(act.label) if name == act.old else name for name in found]
        return list(dict.fromkeys(found))

    def close(self) -> None:
        """Let others use the files."""
        if self.file is not None:
            self.file.close()

    def _take(self, answer: Answer) -> None:
        if answer.kind == "label" and answer.label is not None:
            self._ever.add((answer.row, answer.annotator, answer.label))
        if answer.kind != "undo":
            self._told.append(answer)
            return
        places = range(len(self._told) - 1, -1, -1)  # people take back only what is their own
        own = (k for k in places if self._told[k].annotator == answer.annotator)
        last = next(own, None)
        if last is not None:
            del self._told[last]

    def _follow(self, answer: Answer) -> None:
        """Bring `acts` and `answers` up to date; only names and undos need all of them."""
        if answer.kind in ("undo", "rename"):
            self._resolve()
            return
        self.acts.append(answer)
        self.answers.append(answer)

    def _resolve(self) -> None:
        """Read every label with the names that classes have today."""
        self.acts, self._given = [], dict(self._of_data)
        for answer in self._told:
            if answer.kind == "rename":
                self._given = {row: self._name(old, answer) for row, old in self._given.items()}
                self.acts = [
                    replace(each, label=self._name(each.label, answer))
                    if each.kind == "label" and each.label is not None
                    else each
                    for each in self.acts
                ]
            self.acts.append(answer)
        self.answers = [each for each in self.acts if each.kind != "rename"]

    def _name(self, label: str, change: Answer) -> str:
        """Return a label after a change of names."""
        if not self.several:
            return str(change.label) if label == change.old else label
        names = [str(change.label) if n == change.old else n for n in _split(label) or ()]
        return _joined(list(dict.fromkeys(names)))

    def _written(self, answer: Answer) -> dict[str, Any]:
        """Return an answer as the journal has it: older versions know no names."""
        entry = asdict(answer)
        for name in ("annotator", "old"):
            if entry[name] is None:
                del entry[name]
        if self.several and answer.kind != "rename":
            entry |= {name: _split(entry[name]) for name in ("label", "said")}
        return entry

    def _replay(self) -> None:
        if self.file is None:
            return
        entries = self.file.entries()
        for number, entry in enumerate(entries, 1):
            try:
                if number == 1:
                    self._check(entry)
                else:
                    self._take(self._checked(entry))
            except (ValueError, TypeError) as error:
                raise self.file.damaged(number, error) from error
        self.file.clean()
        if not entries:
            self.file.append({"graphkm": VERSION, "rows": self._material.fingerprint()})

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
        known = answer.row == NO_ROW if answer.kind == "rename" else answer.row >= 0
        known = known or (answer.kind == "undo" and answer.row == NO_ROW)
        if not known or answer.row >= len(self._material):
            raise ValueError(f"row {answer.row}")
        if answer.kind not in KINDS or not isinstance(answer.label, str | None):
            raise ValueError(f"{answer.kind} {answer.label}")
        if answer.kind == "rename" and not (answer.label and isinstance(answer.old, str)):
            raise ValueError(f"{answer.old} {answer.label}")
        if not isinstance(answer.annotator, str | None):
            raise ValueError(f"annotator {answer.annotator}")
        for text in (answer.label, answer.annotator, answer.old):
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


def _belongs(path: Path, place: Path) -> None:
    """Raise if there is a file of labels that no journal has written."""
    if path.exists() and not place.exists():
        raise JournalError(
            f"{path} exists, and {place.name} beside it does not, so this file was not written by "
            "the labelling page. Name another file with --out."
        )


def _split(label: str | None) -> list[str] | None:
    return split_names(label, SEPARATOR)


def _joined(names: list[str] | None) -> str:
    return joined_names(names or (), SEPARATOR)

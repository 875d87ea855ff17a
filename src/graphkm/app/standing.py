"""Which answers stand: those of each person, and what rows are."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .journal import Answer, Journal
from .people import NAMELESS, People

SKIPPED = 30
"""Answers after which a skipped row may be shown again."""

Person = str | None
"""A name; None is a person without one."""


class Standing:
    """The answers of a journal that stand.

    Parameters
    ----------
    journal : Journal
        Where they are kept.

    Attributes
    ----------
    labels : dict
        What rows are; of different answers the likeliest.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._agreed: dict[int, tuple[dict[Person, str], str]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the answers anew."""
        self._by_row = self._journal.standing()
        self._own: dict[Person, list[Answer]] = defaultdict(list)
        self._labelled: dict[Person, set[int]] = defaultdict(set)
        for act in self._journal.acts:
            self._own[act.annotator].append(act)
        for row, given in self._by_row.items():
            for who in given:
                self._labelled[who].add(row)
        self.labels = {row: self._label(row) for row in self._by_row}

    def agree(self, people: People) -> None:
        """Take over what rows are whose answers differ; it holds until they get another answer."""
        self._agreed = {
            row: (self._by_row[row], label)
            for row, label in people.agreed.items()
            if row in self._by_row
        }
        self.labels = {row: self._label(row) for row in self._by_row}

    def _label(self, row: int) -> str:
        """Return what a row is: of different answers the likeliest, or the last one so far."""
        given = self._by_row[row]
        before, label = self._agreed.get(row, (None, ""))
        return label if before == given else list(given.values())[-1]

    def own(self, me: Person) -> list[Answer]:
        """Return what a person did and did not take back, oldest first."""
        return self._own.get(me, [])

    def answer(self, row: int, me: Person) -> dict[str, Any] | None:
        """Return the answer that a person has given to a row."""
        label = self._by_row.get(row, {}).get(me)
        if label is not None:
            return {"kind": "label", "label": label}
        return {"kind": "unknown", "label": None} if row in self.unknown(me) else None

    def own_labels(self, me: Person) -> dict[int, str]:
        """Return the labels of the rows that a person has labelled."""
        mine = self.labelled(me)
        return {row: label for row, label in self.labels.items() if row in mine}

    def others(self, row: int, me: Person) -> list[dict[str, str]]:
        """Return what others have answered."""
        given = self._by_row.get(row, {}).items()
        return [{"name": who or NAMELESS, "label": said} for who, said in given if who != me]

    def given(self, row: int) -> dict[Person, str]:
        """Return the labels of a row, by who gave them."""
        return self._by_row.get(row, {})

    def labelled(self, me: Person) -> set[int]:
        """Return the rows that a person has labelled."""
        return self._labelled.get(me, set())

    def unknown(self, me: Person) -> set[int]:
        """Return the rows that a person has answered with "do not know"."""
        return {a.row for a in self.own(me) if a.kind == "unknown"} - self.labelled(me)

    def own_of(self, mistakes: list[dict[str, Any]], me: Person) -> list[dict[str, Any]]:
        """Return the mistakes whose labels a person has given, and still gives."""
        mine = self._by_row
        return [m for m in mistakes if mine.get(m["row"], {}).get(me) == m["label"]]

    def done(self, me: Person) -> set[int]:
        """Return the rows that a person shall not be shown now, whoever else answered."""
        skipped = {a.row for a in self.own(me)[-SKIPPED:] if a.kind == "skip"}
        return self.labelled(me) | self.unknown(me) | skipped

    def closed(self, me: Person) -> set[int]:
        """Return the rows that shall not be shown to a person now as new ones."""
        return set(self.labels) | self.done(me)

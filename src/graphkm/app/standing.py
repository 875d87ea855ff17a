"""Which answers stand: those of the person who answers now, those of others, and what rows are."""

from __future__ import annotations

from typing import Any

from .journal import Answer, Journal
from .people import NAMELESS, People

SKIPPED = 30
"""Answers after which a skipped row may be shown again."""


class Standing:
    """The answers of a journal, as the person who answers now sees them.

    Parameters
    ----------
    journal : Journal
        Its `annotator` is that person.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal, self.me = journal, journal.annotator
        self._agreed: dict[int, tuple[dict[str | None, str], str]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the answers anew."""
        self._by_row = self._journal.standing()
        self.own = [a for a in self._journal.answers if a.annotator == self.me]
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

    def answer(self, row: int) -> dict[str, Any] | None:
        """Return the answer that this person has given to a row."""
        label = self._by_row.get(row, {}).get(self.me)
        if label is not None:
            return {"kind": "label", "label": label}
        return {"kind": "unknown", "label": None} if row in self.unknown() else None

    def own_labels(self) -> dict[int, str]:
        """Return the labels of the rows that this person has labelled."""
        return {row: self.labels[row] for row in self.labels if self.me in self._by_row[row]}

    def others(self, row: int) -> list[dict[str, str]]:
        """Return what others have answered."""
        given = self._by_row.get(row, {}).items()
        return [{"name": who or NAMELESS, "label": said} for who, said in given if who != self.me]

    def unknown(self) -> set[int]:
        """Return the rows that this person has answered with "do not know"."""
        return {a.row for a in self.own if a.kind == "unknown"} - self._labelled()

    def done(self) -> set[int]:
        """Return the rows that this person shall not be shown now, whoever else answered."""
        return self._labelled() | self.unknown() | {a.row for a in self._skipped()}

    def closed(self) -> set[int]:
        """Return the rows that shall not be shown now as new ones."""
        return set(self.labels) | self.done()

    def _labelled(self) -> set[int]:
        return {row for row, given in self._by_row.items() if self.me in given}

    def _skipped(self) -> list[Answer]:
        return [a for a in self.own[-SKIPPED:] if a.kind == "skip"]

"""Rows that a person looks for: by words, by label, by who answered, and by what is open."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

from .classes import AnswerError
from .people import NAMELESS
from .standing import Person
from .team import Team

PAGE = 25
"""Rows that are listed at a time."""

KINDS = ("all", "unanswered", "answered", "unknown", "doubtful")


class Wanted(NamedTuple):
    """What a person looks for; everything that is given has to hold.

    Parameters
    ----------
    words : str
        All of them stand somewhere in the row, in upper or lower case.
    kind : {"all", "unanswered", "answered", "unknown", "doubtful"}
        What was said of the row: nothing, a label, "do not know", or one that the model doubts.
    label, person : str
        A class, and who answered; empty if any will do.
    start : int
        The number of the first row to look at.
    """

    words: str = ""
    kind: str = "all"
    label: str = ""
    person: str = ""
    start: int = 0

    @classmethod
    def of(cls, given: Any) -> Wanted:
        """Return what a request asks for; raise AnswerError if it makes no sense."""
        texts = {name: given.get(name, "") for name in ("words", "label", "person")}
        start, kind = given.get("start", "0"), given.get("kind", "all")
        if kind not in KINDS:
            raise AnswerError(f"rows are sought by one of {', '.join(KINDS)}.")
        if not (start.isascii() and start.isdecimal() and len(start) < 16):
            raise AnswerError("a search starts at the number of a row.")
        if any(len(text) > 500 for text in texts.values()):
            raise AnswerError("that is too long; look for fewer words.")
        return cls(kind=kind, start=int(start), **texts)


class Search:
    """Finds rows for one person.

    Parameters
    ----------
    team : Team
        What all people share.
    me : str or None, default=None
        Who looks for them.
    """

    def __init__(self, team: Team, me: Person = None) -> None:
        self._team, self._me, self._standing = team, me, team.standing

    def __call__(self, wanted: Wanted) -> dict[str, Any]:
        """Return rows that a person looks for, and where to go on."""
        texts, team = self._team.ground.texts, self._team
        found = list(islice(texts.having(self._fitting(wanted), wanted.words), PAGE + 1))
        with team.lock:
            rows = [
                {
                    "row": row,
                    "text": texts.snippet(row),
                    "answer": self._standing.answer(row, self._me),
                    "others": self._visible(row),
                }
                for row in found[:PAGE]
            ]
        return {"rows": rows, "next": found[PAGE] if len(found) > PAGE else None}

    def _fitting(self, wanted: Wanted) -> list[int] | range:
        """Return the rows from `wanted.start` on, of which the answers are the wanted ones."""
        n = len(self._team.material)
        rows = range(min(wanted.start, n), n)
        if wanted.kind == "all" and not wanted.label and not wanted.person:
            return rows
        with self._team.lock:
            mistakes = self._standing.own_of(self._team.learnt.mistakes, self._me)
            doubtful = {mistake["row"] for mistake in mistakes}
            unknown = self._standing.unknown(self._me)
            return [row for row in rows if self._fits(row, wanted, doubtful, unknown)]

    def _fits(self, row: int, wanted: Wanted, doubtful: set[int], unknown: set[int]) -> bool:
        given = {other["name"]: other["label"] for other in self._visible(row)}
        own = self._standing.given(row).get(self._me)
        if own is not None:
            given[self._me or NAMELESS] = own
        if wanted.person:
            given = {name: label for name, label in given.items() if name == wanted.person}
        names = {name for label in given.values() for name in self._team.kind.listed(label)}
        if (wanted.label and wanted.label not in names) or (wanted.person and not given):
            return False
        kinds = {
            "unanswered": not given and row not in unknown,
            "answered": bool(given),
            "unknown": row in unknown,
            "doubtful": row in doubtful,
        }
        return kinds.get(wanted.kind, True)

    def _visible(self, row: int) -> list[dict[str, str]]:
        """Return the answers of others that a search may show.

        Where second answers are wanted, those of others stay hidden before a person's own.
        """
        hidden = self._team.second != "never" and self._standing.answer(row, self._me) is None
        return [] if hidden else self._standing.others(row, self._me)

"""What summaries say of a table's columns."""

from __future__ import annotations

from collections.abc import Sequence

from ..io.kinds import COMMA, NUMBER, WORD
from .models import FileNote

_SHOWN = 10  # names


def label_line(note: FileNote) -> str | None:
    """Return what a summary says of the label's column."""
    if note.label is None:
        return None
    column = repr(note.label) if isinstance(note.label, str) else f"number {note.label}"
    guess = ", a guess: it is the last one; --label names another"
    return f"the column {column}{guess if note.guessed else ''}"


def kinds_line(kinds: Sequence[str], names: Sequence[str]) -> str:
    """Return how many columns are of which kind; without kinds all are numbers.

    Examples
    --------
    >>> kinds_line(["number", "word", "number"], ["size", "colour", "age"])
    '2 numbers, 1 category (colour)'
    """
    by_kind: dict[str, list[str]] = {}
    for kind, name in zip(kinds or [NUMBER] * len(names), names, strict=True):
        by_kind.setdefault(kind, []).append(name)
    parts = []
    for kind, members in by_kind.items():
        n, shown = len(members), ", ".join(members[:_SHOWN]) + ", ..." * (len(members) > _SHOWN)
        if kind == NUMBER:
            parts.append(f"{n:,} number{'s' * (n != 1)}")
        elif kind == WORD:
            parts.append(f"{n:,} categor{'y' if n == 1 else 'ies'} ({shown})")
        else:
            what = "with decimal commas" if kind == COMMA else f"date{'s' * (n != 1)} like {kind}"
            parts.append(f"{n:,} {what} ({shown})")
    return ", ".join(parts)

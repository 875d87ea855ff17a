"""Which rows are on whose screen: nobody else gets them.

A reservation ends ten minutes after its person was last heard of. The file beside the labels lets
reservations survive the end of the process; it holds nothing that would be missed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from .journal import How
from .standing import Person

LASTS = 600.0
"""Seconds for which a row stays on a screen whose person is not heard of."""

Entry = tuple[int, How]
"""A row, and why it is shown."""


@dataclass
class Hand:
    """The rows that one person has on the screen, the first of them in sight."""

    rows: list[Entry] = field(default_factory=list)
    chosen: int | None = None  # a row that the person asked for
    until: float = 0.0

    def all(self) -> set[int]:
        """Return the numbers of the rows."""
        return {row for row, _ in self.rows} | ({self.chosen} - {None})  # type: ignore[operator]


class Reserved:
    """The rows that people have on their screens.

    Parameters
    ----------
    path : Path, optional
        Where they are kept; None keeps them in memory alone.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> reserved = Reserved(clock=lambda: 0.0)
    >>> reserved.put("eva", [(3, "suggested")])
    >>> reserved.holder(3, "tom"), reserved.holder(3, "eva"), reserved.taken("tom")
    ('eva', None, {3})
    """

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._hands: dict[Person, Hand] = {}
        self._heard: dict[Person, float] = {}
        self._read()

    def hand(self, me: Person) -> Hand:
        """Return a person's rows; none if they were kept for too long."""
        found = self._hands.get(me)
        return found if found is not None and found.until > self._clock() else Hand()

    def put(self, me: Person, rows: list[Entry], chosen: int | None = None) -> None:
        """Keep rows for a person, from now on if they are others than before."""
        before = self.hand(me)
        if before.until and (before.rows, before.chosen) == (rows, chosen):
            return
        self._hands[me] = Hand(rows, chosen, self._clock() + LASTS)
        self._write()

    def touch(self, me: Person) -> None:
        """Note that a person did something."""
        self._heard[me] = self._clock()
        hand = self.hand(me)  # rows that were kept for too long may be on other screens by now
        if hand.until:
            hand.until = self._clock() + LASTS

    def heard(self, me: Person) -> bool:
        """Return whether a person did something in the last minutes, or still has rows."""
        lately = self._heard.get(me, -LASTS) > self._clock() - LASTS
        return lately or self.hand(me).until > 0

    def taken(self, me: Person) -> set[int]:
        """Return the rows that others have on their screens."""
        found = [self.hand(who).all() for who in self._hands if who != me]
        return set().union(*found)

    def holder(self, row: int, me: Person) -> Person:
        """Return who else has a row on the screen; None if nobody has."""
        others = (who for who in self._hands if who != me)
        return next((who for who in others if row in self.hand(who).all()), None)

    def present(self) -> list[Person]:
        """Return who was heard of in the last minutes."""
        return [who for who, hand in self._hands.items() if hand.until > self._clock()]

    def _write(self) -> None:
        """Write the file. What cannot be written still holds as long as the process lives."""
        if self._path is None:
            return
        hands = [
            {"who": who, "rows": hand.rows, "chosen": hand.chosen, "until": hand.until}
            for who, hand in self._hands.items()
        ]
        with suppress(OSError):
            beside = self._path.with_name(self._path.name + ".new")
            beside.write_text(json.dumps(hands))
            beside.replace(self._path)

    def _read(self) -> None:
        """Read what the process before has left. A file that makes no sense counts for nothing."""
        if self._path is None:
            return
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            for each in json.loads(self._path.read_text()):
                rows = [(int(row), how) for row, how in each["rows"] if how in get_args(How)]
                chosen = None if each["chosen"] is None else int(each["chosen"])
                until = min(float(each["until"]), self._clock() + LASTS)
                self._hands[each["who"]] = Hand(rows, chosen, until)

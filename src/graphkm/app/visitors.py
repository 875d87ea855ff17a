"""A public demo: everybody who comes gets a labelling of their own, and nothing is written."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from .links import new_secret
from .session import Session
from .standing import Person
from .team import Team

MOST = 30
"""Visitors at a time: each has a model of their own in memory."""

_LASTS = 1800.0  # seconds after which a visitor who is not heard of is forgotten


class Visitors:
    """The labellings of visitors; it is the door and the rooms of a server.

    Parameters
    ----------
    made : callable
        Makes a labelling whose journal is in memory alone.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(
        self, made: Callable[[], Team], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._made, self._clock = made, clock
        self._teams: OrderedDict[str, tuple[Team, float]] = OrderedDict()
        self._lock = threading.Lock()

    def admits(self, secret: str) -> tuple[Person] | None:
        """Return who has this secret; None if it is nobody's."""
        with self._lock:
            return (secret,) if secret in self._teams else None

    def arrives(self) -> str | None:
        """Return the secret of a new visitor; the one who was silent for longest makes room."""
        team, secret = self._made(), new_secret()
        with self._lock:
            self._teams[secret] = team, self._clock()
            least = self._clock() - _LASTS
            gone = [each for each, (_, heard) in self._teams.items() if heard < least]
            ended = [self._teams.pop(each)[0] for each in gone]
            while len(self._teams) > MOST:
                ended.append(self._teams.popitem(last=False)[1][0])
        team.start()
        for each in ended:
            threading.Thread(target=each.end, daemon=True).start()
        return secret

    def session(self, who: Person) -> Session:
        """Return the labelling of a visitor."""
        with self._lock:
            team, _ = self._teams[str(who)]
            self._teams[str(who)] = team, self._clock()
            self._teams.move_to_end(str(who))
        return Session(team)

    def start(self) -> None:
        """Do nothing: there are no visitors yet."""

    def end(self) -> None:
        """Forget all visitors."""
        with self._lock:
            teams = [team for team, _ in self._teams.values()]
            self._teams.clear()
        for team in teams:
            team.end()

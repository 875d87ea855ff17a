"""One person's labelling in tests, with a team of its own."""

from __future__ import annotations

from graphkm.app.session import Session
from graphkm.app.team import Team


class Alone(Session):
    """The labelling of one person, alone or after others."""

    def __init__(self, material, journal, *, me=None, **more):
        super().__init__(Team(material, journal, people=[me], **more), me)
        self.journal, self.start, self.end = journal, self.team.start, self.team.end

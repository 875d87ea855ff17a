"""What the judge said of every member, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..judge.mixture import Verdict
from ..members.member import Array, Member


class MemberReport(NamedTuple):
    """One line of the table."""

    name: str
    weight: float
    score: float
    """Held-out accuracy, or R^2."""
    log_loss: float
    """Mean held-out log loss; of quantities in spreads, that of a normal distribution."""
    unlabeled: bool
    """Whether it has seen the unlabelled rows."""
    held_out_by: str
    """Where its held-out scores come from."""
    seconds: float
    """CPU seconds that it took."""


class MemberTable(list[MemberReport]):
    """The members of a mixture, the heaviest first; it prints as a table.

    Examples
    --------
    >>> MemberTable([MemberReport("forest", 0.8, 0.9, 0.3, False, "out-of-bag", 1.0)])
    member  weight  score  log loss  rows      held out by  seconds
    forest   0.800  0.900     0.300  labelled  out-of-bag      1.00
    """

    @classmethod
    def of(cls, members: Sequence[Member], weights: Array, verdict: Verdict) -> MemberTable:
        """Return the table of members with their weights in a mixture."""
        return cls(
            MemberReport(
                members[i].name,
                float(weights[i]),
                float(verdict.scores[i]),
                float(verdict.losses[i]),
                not members[i].labels_only,
                members[i].how,
                members[i].seconds,
            )
            for i in np.argsort(-weights, kind="stable").tolist()
        )

    def __repr__(self) -> str:
        """Return the table. The column of seconds is left out where no seconds are known."""
        width = max([6, *(len(each.name) for each in self)])
        timed = any(each.seconds == each.seconds for each in self)  # NaN differs from itself
        head = f"{'member':<{width}}  weight  score  log loss  rows      held out by"
        lines = [head + "  seconds" * timed]
        for each in self:
            rows = "all" if each.unlabeled else "labelled"
            by = each.held_out_by.removeprefix("leave-").replace("one-out", "leave-1-out")
            lines.append(
                f"{each.name:<{width}}  {each.weight:6.3f}  {each.score:5.3f}  "
                f"{each.log_loss:8.3f}  {rows:<8}  "
                + (f"{by:<11}  {each.seconds:7.2f}" if timed else by)
            )
        return "\n".join(lines)

"""How likely each member is before its held-out labels are seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..judge.mixture import ALONE, PRIOR
from ..members import Known, Member
from ..members.cuts import Cut

CUT = 2.0
"""Twice as many cut edges divide a member's odds by 2 to this power."""


def odds_of(members: Sequence[Member], known: Known) -> NDArray[np.float64]:
    """Return the logarithm of each member's odds before its held-out labels are seen.

    The odds are 1 over (rank + 1) cut^2: simple members that cut few edges come first. An unknown
    rank counts as the number of labels. A member cuts the graph into parts, one per class; labels
    count as if drawn from these parts. If a person gave the sizes of the classes, labels of just
    these shares take their place. With more than `PRIOR` labels, the cut counts less: its
    power falls as one over their number. A member with an unknown cut gets the mean of the others.
    """
    ranks = np.array([member.rank or len(known.y) for member in members], dtype=np.float64)
    found = [_told_by_cut(member.cut, known) for member in members if member.cut is not None]
    usual = np.mean(found) if found else 0.0
    told = [usual if each.cut is None else _told_by_cut(each.cut, known) for each in members]
    return np.asarray(np.array(told) - np.log(ranks + 1.0))


def _told_by_cut(cut: Cut, known: Known) -> float:
    total, logs = known.weights.sum(), np.log(cut.sizes)
    drawn = known.weights @ logs[known.codes] if known.sizes is None else total * known.sizes @ logs
    worth = min(1.0, PRIOR / total)
    return float(worth * (ALONE * drawn - CUT * np.log(cut.edges)))


def labels_only(members: Sequence[Member]) -> NDArray[np.bool_]:
    """Return which members know only the labelled rows."""
    return np.array([member.labels_only for member in members], dtype=bool)

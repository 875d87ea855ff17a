"""What speaks for each member before its held-out labels do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..judge.mixture import ALONE, PRIOR
from ..members import Known, Member
from ..members.cuts import Cut

CUT = 2.0
"""A member that cuts twice as many edges has odds that are 2 to this power times smaller."""


def odds_of(members: Sequence[Member], known: Known) -> NDArray[np.float64]:
    """Return the logarithm of what speaks for each member before its held-out labels do.

    Simple members that cut few edges come first: 1 over (rank + 1) cut^2. An unknown rank is as
    many as labels. The classes of the labels count, too, as if they were drawn from the parts that
    a member cuts the graph into. What a cut says is worth the labels of the prior: beyond these it
    fades as one over their number. A member whose cut is not known cuts as others do.
    """
    ranks = np.array([member.rank or len(known.y) for member in members], dtype=np.float64)
    found = [_told_by_cut(member.cut, known) for member in members if member.cut is not None]
    usual = np.mean(found) if found else 0.0
    told = [usual if each.cut is None else _told_by_cut(each.cut, known) for each in members]
    return np.asarray(np.array(told) - np.log(ranks + 1.0))


def _told_by_cut(cut: Cut, known: Known) -> float:
    drawn = known.weights @ np.log(cut.sizes)[known.codes]
    worth = min(1.0, PRIOR / known.weights.sum())
    return float(worth * (ALONE * drawn - CUT * np.log(cut.edges)))


def labels_only(members: Sequence[Member]) -> NDArray[np.bool_]:
    """Return which members know the labelled rows alone."""
    return np.array([member.labels_only for member in members], dtype=bool)

"""Pairwise combinations: of a product of many lists, few cases show every two values together."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations


def pairwise(cases: Sequence[Sequence[Hashable]]) -> set[int]:
    """Return the numbers of cases that hold every pair of values that some case holds.

    The one that holds most new pairs comes next, and the first among equals: the same cases
    give the same choice. Of two lists nothing can be left out.
    """
    pairs = [set(combinations(enumerate(case), 2)) for case in cases]
    missing = set().union(*pairs)
    chosen = set()
    while missing:
        best = max(range(len(cases)), key=lambda k: (len(pairs[k] & missing), -k))
        chosen.add(best)
        missing -= pairs[best]
    return chosen

"""What the members of one view see: its rows, its graph, and the names of labels as rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..graphs import NodeGraph
from ..judge.mixture import Without
from ..members import Known, Member
from ..members.along_edges import Edges
from ..members.member import Array

LabelNames = tuple[list[str], NDArray[Any]]
"""Texts that name labels, and the labels."""


@dataclass(frozen=True)
class Side:
    """One view of all rows.

    Parameters
    ----------
    name : str
        The view's name; empty for plain rows.
    given : array, frame, CSR matrix or None
        All rows, as models see them. Names of labels, if there are any, are the last rows.
    known : Known
        The labelled rows, names among them.
    labeled : ndarray of int
        Where they are among all rows.
    graph : NodeGraph or None
        The graph of nearest rows.
    edges : Edges or None
        The given graphs.
    alike : bool
        Whether all columns share one unit, because an encoder made them.
    names : (rows, labels) or None
        The rows of labels' names, and these labels.
    """

    name: str
    given: Any
    known: Known
    labeled: NDArray[np.int64]
    graph: NodeGraph | None
    edges: Edges | None = None
    alike: bool = False
    names: tuple[Any, NDArray[Any]] | None = None

    @property
    def compares_names(self) -> bool:
        """Whether every label has a name, and rows are vectors that can be compared with it."""
        if self.names is None or issparse(self.given) or self.known.classes is None:
            return False
        return len(self.names[1]) == len(self.known.classes)

    def judged(self, member: Member, n: int) -> Member:
        """Return a member as the judge sees it: by the first n labels, which are no names."""
        name = f"{self.name}: {member.name}" if self.name else member.name
        if len(member.held) == n:
            return replace(member, name=name)
        names = np.arange(n, len(member.held))
        without = member.without and partial(_beside, member.without, names)
        return replace(member, name=name, held=member.held[:n], without=without)


def _beside(
    without: Without, names: NDArray[np.int64], seen: NDArray[np.int64], told: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Return what a member says after a fit without some labels; names stay."""
    held, said = without(np.concatenate([seen, names]), told)
    return held[: len(seen)], said

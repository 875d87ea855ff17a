"""What a fit keeps in memory so that its answers can be explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graphs import NodeGraph
from ..judge.mixture import Verdict
from ..members import Known, Member
from ..members.by_label import ByLabel
from ..members.member import Array
from .mixed import heavy
from .sides import Side


class Witness(NamedTuple):
    """A member that counts."""

    member: Member
    weight: float
    temperature: float
    view: str
    model: ByLabel | None
    """The sum over labels of the model that the member is, or that it corrects."""
    corrected: str
    """The name of that model; of other members their own."""


@dataclass(frozen=True)
class Evidence:
    """The members of a mixture, and the labelled rows.

    Copies and files of a model do not have it: it holds the graph of all rows.
    """

    witnesses: list[Witness]
    graphs: dict[str, NodeGraph]
    """The graph of every view that has one."""
    labeled: NDArray[np.int64]
    """The row of every label."""
    y: NDArray[Any]
    """The labels."""
    weights: Array
    """Their weights."""
    rows: dict[str, Any]
    """The labelled rows, in every view."""
    n_rows: int
    """How many rows the fit had. Nodes with larger numbers are names of labels."""
    prior: Array
    """What is said of a row that nothing is known of."""

    @classmethod
    def of(
        cls,
        found: list[list[Member]],
        verdict: Verdict,
        sides: list[Side],
        known: Known,
        prior: Array,
    ) -> Evidence | None:
        """Return the members that count.

        It is None if every column has weights of its own, and for given graphs, which are large.
        """
        weights, sizes = verdict.weights, verdict.sizes
        if known.several or any(side.edges is not None for side in sides):
            return None
        if weights.ndim == 2:
            weights, sizes = weights[:, 0], sizes[:, 0]
        kept = heavy(weights, weights.max())
        kept = kept / kept.sum()
        witnesses, place = list[Witness](), 0
        for some, side in zip(found, sides, strict=True):
            models = {
                id(each.model): (each.by_label, each.name)
                for each in some
                if each.model is not None and each.values is None
            }
            for member in some:
                if kept[place] > 0:
                    own = models.get(id(member.model), (None, member.name))
                    about = float(kept[place]), float(sizes[place]), side.name
                    witnesses.append(Witness(member, *about, *own))
                place += 1
        names = 0 if sides[0].names is None else len(sides[0].names[1])
        n_rows = (0 if sides[0].given is None else sides[0].given.shape[0]) - names
        rows = {side.name: side.known.rows for side in sides}
        graphs = {side.name: side.graph for side in sides if side.graph is not None}
        labels = sides[0].labeled[: len(known.y)], known.y, known.weights
        return cls(witnesses, graphs, *labels, rows, n_rows, prior)

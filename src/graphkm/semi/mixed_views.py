"""The fitted mixture of members that see several views: a sum of one mixture for each view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..judge.mixture import Verdict
from ..judge.sizes import tilted
from ..judge.units import PLAIN, Units
from ..members.member import Array, Kind, Member
from .mixed import Linked, Mixed, Part, Weight, heavy
from .sides import Side


@dataclass(frozen=True)
class MixedViews:
    """A mixture that predicts rows which are seen in several views.

    Parameters
    ----------
    views : dict
        The mixture of every view that counts, by name.
    shares : dict
        How much each of them counts, in every column or in all; they add up to 1.
    classes, kind
        As in `Mixed`.
    tilt : ndarray of shape (n_columns,) or None
        As in `Mixed`.
    units : Units
        As in `Mixed`; the mixtures of the views answer in these units.
    """

    views: dict[str, Mixed]
    shares: dict[str, Weight]
    classes: NDArray[Any] | None
    kind: Kind
    tilt: Array | None = None
    units: Units = PLAIN

    @property
    def by_column(self) -> bool:
        """Whether every column has weights of its own."""
        return next(iter(self.views.values())).by_column

    @property
    def prior(self) -> Array:
        """As in `Mixed`; all views have the same."""
        return next(iter(self.views.values())).prior

    @property
    def parts(self) -> list[Part]:
        """The models of all views."""
        return [part for mixed in self.views.values() for part in mixed.parts]

    @property
    def linked(self) -> Linked | None:
        """What the members on given edges say; None if no graph was given."""
        return next((each.linked for each in self.views.values() if each.linked), None)

    @property
    def nodes(self) -> Any:
        """Nodes of a view, or None if no view has any."""
        return next((each.nodes for each in self.views.values() if each.nodes is not None), None)

    def at(self, given: Any, rows: Any, links: Any = None) -> Array:
        """Return class probabilities or quantities; `given` and `rows` have every view."""
        found: Any = sum(
            self.shares[name] * mixed.at(given[name], rows[name], links)
            for name, mixed in self.views.items()
        )
        if self.classes is not None:
            found /= found.sum(axis=1, keepdims=True)
        if self.kind == "quantities":
            return self.units.decoded(found)
        return found if self.tilt is None else tilted(found, self.tilt)


AnyMixture = Mixed | MixedViews
"""The mixture of plain rows, or of several views."""


def mixture_of(
    found: list[list[Member]],
    verdict: Verdict,
    sides: list[Side],
    prior: Array,
    kind: Kind,
    classes: NDArray[Any] | None,
) -> AnyMixture:
    """Return the mixture of the members of all views.

    Parameters
    ----------
    found : list of list of Member
        The members of every view.
    verdict : Verdict
        What the judge says of all of them, one view after the other.
    sides : list of Side
        The views.
    prior : ndarray of shape (n_columns,)
        The prediction for rows that are far from all others.
    kind, classes
        As in `Mixed`.
    """
    ends = np.cumsum([len(some) for some in found])[:-1]
    every, heats = verdict.weights, verdict.sizes
    if kind == "quantities" and every.shape[1] == 1:  # one column needs no table of weights
        every, heats = every[:, 0], heats[:, 0]
    weights, sizes = np.split(every, ends), np.split(heats, ends)
    made: dict[str, Mixed] = {}
    shares: dict[str, Any] = {}
    for some, own, heat, side in zip(found, weights, sizes, sides, strict=True):
        kept = heavy(own, every.max(axis=0))
        ids = None if side.edges is None else side.edges.ids
        if kept.any() or ids is not None:
            nodes = None if side.graph is None else side.graph.nodes
            own = kept if kept.any() else own
            made[side.name] = Mixed.of(some, own, heat, nodes, prior, kind, classes, ids)
            shares[side.name] = own.sum(axis=0)
    if "" in made:
        return made[""]
    total: Any = sum(shares.values())
    plain = float if np.ndim(total) == 0 else np.asarray
    return MixedViews(made, {name: plain(shares[name] / total) for name in made}, classes, kind)

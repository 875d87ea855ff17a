"""The fitted mixture: models, corrected or not, and one field for all members on the graph.

Members on the graph say something of every node. The sum of what they say, each times its weight,
is one field. So for a new row a hundred of them cost no more than one. A model that is corrected
along the graph predicts the row itself, and a field is added to its prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graphs.given_edges import Ids
from ..graphs.nodes import Nodes
from ..judge.columns import label_shares
from ..judge.held_out import HeldOut
from ..judge.sizes import tilted
from ..judge.temperature import log_probabilities
from ..judge.units import PLAIN, Units
from ..members.member import Array, Kind, Member, as_scores, as_shares
from ..members.models import model_scores

Weight = float | Array
"""One for all columns, or one for each."""

LIGHT = 0.01
"""Members of less weight are left out: all of them together say little, and cost much."""


@dataclass(frozen=True)
class Part:
    """A model in a mixture.

    Parameters
    ----------
    model : HeldOut
        The model.
    weight : float or ndarray of shape (n_columns,)
        How much it counts: one number for classes, and one for each label or quantity.
    temperature : float or ndarray
        How sure it is; for labels, `graphkm.judge.columns.best_lines` of every label.
    field : ndarray of float32 of shape (n_nodes, n_columns) or None
        What is added to its class shares or quantities.
    on_edges : bool
        Whether the field is at known rows, which edges lead to, and not at nodes.
    """

    model: HeldOut
    weight: Weight
    temperature: Weight
    field: NDArray[np.float32] | None = None
    on_edges: bool = False


class Linked(NamedTuple):
    """Known rows that edges lead to, and what the members on given edges say of them together.

    These members are silent about a row without edges.
    """

    ids: Ids
    """What edges call the known rows."""
    values: NDArray[np.float32] | None
    """At every known row, times the members' weights; None if no such member counts."""
    weight: Weight
    """The sum of their weights."""


@dataclass(frozen=True)
class Mixed:
    """A mixture that predicts any rows.

    Parameters
    ----------
    parts : list of Part
        The models.
    nodes : Nodes or None
        Where fields live; None if there are no fields.
    values : ndarray of float32 of shape (n_nodes, n_columns) or None
        What all members on the graph say, times their weights; None if there are no such members.
    weight : float
        The sum of the weights of the members on the graph.
    prior : ndarray of shape (n_columns,)
        The prediction for rows that are far from all nodes.
    classes : ndarray or None
        The classes; None for several labels, and for quantities.
    kind : {"classes", "labels", "quantities"}
        What is predicted.
    tilt : ndarray of shape (n_columns,) or None
        The b of `graphkm.judge.sizes`, which gives the classes their sizes; None without sizes.
    linked : Linked or None
        What the members on given edges say; None if no graph was given.
    units : Units
        The units in which the members say quantities.
    """

    parts: list[Part]
    nodes: Nodes | None
    values: NDArray[np.float32] | None
    weight: Weight
    prior: Array
    classes: NDArray[Any] | None
    kind: Kind
    tilt: Array | None = None
    linked: Linked | None = None
    units: Units = PLAIN

    @property
    def by_column(self) -> bool:
        """Whether every column has weights of its own."""
        return self.kind == "labels" or (self.kind == "quantities" and len(self.prior) > 1)

    @classmethod
    def of(
        cls,
        members: list[Member],
        weights: Array,
        sizes: Array,
        nodes: Nodes | None,
        prior: Array,
        kind: Kind,
        classes: NDArray[Any] | None,
        ids: Ids | None = None,
    ) -> Mixed:
        """Return the mixture of fitted members. Those of little weight are left out."""
        kept = heavy(weights, weights.max(axis=0))
        kept /= np.maximum(kept.sum(axis=0), 1e-300)  # a view may say nothing of a label
        parts: list[Part] = []
        sums: dict[bool, tuple[Array, Weight]] = {}  # at nodes, and at rows that edges lead to
        for member, w, t in zip(members, _each(kept), _each(sizes), strict=True):
            if not np.any(w):
                continue
            if member.model is not None:
                field = None if member.values is None else member.values().astype(np.float32)
                parts.append(Part(member.model, w, t, field, member.on_edges))
                continue
            assert member.values is not None
            said = w * _said(member.values(), t, kind)
            values, total = sums.get(member.on_edges, (0.0, 0.0))
            sums[member.on_edges] = values + said, total + w
        (held, weight), (linked, share) = (sums.get(each, (None, 0.0)) for each in (False, True))
        lives = np.any(weight) or any(
            part.field is not None and not part.on_edges for part in parts
        )
        return cls(
            parts,
            nodes if lives else None,
            _single(held),
            weight,
            prior,
            classes,
            kind,
            linked=None if ids is None else Linked(ids, _single(linked), share),
        )

    def at(self, given: Any, rows: Any, links: Any = None) -> Array:
        """Return class probabilities or quantities, of shape (n, n_columns).

        Parameters
        ----------
        given : array, frame or CSR matrix
            The rows as they were given: what models see.
        rows : ndarray or CSR
            The same as numbers: what the graph sees.
        links : CSR array of shape (n, n_known), optional
            The shares of known rows in each row, by its edges: they sum to one, or to zero for a
            row without edges. Members on edges are silent about these rows.
        """
        found = self._by_rows(given, rows, links)
        if self.linked is not None and self.linked.values is not None:
            others: Any = self.weight + sum(part.weight for part in self.parts)
            said = np.zeros((len(found), 1)) + others
            if links is not None:
                found += links @ self.linked.values
                said = said + self.linked.weight * np.asarray(links.sum(axis=1)).reshape(-1, 1)
            found = np.where(said > 0, found / np.where(said > 0, said, 1.0), self.prior)
        if self.classes is not None:  # single precision has rounded their sums
            found /= found.sum(axis=1, keepdims=True)
        if self.kind == "quantities":
            return self.units.decoded(found)
        return found if self.tilt is None else tilted(found, self.tilt)

    def _by_rows(self, given: Any, rows: Any, links: Any) -> Array:
        """Return what members say that need no edges, times their weights."""
        found = np.zeros((rows.shape[0], len(self.prior)))
        z: Any = None if self.nodes is None else self.nodes.weights(rows)
        asked: dict[int, Array] = {}  # a model with several corrections is asked once
        for part in self.parts:
            own = id(part.model)
            if own not in asked:
                asked[own] = model_scores(part.model, given, self.classes)
            scores = asked[own]
            weights = links if part.on_edges else z
            if part.field is not None and weights is not None:
                scores = _corrected(scores, weights @ part.field, self.kind)
            found += part.weight * _said(scores, part.temperature, self.kind)
        if self.values is not None:
            found += z @ self.values
            far = 1.0 - np.asarray(z.sum(axis=1)).reshape(-1, 1)
            found += self.weight * np.maximum(far, 0.0) * self.prior
        return found


def _single(values: Array | None) -> NDArray[np.float32] | None:
    return None if values is None else values.astype(np.float32)


def _each(values: Array) -> list[Weight]:
    """Return numbers, or an array of one number for each column."""
    return values.tolist() if values.ndim == 1 else list(values)


def heavy(weights: Array, most: Any) -> Array:
    """Return the weights, without those of members that hardly count in a column."""
    return np.where(weights >= np.minimum(LIGHT, most), weights, 0.0)


def _said(scores: Array, temperature: Any, kind: Kind) -> Array:
    if kind == "quantities":
        return scores
    if kind == "labels":
        return label_shares(scores, temperature)
    return np.exp(log_probabilities(scores, temperature))


def _corrected(scores: Array, added: Array, kind: Kind) -> Array:
    """Return corrected scores. The field is added to shares, not to their logarithms or odds."""
    return as_scores(as_shares(scores, kind) + added, kind)

"""The fitted mixture: models of the labelled rows, and one field for all members on the graph.

Members on the graph say something of every node. What they say together, each with its weight, is
one field. So a mixture of a hundred of them costs a new row what one of them would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graphs.nodes import Nodes
from ..judge.held_out import HeldOut
from ..judge.temperature import log_probabilities
from ..members.member import Array, Member
from ..members.models import model_scores

LIGHT = 0.01
"""Weight below which a member is left out: all of them together say little, and cost much."""


@dataclass(frozen=True)
class Part:
    """A model of the labelled rows in a mixture."""

    model: HeldOut
    weight: float
    temperature: float


@dataclass(frozen=True)
class Mixed:
    """A mixture that tells any rows.

    Parameters
    ----------
    parts : list of Part
        The models.
    nodes : Nodes or None
        Where the members on the graph live; None without any.
    values : ndarray of float32 of shape (n_nodes, n_columns) or None
        What they say together, times their weights.
    weight : float
        The sum of their weights.
    prior : ndarray of shape (n_columns,)
        What is said of rows that are far from all nodes.
    classes : ndarray or None
        The labels; None for quantities.
    """

    parts: list[Part]
    nodes: Nodes | None
    values: NDArray[np.float32] | None
    weight: float
    prior: Array
    classes: NDArray[Any] | None

    @classmethod
    def of(
        cls,
        members: list[Member],
        weights: Array,
        sizes: Array,
        nodes: Nodes | None,
        prior: Array,
        classes: NDArray[Any] | None,
    ) -> Mixed:
        """Return the mixture of fitted members. Those of little weight are left out."""
        kept = np.where(weights >= min(LIGHT, weights.max()), weights, 0.0)
        kept /= kept.sum()
        parts: list[Part] = []
        values, total = None, 0.0
        for member, w, t in zip(members, kept.tolist(), sizes.tolist(), strict=True):
            if not w:
                continue
            if member.values is None:
                assert member.model is not None
                parts.append(Part(member.model, w, t))
                continue
            said = w * _said(member.values(), t, classes)
            values, total = said if values is None else values + said, total + w
        held = None if values is None else values.astype(np.float32)
        return cls(parts, nodes if total else None, held, total, prior, classes)

    def at(self, given: Any, rows: Any) -> Array:
        """Return class probabilities or quantities, of shape (n, n_columns).

        Parameters
        ----------
        given : array, frame or CSR matrix
            The rows as they were given: what models see.
        rows : ndarray or CSR
            The same as numbers: what the graph sees.
        """
        found = np.zeros((rows.shape[0], len(self.prior)))
        for part in self.parts:
            scores = model_scores(part.model, given, self.classes)
            found += part.weight * _said(scores, part.temperature, self.classes)
        if self.nodes is not None:
            z = self.nodes.weights(rows)
            found += z @ self.values
            far = 1.0 - np.asarray(z.sum(axis=1)).reshape(-1, 1)
            found += self.weight * np.maximum(far, 0.0) * self.prior
        if self.classes is not None:  # single precision has rounded them
            found /= found.sum(axis=1, keepdims=True)
        return found


def _said(scores: Array, temperature: float, classes: Any) -> Array:
    return scores if classes is None else np.exp(log_probabilities(scores, temperature))

r"""What every label adds to an answer.

A member says base + sum_i share_i target_i of a row, and that becomes a probability P by a softmax
with the member's temperature. Let all labels grow from 0 to 1 together, :math:`s(a) = base + a
\sum_i share_i target_i`. Then

.. math::

    P(s(1)) - P(s(0)) = \sum_i share_i \int_0^1 \nabla P(s(a)) \, da \cdot target_i ,

and term i is what label i adds: the value of Aumann and Shapley (1974), known as integrated
gradients (Sundararajan et al., 2017). Terms add up, labels that share alike get alike, and a label
without a share gets nothing. Quantities need no integral: they are sums themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ..members.by_label import LabelSum
from ..members.member import LEAST, as_scores
from ..semi.evidence import Witness

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

_POINTS, _STEPS = np.polynomial.legendre.leggauss(40)
_POINTS, _STEPS = (_POINTS + 1.0) / 2.0, _STEPS / 2.0  # from -1..1 to 0..1

_CLOSE = 0.01  # a sum over labels may differ so much from what the model itself says


class Told(NamedTuple):
    """What a member says of one column of n rows."""

    said: Array
    """Its probability or quantity, of shape (n,)."""
    start: Array
    """The same without labels."""
    shares: Array | None
    """What every label adds to `start`, of shape (n, l); None if that is not known."""
    summed: bool
    """Whether `start` is an answer without labels. If not, it is one that is no sum over labels."""


def added(own: LabelSum, t: float, column: Numbers) -> Array:
    """Return what every term of a sum adds to the probability of a class, or to a quantity.

    Parameters
    ----------
    own : LabelSum
        The sum; its terms need not be labels.
    t : float
        The temperature.
    column : ndarray of int of shape (n,)
        The class of every row.
    """
    if len(own.base) == 1:
        return np.asarray(own.shares * own.targets[:, 0])
    nothing = np.zeros((len(own.shares), len(own.base)))
    pull = np.zeros_like(nothing)
    for a, step in zip(_POINTS, _STEPS, strict=True):
        pull += step * _gradient(own, nothing, a, 0.0, t, column)[1]
    return np.asarray(own.shares * (pull @ own.targets.T))


def told_by_models(witness: Witness, given: Any, z: Any, scores: Array, column: Numbers) -> Told:
    """Return what a model adds to the probability of a class, corrected along a graph or not.

    Parameters
    ----------
    witness : Witness
        The member.
    given : array or frame of n rows
        The rows.
    z : sparse matrix of shape (n, n_nodes) or None
        How rows are joined to the nodes of the correction.
    scores : ndarray of shape (n, n_columns)
        What the model says.
    column : ndarray of int of shape (n,)
        The class that is asked for in every row.
    """
    own = None if witness.model is None else _checked(witness.model(given), scores)
    field = None
    if witness.member.values is not None and z is not None:
        field = _joined(witness.member.by_label, z)
    quantities = scores.shape[1] == 1
    if own is None and field is None:
        said = scores[:, 0] if quantities else _picked(softmax_of(scores, witness), column)
        return Told(said, said, None, False)
    n = len(scores)
    shares = np.zeros((own if own is not None else field).shares.shape)  # type: ignore[union-attr]
    moved = 0.0 if field is None else field.shares @ field.targets
    if quantities:
        for each in (own, field):
            shares += 0.0 if each is None else each.shares * each.targets[:, 0]
        start = own.base[0] + np.zeros(n) if own is not None else scores[:, 0]
        return Told(start + shares.sum(axis=1), start, shares, own is not None)
    pulls = [np.zeros_like(scores), np.zeros_like(scores)]
    for a, step in zip(_POINTS, _STEPS, strict=True):
        _, by_own, by_field = _gradient(own, scores, a, a * moved, witness.temperature, column)
        pulls[0] += step * by_own
        pulls[1] += step * by_field
    for each, pull in zip((own, field), pulls, strict=True):
        shares += 0.0 if each is None else each.shares * (pull @ each.targets.T)
    t = witness.temperature
    start, said = (_gradient(own, scores, a, a * moved, t, column)[0] for a in (0.0, 1.0))
    return Told(said, start, shares, own is not None)


def _checked(own: LabelSum, scores: Array) -> LabelSum | None:
    """Return a sum, or None where it is not what the model says: its fit may have ended early."""
    whole = own.whole
    if own.link == "logits":
        whole = softmax(whole, axis=1)
    said = scores if own.link == "scores" else np.exp(scores)
    whole = whole if own.link == "scores" else np.maximum(whole, LEAST)
    near = _CLOSE * (1.0 if own.link != "scores" else np.abs(own.targets).max(initial=1e-300))
    return own if np.abs(whole - said).max(initial=0.0) <= near else None


def told_on_nodes(witness: Witness, z: Any, column: Numbers, prior: Array) -> Told:
    """Return what a member on a graph adds: it says something of nodes, and rows lie among them.

    Parameters
    ----------
    witness, column
        As in `told_by_models`.
    z : sparse matrix of shape (n, n_nodes)
        How rows are joined to the nodes.
    prior : ndarray of shape (n,)
        What is said of the part of a row that is far from all nodes.
    """
    n, nodes = z.shape[0], np.unique(z.indices)
    inner = z[:, nodes]
    far = np.maximum(1.0 - np.asarray(z.sum(axis=1)).ravel(), 0.0) * prior
    if witness.member.by_label is None:
        assert witness.member.values is not None
        scores = witness.member.values()[nodes]
        found = scores if scores.shape[1] == 1 else softmax_of(scores, witness)
        said = _picked(np.asarray(inner @ found), column if scores.shape[1] > 1 else 0 * column)
        return Told(said + far, said + far, None, False)
    own = witness.member.by_label(nodes)
    k = len(own.base)
    said, start = np.zeros(n), np.zeros(n)
    shares = np.zeros((n, own.shares.shape[1]))
    for c in np.unique(column) if k > 1 else [0]:
        rows = np.flatnonzero(column == c) if k > 1 else np.arange(n)
        asked = np.full(len(nodes), c)
        by_label = added(own, witness.temperature, asked)
        if k == 1:
            low, high = np.full(len(nodes), own.base[0]), own.whole[:, 0]
        else:
            nothing, t = np.zeros((len(nodes), k)), witness.temperature
            low, high = (_gradient(own, nothing, a, 0.0, t, asked)[0] for a in (0.0, 1.0))
        shares[rows] = inner[rows] @ by_label
        said[rows], start[rows] = inner[rows] @ high, inner[rows] @ low
    return Told(said + far, start + far, shares, True)


def softmax_of(scores: Array, witness: Witness) -> Array:
    """Return probabilities from scores."""
    return np.asarray(softmax(witness.temperature * scores, axis=1))


def _joined(by_label: Any, z: Any) -> LabelSum | None:
    """Return a correction at rows, as a sum over labels."""
    if by_label is None:
        return None
    nodes = np.unique(z.indices)
    found: LabelSum = by_label(nodes)
    return found._replace(shares=np.asarray(z[:, nodes] @ found.shares))


def _picked(values: Array, column: Any) -> Array:
    return np.asarray(values[np.arange(len(values)), column])


def _gradient(
    own: LabelSum | None, scores: Array, a: float, moved: Any, t: float, column: Numbers
) -> tuple[Array, Array, Array]:
    """Return P of a class, and how it grows with the sum `own` and with a correction.

    Parameters
    ----------
    own : LabelSum or None
        The sum; None for a model whose scores stay as they are.
    scores : ndarray of shape (n, n_classes)
        The scores of such a model: logarithms of shares.
    a : float
        How much of the labels counts.
    moved : ndarray or float
        The correction, which is added to shares.
    t : float
        The temperature.
    column : ndarray of int
        The class of every row.
    """
    s = scores if own is None else own.base + a * (own.shares @ own.targets)
    link = "logs" if own is None else own.link
    asked = np.arange(s.shape[1]) == column[:, None]
    if link == "scores":
        p = softmax(t * s, axis=1)
        pc = _picked(p, column)
        return pc, t * pc[:, None] * (asked - p), np.zeros_like(s)
    # Shares of classes, of which none is below LEAST, and their correction.
    q = s if link == "shares" else softmax(s, axis=1) if link == "logits" else np.exp(s)
    whole = np.maximum(q, LEAST) + moved
    p = softmax(t * as_scores(whole, "classes"), axis=1)
    pc = _picked(p, column)
    by_field = t * pc[:, None] * (asked - p) * (whole > LEAST) / np.maximum(whole, LEAST)
    by_own = by_field * (q > LEAST)
    if link == "logits":
        by_own = q * (by_own - (by_own * q).sum(axis=1, keepdims=True))
    return pc, by_own, by_field

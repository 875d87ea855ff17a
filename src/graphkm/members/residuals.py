"""Members that correct a model by a field: its held-out errors, carried along the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fields.system import FieldData, Strength
from .by_label import LabelSum
from .member import Array, Known, Member, Scope, as_scores, as_shares

_STRENGTHS = tuple(Strength(C, eps) for C in (0.3, 3.0) for eps in (0.5, 0.1, 0.03, 0.01))


def residual_members(known: Known, scope: Scope, model: Member | None) -> Iterator[Member]:
    """Yield fields of every strength that correct a model; without a model, fields of the labels.

    Parameters
    ----------
    known : Known
        The labelled rows. Without folds no field can be judged, and none is yielded.
    scope : Scope
        The graph.
    model : Member or None
        What is corrected: a model of the labelled rows.
    """
    if not known.folds:
        return
    start, k = process_time(), known.targets.shape[1]
    wanted = known.targets + (0.0 if known.classes is None else 1.0 / k)
    usual = known.mean_targets if known.classes is None else np.full(k, 1.0 / k)
    said = np.broadcast_to(usual, wanted.shape)
    if model is not None:
        said = as_shares(model.held, known.kind)
    system, missed = scope.system, wanted - said
    held = np.zeros((len(_STRENGTHS), *wanted.shape))
    for columns, told in known.groups():
        for train, test in known.folds:
            own = np.intersect1d(train, told)
            values = missed[np.ix_(own, columns)]
            data = FieldData.of(scope.graph, own, known.weights[own], values)
            found = system.along(data, _STRENGTHS, scope.graph.rows[test])
            for place, g in enumerate(found):
                held[place][np.ix_(test, columns)] = said[np.ix_(test, columns)] + g
    used = (process_time() - start) / len(_STRENGTHS)
    kind = "field" if model is None else "correction"
    base = usual if model is None else np.zeros(k)
    linear = known.kind != "labels" and not known.several
    for strength, outputs in zip(_STRENGTHS, held, strict=True):
        field = partial(_solved, scope, known, missed, strength)
        yield Member(
            f"{kind}, C={strength.C:g}, eps={strength.eps:g}",
            as_scores(outputs, known.kind),
            model=None if model is None else model.model,
            values=partial(_around, usual, field, known) if model is None else field,
            how="out-of-fold",
            seconds=used,
            labels_only=False,
            by_label=partial(_by_label, scope, known, missed, strength, base) if linear else None,
        )


def _solved(scope: Scope, known: Known, missed: Array, strength: Strength) -> Array:
    """Return the field of what was missed, at all nodes."""
    found = np.zeros((scope.graph.similarity.shape[0], missed.shape[1]))
    for columns, told in known.groups():
        values = missed[np.ix_(told, columns)]
        data = FieldData.of(scope.graph, told, known.weights[told], values)
        found[:, columns] = scope.system.solve(data, strength)
    return found


def _by_label(
    scope: Scope,
    known: Known,
    missed: Array,
    strength: Strength,
    start: Array,
    nodes: NDArray[np.int64],
) -> LabelSum:
    """Return what a field says of some nodes as a sum over labels."""
    every = np.arange(len(known.y))
    data = FieldData.of(scope.graph, every, known.weights, np.eye(len(every)))
    shares = scope.system.solve(data, strength)[nodes].astype(np.float64)
    return LabelSum(start, shares, missed, "scores" if known.classes is None else "shares")


def _around(usual: Any, field: Callable[[], Array], known: Known) -> Array:
    """Return the scores or quantities of all nodes: a field plus the usual value."""
    return as_scores(usual + field(), known.kind)

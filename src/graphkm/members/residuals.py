"""Members that correct a model by a field: its held-out errors, carried along the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from ..fields.system import FieldData, FieldSystem, Strength
from .member import Array, Known, Member, Scope, log_shares

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
    start = process_time()
    k = known.targets.shape[1]
    wanted = known.targets + (0.0 if known.classes is None else 1.0 / k)
    usual = np.average(wanted, axis=0, weights=known.weights) if known.classes is None else 1.0 / k
    said = np.broadcast_to(usual, wanted.shape)
    if model is not None:
        said = model.held if known.classes is None else np.exp(model.held)
    system = scope.system
    held = np.empty((len(_STRENGTHS), *wanted.shape))
    for train, test in known.folds:
        data = FieldData.of(scope.graph, train, known.weights[train], (wanted - said)[train])
        found = system.along(data, _STRENGTHS, scope.graph.rows[test])
        for place, g in enumerate(found):
            held[place, test] = said[test] + g
    every = np.arange(len(wanted))
    data = FieldData.of(scope.graph, every, known.weights, wanted - said)
    used = (process_time() - start) / len(_STRENGTHS)
    kind = "field" if model is None else "correction"
    for strength, outputs in zip(_STRENGTHS, held, strict=True):
        field = partial(_solved, system, data, strength)
        yield Member(
            f"{kind}, C={strength.C:g}, eps={strength.eps:g}",
            outputs if known.classes is None else log_shares(outputs),
            model=None if model is None else model.model,
            values=partial(_around, usual, field, known) if model is None else field,
            how="out-of-fold",
            seconds=used,
            labels_only=False,
        )


def _solved(system: FieldSystem, data: FieldData, strength: Strength) -> Array:
    return system.solve(data, strength).astype(np.float64)


def _around(usual: Any, field: Callable[[], Array], known: Known) -> Array:
    """Return the scores or quantities of all nodes: a field plus the usual value."""
    outputs = usual + field()
    return outputs if known.classes is None else log_shares(outputs)

"""Members that correct a model: its held-out errors, as a field over the graph."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time

import numpy as np

from ..solvers.field import FieldData, FieldSystem, Strength
from .member import LEAST, Array, Known, Member, Scope

_STRENGTHS = tuple(Strength(C, eps) for C in (0.3, 3.0) for eps in (0.5, 0.1, 0.03, 0.01))


def residual_members(
    known: Known, scope: Scope, base: Array | None, everywhere: Array | None
) -> Iterator[Member]:
    """Yield the fields of every strength over a model; without one, of the labels themselves.

    Parameters
    ----------
    known : Known
        The labelled rows. Without folds there is nothing to judge, and no member.
    scope : Scope
        The graph.
    base : ndarray of shape (l, n_columns) or None
        What the model says of each labelled row without its label: class shares, or quantities.
    everywhere : ndarray of shape (n_nodes, n_columns) or None
        What it says of all nodes.
    """
    if not known.folds:
        return
    start = process_time()
    k = known.targets.shape[1]
    wanted = known.targets + (0.0 if known.classes is None else 1.0 / k)
    usual = np.average(wanted, axis=0, weights=known.weights) if known.classes is None else 1.0 / k
    said = np.broadcast_to(usual, wanted.shape) if base is None else base
    system = FieldSystem(scope.graph.similarity, n_threads=scope.n_threads)
    held = np.empty((len(_STRENGTHS), *wanted.shape))
    for train, test in known.folds:
        data = FieldData.of(scope.graph, train, known.weights[train], (wanted - said)[train])
        found = system.along(data, _STRENGTHS, scope.graph.rows[test])
        for place, g in enumerate(found):
            held[place, test] = said[test] + g
    every = np.arange(len(wanted))
    data = FieldData.of(scope.graph, every, known.weights, wanted - said)
    used = (process_time() - start) / len(_STRENGTHS)
    kind = "field" if base is None else "correction"
    for strength, outputs in zip(_STRENGTHS, held, strict=True):
        scores = outputs if known.classes is None else _as_scores(outputs)
        values = partial(
            _values, system, data, strength, usual if everywhere is None else everywhere, known
        )
        name = f"{kind}, C={strength.C:g}, eps={strength.eps:g}"
        yield Member(
            name, scores, values=values, how="out-of-fold", seconds=used, labels_only=False
        )


def _values(
    system: FieldSystem, data: FieldData, strength: Strength, base: Array, known: Known
) -> Array:
    outputs = base + system.solve(data, strength).astype(np.float64)
    return outputs if known.classes is None else _as_scores(outputs)


def _as_scores(outputs: Array) -> Array:
    """Return the logarithms of corrected shares, which may leave the range of shares."""
    return np.asarray(np.log(np.clip(outputs, LEAST, None)))

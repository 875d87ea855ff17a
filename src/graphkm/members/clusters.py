"""Members that follow clusters: ridge regressions on features from graphs of all rows.

All features are tried with two strengths of the ridge; more strengths changed nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from time import process_time

import numpy as np
from numpy.typing import NDArray

from ..neighbours.distinct import Copies
from ..ridge.left_out import means_without, ridges
from .cuts import cut_graph
from .features import LARGEST, Features, graph_features
from .member import Array, Known, Member, Scope, unit_of

_CS = (1.0, 100.0)  # weights of the labels, where the kernel's mean is 1

_DIGITS = 10  # decimals to which held-out shares are rounded


def cluster_members(known: Known, scope: Scope, *, several: bool = True) -> Iterator[Member]:
    """Yield the members of every kind of features of a graph, and of several like it."""
    n_classes = 2 if known.classes is None else len(known.classes)
    similarity = scope.graph.similarity
    start = process_time()
    every = graph_features(scope.graph, n_classes, scope.n_threads, several=several)
    for member in ridge_members(every, known):
        assert member.values is not None
        cut = None if known.classes is None else cut_graph(member.values(), similarity)
        used, start = process_time() - start, process_time()
        yield replace(member, cut=cut, seconds=used)


def ridge_members(every: Iterable[Features], known: Known) -> Iterator[Member]:
    """Yield ridge regressions on features, one for each C."""
    about = known.weights, known.targets, known.copies, known.classes is not None
    start = process_time()
    for features in every:
        fits = _ridges(features.phi, *about)
        refits = _Refits(known, features.phi)
        for place, (C, (held, mean, v)) in enumerate(zip(_CS, fits, strict=True)):
            used, start = process_time() - start, process_time()
            yield Member(
                f"{features.name}, C={C:g}",
                held,
                unit_of(held),
                values=partial(_values, features, mean, v),
                seconds=used,
                rank=features.phi.shape[1],
                labels_only=False,
                without=partial(refits.without, place)
                if features.phi.shape[1] <= LARGEST
                else None,
            )


def _values(features: Features, mean: Array, v: Array) -> Array:
    return mean + features.values(v)


class _Refits:
    """The same regressions, fitted without some labels; one decomposition serves every C."""

    def __init__(self, known: Known, phi: Array) -> None:
        self._known, self._phi = known, phi
        self._seen: NDArray[np.int64] | None = None

    def without(
        self, place: int, seen: NDArray[np.int64], told: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """Return held-out scores of the labels `seen`, and what these say of those `told`."""
        if self._seen is not seen:
            known = self._known
            about = known.weights[seen], known.targets[seen], Copies.of(known.copies.place[seen])
            self._fits = list(_ridges(self._phi[seen], *about, known.classes is not None))
            self._seen = seen
        held, mean, v = self._fits[place]
        return held, mean + self._phi[told] @ v


def _ridges(
    phi: Array, weights: Array, targets: Array, copies: Copies, classes: bool
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield, for every C, held-out outputs, the output of an unknown row, and coefficients.

    Shares of classes lie around equal shares. Quantities lie around their mean, and the mean
    without a row differs from the mean of all rows.
    """
    k, zero = targets.shape[1], np.zeros(targets.shape[1])
    if classes:
        for held, v in ridges(phi, weights, targets, copies, _CS):
            yield held.round(_DIGITS), zero, v  # rounding errors would tell the held-out label
        return
    known = np.hstack([targets, np.ones((len(targets), 1))])
    mean, others = means_without(targets, weights, copies)
    for held, v in ridges(phi, weights, known, copies, _CS):
        yield others + held[:, :k] - held[:, k:] * others, mean, v[:, :k] - v[:, k:] * mean

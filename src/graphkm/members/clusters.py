"""Members that follow clusters: ridge regressions on features from graphs of all rows.

All features are tried with two strengths of the ridge; more strengths changed nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from time import process_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..neighbours.distinct import Copies
from ..ridge.left_out import means_without, ridges
from .by_label import LabelSum
from .cuts import cut_graph
from .features import LARGEST, Features, graph_features
from .member import Array, Kind, Known, Member, Scope, odds_around, unit_of

_CS = (1.0, 100.0)  # weights of the labels, where the kernel's mean is 1

_DIGITS = 10  # decimals to which held-out shares are rounded


def cluster_members(known: Known, scope: Scope, *, several: bool = True) -> Iterator[Member]:
    """Yield the members of every kind of features of a graph, and of several like it."""
    similarity = scope.graph.similarity
    start = process_time()
    every = graph_features(scope.graph, known.n_groups, scope.n_threads, several=several)
    for member in ridge_members(every, known):
        assert member.values is not None
        cut = None if known.classes is None else cut_graph(member.values(), similarity)
        used, start = process_time() - start, process_time()
        yield replace(member, cut=cut, seconds=used)


def ridge_members(every: Iterable[Features], known: Known) -> Iterator[Member]:
    """Yield ridge regressions on features, one for each C."""
    start = process_time()
    for features in every:
        fits = _ridges(features.phi, known)
        refits = _Refits(known, features.phi)
        for place, (C, (held, fit)) in enumerate(zip(_CS, fits, strict=True)):
            used, start = process_time() - start, process_time()
            yield Member(
                f"{features.name}, C={C:g}",
                held,
                unit_of(held),
                values=partial(_values, features, fit),
                seconds=used,
                rank=features.phi.shape[1],
                labels_only=False,
                without=partial(refits.without, place)
                if features.phi.shape[1] <= LARGEST
                else None,
                by_label=None if known.kind == "labels" else partial(_by_label, features, known, C),
            )


class _Fit(NamedTuple):
    """A ridge regression."""

    mean: Array
    """What it says of a row without features."""
    v: Array
    """Its coefficients."""
    kind: Kind

    def scores(self, added: Array) -> Array:
        """Return scores of rows, of which it is known what features add to the mean."""
        found = self.mean + added
        return odds_around(found, self.mean) if self.kind == "labels" else found


def _values(features: Features, fit: _Fit) -> Array:
    return fit.scores(features.values(fit.v))


def _by_label(features: Features, known: Known, C: float, nodes: NDArray[np.int64]) -> LabelSum:
    """Return what a regression says of some nodes as a sum over labels."""
    usual = np.zeros(known.targets.shape[1])
    if known.classes is None:
        usual = known.mean_targets
    eye = np.eye(len(known.y))
    ((_, v),) = ridges(features.phi, known.weights, eye, None, [C])
    return LabelSum(usual, features.values(v)[nodes], known.targets - usual, "scores")


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
            self._fits = list(_ridges(self._phi[seen], self._known.taught(seen)))
            self._seen = seen
        held, fit = self._fits[place]
        return held, fit.scores(self._phi[told] @ fit.v)


def _ridges(phi: Array, known: Known) -> Iterator[tuple[Array, _Fit]]:
    """Yield, for every C, held-out scores and the fit.

    Shares of classes lie around equal shares. Labels and quantities lie around their mean, and the
    mean without a row differs from the mean of all rows. Columns that are known at the same rows
    are solved together.
    """
    targets = known.targets
    if known.classes is not None:
        zero = np.zeros(targets.shape[1])
        for held, v in ridges(phi, known.weights, targets, known.copies, _CS):
            # Rounding errors would tell the held-out label.
            yield held.round(_DIGITS), _Fit(zero, v, known.kind)
        return
    scores = np.zeros((len(_CS), *targets.shape))
    means, v = np.zeros(targets.shape[1]), np.zeros((len(_CS), phi.shape[1], targets.shape[1]))
    for columns, rows in known.groups():
        own, k = targets[np.ix_(rows, columns)], len(columns)
        weights, copies = known.weights[rows], Copies.of(known.copies.place[rows])
        with_ones = np.hstack([own, np.ones((len(own), 1))])
        mean, others = means_without(own, weights, copies)
        means[columns] = mean
        for place, (held, beta) in enumerate(ridges(phi[rows], weights, with_ones, copies, _CS)):
            found = others + held[:, :k] - held[:, k:] * others
            if known.kind == "labels":
                found = odds_around(found.round(_DIGITS), others)
            scores[place][np.ix_(rows, columns)] = found
            v[place][:, columns] = beta[:, :k] - beta[:, k:] * mean
    yield from ((held, _Fit(means, beta, known.kind)) for held, beta in zip(scores, v, strict=True))

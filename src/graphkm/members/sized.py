"""A member that cuts the graph of nearest rows into classes of the sizes that a person gave."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time

import numpy as np
from numpy.typing import NDArray

from ..fields.sized_cuts import cut_to_sizes
from ..judge.folds import Folds
from ..judge.sizes import SLACK
from .cuts import cut_graph
from .member import Array, Known, Member, Scope, log_shares

PRICE = 0.1
"""A row changes its class for the sake of sizes if it is no more than twice this share in doubt."""

STEPS = 10
"""So many steps along edges are between two rounds of a cut."""

FOLDS = 10
"""Labels are held out in so many folds: nearly one by one where they are few."""


def sized_members(known: Known, scope: Scope) -> Iterator[Member]:
    """Yield the cut into classes of given sizes; nothing if no sizes are given.

    A cut is not linear in the labels. So labels are held out in folds, and each fold has a cut of
    its own.

    Parameters
    ----------
    known : Known
        The labelled rows, and the sizes.
    scope : Scope
        The graph of nearest rows.
    """
    if known.sizes is None:
        return
    start, sizes = process_time(), known.sizes
    weighted = known.weights[:, None] * (known.codes[:, None] == np.arange(len(sizes)))

    def cut(rows: NDArray[np.int64]) -> Array:
        about = scope.graph, rows, weighted[rows], sizes
        found = cut_to_sizes(scope.system, *about, slack=SLACK, price=PRICE, steps=STEPS)
        return log_shares(found.astype(np.float64))

    held = np.zeros((len(known.y), len(sizes)))
    for train, test in _folds(known):
        held[test] = scope.graph.rows[test] @ cut(train)
    values = cut(np.arange(len(known.y)))
    yield Member(
        "cut to sizes",
        held,
        values=partial(np.asarray, values),
        how="out-of-fold" if known.folds else "prior",
        seconds=process_time() - start,
        labels_only=False,
        cut=cut_graph(values, scope.graph.similarity),
    )


def _folds(known: Known) -> Folds:
    """Return folds of the labels that the judge holds out, as many as `FOLDS` if labels allow it.

    The judge has no more folds than a class has labels. With two labels of a class, cuts would be
    judged by half of the labels, and beside members that leave out one. Here the labels of a class
    are in as many folds as possible. Equal rows share a fold.
    """
    tests = [test for _, test in known.judged_folds]
    if not tests:
        return []
    place = known.copies.place
    sets, first = np.unique(place[np.concatenate(tests)], return_index=True)
    codes = known.codes[np.concatenate(tests)[first]]
    fold = np.full(int(place.max()) + 1, -1)
    fold[sets[np.argsort(codes, kind="stable")]] = np.arange(len(sets)) % FOLDS
    own = fold[place]
    every = [(np.flatnonzero(own != each), np.flatnonzero(own == each)) for each in range(FOLDS)]
    return [(train, test) for train, test in every if len(test)]

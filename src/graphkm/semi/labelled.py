"""The labelled rows of a fit: their folds before it, and what it said of them after it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.targets import spread_of, weighted_quantile
from ..judge.folds import make_folds
from ..judge.held_out import take_rows
from ..judge.mixture import Verdict
from ..judge.units import PLAIN, Units
from ..members import Known
from ..neighbours.distinct import Copies
from .judging import splitter_of
from .target import Target
from .views import Views, copies_of

HELD = ("labeled_", "held_out_", "told_", "told_weights_")
"""What a fit keeps of its labelled rows."""


def known_rows(
    model: Any,
    given: Any,
    rows: Any,
    target: Target,
    weights: NDArray[np.float64] | None,
    seed: int,
) -> tuple[NDArray[np.int64], Known]:
    """Return the labelled rows with their folds, sorted by what they hold, and their order.

    Forests and other models draw rows by number. With sorted rows they draw the same rows,
    whatever the order of X.

    Parameters
    ----------
    model : SemiSupervised
        It has the folds that were asked for, the classes, and their sizes if they were given.
    given, rows
        The labelled rows as they were given, and as numbers.
    target, weights, seed
        Their labels, the weights of these if any were given, and the seed of the folds.
    """
    y, kind = target.y, target.kind
    classes = model.classes_ if kind == "classes" else None
    if not len(y):  # names alone are labelled
        ones, copies = np.ones(0), Copies.of(y)
        sizes = model.given_sizes(y, ones)
        known = Known(given, y, ones, None, classes, [], copies, kind, sizes=sizes)
        return np.empty(0, np.int64), known
    copies, seen = copies_of(rows), given.first if isinstance(given, Views) else given
    folds = make_folds(model.cv, seen, y, partial(splitter_of, kind, seed), copies)
    order = np.argsort(copies.place, kind="stable")
    to = np.empty_like(order)
    to[order] = np.arange(len(order))
    own = None if weights is None else weights[order] / weights.mean()
    counted = np.ones(len(y)) if own is None else own
    return order, Known(
        take_rows(given, order),
        y[order],
        counted,
        own,
        classes,
        [(np.sort(to[train]), np.sort(to[test])) for train, test in folds],
        Copies(to[copies.first], copies.place[order]),
        kind,
        sizes=model.given_sizes(y[order], counted) if kind == "classes" else None,
        units=units_of(y[order], counted) if kind == "quantities" else PLAIN,
    )


def units_of(y: NDArray[np.float64], weights: NDArray[np.float64]) -> Units:
    """Return the units of columns of quantities: weighted medians, and spreads around them."""
    found = np.array([(0.0, 1.0)] * y.shape[1])
    for own, values in zip(found, y.T, strict=True):
        told = ~np.isnan(values)
        if told.any():
            own[0] = weighted_quantile(values[told], weights[told], 0.5)
            own[1] = spread_of(values[told] - own[0], weights[told])
    return Units(*found.T)


def keep_held(model: Any, verdict: Verdict, known: Known, labeled: NDArray[np.int64]) -> None:
    """Keep what the mixture says of labelled rows, from fits that did not see their labels.

    Beside it stands what y says of them, in the same shape. A row that has shares of several
    classes is one row here.
    """
    for name in HELD:
        model.__dict__.pop(name, None)  # of an earlier fit
    if not known.folds:
        return
    rows, first, place = np.unique(labeled, return_index=True, return_inverse=True)
    weights = np.bincount(place, known.weights)
    told = known.y[first]
    if known.classes is not None:
        told = np.zeros((len(rows), len(known.classes)))
        np.add.at(told, (place, known.codes), known.weights)
        told /= weights[:, None]
    held = np.where(known.cells > 0, known.units.decoded(verdict.held), np.nan)[first]
    single = known.kind == "quantities" and not known.several
    model.labeled_, model.told_weights_ = rows, weights
    model.held_out_, model.told_ = (held[:, 0], told[:, 0]) if single else (held, told)

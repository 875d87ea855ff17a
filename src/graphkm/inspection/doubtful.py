"""Labels that look wrong: given labels against which held-out probabilities speak."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from .._util.parameters import check_count
from ..active.seen import seen_rows
from ..judge.held_out import take_rows
from ..neighbours.index import NeighbourIndex
from ..semi.held import Held, held_of
from ..semi.labelled import units_of
from .doubtful_table import DoubtfulLabel, DoubtfulLabels, Nearest, Wrong
from .noise import Array, Rate, class_doubts, quantity_doubts, rate_of, spread_of

_SHOWN = 5  # neighbours of a row that are kept as evidence


def doubtful_labels(model: Any, X: Any = None, *, most: int | None = None) -> DoubtfulLabels:
    """Return the given labels, the most doubtful first.

    Every label is compared with probabilities from members and weights that did not see it
    (`held_out_`). The labels of rows of which the model is surest tell how many labels are wrong,
    and labels that differ from the likeliest class tell which classes are taken for each other. The
    doubt is the probability that the label is wrong, given all that.

    Nothing else than the labels themselves can show what is right. A label that is rare but right
    is doubted, too, and a class whose labels are mostly wrong is not found.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        A fitted model, or one that was read from a file. Rows may have one class, shares of classes
        (the largest counts as the label), several labels, of which each is judged by itself, or
        quantities. A wrong quantity is taken to be one of another row.
    X : array, frame, CSR matrix, texts or dict of views, optional
        The rows of the fit. With them every line has the nearest labelled rows as evidence.
    most : int, optional
        How many lines to return; all by default.

    Returns
    -------
    DoubtfulLabels
        A list of lines that prints as a table. Its `estimate` says how many labels are wrong, and
        `weights` gives weights for another fit.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> from graphkm.inspection import doubtful_labels
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> y[60:] = -1
    >>> y[7] = 1 - y[7]  # a wrong label
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    >>> found = doubtful_labels(model, X, most=1)
    >>> found[0].row, found[0].given == y[7], [each.label == y[7] for each in found[0].near]
    (7, np.True_, [np.False_, np.False_, np.False_, np.False_, np.False_])
    """
    if most is not None:
        check_count("most", most)
    held = held_of(model)
    classes: Any = getattr(model, "classes_", None)  # quantities have none
    judged = {"classes": _classes, "labels": _labels, "quantities": _quantities}[held.kind]
    lines, estimate = judged(held, classes)
    order = sorted(lines, key=lambda line: (-line.doubt, line.given_probability, line.row))
    doubts = _of_rows(lines, held.rows)
    if most is not None:
        order = order[:most]
    if X is not None:
        order = _with_evidence(order, held, seen_rows(model, X), classes)
    return DoubtfulLabels(order, held.rows, doubts, estimate)


Judged = tuple[list[DoubtfulLabel], Wrong]


def _classes(held: Held, classes: NDArray[Any]) -> Judged:
    known = np.flatnonzero(~np.isnan(held.said).any(axis=1))
    said, given = held.said[known], held.told[known].argmax(axis=1)
    rate = rate_of(said, given)
    doubts, every = class_doubts(said, given, rate.value), np.arange(len(given))
    others = said.copy()
    others[every, given] = -1.0
    other = others.argmax(axis=1)
    lines = [
        DoubtfulLabel(int(row), None, _plain(classes[g]), _plain(classes[o]), *numbers)
        for row, g, o, *numbers in zip(
            held.rows[known],
            given,
            other,
            said[every, given].tolist(),
            said[every, other].tolist(),
            doubts.tolist(),
            strict=True,
        )
    ]
    return lines, Wrong.of(rate, len(lines))


def _labels(held: Held, names: NDArray[Any]) -> Judged:
    """Judge each label of each row as one of two classes; all of them have one rate."""
    row, column = np.nonzero(~np.isnan(held.said) & ~np.isnan(held.told))
    yes, given = held.said[row, column], held.told[row, column].astype(np.int64)
    said = np.column_stack([1.0 - yes, yes])
    rate = rate_of(said, given)
    doubts = np.empty(len(row))
    for each in np.unique(column):
        own = column == each
        doubts[own] = class_doubts(said[own], given[own], rate.value)
    own_said = said[np.arange(len(row)), given]
    lines = [
        DoubtfulLabel(int(held.rows[r]), _plain(names[c]), int(g), 1 - int(g), p, 1.0 - p, doubt)
        for r, c, g, p, doubt in zip(
            row, column, given, own_said.tolist(), doubts.tolist(), strict=True
        )
    ]
    return lines, Wrong.of(rate, len(lines))


def _quantities(held: Held, _: Any) -> Judged:
    lines: list[DoubtfulLabel] = []
    rates: list[tuple[Rate, int]] = []
    several, units = held.said.shape[1] > 1, units_of(held.told, held.weights)
    for column, (said, told) in enumerate(zip(held.said.T, held.told.T, strict=True)):
        known = np.flatnonzero(~np.isnan(said) & ~np.isnan(told))
        if not len(known):
            continue
        own, given = (units.column(column).coded(each[known]) for each in (said, told))
        doubts, rate = quantity_doubts(own, given)
        off = given - own
        usual = 2.0 * norm.sf(np.abs(off) / spread_of(off))
        rates.append((rate, len(known)))
        lines += [
            DoubtfulLabel(int(row), column if several else None, g, o, p, float("nan"), doubt)
            for row, g, o, p, doubt in zip(
                held.rows[known],
                told[known].tolist(),
                said[known].tolist(),
                usual.tolist(),
                doubts.tolist(),
                strict=True,
            )
        ]
    return lines, Wrong.sum([Wrong.of(*each) for each in rates])


def _of_rows(lines: list[DoubtfulLabel], rows: NDArray[np.int64]) -> Array:
    """Return the mean doubt of every labelled row; 0 for a row that was never held out."""
    place = np.searchsorted(rows, [line.row for line in lines])
    total = np.bincount(place, [line.doubt for line in lines], minlength=len(rows))
    return total / np.maximum(np.bincount(place, minlength=len(rows)), 1)


def _with_evidence(
    lines: list[DoubtfulLabel], held: Held, numbers: Any, classes: NDArray[Any] | None
) -> list[DoubtfulLabel]:
    """Return the lines with the labelled rows that are nearest to each, and their labels."""
    if numbers.shape[0] <= held.rows.max():
        raise ValueError(
            f"X has {numbers.shape[0]} rows, and row {held.rows.max()} of the fit has a label; "
            "pass the rows of the fit, all of them and in their order."
        )
    names = None if classes is None else {_plain(name): k for k, name in enumerate(classes)}

    def label(place: int, line: DoubtfulLabel) -> Any:
        if held.kind == "classes":
            assert classes is not None
            return _plain(classes[held.told[place].argmax()])
        column = 0 if line.name is None else line.name if names is None else names[line.name]
        return held.told[place, column].item()

    index = NeighbourIndex(take_rows(numbers, held.rows))
    asked = take_rows(numbers, np.array([line.row for line in lines], dtype=np.int64))
    near, d2 = index.nearest_to(asked, min(_SHOWN + 1, len(held.rows)))
    found = []
    for line, places, distances in zip(lines, near.tolist(), np.sqrt(d2).tolist(), strict=True):
        evidence = [
            Nearest(int(held.rows[place]), label(place, line), distance)
            for place, distance in zip(places, distances, strict=True)
            if held.rows[place] != line.row
        ]
        found.append(line._replace(near=tuple(evidence[:_SHOWN])))
    return found


def _plain(value: Any) -> Any:
    """Return a class as people write it: 3, and not np.int64(3)."""
    return value.item() if isinstance(value, np.generic) else value

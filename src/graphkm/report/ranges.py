"""Sets of classes, and intervals of quantities, that hold the truth of nine rows in ten."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..inspection.sets import PredictionSets, prediction_intervals, prediction_sets
from ..semi.held import Held
from .charts import Chart
from .html import Markup, element, facts, table
from .subject import Subject, percent, word

COVERAGE = 0.9
_LEVELS = (0.5, 0.8, 0.9, 0.95)


def ranges_section(subject: Subject) -> list[Markup]:
    """Return how large sets or intervals are, and how often they held the truth."""
    if subject.kind == "labels":
        return [element("p", "Sets are for one class per row, and this model has several labels.")]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = _intervals(subject) if subject.kind == "quantities" else _sets(subject)
    told = dict.fromkeys(str(each.message) for each in caught if each.category is UserWarning)
    return [*made, *(element("p", text, class_="note") for text in told)]


def _sets(subject: Subject) -> list[Markup]:
    held = subject.held
    assert held is not None
    found = prediction_sets(subject.model, subject.X, COVERAGE)
    inside = held.said >= found.thresholds
    true = held.told.argmax(axis=1)
    covered = inside[np.arange(len(true)), true]
    lines: list[tuple[str, Any]] = [
        ("asked for", f"sets that hold the class of {percent(COVERAGE)} of rows"),
        (
            f"mean size in {subject.source}",
            f"{found.sizes.mean():.2f} of {len(found.classes)} classes",
        ),
        ("mean size for held-out labels", f"{inside.sum(axis=1).mean():.2f}"),
        ("held-out labels in their sets", percent(float(covered.mean()))),
    ]
    others = _others(subject, found)
    if others is not None:
        lines.append((f"labels of {subject.source} in their sets", others))
    how = (
        "A class is in the set of a row if its probability is not below a limit, which held-out "
        "labels give. So about the asked share of these labels is in the sets as a matter of "
        "course; the table shows how it differs by class. A set with several classes marks a row "
        "of which the model is unsure, and an empty set one for which no class is likely."
    )
    return [
        facts(lines),
        element("p", how),
        _sizes(subject, found),
        _by_class(subject, held, inside, covered),
    ]


def _others(subject: Subject, found: PredictionSets) -> str | None:
    """Return how many labels that the model has not seen are in their sets."""
    if subject.of_fit or subject.y is None or not subject.labeled.any():
        return None
    inside = [
        bool(members[found.classes == label].any())
        for members, label in zip(
            found.members[subject.labeled], subject.y[subject.labeled], strict=True
        )
    ]
    return f"{percent(float(np.mean(inside)))} of {len(inside):,}"


def _sizes(subject: Subject, found: PredictionSets) -> Markup:
    counts = np.bincount(found.sizes)
    places = np.flatnonzero(counts)
    shares = counts[places] / len(found)
    chart = Chart(
        f"How many classes are in the sets of the rows of {subject.source}. The table below has "
        "the numbers.",
        "classes in a set",
        "rows",
        (-0.6, float(max(len(counts) - 1, 3)) + 0.6),
        (0.0, 1.0),
        "y",
    )
    chart.columns(places, shares, 0.8)
    lines = [
        [size, f"{counts[size]:,}", percent(float(share))]
        for size, share in zip(places.tolist(), shares, strict=True)
    ]
    caption = f"Sizes of the sets of the rows of {subject.source}"
    return element(
        "div", chart.svg(), table(caption, ["classes", "rows", "share"], lines, numbers=range(3))
    )


def _by_class(subject: Subject, held: Held, inside: Any, covered: Any) -> Markup:
    true, lines = held.told.argmax(axis=1), []
    for place, name in enumerate(subject.names):
        own = true == place
        if own.any():
            size = f"{inside[own].sum(axis=1).mean():.2f}"
            lines.append([name, f"{int(own.sum()):,}", percent(float(covered[own].mean())), size])
    heads = ["class", "labels", "in their sets", "mean size"]
    return table("Held-out labels in their sets, by class", heads, lines, numbers=range(1, 4))


def _intervals(subject: Subject) -> list[Markup]:
    lines = []
    for coverage in _LEVELS:
        found = np.asarray(prediction_intervals(subject.model, subject.X, coverage))
        found = found.reshape(subject.n_rows, -1, 2)
        for place, name in enumerate(subject.names):
            low, high = found[:, place].T
            half = float((high - low).max() / 2)
            lines.append(
                [
                    f"{name} {percent(coverage)}".strip(),
                    f"prediction ± {word(half)}"
                    if np.isfinite(half)
                    else "unlimited: too few labels",
                    _held_share(subject, place, half),
                ]
            )
    heads = ["intervals that hold the truth of", "are", "held-out labels inside"]
    how = (
        "An interval is the prediction, plus and minus the distance within which held-out labels "
        "were. So about the asked share of these labels is inside as a matter of course."
    )
    return [element("p", how), table("Intervals", heads, lines, numbers=[2])]


def _held_share(subject: Subject, place: int, half: float) -> str:
    held = subject.held
    assert held is not None
    off = np.abs(held.told[:, place] - held.said[:, place])
    off = off[~np.isnan(off)]
    return percent(float((off <= half * (1 + 1e-9)).mean())) if len(off) else "none"

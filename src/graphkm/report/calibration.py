"""Held-out probabilities beside how often they come true."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from ..semi.held import Held, held_answers
from .charts import Chart
from .html import Markup, element, facts, table
from .subject import Array, Subject, percent

BINS = 10
"""Probabilities are put in so many groups of one width."""
_INSIDE = 0.9
_TINY = 1e-15  # a probability of 0 has no logarithm


class Bin(NamedTuple):
    """Probabilities of about one size."""

    low: float
    high: float
    labels: int
    said: float
    """Their mean."""
    true: float
    """How often they came true."""
    least: float
    """The lower end of a 90 % interval of how often they do."""
    most: float
    """Its upper end."""


def reliability(said: Array, true: Array, bins: int = BINS) -> list[Bin]:
    """Return how often probabilities come true, by their size. Groups without any are left out.

    Examples
    --------
    >>> found = reliability(np.array([0.91, 0.93, 0.97, 0.52]), np.array([1.0, 1.0, 0.0, 1.0]))
    >>> [(each.low, each.labels, round(each.said, 3), round(each.true, 3)) for each in found]
    [(0.5, 1, 0.52, 1.0), (0.9, 3, 0.937, 0.667)]
    """
    place = np.minimum((said * bins).astype(np.int64), bins - 1)
    found = []
    for each in np.unique(place):
        own = place == each
        count, share = int(own.sum()), float(true[own].mean())
        ends = wilson(share, count)
        mean = float(said[own].mean())
        found.append(Bin(each / bins, (each + 1) / bins, count, mean, share, *ends))
    return found


def wilson(share: float, count: int, inside: float = _INSIDE) -> tuple[float, float]:
    """Return Wilson's interval of a probability, from the share of `count` trials.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0.5, 10, 0.95)]
    [0.2366, 0.7634]
    """
    z2 = float(norm.ppf(0.5 + inside / 2)) ** 2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = np.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    return float(max(middle - half, 0.0)), float(min(middle + half, 1.0))


class Losses(NamedTuple):
    """How far probabilities are from what is true, on average over rows."""

    brier: float
    """The sum of squared differences over classes; of several labels, the mean over labels."""
    log_loss: float
    """Minus the logarithm of the probability of what is true."""


def losses(said: Array, told: Array, kind: str) -> Losses:
    """Return the Brier score and the log loss of probabilities; unknown labels do not count.

    Examples
    --------
    >>> said, told = np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> [round(each, 4) for each in losses(said, told, "classes")]
    [0.4, 0.5697]
    """
    if kind == "classes":
        brier = np.square(said - told).sum(axis=1)
        logs = -(told * np.log(np.maximum(said, _TINY))).sum(axis=1)
        return Losses(float(brier.mean()), float(logs.mean()))
    known = ~np.isnan(said) & ~np.isnan(told)
    own, true = said[known], told[known]
    right = np.maximum(np.where(true == 1, own, 1.0 - own), _TINY)
    return Losses(float(np.square(own - true).mean()), float(-np.log(right).mean()))


def calibration_section(subject: Subject) -> list[Markup]:
    """Return the calibration curve of held-out probabilities, and two scores of them."""
    held = subject.held
    assert held is not None
    said, true, what = _judged(subject, held)
    found = reliability(said, true)
    own = losses(held.said, held.told, subject.kind)
    plain = losses(np.broadcast_to(_shares(held), held.said.shape), held.told, subject.kind)
    lines = [
        (
            "Brier score",
            f"{own.brier:.4f} (if every row had the shares of the labels: {plain.brier:.4f})",
        ),
        ("log loss", f"{own.log_loss:.4f} (with the shares alone: {plain.log_loss:.4f})"),
    ]
    how = (
        f"{what} The nearer a dot is to the broken line, the better the probabilities are. Upright "
        "lines are 90 % intervals: with few labels, dots lie off the line by chance."
    )
    heads = ["probability", "labels", "mean probability", "came true", "90 % interval"]
    rows = [
        [
            f"{each.low:.1f} to {each.high:.1f}",
            f"{each.labels:,}",
            percent(each.said),
            percent(each.true),
            f"{percent(each.least)} to {percent(each.most)}",
        ]
        for each in found
    ]
    caption = "Held-out probabilities, and how often they came true"
    return [
        facts(lines),
        element("p", how),
        _chart(found),
        table(caption, heads, rows, numbers=range(1, 5)),
    ]


def _judged(subject: Subject, held: Held) -> tuple[Array, Array, str]:
    """Return probabilities, whether each came true, and what they are probabilities of."""
    if subject.kind == "labels":
        known = ~np.isnan(held.said) & ~np.isnan(held.told)
        what = "Each probability is one of a label of a row, and comes true if the row has it."
        return held.said[known], held.told[known], what
    codes, every = held_answers(subject.model, held).argmax(axis=1), np.arange(len(held.said))
    what = "Each probability is the one of the class that is predicted for a labelled row."
    return held.said[every, codes], held.told[every, codes], what


def _shares(held: Held) -> Array:
    """Return the share of every class, or label, among the labels."""
    return np.asarray(np.nanmean(held.told, axis=0))


def _chart(found: list[Bin]) -> Markup:
    chart = Chart(
        "Calibration curve: how often held-out probabilities came true, by their size. The table "
        "below has the numbers.",
        "probability",
        "came true",
        (0.0, 1.0),
        (0.0, 1.0),
        "xy",
    )
    chart.line([0.0, 1.0], [0.0, 1.0], "even")
    xs, ys = [each.said for each in found], [each.true for each in found]
    chart.bars_around(xs, [each.least for each in found], [each.most for each in found])
    chart.line(xs, ys)
    chart.dots(xs, ys, [f"{each.labels} labels: {percent(each.true)}" for each in found])
    return chart.svg()

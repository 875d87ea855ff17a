"""How the held-out score grows with labels, and what more labels would give."""

from __future__ import annotations

import numpy as np

from ..inspection.curve import LearningCurve, learning_curve
from .charts import Chart, around
from .html import Markup, element, table
from .subject import Subject


def growth_section(subject: Subject) -> list[Markup]:
    """Return the learning curve, or why there is none."""
    why = _why_not(subject)
    if why is not None:
        return [element("p", why)]
    try:
        curve = learning_curve(
            subject.model, subject.X, repeats=subject.repeats, random_state=subject.seed
        )
    except ValueError as error:  # too few labels, or shares of classes
        return [element("p", f"There is none. {error}")]
    how = (
        "The model was fitted again with a quarter, a half and three quarters of its labels, and "
        "scored by the others. The band is where the score is expected, with 80 % probability, if "
        "further labels are drawn as those before were."
    )
    return [element("p", how), _chart(curve), _table(curve)]


def _why_not(subject: Subject) -> str | None:
    if not subject.repeats:
        return "There is none: it was not asked for."
    if not subject.of_fit or subject.n_fit not in (None, subject.n_rows):
        return (
            "There is none: it needs all rows of the training with their labels, because the model "
            "is fitted again with fewer of them."
        )
    if getattr(subject.model.mixture_, "linked", None) is not None:
        return "There is none: the model has learnt from edges, which its file does not keep."
    return None


def _score(curve: LearningCurve, value: float) -> str:
    return f"{100 * value:.1f} %" if curve.unit == "accuracy" else f"{value:.3f}"


def _chart(curve: LearningCurve) -> Markup:
    numbers = curve.labels + curve.more
    every = np.concatenate([curve.scores, curve.low, curve.high])
    share = curve.unit == "accuracy"
    chart = Chart(
        f"Learning curve: held-out {curve.unit} by the number of labels. The table below has the "
        "numbers.",
        "labels",
        f"held-out {curve.unit}",
        around(np.concatenate([curve.sizes, numbers])),
        around(every),
        "y" if share else "",
    )
    chart.band(numbers, curve.low, curve.high)
    chart.line(numbers, curve.expected, "even")
    chart.dots(curve.sizes, curve.scores)
    return chart.svg()


def _table(curve: LearningCurve) -> Markup:
    lines = [
        [f"{size:.0f}", "measured", _score(curve, score), ""]
        for size, score in zip(curve.sizes, curve.scores, strict=True)
    ]
    found = zip(curve.more, curve.expected, curve.low, curve.high, strict=True)
    for more, expected, low, high in found:
        what = f"expected with {more:,} more labels" if more else "expected now"
        ends = f"{_score(curve, low)} to {_score(curve, high)}"
        lines.append([f"{curve.labels + more:,}", what, _score(curve, expected), ends])
    heads = ["labels", "what", curve.unit, "80 % interval"]
    return table(f"Held-out {curve.unit} by number of labels", heads, lines, numbers=[0, 2, 3])

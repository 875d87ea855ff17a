"""Which classes are taken for each other, and how far quantities are off, on held-out labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..semi.held import Held, held_answers
from .charts import Chart, around
from .html import Markup, element, table
from .subject import Array, Subject, percent, word

_MATRIX = 20  # the most classes of a table of errors; more do not fit on a page
_PAIRS = 20  # pairs of classes that are taken for each other
_CHARTS = 4  # charts of several quantities
_DOTS = 2000  # in a chart
_TAIL = (0.05, 0.25, 0.5, 0.75, 0.95)


def errors_section(subject: Subject) -> list[Markup]:
    """Return the errors of held-out predictions."""
    held = subject.held
    assert held is not None
    said = held_answers(subject.model, held)
    if subject.kind == "quantities":
        return _quantities(subject, held)
    if subject.kind == "labels":
        return _labels(subject.names, said, held.told)
    names, k = subject.names, len(subject.names)
    true, guess = held.told.argmax(axis=1), said.argmax(axis=1)
    counts = np.bincount(k * true + guess, minlength=k * k).reshape(k, k)
    made = [_by_class(names, counts)]
    if k <= _MATRIX:
        return [_matrix(names, counts), *made]
    return [_pairs(names, counts), *made]


def _matrix(names: list[str], counts: NDArray[np.int64]) -> Markup:
    """Return the table of true against predicted classes; cells with more rows are darker."""
    rows = []
    for place, (name, row) in enumerate(zip(names, counts, strict=True)):
        share = row / max(int(row.sum()), 1)
        cells = [
            element("td", f"{count:,}", class_="n", style=_shade(each, place == other))
            for other, (count, each) in enumerate(zip(row, share, strict=True))
        ]
        rows.append([name, *cells])
    caption = "Confusion: rows are true classes, and columns are held-out predictions"
    return table(caption, ["true class", *names], rows, numbers=range(1, len(names) + 1))


def _shade(share: float, right: bool) -> str | None:
    """Return a light colour, so that dark text is readable on it: blue if right, else orange."""
    if share == 0:
        return None
    colour = "70, 140, 220" if right else "240, 140, 40"
    return f"background: rgba({colour}, {0.12 + 0.38 * share:.2f})"


def _pairs(names: list[str], counts: NDArray[np.int64]) -> Markup:
    off = counts - np.diag(counts.diagonal())
    order = np.argsort(-off, axis=None, kind="stable")[:_PAIRS]
    lines = []
    for true, guess in zip(*np.unravel_index(order, off.shape), strict=True):
        if off[true, guess]:
            own = int(counts[true].sum())
            lines.append([names[true], names[guess], f"{off[true, guess]:,} of {own:,}"])
    heads = ["true class", "predicted class", "labels"]
    return table("Classes that are taken for others most often", heads, lines, numbers=[2])


def _by_class(names: list[str], counts: NDArray[np.int64]) -> Markup:
    lines = []
    for place, name in enumerate(names):
        hits = int(counts[place, place])
        own, told = int(counts[place].sum()), int(counts[:, place].sum())
        lines.append([name, f"{own:,}", _share(hits, own), _share(hits, told)])
    heads = ["class", "labels", "found (recall)", "right if predicted (precision)"]
    return table("By class, on held-out labels", heads, lines, numbers=range(1, 4))


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "never"


def _labels(names: list[str], said: Array, told: Array) -> list[Markup]:
    """Return a line for each of several labels."""
    known = ~np.isnan(said) & ~np.isnan(told)
    lines = []
    for place, name in enumerate(names):
        own = known[:, place]
        has, guess = told[own, place] == 1, said[own, place] == 1
        hits = int((has & guess).sum())
        numbers = [f"{int(each.sum()):,}" for each in (own, has, guess)]
        lines.append([name, *numbers, _share(hits, int(has.sum())), _share(hits, int(guess.sum()))])
    heads = ["label", "known", "have it", "predicted", "found (recall)"]
    heads.append("right if predicted (precision)")
    return [table("By label, on held-out labels", heads, lines, numbers=range(1, 6))]


def _quantities(subject: Subject, held: Held) -> list[Markup]:
    made: list[Markup] = []
    lines = []
    for place, name in enumerate(subject.names):
        known = ~np.isnan(held.said[:, place]) & ~np.isnan(held.told[:, place])
        said, told = held.said[known, place], held.told[known, place]
        if not len(told):
            continue
        off = told - said
        length, spread = (float(np.hypot.reduce(each)) for each in (off, told - told.mean()))
        r2 = f"{1 - (length / spread) ** 2:.4f}" if spread else "not known"
        sizes = [word(float(np.abs(off).mean())), word(length / float(np.sqrt(len(off))))]
        tails = [word(float(each)) for each in np.quantile(off, _TAIL)]
        lines.append([name or "quantity", f"{len(told):,}", r2, *sizes, *tails])
        if len(made) < _CHARTS:
            made.append(_scatter(name, said, told))
    heads = ["quantity", "labels", "R^2", "mean absolute error", "root mean squared error"]
    heads += [f"{100 * each:g} % of errors are below" for each in _TAIL]
    caption = "Errors on held-out labels: what is given, minus what is predicted"
    return [*made, table(caption, heads, lines, numbers=range(1, len(heads)))]


def _scatter(name: str, said: Array, told: Array) -> Markup:
    both = around(np.concatenate([said, told]))
    about = f" of {name}" if name else ""
    chart = Chart(
        f"Held-out predictions{about} beside what is given, a dot for each label. The table below "
        "says how far they are apart.",
        f"predicted {name}".strip(),
        f"given {name}".strip(),
        both,
        both,
    )
    chart.line(both, both, "even")
    step = -(-len(said) // _DOTS)
    chart.dots(said[::step], told[::step], kind="small")
    return chart.svg()

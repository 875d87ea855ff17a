"""The rows: how many, which columns, and what the labels are."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .html import Markup, element, facts, table
from .subject import Subject, percent, word

_COLUMNS = 20  # the most lines of the table of columns


def data_section(subject: Subject) -> list[Markup]:
    """Return what is known of the rows."""
    n, labeled = subject.n_rows, int(subject.labeled.sum())
    share = f"{labeled:,} ({percent(labeled / n)})" if n else "none"
    lines: list[tuple[str, Any]] = [
        ("rows", f"{n:,}"),
        ("labelled", share if subject.y is not None else "not known: there is no column of labels"),
        ("columns", _width(subject)),
        ("missing values", _missing(subject)),
    ]
    return [facts(lines), _of_fit(subject), _labels(subject), *_columns(subject)]


def _width(subject: Subject) -> str | None:
    return None if subject.cells is None else f"{subject.cells.shape[1]:,}"


def _gaps(column: Any) -> Any:
    """Return which cells of a column are missing: NaN, None or an empty text."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    return np.array([each is None or each == "" or each != each for each in column], dtype=bool)


def _missing(subject: Subject) -> str | None:
    if subject.cells is None or issparse(subject.cells):
        return None
    count = sum(int(_gaps(column).sum()) for column in subject.cells.T)
    return f"{count:,}" if count else "none"


def _of_fit(subject: Subject) -> Markup:
    """Return a sentence on whether these are the rows that the model was trained on."""
    if subject.of_fit:
        told = "These are the rows that the model was trained on."
        if subject.n_fit is not None and subject.n_fit > subject.n_rows:
            more = subject.n_fit - subject.n_rows
            told = f"The model was trained on these rows and on {more:,} more."
        return element("p", told)
    return element(
        "p",
        "These are not the rows that the model was trained on, or not all of their labels are "
        "there. So rows of the training are called by their numbers (from 1), and what needs them "
        "is left out.",
        class_="note",
    )


def _labels(subject: Subject) -> Markup:
    """Return how many rows have each class, label or range of a quantity."""
    if subject.kind == "quantities":
        return _quantities(subject)
    several = subject.kind == "labels"
    heads = ["label" if several else "class", "rows labelled so", "rows predicted so", "share"]
    lines = []
    for place, (name, label) in enumerate(zip(subject.names, subject.model.classes_, strict=True)):
        answers = subject.answers[:, place] == 1 if several else subject.answers == label
        if subject.y is None:
            own = "not known"
        elif several:
            own = f"{int((subject.y[:, place] == 1).sum()):,}"
        else:
            own = f"{int((subject.y == label).sum()):,}"
        lines.append([name, own, f"{int(answers.sum()):,}", percent(float(answers.mean()))])
    caption = "Labels: of those that are given, and of those that the model predicts for all rows"
    return table(caption, heads, lines, numbers=[1, 2, 3])


def _quantities(subject: Subject) -> Markup:
    heads = ["quantity", "rows", "least", "median", "most"]
    lines = []
    for place, name in enumerate(subject.names):
        told = [("predicted", subject.said[:, place])]
        if subject.y is not None:
            y = np.asarray(subject.y, dtype=np.float64).reshape(subject.n_rows, -1)[:, place]
            told.insert(0, ("given", y[~np.isnan(y)]))
        for what, values in told:
            numbers = (
                [word(float(f(values))) for f in (np.min, np.median, np.max)]
                if len(values)
                else [""] * 3
            )
            lines.append([f"{name} {what}".strip(), f"{len(values):,}", *numbers])
    return table(
        "Quantities that are given, and predicted for all rows", heads, lines, numbers=range(1, 5)
    )


def _columns(subject: Subject) -> list[Markup]:
    cells = subject.cells
    if cells is None or issparse(cells) or not cells.shape[1]:
        return []
    lines = []
    for place, column in enumerate(cells.T[:_COLUMNS]):
        name = subject.columns[place] if subject.columns else str(place + 1)
        kind = subject.kinds[place] if subject.kinds else "number"
        gaps = _gaps(column)
        lines.append([name, kind, f"{int(gaps.sum()):,}", _range(column[~gaps])])
    made = [table("Columns", ["column", "holds", "missing", "values"], lines, numbers=[2])]
    left = cells.shape[1] - _COLUMNS
    return [*made, element("p", f"There are {left:,} more columns.")] if left > 0 else made


def _range(values: Any) -> str:
    """Return the range of numbers, or how many different texts there are."""
    if not len(values):
        return "none"
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        different = len({str(each) for each in values})
        return f"{different:,} different"
    least, middle, most = (word(float(f(numbers))) for f in (np.min, np.median, np.max))
    return f"{least} to {most}, median {middle}"

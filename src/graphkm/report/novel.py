"""Rows that belong to no known class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inspection import novelty
from .html import Markup, element, facts, table
from .subject import Subject, word

_SHOWN = 20  # rows in the table
_ODD = 0.9


def novel_section(subject: Subject) -> list[Markup]:
    """Return the oddest rows, and how many are odder than nine in ten labelled ones."""
    # The model keeps the rows of its fit, but for copies of a row and large fits.
    whole = subject.of_fit and subject.n_fit in (None, subject.n_rows)
    try:
        found = novelty(subject.model, subject.X, rows=subject.X if whole else None)
    except ValueError as error:  # what follows "Pass them" is for people who write Python
        why = str(error).partition(" Pass them")[0]
        return [element("p", f"It is not known. {why}")]
    odd = int((found > _ODD).sum())
    lines = [
        ("rows above 0.9", f"{odd:,} of {len(found):,} ({100 * odd / len(found):.1f} %)"),
        ("expected if all are of known classes", f"{100 * (1 - _ODD):.0f} %"),
    ]
    how = (
        "Novelty is the share of labelled rows, each held out, that look less odd than the row. If "
        "many more rows than expected are above 0.9, some may belong to no class that has a label. "
        "Rows between two known classes are odd, too."
    )
    order = [k for k in np.argsort(-found, kind="stable").tolist() if not subject.labeled[k]]
    rows = [_line(subject, k, float(found[k])) for k in order[:_SHOWN]]
    if not rows:
        return [facts(lines), element("p", how)]
    heads = [name for name in rows[0] if any(row[name] for row in rows)]
    cells = [[row[name] for name in heads] for row in rows]
    caption = f"The {len(rows)} oddest rows without a label"
    return [facts(lines), element("p", how), table(caption, heads, cells, numbers=[1, 3])]


def _line(subject: Subject, row: int, value: float) -> dict[str, Any]:
    return {
        "row": subject.row(row),
        "novelty": f"{value:.3f}",
        "prediction": word(subject.answers[row]),
        "its probability": f"{subject.said[row].max():.3f}",
        "what the row holds": subject.holds(row),
    }

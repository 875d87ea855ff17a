"""Labels that look wrong, with the nearest labelled rows as evidence."""

from __future__ import annotations

from typing import Any

from ..inspection.doubtful import doubtful_labels
from ..inspection.doubtful_table import DoubtfulLabel
from .html import Markup, element, joined, table
from .subject import Subject, word

SHOWN = 20
"""Labels in the table."""
_LENGTH = 40  # letters of a neighbour's label
_GIVEN, _OTHER = "probability of given", "probability of instead"


def doubts_section(given: Subject) -> list[Markup]:
    """Return the most doubtful labels, and how many are wrong."""
    subject = given.as_of_fit()
    found = doubtful_labels(given.model, given.X if given.of_fit else None, most=SHOWN)
    about = found.estimate
    estimate = (
        f"About {about.number:.0f} of {about.labels:,} labels are wrong (90 % interval: "
        f"{about.low} to {about.high}). The doubt is the probability that a label is wrong, by "
        "fits that did not see it. A rare label that is right may be doubted, too: look before you "
        "change it."
    )
    lines = [_line(subject, each) for each in found]
    heads = [name for name in lines[0] if any(line[name] for line in lines)]
    caption = f"The {len(lines)} most doubtful labels"
    rows = [[line[name] for name in heads] for line in lines]
    numbers = [k for k, name in enumerate(heads) if name in (_GIVEN, _OTHER, "doubt")]
    return [element("p", estimate), table(caption, heads, rows, numbers=numbers)]


def _line(subject: Subject, line: DoubtfulLabel) -> dict[str, Any]:
    """Return the cells of one label, by the heads of their columns; empty ones are left out."""
    near = joined(
        piece
        for place, each in enumerate(line.near)
        for piece in (
            "; row " if place else "row ",
            element("bdi", subject.row(each.row)),
            ": ",
            element("bdi", _short(label_told(subject, line, each.label))),
        )
    )
    return {
        "row": subject.row(line.row),
        "given": label_told(subject, line, line.given),
        "instead": label_told(subject, line, line.other),
        _GIVEN: f"{line.given_probability:.3f}",
        _OTHER: "" if subject.kind == "quantities" else f"{line.other_probability:.3f}",
        "doubt": f"{line.doubt:.3f}",
        "nearest labelled rows": near,
        "what the row holds": subject.holds(line.row),
    }


def _short(text: str) -> str:
    """Return a label of a neighbour; the table of classes has its whole name."""
    return text if len(text) <= _LENGTH else f"{text[: _LENGTH - 1]}\u2026"


def label_told(subject: Subject, line: DoubtfulLabel, value: Any) -> str:
    """Return a class, a quantity with its name, or a label that a row has or has not."""
    if line.name is None:
        return word(value)
    if subject.kind == "labels":
        return "not known" if value != value else f"{'' if value else 'not '}{word(line.name)}"
    return f"{subject.names[line.name]} {word(value)}"

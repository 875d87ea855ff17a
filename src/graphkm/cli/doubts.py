"""Labels of a model that look wrong, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..inspection.doubtful import doubtful_labels
from ..inspection.doubtful_table import DoubtfulLabel, DoubtfulLabels
from ..report import Subject
from ..report.doubts import label_told
from ..report.subject import word
from .model_files import FileNote
from .options import FileOptions
from .output import print_table, say, show
from .subjects import check_mixture, subject_of

_SHOWN = 20  # printed labels
_HEADS = ("row", "given", "instead", "given p", "instead p", "doubt", "nearest labelled rows")


def show_doubts(
    fitted: Any, note: FileNote, data: str, files: FileOptions, model: Path, as_json: bool
) -> None:
    """Print the labels that look wrong, the most doubtful first; JSON has all of them."""
    check_mixture(fitted, model)
    given = subject_of(fitted, note, data, files)
    found = doubtful_labels(given.model, given.X if given.of_fit else None)
    subject, about = given.as_of_fit(), found.estimate
    told = (
        f"about {about.number:.0f} of {about.labels:,} (90 % interval: {about.low} to {about.high})"
    )
    show({"wrong labels": told}, _facts(subject, found) | {"of_training": given.of_fit}, as_json)
    if not given.of_fit:
        say(
            f"note: {given.source} does not have the labels that the model was trained with, so "
            "rows are numbers of its training rows, and nearest rows are not known."
        )
    if not as_json:
        print()
        print_table([_HEADS, *(_cells(subject, line) for line in found[:_SHOWN])])
        if len(found) > _SHOWN:
            print(f"(the first {_SHOWN} of {len(found):,}: --json has them all)")


def _cells(subject: Subject, line: DoubtfulLabel) -> list[str]:
    near = "; ".join(
        f"{subject.row(each.row)} {label_told(subject, line, each.label)}" for each in line.near
    )
    other = "" if subject.kind == "quantities" else f"{line.other_probability:.3f}"
    labels = [label_told(subject, line, each) for each in (line.given, line.other)]
    chances = [f"{line.given_probability:.3f}", other, f"{line.doubt:.3f}"]
    return [subject.row(line.row), *labels, *chances, near]


def _facts(subject: Subject, found: DoubtfulLabels) -> dict[str, Any]:
    return {"wrong": found.estimate._asdict(), "labels": [_fact(subject, line) for line in found]}


def _fact(subject: Subject, line: DoubtfulLabel) -> dict[str, Any]:
    """Return a label for programs: rows are numbers from 1, and have their ids if they have any."""
    fact = line._asdict() | {"row": line.row + 1, "near": [_near(subject, n) for n in line.near]}
    if line.name is not None:
        fact["name"] = line.name if subject.kind == "labels" else subject.names[line.name]
    if subject.kind == "classes":
        fact |= {"given": word(line.given), "other": word(line.other)}
    return fact if subject.called is None else fact | {"id": subject.row(line.row)}


def _near(subject: Subject, near: Any) -> dict[str, Any]:
    label = word(near.label) if subject.kind == "classes" else near.label
    found = {"row": near.row + 1, "label": label, "distance": near.distance}
    return found if subject.called is None else found | {"id": subject.row(near.row)}

"""Who answered: how reliable people are, what rows are where they differ, and whom to ask again.

Answers of two people or more go through the model of Dawid and Skene (`graphkm.annotators`). Its
prior is what the live model says of each row without the row's own label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..annotators import DawidSkene
from ..annotators.report import AnnotatorReport
from .label_file import Given
from .targets import OneClass

NAMELESS = "(no name)"
"""What the page calls a person without a name."""

_LEAST = 0.01  # the least prior of a class: the live model is never that sure

Array = NDArray[np.float64]


@dataclass(frozen=True)
class People:
    """What is known of people and their answers."""

    reports: list[dict[str, Any]] = field(default_factory=list)  # the most reliable first
    agreed: dict[int, str] = field(default_factory=dict)  # labels of rows whose answers differ
    ask: dict[str | None, list[int]] = field(default_factory=dict)
    """For each person, rows for a second answer, the most useful first."""


def reckon(
    answers: Sequence[Given],
    kind: OneClass,
    rows: NDArray[np.int64],
    held_out: Array,
    table: Array,
    asked: Sequence[str | None],
) -> People:
    """Return what answers tell of people and rows.

    Parameters
    ----------
    answers : sequence of (row, who, label)
        One answer of a person to a row, at most.
    kind : OneClass
        What labels are; nothing is known of people who give quantities.
    rows : ndarray of int64
        The rows with answers, in order.
    held_out : ndarray of shape (n_rows, n_columns)
        The live model's scores of these rows, each without its own label.
    table : ndarray of shape (n_rows, n_columns)
        Their labels, as the live model learnt them.
    asked : sequence of str or None
        Who would be asked again.
    """
    if not kind.shares_count or not answers:
        return People()
    place = np.searchsorted(rows, [row for row, _, _ in answers])
    names = [who or NAMELESS for _, who, _ in answers]
    said = kind.answered([label for _, _, label in answers])
    seen, answer = np.unique(said, return_inverse=True)
    if len(set(names)) < 2 or len(seen) < 2:  # nobody to compare with: the model's doubts decide
        gaps = kind.gaps(held_out, table)
        order = rows[np.argsort(-gaps, kind="stable")].tolist()
        done = {me: {row for row, who, _ in answers if who == me} for me in asked}
        return People(ask={me: [row for row in order if row not in done[me]] for me in asked})
    width, chances = said.shape[1], kind.chances(held_out)
    items = (place[:, None] * width + np.arange(width)).ravel()
    prior = np.maximum(chances[:, seen], _LEAST)
    model = DawidSkene().fit((items, np.repeat(names, width), answer.ravel()), prior)
    shares = np.zeros_like(chances)
    shares[:, seen] = model.shares_
    return People(
        reports=[_report(each, width) for each in model.reliability_],
        agreed=_agreed(answers, dict(zip(rows.tolist(), kind.agreed(shares), strict=True))),
        ask={me: _asked(model, me, rows, width) for me in asked},
    )


def _asked(model: DawidSkene, me: str | None, rows: NDArray[np.int64], width: int) -> list[int]:
    """Return the rows about which a person's answer tells most."""
    gains: dict[int, float] = defaultdict(float)  # of a row with several labels: of all together
    for question in model.ask_again(len(rows) * width, me or NAMELESS):
        gains[int(rows[question.row // width])] += question.gain
    return sorted(gains, key=lambda row: -gains[row])


def _report(person: AnnotatorReport, width: int) -> dict[str, Any]:
    """Return a line of the page's table; JSON knows no NaN."""
    found = person._replace(answers=person.answers // width)._asdict()
    return {name: None if value != value else value for name, value in found.items()}


def _agreed(answers: Sequence[Given], likeliest: dict[int, str]) -> dict[int, str]:
    """Return the likeliest labels of the rows whose answers differ."""
    given: dict[int, set[str]] = defaultdict(set)
    for row, _, label in answers:
        given[row].add(label)
    return {row: likeliest[row] for row, labels in given.items() if len(labels) > 1}

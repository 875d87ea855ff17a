"""Labels that look wrong, with the nearest labelled rows as evidence, for a person to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..inspection.doubtful_table import Wrong
from ..inspection.noise import class_doubts, rate_of
from .journal import Answer
from .targets import OneClass

Array = NDArray[np.float64]

_SHOWN = 20  # labels that are listed
_NEAR = 4  # neighbours of each


class Told(NamedTuple):
    """Labelled rows, and what the live model says of each without its own label."""

    rows: NDArray[np.int64]
    labels: list[str]
    table: Array
    """The labels as numbers, a column for each class or name."""
    scores: Array
    """Held-out scores, in the same shape."""
    kind: OneClass


class Doubt(NamedTuple):
    """A label that looks wrong."""

    row: int
    label: str
    said: str
    """What the model says without this label."""
    doubt: float | None
    """The probability that the label is wrong; None where labels are no classes."""


def doubts_of(told: Told) -> tuple[list[Doubt], Wrong | None]:
    """Return labels that the model contradicts, the most doubtful first, and how many are wrong.

    Scores of the live model are taken for probabilities: what is below 0 or above 1 is cut off, and
    they add up to 1. Several labels, and quantities, are ordered by how far scores are from them.

    Examples
    --------
    >>> kind = OneClass(("cat", "dog"))
    >>> labels = ["cat"] * 9 + ["dog"] * 9
    >>> scores = np.repeat([[0.9, 0.1], [0.1, 0.9]], 9, axis=0)
    >>> scores[3] = 0.05, 0.95
    >>> told = Told(np.arange(18), labels, kind.table(labels), scores, kind)
    >>> found, wrong = doubts_of(told)
    >>> [(each.row, each.label, each.said) for each in found], wrong.labels
    ([(3, 'cat', 'dog')], 18)
    """
    gaps, words = (
        told.kind.gaps(told.scores, told.table),
        told.kind.words(told.kind.codes(told.scores)),
    )
    doubts, wrong = np.full(len(gaps), np.nan), None
    order = np.argsort(-gaps, kind="stable")
    if type(told.kind) is OneClass:
        shares = np.clip(told.scores, 1e-6, 1.0)
        shares /= shares.sum(axis=1, keepdims=True)
        given = told.table.argmax(axis=1)
        rate = rate_of(shares, given)
        doubts = class_doubts(shares, given, rate.value)
        wrong = Wrong.of(rate, len(given))
        order = np.lexsort((-gaps, -doubts))
    found = [
        Doubt(
            int(told.rows[k]), told.labels[k], words[k], None if wrong is None else float(doubts[k])
        )
        for k in order.tolist()
        if gaps[k] > 0
    ]
    return found, wrong


def confirmed(answers: Iterable[Answer]) -> set[int]:
    """Return the rows that a person has given the same label twice, one after the other.

    Examples
    --------
    >>> given = [Answer(0, "label", "cat"), Answer(1, "label", "cat"), Answer(0, "label", "cat")]
    >>> confirmed(given), confirmed([*given, Answer(0, "label", "dog")])
    ({0}, set())
    """
    said: dict[int, list[str | None]] = defaultdict(list)
    for answer in answers:
        if answer.kind == "label":
            said[answer.row].append(answer.label)
    return {row for row, labels in said.items() if len(labels) > 1 and labels[-1] == labels[-2]}


def nearest(X: Any, row: int, labelled: NDArray[np.int64]) -> list[int]:
    """Return the labelled rows nearest to a row, in the units that the model learns in.

    Examples
    --------
    >>> nearest(np.array([[0.0], [1.0], [5.0], [0.2]]), 0, np.array([0, 1, 2, 3]))
    [3, 1, 2]
    """
    from sklearn.metrics.pairwise import euclidean_distances

    others = labelled[labelled != row]
    if not len(others):
        return []
    distances = euclidean_distances(X[[row]], X[others])[0]
    return [int(others[k]) for k in np.argsort(distances, kind="stable")[:_NEAR]]


class Review:
    """What the page shows of labels that look wrong.

    Parameters
    ----------
    material : Material
        The rows as the page shows them.
    X : ndarray or CSR matrix
        The rows as the model learns from them.
    """

    def __init__(self, material: Any, X: Any) -> None:
        self._material, self._X = material, X

    def __call__(
        self, told: Told | None, known: dict[int, str], mine: dict[int, str], settled: set[int]
    ) -> dict[str, Any]:
        """Return the labels to look at.

        Parameters
        ----------
        told : Told or None
            What the model says; None as long as it says nothing.
        known : dict
            The labels of all rows that have one.
        mine : dict
            Those that the person who answers now has given.
        settled : set of int
            Rows whose label this person has confirmed.
        """
        if told is None:
            return {"items": [], "left": 0, "wrong": None}
        found, wrong = doubts_of(told)
        open_ = [d for d in found if mine.get(d.row) == d.label and d.row not in settled]
        labelled = np.array(sorted(known), dtype=np.int64)
        return {
            "items": [self._item(each, known, labelled) for each in open_[:_SHOWN]],
            "left": len(open_),
            "wrong": None if wrong is None else wrong._asdict(),
        }

    def _item(
        self, doubt: Doubt, known: dict[int, str], labelled: NDArray[np.int64]
    ) -> dict[str, Any]:
        near = [
            {"row": other, "label": known[other], "text": self._material.snippet(other)}
            | {"image": self._material.images is not None}
            for other in nearest(self._X, doubt.row, labelled)
        ]
        return {**doubt._asdict(), "shown": self._material.page(doubt.row), "near": near}

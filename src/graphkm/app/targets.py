"""What labels are: one class, several labels, or a quantity; as columns of numbers and as words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tables.several_labels import NONE, joined_names, split_names, table_of_names
from .classes import AnswerError, Classes, quantity

Array = NDArray[np.float64]

SEPARATOR = ";"
"""What stands between the names of several labels."""


@dataclass(frozen=True)
class OneClass:
    """Rows have one class.

    Parameters
    ----------
    names : sequence of str
        The classes; their columns are in this order.

    Examples
    --------
    >>> kind = OneClass(["cat", "dog"])
    >>> kind.table(["dog", "cat"])
    array([[0., 1.],
           [1., 0.]])
    >>> kind.words(kind.codes(np.array([[0.7, 0.3]])))
    ['cat']
    """

    names: Sequence[str]
    shares_count = True  # whether accuracy is a share of rows

    @staticmethod
    def meant(classes: Classes, label: Any) -> str:
        """Return the label that a person means; see `Classes.meant`."""
        if not isinstance(label, str | None):
            raise AnswerError("a row has one class here; start the page with --several for more.")
        return classes.meant(label)

    @staticmethod
    def listed(label: str) -> list[str]:
        """Return the names in a label."""
        return [label]

    def table(self, labels: Sequence[str]) -> Array:
        """Return a line of numbers for each label."""
        place = {name: k for k, name in enumerate(self.names)}
        return np.eye(len(self.names))[[place[label] for label in labels]]

    def codes(self, scores: Array) -> Array:
        """Return the predictions of scores."""
        return scores.argmax(axis=1).astype(np.float64)

    def words(self, codes: Array) -> list[str]:
        """Return predictions as texts."""
        return [self.names[int(code)] for code in codes]

    def colours(self, codes: Array) -> list[Any]:
        """Return predictions as the map takes them: the numbers of classes."""
        return codes.astype(int).tolist()

    def shares(self, codes: Array) -> list[float]:
        """Return the share of rows that are predicted to have each name."""
        counted = np.bincount(codes.astype(int), minlength=len(self.names))
        return (counted / len(codes)).tolist()  # type: ignore[no-any-return]

    def unsure(self, scores: Array) -> Array:
        """Return how unsure the model is of every row, 0 to 1."""
        best = np.partition(scores, -2, axis=1)[:, -2:]
        return np.asarray(1.0 - (best[:, 1] - best[:, 0]))

    def errors(self, scores: Array, table: Array) -> Array:
        """Return how wrong each row is: 0 or 1, or how far off."""
        return (scores.argmax(axis=1) != table.argmax(axis=1)).astype(np.float64)

    def gaps(self, scores: Array, table: Array) -> Array:
        """Return how much the scores speak against each label; nothing above 0 if they do not."""
        own = scores[np.arange(len(table)), table.argmax(axis=1)]
        return np.asarray(scores.max(axis=1) - own)

    def answered(self, labels: Sequence[str]) -> NDArray[np.int64]:
        """Return the class of each label's items: a row is one item, or one for each name."""
        return self.table(labels).argmax(axis=1)[:, None]

    def chances(self, scores: Array) -> Array:
        """Return the probabilities of the classes of items, one row's after another's."""
        return np.clip(scores, 0.0, 1.0)

    def agreed(self, shares: Array) -> list[str]:
        """Return the likeliest labels, from the probabilities of the classes of items."""
        return self.words(self.codes(shares))


@dataclass(frozen=True)
class SeveralLabels(OneClass):
    """Rows have any number of labels; a label's text has their names, with ; between them.

    Examples
    --------
    >>> kind = SeveralLabels(["red", "blue"])
    >>> kind.table(["blue;red", "-"])
    array([[1., 1.],
           [0., 0.]])
    >>> kind.words(kind.codes(np.array([[0.7, 0.6], [0.1, 0.2]])))
    ['red;blue', '-']
    """

    @staticmethod
    def meant(classes: Classes, label: Any) -> str:
        """Return the labels that a person means, those that are known first, in their order."""
        if label is None:
            raise AnswerError("an answer needs a list of labels; it may be empty.")
        given = split_names(label, SEPARATOR) or [] if isinstance(label, str) else label
        for name in given:
            if SEPARATOR in name or name.strip() == NONE:
                raise AnswerError(
                    f"{name!r} cannot be the name of one of several labels: {SEPARATOR} separates "
                    f"names, and {NONE} stands for none of them."
                )
        found = list(dict.fromkeys(map(classes.meant, given)))
        known = [name for name in classes.names if name in found]
        return joined_names([*known, *(name for name in found if name not in known)], SEPARATOR)

    @staticmethod
    def listed(label: str) -> list[str]:
        """Return the names in a label."""
        return split_names(label, SEPARATOR) or []

    def table(self, labels: Sequence[str]) -> Array:
        """Return a column of 0 and 1 for each name."""
        return table_of_names(labels, SEPARATOR, self.names)

    def codes(self, scores: Array) -> Array:
        """Return the predictions of scores: a column for each name."""
        return (scores > 0.5).astype(np.float64)

    def words(self, codes: Array) -> list[str]:
        """Return predictions as texts."""
        having = (np.flatnonzero(line).tolist() for line in codes)
        return [joined_names([self.names[k] for k in some], SEPARATOR) for some in having]

    def colours(self, codes: Array) -> list[Any]:
        """Return predictions as the map takes them: lists of the numbers of labels."""
        return [np.flatnonzero(line).tolist() for line in codes]

    def shares(self, codes: Array) -> list[float]:
        """Return the share of rows that are predicted to have each name."""
        return codes.mean(axis=0).tolist()  # type: ignore[no-any-return]

    def unsure(self, scores: Array) -> Array:
        """Return how unsure the model is of every row: of its labels in their mean."""
        return np.asarray((1.0 - np.abs(2.0 * np.clip(scores, 0.0, 1.0) - 1.0)).mean(axis=1))

    def errors(self, scores: Array, table: Array) -> Array:
        """Return 1 for rows with a wrong label, and 0 for others."""
        return (self.codes(scores) != table).any(axis=1).astype(np.float64)

    def gaps(self, scores: Array, table: Array) -> Array:
        """Return how far the worst label of each row is on the wrong side of one half."""
        return np.asarray(np.abs(np.clip(scores, 0.0, 1.0) - table).max(axis=1) - 0.5)

    def answered(self, labels: Sequence[str]) -> NDArray[np.int64]:
        """Return for each label which names it has."""
        return self.table(labels).astype(np.int64)

    def chances(self, scores: Array) -> Array:
        """Return the probabilities of not having and of having each name, a line for each."""
        p = np.clip(scores, 0.0, 1.0).ravel()
        return np.column_stack([1.0 - p, p])

    def agreed(self, shares: Array) -> list[str]:
        """Return the likeliest labels."""
        return self.words(self.codes(shares[:, 1].reshape(-1, len(self.names))))


@dataclass(frozen=True)
class Quantity(OneClass):
    """Rows have a quantity.

    Examples
    --------
    >>> Quantity([]).table(["1.5", "2"])
    array([[1.5],
           [2. ]])
    """

    shares_count = False

    @staticmethod
    def meant(classes: Classes, label: Any) -> str:
        """Return the quantity that a person means."""
        if not isinstance(label, str | None):
            raise AnswerError("a row has one quantity.")
        return quantity(label)

    @staticmethod
    def listed(label: str) -> list[str]:
        """Return the names in a label: a quantity has none."""
        return []

    def table(self, labels: Sequence[str]) -> Array:
        """Return the quantities."""
        return np.array([[float(label)] for label in labels])

    def codes(self, scores: Array) -> Array:
        """Return the predictions of scores."""
        return scores[:, 0]

    def words(self, codes: Array) -> list[str]:
        """Return predictions as texts."""
        return [f"{value:.6g}" for value in codes.tolist()]

    def colours(self, codes: Array) -> list[Any]:
        """Return predictions as the map takes them: the quantities."""
        return codes.tolist()

    def shares(self, codes: Array) -> list[float]:
        """Return nothing: there are no classes."""
        return []

    def unsure(self, scores: Array) -> Array:
        """Return 1 for every row: the model does not say how sure it is."""
        return np.ones(len(scores))

    def errors(self, scores: Array, table: Array) -> Array:
        """Return how far off each row is."""
        return np.abs(scores - table)[:, 0]

    def gaps(self, scores: Array, table: Array) -> Array:
        """Return the errors that are more than twice as large as usual."""
        errors = self.errors(scores, table)
        return np.where(errors > 2 * errors.mean(), errors, 0.0)


def changed_share(before: Array, now: Array) -> float:
    """Return the share of rows whose predictions have changed; names may have been added.

    Examples
    --------
    >>> changed_share(np.array([[1.0], [0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    0.5
    """
    one, other = before.reshape(len(before), -1), now.reshape(len(now), -1)
    wide = max(one.shape[1], other.shape[1])
    one, other = (np.pad(each, ((0, 0), (0, wide - each.shape[1]))) for each in (one, other))
    return float((one != other).any(axis=1).mean())

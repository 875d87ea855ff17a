"""Which columns of a table are read: the features in their order, and the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .files import DataFileError

Piece = tuple[Any, NDArray[Any]]  # rows and their labels

_SHOWN = 8  # names in a message


@dataclass(frozen=True)
class Head:
    """The beginning of a table."""

    file: str  # its name in messages
    names: Sequence[str] | None  # of all columns, if they have names
    width: int  # the number of columns
    first_row: Sequence[str] = ()  # the fields of a text file's first row
    index: tuple[int, ...] = ()  # columns that hold the index of a pandas frame
    delimiter: str = ""  # of a text file
    truths: tuple[int, ...] = ()  # columns of Parquet that hold true and false

    def listed(self) -> str:
        """Return the columns for a message: their names, or their positions."""
        names = range(self.width) if self.names is None else self.names
        return listed([repr(name) for name in names])


@dataclass(frozen=True)
class Columns:
    """The columns that are read; all others are skipped.

    Examples
    --------
    >>> columns = Columns(Head("a.csv", ["id", "z", "x", "label"], 4), (2, 1), 3)
    >>> columns.names, columns.label_name, columns.read
    (('x', 'z'), 'label', [1, 2, 3])
    """

    head: Head
    features: tuple[int, ...]  # their positions, in the order of X's columns
    label: int | None  # its position, if there is a label
    kept: tuple[int, ...] = ()  # others that are read, as text
    labels: tuple[int, ...] = ()  # positions of several labels, in the order of y's columns

    @property
    def names(self) -> tuple[str, ...] | None:
        """The features' names, if they have names."""
        names = self.head.names
        return None if names is None else tuple(names[k] for k in self.features)

    @property
    def label_name(self) -> str | int | None:
        """The label's name, or its number from 1."""
        if self.label is None:
            return None
        return self.label + 1 if self.head.names is None else self.head.names[self.label]

    def name_of(self, k: int) -> str:
        """Return what a column is called in a message: its name in quotes, or its number from 1."""
        return f"number {k + 1}" if self.head.names is None else repr(self.head.names[k])

    @property
    def read(self) -> list[int]:
        """Positions of all columns that are read, in the file's order."""
        label = () if self.label is None else (self.label,)
        return sorted({*self.features, *label, *self.kept, *self.labels})


class Chooser(Protocol):
    """Chooses the columns of a table that are read."""

    def likely_label(self, width: int) -> str | int | None:
        """Return the label's name or position, before it is known whether there are names."""

    def choose(self, head: Head) -> Columns:
        """Return the columns; raise if the table does not have them."""


@dataclass(frozen=True)
class AllBesideLabel:
    """Chooses one column as the label and all others as features."""

    label: str | int | None  # name or position; None if no column holds labels
    n_features: int | None = None  # how many there must be

    def likely_label(self, width: int) -> str | int | None:
        """Return the label as it was given."""
        return self.label

    def choose(self, head: Head) -> Columns:
        """Return the columns; raise if there are too few or too many."""
        label = self._position(head)
        features = tuple(k for k in range(head.width) if k != label and k not in head.index)
        if not features:
            raise DataFileError(
                f"{head.file}: no feature is left beside the label; the columns are "
                f"{head.listed()}. For CSV: is delimiter= right?"
            )
        if self.n_features is not None and len(features) != self.n_features:
            raise DataFileError(
                f"{head.file} has {len(features)} features where n_features={self.n_features} are "
                "expected. Is label= right (None where no column holds a label), and delimiter=?"
            )
        return Columns(head, features, label)

    def _position(self, head: Head) -> int | None:
        label = self.label
        if label is None:
            return None
        if isinstance(label, str):
            found = [k for k, name in enumerate(head.names or ()) if name == label]
            if len(found) != 1:
                many = "several columns are" if found else "no column is"
                raise DataFileError(
                    f"{head.file}: {many} called {label!r}; the columns are {head.listed()}. Pass "
                    "label= with the name or the position of the label's column, or None if there "
                    "is none."
                )
            return found[0]
        if not -head.width <= label < head.width:
            raise DataFileError(
                f"{head.file}: label={label} where there are {head.width} columns "
                f"({head.listed()}). Pass a position between 0 and {head.width - 1}; -1 is the "
                "last column."
            )
        return label % head.width


def listed(names: Sequence[str]) -> str:
    """Return some names for a message: the first ones, and the last, which may be the label's.

    Examples
    --------
    >>> listed(["a", "b"]), listed("abcdefghij")
    ('a, b', 'a, b, c, d, e, f, g, ..., j')
    """
    if len(names) <= _SHOWN:
        return ", ".join(names)
    return ", ".join([*names[: _SHOWN - 1], "...", names[-1]])


def mark_unlabeled(y: NDArray[np.float64], unlabeled: Any) -> NDArray[np.float64]:
    """Replace the marker in y by NaN, in place.

    Examples
    --------
    >>> mark_unlabeled(np.array([1.0, 0.0]), 0)
    array([ 1., nan])
    """
    if unlabeled is not None:
        y[y == unlabeled] = np.nan
    return y

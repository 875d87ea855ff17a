"""What y says: which rows are labelled, and with what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._util.parameters import unmasked
from ..estimators.labels import missing_mask, refuse_infinite
from ..members.member import Kind

Array = NDArray[np.float64]

TARGETS = ("auto", "classes", "shares", "labels")
"""What the parameter `targets` of a classifier may be."""

_FULL = 1.0 + 1e-6  # shares of a row may add up to this much: they are rounded
_SURE = 0.5  # a class with a larger share is kept in the transduction
_TINY = 1e-6  # smaller shares do not count
_LISTS = (list, tuple, set, frozenset, np.ndarray)
_NUMBERS = (int, float, bool, np.number, np.bool_)


class Target(NamedTuple):
    """The labels of a fit."""

    labeled: NDArray[np.int64]
    """The row of every label. A row with shares of several classes comes once for each."""
    y: NDArray[Any]
    """Classes; or a column for each label or quantity, NaN where it is not known."""
    kind: Kind
    shares: Array | None = None
    """How sure each label is; None if all are certain."""

    def at(self, order: NDArray[np.int64], labeled: NDArray[np.int64]) -> Target:
        """Return the labels in another order, with the rows that they have in that order."""
        shares = None if self.shares is None else self.shares[order]
        return Target(labeled, self.y[order], self.kind, shares)

    def kept(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Write what is known over answers for all rows: certain classes, and known cells."""
        if self.kind == "classes":
            sure = slice(None) if self.shares is None else self.shares > _SURE
            answers[self.labeled[sure]] = self.y[sure]
            return answers
        own = self.y if answers.ndim == 2 else self.y[:, 0]
        answers[self.labeled] = np.where(np.isnan(own), answers[self.labeled], own)
        return answers


class Table(NamedTuple):
    """A table of targets: a line for each row."""

    values: Array
    """NaN where nothing is known."""
    names: NDArray[Any] | None
    """Names of the columns; None if they have none."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape

    def take(self, places: NDArray[np.int64]) -> Table:
        """Return some rows."""
        return Table(self.values[places], self.names)


def is_table(y: Any) -> bool:
    """Return whether y has several columns, or lists of names.

    Examples
    --------
    >>> is_table([0, 1]), is_table([[0, 1], [1, 1]]), is_table([["a"], ["a", "b"]])
    (False, True, True)
    >>> is_table(np.zeros((3, 1)))
    False
    """
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) != 1:
        return len(shape) == 2 and (shape[1] > 1 or isinstance(y, Table))
    return has_lists(y) or (isinstance(y, Sequence) and len(y) > 0 and np.ndim(y[0]) == 1)


def has_lists(y: Any) -> bool:
    """Return whether y has a list, a tuple, a set or an array of names for each row.

    Examples
    --------
    >>> has_lists([["a", "b"], None, []]), has_lists([[0, 1], [1, 1]])
    (True, False)
    """
    told = _told(y)
    if not told:
        return False
    numbers = all(isinstance(value, _NUMBERS) for each in told for value in each)
    return not (numbers and len({len(each) for each in told}) == 1 and len(told) == len(y))


def holds_lists(y: Any) -> bool:
    """Return whether y has a list for each row: of names, or of numbers for all columns.

    Examples
    --------
    >>> holds_lists([["a", "b"], None]), holds_lists([[0, 1], [1, 1]]), holds_lists([0, 1])
    (True, True, False)
    """
    return bool(_told(y))


def _told(y: Any) -> list[Any]:
    """Return the values of y that are lists; y has one dimension, or there are none."""
    if isinstance(y, str | bytes) or not hasattr(y, "__len__") or hasattr(y, "columns"):
        return []
    kind = getattr(getattr(y, "dtype", None), "kind", "O")
    if kind != "O" or len(getattr(y, "shape", (0,))) != 1:
        return []
    return [each for each in y if isinstance(each, _LISTS)]


def table_of(y: Any, unlabeled: Any, names: NDArray[Any] | None = None) -> Table:
    """Return y as a table of numbers; NaN, None, NA and the marker are not known.

    Parameters
    ----------
    y : array, frame, sparse matrix, list of lists, or Table
        A column for each label, class or quantity; or names of labels for each row.
    unlabeled : object
        What else marks a cell that is not known.
    names : ndarray, optional
        The labels of an earlier fit, in the order of its columns.

    Examples
    --------
    >>> table_of([["b"], None, ["a", "b"]], -1)
    Table(values=array([[ 0.,  1.],
           [nan, nan],
           [ 1.,  1.]]), names=array(['a', 'b'], dtype='<U1'))
    """
    if has_lists(y):
        return table_of_lists(y, names)
    columns = getattr(y, "columns", None)
    found = None if columns is None else np.asarray(list(columns))
    if isinstance(y, Table):
        y, found = y
    plain = unmasked if columns is None else lambda frame: frame.to_numpy()
    values = np.asarray(y.toarray() if issparse(y) else plain(y))
    if values.dtype.kind not in "biuf":
        try:
            values = np.where(missing_mask(values.astype(object)), np.nan, values).astype(
                np.float64
            )
        except (TypeError, ValueError) as error:
            raise ValueError(f"y has several columns, which must hold numbers: {error}") from None
    values = values.astype(np.float64)
    if isinstance(unlabeled, int | float) and unlabeled not in (0, 1):
        values = np.where(values == unlabeled, np.nan, values)
    refuse_infinite(values[~np.isnan(values)])
    if names is not None and values.shape[1] != len(names):
        raise ValueError(
            f"y has {values.shape[1]} columns, and the model has learnt {len(names)}; pass one "
            "for each."
        )
    return Table(values, found) if names is None else Table(_ordered(values, found, names), names)


def _ordered(values: Array, found: NDArray[Any] | None, names: NDArray[Any]) -> Array:
    """Return columns in the order of an earlier fit, if they have its names."""
    places = {} if found is None else {name: i for i, name in enumerate(found.tolist())}
    if set(places) != set(names.tolist()):
        return values
    return values[:, [places[name] for name in names.tolist()]]


def table_of_lists(y: Any, names: NDArray[Any] | None = None) -> Table:
    """Return lists of names as a table of 0 and 1; rows without a list are not known.

    Parameters
    ----------
    y : array-like
        A list for every row.
    names : ndarray, optional
        The labels of an earlier fit, in the order of its columns.

    Examples
    --------
    >>> table_of_lists([None, None], np.array(["a"])).values.tolist()
    [[nan], [nan]]
    """
    lists = lists_of(y)
    every = {name for each in lists if each is not None for name in each}
    if names is None:
        if len({isinstance(name, str) for name in every}) == 2:
            raise ValueError("y mixes texts with numbers as names of labels; pass names of a kind.")
        names = np.array(sorted(every))
    unknown = every - set(names.tolist())
    if unknown:
        raise ValueError(
            f"y has the label {sorted(unknown, key=str)[0]!r}, which the model has not learnt."
        )
    to = {name: place for place, name in enumerate(names.tolist())}
    values = np.full((len(lists), len(names)), np.nan)
    for place, each in enumerate(lists):
        if each is not None:
            values[place] = 0.0
            values[place, [to[name] for name in each]] = 1.0
    return Table(values, names)


def lists_of(y: Any) -> list[Any]:
    """Return the list of every row, and None where nothing is known; raise if it is neither.

    Examples
    --------
    >>> lists_of([["a"], float("nan"), []])
    [['a'], None, []]
    """
    lists = [each if isinstance(each, _LISTS) else None for each in y]
    for place, each in enumerate(y):
        missing = each is None or type(each).__name__ == "NAType" or each != each
        if lists[place] is None and not missing:
            raise ValueError(
                f"Row {place} of y is {each!r}, and other rows are lists of names; pass a list "
                "for every row, [] for none of the labels, and None where nothing is known."
            )
    return lists


def kind_of(targets: Any, y: Any, table: Table | None) -> str:
    """Return what y holds: "classes", "shares" or "labels".

    Parameters
    ----------
    targets : str
        The parameter. "auto" looks: a table of 0, 1 and gaps has labels, another one shares.
    y : any
        As it was given.
    table : Table or None
        y as a table, if it is one.
    """
    if targets not in TARGETS:
        raise ValueError(
            f"targets must be one of {', '.join(map(repr, TARGETS))}; got {targets!r}."
        )
    if table is None:
        if targets in ("auto", "classes"):
            return "classes"
        raise ValueError(f"targets={targets!r} needs a column for each class; y has one column.")
    if targets == "classes":
        raise ValueError("targets='classes' needs one class per row; y has several columns.")
    known = table.values[~np.isnan(table.values)]
    whole = bool(np.isin(known, (0.0, 1.0)).all())
    if targets == "labels" and not whole:
        raise ValueError(
            f"Labels are 0, 1 or missing; y holds {known[~np.isin(known, (0.0, 1.0))][0]:g}. Pass "
            "targets='shares' if its columns are shares of classes."
        )
    if targets != "auto":
        return str(targets)
    return "labels" if whole else "shares"


def label_target(table: Table, counts: NDArray[np.bool_]) -> Target:
    """Return the rows with known labels: those that count."""
    labeled = np.flatnonzero(~np.isnan(table.values).all(axis=1) & counts)
    return Target(labeled, table.values[labeled], "labels")


def share_target(table: Table, counts: NDArray[np.bool_], classes: NDArray[Any]) -> Target:
    """Return rows with shares of classes: one label for each share, which is its weight.

    Examples
    --------
    >>> table = Table(np.array([[0.7, 0.3], [np.nan, np.nan], [0.0, 0.5]]), None)
    >>> found = share_target(table, np.ones(3, bool), np.arange(2))
    >>> found.labeled.tolist(), found.y.tolist(), found.shares.tolist()
    ([0, 0, 2], [0, 1, 1], [0.7, 0.3, 0.5])
    """
    refuse_wrong_shares(table)
    values = np.nan_to_num(table.values)
    values = np.where(counts[:, None] & (values > _TINY), values, 0.0)
    rows, codes = np.nonzero(values)
    return Target(rows.astype(np.int64), classes[codes], "classes", values[rows, codes])


def have_shares(table: Table) -> NDArray[np.bool_]:
    """Return which rows have a share of a class; others are unlabelled.

    Examples
    --------
    >>> have_shares(Table(np.array([[0.0, 0.0], [np.nan, 0.5]]), None))
    array([False,  True])
    """
    return np.asarray((np.nan_to_num(table.values) > _TINY).any(axis=1))


def refuse_wrong_shares(table: Table, where: str = "") -> None:
    """Raise if shares are negative, or add up to more than 1; `where` is a part of y."""
    values = np.nan_to_num(table.values)
    wrong = np.flatnonzero((values < 0).any(axis=1) | (values.sum(axis=1) > _FULL))
    if len(wrong):
        shown = ", ".join(f"{each:g}" for each in values[wrong[0]][:5])
        raise ValueError(
            f"Row {wrong[0]} of y{where} has the shares {shown}"
            f"{', ...' * (values.shape[1] > 5)}; shares "
            "of classes are 0 or more, and add up to 1, or to less where the rest is unknown. "
            "Pass targets='labels' if a row may have several labels."
        )

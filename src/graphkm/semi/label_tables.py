"""y as a table: a column for each label, class or quantity; or lists of names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._util.parameters import unmasked
from ..estimators.labels import missing_mask, refuse_infinite

Array = NDArray[np.float64]

_LISTS = (list, tuple, set, frozenset, np.ndarray)
_NUMBERS = (int, float, bool, np.number, np.bool_)


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
    return [each for each in _plain(y) if isinstance(each, _LISTS)]


def _plain(y: Any) -> Any:
    """Return the values of a series: one of polars has series of its own in place of lists."""
    return y.to_list() if hasattr(y, "to_list") else y


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
    found = None if columns is None else _column_names(columns)
    if isinstance(y, Table):
        y, found = y
    plain = unmasked if columns is None else lambda frame: frame.to_numpy()
    values = np.asarray(y.toarray() if issparse(y) else plain(y))
    if values.ndim != 2:
        wanted = "several columns" if names is None else f"a column for each of {len(names)} labels"
        raise ValueError(f"y needs {wanted}, or lists of names; it has the shape {values.shape}.")
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


def _column_names(columns: Any) -> NDArray[Any]:
    found = list(columns)
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"Two columns of y are named {twice!r}; give each a name of its own.")
    return np.asarray(found)


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
    every = _names_in(lists)
    if names is None:
        names = _sorted_names(every)
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


def _names_in(lists: list[Any]) -> set[Any]:
    """Return all names in lists."""
    found = set()
    for place, each in enumerate(lists):
        own = np.empty(0 if each is None else len(each), dtype=object)
        own[:] = [] if each is None else list(each)
        wrong = [value for value in own if not isinstance(value, str | np.generic | int | float)]
        if missing_mask(own).any() or wrong:
            raise ValueError(
                f"Row {place} of y is {each!r}, and names of labels are texts or numbers, none of "
                "them empty or missing. None in place of a list says that nothing is known."
            )
        found.update(own.tolist())
    return found


def _sorted_names(every: set[Any]) -> NDArray[Any]:
    if not every:
        raise ValueError(
            "Every list of y is empty, so its labels have no names; pass a table with a column for "
            "each label, or lists of which some name a label."
        )
    if len({isinstance(name, str) for name in every}) == 2:
        raise ValueError("y mixes texts with numbers as names of labels; pass names of a kind.")
    return np.array(sorted(every))


def lists_of(y: Any) -> list[Any]:
    """Return the list of every row, and None where nothing is known; raise if it is neither.

    Examples
    --------
    >>> lists_of([["a"], float("nan"), []])
    [['a'], None, []]
    """
    values = _plain(y)
    lists = [each if isinstance(each, _LISTS) else None for each in values]
    for place, each in enumerate(values):
        missing = each is None or type(each).__name__ == "NAType" or each != each
        if lists[place] is None and not missing:
            raise ValueError(
                f"Row {place} of y is {each!r}, and other rows are lists of names; pass a list "
                "for every row, [] for none of the labels, and None where nothing is known."
            )
    return lists

"""Labels of one block of rows, and of several blocks together.

A label is a value; or a line of a table; or a list of names, which stays a list until all blocks
are known, because each block has other names.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimators.labels import as_label_array, labeled_mask
from ..estimators.targets import known_targets
from .label_tables import (
    Table,
    has_lists,
    holds_lists,
    is_table,
    lists_of,
    table_of,
    table_of_lists,
)
from .target import have_shares, kind_of, refuse_wrong_shares

QUANTITIES = "quantities"
"""What y holds if it holds no classes or labels, which the parameter `targets` tells apart."""


def targets_of(model: Any) -> str:
    """Return what the targets of a front door may be: its parameter, or `QUANTITIES`."""
    return str(getattr(model, "targets", QUANTITIES))


_ALIKE = "pass all blocks, or all partitions, in one form"


class Lists(NamedTuple):
    """Lists of names; or of numbers, if those of all blocks have the same length."""

    lists: NDArray[np.object_]
    table: Table | None
    """The same as numbers, if they may be that."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many there are."""
        return self.lists.shape

    def take(self, places: NDArray[np.int64]) -> Lists:
        """Return some of them."""
        table = None if self.table is None else self.table.take(places)
        return Lists(self.lists[places], table)


Labels = NDArray[Any] | Table | Lists
"""Labels of one kind; all have `shape` and `take`."""


def are_columns(labels: Any) -> bool:
    """Return whether labels have several columns, or are lists."""
    return holds_lists(labels) or is_table(labels)


def split_labels(
    labels: Any, unlabeled: Any, targets: str, where: str = ""
) -> tuple[NDArray[np.bool_], Labels]:
    """Return which rows have a label or a target, and these labels or targets.

    Parameters
    ----------
    labels : array-like
        Those of a block.
    unlabeled : object
        What marks unlabelled rows, beside NaN and the like.
    targets : str
        The parameter of a classifier, or `QUANTITIES`.
    where : str, optional
        What messages call the block.

    Examples
    --------
    >>> split_labels([0, 1, -1], -1, "auto")
    (array([ True,  True, False]), array([0, 1]))
    >>> split_labels([["a"], None], -1, "auto")[0]
    array([ True, False])
    """
    if holds_lists(labels):
        return _split_lists(labels, unlabeled, targets, where)
    if is_table(labels):
        table = table_of(labels, unlabeled)
        mask = _known_lines(table, targets, where)
        return mask, table.take(np.flatnonzero(mask))
    if targets == QUANTITIES:
        return known_targets(labels, unlabeled)
    values = as_label_array(labels)
    mask = labeled_mask(values, unlabeled)
    return mask, values[mask]


def _split_lists(
    labels: Any, unlabeled: Any, targets: str, where: str
) -> tuple[NDArray[np.bool_], Lists]:
    lists = np.empty(len(labels), dtype=object)
    for place, each in enumerate(lists_of(labels)):  # NumPy would make a table of equal lengths
        lists[place] = each
    table, mask = None, np.array([each is not None for each in lists])
    if is_table(labels) and not has_lists(labels):
        table = table_of(list(labels), unlabeled)
        mask = _known_lines(table, targets, where)
    return mask, Lists(lists, table).take(np.flatnonzero(mask))


def _known_lines(table: Table, targets: str, where: str) -> NDArray[np.bool_]:
    """Return which lines of a table say something."""
    if targets != QUANTITIES and kind_of(targets, None, table) == "shares":
        refuse_wrong_shares(table, where)
        return have_shares(table)
    return np.asarray(~np.isnan(table.values).all(axis=1))


def hold_shares(labels: Labels) -> bool:
    """Return whether labels of a classifier are shares for sure: not all of them are 0 or 1."""
    table = labels.table if isinstance(labels, Lists) else labels
    return isinstance(table, Table) and kind_of("auto", None, table) == "shares"


def with_shares(labels: Labels) -> NDArray[np.int64]:
    """Return which labels have a share of a class, if other blocks say that they are shares."""
    table = labels.table if isinstance(labels, Lists) else labels
    if not isinstance(table, Table):
        return np.arange(labels.shape[0])
    return np.flatnonzero(have_shares(table))


def joined(parts: Sequence[Any]) -> Any:
    """Return the labels of several blocks; blocks without labels do not decide their type.

    Examples
    --------
    >>> joined([np.array([0, 1]), np.array([]), np.array([1])])
    array([0, 1, 1])
    >>> lists = [split_labels(each, -1, "auto")[1] for each in ([["a"]], [["b"], ["a", "b"]])]
    >>> joined(lists).values.tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    used = [part for part in parts if part.shape[0]] or list(parts[:1])
    kinds = [kind for kind in (Lists, Table) if any(isinstance(each, kind) for each in used)]
    if not kinds:
        return np.concatenate(used)
    if not all(isinstance(each, kinds[0]) for each in used):
        raise ValueError(
            "Some blocks of y have several columns or lists of names, and others have one value "
            f"for each row; {_ALIKE}."
        )
    if kinds[0] is Table:
        return _joined_tables(used)
    tables = [each.table for each in used]
    if all(each is not None and each.shape[1] == tables[0].shape[1] for each in tables):
        return _joined_tables(tables)
    return table_of_lists(np.concatenate([each.lists for each in used]))


def _joined_tables(tables: Sequence[Table]) -> Table:
    first = tables[0]
    for each in tables:
        if each.shape[1] != first.shape[1]:
            raise ValueError(
                f"Blocks of y have {first.shape[1]} and {each.shape[1]} columns; pass the same "
                "columns in every block or partition."
            )
        if _named(each) != _named(first):
            raise ValueError(
                f"Blocks of y have the columns {_named(first)} and {_named(each)}; pass the same "
                "names in the same order in every block or partition."
            )
    return Table(np.concatenate([each.values for each in tables]), first.names)


def _named(table: Table) -> list[Any] | None:
    return None if table.names is None else list(table.names.tolist())


def stack_labels(parts: Sequence[Any]) -> Any:
    """Return labels of several blocks as one block, before anything is known of them.

    Examples
    --------
    >>> stack_labels([np.array([0, 1]), [1]])
    array([0, 1, 1])
    >>> stack_labels([[["a"]], [None, ["b"]]])
    [['a'], None, ['b']]
    """
    if any(map(holds_lists, parts)):
        if any(len(getattr(part, "shape", (0,))) != 1 for part in parts):
            raise ValueError(f"Some blocks of y are lists, and others are tables; {_ALIKE}.")
        return list(chain.from_iterable(parts))
    if any(map(is_table, parts)):
        return joined(
            [table_of(each, None) if is_table(each) else as_label_array(each) for each in parts]
        )
    return with_order(np.concatenate(list(map(as_label_array, parts))), list(map(order_of, parts)))


def order_of(labels: Any) -> list[Any] | None:
    """Return the classes of an ordered categorical of pandas, in their order; None of others."""
    dtype: Any = getattr(labels, "dtype", None)
    ordered = getattr(dtype, "ordered", False) and hasattr(dtype, "categories")
    return list(dtype.categories.tolist()) if ordered else None


def with_order(labels: Any, orders: Sequence[list[Any] | None]) -> Any:
    """Return the labels of several blocks as an ordered categorical, if they were some.

    Parameters
    ----------
    labels : ndarray or Table
        Those of all blocks.
    orders : list
        The order of every block's labels, or None.
    """
    if orders[0] is None or any(each != orders[0] for each in orders):
        return labels
    import pandas as pd

    return pd.Series(pd.Categorical(labels, categories=orders[0], ordered=True))

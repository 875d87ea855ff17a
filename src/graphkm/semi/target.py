"""What y says: which rows are labelled, and with what."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..members.member import Kind
from .label_tables import Table

Array = NDArray[np.float64]

TARGETS = ("auto", "classes", "shares", "labels")
"""What the parameter `targets` of a classifier may be."""

_FULL = 1.0 + 1e-6  # shares of a row may add up to this much: they are rounded
_SURE = 0.5  # a class with a larger share is kept in the transduction
_TINY = 1e-6  # smaller shares do not count


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
        columns = "label" if targets == "labels" else "class"
        raise ValueError(
            f"targets={targets!r} needs a column for each {columns}; y has one column. Leave "
            "targets out to learn one class per row."
        )
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


def refuse_positives_alone(target: Target) -> None:
    """Raise if y says which labels rows have, and never that they lack one."""
    known = ~np.isnan(target.y)
    if known.any() and not known.all() and (target.y[known] == 1).all():
        raise ValueError(
            "Every known label of y is 1, so nothing tells which rows lack a label. Write 0 where "
            "a row lacks one. If -1 means that, it must not be the marker of unknown labels, "
            "unlabeled=-1: replace it with 0."
        )


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

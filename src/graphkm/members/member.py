"""What a member sees of the rows, and what the judge sees of a member."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..fields.system import FieldSystem
from ..graphs.nodes import NodeGraph
from ..judge.folds import Folds
from ..judge.held_out import HeldOut, take_rows
from ..judge.mixture import Without
from ..judge.units import PLAIN, Units
from ..neighbours.distinct import Copies
from .by_label import ByLabel
from .cuts import Cut

Array = NDArray[np.float64]

DIGITS = 10
"""Quantities are learnt to so many digits of their spread."""

LEAST = 1e-3
"""Smaller probabilities count as this one: a forest gives 0 to what it has never seen."""

Kind = Literal["classes", "labels", "quantities"]
"""What is learnt: one of several classes, several labels that a row has or has not, or numbers."""


@dataclass(frozen=True)
class Known:
    """The labelled rows, as members see them.

    Parameters
    ----------
    rows : array, frame or CSR matrix of shape (l, n_features)
        The labelled rows.
    y : ndarray of shape (l,) or (l, n_columns)
        Their classes; or a column for each label or quantity, NaN where it is not known. Labels
        are 0 or 1.
    weights : ndarray of shape (l,)
        Their weights, whose mean is 1.
    given : ndarray or None
        The weights if any were given.
    classes : ndarray or None
        All classes, sorted; None for several labels, and for quantities.
    folds : list of (train, test)
        Positions among the labelled rows; none if they are too few.
    copies : Copies
        Which of the rows are equal.
    kind : {"classes", "labels", "quantities"}
        What is learnt.
    base : ndarray of shape (n_classes,) or None
        Shares of the classes for rows that nothing is known of; None for equal ones.
    sizes : ndarray of shape (n_classes,) or None
        The shares of the classes among all rows, if a person gave them.
    units : Units
        The units in which members learn quantities.
    """

    rows: Any
    y: NDArray[Any]
    weights: Array
    given: Array | None
    classes: NDArray[Any] | None
    folds: Folds
    copies: Copies
    kind: Kind = "classes"
    base: Array | None = None
    sizes: Array | None = None
    units: Units = PLAIN

    @property
    def codes(self) -> NDArray[np.int64]:
        """The labels as numbers of classes."""
        assert self.classes is not None
        return np.searchsorted(self.classes, self.y)

    @property
    def judged_folds(self) -> Folds:
        """The folds with two classes or more to train on: one class alone teaches nothing."""
        if self.classes is None:
            return self.folds
        return [(train, test) for train, test in self.folds if np.ptp(self.codes[train])]

    @property
    def targets(self) -> Array:
        """What members learn: quantities, or a column per class: 0 or 1, minus 1 / n_classes.

        The last digits of quantities come from their unit, and must not choose the cuts of trees.
        """
        if self.classes is None:
            return self.units.coded(np.asarray(self.y, dtype=np.float64)).round(DIGITS)
        k = len(self.classes)
        return np.asarray((self.codes[:, None] == np.arange(k)) - 1.0 / k)

    @property
    def usual(self) -> Array:
        """Shares of the classes for rows that nothing is known of."""
        assert self.classes is not None
        k = len(self.classes)
        return np.full(k, 1.0 / k) if self.base is None else self.base

    @property
    def several(self) -> bool:
        """Whether there is a model for each of several columns."""
        return self.kind == "labels" or (self.kind == "quantities" and self.y.shape[1] > 1)

    @property
    def n_groups(self) -> int:
        """How many groups of rows are to be told apart, at least."""
        return 2 if self.classes is None else len(self.classes)

    @property
    def mean_targets(self) -> Array:
        """The mean of every column, where it is known."""
        cells = self.cells
        sums = (cells * np.nan_to_num(self.targets)).sum(axis=0)
        return np.asarray(sums / np.maximum(cells.sum(axis=0), 1e-300))

    @property
    def cells(self) -> Array:
        """The weight of every column of every row: 0 where it is not known."""
        told = ~np.isnan(self.targets)
        return np.asarray(self.weights[:, None] * told)

    def groups(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return columns that are known at the same rows, and these rows; none of no rows."""
        told = ~np.isnan(self.targets)
        if told.all():
            return [(np.arange(told.shape[1]), np.arange(len(told)))]
        _, kinds = np.unique(told, axis=1, return_inverse=True)
        every = [np.flatnonzero(kinds.ravel() == kind) for kind in range(kinds.max() + 1)]
        found = [(columns, np.flatnonzero(told[:, columns[0]])) for columns in every]
        return [(columns, rows) for columns, rows in found if len(rows)]

    def coded(self) -> Self:
        """Return the rows with quantities as they are learnt, for models that take any."""
        if self.kind != "quantities":
            return self
        return replace(self, y=self.targets, units=PLAIN)

    def taught(self, rows: NDArray[np.int64]) -> Self:
        """Return some of the rows, for fits that do not see the others."""
        return replace(
            self,
            rows=None,
            y=self.y[rows],
            weights=self.weights[rows],
            folds=[],
            copies=Copies.of(self.copies.place[rows]),
        )

    def column(self, place: int) -> Self:
        """Return the rows where a column is known, as if there were no other columns."""
        told = np.flatnonzero(~np.isnan(self.y[:, place]))
        to = np.full(len(self.y), -1)
        to[told] = np.arange(len(told))
        parts = [tuple(to[each][to[each] >= 0] for each in fold) for fold in self.folds]
        y, weights = self.y[told, place], self.weights[told]
        labels = self.kind == "labels"
        share = (weights @ y + 0.5) / (weights.sum() + 1.0) if labels else 0.0
        return replace(
            self,
            rows=take_rows(self.rows, told),
            y=y.astype(np.int64) if labels else y[:, None],
            weights=weights / weights.mean(),
            given=None if self.given is None else self.given[told] / self.given[told].mean(),
            classes=np.arange(2) if labels else None,
            folds=[(train, test) for train, test in parts if len(train) and len(test)],
            copies=Copies.of(self.copies.place[told]),
            kind="classes" if labels else "quantities",
            units=self.units.column(place),
            base=np.array([1.0 - share, share]) if labels else None,
        )


@dataclass(frozen=True)
class Scope:
    """All rows, as members of the graph see them.

    Parameters
    ----------
    graph : NodeGraph
        The nodes, and the way from the labelled rows to them.
    n_threads : int
        Threads of sparse products.
    """

    graph: NodeGraph
    n_threads: int

    @cached_property
    def system(self) -> FieldSystem:
        """The graph for fields, and for products with many columns."""
        return FieldSystem(self.graph.similarity, n_threads=self.n_threads)


@dataclass(frozen=True)
class Member:
    """One way to learn, fitted, and what it says of labels that it has not seen.

    Parameters
    ----------
    name : str
        Says what it does.
    held : ndarray of shape (l, n_columns)
        Held-out scores of every class, or quantities.
    size : float
        The temperature of the scores before labels are seen; unused for quantities.
    model : HeldOut or None
        Predicts other rows; None for a member that lives on the graph alone.
    values : callable or None
        Returns scores or quantities at all nodes. For a member with a model, it returns what is
        added to the model's class shares or quantities; None if nothing is added.
    how : str
        Where the held-out scores come from.
    seconds : float
        CPU seconds that it took.
    rank : int or None
        How many functions of the rows it has to choose from; None stands for as many as labels.
    labels_only : bool
        Whether it has not seen the unlabelled rows.
    without : callable or None
        Returns what it says after a fit without some labels; None if only `held` is known.
    on_edges : bool
        Whether `values` are at all known rows, which given edges join, and not at nodes.
    cut : Cut or None
        How its classes cut the graph; None if unknown.
    by_label : callable or None
        Returns what it says as a sum over labels, `graphkm.members.by_label`; None if it is none.
        A corrected model has the sum of its correction.
    """

    name: str
    held: Array
    size: float = 1.0
    model: HeldOut | None = None
    values: Callable[[], Array] | None = None
    how: str = "leave-one-out"
    seconds: float = 0.0
    rank: int | None = None
    labels_only: bool = True
    without: Without | None = None
    on_edges: bool = False
    cut: Cut | None = None
    by_label: ByLabel | None = None


def log_shares(shares: Array) -> Array:
    """Return the logarithms of class shares, none of them below `LEAST`.

    Examples
    --------
    >>> log_shares(np.array([[0.0, 1.0]])).round(2)
    array([[-6.91,  0.  ]])
    """
    return np.asarray(np.log(np.maximum(shares, LEAST)))


def log_odds(shares: Array) -> Array:
    """Return the logarithms of the odds of labels, of which none is surer than `LEAST`.

    Examples
    --------
    >>> log_odds(np.array([0.0, 0.5])).round(2)
    array([-6.91,  0.  ])
    """
    inside = np.clip(shares, LEAST, 1.0 - LEAST)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def as_scores(values: Array, kind: Kind) -> Array:
    """Return shares as the judge takes them: logarithms of shares, or of the odds of labels.

    Quantities stay as they are.
    """
    if kind == "quantities":
        return values
    return log_shares(values) if kind == "classes" else log_odds(values)


def as_shares(scores: Array, kind: Kind) -> Array:
    """Return what `as_scores` was given.

    Examples
    --------
    >>> as_shares(as_scores(np.array([[0.2]]), "labels"), "labels")
    array([[0.2]])
    """
    if kind == "quantities":
        return scores
    return np.asarray(np.exp(scores) if kind == "classes" else expit(scores))


def odds_around(shares: Array, usual: Array) -> Array:
    """Return the logarithms of odds, to first order around the usual share of a label.

    Least squares may give shares below 0 or above 1. These keep their order here.

    Examples
    --------
    >>> odds_around(np.array([-0.1, 0.2]), np.array([0.2, 0.2])).round(2)
    array([-3.26, -1.39])
    """
    inside = np.clip(usual, LEAST, 1.0 - LEAST)
    return np.asarray(log_odds(inside) + (shares - usual) / (inside * (1.0 - inside)))


def unit_of(scores: Array) -> float:
    """Return the temperature of scores that have no size of their own: one over their spread.

    Examples
    --------
    >>> unit_of(np.array([[-0.5, 0.5]]))
    2.0
    """
    spread = float(np.sqrt(np.mean(np.square(scores - scores.mean(axis=1, keepdims=True)))))
    return 1.0 / spread if spread > 1e-300 else 1.0

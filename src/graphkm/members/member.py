"""What a member sees of the rows, and what the judge sees of a member."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fields.system import FieldSystem
from ..graphs.nodes import NodeGraph
from ..judge.folds import Folds
from ..judge.held_out import HeldOut
from ..judge.mixture import Without
from ..neighbours.distinct import Copies
from .cuts import Cut

Array = NDArray[np.float64]

LEAST = 1e-3
"""Smaller probabilities count as this one: a forest gives 0 to what it has never seen."""


@dataclass(frozen=True)
class Known:
    """The labelled rows, as members see them.

    Parameters
    ----------
    rows : array, frame or CSR matrix of shape (l, n_features)
        The labelled rows.
    y : ndarray of shape (l,)
        Their labels or targets.
    weights : ndarray of shape (l,)
        Their weights, whose mean is 1.
    given : ndarray or None
        The weights if any were given.
    classes : ndarray or None
        All labels, sorted; None for quantities.
    folds : list of (train, test)
        Positions among the labelled rows; none if they are too few.
    copies : Copies
        Which of the rows are equal.
    sizes : ndarray of shape (n_classes,) or None
        The shares of the classes among all rows, if a person gave them.
    """

    rows: Any
    y: NDArray[Any]
    weights: Array
    given: Array | None
    classes: NDArray[Any] | None
    folds: Folds
    copies: Copies
    sizes: Array | None = None

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
        """What members learn: quantities, or a column per class: 0 or 1, minus 1 / n_classes."""
        if self.classes is None:
            return np.asarray(self.y, dtype=np.float64)[:, None]
        k = len(self.classes)
        return np.asarray((self.codes[:, None] == np.arange(k)) - 1.0 / k)


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


def log_shares(shares: Array) -> Array:
    """Return the logarithms of class shares, none of them below `LEAST`.

    Examples
    --------
    >>> log_shares(np.array([[0.0, 1.0]])).round(2)
    array([[-6.91,  0.  ]])
    """
    return np.asarray(np.log(np.maximum(shares, LEAST)))


def unit_of(scores: Array) -> float:
    """Return the temperature of scores that have no size of their own: one over their spread.

    Examples
    --------
    >>> unit_of(np.array([[-0.5, 0.5]]))
    2.0
    """
    spread = float(np.sqrt(np.mean(np.square(scores - scores.mean(axis=1, keepdims=True)))))
    return 1.0 / spread if spread > 1e-300 else 1.0

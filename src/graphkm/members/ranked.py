r"""Members for classes with an order: regressions of the classes' numbers.

The classes are numbered along their order. A regression says f of a row, and its held-out errors
have the spread s. Then the class k has the probability

.. math::

    \Phi\left(\frac{k + 1/2 - f}{s}\right) - \Phi\left(\frac{k - 1/2 - f}{s}\right) ,

and the first and the last class have the ends. A class next to the right one is then more likely
than one that is far off, which members of unordered classes do not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.base import BaseEstimator

from ..judge.held_out import HeldOut
from ..judge.mixture import Without
from .member import Array, Known, Member, log_shares

_LEAST = 0.1  # of the spread: errors are steps of 1, and few labels may hide them


class Ranked(BaseEstimator):
    """A regressor of the classes' numbers, which answers with shares of the classes.

    Parameters
    ----------
    model : estimator
        Fitted to the numbers of the classes.
    spread : float
        The spread of its held-out errors.
    ranks : ndarray of int of shape (n_classes,)
        The number of each of `classes`.
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    """

    def __init__(
        self, model: Any, spread: float, ranks: NDArray[np.int64], classes: NDArray[Any]
    ) -> None:
        self.model, self.spread, self.ranks, self.classes = model, spread, ranks, classes

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        return self.classes

    def shares(self, X: Any) -> Array:
        """Return one share for each class."""
        found = np.asarray(self.model.predict(X), dtype=np.float64).ravel()
        return rank_shares(found, self.spread, self.ranks)


def rank_shares(said: Array, spread: float, ranks: NDArray[np.int64]) -> Array:
    """Return shares of classes whose numbers are `ranks`, around what a regression said.

    Examples
    --------
    >>> rank_shares(np.array([0.9]), 0.5, np.array([2, 0, 1])).round(2)
    array([[0.12, 0.21, 0.67]])
    """
    edges = (np.arange(len(ranks) - 1) + 0.5 - said[:, None]) / spread
    below = np.hstack([np.zeros((len(said), 1)), ndtr(edges), np.ones((len(said), 1))])
    return np.asarray(np.diff(below, axis=1)[:, ranks])


def as_numbers(known: Known, ranks: NDArray[np.int64]) -> Known:
    """Return labelled rows whose targets are the numbers of their classes."""
    numbers = ranks[known.codes].astype(np.float64)[:, None]
    return replace(known, y=numbers, classes=None, kind="quantities", sizes=None)


def ranked_members(
    members: Iterable[Member], known: Known, ranks: NDArray[np.int64]
) -> Iterator[Member]:
    """Yield members of classes, made of members of their numbers.

    Parameters
    ----------
    members : iterable of Member
        Fitted to `as_numbers`.
    known : Known
        The labelled rows with their classes.
    ranks : ndarray of int of shape (n_classes,)
        The number of every class.
    """
    assert known.classes is not None
    truth = ranks[known.codes]
    for member in members:
        if member.model is not None and member.values is not None:
            continue  # a corrected model: the field would be added to shares
        errors = np.square(member.held[:, 0] - truth)
        spread = max(_LEAST, float(np.sqrt(np.average(errors, weights=known.weights))))
        shares = partial(_log_shares, spread, ranks)
        model, values = member.model, member.values
        if model is not None:
            own = Ranked(model.model, spread, ranks, known.classes)
            model = HeldOut(own, np.empty((0, 0)), model.how)
        yield replace(
            member,
            name=f"ranks, {member.name}",
            held=shares(member.held),
            size=1.0,
            model=model,
            values=None if values is None else partial(_after, values, shares),
            without=None if member.without is None else partial(_both, member.without, shares),
            by_label=None,
        )


def _log_shares(spread: float, ranks: NDArray[np.int64], said: Array) -> Array:
    return log_shares(rank_shares(np.asarray(said)[:, 0], spread, ranks))


def _after(values: Callable[[], Array], shares: Callable[[Array], Array]) -> Array:
    return shares(values())


def _both(
    without: Without,
    shares: Callable[[Array], Array],
    seen: NDArray[np.int64],
    told: NDArray[np.int64],
) -> tuple[Array, Array]:
    held, said = without(seen, told)
    return shares(held), shares(said)

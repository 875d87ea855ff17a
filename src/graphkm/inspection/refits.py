"""A model with fewer of its labels, and what it loses on the others."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..judge.folds import FEWEST, usual_folds
from ..judge.held_out import take_rows
from ..semi.held import Array, Held, held_answers
from ..semi.labelled import units_of

PARTS = (0.25, 0.5, 0.75)
"""The shares of the labels with which a model is fitted again."""


class Measured(NamedTuple):
    """One fit, and what it lost on labels that it did not see."""

    size: float
    """With how many labels."""
    loss: Array
    """The loss of each labelled row; NaN where the fit saw its label."""


def check_labels(held: Held) -> None:
    """Raise if labels are too few to leave some of them away, or if rows have shares of classes."""
    if held.kind == "classes" and not np.isin(held.told, (0.0, 1.0)).all():
        raise ValueError(
            "Rows have shares of several classes, so no answer is right or wrong; a learning curve "
            "needs one class per row."
        )
    least, labels = 2 * _least(held), len(held.rows)
    if labels < least:
        raise ValueError(
            f"{labels} labels are too few for a learning curve; {least} are needed, so that half "
            "of them can be left away."
        )


def _least(held: Held) -> int:
    """Return with how many labels a model is fitted at least; every class has one of them."""
    return max(FEWEST, held.told.shape[1] if held.kind == "classes" else 1)


def draws_of(held: Held, repeats: int, rng: np.random.RandomState) -> list[NDArray[np.bool_]]:
    """Return which labels each fit sees. Classes have their shares, and one label at least.

    Examples
    --------
    >>> told = np.eye(2)[np.r_[np.zeros(30, int), np.ones(10, int)]]
    >>> held = Held(np.arange(40), told, told, np.ones(40), "classes")
    >>> [int(chosen.sum()) for chosen in draws_of(held, 1, np.random.RandomState(0))]
    [10, 20, 30]
    """
    labels = len(held.rows)
    sizes = dict.fromkeys(max(_least(held), round(part * labels)) for part in PARTS)
    strata = held.told.argmax(axis=1) if held.kind == "classes" else np.zeros(labels, np.int64)
    found = []
    for size in sizes:
        for _ in range(repeats):
            order = np.argsort(_places(strata, rng), kind="stable")
            found.append(np.isin(np.arange(labels), order[:size]))
    return found


def _places(strata: NDArray[np.int64], rng: np.random.RandomState) -> Array:
    """Return random places of labels, in which every beginning has its share of every stratum."""
    places = np.empty(len(strata))
    for stratum in np.unique(strata):
        own = np.flatnonzero(strata == stratum)
        ranks = rng.permutation(len(own)) + rng.random_sample(len(own))
        places[own] = np.where(ranks < 1.0, -1.0, ranks) / len(own)
    return places


def refitted(
    model: Any, X: Any, held: Held, chosen: NDArray[np.bool_], affinity: Any, ids: Any
) -> Measured:
    """Fit a copy of the model with some of its labels, and return its losses on the others."""
    n = _n_rows(model, X)
    if n <= held.rows.max():
        raise ValueError(
            f"X has {n} rows, but the model has a label of row {held.rows.max()} (counted from 0); "
            "pass the rows of its fit."
        )
    copy, rest = _unfitted(model, held), held.rows[~chosen]
    weights = None
    if np.ptp(held.weights) > 0:
        weights = np.ones(n)
        weights[held.rows] = held.weights
    about = {} if affinity is None else {"affinity": affinity, "ids": ids}
    copy.fit(X, _labels(model, held, chosen, n), weights, **about)
    loss = np.full(len(held.rows), np.nan)
    plain = affinity is None and hasattr(X, "shape")
    answers = copy.predict(take_rows(X, rest)) if plain else copy.transduction_[rest]
    loss[~chosen] = _losses(held, ~chosen, _coded(model, held, answers))
    return Measured(float(chosen.sum()), loss)


def _unfitted(model: Any, held: Held) -> Any:
    """Return a copy that learns the same from y as numbers, names and gaps."""
    copy = clone(model)
    if getattr(model, "order_", None) is not None:
        copy.set_params(ordered=model.order_.tolist())  # y was a categorical, perhaps
    if held.kind == "labels":
        copy.set_params(targets="labels")
    if not (isinstance(model.cv, Integral) or hasattr(model.cv, "split")):
        copy.set_params(cv=None)  # a list of folds counts all labels
    return copy


def held_losses(model: Any, held: Held) -> Measured:
    """Return what the model itself lost on labels that were held out, a fold at a time."""
    labels, every = len(held.rows), np.ones(len(held.rows), bool)
    asked = model.cv if isinstance(model.cv, Integral) else usual_folds(labels)
    return Measured(
        labels * (1.0 - 1.0 / int(asked)), _losses(held, every, held_answers(model, held))
    )


def needs_affinity(model: Any, affinity: Any) -> None:
    """Raise if a model that has learnt from edges is to be fitted again without them."""
    if affinity is None and model.mixture_.linked is not None:
        raise ValueError(
            "The model has learnt from edges, and would be fitted again without them; pass "
            "affinity= (and ids=) as they were given to its fit."
        )


def _n_rows(model: Any, X: Any) -> int:
    """Return how many rows X has; those of the fit if there is no X."""
    if X is None:
        return len(model.transduction_)
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        X = next(iter(X.values()))
    if not (hasattr(X, "shape") or hasattr(X, "__len__")):
        raise ValueError("X comes in blocks; a learning curve needs rows in memory.")
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _labels(model: Any, held: Held, chosen: NDArray[np.bool_], n: int) -> Any:
    """Return y for all rows, in which only some of the labels are known."""
    rows, told = held.rows[chosen], held.told[chosen]
    if held.kind == "classes":
        y = np.full(n, None, dtype=object)
        y[rows] = model.classes_[told.argmax(axis=1)]
        return y
    table = np.full((n, told.shape[1]), np.nan)
    table[rows] = told
    return table[:, 0] if held.kind == "quantities" and told.shape[1] == 1 else table


def _coded(model: Any, held: Held, answers: NDArray[Any]) -> Array:
    """Return answers in the shape of `told`."""
    if held.kind == "classes":
        return np.asarray(answers[:, None] == model.classes_, dtype=np.float64)
    return np.asarray(answers, dtype=np.float64).reshape(len(answers), -1)


def deviations(held: Held) -> Array:
    """Return the standard deviation of each quantity, by which errors are divided."""
    units = units_of(held.told, held.weights)
    found = np.asarray(units.spread * np.nanstd(units.coded(held.told), axis=0))
    if not (found > 0).all():
        raise ValueError("A quantity is the same in all labelled rows, so it has no R^2.")
    return found


def _losses(held: Held, rows: NDArray[np.bool_], said: Array) -> Array:
    """Return the loss of rows: whether the answer is wrong, or the squared error.

    The squared error is divided by the spread of the quantity, so that its mean is 1 - R^2. Of
    several quantities it is the mean of those that are known. With several labels per row, a row of
    which not all are known has no loss.
    """
    told = held.told[rows]
    if held.kind != "quantities":
        wrong = (said != told).any(axis=1).astype(np.float64)
        return np.where(np.isnan(told).any(axis=1), np.nan, wrong)
    errors = np.square((told - said) / deviations(held))
    known = ~np.isnan(errors)
    return np.asarray(np.where(known, errors, 0.0).sum(axis=1) / known.sum(axis=1))

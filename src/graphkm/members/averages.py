"""Members on rows that are averaged along given edges.

The rows are averaged along the edges some steps far, and a ridge regression learns from the
averages (Wu et al., 2019, "Simplifying graph convolutional networks"; Gasteiger et al., 2019,
"Predict then propagate"). A logistic regression learns from the farthest ones, too.

Neighbours may differ in class. So there is a member that has a row, its neighbours and their
neighbours side by side, and learns what they mean (Zhu et al., 2020, "Beyond homophily").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import softmax

from ..fields.system import FieldSystem
from ..graphs.given import GivenGraph
from .by_label import ByLabel, LabelSum
from .clusters import ridge_members
from .features import EPSILONS, Features
from .member import Array, Known, Member, log_shares
from .models import model_members
from .rows import Rows, of_length_one, row_features

Step = Callable[[Rows], Rows]

_NEAR = 3  # steps: as many as graph networks have layers, and one more
_STRENGTH = 10.0  # C of the logistic regression: between the two of the ridge
_COLUMNS = 1024  # of rows: with more columns and more labels, they are mixed
_ENTRIES = 2**26  # of averages: with more columns than fit, they are mixed


def average_members(
    known: Known,
    unit: Callable[[int], Rows],
    labeled: NDArray[np.int64],
    graphs: Sequence[GivenGraph],
    systems: Sequence[FieldSystem],
    near: Step | None,
) -> Iterator[Member]:
    """Yield the members on rows that are averaged along each graph, and along all of them.

    Parameters
    ----------
    known : Known
        The labelled rows.
    unit : callable
        Returns `unit_rows` of all rows for the most columns that are wanted.
    labeled : ndarray of int
        Which of them are labelled.
    graphs : list of GivenGraph
        The given graphs.
    systems : list of FieldSystem
        The same, for products with many columns.
    near : callable or None
        A step to a row's nearest rows; None where rows have no such graph.
    """
    rows = unit(_COLUMNS)
    names = [graph.name for graph in graphs]
    for walk in walks_along(names, systems, near):
        yield from ridge_members(_near_averages(walk, rows, labeled), known)
    for name, system in zip(names, systems, strict=True):
        far = _far_averages(name, system, rows, labeled)
        yield from ridge_members(islice(far, 1), known)
        if known.classes is not None:
            yield _line(next(far), known)
    rows = unit(_COLUMNS // 3)
    yield from ridge_members((_beside(graph, rows, labeled) for graph in graphs), known)


class Walk(NamedTuple):
    """A step to the neighbours, along one graph or several."""

    name: str
    step: Step


def walks_along(
    names: Sequence[str], systems: Sequence[FieldSystem], near: Step | None
) -> list[Walk]:
    """Return the walks along each graph, and along all of them with the rows' nearest ones."""
    found = [Walk(name, system.moved) for name, system in zip(names, systems, strict=True)]
    steps = [each.step for each in found] + ([] if near is None else [near])
    if len(steps) > 1:
        found.append(Walk("all", partial(_mean_of, steps)))
    return found


def _mean_of(steps: Sequence[Step], rows: Rows) -> Rows:
    found = np.zeros_like(rows)
    for step in steps:
        found += step(rows)
    return found / np.float32(len(steps))


def unit_rows(X: Any, n_labels: int, most: int) -> Rows:
    """Return rows of length one: what is averaged.

    Columns of dense rows are brought to one scale first. Those of sparse rows count as they are.
    Where columns and labels are both more than `most`, or all averages would be large, random
    mixtures of the columns take their place.

    Examples
    --------
    >>> unit_rows(np.array([[0.0, 1.0], [1.0, 0.0]]), 2, most=9).round(2)
    array([[-0.71,  0.71],
           [ 0.71, -0.71]], dtype=float32)
    """
    if not issparse(X):
        X = even(X, X.mean(axis=0), X.std(axis=0))
    return mixed(X, mixer(X.shape, n_labels, most))


def even(X: NDArray[Any], mean: NDArray[Any], spread: NDArray[Any]) -> NDArray[Any]:
    """Return columns of one scale."""
    return np.asarray((X - mean) / np.where(spread > 0, spread, 1.0))


def mixer(shape: tuple[int, int], n_labels: int, most: int) -> Rows | None:
    """Return random weights of the columns of so many rows; None where they are not mixed."""
    n, d = shape
    if min(d, n_labels) <= most and n * d <= _ENTRIES:
        return None
    width = max(1, min(d, most, _ENTRIES // n))
    return np.random.default_rng(0).normal(size=(d, width)).astype(np.float32)


def mixed(X: Any, weights: Rows | None) -> Rows:
    """Return rows of length one after their columns are mixed, if there are weights."""
    if weights is not None:
        return of_length_one(np.asarray(X.astype(np.float32) @ weights))
    return of_length_one((X.toarray() if issparse(X) else X).astype(np.float32))


def _near_averages(walk: Walk, rows: Rows, labeled: NDArray[np.int64]) -> Iterator[Features]:
    """Yield rows that are averaged one step far, two steps, and so on."""
    for step in range(1, _NEAR + 1):
        rows = walk.step(rows)
        name = f"averages, {walk.name}, {step} step{'s' if step > 1 else ''}"
        yield row_features(name, of_length_one(rows), labeled)


def _far_averages(
    name: str, system: FieldSystem, rows: Rows, labeled: NDArray[np.int64]
) -> Iterator[Features]:
    """Yield averages that fade along the edges: for a ridge, and for a linear model."""
    far = system.applied(rows.copy(), EPSILONS[0])
    yield row_features(f"averages, {name}, far", of_length_one(far), labeled)
    yield row_features(f"averages, {name}, far, linear", _even_columns(far), labeled)


def _beside(graph: GivenGraph, rows: Rows, labeled: NDArray[np.int64]) -> Features:
    """Return rows, their neighbours and the neighbours of these, side by side."""
    first = np.asarray(graph.means @ rows)
    second = np.asarray(graph.means @ first)
    every = np.hstack([rows, of_length_one(first), of_length_one(second)])
    return row_features(f"neighbours beside, {graph.name}", every, labeled)


def _even_columns(rows: Rows) -> Rows:
    """Return rows of length one, whose columns were brought to the same largest value.

    A rare word then counts as much as a frequent one.
    """
    most = np.abs(rows).max(axis=0)
    return of_length_one(np.asarray(rows / np.where(most > 0, most, 1.0), np.float32))


def _line(features: Features, known: Known) -> Member:
    """Return a logistic regression on features."""
    from sklearn.linear_model import LogisticRegression  # slow to import

    model = {features.name: LogisticRegression(C=_STRENGTH, max_iter=300)}
    own = replace(known, rows=features.phi)
    (member,) = model_members(model, own, None, np.empty(0, np.int64))
    assert member.model is not None
    values = partial(_shares, features, member.model.model)
    by_label = member.by_label and partial(_by_label, member.by_label, features)
    return replace(member, model=None, values=values, labels_only=False, by_label=by_label)


def _by_label(of_rows: ByLabel, features: Features, nodes: NDArray[np.int64]) -> LabelSum:
    return of_rows(features.values(np.eye(features.phi.shape[1]))[nodes])


def _shares(features: Features, line: Any) -> Array:
    """Return the logarithms of the classes' shares at all rows."""
    scores = features.values(line.coef_.T) + line.intercept_
    if scores.shape[1] == 1:
        scores = np.hstack([-scores / 2, scores / 2])
    return log_shares(softmax(scores, axis=1))

"""What is done with a partition. All functions are pure, so that any worker can do them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._util.parameters import refuse_masked
from .._util.warnings import heard
from ..estimators.labels import plain_labels
from ..graphs import AnchorNodes, NodeGraph
from ..graphs.anchors import RowsByAnchor, add_by_anchor, moved, rows_by_anchor
from ..judge.held_out import take_rows
from ..neighbours.index import NeighbourIndex
from ..semi.block_labels import QUANTITIES, hold_shares, stack_labels, targets_of
from ..semi.block_rows import Known, Labelled, as_numbers, labelled_rows, stacked
from ..semi.views import View, Views
from .told import Told


class Summary(NamedTuple):
    """How much is labelled in a partition, and with what."""

    n_rows: int
    n_bytes: int
    values: Any
    """Distinct classes; or the labels of one row, if they have several columns."""
    marker: NDArray[Any]
    """The value that marks unlabelled rows, if it was seen."""
    shares: bool
    """Whether labels are shares of classes for sure."""


def count_rows(part: Any) -> int:
    """Return the number of rows of a partition."""
    return int(part.shape[0])


def cut_together(parts: Sequence[Any], spans: Sequence[tuple[int, int]]) -> Any:
    """Return spans of several partitions as one."""
    return stack_labels(
        [
            part.iloc[low:high] if hasattr(part, "iloc") else part[low:high]
            for part, (low, high) in zip(parts, spans, strict=True)
        ]
    )


def summary_of(known: Known, targets: str) -> Summary:
    """Return how much is labelled in a partition, and with what."""
    n, n_bytes = known.rows.shape[0], _bytes_of(known.rows)
    labels: Any = known.labels
    if not isinstance(labels, np.ndarray):
        labels = labels.take(np.arange(min(1, n)))
    elif targets == QUANTITIES:
        labels = labels[:0]
    else:
        labels = np.unique(plain_labels(labels))
    shares = targets == "auto" and hold_shares(known.labels)
    return Summary(n, n_bytes, labels, known.marker, shares)


def _bytes_of(rows: Any) -> int:
    if isinstance(rows, Views):
        return sum(map(_bytes_of, rows.values()))
    if hasattr(rows, "memory_usage"):
        return int(rows.memory_usage(index=False, deep=True).sum())
    return 12 * int(rows.nnz) if sp.issparse(rows) else int(rows.nbytes)


def without_empty(known: Known) -> Known:
    """Return the labelled rows of a partition that have a share of a class."""
    return known.without_empty()


def some_labelled(known: Known, kept: NDArray[np.int64]) -> Known:
    """Return some of the labelled rows of a partition."""
    return known.take(kept)


def first_anchors(every: Sequence[Known], view: str | None) -> NeighbourIndex:
    """Return the rows that anchors start from, of all partitions, in one of their views.

    They come as an index, which a worker prepares once for all its partitions.
    """
    drawn = stacked([each.drawn for each in every])
    return NeighbourIndex(drawn if view is None else drawn[view])


def sum_by_anchor(part: Any, anchors: NeighbourIndex, number: int, dtype: Any) -> RowsByAnchor:
    """Return the sums of a partition's rows by their nearest anchor."""
    return rows_by_anchor(anchors, as_numbers(part, dtype, f"Partition {number}"))


def add_sums(parts: Sequence[RowsByAnchor]) -> RowsByAnchor:
    """Return sums of sums."""
    return reduce(add_by_anchor, parts)


def move_anchors(anchors: NeighbourIndex, sums: RowsByAnchor) -> NeighbourIndex:
    """Return the anchors at the means of their rows."""
    return NeighbourIndex(moved(anchors.rows, sums))


def nodes_at(anchors: NeighbourIndex) -> AnchorNodes:
    """Return nodes at the anchors."""
    return AnchorNodes.at(anchors.rows)


def join_anchors(part: Any, nodes: AnchorNodes, number: int, dtype: Any) -> Any:
    """Return how often a partition's rows reach two anchors."""
    return nodes.joins(as_numbers(part, dtype, f"Partition {number}"))


def add_tables(parts: Sequence[Any]) -> Any:
    """Return the sum of arrays or sparse matrices."""
    return reduce(lambda one, other: one + other, parts)


class Moments(NamedTuple):
    """What a score needs of each column of labels: sums of weights, and of squares around a mean.

    Classes, and all labels of a row together, are one column.
    """

    n_rows: NDArray[np.float64]
    """Rows that count."""
    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]
    lost: NDArray[np.float64]
    """Weights of wrong labels, or weighted squared errors."""


def score_part(
    part: Any, labels: Any, weights: Any, model: Any, unlabeled: Any, told: Told
) -> Moments:
    """Return what the score needs of a partition."""
    target = told.target(labels, unlabeled)
    place, truth = target.labeled, target.y
    if told.kind == "labels":  # rows count of which all labels are known
        whole = ~np.isnan(truth).any(axis=1)
        place, truth = place[whole], truth[whole]
    refuse_masked("sample_weight", weights)
    w = np.ones(len(place)) if weights is None else np.asarray(weights, dtype=float)[place]
    if target.shares is not None:
        w = w * target.shares
    if not w.sum():
        return Moments(*np.zeros((5, truth.shape[1] if told.kind == "quantities" else 1)))
    said = model.predict(part.iloc[place] if hasattr(part, "iloc") else part[place])
    if told.kind == "quantities":
        return _moments_of(said.reshape(truth.shape), truth, w)
    wrong = said != truth
    lost = w @ (wrong.any(axis=1) if wrong.ndim == 2 else wrong)
    return Moments(*np.array([[(w > 0).sum()], [w.sum()], [0.0], [0.0], [lost]]))


def _moments_of(
    said: NDArray[np.float64], truth: NDArray[np.float64], weights: NDArray[np.float64]
) -> Moments:
    """Return the moments of quantities, NaN where they are not known."""
    found = np.zeros((5, truth.shape[1]))
    for column, (own, true) in enumerate(zip(said.T, truth.T, strict=True)):
        counts = ~np.isnan(true) & (weights > 0)
        if counts.any():
            own, true, w = own[counts], true[counts], weights[counts]
            mean = _mean(true, w)
            sums = w @ (true - mean) ** 2, w @ (true - own) ** 2
            found[:, column] = len(w), w.sum(), mean, *sums
    return Moments(*found)


def add_moments(parts: Sequence[Moments]) -> Moments:
    """Return the moments of all rows."""
    every = np.array(parts)  # of shape (n_parts, 5, n_columns)
    total = every.sum(axis=0)
    for column, own in enumerate(every.transpose(2, 0, 1)):
        _, weights, means, *_ = own[own[:, 1] > 0].T
        if len(weights):
            mean = _mean(means, weights)
            total[2, column] = mean
            total[3, column] += weights @ (means - mean) ** 2
    return Moments(*total)


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the mean; that of equal values is exactly their value."""
    return float(values[0] + np.average(values - values[0], weights=weights))


class Fitted(NamedTuple):
    """A fitted model, and the warnings of its fit."""

    model: Any
    warnings: list[tuple[type[Warning], str]]


def fitted_with(fit: Callable[..., Any], *args: Any) -> Fitted:
    """Return the model that `fit` returns, with the warnings of this thread meanwhile."""
    with heard() as found:
        model = fit(*args)
    return Fitted(model, found)


def fit_model(
    model: Any,
    seed: int,
    nodes: AnchorNodes,
    joins: Any,
    every: Sequence[Known],
    lengths: Sequence[int],
    dtype: Any,
) -> Fitted:
    """Fit a local model to the labelled rows of all partitions, over the graph of the anchors.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        Unfitted.
    seed : int
        What decided the anchors; it decides the folds, too.
    nodes : AnchorNodes
        The anchors.
    joins : sparse matrix
        Z'Z of all rows.
    every : list of Known
        The labelled rows of every partition.
    lengths : list of int
        How many rows each partition has.
    dtype : dtype
        How rows are seen.
    """
    rows, labels, weights, numbers, _ = together(model, every, lengths)
    graph = graph_of_labelled(nodes, joins, rows, dtype)
    return fitted_with(model.fit_nodes, graph, rows, labels, weights, seed, numbers)


def together(model: Any, every: Sequence[Known], lengths: Sequence[int]) -> Labelled:
    """Return the labelled rows of all partitions, for a model."""
    return labelled_rows(every, lengths, targets_of(model))


def fit_views(
    model: Any,
    seed: int,
    views: dict[str, View],
    anchors: dict[str, tuple[AnchorNodes, Any]],
    every: Sequence[Known],
    lengths: Sequence[int],
    dtypes: dict[str, Any],
) -> Fitted:
    """Fit a local model as `fit_model` does, to rows in several views.

    Parameters
    ----------
    model, seed, every, lengths
        As in `fit_model`.
    views : dict of View
        How each view is made.
    anchors : dict
        The anchors of every view, and Z'Z of all rows.
    dtypes : dict
        How rows are seen in every view.
    """
    rows, labels, weights, numbers, _ = together(model, every, lengths)
    graphs = {
        name: graph_of_labelled(*own, rows[name], dtypes[name]) for name, own in anchors.items()
    }
    return fitted_with(model.fit_nodes, graphs, rows, labels, weights, seed, numbers, views)


def first_rows(part: Any, n: int) -> Any:
    """Return the first rows of a partition."""
    return take_rows(part, np.arange(min(n, part.shape[0])))


def see_rows(part: Any, view: View) -> Any:
    """Return the rows of a partition in one view."""
    return view.of(part)


def beside(names: Sequence[str], rows: Sequence[Any]) -> Views:
    """Return the rows of a partition in several views."""
    return Views(zip(names, rows, strict=True))


def graph_of_labelled(nodes: AnchorNodes, joins: Any, rows: Any, dtype: Any) -> NodeGraph:
    """Return the graph of the anchors, joined to the labelled rows."""
    return nodes.graph_of(joins, nodes.weights(as_numbers(rows, dtype, "The labelled part")))

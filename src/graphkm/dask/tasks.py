"""What is done with a partition. All functions are pure, so that any worker can do them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._util.parameters import refuse_masked, unmasked
from .._util.warnings import heard
from ..estimators.labels import plain_labels
from ..graphs import AnchorNodes, NodeGraph
from ..graphs.anchors import RowsByAnchor, add_by_anchor, moved, rows_by_anchor
from ..neighbours.index import NeighbourIndex
from ..semi.block_rows import Known, as_numbers, joined, split_labels, stacked


class Summary(NamedTuple):
    """How much is labelled in a partition, and with what."""

    n_rows: int
    n_bytes: int
    values: NDArray[Any]
    """Distinct labels; none of a regression."""
    marker: NDArray[Any]
    """The value that marks unlabelled rows, if it was seen."""


def count_rows(part: Any) -> int:
    """Return the number of rows of a partition."""
    return int(part.shape[0])


def cut_together(parts: Sequence[Any], spans: Sequence[tuple[int, int]]) -> NDArray[Any]:
    """Return spans of several partitions as one."""
    pieces = [
        np.asarray(unmasked(p))[low:high] for p, (low, high) in zip(parts, spans, strict=True)
    ]
    return np.concatenate(pieces)


def summary_of(known: Known, classes: bool) -> Summary:
    """Return how much is labelled in a partition, and with what."""
    n, d = known.rows.shape
    if hasattr(known.rows, "memory_usage"):
        n_bytes = int(known.rows.memory_usage(index=False, deep=True).sum())
    elif sp.issparse(known.rows):
        n_bytes = 12 * int(known.rows.nnz)
    else:
        n_bytes = n * d * known.rows.itemsize
    values = np.unique(plain_labels(known.labels)) if classes else np.empty(0)
    return Summary(n, n_bytes, values, known.marker)


def first_anchors(every: Sequence[Known]) -> NeighbourIndex:
    """Return the rows that anchors start from, of all partitions.

    They come as an index, which a worker prepares once for all its partitions.
    """
    return NeighbourIndex(stacked([each.drawn for each in every]))


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
    """What a score needs of labelled rows: sums of weights, and of squares around a mean."""

    n_rows: int
    weight: float
    mean: float
    squares: float
    lost: float
    """Weights of wrong labels, or weighted squared errors."""


def score_part(
    part: Any, labels: Any, weights: Any, model: Any, unlabeled: Any, classes: bool
) -> Moments:
    """Return what the score needs of a partition."""
    mask, known = split_labels(labels, unlabeled, classes)
    place = np.flatnonzero(mask)
    refuse_masked("sample_weight", weights)
    w = np.ones(len(place)) if weights is None else np.asarray(weights, dtype=float)[place]
    n, weight = len(place), float(w.sum())
    if not weight:
        return Moments(n, 0.0, 0.0, 0.0, 0.0)
    said = model.predict(part.iloc[place] if hasattr(part, "iloc") else part[place])
    if classes:
        return Moments(n, weight, 0.0, 0.0, float(w @ (said != known)))
    mean = _mean(known, w)
    squares, lost = float(w @ (known - mean) ** 2), float(w @ (known - said) ** 2)
    return Moments(n, weight, mean, squares, lost)


def add_moments(parts: Sequence[Moments]) -> Moments:
    """Return the moments of all rows."""
    n = sum(part.n_rows for part in parts)
    parts = [part for part in parts if part.weight]
    if not parts:
        return Moments(n, 0.0, 0.0, 0.0, 0.0)
    weights, means = (np.array(each) for each in list(zip(*parts, strict=True))[1:3])
    mean = _mean(means, weights)
    squares = sum(part.squares for part in parts) + float(weights @ (means - mean) ** 2)
    return Moments(n, float(weights.sum()), mean, squares, sum(part.lost for part in parts))


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
    model: Any, seed: int, nodes: AnchorNodes, joins: Any, every: Sequence[Known], dtype: Any
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
    dtype : dtype
        How rows are seen.
    """
    rows, labels, weights = together(every)
    graph = graph_of_labelled(nodes, joins, rows, dtype)
    return fitted_with(model.fit_nodes, graph, rows, labels, weights, seed)


def together(every: Sequence[Known]) -> tuple[Any, NDArray[Any], NDArray[np.float64] | None]:
    """Return the labelled rows of all partitions, their labels and their weights."""
    weights = [each.weights for each in every if each.weights is not None]
    rows = stacked([each.rows for each in every])
    labels = joined([each.labels for each in every])
    return rows, labels, np.concatenate(weights) if weights else None


def graph_of_labelled(nodes: AnchorNodes, joins: Any, rows: Any, dtype: Any) -> NodeGraph:
    """Return the graph of the anchors, joined to the labelled rows."""
    return nodes.graph_of(joins, nodes.weights(as_numbers(rows, dtype, "The labelled part")))

"""What is done with a partition. All functions are pure, so that any worker can do them again."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..graphs import AnchorNodes, NeighbourIndex
from ..graphs.anchors import RowsByAnchor, add_by_anchor, moved, rows_by_anchor
from ..machines.labels import as_label_array, labeled_mask, missing_mask, plain_labels
from ..machines.targets import known_targets


class Known(NamedTuple):
    """What is labelled in a partition, and the rows that anchors start from."""

    rows: Any
    """The labelled rows as they are given: an array, a sparse matrix or a frame."""
    labels: NDArray[Any]
    weights: NDArray[np.float64] | None
    marker: NDArray[Any]
    """The value that marks unlabelled rows, if it was seen."""
    drawn: Any
    """Rows that anchors start from, as numbers."""


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
    pieces = [np.asarray(p)[low:high] for p, (low, high) in zip(parts, spans, strict=True)]
    return np.concatenate(pieces)


def as_numbers(part: Any, dtype: Any, number: int) -> Any:
    """Return a partition's rows as numbers, checked; the message names the partition."""
    if sp.issparse(part):
        rows = sp.csr_array(part, dtype=dtype)
        rows.sum_duplicates()
        values = rows.data
    else:
        if hasattr(part, "iloc"):
            part = part.to_numpy(dtype=dtype, na_value=np.nan)
        rows = values = np.ascontiguousarray(part, dtype=dtype)
    if rows.ndim != 2:
        raise ValueError(f"Partition {number} of X has {rows.ndim} dimensions; rows have 2.")
    if not np.isfinite(values).all():
        missing, what = int(np.isnan(values).sum()), "infinite"
        if missing:
            what = f"NaN in {missing:,} places"
        raise ValueError(
            f"Partition {number} of X is {what}. The graph measures distances between all rows; "
            "impute missing values first, for example with fillna or dask.array.nan_to_num."
        )
    return rows


def find_known(
    part: Any,
    labels: Any,
    weights: Any,
    drawn: NDArray[np.int64],
    number: int,
    dtype: Any,
    unlabeled: Any,
    classes: bool,
) -> Known:
    """Return the labelled rows of a partition, and the rows that anchors start from."""
    rows = as_numbers(part, dtype, number)
    values = as_label_array(labels)
    if len(values) != rows.shape[0]:
        raise ValueError(
            f"Partition {number} of X has {rows.shape[0]:,} rows and that of y {len(values):,}. "
            "The partitions changed while they were read; persist X and y, or make them anew."
        )
    mask, known = split_labels(values, unlabeled, classes)
    marker = values[~mask & ~missing_mask(values)][:1]
    own = None
    if weights is not None:
        own = np.asarray(weights, dtype=np.float64)
        if not (np.isfinite(own).all() and (own >= 0).all()):
            raise ValueError(
                f"Partition {number} of sample_weight holds negative or missing values; weights "
                "are 0 or more."
            )
        known, mask = known[own[mask] > 0], mask & (own > 0)
        own = own[mask]
    given = part if hasattr(part, "iloc") else rows
    place = np.flatnonzero(mask)
    found = given.iloc[place] if hasattr(given, "iloc") else given[place]
    return Known(found, known, own, marker, rows[drawn])


def split_labels(
    labels: Any, unlabeled: Any, classes: bool
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which rows have a label or a target, and these."""
    if not classes:
        return known_targets(labels, unlabeled)
    values = as_label_array(labels)
    mask = labeled_mask(values, unlabeled)
    return mask, values[mask]


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
    return rows_by_anchor(anchors, as_numbers(part, dtype, number))


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
    return nodes.joins(as_numbers(part, dtype, number))


def add_joins(parts: Sequence[Any]) -> Any:
    """Return sums of sparse matrices."""
    return reduce(lambda one, other: one + other, parts)


class Moments(NamedTuple):
    """What a score needs of labelled rows: sums of weights, and of squares around a mean."""

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
    w = np.ones(len(place)) if weights is None else np.asarray(weights, dtype=float)[place]
    if not w.sum():
        return Moments(0.0, 0.0, 0.0, 0.0)
    said = model.predict(part.iloc[place] if hasattr(part, "iloc") else part[place])
    if classes:
        return Moments(float(w.sum()), 0.0, 0.0, float(w @ (said != known)))
    mean = float(np.average(known, weights=w))
    return Moments(
        float(w.sum()), mean, float(w @ (known - mean) ** 2), float(w @ (known - said) ** 2)
    )


def add_moments(parts: Sequence[Moments]) -> Moments:
    """Return the moments of all rows."""
    weights = np.array([part.weight for part in parts])
    if not weights.sum():
        return parts[0]
    means = np.array([part.mean for part in parts])
    mean = float(np.average(means, weights=weights))
    squares = sum(part.squares for part in parts) + float(weights @ (means - mean) ** 2)
    return Moments(float(weights.sum()), mean, squares, sum(part.lost for part in parts))


class Fitted(NamedTuple):
    """A fitted model, and the warnings of its fit."""

    model: Any
    warnings: list[tuple[type[Warning], str]]


def fit_model(
    model: Any,
    nodes: AnchorNodes,
    joins: Any,
    every: Sequence[Known],
    dtype: Any,
) -> Fitted:
    """Fit a local model to the labelled rows of all partitions, over the graph of the anchors.

    Parameters
    ----------
    model : GraphCorrectedClassifier or GraphCorrectedRegressor
        Unfitted.
    nodes : AnchorNodes
        The anchors.
    joins : csr_array
        Z'Z of all rows.
    every : list of Known
        The labelled rows of every partition.
    dtype : dtype
        How rows are seen.
    """
    labels = joined([each.labels for each in every])
    weights = None
    if every[0].weights is not None:
        weights = np.concatenate([each.weights for each in every])  # type: ignore[misc]
    rows = stacked([each.rows for each in every])
    graph = nodes.graph_of(joins, nodes.weights(as_numbers(rows, dtype, 0)))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit_nodes(graph, rows, labels, weights)
    return Fitted(model, [(each.category, str(each.message)) for each in heard])


def joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return labels of several partitions; one without any says nothing about their type."""
    return np.concatenate([part for part in parts if len(part)] or list(parts[:1]))


def stacked(parts: Sequence[Any]) -> Any:
    """Return rows of several partitions as one: arrays, sparse matrices or frames."""
    used = [part for part in parts if part.shape[0]] or list(parts[:1])
    if sp.issparse(used[0]):
        return sp.vstack(used, format="csr")
    if hasattr(used[0], "iloc"):
        import pandas as pd

        return pd.concat(used)
    return np.concatenate(used)

"""What a fit over blocks of rows does with one block, on this machine or on another.

A block is an array, a CSR matrix or a frame. All functions are pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._util.parameters import refuse_masked
from ..estimators.data_checks import check_range, check_weight_range
from ..estimators.labels import as_label_array, missing_mask
from ..judge.held_out import take_rows
from .block_labels import (
    Labels,
    are_columns,
    hold_shares,
    joined,
    order_of,
    split_labels,
    with_order,
    with_shares,
)
from .views import Views


class Known(NamedTuple):
    """The labelled rows of a block, and the rows that anchors start from."""

    rows: Any
    """The labelled rows as they are given: an array, a sparse matrix or a frame."""
    labels: Labels
    weights: NDArray[np.float64] | None
    marker: NDArray[Any]
    """The value that marks unlabelled rows, if it was seen."""
    places: NDArray[np.int64]
    """Which rows of the block are labelled."""
    drawn: Any
    """Rows that anchors start from, as numbers."""
    order: list[Any] | None = None
    """The classes in their order, if the labels are an ordered categorical."""

    def without_empty(self) -> Known:
        """Return the rows that have a share of a class."""
        kept = with_shares(self.labels)
        if len(kept) == self.labels.shape[0]:
            return self
        return self.take(kept)

    def take(self, kept: NDArray[np.int64]) -> Known:
        """Return some of the labelled rows."""
        weights = None if self.weights is None else self.weights[kept]
        rows, labels = take_rows(self.rows, kept), self.labels.take(kept)
        return self._replace(rows=rows, labels=labels, weights=weights, places=self.places[kept])


class Labelled(NamedTuple):
    """The labelled rows of all blocks."""

    rows: Any
    labels: Any
    """An array, an ordered categorical, or a table."""
    weights: NDArray[np.float64] | None
    numbers: NDArray[np.int64]
    """Their numbers among all rows."""
    marker: NDArray[Any]
    """The value that marks unlabelled rows, if it was seen."""


def as_numbers(part: Any, dtype: Any, name: str) -> Any:
    """Check a block's rows, and return them as numbers; messages call the block `name`.

    Of rows in several views, `dtype` has the type of each.
    """
    if isinstance(part, Views):
        return Views({view: as_numbers(each, dtype[view], name) for view, each in part.items()})
    refuse_masked(f"{name} of X", part)
    if sp.issparse(part):
        rows = sp.csr_array(part, dtype=dtype)
        rows.sum_duplicates()
        values = rows.data
    else:
        if hasattr(part, "iloc"):
            part = part.to_numpy(dtype=dtype, na_value=np.nan)
        rows = values = np.ascontiguousarray(part, dtype=dtype)
    if rows.ndim != 2:
        raise ValueError(f"{name} of X has {rows.ndim} dimensions; pass an array of 2.")
    if not np.isfinite(values).all():
        missing, what = int(np.isnan(values).sum()), "infinite"
        if missing:
            what = f"NaN in {missing:,} places"
        raise ValueError(
            f"{name} of X is {what}. The graph measures distances between all rows; "
            "impute missing values first, for example with fillna or nan_to_num."
        )
    return rows


def find_known(
    part: Any,
    labels: Any,
    weights: Any,
    drawn: NDArray[np.int64],
    name: str,
    dtype: Any,
    unlabeled: Any,
    targets: str,
) -> Known:
    """Return the labelled rows of a block, and the rows that anchors start from."""
    rows = as_numbers(part, dtype, name)
    for each in rows.values() if isinstance(rows, Views) else [rows]:
        if rows.shape[0]:
            check_range(each, np.dtype(np.float64))
    n_labels = labels.shape[0] if hasattr(labels, "shape") else len(labels)
    if n_labels != rows.shape[0]:
        raise ValueError(
            f"{name} of X has {rows.shape[0]:,} rows, but {n_labels:,} labels; pass one label "
            "for every row, and do not change X or y while they are read."
        )
    mask, known = split_labels(labels, unlabeled, targets, f" in {name}")
    marker = np.empty(0)
    if not are_columns(labels):
        values = as_label_array(labels)
        # By numbers: a slice of all unlabelled values would keep them all in memory.
        marker = values[np.flatnonzero(~mask & ~missing_mask(values))[:1]]
    own = None
    if weights is not None:
        refuse_masked(f"{name} of sample_weight", weights)
        own = np.asarray(weights, dtype=np.float64)
        if not (np.isfinite(own).all() and (own >= 0).all()):
            raise ValueError(
                f"{name} of sample_weight holds negative or missing values; weights are 0 or more."
            )
        check_weight_range(own)
    counts = np.ones(len(mask), dtype=bool) if own is None else own > 0
    known, mask = known.take(np.flatnonzero(counts[mask])), mask & counts
    own = None if own is None else own[mask]
    given = part if hasattr(part, "iloc") else rows
    place = np.flatnonzero(mask)
    found = take_rows(given, place)
    return Known(found, known, own, marker, place, take_rows(rows, drawn), order_of(labels))


def labelled_rows(every: Sequence[Known], lengths: Sequence[int], targets: str) -> Labelled:
    """Return the labelled rows of all blocks.

    Parameters
    ----------
    every : list of Known
        Those of each block.
    lengths : list of int
        How many rows each block has.
    targets : str
        The parameter of a classifier, or `QUANTITIES`. A row of zeros is a label, unless other
        blocks show that y holds shares.
    """
    if targets == "auto" and any(hold_shares(each.labels) for each in every):
        every = [each.without_empty() for each in every]
    weights = [each.weights for each in every if each.weights is not None]
    if len(weights) not in (0, len(every)):
        raise ValueError("Some blocks have weights, others have none; pass weights in all.")
    starts = (np.cumsum(lengths) - lengths).tolist()
    labels = joined([each.labels for each in every])
    return Labelled(
        stacked([each.rows for each in every]),
        with_order(labels, [each.order for each in every]),
        np.concatenate(weights) if weights else None,
        np.concatenate([start + each.places for start, each in zip(starts, every, strict=True)]),
        joined([each.marker for each in every]),
    )


def stacked(parts: Sequence[Any]) -> Any:
    """Return rows of several blocks as one: arrays, sparse matrices or frames."""
    used = [part for part in parts if part.shape[0]] or list(parts[:1])
    if isinstance(used[0], Views):
        return Views({name: stacked([part[name] for part in used]) for name in used[0]})
    if sp.issparse(used[0]):
        return sp.vstack(used, format="csr")
    if hasattr(used[0], "iloc"):
        import pandas as pd

        return pd.concat(used)
    return np.concatenate(used)

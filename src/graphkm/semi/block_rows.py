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
from ..estimators.labels import as_label_array, labeled_mask, missing_mask
from ..estimators.targets import known_targets


class Known(NamedTuple):
    """The labelled rows of a block, and the rows that anchors start from."""

    rows: Any
    """The labelled rows as they are given: an array, a sparse matrix or a frame."""
    labels: NDArray[Any]
    weights: NDArray[np.float64] | None
    marker: NDArray[Any]
    """The value that marks unlabelled rows, if it was seen."""
    places: NDArray[np.int64]
    """Which rows of the block are labelled."""
    drawn: Any
    """Rows that anchors start from, as numbers."""


def as_numbers(part: Any, dtype: Any, name: str) -> Any:
    """Check a block's rows, and return them as numbers; messages call the block `name`."""
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
    classes: bool,
) -> Known:
    """Return the labelled rows of a block, and the rows that anchors start from."""
    rows = as_numbers(part, dtype, name)
    if rows.shape[0]:
        check_range(rows, np.dtype(np.float64))
    values = as_label_array(labels)
    if len(values) != rows.shape[0]:
        raise ValueError(
            f"{name} of X has {rows.shape[0]:,} rows, but {len(values):,} labels; pass one label "
            "for every row, and do not change X or y while they are read."
        )
    mask, known = split_labels(values, unlabeled, classes)
    marker = values[~mask & ~missing_mask(values)][:1]
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
    known, mask = known[counts[mask]], mask & counts
    own = None if own is None else own[mask]
    given = part if hasattr(part, "iloc") else rows
    place = np.flatnonzero(mask)
    found = given.iloc[place] if hasattr(given, "iloc") else given[place]
    return Known(found, known, own, marker, place, rows[drawn])


def split_labels(
    labels: Any, unlabeled: Any, classes: bool
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which rows have a label or a target, and these labels or targets."""
    if not classes:
        return known_targets(labels, unlabeled)
    values = as_label_array(labels)
    mask = labeled_mask(values, unlabeled)
    return mask, values[mask]


def joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the labels of several blocks; blocks without labels do not decide their type."""
    return np.concatenate([part for part in parts if len(part)] or list(parts[:1]))


def stacked(parts: Sequence[Any]) -> Any:
    """Return rows of several blocks as one: arrays, sparse matrices or frames."""
    used = [part for part in parts if part.shape[0]] or list(parts[:1])
    if sp.issparse(used[0]):
        return sp.vstack(used, format="csr")
    if hasattr(used[0], "iloc"):
        import pandas as pd

        return pd.concat(used)
    return np.concatenate(used)

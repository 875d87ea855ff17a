"""Rows and labels as they are given to an estimator, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import validate_data

from .._util.parameters import refuse_masked
from .data_checks import canonical_csr


def rows_as_numbers(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return X as numbers: what a graph sees. The estimator keeps the names of its columns."""
    refuse_masked("X", X)
    try:
        rows = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            order="C",  # frames store columns, and sums over columns would round differently
            ensure_all_finite="allow-nan",
        )
    except ValueError as error:
        texts = _texts_among(X)
        if not texts:
            raise
        raise ValueError(
            f"{len(texts)} columns of X hold no numbers ({', '.join(texts[:5])}"
            f"{', ...' * (len(texts) > 5)}), and the graph measures distances between rows. "
            "Turn them into numbers before this model, and not inside its estimator: "
            f"make_pipeline(preparation, {type(estimator).__name__}(...))."
        ) from error
    values = rows.data if issparse(rows) else rows
    missing = np.isnan(values)
    if missing.any():
        holes = f"{int(missing.sum()):,} values of X are NaN"
        if not issparse(rows):
            columns = np.flatnonzero(missing.any(axis=0))
            names = getattr(estimator, "feature_names_in_", np.arange(rows.shape[1]))[columns]
            shown = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
            holes += f", in {len(names)} of its columns ({shown})"
        raise ValueError(
            f"Input X contains NaN: {holes}. The graph measures distances between all rows; "
            "impute missing values first, for example with sklearn.impute.SimpleImputer."
        )
    return canonical_csr(rows) if issparse(rows) else rows


def _texts_among(X: Any) -> list[str]:
    """Return the columns of a frame that hold no numbers."""
    found = []
    for name in getattr(X, "columns", ()):
        try:
            np.asarray(X[name]).astype(np.float64)
        except (TypeError, ValueError):
            found.append(str(name))
    return found


def require_labels(labeled: NDArray[np.int64], n: int, unlabeled: Any) -> None:
    """Raise if no row is labelled."""
    if len(labeled) == 0:
        raise ValueError(
            f"None of the {n:,} rows is labelled: y holds only missing values or the marker "
            f"unlabeled={unlabeled!r}, or sample_weight is 0 (or class_weight) for every other "
            "label. Label some rows of every class, or name the right marker."
        )


def weights_to_score(X: Any, labeled: NDArray[np.bool_], sample_weight: Any) -> NDArray[Any] | None:
    """Return the weights of the labelled rows in a score; None gives all the same weight."""
    refuse_masked("sample_weight", sample_weight)
    check_consistent_length(X, labeled, sample_weight)
    if not labeled.any():
        raise ValueError("None of the rows to score is labelled; pass some with a label.")
    return None if sample_weight is None else np.asarray(sample_weight)[labeled]

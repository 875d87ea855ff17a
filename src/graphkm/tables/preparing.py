"""The steps that make numbers of a table's rows: imputers, encoders, scalers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

from ..io.files import DataFileError

_SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "maxabs": MaxAbsScaler}
_LARGEST = 1e150  # the sum of a million squares of such values is finite
_MOST = 50  # the most frequent categories of a column: each has a feature, others have none
_NO_VALUE = "missing"  # the category of a missing value


def usual_scale(X: Any) -> str:
    """Return the default scaling of rows; sparse rows stay sparse.

    Examples
    --------
    >>> usual_scale(np.ones((2, 2)))
    'standard'
    """
    if not issparse(X):
        return "standard"
    return "none" if X.nnz == 0 or float(np.abs(X.data).max()) <= 1.0 else "maxabs"


def make_scaler(scale: str) -> Any:
    """Return an unfitted scaler; None for "none"."""
    return None if scale == "none" else _SCALERS[scale]()


def steps_before(scale: str, words: Sequence[int], impute: bool, X: Any) -> list[tuple[str, Any]]:
    """Return the unfitted steps that make numbers of a table's rows.

    Numbers are scaled, and missing ones are the median of their column. A category is a feature of
    zeros and ones, which needs no scaling: two rows of different categories are about as far apart
    as two usual rows are in one scaled column.

    Examples
    --------
    >>> X = np.array([[1.0, "red"], [np.nan, "blue"]], dtype=object)
    >>> [(_, columns)] = steps_before("standard", [1], True, X)
    >>> columns.fit_transform(X).tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    scaler = make_scaler(scale)
    numbers: list[tuple[str, Any]] = [] if scaler is None else [("scaler", scaler)]
    if impute:
        numbers.insert(0, ("imputer", SimpleImputer(strategy="median", keep_empty_features=True)))
    if not words:
        return numbers
    others = [k for k in range(X.shape[1]) if k not in set(words)]
    parts = [("numbers", Pipeline(numbers) if numbers else "passthrough", others)] * bool(others)
    parts.append(("categories", _encoder(X[:, list(words)], impute), list(words)))
    return [("columns", ColumnTransformer(parts, sparse_threshold=0.0))]


def _encoder(words: NDArray[Any], impute: bool) -> Any:
    """Return an encoder of the most frequent categories; all others, and new ones, are zeros."""
    known = []
    for column in words.T:
        counts = Counter(_NO_VALUE if word != word else word for word in column)
        most = sorted(counts, key=lambda word: (-counts[word], word))[:_MOST]
        known.append(np.array(sorted(most), dtype=object))
    encoder = OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False)
    if not impute:
        return encoder
    gaps = SimpleImputer(strategy="constant", fill_value=_NO_VALUE)
    return Pipeline([("imputer", gaps), ("encoder", encoder)])


def overflowing_column(X: NDArray[Any], words: Sequence[int]) -> tuple[int, float] | None:
    """Return the column with the largest number and that number, if squares of it overflow."""
    numbers = [k for k in range(X.shape[1]) if k not in set(words)]
    if not numbers:
        return None
    values = X[:, numbers].astype(np.float64, copy=False)
    largest = np.nanmax(np.abs(values), axis=0, initial=0.0)
    worst = int(np.argmax(largest))
    return (numbers[worst], float(largest[worst])) if largest[worst] > _LARGEST else None


def check_squares(X: NDArray[Any], names: Sequence[str], words: Sequence[int], advice: str) -> None:
    """Raise if squares of a column's values overflow: its standard deviation would be infinite.

    `words` are the columns of categories. `advice` follows "Fix these rows, " in the message.

    Examples
    --------
    >>> check_squares(np.array([[1.0], [1e100]]), ["x"], [], "or leave them out.")
    """
    worst = overflowing_column(X, words)
    if worst is not None:
        raise DataFileError(
            f"The column {names[worst[0]]} has values as large as {worst[1]:.3g}, whose squares "
            f"overflow, so it has no standard deviation. Fix these rows, {advice}"
        )


def name_columns(fitted: ColumnTransformer, names: Sequence[str]) -> None:
    """Tell a fitted transformer the names of the columns, so that it takes frames of pandas."""
    fitted.feature_names_in_ = np.array(names, dtype=object)
    for _, transformer, chosen in fitted.transformers_:
        first = transformer[0] if isinstance(transformer, Pipeline) else transformer
        if hasattr(first, "n_features_in_"):
            first.feature_names_in_ = fitted.feature_names_in_[chosen]

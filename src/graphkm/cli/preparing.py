"""The steps between a table and its estimator: imputers, encoders, scalers, in one pipeline."""

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

from ..io.kinds import NUMBER, WORD
from .options import Scale, UsageError

_LARGEST = 1e150  # squares of a million such values are finite
_SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "maxabs": MaxAbsScaler}
_MOST = 50  # categories of a column with a feature of their own; the others are alike
_NO_VALUE = "missing"  # the category of a missing value


def choose_scale(scale: Scale, X: Any) -> str:
    """Return the scaling of these rows; sparse rows must stay sparse.

    Examples
    --------
    >>> choose_scale(Scale.auto, np.ones((2, 2)))
    'standard'
    """
    if not issparse(X):
        return Scale.standard.value if scale is Scale.auto else scale.value
    if scale is Scale.auto:
        within = X.nnz == 0 or float(np.abs(X.data).max()) <= 1.0
        return (Scale.none if within else Scale.maxabs).value
    if scale in (Scale.standard, Scale.minmax):
        raise UsageError(
            f"--scale {scale.value} would fill the zeros of LIBSVM rows; pass --scale maxabs or "
            "none."
        )
    return scale.value


def make_scaler(scale: str) -> Any:
    """Return an unfitted scaler; None for "none"."""
    return None if scale == "none" else _SCALERS[scale]()


def steps_before(scale: str, words: Sequence[int], impute: bool, X: Any) -> list[tuple[str, Any]]:
    """Return the unfitted steps that make numbers of a table's rows.

    Numbers are scaled, missing ones filled in with the median of their column. A category is a
    feature of zeros and ones, which needs no scaling: two rows of different categories are as far
    from each other as two usual rows in a scaled number.

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


def behind(steps: Sequence[tuple[str, Any]], estimator: Any) -> Any:
    """Return a pipeline of steps and estimator; the estimator itself without steps."""
    return Pipeline([*steps, ("estimator", estimator)]) if steps else estimator


def fit_prepared(estimator: Any, scale: Scale, rows: Any) -> tuple[Any, str]:
    """Return the model fitted to rows of a table, with its steps, and the name of the scaling."""
    chosen, words = choose_scale(scale, rows.X), rows.note.words
    if chosen == "standard":
        _check_squares(rows)
    steps = steps_before(chosen, words, rows.note.missing == "impute", rows.X)
    model = behind(steps, estimator).fit(rows.X, rows.y)
    if isinstance(steps[0][1] if steps else None, ColumnTransformer) and rows.note.columns:
        _name_columns(model[0], rows.note.columns)
    return model, chosen


def _name_columns(fitted: ColumnTransformer, names: Sequence[str]) -> None:
    """Tell a fitted transformer the names of the columns, so that it takes frames of pandas."""
    fitted.feature_names_in_ = np.array(names, dtype=object)
    for _, transformer, chosen in fitted.transformers_:
        first = transformer[0] if isinstance(transformer, Pipeline) else transformer
        if hasattr(first, "n_features_in_"):
            first.feature_names_in_ = fitted.feature_names_in_[chosen]


def taking_arrays(model: Any) -> Any:
    """Return a model whose first step finds columns by position where it did by name."""
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if isinstance(first, ColumnTransformer):
        names = list(getattr(first, "feature_names_in_", ()))
        first.transformers_ = [
            (name, step, [names.index(c) if isinstance(c, str) else c for c in chosen])
            for name, step, chosen in first.transformers_
        ]
    return model


def prepared_kinds(model: Any) -> tuple[list[str], str]:
    """Return the kinds of a model's features, and what it does with missing values.

    It is for models that were saved in Python.
    """
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if isinstance(first, SimpleImputer):
        return [NUMBER] * first.n_features_in_, "impute"
    if not isinstance(first, ColumnTransformer):
        return [], "error"
    kinds, imputes = [NUMBER] * first.n_features_in_, False
    names = list(getattr(first, "feature_names_in_", ()))
    for _, transformer, chosen in first.transformers_:
        steps = [step for _, step in getattr(transformer, "steps", [("", transformer)])]
        imputes |= isinstance(steps[0], SimpleImputer)
        if any(isinstance(step, OneHotEncoder) for step in steps):
            for column in chosen:
                kinds[names.index(column) if isinstance(column, str) else column] = WORD
    return kinds, "impute" if imputes else "error"


def _check_squares(rows: Any) -> None:
    """Raise if squares of a column's values overflow: its standard deviation would be infinite."""
    numbers = [k for k in range(rows.X.shape[1]) if k not in set(rows.note.words)]
    if not numbers:
        return
    X = rows.X[:, numbers].astype(np.float64, copy=False)
    largest = np.nanmax(np.abs(X), axis=0, initial=0.0)
    worst = int(np.argmax(largest))
    if largest[worst] > _LARGEST:
        raise ValueError(
            f"The column {rows.names[numbers[worst]]} has values as large as {largest[worst]:.3g}, "
            "whose squares overflow, so that it has no standard deviation. Fix these rows, leave "
            "the column out with --drop, or pass --scale maxabs."
        )

"""The steps before a model that prepare its rows: imputers, encoders, column by column.

A file holds what `fit` found: medians, categories, and which columns go where. An
imputer, an encoder or a ColumnTransformer is restored by a fit to a few made rows that give the
same result. So scikit-learn sets its own attributes, whatever their names are in this version, and
checks them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from .._util.warnings import quiet
from .codec import Kind, State
from .state_scalers import SCALERS

_WIDEST = 2**20  # columns of a table
_CATEGORIES = (str, int, float, bool, type(None))
_KEPT = ("drop", "passthrough")  # words in the place of a transformer


def check_encoder(encoder: OneHotEncoder) -> None:
    """Raise if an encoder groups categories by their counts, which are not stored."""
    if encoder.min_frequency is not None or encoder.max_categories is not None:
        raise ValueError(
            "A OneHotEncoder with min_frequency or max_categories cannot be saved; pass the "
            "categories to keep as categories=, with handle_unknown='ignore'."
        )


def _encoder_state(encoder: OneHotEncoder) -> State:
    check_encoder(encoder)
    # Texts may have None or NaN among them, which an array in a file cannot.
    found = [each.tolist() if each.dtype.kind == "O" else each for each in encoder.categories_]
    return {"categories": found, "names": _names(encoder)}


def _restore_encoder(encoder: OneHotEncoder, state: State) -> None:
    given, found = encoder.categories, [_category_array(each) for each in state["categories"]]
    if not found or not all(len(each) for each in found):
        raise ValueError("a OneHotEncoder has a column without categories")
    check_encoder(encoder)
    encoder.categories = found
    row = np.empty((1, len(found)), dtype=np.result_type(*found))
    row[0] = [each[0] for each in found]
    encoder.fit(row)
    encoder.categories = given
    _set_names(encoder, state["names"])


def _category_array(given: Any) -> NDArray[Any]:
    """Return the categories of a column: numbers, or objects that are plain values."""
    if isinstance(given, np.ndarray) and given.ndim == 1:
        return given
    if type(given) is not list or {type(each) for each in given} - set(_CATEGORIES):
        raise ValueError("a OneHotEncoder has categories that are none")
    return np.array([*given, None], dtype=object)[:-1]  # which stays one-dimensional


def _imputer_state(imputer: SimpleImputer) -> State:
    indicator = imputer.indicator_
    return {
        "statistics": imputer.statistics_,
        "marked": [] if indicator is None else indicator.features_.tolist(),
        "names": _names(imputer),
    }


def _restore_imputer(imputer: SimpleImputer, state: State) -> None:
    """Fit an imputer to a row that consists of its statistics, and one with the gaps it marks."""
    values, marked = state["statistics"], state["marked"]
    if not (isinstance(values, np.ndarray) and values.ndim == 1 and len(values)):
        raise ValueError("a SimpleImputer has no statistics")
    if any(type(k) is not int or not 0 <= k < len(values) for k in marked):
        raise ValueError("a SimpleImputer marks columns that do not exist")
    rows = np.stack([values, values])
    if len(marked):
        rows[1, marked] = imputer.missing_values
    with quiet():  # made rows have gaps, and no names
        imputer.fit(rows)
    _set_names(imputer, state["names"])


def _transformer_state(columns: ColumnTransformer) -> State:
    check_columns(columns)
    n_given = len(columns.transformers)
    wanted = [transformer for _, transformer, _ in columns.transformers]
    fitted = [transformer for _, transformer, _ in columns.transformers_[:n_given]]
    return {
        "fitted": [
            word if isinstance(word, str) else found
            for word, found in zip(wanted, fitted, strict=True)
        ],
        "width": columns.n_features_in_,
        "names": _names(columns),
        "sparse_output": columns.sparse_output_,
    }


def check_columns(columns: ColumnTransformer) -> None:
    """Raise if a ColumnTransformer has parts that a file cannot hold."""
    if columns.remainder not in _KEPT:
        raise ValueError(
            f"remainder={columns.remainder!r} of a ColumnTransformer cannot be saved; name its "
            "columns in a transformer of their own."
        )
    for name, transformer, chosen in columns.transformers:
        if not isinstance(chosen, list) or len({type(each) for each in chosen} - {int, str}):
            raise ValueError(
                f"The columns of {name!r} in a ColumnTransformer cannot be saved: pass a list of "
                f"names or of positions, got {chosen!r}."
            )
        for step in _chain(transformer):
            if type(step) not in _FOR_COLUMNS and step not in _KEPT:
                raise ValueError(
                    f"The transformer {name!r}, a {type(step).__name__}, cannot be saved in a "
                    f"ColumnTransformer: {', '.join(cls.__name__ for cls in _FOR_COLUMNS)} can."
                )


def _restore_transformer(columns: ColumnTransformer, state: State) -> None:
    """Fit a ColumnTransformer whose transformers are fitted already, to one row."""
    width, names = state["width"], state["names"]
    if type(width) is not int or not 0 < width <= _WIDEST:
        raise ValueError(f"a table of {width!r} columns")
    given = list(columns.transformers)
    check_columns(columns)
    fitted = state["fitted"]
    places = [_positions(chosen, width, names) for _, _, chosen in given]
    row = np.full(width, np.nan, dtype=object)
    for transformer, chosen in zip(fitted, places, strict=True):
        row[chosen] = _example(transformer, len(chosen))
    columns.transformers = [
        (name, found if isinstance(found, str) else FrozenEstimator(found), chosen)
        for (name, _, _), found, chosen in zip(given, fitted, places, strict=True)
    ]
    with quiet():  # made rows have gaps, and no names
        columns.fit(row.reshape(1, -1))
    remainder = columns.transformers_[len(given) :]
    columns.transformers_ = [
        (name, done.estimator if isinstance(done, FrozenEstimator) else done, chosen)
        for (name, _, chosen), (_, done, _) in zip(given, columns.transformers_, strict=False)
    ] + remainder
    columns.transformers = given
    columns.sparse_output_ = bool(state["sparse_output"])
    _set_names(columns, names)


def _names(step: Any) -> NDArray[Any] | None:
    return getattr(step, "feature_names_in_", None)


def _set_names(step: Any, names: Any) -> None:
    """Give a restored step the names of the columns that it was fitted to."""
    if names is None:
        return
    if np.shape(names) != (step.n_features_in_,) or not all(type(name) is str for name in names):
        raise ValueError("the columns of a table do not have a name each")
    step.feature_names_in_ = names


def _positions(chosen: list[Any], width: int, names: Any) -> list[int]:
    """Return positions from 0 of columns given by name or position."""
    known = {} if names is None else {name: k for k, name in enumerate(names)}
    places = [known[each] if isinstance(each, str) else each for each in chosen]
    if any(not -width <= k < width for k in places):
        raise ValueError(f"a ColumnTransformer takes columns beyond the {width} of its table")
    return [k % width for k in places]


def _example(transformer: Any, width: int) -> NDArray[Any] | list[Any]:
    """Return values that a fitted transformer takes: categories it knows, or gaps."""
    for step in _chain(transformer):
        if isinstance(step, OneHotEncoder):
            return [each[0] for each in step.categories_]
    return np.full(width, np.nan)


def _chain(transformer: Any) -> Iterator[Any]:
    """Yield the steps of a pipeline, or the transformer itself."""
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            yield from _chain(step)
    else:
        yield transformer


def output_width(step: Any) -> int:
    """Return the number of columns that a fitted preparation makes."""
    if isinstance(step, ColumnTransformer):
        return max(part.stop for part in step.output_indices_.values())
    if isinstance(step, SimpleImputer | OneHotEncoder):
        return len(step.get_feature_names_out())
    return int(step.n_features_in_)


PREPARATIONS = (
    Kind(SimpleImputer, _imputer_state, _restore_imputer),
    Kind(OneHotEncoder, _encoder_state, _restore_encoder),
    Kind(ColumnTransformer, _transformer_state, _restore_transformer),
)
_FOR_COLUMNS = (*SCALERS, SimpleImputer, OneHotEncoder)  # inside a ColumnTransformer
FOR_VIEWS = (*_FOR_COLUMNS, ColumnTransformer)  # as the encoder of a view

"""Which rows are labelled: the markers of missing labels, and their ambiguities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

DEFAULT_MARKER = -1


def as_label_array(y: Any) -> NDArray[Any]:
    """Return y as a one-dimensional array in which None, NaN and NA are still what they were.

    Examples
    --------
    >>> as_label_array(["cat", None, "dog"])
    array(['cat', None, 'dog'], dtype=object)
    >>> as_label_array([0, 1, -1])
    array([ 0,  1, -1])
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if not isinstance(y, np.ndarray):
        # np.asarray(["a", nan]) would turn the NaN into the string "nan".
        values = y.to_list() if hasattr(y, "to_list") else y
        objects = np.asarray(values, dtype=object)
        plain = np.asarray(objects.tolist()) if not _missing(objects).any() else objects
        y = plain if plain.dtype.kind in "biuf" or plain.dtype.kind == "U" else objects
    flat = column_or_1d(y, warn=True)
    if flat.dtype.kind == "O":
        missing = _missing(flat)
        kinds = {type(value) for value in flat[~missing]}
        if kinds and all(issubclass(kind, (int, float, np.number)) for kind in kinds):
            return np.where(missing, np.nan, flat).astype(np.float64)
    return np.asarray(flat)


def labeled_mask(y: NDArray[Any], unlabeled: Any) -> NDArray[np.bool_]:
    """Return where y holds a label: not missing, and not the marker.

    Examples
    --------
    >>> labeled_mask(np.array([1.0, -1.0, np.nan]), unlabeled=-1)
    array([ True, False, False])
    >>> labeled_mask(np.array([1.0, -1.0, np.nan]), unlabeled=None)
    array([ True,  True, False])
    """
    labeled = ~_missing(y)
    if unlabeled is None or unlabeled != unlabeled:
        return labeled
    numbers = y.dtype.kind in "biuf"
    if numbers == isinstance(unlabeled, str) and y.dtype.kind != "O":
        return labeled  # numbers never equal a word, nor words a number
    return labeled & np.array([value != unlabeled for value in y.tolist()], dtype=bool)


def refuse_ambiguous(y: NDArray[Any], unlabeled: Any) -> None:
    """Raise if y holds exactly -1 and +1, so that -1 may be a class and not the marker."""
    if isinstance(unlabeled, str) or unlabeled != DEFAULT_MARKER or y.dtype.kind not in "if":
        return
    if set(np.unique(y[~_missing(y)]).tolist()) == {-1, 1}:
        raise ValueError(
            "y holds only the labels -1 and 1, and -1 marks unlabelled rows, which leaves a "
            "single class. If -1 is a class, pass unlabeled=None and mark unlabelled rows with "
            "NaN, or pass another marker, such as unlabeled=0. If -1 means unlabelled, rows of "
            "at least two other classes are needed."
        )


def _missing(y: NDArray[Any]) -> NDArray[np.bool_]:
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind != "O":
        return np.zeros(y.shape, dtype=bool)
    return np.array([_is_missing(value) for value in y.ravel()], dtype=bool).reshape(y.shape)


def _is_missing(value: Any) -> bool:
    # pandas.NA is neither true nor false when compared, so it is known by its type.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)

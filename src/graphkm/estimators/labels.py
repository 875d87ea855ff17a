"""Which rows are labelled: the markers of missing labels, and their ambiguities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from .._util.parameters import unmasked

DEFAULT_MARKER = -1


def as_label_array(y: Any) -> NDArray[Any]:
    """Return y as a one-dimensional array that keeps None, NaN and NA as they are.

    Masked labels are missing.

    Examples
    --------
    >>> as_label_array(["cat", None, "dog"])
    array(['cat', None, 'dog'], dtype=object)
    >>> as_label_array([0, 1, -1])
    array([ 0,  1, -1])
    """
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    y = unmasked(y)
    if not isinstance(y, np.ndarray):
        # np.asarray(["a", nan]) would turn the NaN into the string "nan".
        y = np.asarray(y.to_list() if hasattr(y, "to_list") else y, dtype=object)
    flat = np.asarray(column_or_1d(y, warn=True))
    # Text beside a marker of another type stays as it is: `plain_labels` sorts it out later.
    return flat if missing_mask(flat).any() or _mixes_text(flat) else plain_labels(flat)


def plain_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as an array of their common type, if they have one; none may be missing.

    Examples
    --------
    >>> plain_labels(np.array([3, 2**60], dtype=object))
    array([                  3, 1152921504606846976])
    """
    if _mixes_text(labels):
        names = ", ".join(sorted({type(value).__name__ for value in labels}))
        raise ValueError(
            f"y mixes text with other labels (types {names}), which have no common order. Pass "
            "all labels as text, or all as numbers; None, NaN and NA mark unlabelled rows."
        )
    if labels.dtype.kind != "O":
        return labels
    plain = np.asarray(labels.tolist())
    return plain if plain.ndim == 1 and plain.dtype.kind in "biufU" else labels


def labeled_mask(y: NDArray[Any], unlabeled: Any) -> NDArray[np.bool_]:
    """Return where y holds a label: not missing, and not the marker.

    Examples
    --------
    >>> labeled_mask(np.array([1.0, -1.0, np.nan]), unlabeled=-1)
    array([ True, False, False])
    >>> labeled_mask(np.array([1.0, -1.0, np.nan]), unlabeled=None)
    array([ True,  True, False])
    """
    labeled = ~missing_mask(y)
    if _is_missing(unlabeled):
        return labeled
    numbers = y.dtype.kind in "biuf"
    if numbers == isinstance(unlabeled, str) and y.dtype.kind != "O":
        return labeled  # a number never equals a word
    labeled[labeled] = [value != unlabeled for value in y[labeled].tolist()]
    return labeled


def refuse_ambiguous(y: NDArray[Any], unlabeled: Any) -> None:
    """Raise if -1 may be a class instead of the marker, or the text "-1" the marker."""
    if _is_missing(unlabeled) or unlabeled != DEFAULT_MARKER:
        return
    if y.dtype.kind in "UO" and str(DEFAULT_MARKER) in y[~missing_mask(y)].tolist():
        raise ValueError(
            "y holds the text '-1', which is not the number -1 that marks unlabelled rows (NumPy "
            "turns numbers among texts into text). Pass unlabeled='-1' if it marks them, or "
            "unlabeled=None if it is a class."
        )
    if y.dtype.kind not in "ifO":
        return
    if set(y[~missing_mask(y)].tolist()) == {-1, 1}:
        raise ValueError(
            "y holds only the labels -1 and 1, and -1 marks unlabelled rows, which leaves a "
            "single class. If -1 is a class, pass unlabeled=None and mark unlabelled rows with "
            "NaN, or pass another marker, such as unlabeled=0. If -1 means unlabelled, rows of "
            "at least two other classes are needed."
        )


def refuse_infinite(known: NDArray[Any]) -> None:
    """Raise if a label or a target is infinite."""
    if known.dtype.kind == "f" and not np.isfinite(known).all():
        raise ValueError("Input y contains infinity; mark unlabelled rows with NaN.")


def checked_classes(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the classes of labels; raise if they cannot be learnt. No label may be missing.

    Examples
    --------
    >>> checked_classes(np.array([2, 1, 2]))
    array([1, 2])
    """
    refuse_infinite(labels)
    check_classification_targets(labels)
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"The labelled rows hold only one class, {classes.tolist()[0]!r}; at least two "
            "classes are needed. Label rows of another class too; "
            "graphkm.PositiveUnlabeledClassifier learns from one class and unlabelled rows."
        )
    return classes


def missing_mask(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where y holds None, NaN, NA or an empty text, which means "no label" in files.

    Examples
    --------
    >>> missing_mask(np.array(["a", None, float("nan"), ""], dtype=object))
    array([False,  True,  True,  True])
    """
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind == "U":
        return np.asarray(y == "")
    if y.dtype.kind != "O":
        return np.zeros(y.shape, dtype=bool)
    return np.array([_is_missing(value) for value in y.ravel()], dtype=bool).reshape(y.shape)


def _is_missing(value: Any) -> bool:
    # Comparing pandas.NA gives neither True nor False, so its type is looked at.
    if isinstance(value, str):
        return value == ""
    if value is None or value is np.ma.masked:
        return True
    return type(value).__name__ == "NAType" or bool(value != value)


def _mixes_text(y: NDArray[Any]) -> bool:
    return y.dtype.kind == "O" and len({isinstance(value, str) for value in y}) == 2

"""Hiding labels: from a labelled set to a partly labelled one."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, column_or_1d

from .._util.parameters import unmasked


def hide_labels(
    y: Any,
    fraction: float | None = None,
    *,
    n_per_class: int | None = None,
    stratify: bool | None = None,
    unlabeled: Any = "auto",
    random_state: Any = None,
) -> NDArray[Any]:
    """Return a copy of y in which some labels are replaced by a marker.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels or targets. Values None, NaN, NA and the marker given as `unlabeled` are hidden
        already: they stay hidden and are not counted.
    fraction : float in [0, 1), optional
        The share of labels to hide. Give this or `n_per_class`.
    n_per_class : int, optional
        The number of labels of every class to keep.
    stratify : bool, optional
        Whether the labels that `fraction` leaves keep the shares of the classes. At least one
        label of every class stays, even if less than `fraction` is hidden then. Default: True,
        unless y holds fractions.
    unlabeled : optional
        The marker. Default: -1 for integers, NaN for floats, None for text, booleans and other
        objects. Estimators here accept all three, scikit-learn's only -1. With None, hidden
        numbers become NaN, and other hidden labels None. Pass the same value to the estimator.
    random_state : int, RandomState or None
        Decides which labels are hidden.

    Returns
    -------
    ndarray of shape (n,)
        Its dtype is that of y if that can hold the marker.

    Examples
    --------
    >>> from graphkm.datasets import hide_labels
    >>> hide_labels([0, 0, 0, 1, 1, 1], n_per_class=1, random_state=0)
    array([-1, -1,  0, -1, -1,  1])
    >>> hide_labels(["a", "b", "a", "b"], 0.5, random_state=0)
    array([None, None, 'a', 'b'], dtype=object)
    """
    if (fraction is None) == (n_per_class is None):
        raise ValueError(
            f"fraction={fraction!r} and n_per_class={n_per_class!r}: give exactly one of them."
        )
    labels = _as_array(y)
    marker = _marker(labels, unlabeled)
    labeled = np.flatnonzero(~_hidden(labels, marker))
    classes, codes = _classes(labels[labeled], len(labels), marker)
    if fraction is not None:
        counts = _shares(fraction, codes, _stratified(labels[labeled], stratify))
    else:
        _stratified(labels[labeled], True)
        counts = _equal(n_per_class, classes, codes)
    kept = labeled[_draw(codes, counts, check_random_state(random_state))]
    return _masked(labels, kept, marker)


def _classes(
    labels: NDArray[Any], n_rows: int, marker: Any
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    if len(labels) == 0:
        raise ValueError("y holds no label that could be hidden.")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            "y mixes labels that have no common order, such as text and numbers. Pass all of "
            "them as text, or all as numbers."
        ) from error
    if len(classes) == 1 and len(labels) < n_rows and marker == -1:
        raise ValueError(
            f"All rows of y but those that hold the marker {marker!r} are of class "
            f"{classes[0].item()!r}. If {marker!r} is a class, pass another marker, or "
            "unlabeled=None."
        )
    return classes, codes


# ------------------------------------------------------------------ how many


def _stratified(labels: NDArray[Any], stratify: bool | None) -> bool:
    continuous = labels.dtype.kind == "f" and bool((labels != np.floor(labels)).any())
    if stratify and continuous:
        raise ValueError(
            "stratify=True and n_per_class= need classes, but y holds fractions, as the targets of "
            "a regression do. Pass fraction= and stratify=False."
        )
    return not continuous if stratify is None else bool(stratify)


def _shares(fraction: Any, codes: NDArray[np.intp], stratified: bool) -> NDArray[np.intp]:
    """Return how many labels of each class to keep; one number for all if not stratified."""
    if not 0 <= fraction < 1:
        raise ValueError(
            f"fraction={fraction!r} is the share of labels to hide, at least 0 and less than 1."
        )
    n_kept = max(1, len(codes) - round(fraction * len(codes)))
    if not stratified:
        return np.array([n_kept])
    sizes = np.bincount(codes)
    exact = sizes * (n_kept / len(codes))
    counts = np.maximum(1, np.floor(exact).astype(np.intp))
    # What rounding down leaves over goes to the largest remainders.
    for k in np.argsort(counts - exact, kind="stable"):
        if counts.sum() >= n_kept:
            break
        counts[k] += counts[k] < sizes[k]
    return counts


def _equal(n_per_class: Any, classes: NDArray[Any], codes: NDArray[np.intp]) -> NDArray[np.intp]:
    if not isinstance(n_per_class, Integral) or n_per_class < 1:
        raise ValueError(f"n_per_class={n_per_class!r} must be an integer of at least 1.")
    sizes = np.bincount(codes)
    k = int(sizes.argmin())
    if sizes[k] < n_per_class:
        raise ValueError(
            f"n_per_class={n_per_class}, but class {classes[k].item()!r} has only {sizes[k]} "
            "labels. Pass a smaller number, or fraction= instead."
        )
    return np.full(len(sizes), int(n_per_class), dtype=np.intp)


def _draw(codes: NDArray[np.intp], counts: NDArray[np.intp], rng: Any) -> NDArray[np.intp]:
    """Draw this many positions of each class, or of all rows if there is only one count."""
    order = rng.permutation(len(codes))
    if len(counts) == 1:
        return order[: counts[0]]
    return np.concatenate([order[codes[order] == k][:n] for k, n in enumerate(counts)])


# ------------------------------------------------------------------- markers


def _as_array(y: Any) -> NDArray[Any]:
    y = unmasked(y)
    if not isinstance(y, np.ndarray):
        # np.asarray would turn ["a", None] and ["a", nan] into text.
        y = np.asarray(y.to_list() if hasattr(y, "to_list") else y, dtype=object)
    labels = np.asarray(column_or_1d(y))
    if labels.dtype.kind != "O":
        return labels
    plain = np.asarray(labels.tolist())
    numbers = plain.ndim == 1 and plain.dtype.kind in "biuf"
    # In an array with NaN, large integers would be rounded.
    known = ~_missing(labels)
    return plain if numbers and plain[known].tolist() == labels[known].tolist() else labels


def _marker(labels: NDArray[Any], unlabeled: Any) -> Any:
    """Return the marker to write; raise if it may be a class."""
    numbers = labels.dtype.kind in "iuf"
    if _is_missing(unlabeled):
        return np.nan if numbers else None
    if unlabeled == "auto":
        if labels.dtype.kind not in "iu":
            return np.nan if numbers else None
        if (labels == -1).any():
            raise ValueError(
                "y holds -1, which marks hidden labels. If -1 is a class here, pass unlabeled=None "
                "(hidden labels become NaN) or another marker, such as unlabeled=-2, and the same "
                "to the estimator. If -1 marks labels that are hidden already, pass unlabeled=-1."
            )
        return -1
    if numbers and isinstance(unlabeled, str):
        raise ValueError(
            f"unlabeled={unlabeled!r} is text, but y holds numbers. Pass a number, or None for NaN."
        )
    return unlabeled


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind != "O":
        return np.zeros(labels.shape, dtype=bool)
    return np.array([_is_missing(value) for value in labels], dtype=bool)


def _is_missing(value: Any) -> bool:
    # Comparing pandas.NA gives neither True nor False, so its type is looked at.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _hidden(labels: NDArray[Any], marker: Any) -> NDArray[np.bool_]:
    hidden = _missing(labels)
    if marker is not None:
        hidden[~hidden] = [value == marker for value in labels[~hidden].tolist()]
    return hidden


def _masked(labels: NDArray[Any], kept: NDArray[np.intp], marker: Any) -> NDArray[Any]:
    partly = np.full(labels.shape, marker, dtype=_common_dtype(labels, marker))
    partly[kept] = labels[kept]
    return partly


def _common_dtype(labels: NDArray[Any], marker: Any) -> np.dtype[Any]:
    text = labels.dtype.kind == "U" and isinstance(marker, str)
    if marker is None or not (text or labels.dtype.kind in "iuf"):
        return np.dtype(object)
    common = np.result_type(labels.dtype, np.min_scalar_type(marker))
    exact = common.kind != "f" or labels.dtype.kind == "f" or np.abs(labels).max() <= 2**53
    return common if exact else np.dtype(object)  # floats would round large integers

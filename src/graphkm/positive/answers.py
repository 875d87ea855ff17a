"""What the two classes are called, and which rows of y are positive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from ..estimators.labels import (
    as_label_array,
    labeled_mask,
    missing_mask,
    plain_labels,
    refuse_infinite,
)
from ..semi.label_tables import holds_lists

FEWEST = 5
"""Fewer positive rows, or fewer unlabelled ones, cannot be held out in turn."""


def positive_rows(y: Any, unlabeled: Any) -> tuple[NDArray[np.bool_], Any]:
    """Return where y holds the positive class, and the name of that class.

    Examples
    --------
    >>> positive_rows(["spam", None, "spam"], -1)
    (array([ True, False,  True]), 'spam')
    """
    if holds_lists(y):
        raise ValueError(
            "y holds lists, and this estimator learns from one class; pass its name for positive "
            "rows, and None for the others."
        )
    values = as_label_array(y)
    labeled = labeled_mask(values, unlabeled)
    if not labeled.any():
        raise ValueError(
            f"No row of y is labelled; at least {FEWEST} rows of the positive class are needed "
            f"(unlabeled={unlabeled!r} marks the others)."
        )
    known = plain_labels(values[labeled])
    refuse_infinite(known)
    names = np.unique(known).tolist()
    if len(names) > 1:
        raise ValueError(
            f"y holds {len(names)} classes, {names[0]!r} and {names[1]!r} among them, and this "
            "estimator learns from one class and unlabelled rows. If one of them marks unlabelled "
            f"rows, pass it, such as unlabeled={names[0]!r}; SemiSupervisedClassifier learns from "
            "several classes."
        )
    return labeled, names[0]


def check_lengths(X: Any, labeled: NDArray[np.bool_]) -> None:
    """Raise if y has another length than X; the model checks views, and rows without X."""
    if X is not None and (hasattr(X, "columns") or not isinstance(X, Mapping)):
        check_consistent_length(X, labeled)


def check_counts(n_positive: int, n_unlabeled: int) -> None:
    """Raise if there are too few rows of either kind.

    Examples
    --------
    >>> check_counts(4, 100)
    Traceback (most recent call last):
    ...
    ValueError: 4 rows are positive; at least 5 are needed.
    """
    if n_positive < FEWEST:
        raise ValueError(f"{n_positive} rows are positive; at least {FEWEST} are needed.")
    if n_unlabeled < FEWEST:
        raise ValueError(
            f"{n_unlabeled} rows are unlabelled; at least {FEWEST} are needed, because the other "
            "class is learnt from them."
        )


def names_of_classes(positive: Any) -> NDArray[Any]:
    """Return the names of both classes, sorted. The rest is called 0, False, or "not NAME".

    Examples
    --------
    >>> names_of_classes("spam"), names_of_classes(3), names_of_classes(0)
    (array(['not spam', 'spam'], dtype='<U8'), array([0, 3]), array([0, 1]))
    """
    if isinstance(positive, str):
        rest: Any = f"not {positive}"
    elif isinstance(positive, bool):
        rest = not positive
    else:
        rest = type(positive)(positive == 0)
    return np.unique([rest, positive])


def truth_of(y: Any, unlabeled: Any, positive: Any, rest: Any) -> NDArray[np.float64]:
    """Return 1 for positive rows of y, 0 for rows of any other class, and NaN for unknown ones.

    Examples
    --------
    >>> truth_of(["even", "odd", None], -1, "even", "not even")
    array([ 1.,  0., nan])
    """
    values = as_label_array(y)
    is_rest = np.zeros(len(values), dtype=bool)
    given = ~missing_mask(values)
    is_rest[given] = [value == rest for value in values[given].tolist()]  # it may be the marker
    known = labeled_mask(values, unlabeled) | is_rest
    found = np.full(len(values), np.nan)
    found[known] = [value == positive for value in values[known].tolist()]
    if not known.all() and (found[known] == 1).all():
        raise ValueError(
            f"The rows to score hold the class {positive!r} and unlabelled rows only. Rows of the "
            f"other class must be named: {rest!r}, or anything but unlabeled={unlabeled!r}."
        )
    return found

"""What a score of a classifier counts, and log odds that are finite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from ..estimators.labels import as_label_array, labeled_mask
from ..members.member import Kind
from .label_tables import is_table, table_of
from .target import Target, share_target

Array = NDArray[np.float64]

_NEVER, _ALWAYS = np.finfo(np.float64).tiny, 1.0 - 2.0**-53  # their odds have logarithms


def labels_to_score(
    y: Any, kind: Kind, unlabeled: Any, classes: NDArray[Any]
) -> tuple[Target, int]:
    """Return the labels that a score counts, and the number of rows.

    Rows count of which all labels are known.

    Examples
    --------
    >>> target, n = labels_to_score([0, -1, 1], "classes", -1, np.arange(2))
    >>> target.labeled, target.y, n
    (array([0, 2]), array([0, 1]), 3)
    """
    if kind == "labels":
        values = table_of(y, unlabeled, classes).values
        whole = np.flatnonzero(~np.isnan(values).any(axis=1))
        return Target(whole, values[whole], kind), len(values)
    if is_table(y):
        table = table_of(y, unlabeled, classes)
        every = np.ones(len(table.values), dtype=bool)
        return share_target(table, every, classes), len(every)
    truth = as_label_array(y)
    labeled = np.flatnonzero(labeled_mask(truth, unlabeled))
    return Target(labeled, truth[labeled], kind), len(truth)  # NA cannot be compared


def finite_log_odds(shares: Array) -> Array:
    """Return finite logarithms of odds, of any shares.

    Examples
    --------
    >>> finite_log_odds(np.array([0.0, 0.5, 1.0])).round()
    array([-708.,    0.,   37.])
    """
    return np.asarray(logit(np.clip(shares, _NEVER, _ALWAYS)))

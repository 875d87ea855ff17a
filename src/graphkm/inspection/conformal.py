"""How far errors of new rows may go, by the errors of labelled rows: conformal prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_ROUNDING = 1e-9  # 0.7 * 10 is a little more than 7 in floating point


def reach(scores: Array, counts: Array, coverage: float, new: float = 1.0) -> float:
    """Return the score that a new row does not exceed with the probability `coverage`.

    If each of l rows counts once, it is the k-th smallest score with k = ceil((l + 1) * coverage).
    In general it is the smallest score s with

        sum of counts of scores up to s  >=  coverage * (sum of all counts + new) .

    The new row is in the sum because its own score may be anything.

    Parameters
    ----------
    scores : ndarray of shape (l,)
        How strange each labelled row is; large is strange.
    counts : ndarray of shape (l,)
        How much each of them counts.
    coverage : float
        The probability that is asked for.
    new : float, default=1.0
        How much the new row counts.

    Returns
    -------
    float
        Infinity if the labels are too few for the coverage.

    Examples
    --------
    >>> scores = np.arange(1.0, 20.0)
    >>> reach(scores, np.ones(19), 0.9), reach(scores, np.ones(19), 0.96)
    (18.0, inf)
    """
    used = counts > 0
    scores, counts = scores[used], counts[used]
    order = np.argsort(scores, kind="stable")
    asked = coverage * (counts.sum() + new) * (1.0 - _ROUNDING)
    place = np.searchsorted(np.cumsum(counts[order]), asked)
    return float(scores[order[place]]) if place < len(order) else np.inf


def new_count(counts: Array, weights: Array) -> float:
    """Return how much a new row is expected to count, if labelled rows have these weights.

    It is the mean weight of the rows that the labelled ones stand for: sum c w / sum c.

    Examples
    --------
    >>> weights = np.array([1.0, 1.0, 4.0])
    >>> new_count(weights, weights)
    3.0
    """
    total = counts.sum()
    return float(counts @ weights / total) if total > 0 else 1.0


def checked_coverage(coverage: Any) -> float:
    """Return a probability between 0 and 1, or raise."""
    try:
        found = float(coverage)
    except (TypeError, ValueError):
        found = np.nan
    if not 0.0 < found < 1.0:
        raise ValueError(f"coverage is a probability between 0 and 1; got {coverage!r}.")
    return found


def checked_weights(weights: Any, n_labeled: int) -> Array:
    """Return a weight for each labelled row; 1 by default."""
    if weights is None:
        return np.ones(n_labeled)
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (n_labeled,):
        raise ValueError(
            f"weights need one number for each of the {n_labeled} labelled rows, in the order of "
            f"labeled_; got shape {found.shape}."
        )
    if not (np.isfinite(found).all() and (found >= 0).all() and found.any()):
        raise ValueError(
            "weights must be finite, not negative and not all 0: one divided by the probability "
            f"that a row was chosen for labelling; got {found.min()} to {found.max()}."
        )
    return found

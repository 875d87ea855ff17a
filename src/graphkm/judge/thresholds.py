r"""The probability above which a row is said to have a label.

A threshold of one half makes the fewest errors. But F1 is the mean of precision and recall, and a
rare label that is never predicted has F1 = 0. The best threshold for F1 is lower, about half of the
best F1 itself.

It is chosen by held-out labels: each adds to the rows that have the label, and that are said to
have it. A rare label has few of these. So the unlabelled rows are asked, too: one with the
probability p counts as p rows that have the label. All of them together count as much as the
labelled rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def best_threshold(held: Array, y: Array, weights: Array, others: Array) -> float:
    """Return the threshold of a label with the largest F1.

    Parameters
    ----------
    held : ndarray of shape (l,)
        Probabilities of labelled rows, from fits that did not see their labels.
    y, weights : ndarray of shape (l,)
        Whether they have the label, 0 or 1, and their weights.
    others : ndarray of shape (n,)
        Probabilities of unlabelled rows.

    Examples
    --------
    >>> held, y = np.array([0.4, 0.3, 0.2, 0.1]), np.array([1.0, 1.0, 0.0, 0.0])
    >>> best_threshold(held, y, np.ones(4), np.empty(0))
    0.25
    """
    total = weights.sum()
    said = np.concatenate([held, others])
    rows = np.concatenate([weights, np.full(len(others), total / max(1, len(others)))])
    having = rows * np.concatenate([y, others])
    if not having.sum():
        return 0.5
    order = np.argsort(-said, kind="stable")
    told, right = np.cumsum(rows[order]), np.cumsum(having[order])
    f1 = 2.0 * right / (told + right[-1])
    falls = np.append(np.diff(said[order]) < 0, True)  # equal rows are on one side
    best = int(np.argmax(np.where(falls, f1, -1.0)))
    below = said[order][best + 1] if best + 1 < len(said) else 0.0
    return float((said[order][best] + below) / 2.0)


def checked_thresholds(asked: Any, names: NDArray[Any]) -> Array | None:
    """Check the parameter `thresholds`, and return one for each label; None if labels choose them.

    Examples
    --------
    >>> checked_thresholds({"b": 0.2}, np.array(["a", "b"]))
    array([0.5, 0.2])
    """
    if isinstance(asked, str) and asked == "f1":
        return None
    given = 0.5 if asked is None else asked
    if isinstance(asked, Mapping):
        unknown = [each for each in asked if each not in names.tolist()]
        if unknown:
            raise ValueError(f"thresholds has the label {unknown[0]!r}, which y has not.")
        given = [asked.get(name, 0.5) for name in names.tolist()]
    found = np.full(len(names), 0.5)
    try:
        found[:] = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise _wrong(asked) from None
    if isinstance(asked, bool) or not ((found >= 0) & (found <= 1)).all():
        raise _wrong(asked)
    return found


def _wrong(asked: Any) -> ValueError:
    return ValueError(
        "thresholds must be None, 'f1', a number between 0 and 1, one for each label, or a mapping "
        f"from labels to numbers; got {asked!r}."
    )

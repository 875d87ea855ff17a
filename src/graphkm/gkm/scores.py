"""The scores of candidates by any of scikit-learn's scorers, and how sure a lead is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def require_scores(scores: Any, scoring: Any, where: str) -> None:
    """Raise if a score is NaN, which is neither better nor worse than another.

    Examples
    --------
    >>> require_scores([0.5, 1.0], "roc_auc", "a fold")
    """
    if np.isnan(scores).any():
        raise ValueError(
            f"scoring={scoring!r} gives NaN for the held-out labels of {where}; pass a scoring "
            "that is defined there, or a cv with larger folds."
        )


def score_answers(
    scoring: Any, answers: Sequence[Any], known: NDArray[Any], sizes: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every candidate's score, and the standard error of its lead over the first.

    A fold may lack a class. So scores are those of all held-out rows together, and the error is
    that of the jackknife, which leaves out one fold after another.

    Parameters
    ----------
    scoring : str or callable
        A scorer, or its name.
    answers : list of estimators
        What each candidate says. The "rows" that they predict are positions among the held-out
        ones.
    known : ndarray
        The labels or targets of the held-out rows.
    sizes : list of int
        Rows of each fold, one fold after another; empty if no error is asked for.
    """
    from sklearn.metrics import get_scorer

    scorer = scoring if callable(scoring) else get_scorer(scoring)
    rows = np.arange(len(known))
    left_out = np.split(rows, np.cumsum(sizes)[:-1]) if len(sizes) else []
    parts = [rows, *(np.setdiff1d(rows, part) for part in left_out)]
    found = [[scorer(each, part, known[part]) for part in parts] for each in answers]
    scores = np.array(found, dtype=np.float64)
    leads = scores[:, 1:] - scores[0, 1:]
    k = max(1, leads.shape[1])
    apart = np.square(leads - leads.sum(axis=1, keepdims=True) / k).sum(axis=1)
    return scores[:, 0], np.sqrt((k - 1) / k * apart)

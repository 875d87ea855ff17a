"""Choosing parameters by cross-validation on the labelled rows alone.

A fold hides the labels of some labelled rows, a candidate predicts all rows, and its score is the
accuracy on those. Folds are stratified: five, or as many as the smallest class has labels, and
those are drawn anew until there are at least five. Of fits on more than 10,000 rows only the first
two folds are scored, to save time. With one label in some class there is nothing to hide, and the
first candidate, the stated default, is taken. Ties go to the earlier candidate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

Parameters = dict[str, Any]
Answer = tuple[np.ndarray, Parameters]  # labels of all rows, and what was chosen
Predict = Callable[[Parameters, np.ndarray], np.ndarray]  # candidate, partly labelled y -> labels

FOLDS = 5
LARGE = 10_000


def grid(**values: Sequence[Any]) -> list[Parameters]:
    """Return all combinations, those of early values first."""
    ranked = itertools.product(*(enumerate(v) for v in values.values()))
    ordered = sorted(ranked, key=lambda pairs: sum(rank for rank, _ in pairs))
    return [dict(zip(values, (v for _, v in pairs), strict=True)) for pairs in ordered]


def folds(y: np.ndarray, seed: int) -> list[np.ndarray]:
    """Return the labelled rows that every fold hides; no folds where tuning is impossible."""
    labelled = np.flatnonzero(y != -1)
    fewest = np.bincount(y[labelled]).min()
    if fewest < 2:
        return []
    n_folds = min(FOLDS, int(fewest))
    cut = RepeatedStratifiedKFold(
        n_splits=n_folds, n_repeats=math.ceil(FOLDS / n_folds), random_state=seed
    )
    cuts = [labelled[hidden] for _, hidden in cut.split(labelled, y[labelled])]
    return cuts[:2] if len(y) > LARGE else cuts


def scores(
    predict: Predict, candidates: Sequence[Parameters], y: np.ndarray, seed: int
) -> np.ndarray:
    """Return every candidate's cross-validated accuracy; zeros where tuning is impossible.

    A candidate that fails scores -1 rather than ending the search.
    """
    cuts = folds(y, seed)
    answer = np.zeros(len(candidates))
    for i, candidate in enumerate(candidates if cuts else ()):
        right = total = 0
        try:
            for hidden in cuts:
                known = y.copy()
                known[hidden] = -1
                right += np.sum(predict(candidate, known)[hidden] == y[hidden])
                total += len(hidden)
            answer[i] = right / total
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            answer[i] = -1.0
    return answer


def best(
    predict: Predict, candidates: Sequence[Parameters], y: np.ndarray, seed: int
) -> Parameters:
    """Return the candidate with the best score, the first of them when they tie."""
    if len(candidates) == 1:
        return candidates[0]
    return candidates[int(np.argmax(scores(predict, candidates, y, seed)))]

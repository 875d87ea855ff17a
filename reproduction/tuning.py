"""Choosing a method's parameters by cross-validation over the labelled training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from .methods import Context, Method, Parameters


def choose(method: Method, X: Any, y: NDArray[np.int64], context: Context) -> dict[str, Any]:
    """Return the best parameters and their accuracy in cross-validation."""
    X, y = subsample(X, y, method, context)
    best: Parameters = {}
    accuracy = None
    for stage in method.stages(context.protocol):
        candidates = [{**best, **each} for each in stage]
        scores = cross_validate(method, candidates, X, y, context)
        k = best_of(candidates, scores)
        best, accuracy = candidates[k], float(scores[k])
    return {"parameters": best, "cv_accuracy": accuracy, "chosen_on_rows": X.shape[0]}


def subsample(
    X: Any, y: NDArray[np.int64], method: Method, context: Context
) -> tuple[Any, NDArray[np.int64]]:
    """Draw the rows on which parameters are chosen; classes and labels keep their shares."""
    size = context.protocol.most_rows // method.divisor
    if X.shape[0] <= size:
        return X, y
    kept, _ = train_test_split(
        np.arange(len(y)), train_size=size, stratify=y, random_state=context.seed
    )
    kept = np.union1d(kept, _enough_labels(y, kept, context))
    return X[kept], y[kept]


def _enough_labels(
    y: NDArray[np.int64], kept: NDArray[np.intp], context: Context
) -> NDArray[np.intp]:
    """Return further labelled rows of classes with fewer kept labels than there are folds."""
    rng = np.random.default_rng(context.seed)
    more = [np.empty(0, np.intp)]
    for label in np.unique(y[y >= 0]):
        lacking = context.protocol.folds - int((y[kept] == label).sum())
        others = np.setdiff1d(np.flatnonzero(y == label), kept)
        more.append(rng.permutation(others)[: max(0, lacking)])
    return np.concatenate(more)


def cross_validate(
    method: Method, candidates: list[Parameters], X: Any, y: NDArray[np.int64], context: Context
) -> NDArray[np.float64]:
    """Return every candidate's accuracy on labelled rows that its fit did not see."""
    labeled = np.flatnonzero(y >= 0)
    folds = min(context.protocol.folds, int(np.bincount(y[labeled])[np.unique(y[labeled])].min()))
    splitter = StratifiedKFold(max(2, folds), shuffle=True, random_state=context.seed)
    hits = np.zeros(len(candidates))
    for _, held in splitter.split(labeled, y[labeled]):
        out = labeled[held]
        kept = np.setdiff1d(np.arange(len(y)), out)
        train, test = (X[kept], y[kept]), (X[out], y[out])
        hits += len(out) * np.array(method.accuracies(candidates, train, test, context))
    return hits / len(labeled)


def best_of(candidates: list[Parameters], scores: NDArray[np.float64]) -> int:
    """Return the number of the best candidate.

    With few labels many candidates have the same score. Of these, the one whose neighbours in the
    grid score best is the safest choice.
    """
    values = {name: sorted({each[name] for each in candidates}) for name in candidates[0]}
    ranks = np.array([[values[name].index(one[name]) for name in one] for one in candidates])
    near = np.abs(ranks[:, None] - ranks[None]).sum(axis=2) <= 1
    around = (near @ scores) / near.sum(axis=1)
    return int(np.lexsort((-np.arange(len(scores)), around, scores.round(12)))[-1])

"""How unlikely a class of a set may be, and how long intervals are, by held-out labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..semi.held import Held, held_of
from .conformal import Array, checked_coverage, checked_weights, new_count, reach


def class_limits(model: Any, coverage: float, by_class: bool = False, weights: Any = None) -> Array:
    """Return how far below 1 the probability of each class may be if it is in a set.

    Parameters are those of `graphkm.inspection.prediction_sets`. It is infinite if labels are too
    few, and then a warning says so.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> X, y = make_moons(100, random_state=0)
    >>> y[30:] = -1
    >>> class_limits(SemiSupervisedClassifier(random_state=0).fit(X, y), 0.9).shape
    (2,)
    """
    coverage, held = checked_coverage(coverage), held_of(model)
    if held.kind != "classes":
        instead = "prediction_intervals" if held.kind == "quantities" else "a model for each label"
        raise ValueError(
            f"prediction_sets needs a model of one class per row; this one has {held.kind}. Take "
            f"{instead} instead."
        )
    weights, classes = checked_weights(weights, len(held.rows)), np.asarray(model.classes_)
    limits = _limits(1.0 - held.said, held.told, weights, coverage, by_class)
    if np.isinf(limits).any():
        whose = f" of {', '.join(map(str, classes[np.isinf(limits)]))}" if by_class else ""
        _warn(f"The labels{whose}", coverage, "so these classes are in every set")
    return limits


def _limits(scores: Array, told: Array, weights: Array, coverage: float, by_class: bool) -> Array:
    """Return the largest score that each class may have."""
    counts = told * weights[:, None]  # a row with shares counts in its classes by them
    if by_class:
        pairs = zip(scores.T, counts.T, strict=True)
        return np.array([reach(s, c, coverage, new_count(c, weights)) for s, c in pairs])
    new = new_count(counts.sum(axis=1), weights)
    return np.full(scores.shape[1], reach(scores.ravel(), counts.ravel(), coverage, new))


def interval_limits(model: Any, coverage: float, weights: Any = None) -> Array:
    """Return how far each quantity may be from its prediction.

    Parameters are those of `graphkm.inspection.prediction_intervals`. It is infinite if labels are
    too few, and then a warning says so.

    Examples
    --------
    >>> from graphkm import SemiSupervisedRegressor
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> interval_limits(SemiSupervisedRegressor(random_state=0).fit(X, np.sin(X[:, 0])), 0.9).shape
    (1,)
    """
    coverage, held = checked_coverage(coverage), held_of(model)
    if held.kind != "quantities":
        raise ValueError(
            f"prediction_intervals needs a SemiSupervisedRegressor; this model has {held.kind}. "
            "Take prediction_sets instead."
        )
    weights = checked_weights(weights, len(held.rows))
    limits = np.array(
        [_distance(held, column, weights, coverage) for column in range(held.told.shape[1])]
    )
    if np.isinf(limits).any():
        _warn("The labels", coverage, "so intervals are infinite")
    return limits


def _distance(held: Held, column: int, weights: Array, coverage: float) -> float:
    """Return how far a quantity may be from its prediction."""
    errors = np.abs(held.told[:, column] - held.said[:, column])
    told = np.isfinite(errors)  # a quantity of several may not be known
    return reach(errors[told], weights[told], coverage, new_count(weights[told], weights[told]))


def _warn(labels: str, coverage: float, so: str) -> None:
    least = int(np.ceil(coverage / (1.0 - coverage) - 1e-9))
    warnings.warn(
        f"{labels} are too few for coverage={coverage:g}, {so}. {least} labels of the same weight "
        "are enough; give more labels, or ask for less.",
        stacklevel=4,
    )

"""One fit of the front door to positive rows, and to unlabelled rows as negative ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import clone, is_classifier

from ..semi import SemiSupervisedClassifier
from .weighing import Scores

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

SAMPLE = 2000
"""So many unlabelled rows are weighed, and as many as there are positives if these are more."""

_SURE = 1e-9  # probabilities have finite logarithms


def front_door(given: Any, n_jobs: int | None, verbose: int) -> SemiSupervisedClassifier:
    """Return the model of every round, for classes 0 and 1, from what the user gave.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> front_door(LogisticRegression(), None, 0).graph is None
    True
    """
    if isinstance(given, SemiSupervisedClassifier):
        for name in ("class_sizes", "label_names"):
            if isinstance(getattr(given, name), Mapping):
                raise ValueError(
                    f"{name} of the estimator names classes, and only one class has a name here; "
                    "leave it out, and pass class_prior for the share of positives."
                )
        model = clone(given)
    elif given is None:
        model = SemiSupervisedClassifier(n_jobs=n_jobs, verbose=verbose)
    else:
        if not (hasattr(given, "get_params") and is_classifier(given)):
            raise ValueError(
                f"estimator must be SemiSupervisedClassifier, a classifier or None; got {given!r}."
            )
        own = clone(given)
        model = SemiSupervisedClassifier(own, graph=None, n_jobs=n_jobs, verbose=verbose)
    model.set_params(class_sizes=None, label_names=None, unlabeled=-1, targets="classes")
    return model


def drawn_rows(rows: Numbers, n_positive: int, draws: np.random.Generator) -> Numbers:
    """Return the unlabelled rows that are weighed.

    Examples
    --------
    >>> len(drawn_rows(np.arange(9000), 100, np.random.default_rng(0)))
    2000
    """
    most = max(SAMPLE, n_positive)
    return rows if len(rows) <= most else np.sort(draws.choice(rows, most, replace=False))


def fit_round(
    model: SemiSupervisedClassifier,
    X: Any,
    rows: tuple[Numbers, Numbers],
    weights: Array,
    negative: Array,
    share: float,
    edges: dict[str, Any],
) -> Scores:
    """Fit the model, and return held-out log odds.

    Parameters
    ----------
    model, X, edges
        The model, all rows, and what else it gets.
    rows : tuple of ndarray
        The positive rows, and the unlabelled ones that are weighed.
    weights : ndarray
        Weights of all rows, as they were given.
    negative : ndarray
        How likely each of the unlabelled ones is negative.
    share : float
        The share of positives that the weights are to have.
    edges : dict
        `affinity` and `ids`, if they were given.
    """
    places, sample = rows
    y, own = np.full(len(weights), -1), weights.copy()
    y[places], y[sample] = 1, 0
    own[sample] *= negative
    own[places] *= share / (1.0 - share) * own[sample].sum() / own[places].sum()
    model.fit(X, y, sample_weight=own, **edges)
    if not hasattr(model, "held_out_"):
        raise ValueError(
            "The rows have too few different values to hold some of them out, so nothing tells "
            "positives from the rest."
        )
    log_odds = np.full(len(weights), np.nan)
    log_odds[model.labeled_] = log_odds_of(model.held_out_)
    return Scores(log_odds[places], log_odds[sample])


def log_odds_of(said: Array) -> Array:
    """Return the log odds of class 1, which are finite.

    Examples
    --------
    >>> log_odds_of(np.array([[0.5, 0.5], [0.1, 0.9]])).round(2)
    array([0. , 2.2])
    """
    return np.asarray(logit(np.clip(said[:, 1], _SURE, 1.0 - _SURE)))

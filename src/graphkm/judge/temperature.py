"""Scores become probabilities: softmax(t s), with one temperature for each member."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

Scores = NDArray[np.float64]

_GRID = np.geomspace(0.1, 10.0, 41)  # temperatures to try, as multiples of the expected one
BELIEF = 2.0
"""A temperature of t times the expected one costs this times log(t)^2."""


def log_probabilities(scores: Scores, temperature: float | Scores) -> Scores:
    """Return the logarithms of softmax(t s) over the last axis.

    Examples
    --------
    >>> np.exp(log_probabilities(np.array([[0.0, 1.0]]), 2.0)).round(2)
    array([[0.12, 0.88]])
    """
    return np.asarray(log_softmax(temperature * scores, axis=-1))


def best_temperature(
    held: Scores, codes: NDArray[np.int64], weights: NDArray[np.float64], size: float = 1.0
) -> float:
    """Return the temperature with which held-out scores fit held-out labels best.

    Parameters
    ----------
    held : ndarray of shape (l, n_classes)
        Scores from fits that did not see the row's label.
    codes : ndarray of int of shape (l,)
        The labels, as numbers of classes.
    weights : ndarray of shape (l,)
        Weights of the labels, whose mean is 1.
    size : float, default=1.0
        The temperature to expect before labels are seen. With few labels the answer stays near it.

    Examples
    --------
    >>> held, codes, ones = np.array([[-1.0, 1.0]] * 40), np.array([1] * 30 + [0] * 10), np.ones(40)
    >>> round(best_temperature(held, codes, ones), 1)  # three of four are right
    0.6
    """
    grid = size * _GRID
    below = held - held.max(axis=1, keepdims=True)  # so that no exponential is too large
    sums = np.exp(grid[:, None, None] * below).sum(axis=-1)
    logs = grid[:, None] * below[np.arange(len(codes)), codes] - np.log(sums)
    losses = -logs @ weights + BELIEF * np.log(_GRID) ** 2
    return float(grid[int(np.argmin(losses))])

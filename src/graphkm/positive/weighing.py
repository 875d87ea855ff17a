r"""How likely every unlabelled row is positive, and what a model learns from that.

A model of labelled positives against unlabelled rows has odds that are proportional to the ratio of
densities

.. math::

    p(x \mid \text{positive}) / p(x \mid \text{unlabelled}) .

Times the share :math:`\pi` of positives among the unlabelled rows, this ratio is the probability
that an unlabelled row is positive (Elkan and Noto, 2008, "Learning classifiers from only positive
and unlabeled data"). Noise makes some of these probabilities too large. So they are at most 1, and
a common factor gives them the mean :math:`\pi`.

The next model has the labelled positives, and every unlabelled row as a negative row, weighted by
the probability that it is negative. Weighted so, unlabelled rows are distributed as negative rows
are. Its odds are those of the classes themselves, so its probabilities only need the right mean:
their log odds are moved by a common number.

Every probability of an unlabelled row is a held-out one, which has not seen that the row was called
negative. Otherwise the model would repeat what it was told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

Array = NDArray[np.float64]

ROUNDS = 3
"""Fits: the first tells positives from unlabelled rows, the others from weighted ones."""

_LEAST = 1e-3  # an unlabelled row never weighs less: a row of weight 0 would not be held out
_FAR = 60.0  # log odds are looked for up to here


class Scores(NamedTuple):
    """Held-out log odds of one fit."""

    positives: Array
    unlabeled: Array


class Weighed(NamedTuple):
    """What the last round has found."""

    probabilities: Array
    """Of every unlabelled row of the sample: how likely it is positive."""
    shift: float
    """What is added to the log odds of the last model."""


Fit = Callable[[Array], Scores]
"""Fits a model to unlabelled rows as negative ones with these weights."""


def weigh(first: Scores, share: float, fit: Fit) -> Weighed:
    """Return the probabilities of unlabelled rows after all rounds.

    Parameters
    ----------
    first : Scores
        The held-out log odds of the first model, for which every unlabelled row was negative.
    share : float
        The share of positives among the unlabelled rows.
    fit : callable
        Fits the next model.

    Returns
    -------
    Weighed
    """
    found, shift = shares_of_odds(first.unlabeled, share), 0.0
    for _ in range(ROUNDS - 1):
        scores = fit(np.maximum(1.0 - found, _LEAST))
        shift = shift_to_share(scores.unlabeled, share)
        found = expit(scores.unlabeled + shift)
    return Weighed(found, shift)


def shares_of_odds(log_odds: Array, share: float) -> Array:
    """Return probabilities that are odds times a factor, at most 1, and have a given mean.

    Examples
    --------
    >>> shares_of_odds(np.log([0.1, 0.1, 0.2, 4.0]), 0.4)
    array([0.15, 0.15, 0.3 , 1.  ])
    """

    def excess(factor: float) -> float:
        return float(np.exp(np.minimum(log_odds + factor, 0.0)).mean() - share)

    ends = -_FAR - log_odds.max(), _FAR - log_odds.min()
    return np.exp(np.minimum(log_odds + brentq(excess, *ends), 0.0))


def shift_to_share(log_odds: Array, share: float) -> float:
    """Return what to add to log odds, so that the mean of the probabilities is the share.

    Examples
    --------
    >>> shift = shift_to_share(np.log([1.0, 3.0]), 0.2)
    >>> print(expit(np.log([1.0, 3.0]) + shift).mean().round(6))
    0.2
    """

    def excess(shift: float) -> float:
        return float(expit(log_odds + shift).mean() - share)

    return float(brentq(excess, -_FAR - log_odds.max(), _FAR - log_odds.min()))

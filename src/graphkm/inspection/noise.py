r"""How many labels are wrong, and the probability that each one is.

A mixture that learnt from partly wrong labels knows it: its held-out probabilities are as sure as
the labels that it met allow. So no more wrong labels than probabilities say can be told from the
probabilities alone. But rows of which the mixture is surest have hardly any other reason to differ
from their labels. Their share of labels that differ from the likeliest class is taken as the rate
:math:`\varepsilon` at which labels are wrong.

A label of the true class t is then c with the probability :math:`1 - \varepsilon` if c is t, and
:math:`\varepsilon R_{tc}` if not. R says where wrong labels go: those between similar classes are
common. With held-out probabilities p the label g of a row has the true class t with the probability

.. math::

    P(t \mid g) \propto p_t \, T_{tg} , \qquad
    T = (1 - \varepsilon) I + \varepsilon R , \qquad
    R_{tc} \propto \frac{1}{K - 1} + \sum_{i: g_i = c} P(t \mid g_i) ,

and both are computed in turns. The first term of R stands for one wrong label of each class, which
may go anywhere. The doubt of a label is :math:`1 - P(g \mid g)`.

A wrong quantity is taken for one of another row: as likely as any quantity is, whatever the row. A
right one is normal about what the mixture says, with the usual spread of held-out errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm

from ..members.member import LEAST

Array = NDArray[np.float64]

SUREST = 1 / 3
"""The share of rows, the surest ones, whose labels tell how many are wrong."""

_STEPS = 500
_CLOSE = 1e-8
_GRID = 2000  # rates that are tried for quantities
_SURE = (0.05, 0.95)  # the interval has 90 %
_TO_SPREAD = 1.0 / float(norm.ppf(0.75))  # of a normal distribution, from the median error


class Rate(NamedTuple):
    """The share of labels that are wrong, and the ends of a 90 % interval."""

    value: float
    low: float
    high: float


def rate_of(said: Array, given: NDArray[np.int64]) -> Rate:
    """Return the share of wrong labels, by the rows of which held-out probabilities are surest.

    Parameters
    ----------
    said : ndarray of shape (l, n_classes)
        Held-out probabilities.
    given : ndarray of int of shape (l,)
        The numbers of the given classes.

    Examples
    --------
    >>> said = np.array([[0.9, 0.1]] * 10 + [[0.6, 0.4]] * 10)
    >>> given = np.array([0] * 9 + [1] * 11)
    >>> round(rate_of(said, given).value, 2)
    0.06
    """
    surest = np.argsort(-said.max(axis=1), kind="stable")[: int(np.ceil(SUREST * len(given)))]
    wrong = float(np.sum(said[surest].argmax(axis=1) != given[surest])) + 0.5  # Jeffreys' prior
    right = len(surest) + 1.0 - wrong
    low, high = beta.ppf(_SURE, wrong, right)
    return Rate(wrong / (wrong + right), float(low), float(high))


def class_doubts(said: Array, given: NDArray[np.int64], rate: float) -> Array:
    """Return the probability that each label is wrong.

    The only label of a class has the rate itself: what was said of its row knew no such class.

    Examples
    --------
    >>> said = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.05, 0.95], [0.5, 0.5]])
    >>> class_doubts(said, np.array([0, 0, 1, 0, 1]), 0.2).round(2)
    array([0.03, 0.06, 0.03, 0.83, 0.2 ])
    """
    n, k = len(given), said.shape[1]
    likely = np.maximum(said, LEAST)
    apart = (1.0 - np.eye(k)) / (k - 1)
    to, right = apart, np.empty((n, k))
    doubts = np.ones(n)
    for _ in range(_STEPS):
        chances = (1.0 - rate) * np.eye(k) + rate * to
        right = likely * chances[:, given].T
        right /= right.sum(axis=1, keepdims=True)
        before, doubts = doubts, 1.0 - right[np.arange(n), given]
        if np.abs(doubts - before).max() < _CLOSE:
            break
        counts = np.zeros((k, k))
        np.add.at(counts, given, right)
        to = counts.T * (1.0 - np.eye(k)) + apart
        to /= to.sum(axis=1, keepdims=True)
    return np.where(np.bincount(given, minlength=k)[given] == 1, rate, doubts)


def spread_of(errors: Array) -> float:
    """Return the spread of errors, by their median: a few large ones do not change it."""
    usual = _TO_SPREAD * float(np.median(np.abs(errors)))
    return max(usual, float(np.finfo(np.float64).eps * np.abs(errors).max()), 1e-300)


def quantity_doubts(said: Array, told: Array) -> tuple[Array, Rate]:
    """Return the probability that each quantity is wrong, and the share of wrong ones.

    Every share is as likely as any other before the quantities are seen. If all quantities are
    equal, one of another row is the same, and none is wrong.

    Parameters
    ----------
    said, told : ndarray of shape (l,)
        Held-out and given quantities.

    Examples
    --------
    >>> told = np.arange(20.0)
    >>> said = told + 0.1 * (-1.0) ** np.arange(20)
    >>> said[3] = 12.0
    >>> doubts, rate = quantity_doubts(said, told)
    >>> int(doubts.argmax()), bool(doubts[3] > 0.99), bool(rate.low < 0.05 < rate.high)
    (3, True, True)
    """
    if np.ptp(told) == 0:
        return np.zeros(len(told)), Rate(0.0, 0.0, 0.0)
    errors = told - said
    fits = norm.logpdf(errors, scale=spread_of(errors))
    stray = norm.logpdf(told, told.mean(), max(float(told.std()), 1e-300))
    rates = (np.arange(_GRID) + 0.5) / _GRID
    ratio = np.exp(np.clip(stray - fits, -700.0, 700.0))
    logs = np.array([np.log1p(each * (ratio - 1.0)).sum() for each in rates])
    odds = np.exp(logs - logs.max())
    odds /= odds.sum()
    low, high = rates[np.searchsorted(np.cumsum(odds), _SURE)]
    mean = float(odds @ rates)
    return mean * ratio / (1.0 - mean + mean * ratio), Rate(mean, float(low), float(high))

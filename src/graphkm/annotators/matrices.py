r"""What annotators answer: a matrix for each, with a prior that keeps few answers tame.

:math:`\pi_j[t, c]` is the probability that annotator j answers c to a row of class t. Somebody who
gave five answers cannot fill a matrix of a hundred numbers. So each matrix is drawn towards a
*pattern*: the annotator is right with probability :math:`a_j`, and errors are spread over the other
classes. The pattern is drawn towards the mean annotator, who is right with probability a:

.. math::

    a_j = \frac{r_j + 5 a}{n_j + 5} , \qquad
    a = \frac{5 \sum_j a_j + 10 \cdot 0.75}{5 J + 10} , \qquad
    \pi_j[t, c] = \frac{n_j[t, c] + s_j \, \mathrm{pattern}_j[t, c]}{n_j[t] + s_j} .

Here :math:`r_j` of :math:`n_j` answers are right, as far as the shares of the rows say so, and
there are J annotators. If nothing tells how often they are right, three of four answers are. The
strength :math:`s_j` is not known: some people mix up two classes, and others err everywhere. So a
few strengths are tried. Each counts as much as it makes the annotator's answers likely (the
Dirichlet-multinomial distribution), times how common it is among all annotators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, softmax

Array = NDArray[np.float64]

RIGHT = 0.75
"""Before any answer is seen, so many answers are right."""

MEAN = 10.0
"""The belief in `RIGHT` counts as much as this, where each annotator counts as `PATTERN`."""

PATTERN = 5.0
"""The mean annotator counts as much as so many answers of each."""

STRENGTHS = np.array([3.0, 10.0, 30.0, 100.0, 300.0, 1000.0])
"""The pattern counts as much as so many answers to the rows of a class."""


class Matrices(NamedTuple):
    """What the annotators answer."""

    confusion: Array
    """(n_annotators, n_classes, n_classes): the probability of each answer, by true class."""
    right: Array
    """The probability that an annotator's answer is right."""
    mean: float
    """The same of the mean annotator."""


def first_matrices(given: Array) -> Matrices:
    """Return matrices of people of whom only is known how often they gave each answer.

    They are right three times of four. But who gives an answer more often than others do, gives it
    more often to rows of every class. So somebody who always gives the same answer hardly counts
    at first. Otherwise all rows might be taken to be of that class.

    Parameters
    ----------
    given : ndarray of shape (n_annotators, n_classes)
        How often each annotator gave each answer.

    Examples
    --------
    >>> first_matrices(np.array([[40.0, 40.0], [0.0, 80.0]])).confusion.round(2)
    array([[[0.89, 0.11],
            [0.49, 0.51]],
    <BLANKLINE>
           [[0.12, 0.88],
            [0.01, 0.99]]])
    """
    common = given.sum(axis=0) / given.sum()
    own = (given + PATTERN * common) / (given.sum(axis=1, keepdims=True) + PATTERN)
    right = np.full(len(given), RIGHT)
    confusion = pattern_of(right, given.shape[1]) * (own / common)[:, None]
    return Matrices(confusion / confusion.sum(axis=2, keepdims=True), right, RIGHT)


def first_weights(n_annotators: int) -> Array:
    """Return the weights of the strengths at first: all the same.

    With the largest strength alone nobody could be seen to always give the same answer, and the
    first steps would put all rows into the class of that answer.
    """
    return np.full((n_annotators, len(STRENGTHS)), 1.0 / len(STRENGTHS))


def pattern_of(right: Array, n_classes: int) -> Array:
    """Return matrices of people who are right so often, and err in all ways alike.

    Examples
    --------
    >>> pattern_of(np.array([0.8]), 3)
    array([[[0.8, 0.1, 0.1],
            [0.1, 0.8, 0.1],
            [0.1, 0.1, 0.8]]])
    """
    wrong = (1.0 - right) / (n_classes - 1)
    return np.where(np.eye(n_classes, dtype=bool), right[:, None, None], wrong[:, None, None])


def matrices_of(counts: Array, weights: Array) -> Matrices:
    """Return matrices from counts of answers and weights of strengths.

    Parameters
    ----------
    counts : ndarray of shape (n_annotators, n_classes, n_classes)
        How often an annotator gave each answer to rows of each class, as far as shares say so.
    weights : ndarray of shape (n_annotators, n_strengths)
        How much each of `STRENGTHS` counts.
    """
    hits, answers = np.einsum("jtt->j", counts), counts.sum(axis=(1, 2))
    # Both a_j = (r_j + 5 a) / (n_j + 5) and a = (5 sum_j a_j + 10 * 0.75) / (5 J + 10) hold.
    own = PATTERN / (answers + PATTERN)
    mean = float((own @ hits + MEAN * RIGHT) / (PATTERN * (1.0 - own).sum() + MEAN))
    right = (hits + PATTERN * mean) / (answers + PATTERN)
    pattern, rows = pattern_of(right, counts.shape[1]), counts.sum(axis=2)
    # The mean over strengths of (n + s p) / (m + s), without a table for each strength.
    shared = (weights[:, None] / (rows[:, :, None] + STRENGTHS)).sum(axis=2)
    confusion = shared[:, :, None] * counts + (1.0 - shared * rows)[:, :, None] * pattern
    return Matrices(confusion, right, mean)


def weights_of_strengths(counts: Array, right: Array, before: Array) -> Array:
    """Return how much each strength counts for each annotator.

    Parameters
    ----------
    counts : ndarray of shape (n_annotators, n_classes, n_classes)
        As in `matrices_of`.
    right : ndarray of shape (n_annotators,)
        How often they are right.
    before : ndarray of shape (n_annotators, n_strengths)
        The weights so far, whose means say how common the strengths are.

    Examples
    --------
    Somebody takes all rows of class 0 for class 1, which no pattern with equal errors does:

    >>> odd = np.array([[[0.0, 40.0, 0.0], [0.0, 40.0, 0.0], [0.0, 0.0, 40.0]]])
    >>> weights = weights_of_strengths(odd, np.array([0.67]), np.ones((1, 6)) / 6)
    >>> STRENGTHS[weights.argmax()]
    np.float64(3.0)
    """
    pattern, rows = pattern_of(right, counts.shape[1]), counts.sum(axis=2)
    logs = np.empty_like(before)
    for place, strength in enumerate(STRENGTHS):
        prior = strength * pattern
        whole = (gammaln(strength) - gammaln(rows + strength)).sum(axis=1)
        logs[:, place] = whole + (gammaln(counts + prior) - gammaln(prior)).sum(axis=(1, 2))
    common = (before.sum(axis=0) + 1.0) / (len(before) + len(STRENGTHS))
    return np.asarray(softmax(logs + np.log(common), axis=1))

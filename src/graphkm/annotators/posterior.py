r"""From answers to shares: the model of Dawid and Skene, fitted by expectation maximisation.

Row i has a class that nobody sees. Answers to it are drawn from the matrices of those who answered,
independently. So the shares of its classes are

.. math::

    s_i[t] \propto q_i[t] \prod_{(j, c)} \pi_j[t, c] ,

over all answers c of annotators j to it. The matrices come from the shares in turn
(`graphkm.annotators.matrices`), until neither changes.

The prior :math:`q_i` of a row is the sizes of the classes. If a model has something to say of the
row without having seen its answers, the prior is that, to a power b. The power is the one that
makes all answers likeliest: a model that was fitted to noisy labels is less sure than it could be
(b > 1), and others are too sure of themselves (b < 1). With such priors one answer a row tells who
is reliable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, log_softmax, logsumexp, softmax

from .answers import Answers
from .matrices import (
    PATTERN,
    Matrices,
    first_matrices,
    first_weights,
    matrices_of,
    weights_of_strengths,
)

Array = NDArray[np.float64]

SIZES = 1.0
"""In the sizes of classes the votes count as much as so many times the rows."""

LEAST = 1e-3
"""A model's smaller probabilities count as this one."""

_POWERS = np.geomspace(0.2, 5.0, 41)  # the powers that are tried
_BELIEF = 2.0  # a power of b costs this times log(b)^2
_TOLD = 10_000  # rows that choose the power; more say the same
_STEPS, _TURNS = 10, 60  # steps between two choices of powers and strengths; choices
_CLOSE = 1e-5  # change of reliabilities, and mean change of shares, that ends the search
_STEADY = 0.01  # change of the weights of strengths that ends it


class Posterior(NamedTuple):
    """What is known after all answers."""

    shares: Array
    """(n_rows, n_classes): the probability of every class of every row with answers."""
    matrices: Matrices
    """What the annotators answer."""
    errors: Array
    """The standard error of `matrices.right`."""
    power: float
    """The power of the model's probabilities; 1 without a model."""
    weights: Array
    """What the answers tell about every row, from 0 (nothing) to 1 (all), without the prior."""


def posterior(answers: Answers, prior: Array | None = None) -> Posterior:
    """Return shares and matrices.

    Parameters
    ----------
    answers : Answers
    prior : ndarray of shape (n_rows, n_classes), optional
        Probabilities of the classes of every row with answers, from a model that saw none of the
        row's answers. By default the sizes of the classes take their place.

    Examples
    --------
    >>> from graphkm.annotators.answers import read_answers
    >>> rows, who = np.repeat(np.arange(40), 3), np.tile(["eva", "tom", "uwe"], 40)
    >>> said = np.repeat(np.arange(40) % 2, 3)
    >>> said[2::3] = 0  # uwe says 0 of everything
    >>> found = posterior(read_answers((rows, who, said)))
    >>> found.matrices.right.round(2)
    array([0.98, 0.98, 0.53])
    """
    told = answers.votes.sum(axis=1, keepdims=True)
    voted = (answers.votes / told).sum(axis=0) + 1.0
    logs = None if prior is None else np.log(np.maximum(prior, LEAST))
    n = len(answers.annotators)
    matrices, weights, power = first_matrices(answers.given), first_weights(n), 1.0
    before = np.log(voted / voted.sum())[None] if logs is None else logs
    evidence = _evidence(answers, matrices.confusion)
    for _ in range(_TURNS):
        if logs is not None:
            power = _likeliest_power(logs, evidence)
            before = log_softmax(power * logs, axis=1)
        shares = softmax(before + evidence, axis=1)
        for _ in range(_STEPS):
            was, right = shares, matrices.right
            matrices = matrices_of(_counts(answers, shares), weights)
            evidence = _evidence(answers, matrices.confusion)
            if logs is None:
                sizes = shares.sum(axis=0) + SIZES * voted
                before = np.log(sizes / sizes.sum())[None]
            shares = softmax(before + evidence, axis=1)
        old = weights
        weights = weights_of_strengths(_counts(answers, shares), matrices.right, old)
        moved = np.abs(shares - was).mean(), np.abs(matrices.right - right).max()
        if max(moved) < _CLOSE and np.abs(weights - old).max() < _STEADY:
            break
    errors = standard_errors(answers, shares, matrices.right)
    return Posterior(shares, matrices, errors, power, _told(evidence))


def _evidence(answers: Answers, confusion: Array) -> Array:
    """Return the log likelihood of every row's answers, by its class."""
    k = confusion.shape[1]
    return np.asarray(answers.counts @ np.log(confusion).transpose(0, 2, 1).reshape(-1, k))


def _counts(answers: Answers, shares: Array) -> Array:
    """Return how often each annotator gave each answer to rows of each class."""
    k = shares.shape[1]
    return np.asarray(answers.counts.T @ shares).reshape(-1, k, k).transpose(0, 2, 1)


def _told(evidence: Array) -> Array:
    """Return how much less than a guess is left open by the answers to each row."""
    open_ = entr(softmax(evidence, axis=1)).sum(axis=1)
    return np.clip(1.0 - open_ / np.log(evidence.shape[1]), 0.0, 1.0)


def _likeliest_power(logs: Array, evidence: Array) -> float:
    """Return the power of the prior under which the answers are likeliest."""
    if len(logs) > _TOLD:
        some = np.random.default_rng(0).choice(len(logs), _TOLD, replace=False)
        logs, evidence = logs[some], evidence[some]
    likely = [
        logsumexp(log_softmax(power * logs, axis=1) + evidence, axis=1).sum()
        - _BELIEF * np.log(power) ** 2
        for power in _POWERS
    ]
    return float(_POWERS[int(np.argmax(likely))])


def standard_errors(answers: Answers, shares: Array, right: Array) -> Array:
    """Return the standard errors of reliabilities.

    If all classes were known, n answers would tell the share a that is right with the variance
    a (1 - a) / n. An answer that is right with probability r tells less, by r (1 - r): the
    information that is missing (Louis, 1982).
    """
    r = shares[answers.row, answers.answer]
    missing = np.bincount(answers.annotator, r * (1.0 - r), minlength=len(right))
    spread = right * (1.0 - right)
    told = np.maximum(answers.per_annotator * spread - missing, 0.0) + PATTERN * spread
    return np.asarray(spread / np.sqrt(told))

r"""The share of positives among unlabelled rows, estimated from held-out scores.

Labelled positives were drawn at random. So the positives among the unlabelled rows have the same
scores as they do, if labels are held out. Take a scale on which the scores of positives are normal,
with mean 0 and variance 1: their quantiles define it. Assume that the scores of the rest are normal
on that scale, too, with mean -d and variance 1. It is the binormal model of ROC curves. Unlabelled
scores then have the density

.. math::

    \pi \, \phi(s) + (1 - \pi) \, \phi(s + d) ,

and the most likely :math:`\pi` and d are found by expectation maximisation for every d of a list.
Only tenths of the positives are looked at, because a positive's own score says little about the
scale. Where the assumption fails, the share is too large if the rest has rows that score as high as
positives.

The interval has the middle 95 % of estimates from rows that are drawn again, with replacement. It
does not know of wrong assumptions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Array = NDArray[np.float64]

BINS = 10
"""Scores are counted between the tenths of the positives' scores."""

_DISTANCES = np.arange(0.5, 6.05, 0.1)  # candidates of d: classes that are nearer look alike
_STEPS = 200  # of expectation maximisation
_DRAWS = 100  # estimates of which the middle 95 % are the interval


class Share(NamedTuple):
    """An estimated share."""

    value: float
    low: float
    high: float


def share_of_positives(positives: Array, unlabeled: Array, rng: np.random.Generator) -> Share:
    """Return the share of positives among unlabelled rows, with a 95 % interval.

    Parameters
    ----------
    positives, unlabeled : ndarray
        Held-out scores of labelled positives, and of unlabelled rows.
    rng : Generator
        Draws rows again.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rest = np.append(rng.normal(2.0, size=300), rng.normal(0.0, size=700))
    >>> found = share_of_positives(rng.normal(2.0, size=200), rest, rng)
    >>> found.low < 0.3 < found.high
    True
    """
    counts = [_counts(positives, unlabeled)]
    for _ in range(_DRAWS):
        own = rng.choice(positives, len(positives)), rng.choice(unlabeled, len(unlabeled))
        counts.append(_counts(*own))
    value, *drawn = _most_likely(np.array(counts, dtype=np.float64)).tolist()
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    return Share(value, min(value, low), max(value, high))


def _most_likely(counts: Array) -> Array:
    """Return the most likely share for every line of counts of the bins."""
    edges = ndtri(np.arange(1, BINS) / BINS)
    below = ndtr(edges + _DISTANCES[:, None])
    rest = np.diff(below, axis=1, prepend=0.0, append=1.0)  # of bins, for every distance
    seen = counts / counts.sum(axis=1, keepdims=True)
    share = np.full((len(seen), len(rest)), 0.5)
    for _ in range(_STEPS):
        mixed = share[:, :, None] / BINS + (1.0 - share)[:, :, None] * rest
        share = share / BINS * np.einsum("ib,idb->id", seen, 1.0 / mixed)
    mixed = share[:, :, None] / BINS + (1.0 - share)[:, :, None] * rest
    best = np.einsum("ib,idb->id", seen, np.log(mixed)).argmax(axis=1)
    return np.asarray(share[np.arange(len(seen)), best])


def _counts(positives: Array, unlabeled: Array) -> NDArray[np.int64]:
    """Return how many unlabelled scores lie in each tenth of the positives."""
    return np.bincount(_bins_of(positives, unlabeled), minlength=BINS)


def _bins_of(positives: Array, unlabeled: Array) -> NDArray[np.int64]:
    """Return the tenth of the positives that each unlabelled score lies in.

    Equal scores are spread evenly over the tenths that they reach.

    Examples
    --------
    >>> _bins_of(np.arange(20.0), np.array([-1.0, 0.5, 10.0, 99.0]))
    array([0, 0, 5, 9])
    >>> np.bincount(_bins_of(np.zeros(5), np.zeros(20)))
    array([2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    """
    ordered, n = np.sort(positives), len(positives)
    low, high = (np.searchsorted(ordered, unlabeled, side=each) for each in ("left", "right"))
    turn = np.empty(len(unlabeled))
    order = np.argsort(unlabeled, kind="stable")
    _, start, sizes = np.unique(unlabeled[order], return_index=True, return_counts=True)
    turn[order] = (np.arange(len(order)) - np.repeat(start, sizes) + 0.5) / np.repeat(sizes, sizes)
    place = low + (high - low) * turn
    return np.minimum((place * BINS / n).astype(np.int64), BINS - 1)

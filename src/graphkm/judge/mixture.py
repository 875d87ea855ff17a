r"""How much each member of a mixture counts, and what the mixture is worth.

A mixture says

.. math::

    P(y \mid x) = \sum_m w_m \, p_m(y \mid x) .

The weights are those under which the held-out labels are most likely, with a Dirichlet prior. They
come from expectation maximisation: each label is shared among the members, in proportion to weight
times the probability that the member gave to it. A member's new weight is its share of all labels.

The prior prefers members that do well alone: it is the fourth root of a member's own likelihood,
times the odds that the member comes with. The odds prefer simple members, which have few functions
to choose from and are less often right by luck, and members that cut few edges of the graph
(`graphkm.semi.odds`). The prior counts as much as ten labels. The root keeps members that
are plainly wrong out of the mixture. With l labels, the members that know only the labelled rows
have the share l / (l + 100) of the prior together, however many others there are. Without this
rule, every further member on the graph would make the graph count more. But the more labels there
are, the less the graph is needed (`benchmarks/judge.py` compares).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from .folds import FEWEST, Folds
from .temperature import best_temperature, log_probabilities

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

Without = Callable[[NDArray[np.int64], NDArray[np.int64]], tuple[Array, Array]]
"""Takes labels to see and labels to tell, by position. Returns held-out scores of the first, and
scores of the second, from fits that saw none of the second."""

PRIOR = 10.0
"""The prior counts as much as so many labels."""

LABELS_ALONE = 100.0
"""With so many labels, the members that know only the labelled rows have half of the prior."""

ALONE = 0.25
"""A member's share of the prior is proportional to its own likelihood to this power."""

_STEPS = 300
_CLOSE = 1e-6  # change of the weights in a step that ends the search


def mixture_weights(
    logs: Array,
    weights: Array | None = None,
    odds: Array | None = None,
    labels_only: Flags | None = None,
) -> Array:
    """Return the weights of the members, by what they said of held-out labels.

    Parameters
    ----------
    logs : ndarray of shape (l, n_members)
        Logarithms of the probabilities that each member gave to the true labels.
    weights : ndarray of shape (l,), optional
        Weights of the labels, whose mean is 1; all the same by default. If no label can be held
        out, `logs` has no rows, but all labels have weights.
    odds : ndarray of shape (n_members,), optional
        The logarithm of each member's odds before any label is seen; all the same by default.
    labels_only : ndarray of bool of shape (n_members,), optional
        Which members know only the labelled rows; by default all are of one kind.

    Returns
    -------
    ndarray of shape (n_members,)

    Examples
    --------
    >>> sure, guess = np.full(90, np.log(0.9)), np.full(90, np.log(0.5))
    >>> mixture_weights(np.column_stack([sure, guess])).round(2)
    array([1., 0.])
    >>> mixture_weights(np.empty((0, 2)), odds=-np.log([5.0, 10.0])).round(2)
    array([0.67, 0.33])
    """
    s = np.ones(len(logs)) if weights is None else weights
    simple = np.zeros(logs.shape[1]) if odds is None else odds
    kinds = np.zeros(logs.shape[1], bool) if labels_only is None else labels_only
    if len(logs) < FEWEST:
        return shared_prior(simple, kinds, s.sum())
    prior = PRIOR * shared_prior(simple + ALONE * (s @ logs), kinds, s.sum())
    shifted = np.exp(logs - logs.max(axis=1, keepdims=True))
    w = np.full(logs.shape[1], 1.0 / logs.shape[1])
    total = s.sum() + PRIOR
    for _ in range(_STEPS):
        said = shifted * w
        before, w = w, (s @ (said / said.sum(axis=1, keepdims=True)) + prior) / total
        if np.abs(w - before).max() < _CLOSE:
            break
    return np.asarray(w)


def shared_prior(logs: Array, labels_only: Flags, n_labels: float) -> Array:
    """Return shares that add up to 1; within each kind they are in proportion to exp(logs)."""
    if labels_only.all() or not labels_only.any():
        return np.asarray(softmax(logs))
    alone, shares = n_labels / (n_labels + LABELS_ALONE), np.empty_like(logs)
    shares[labels_only] = alone * softmax(logs[labels_only])
    shares[~labels_only] = (1.0 - alone) * softmax(logs[~labels_only])
    return shares


class Verdict(NamedTuple):
    """What held-out labels say of the members."""

    weights: Array
    """The weight of every member; with several labels or quantities, in every column."""
    sizes: Array
    """The temperature of every member; of labels, its temperatures and offsets; of quantities, the
    spreads of its errors."""
    losses: Array
    """Mean held-out log loss of every member alone."""
    scores: Array
    """Held-out score of every member alone: accuracy, or R^2."""
    score: float
    """Held-out score of the mixture, with weights from other folds."""
    held: Array
    """What the mixture says of every label that it did not see: probabilities or quantities."""


def judge_classes(
    held: Array,
    codes: NDArray[np.int64],
    weights: Array,
    sizes: Array,
    odds: Array,
    folds: Folds,
    without: Sequence[Without | None] | None = None,
    labels_only: Flags | None = None,
) -> Verdict:
    """Judge members that predict classes.

    Parameters
    ----------
    held : ndarray of shape (n_members, l, n_classes)
        Scores of every member from fits that did not see the row's label.
    codes : ndarray of int of shape (l,)
        The labels, as numbers of classes.
    weights : ndarray of shape (l,)
        Weights of the labels, whose mean is 1.
    sizes : ndarray of shape (n_members,)
        The temperature of every member before labels are seen.
    odds : ndarray of shape (n_members,)
        As in `mixture_weights`.
    folds : list of (train, test)
        Positions among the labels. The score of a fold has weights from the others. Without folds
        nothing can be judged: the weights are the prior, and scores are NaN.
    without : list of callable or None, optional
        For every member, what fits it again without some labels; see `Without`.
    labels_only : ndarray of bool of shape (n_members,), optional
        As in `mixture_weights`.
    """
    rows, pairs = np.arange(len(codes)), zip(held, sizes, strict=True)
    found = np.array([best_temperature(each, codes, weights, size) for each, size in pairs])
    logs = log_probabilities(held, found[:, None, None])
    true = logs[:, rows, codes].T
    w = mixture_weights(true if folds else true[:0], weights, odds, labels_only)
    mixed = np.einsum("m,mik->ik", w, np.exp(logs))
    for train, test in folds:
        seen, told = apart(held, without, train, test)
        own, pairs = codes[train], zip(seen, sizes, strict=True)
        t = np.array([best_temperature(each, own, weights[train], size) for each, size in pairs])
        seen, told = (log_probabilities(each, t[:, None, None]) for each in (seen, told))
        of_true = seen[:, np.arange(len(own)), own].T
        part = mixture_weights(of_true, weights[train], odds, labels_only)
        mixed[test] = np.einsum("m,mik->ik", part, np.exp(told))
    hits = held.argmax(axis=-1) == codes
    return Verdict(
        w,
        found,
        -np.average(true, axis=0, weights=weights),
        np.average(hits, axis=1, weights=weights),
        float(np.average(mixed.argmax(axis=1) == codes, weights=weights)) if folds else np.nan,
        mixed,
    )


def apart(
    held: Array,
    without: Sequence[Without | None] | None,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> tuple[Array, Array]:
    """Return what members say of the labels that weigh them, and of the labels that score them.

    A member on the graph carries labels from the rows of `test` to the rows of `train`. So its
    held-out scores at `train` know the labels of `test`, which are to score it. It is therefore
    fitted again without them.
    """
    seen, told = held[:, train].copy(), held[:, test].copy()
    for place, refit in enumerate(without or ()):
        if refit is not None:
            seen[place], told[place] = refit(train, test)
    return seen, told

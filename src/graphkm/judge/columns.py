r"""Weights of members that predict several columns: labels of a row, or quantities.

Every column has weights of its own, because the best member may differ between columns. But a rare
label says little about members. So there are common weights, from all columns together, and they
count as much as 20 labels in every column.

A member's score s of a label becomes the probability

.. math::

    p = \frac{1}{1 + e^{-(t s + b)}} ,

with one temperature t and one offset b for each member and label, from held-out labels. Before
labels are seen, log t and b are expected to be near 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, log_expit

from .folds import FEWEST, Folds
from .mixture import ALONE, PRIOR, Array, Flags, Verdict, Without, apart, shared_prior
from .temperature import BELIEF

BORROWED = 20.0
"""The weights of all columns together count as much as so many labels in each of them."""

_STEPS = 300
_CLOSE = 1e-6  # change of the weights of one column that ends the search
_NEAR = 1e-4  # the same for several columns
_OFFSET = 0.5  # an offset of b costs this times b^2
_NEWTON = 12  # steps to a temperature and an offset


def column_weights(
    logs: Array, cells: Array, odds: Array | None = None, labels_only: Flags | None = None
) -> Array:
    """Return the weights of the members in every column.

    Parameters
    ----------
    logs : ndarray of shape (n_members, l, n_columns)
        Logarithms of the probabilities that members gave to the truth. If no label can be held
        out, it has no rows, but all labels have weights.
    cells : ndarray of shape (l, n_columns)
        Weights of the labels; 0 where a column is not known.
    odds : ndarray of shape (n_members,), optional
        The logarithm of each member's odds before any label is seen; all the same by default.
    labels_only : ndarray of bool of shape (n_members,), optional
        Which members know only the labelled rows; by default all are of one kind.

    Returns
    -------
    ndarray of shape (n_members, n_columns)

    Examples
    --------
    >>> sure, guess = np.full((90, 2), np.log(0.9)), np.full((90, 2), np.log(0.5))
    >>> known = np.column_stack([np.ones(90), np.arange(90) < 4])  # four labels in a column
    >>> column_weights(np.array([sure, guess]), known).round(2)
    array([[1.  , 0.83],
           [0.  , 0.17]])
    """
    m, _, q = logs.shape
    simple = np.zeros(m) if odds is None else odds
    kinds = np.zeros(m, bool) if labels_only is None else labels_only
    n = cells.sum(axis=0)
    enough = (np.count_nonzero(cells, axis=0) >= FEWEST) & (logs.shape[1] > 0)
    counted = np.zeros((m, q))
    if logs.shape[1]:
        counted = np.where(enough, ALONE * np.einsum("iq,miq->mq", cells, logs), 0.0)
    own = [
        shared_prior(simple + each, kinds, size) for each, size in zip(counted.T, n, strict=True)
    ]
    if not enough.any():
        return np.column_stack(own)
    prior = PRIOR * np.column_stack(own)
    shifted = np.exp(logs - logs.max(axis=0))
    used = cells * enough
    if q == 1:
        return _most_likely(shifted, used, prior, _CLOSE)
    every = PRIOR * shared_prior(simple + counted.mean(axis=1), kinds, float(n.mean()))
    flat, seen = shifted[:, used > 0], used[used > 0]
    common = _most_likely(flat[:, :, None], seen[:, None], every[:, None], _NEAR)
    return _most_likely(shifted, used, prior + BORROWED * common, _NEAR)


def _most_likely(said: Array, cells: Array, prior: Array, close: float) -> Array:
    """Return the weights from expectation maximisation; the prior counts as its sum of labels."""
    w = np.full((len(said), said.shape[2]), 1.0 / len(said))
    total = cells.sum(axis=0) + prior.sum(axis=0)
    for _ in range(_STEPS):
        mixed = np.einsum("mq,miq->iq", w, said)
        shares = np.divide(cells, mixed, out=np.zeros_like(cells), where=cells > 0)
        before, w = w, (w * np.einsum("miq,iq->mq", said, shares) + prior) / total
        if np.abs(w - before).max() < close:
            break
    return np.asarray(w)


def best_lines(held: Array, y: Array, cells: Array) -> Array:
    """Return the temperatures and offsets with which scores fit held-out labels best.

    Parameters
    ----------
    held : ndarray of shape (n_members, l, n_labels)
        Scores from fits that did not see the row's labels.
    y : ndarray of shape (l, n_labels)
        The labels, 0 or 1.
    cells : ndarray of shape (l, n_labels)
        Their weights; 0 where a label is not known.

    Returns
    -------
    ndarray of shape (n_members, 2, n_labels)

    Examples
    --------
    >>> y = np.repeat([[1.0], [0.0]], 40, axis=0)
    >>> best_lines(np.array([3.0 * y - 1.5]), y, np.ones((80, 1))).round(1) + 0.0
    array([[[2.9],
            [0. ]]])
    """
    heat, offset = np.zeros((2, len(held), held.shape[2]))
    for _ in range(_NEWTON):
        t = np.exp(heat)[:, None]
        warm = t * held
        p = expit(warm + offset[:, None])
        slope, curve = cells * (p - y), cells * p * (1.0 - p)
        of_heat = (slope * warm).sum(axis=1) + 2.0 * BELIEF * heat
        of_offset = slope.sum(axis=1) + 2.0 * _OFFSET * offset
        curved = curve * warm
        both, off = curved.sum(axis=1), curve.sum(axis=1) + 2.0 * _OFFSET
        hot = (curved * warm).sum(axis=1) + 2.0 * BELIEF
        whole = hot * off - both**2
        heat -= np.clip((off * of_heat - both * of_offset) / whole, -1.0, 1.0)
        offset -= np.clip((hot * of_offset - both * of_heat) / whole, -2.0, 2.0)
    return np.stack([np.exp(heat), offset], axis=1)


def label_shares(scores: Array, line: Array) -> Array:
    """Return the probabilities of labels with these scores.

    Examples
    --------
    >>> label_shares(np.array([[0.0, 1.0]]), np.array([[1.0, 1.0], [0.0, -1.0]]))
    array([[0.5, 0.5]])
    """
    return np.asarray(expit(_lined(scores, line)))


def _lined(scores: Array, line: Array) -> Array:
    return np.asarray(line[..., 0, :][..., None, :] * scores + line[..., 1, :][..., None, :])


def _logs(held: Array, lines: Array, y: Array, cells: Array) -> Array:
    """Return the logarithms of the probabilities of known labels; 0 elsewhere."""
    scores = _lined(held, lines)
    return np.where(cells > 0, log_expit(np.where(y > 0, scores, -scores)), 0.0)


def judge_labels(
    held: Array,
    y: Array,
    cells: Array,
    odds: Array,
    folds: Folds,
    without: Sequence[Without | None] | None = None,
    labels_only: Flags | None = None,
) -> Verdict:
    """Judge members that predict several labels.

    Parameters
    ----------
    held : ndarray of shape (n_members, l, n_labels)
        Scores of every member from fits that did not see the row's labels.
    y : ndarray of shape (l, n_labels)
        The labels, 0 or 1.
    cells : ndarray of shape (l, n_labels)
        Their weights; 0 where a label is not known.
    odds, folds, without, labels_only
        As in `judge_classes`.
    """
    y = np.where(cells > 0, y, 0.0)
    lines = best_lines(held, y, cells)
    logs = _logs(held, lines, y, cells)
    w = column_weights(logs if folds else logs[:, :0], cells, odds, labels_only)
    shares = label_shares(held, lines)
    mixed = np.einsum("mq,miq->iq", w, shares)
    for train, test in folds:
        seen, told = apart(held, without, train, test)
        own = best_lines(seen, y[train], cells[train])
        of_true = _logs(seen, own, y[train], cells[train])
        part = column_weights(of_true, cells[train], odds, labels_only)
        mixed[test] = np.einsum("mq,miq->iq", part, label_shares(told, own))
    right = np.average((shares > 0.5) == (y > 0.5), axis=(1, 2), weights=_alike(cells, shares))
    score = float(np.average((mixed > 0.5) == (y > 0.5), weights=cells)) if folds else np.nan
    losses = -(cells * logs).sum(axis=(1, 2)) / cells.sum()
    return Verdict(w, lines, losses, np.asarray(right), score, mixed)


def _alike(cells: Array, every: Array) -> Array:
    return np.broadcast_to(cells, every.shape)


def judge_quantities(
    held: Array,
    targets: Array,
    cells: Array,
    odds: Array,
    folds: Folds,
    without: Sequence[Without | None] | None = None,
    labels_only: Flags | None = None,
) -> Verdict:
    """Judge members that predict quantities: each is a normal distribution around what it says.

    Parameters
    ----------
    held : ndarray of shape (n_members, l, n_columns)
        What every member says of rows whose targets it did not see.
    targets, cells : ndarray of shape (l, n_columns)
        The targets, and their weights: 0 where one is not known.
    odds, folds, without, labels_only
        As in `judge_classes`.
    """
    targets = np.where(cells > 0, targets, 0.0)
    spreads, logs = _normal(held, targets, cells)
    w = column_weights(logs if folds else logs[:, :0], cells, odds, labels_only)
    mixed = np.einsum("mq,miq->iq", w, held)
    for train, test in folds:
        seen, told = apart(held, without, train, test)
        own = _normal(seen, targets[train], cells[train])[1]
        part = column_weights(own, cells[train], odds, labels_only)
        mixed[test] = np.einsum("mq,miq->iq", part, told)
    return Verdict(
        w,
        spreads,
        -(cells * logs).sum(axis=(1, 2)) / cells.sum(),
        np.array([r_squared(each, targets, cells) for each in held]),
        r_squared(mixed, targets, cells) if folds else np.nan,
        mixed,
    )


def _normal(held: Array, targets: Array, cells: Array) -> tuple[Array, Array]:
    """Return the spread of every member's errors, and the log likelihoods of the targets."""
    errors = np.where(cells > 0, targets - held, 0.0)
    least = np.finfo(np.float64).eps * np.where(targets.any(axis=0), np.abs(targets).max(axis=0), 1)
    total = np.maximum(cells.sum(axis=0), 1e-300)
    spreads = np.maximum(np.sqrt((cells * errors**2).sum(axis=1) / total), least)
    logs = -np.log(spreads)[:, None] - 0.5 * (errors / spreads[:, None]) ** 2
    return spreads, np.where(cells > 0, logs, 0.0)


def r_squared(said: Array, targets: Array, cells: Array) -> float:
    """Return R^2 as scikit-learn defines it: the mean over the columns, where targets are known.

    It is NaN if every column has a single target, which has no spread. Quantities of any size have
    an R^2, because their powers of two are left out.

    Examples
    --------
    >>> r_squared(np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]]), np.ones((2, 1)))
    0.5
    """
    from sklearn.metrics import r2_score

    found = []
    for own, true, weights in zip(said.T, targets.T, cells.T, strict=True):
        told = weights > 0
        if told.sum() > 1:
            power = np.frexp(np.abs(true[told]).max())[1]
            both = (np.ldexp(each[told], -power) for each in (true, own))
            found.append(r2_score(*both, sample_weight=weights[told]))
    return float(np.mean(found)) if found else np.nan

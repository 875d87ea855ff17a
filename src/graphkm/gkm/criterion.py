"""How good a candidate is, judged from the labelled points alone.

Both criteria use the squared loss, because its leave-one-out scores have a closed form. If point i
has the leverage h_i and the score f_i, a fit without it gives it the score
(f_i - h_i y_i) / (1 - h_i).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv

from ..graphs.distinct import Copies
from ..losses import Loss
from ..machines.classes import winning_class
from ..solvers.refits import left_out, refit_scores

Matrix = NDArray[np.float64]

ENOUGH = 5
"""With this many labels per class, fits on halves of the labels are compared."""

FEWEST = 8
"""Labels that can be left out; with fewer, the score is NaN."""

_HALVINGS = 15
_FOLDS = 10
_MARGIN = 0.3  # weight of the margins against the errors, in logarithms
_AGREEMENT = 0.1  # of the disagreement
_LEAST = 0.02  # smaller disagreements count as equal
_SHARES = 0.1  # of the divergence of class shares

GAIN = 0.05
"""A graph is preferred if it reduces the held-out error by this share."""

STEP = 0.25
"""Price of each step down the lists of values, which are in order of preference. It matters only
with very few labels."""


class Labels(NamedTuple):
    """The labelled points as the criteria see them."""

    targets: Matrix  # of shape (l, n_outputs)
    weights: NDArray[np.float64]
    codes: NDArray[np.int64] | None  # classes; None in regression
    copies: Copies | None = None  # which of the points are equal; None if none are

    def at(self, rows: NDArray[np.int64]) -> Labels:
        """Return some of the points, in the given order."""
        codes = None if self.codes is None else self.codes[rows]
        copies = None if self.copies is None else Copies.of(self.copies.place[rows])
        return Labels(self.targets[rows], self.weights[rows], codes, copies)


class Judgement(NamedTuple):
    """The judgement of one candidate: the smaller the loss, the better."""

    loss: float
    score: float  # leave-one-out accuracy, or R^2 in regression


def leave_one_out(phi: Matrix, labels: Labels, Cs: NDArray[np.float64]) -> list[Matrix]:
    """Return every labelled point's scores from a fit without it and its copies, one array per C.

    The fit minimises 1/2 ||v||^2 + C/2 sum_i s_i (y_i - <v, phi_i>)^2.

    Examples
    --------
    >>> phi, y = np.array([[1.0], [2.0]]), np.array([[1.0], [0.0]])
    >>> labels = Labels(y, np.ones(2), None)
    >>> leave_one_out(phi, labels, np.array([1.0]))[0].ravel().round(6).tolist()
    [0.0, 1.0]
    """
    root = np.sqrt(labels.weights)[:, None]
    rows, y = root * phi, root * labels.targets
    values, vectors = eigh(rows.T @ rows, check_finite=False)
    rows = rows @ vectors
    values = np.maximum(values, 0.0)
    scores = []
    for C in Cs:
        shrunk = rows / (values + 1.0 / C)
        found = left_out(shrunk @ (rows.T @ y), y, shrunk, rows, labels.copies)
        scores.append(np.divide(found, root, out=np.zeros_like(found), where=root > 0))
    return scores


def disagreement(
    phi: Matrix,
    others: Matrix,
    labels: Labels,
    Cs: NDArray[np.float64],
    halves: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> NDArray[np.float64]:
    """Return how often fits on the two halves of the labels differ on other points, per C."""
    share = np.zeros(len(Cs))
    for pair in halves:
        grams = []
        for half in pair:
            rows = labels.weights[half, None] * phi[half]
            grams.append((rows.T @ phi[half], rows.T @ labels.targets[half]))
        for i, C in enumerate(Cs):
            votes = []
            for gram, right in grams:
                ridge = gram + np.eye(len(gram)) / C
                votes.append(winning_class(others @ dposv(ridge, right)[1]))
            share[i] += float(np.mean(votes[0] != votes[1])) / len(halves)
    return share


def share_divergence(
    phi: Matrix, others: Matrix, labels: Labels, Cs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how far the predicted classes' shares are from the labels' shares, per C.

    It is their Kullback-Leibler divergence, which is large if a class is hardly ever predicted.
    """
    codes = labels.codes
    assert codes is not None
    counts = np.bincount(codes)
    wanted = counts / counts.sum()
    rows = labels.weights[:, None] * phi
    gram, right = rows.T @ phi, rows.T @ labels.targets
    divergence = np.empty(len(Cs))
    for i, C in enumerate(Cs):
        votes = winning_class(others @ dposv(gram + np.eye(len(gram)) / C, right)[1])
        found = np.bincount(votes, minlength=len(counts)) + 1.0
        divergence[i] = float(wanted @ np.log(wanted * found.sum() / found))
    return divergence


def split_in_halves(
    codes: NDArray[np.int64], random: np.random.Generator, copies: Copies | None = None
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return random halvings of the labelled points, class by class; copies share a half.

    Classes take turns as they first appear, so that their names do not matter.
    """
    if copies is not None:
        return copies.together(split_in_halves(codes[copies.first], random))
    halvings, classes = [], np.asarray(list(dict.fromkeys(codes.tolist())))
    for _ in range(_HALVINGS):
        parts: tuple[list[Any], list[Any]] = ([], [])
        for code in classes:
            rows = random.permutation(np.flatnonzero(codes == code))
            middle = (len(rows) + int(random.integers(2))) // 2
            parts[0].append(rows[:middle])
            parts[1].append(rows[middle:])
        halvings.append((np.concatenate(parts[0]), np.concatenate(parts[1])))
    return halvings


def judged_rows(labels: Labels) -> NDArray[np.int64]:
    """Return which labels can be left out: those that count, and have company in their class.

    A point's copies are left out with it, and are no company.
    """
    codes, counted = labels.codes, np.flatnonzero(labels.weights > 0)  # others do not count
    assert codes is not None
    own = counted if labels.copies is None else labels.copies.place[counted]
    sets = np.unique(np.column_stack([codes[counted], own]), axis=0)
    counts = np.bincount(sets[:, 0], minlength=codes.max() + 1)
    return counted[counts[codes[counted]] > 1]


def judge_classes(
    scores: Matrix, labels: Labels, disagreement: float | None = None, divergence: float = 0.0
) -> Judgement:
    """Judge leave-one-out scores of a classification.

    Errors count most: the mean of the error rates over points and over classes. The disagreement
    on unlabelled points breaks ties; if it is unknown, the squared error of the scores does. The
    divergence of the predicted class shares counts a little. A point that is the only one of its
    class is skipped: without it the class is unknown. With fewer than eight points the score is
    NaN.
    """
    codes, judged = labels.codes, judged_rows(labels)
    assert codes is not None
    if len(judged) < FEWEST:
        return Judgement(0.0, float("nan"))
    counts = np.bincount(codes, labels.weights > 0)
    wrong = winning_class(scores[judged]) != codes[judged]
    by_class = np.bincount(codes[judged], wrong)[np.unique(codes[judged])]
    balanced = float(np.mean(by_class / counts[np.unique(codes[judged])]))
    error = 0.5 * float(wrong.mean()) + 0.5 * balanced
    n = len(judged)
    loss = 0.5 * n * np.log(error + 1.0 / n)
    if disagreement is not None:
        loss += _AGREEMENT * n * np.log(disagreement + _LEAST)
    else:
        squares = float(np.mean(np.square(labels.targets[judged] - scores[judged])))
        loss += _MARGIN * n * np.log(squares + 1e-3)
    loss += _SHARES * n * divergence
    return Judgement(float(loss), 1.0 - float(wrong.mean()))


def judge_values(scores: Matrix, labels: Labels) -> Judgement:
    """Judge leave-one-out scores of a regression by their squared error."""
    squares = np.average(np.square(labels.targets - scores)[:, 0], weights=labels.weights)
    mean = np.average(labels.targets[:, 0], weights=labels.weights)
    spread = np.average(np.square(labels.targets[:, 0] - mean), weights=labels.weights)
    score = 1.0 - float(squares / spread) if spread else float("nan")
    return Judgement(float(squares), score)


def hold_out(phi: Matrix, labels: Labels, C: float, loss: Loss) -> Matrix:
    """Return every labelled point's score from a fit to the other folds with the given loss."""
    n = len(labels.targets if labels.copies is None else labels.copies.first)
    fold = np.random.default_rng(0).permutation(n) % _FOLDS
    fold = fold if labels.copies is None else fold[labels.copies.place]
    each = np.unique(fold)
    folds = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in each]
    scores = np.zeros_like(labels.targets)
    held = np.concatenate([test for _, test in folds])
    scores[held] = refit_scores(phi, labels.targets, C * labels.weights, loss, folds)
    return scores

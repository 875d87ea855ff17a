"""How good a candidate is, judged from the labelled points alone.

For classes, a candidate is judged by the probabilities that it gives to labels it has not seen, as
in `judge`. For quantities, it is judged by its squared error. Both use fits with the squared loss,
because its leave-one-out scores have a closed form. If point i has the leverage h_i and the score
f_i, a fit without it gives it the score (f_i - h_i y_i) / (1 - h_i).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimators.classes import winning_class
from ..judge.folds import FEWEST, make_folds
from ..judge.temperature import best_temperature, log_probabilities
from ..losses import Loss
from ..neighbours.distinct import Copies
from ..ridge.left_out import ridges
from ..solvers.refits import refit_scores

Matrix = NDArray[np.float64]


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

    `ridges` says what the fit minimises.

    Examples
    --------
    >>> phi, y = np.array([[1.0], [2.0]]), np.array([[1.0], [0.0]])
    >>> labels = Labels(y, np.ones(2), None)
    >>> leave_one_out(phi, labels, np.array([1.0]))[0].ravel().round(6).tolist()
    [0.0, 1.0]
    """
    fits = ridges(phi, labels.weights, labels.targets, labels.copies, Cs)
    return [held for held, _ in fits]


def judged_rows(labels: Labels) -> NDArray[np.int64]:
    """Return which labels can be left out: those that count and are not alone in their class.

    A point's copies are left out with it, so a point with copies only is alone.
    """
    codes, counted = labels.codes, np.flatnonzero(labels.weights > 0)  # others do not count
    assert codes is not None
    own = counted if labels.copies is None else labels.copies.place[counted]
    sets = np.unique(np.column_stack([codes[counted], own]), axis=0)
    counts = np.bincount(sets[:, 0], minlength=codes.max() + 1)
    return counted[counts[codes[counted]] > 1]


def judge_classes(scores: Matrix, labels: Labels) -> Judgement:
    """Judge held-out scores of a classification by their log loss, at their best temperature.

    A point that is the only one of its class is passed over: without it the class is unknown. With
    fewer than eight points the score is NaN, and all candidates have the same loss.

    Examples
    --------
    >>> codes = np.arange(8) % 2
    >>> y = np.where(codes == 1, 1.0, -1.0)[:, None]
    >>> labels = Labels(y, np.ones(8), codes)
    >>> judge_classes(y, labels).loss < judge_classes(0.1 * y, labels).loss
    True
    """
    judged = judged_rows(labels)
    if len(judged) < FEWEST:
        return Judgement(0.0, float("nan"))
    assert labels.codes is not None
    codes, weights, held = labels.codes[judged], labels.weights[judged], scores[judged]
    weights = weights / weights.mean()
    if held.shape[1] == 1:
        held = np.column_stack([-held, held])
    logs = log_probabilities(held, best_temperature(held, codes, weights))
    loss = -float(np.average(logs[np.arange(len(codes)), codes], weights=weights))
    hits = winning_class(scores[judged]) == codes
    return Judgement(_rounded(loss), float(hits.mean()))


def judge_values(scores: Matrix, labels: Labels) -> Judgement:
    """Judge leave-one-out scores of a regression by their squared error."""
    squares = np.average(np.square(labels.targets - scores)[:, 0], weights=labels.weights)
    mean = np.average(labels.targets[:, 0], weights=labels.weights)
    spread = np.average(np.square(labels.targets[:, 0] - mean), weights=labels.weights)
    score = 1.0 - float(squares / spread) if spread else float("nan")
    return Judgement(_rounded(float(squares)), score)


def _rounded(loss: float) -> float:
    """Return ten digits of a loss: of candidates that differ by rounding errors the first wins."""
    return float(f"{loss:.10g}")


def hold_out(phi: Matrix, labels: Labels, C: float, loss: Loss) -> Matrix:
    """Return every target's score from a fit to the other folds with the given loss."""
    from sklearn.model_selection import KFold  # slow to import

    copies = labels.copies or Copies.of(np.arange(len(phi)))
    folds = make_folds(
        None,
        phi,
        labels.targets,
        lambda own: lambda n: KFold(n, shuffle=True, random_state=0) if n <= len(own) else None,
        copies,
    )
    scores = np.zeros_like(labels.targets)
    if folds:
        held = np.concatenate([test for _, test in folds])
        scores[held] = refit_scores(phi, labels.targets, C * labels.weights, loss, folds)
    return scores

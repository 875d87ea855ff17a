"""The choice of gamma and alpha of a kernel ridge machine, at the cost of a few fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .ridge_solvers import (
    FullRidge,
    LandmarkRidge,
    Matrix,
    RidgeFit,
    RidgeProblem,
    Rows,
    held_out_by_alpha,
)

Judge = Callable[[Matrix, Matrix, NDArray[np.float64]], float]
"""Returns the loss of held-out scores, given targets and weights."""

_STEP = 3.0  # between two values of gamma
_MORE = 3  # values of gamma beyond the ends of the list
_LANDMARKS = 600  # of the fits that are compared, if all rows are landmarks in the end
_SHARED = 1000  # if not: with too few of these, gamma would be too small for the others
_ROWS = 10_000
_FEW = 3000  # rows up to which a third alpha is tried if all are landmarks
_JUDGED = 4096  # rows on which alphas are compared if not


class Choice(NamedTuple):
    """The best alpha for one gamma."""

    loss: float
    problem: RidgeProblem
    alphas: NDArray[np.float64]
    best: int
    rows: Rows  # on which it was judged
    landmarks: Rows


def choose(
    problem: RidgeProblem,
    gammas: list[float | None],
    alphas: Callable[[RidgeProblem], NDArray[np.float64]],
    judge: Judge,
    order: Rows,
    n_landmarks: int,
    *,
    extend: bool,
) -> Choice:
    """Return the choice with the smallest loss on held-out scores.

    Parameters
    ----------
    problem : RidgeProblem
        All rows; the kernel may have an open gamma.
    gammas : list of float or None
        What is tried first; None for a kernel without an open gamma.
    alphas : callable
        Returns the alphas for a kernel, in rising order.
    judge : callable
        The loss.
    order : ndarray of int
        The rows in random order; the first ones are judged, the first of those are landmarks.
    n_landmarks : int
        The landmarks of the final fit.
    extend : bool
        Whether more gammas are tried while the best is the smallest or the largest.
    """
    most = _LANDMARKS if n_landmarks == len(order) else _SHARED
    rows, landmarks = np.sort(order[:_ROWS]), np.sort(order[: min(most, n_landmarks)])

    def attempt(gamma: float | None) -> Choice:
        kernel = problem.kernel if gamma is None else problem.kernel.with_gamma(gamma)
        candidate = replace(problem, kernel=kernel)
        values = alphas(candidate)
        held_out = held_out_by_alpha(candidate, rows, landmarks, values)
        truth, weights = problem.targets[rows], problem.weights[rows]
        losses = [judge(scores, truth, weights) for scores in held_out]
        best = int(np.argmin(losses))
        return Choice(losses[best], candidate, values, best, rows, landmarks)

    tried = {gamma: attempt(gamma) for gamma in gammas}
    best = min(tried, key=lambda gamma: tried[gamma].loss)
    for _ in range(_MORE if extend and best is not None else 0):
        ends = {min(tried): best / _STEP, max(tried): best * _STEP}  # type: ignore[type-var, operator]
        if best not in ends:
            break
        tried[ends[best]] = attempt(ends[best])
        best = min(tried, key=lambda gamma: tried[gamma].loss)
    return tried[best]


def fit_near(choice: Choice, judge: Judge, landmarks: Rows) -> RidgeFit:
    """Return the fit on these landmarks, with the chosen alpha or one beside it.

    The best alpha falls as landmarks are added. So no other alpha is tried if the choice was made
    with as many landmarks.
    """
    problem, alphas, best = choice.problem, choice.alphas, choice.best
    dtype = problem.dtype(float(alphas[best]), len(problem))
    tries = 1 if len(landmarks) == len(choice.landmarks) else 3
    if len(landmarks) == len(problem):
        full, every = FullRidge(problem, dtype), np.arange(len(problem))
        tries = min(tries, 3 if len(problem) <= _FEW else 2)
        return _best_fit(full.fit, choice, judge, every, tries)
    ridge = LandmarkRidge(problem, landmarks, dtype)
    judged = choice.rows[:: -(-len(choice.rows) // _JUDGED)]
    if tries > 1:
        fit = _best_fit(lambda alpha: ridge.fit(alpha, judged), choice, judge, judged, tries)
        best = int(np.searchsorted(alphas, fit.alpha))
    return ridge.fit(float(alphas[best]))


def _best_fit(
    fit: Callable[[float], RidgeFit], choice: Choice, judge: Judge, judged: Rows, tries: int
) -> RidgeFit:
    """Return the best of up to `tries` fits: the chosen alpha, the one below, one beside these."""
    targets, weights = choice.problem.targets[judged], choice.problem.weights[judged]
    losses: dict[int, float] = {}
    found: RidgeFit | None = None
    index = choice.best
    while len(losses) < tries and 0 <= index < len(choice.alphas):
        candidate = fit(float(choice.alphas[index]))
        loss = judge(candidate.held_out, targets, weights)
        if found is None or loss < min(losses.values()):
            found = candidate
        losses[index] = loss
        lower = min(losses)
        index = lower - 1 if losses[lower] == min(losses.values()) else choice.best + 1
    assert found is not None
    return found

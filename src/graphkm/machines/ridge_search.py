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
_LANDMARKS = 600  # of the fits that are compared
_ROWS = 10_000
_FEW = 3000  # landmarks up to which a third alpha is tried


class Choice(NamedTuple):
    """The best alpha for one gamma."""

    loss: float
    problem: RidgeProblem
    alphas: NDArray[np.float64]
    best: int
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
        The most landmarks that there may be.
    extend : bool
        Whether more gammas are tried while the best is the smallest or the largest.
    """
    rows, landmarks = np.sort(order[:_ROWS]), np.sort(order[: min(_LANDMARKS, n_landmarks)])

    def attempt(gamma: float | None) -> Choice:
        kernel = problem.kernel if gamma is None else problem.kernel.with_gamma(gamma)
        candidate = replace(problem, kernel=kernel)
        values = alphas(candidate)
        held_out = held_out_by_alpha(candidate, rows, landmarks, values)
        truth, weights = problem.targets[rows], problem.weights[rows]
        losses = [judge(scores, truth, weights) for scores in held_out]
        best = int(np.argmin(losses))
        return Choice(losses[best], candidate, values, best, landmarks)

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
    dtype = problem.dtype(float(alphas[max(best - 2, 0)]))
    full = len(landmarks) == len(problem)
    ridge = FullRidge(problem, dtype) if full else LandmarkRidge(problem, landmarks, dtype)

    def attempt(index: int) -> tuple[float, RidgeFit]:
        fit = ridge.fit(float(alphas[index]))
        return judge(fit.held_out, problem.targets, problem.weights), fit

    found = {best: attempt(best)}
    if len(landmarks) > len(choice.landmarks) and best > 0:
        found[best - 1] = attempt(best - 1)
        lower = found[best - 1][0] < found[best][0]
        third = best - 2 if lower else best + 1
        if len(problem) <= _FEW and 0 <= third < len(alphas):
            found[third] = attempt(third)
    return min(found.values(), key=lambda result: result[0])[1]

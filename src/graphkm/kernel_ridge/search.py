"""The choice of gamma and alpha of a kernel ridge machine, at the cost of a few fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ridge.landmarks import LandmarkBasis, LandmarkFit, LandmarkSums
from .solvers import FullRidge, Matrix, RidgeFit, RidgeProblem, Rows, held_out_by_alpha

Judge = Callable[[Matrix, Matrix, NDArray[np.float64]], float]
"""Returns the loss of held-out scores, given targets and weights."""

SEARCHED = 10_000
"""Rows on which gamma and alpha are chosen, if there are more."""

_STEP = 3.0  # between two values of gamma
_MORE = 3  # values of gamma, at most, that are tried beyond the ends of the list
_LANDMARKS = 600  # of the fits that are compared, if all rows are landmarks in the end
_SHARED = 1000  # if not: with fewer, the best gamma would be too small for the final fit
_FEW = 3000  # rows up to which a third alpha is tried if all are landmarks
_JUDGED = 4096  # rows on which alphas are compared if some rows are no landmarks


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
    rows, landmarks = np.sort(order[:SEARCHED]), np.sort(order[: min(most, n_landmarks)])

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


def fit_all(choice: Choice, judge: Judge) -> RidgeFit:
    """Return the fit with all rows as landmarks, with the chosen alpha or one beside it.

    The best alpha falls as landmarks are added. So no other alpha is tried if the choice was made
    with as many landmarks.
    """
    problem, n = choice.problem, len(choice.problem)
    full = FullRidge(problem, problem.dtype(float(choice.alphas[choice.best]), n))
    fits: dict[int, RidgeFit] = {}

    def loss(index: int) -> float:
        fits[index] = full.fit(float(choice.alphas[index]))
        return judge(fits[index].held_out, problem.targets, problem.weights)

    tries = 1 if n == len(choice.landmarks) else 3 if n <= _FEW else 2
    return fits[_best_near(choice, loss, tries)]


def fit_sums(choice: Choice, judge: Judge, basis: LandmarkBasis, sums: LandmarkSums) -> LandmarkFit:
    """Return the fit on landmarks, whose alpha is judged on some rows of the choice."""
    problem, m = choice.problem, len(sums.gram)
    rows = choice.rows[:: -(-len(choice.rows) // _JUDGED)]
    X, targets, weights = problem.X[rows], problem.targets[rows], problem.weights[rows]
    fits: dict[int, LandmarkFit] = {}

    def loss(index: int) -> float:
        fits[index] = basis.fit(sums, float(choice.alphas[index]))
        return judge(basis.held_out(fits[index], X, targets, weights), targets, weights)

    tries = 1 if m == len(choice.landmarks) else 3
    return fits[_best_near(choice, loss, tries)]


def _best_near(choice: Choice, judged: Callable[[int], float], tries: int) -> int:
    """Return the best of up to `tries` alphas: the chosen one, the one below, one beside these."""
    losses: dict[int, float] = {}
    index = choice.best
    while len(losses) < tries and 0 <= index < len(choice.alphas):
        losses[index] = judged(index)
        lower = min(losses)
        index = lower - 1 if losses[lower] == min(losses.values()) else choice.best + 1
    return min(losses, key=lambda place: losses[place])

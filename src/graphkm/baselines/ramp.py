"""A kernel machine whose unlabelled rows have a ramp loss, by the concave-convex procedure.

Collobert, Sinz, Weston and Bottou (2006) give an unlabelled row the losses of both labels,

    R(f) + R(-f) ,   R(t) = H_1(t) - H_s(t) ,   H_c(t) = (c - t)_+ .

The sum is flat where |f| >= 1 and falls from the middle to both sides. The convex part, H_1(f) +
H_1(-f), stays. The rest is replaced by its tangent at the last f: it pulls rows with f > -s up and
rows with f < s down. Each round is a dual problem. Rows that are pulled have their bounds around
m = C* or m = -C*, the others around m = 0. The rounds end when no row changes its m.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .smo import DualSolution, DualSolver, DualTerms, Vector

_ROUNDS = 100  # usually five to ten are enough: the objective falls in each


@dataclass(frozen=True)
class RampProblem:
    """One output of a transductive machine.

    Parameters
    ----------
    targets : ndarray of shape (n,)
        -1 or +1 at labelled rows.
    C : ndarray of shape (n,)
        Weights of the labelled rows' hinge losses, 0 at the others.
    unlabeled : ndarray of int
        The unlabelled rows.
    C_unlabeled : float
        Weight of their ramp losses.
    s : float
        Where the ramp becomes flat, in (-1, 0].
    mean : float, optional
        The mean score of the unlabelled rows; None leaves it free.
    """

    targets: Vector
    C: Vector
    unlabeled: NDArray[np.int64]
    C_unlabeled: float
    s: float
    mean: float | None

    def pulls(self, scores: Vector) -> Vector:
        """Return m for every unlabelled row: C*, 0 or -C*."""
        f = scores[self.unlabeled]
        return self.C_unlabeled * ((f > -self.s).astype(np.float64) - (f < self.s))

    def terms(self, pulls: Vector) -> DualTerms:
        """Return the dual problem of a round."""
        terms = DualTerms.hinge(self.targets, self.C)
        terms.bend[self.unlabeled] = 1.0
        terms.kink[self.unlabeled] = pulls
        terms.lower[self.unlabeled] = pulls - self.C_unlabeled
        terms.upper[self.unlabeled] = pulls + self.C_unlabeled
        return terms

    def objective(self, found: DualSolution) -> float:
        """Return 1/2 ||w||^2 + C sum H_1(y f) + C* sum (R(f) + R(-f))."""
        f = found.scores
        squared_norm = float(found.coefficients @ (f - found.intercept))
        hinge = float(self.C @ np.maximum(1.0 - self.targets * f, 0.0))
        t = np.concatenate([f[self.unlabeled], -f[self.unlabeled]])
        ramp = float((np.maximum(1.0 - t, 0.0) - np.maximum(self.s - t, 0.0)).sum())
        return squared_norm / 2 + hinge + self.C_unlabeled * ramp


class RampSolution(NamedTuple):
    """The last round's solution, the objective, and the work done: rounds, and steps in all."""

    found: DualSolution
    objective: float
    n_rounds: int
    n_iter: int


def solve_ramp(
    solver: DualSolver, problem: RampProblem, *, tol: float, max_iter: int, shrinking: bool
) -> RampSolution:
    """Start from the labelled rows alone, then follow tangents until no row changes sides.

    Parameters
    ----------
    solver : DualSolver
        Over all rows; balanced over the unlabelled rows if the problem has a mean.
    problem : RampProblem
        What to solve.
    tol : float
        Violation of the optimality conditions allowed in every round.
    max_iter : int
        Steps of a round at most.
    shrinking : bool
        Whether variables that no pair can move are set aside.

    Examples
    --------
    >>> from graphkm.kernels import Linear
    >>> X = np.array([[-2.0], [2.0], [-1.0], [-0.5], [0.8], [1.0]])
    >>> rest = np.arange(2, 6)
    >>> y, C = np.array([-1.0, 1, 0, 0, 0, 0]), np.array([1.0, 1, 0, 0, 0, 0])
    >>> problem = RampProblem(y, C, rest, C_unlabeled=0.5, s=-0.3, mean=None)
    >>> solver = DualSolver(Linear(), X, dtype=np.float64)
    >>> answer = solve_ramp(solver, problem, tol=1e-6, max_iter=1000, shrinking=True)
    >>> np.sign(answer.found.scores).tolist(), answer.n_rounds
    ([-1.0, 1.0, -1.0, -1.0, 1.0, 1.0], 1)
    """
    limits: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "shrinking": shrinking}
    solver.reset()
    found = solver.solve(DualTerms.hinge(problem.targets, problem.C), **limits)
    n_iter, rounds, stopped = found.n_iter, 0, found.n_iter >= max_iter and found.gap > tol
    pulls = np.zeros(len(problem.unlabeled))
    while len(problem.unlabeled) and rounds < _ROUNDS:
        new = problem.pulls(found.scores)
        if rounds and np.array_equal(new, pulls):
            break
        start = found.a.copy()
        start[problem.unlabeled] += new - pulls  # rows keep their place within the bounds
        pulls = new
        found = solver.solve(problem.terms(pulls), start, mean=problem.mean, **limits)
        n_iter, rounds = n_iter + found.n_iter, rounds + 1
        stopped |= found.n_iter >= max_iter and found.gap > tol
    if stopped or rounds == _ROUNDS:
        _warn(max_iter if stopped else None, found.gap)
    return RampSolution(found, problem.objective(found), rounds, n_iter)


def _warn(max_iter: int | None, gap: float) -> None:
    what = (
        f"{_ROUNDS} rounds were not enough"
        if max_iter is None
        else f"max_iter={max_iter} steps were not enough in some round"
    )
    warnings.warn(
        f"The fit stopped early: {what}; the optimality conditions are violated by {gap:.3g} in "
        "the last round. Scale the features, raise max_iter, or lower C.",
        ConvergenceWarning,
        stacklevel=4,
    )

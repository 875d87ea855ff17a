"""Preconditioned conjugate gradients for Laplacian SVM and regression.

Half the gradient of the objective in a is K z with z = gamma_A a + gamma_I L^q f + E g / 2. Here g
are the losses' slopes, and E places the labelled rows among all rows. Preconditioned by K (Melacci
and Belkin, 2011) the gradient is z itself. So no system is solved, and a step takes one product
with K, namely K z. The products of K with the directions follow from it. b has its own
preconditioner, the mean k(x, x). Directions are Polak and Ribiere's. The step along a direction is
exact: it ends at the zero of a piecewise linear slope. All outputs share the products.

`EarlyStopping` ends the iteration long before the minimum, when the decisions have settled.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._util.increasing import root
from .laplacian_objective import LaplacianObjective, LaplacianSolution, Matrix

Vector = NDArray[np.float64]
Check = Callable[["ConjugateGradients"], bool]


def solve_by_cg(
    objective: LaplacianObjective, tol: float, max_iter: int, check: Check | None = None
) -> LaplacianSolution:
    """Return the minimum, or the point at which `check` stops.

    Parameters
    ----------
    objective : LaplacianObjective
        With a smooth loss.
    tol : float
        Stop when the preconditioned gradient is this share of the first one.
    max_iter : int
        Steps at most.
    check : callable, optional
        Called after every step; true stops.
    """
    state = ConjugateGradients(objective, tol)
    while not state.done and state.n_iter < max_iter:
        state.step()
        if check is not None and check(state):
            return state.solution()
    if not state.done:
        warnings.warn(
            f"Conjugate gradients stopped after {state.n_iter} steps with a gradient of "
            f"{state.steepness:.2g} of the first one. Pass a larger max_iter or tol, or "
            "early_stopping=True.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return state.solution()


class ConjugateGradients:
    """The iteration: a, b and what is computed from them, one column per output."""

    def __init__(self, objective: LaplacianObjective, tol: float) -> None:
        n, r = objective.n_rows, objective.n_outputs
        self._objective = objective
        self._tol = tol
        self._weight_b = float(objective.fit_intercept) * float(objective.kernel.diagonal().mean())
        self.n_iter = 0
        self.a, self._Ka, self._smooth = np.zeros((3, n, r))  # smooth: gamma_I L^q f
        self.b = np.zeros(r)
        self._direction, self._K_direction, self._smooth_direction = np.zeros((3, n, r))
        self._direction_b = np.zeros(r)
        self._Kz, self._z_b, self._size = np.zeros((n, r)), np.zeros(r), np.zeros(r)
        self._look()
        self._first = self._size

    @property
    def scores(self) -> Matrix:
        """Values of f at all rows."""
        return self._Ka + self.b

    @property
    def steepness(self) -> float:
        """The preconditioned gradient, as a share of the first one; the largest of all outputs."""
        return math.sqrt(float(self._shares().max(initial=0.0)))

    @property
    def done(self) -> bool:
        """Whether the gradient has vanished."""
        return self.steepness <= self._tol

    def _shares(self) -> Vector:
        size, first = self._size, self._first
        return np.divide(size, first, out=np.zeros_like(size), where=first > 0)

    def _look(self) -> None:
        """Compute the gradient at a and b, and the next direction."""
        o = self._objective
        slope = o.weights[:, None] * o.loss.gradient(o.targets, self.scores[o.labeled])
        z = o.norm_weight * self.a + self._smooth
        z[o.labeled] += slope / 2
        z_b = slope.sum(axis=0) / 2 + self._smooth.sum(axis=0)
        Kz = o.kernel @ z
        size = _columns(z, Kz) + self._weight_b * z_b**2
        change = size - _columns(z, self._Kz) - self._weight_b * z_b * self._z_b
        ratio = np.divide(change, self._size, out=np.zeros(len(size)), where=self._size > 0)
        ratio = np.maximum(ratio, 0.0)
        self._Kz, self._z_b, self._size = Kz, z_b, size
        weighted_b = self._weight_b * z_b
        self._direction = ratio * self._direction - z
        self._direction_b = ratio * self._direction_b - weighted_b
        self._K_direction = ratio * self._K_direction - Kz
        self._smooth_direction = ratio * self._smooth_direction - o.smooth(Kz + weighted_b)

    def step(self) -> None:
        """Go to the minimum along the direction, in every output that is not done."""
        moving = self._shares() > self._tol**2
        lengths = np.array([self._length(r) if go else 0.0 for r, go in enumerate(moving)])
        self.a += lengths * self._direction
        self.b += lengths * self._direction_b
        self._Ka += lengths * self._K_direction
        self._smooth += lengths * self._smooth_direction
        self.n_iter += 1
        self._look()

    def _length(self, r: int) -> float:
        """Return how far to go in one output: where the slope along the direction is zero."""
        o, y, f = self._objective, self._objective.targets[:, r], self.scores[:, r]
        along = self._K_direction[:, r] + self._direction_b[r]
        near, change = f[o.labeled], along[o.labeled]
        start = o.norm_weight * float(self._direction[:, r] @ self._Ka[:, r])
        start += float(along @ self._smooth[:, r])
        bend = o.norm_weight * float(self._direction[:, r] @ self._K_direction[:, r])
        bend += float(along @ self._smooth_direction[:, r])

        def look(length: float) -> tuple[float, float]:
            s = near + length * change
            slope = float((o.weights * o.loss.gradient(y, s)) @ change) / 2
            curvature = float((o.weights * o.loss.curvature(y, s)) @ change**2) / 2
            return start + length * bend + slope, bend + curvature

        return max(0.0, root(look))

    def solution(self) -> LaplacianSolution:
        """Return what has been found."""
        value = self._objective.value(self.a, self._Ka, self.b)
        return LaplacianSolution(self.a, self.b, self.n_iter, value)


def _columns(A: Matrix, B: Matrix) -> Vector:
    return np.asarray(np.einsum("ij,ij->j", A, B))

"""Newton's method with a line search and a certified gap, for losses with kinks too.

It minimises F(v) = 1/2 ||v||^2 + T(A v), with A linear and T convex. If T has kinks, it is
replaced by a smooth T_h of width h, and h is driven to zero. The gradient of T_h at the scores is
always a feasible point of the dual problem of F itself. Therefore

    F(v) - min F  <=  1/2 ||v + A' g||^2 + T(s) + T*(g) - <g, s>,   s = A v,  g = grad T_h(s).

This bound costs nothing beyond the Newton step. Its first term is the gradient of the smoothed
problem. The others are the error of smoothing, and vanish with h.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._util.threads import blas_threads_for

Vector = NDArray[np.float64]

_SHRINK = 0.1  # factor of the width, once the smoothed problem is solved well enough
_SOLVED = 0.1  # it is solved if the gradient makes up at most this share of the gap
_NARROWEST = 1e-13  # least width, relative to the first: a smaller one changes nothing
_FLAT = 0.1  # a line search stops where the slope has fallen to this share
_TRIALS = 40  # points that a line search tries at most


class Terms(Protocol):
    """The map A and the term T of one problem."""

    def scores(self, v: Vector) -> Vector:
        """Return A v."""
        ...

    def adjoint(self, g: Vector) -> Vector:
        """Return A' g."""
        ...

    def value(self, s: Vector, width: float) -> float:
        """Return T_h at the scores; width 0 is T itself."""
        ...

    def gradient(self, s: Vector, width: float) -> Vector:
        """Return the gradient of T_h in the scores."""
        ...

    def residual(self, s: Vector, width: float) -> float:
        """Return T(s) + T*(g) - <g, s> for the gradient g of T_h at s."""
        ...

    def newton_step(self, g: Vector, s: Vector, width: float) -> Vector:
        """Return (1 + A' (second derivative of T_h at s) A)^(-1) g."""
        ...


class DampedNewton:
    """The iteration for one problem; `step` until `done`.

    Parameters
    ----------
    terms : Terms
        A and T.
    size : int
        Length of v.
    scale : float
        Size of a typical score: the first width.
    tol : float
        Done when the gap is at most this share of F.
    """

    def __init__(self, terms: Terms, size: int, scale: float, tol: float) -> None:
        self._terms = terms
        self._tol = tol
        self._width = scale
        self._narrowest = _NARROWEST * scale
        self.v = np.zeros(size)
        self._scores = terms.scores(self.v)
        self.n_iter = 0
        self.stalled = False
        with self._few_threads():
            self._look()

    def _few_threads(self) -> AbstractContextManager[Any]:
        """Return the context in which A is multiplied and A' A is factorised."""
        return blas_threads_for(len(self._scores), len(self.v))

    def _look(self) -> None:
        """Evaluate F, its gap and the smoothed gradient at v."""
        terms, s = self._terms, self._scores
        self.value = 0.5 * float(self.v @ self.v) + terms.value(s, 0.0)
        while True:
            self._slope = terms.gradient(s, self._width)
            self._gradient = self.v + terms.adjoint(self._slope)
            open_gap = max(0.0, terms.residual(s, self._width))
            steep = 0.5 * float(self._gradient @ self._gradient)
            self.gap = steep + open_gap
            if self.done or steep > _SOLVED * open_gap or self._width <= self._narrowest:
                return
            self._width *= _SHRINK

    @property
    def converged(self) -> bool:
        """Whether the gap is small enough."""
        return self.gap <= self._tol * abs(self.value)

    @property
    def done(self) -> bool:
        """Whether it has converged, or rounding hides any further decrease."""
        return self.converged or self.stalled

    def step(self) -> None:
        """Take one Newton step."""
        with self._few_threads():
            self._step()

    def _step(self) -> None:
        terms = self._terms
        direction = -terms.newton_step(self._gradient, self._scores, self._width)
        change = terms.scores(direction)
        length = self._search(direction, change)
        self.n_iter += 1
        self.stalled = length * float(np.abs(direction).max(initial=0.0)) <= 1e-15 * float(
            np.abs(self.v).max(initial=1e-300)
        )
        self.v = self.v + length * direction
        # Computed from v now and then, so that rounding does not add up.
        s = self._scores + length * change
        self._scores = terms.scores(self.v) if self.n_iter % 8 == 0 else s
        self._look()

    def _search(self, direction: Vector, change: Vector) -> float:
        """Return how far to go: to where F is nearly flat along the direction."""
        along, squared = float(self.v @ direction), float(direction @ direction)

        def slope(length: float) -> float:
            g = self._terms.gradient(self._scores + length * change, self._width)
            return along + length * squared + float(g @ change)

        flat = _FLAT * abs(float(self._gradient @ direction))
        low, high, length = 0.0, np.inf, 1.0
        for _ in range(_TRIALS):
            steep = slope(length)
            if abs(steep) <= flat:
                break
            low, high = (length, high) if steep < 0 else (low, length)
            length = 2 * length if high == np.inf else 0.5 * (low + high)
        return length

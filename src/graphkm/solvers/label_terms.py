"""The losses of the labelled points, as one of the terms Newton's method minimises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..losses import Loss
from ..objective import Objective
from .damped_newton import Vector, solve_rows


@dataclass(frozen=True)
class LabelTerms:
    """C sum_i s_i loss(y_i, <v, phi_i>)."""

    phi: NDArray[np.float64]
    y: Vector
    cost: Vector
    loss: Loss

    @classmethod
    def of(cls, objective: Objective, r: int, phi: NDArray[np.float64], C: float) -> LabelTerms:
        """Return the labelled points' terms of one output."""
        return cls(phi, objective.targets[:, r], C * objective.weights, objective.loss)

    def scores(self, v: Vector) -> Vector:
        """Return the scores of the labelled points."""
        return self.phi @ v

    def adjoint(self, g: Vector) -> Vector:
        """Return sum_i g_i phi_i."""
        return self.phi.T @ g

    def value(self, s: Vector, width: float) -> float:
        """Return the losses' sum."""
        return float(self.cost @ self._smoothed(width).value(self.y, s))

    def gradient(self, s: Vector, width: float) -> Vector:
        """Return the losses' derivatives."""
        return self.cost * self._smoothed(width).gradient(self.y, s)

    def residual(self, s: Vector, width: float) -> float:
        """Return loss - envelope - width/2 slope^2, summed: an envelope's own conjugate."""
        smooth = self._smoothed(width)
        if smooth is self.loss:
            return 0.0
        left = self.loss.value(self.y, s) - smooth.value(self.y, s)
        return float(self.cost @ (left - 0.5 * width * smooth.gradient(self.y, s) ** 2))

    def newton_step(self, g: Vector, s: Vector, width: float) -> Vector:
        """Return (1 + sum_i curvature_i phi_i phi_i')^(-1) g."""
        return solve_rows(self.bent_rows(s, width), g)

    def bent_rows(self, s: Vector, width: float) -> NDArray[np.float64]:
        """Return phi_i sqrt(curvature_i) where the loss is curved."""
        curvature = self.cost * self._smoothed(width).curvature(self.y, s)
        bent = np.flatnonzero(curvature)
        return self.phi[bent] * np.sqrt(curvature[bent])[:, None]

    def _smoothed(self, width: float) -> Loss:
        return self.loss.smoothed(width) if width else self.loss

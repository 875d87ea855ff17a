"""The squared losses of Laplacian SVM and of regularised least squares."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from ..losses import Array, Loss


class SquaredHinge(Loss):
    """Squared hinge loss, max(0, 1 - y f)^2.

    Examples
    --------
    >>> y, f = np.array([1.0, 1.0, -1.0]), np.array([0.5, 2.0, 1.0])
    >>> SquaredHinge().value(y, f).tolist(), SquaredHinge().gradient(y, f).tolist()
    ([0.25, 0.0, 4.0], [-1.0, -0.0, 4.0])
    """

    name: ClassVar[str] = "squared_hinge"
    task: ClassVar[Literal["classification", "regression"]] = "classification"
    lipschitz: ClassVar[float] = np.inf

    def value(self, y: Array, f: Array) -> Array:
        """Return max(0, 1 - y f)^2."""
        return np.maximum(1 - y * f, 0) ** 2

    def gradient(self, y: Array, f: Array) -> Array:
        """Return -2 y max(0, 1 - y f)."""
        return -2 * y * np.maximum(1 - y * f, 0)

    def curvature(self, y: Array, f: Array) -> Array:
        """Return 2 where y f < 1, else 0."""
        return 2.0 * (y * f < 1)


class SquaredError(Loss):
    """Squared error, (y - f)^2.

    Examples
    --------
    >>> y, f = np.array([1.0, 1.0]), np.array([0.5, 2.0])
    >>> SquaredError().value(y, f).tolist(), SquaredError().gradient(y, f).tolist()
    ([0.25, 1.0], [-1.0, 2.0])
    """

    name: ClassVar[str] = "squared_error"
    task: ClassVar[Literal["classification", "regression"]] = "regression"
    lipschitz: ClassVar[float] = np.inf

    def value(self, y: Array, f: Array) -> Array:
        """Return (y - f)^2."""
        return np.square(y - f)

    def gradient(self, y: Array, f: Array) -> Array:
        """Return 2 (f - y)."""
        return 2 * (f - y)

    def curvature(self, y: Array, f: Array) -> Array:
        """Return 2."""
        return np.full(np.shape(f), 2.0)

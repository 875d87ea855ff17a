"""The smoothness of an edge: |t|^p of the difference t of the two scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Smoothness:
    """The penalty |t|^p of a difference t of scores, or a smooth one close to it.

    With a width h it is (t^2 + h^2)^(p/2) - h^p, which below p = 2 has a second derivative at
    0 where |t|^p has none.

    Parameters
    ----------
    p : float
        Exponent, finite and at least 1, so that the penalty is convex.
    width : float, default=0.0
        How far around 0 the penalty is smoothed.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.array([-2.0, 0.0, 3.0])
    >>> Smoothness(2).value(t).tolist(), Smoothness(2).gradient(t).tolist()
    ([4.0, 0.0, 9.0], [-4.0, 0.0, 6.0])
    >>> Smoothness(1).smoothed(4.0).value(np.array([3.0])).tolist()
    [1.0]
    """

    p: float
    width: float = 0.0

    def __post_init__(self) -> None:
        """Refuse an exponent for which the penalty is not convex."""
        if not 1 <= self.p < math.inf:
            raise ValueError(
                f"p must be a finite number of at least 1, got {self.p!r}; "
                "pass 1 for absolute or 2 for squared differences."
            )

    def smoothed(self, width: float) -> Smoothness:
        """Return a penalty with a second derivative: from p = 2 on that is this one."""
        return self if self.p >= 2 else replace(self, width=width)

    def value(self, t: NDArray[Any]) -> NDArray[Any]:
        """Return |t|^p, or (t^2 + h^2)^(p/2) - h^p."""
        if not self.width:
            return np.abs(t) ** self.p
        return np.hypot(t, self.width) ** self.p - self.width**self.p

    def gradient(self, t: NDArray[Any]) -> NDArray[Any]:
        """Return p sign(t) |t|^(p-1), 0 at t = 0; or p t (t^2 + h^2)^(p/2-1)."""
        if not self.width:
            return self.p * np.sign(t) * np.abs(t) ** (self.p - 1)
        return self.p * t * np.hypot(t, self.width) ** (self.p - 2)

    def curvature(self, t: NDArray[Any]) -> NDArray[Any]:
        """Return the second derivative; below p = 2 only with a width."""
        if not self.width:
            return self.p * (self.p - 1) * np.abs(t) ** (self.p - 2)
        r = np.hypot(t, self.width)
        return self.p * r ** (self.p - 4) * ((self.p - 1) * t**2 + self.width**2)

    def conjugate(self, g: NDArray[Any]) -> NDArray[Any]:
        """Return the supremum over t of g t - |t|^p; for p = 1 that is 0, and |g| <= 1."""
        if self.p == 1:
            return np.zeros_like(g)
        return (self.p - 1) * (np.abs(g) / self.p) ** (self.p / (self.p - 1))

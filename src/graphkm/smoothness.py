"""The smoothness of an edge: |t|^p of the difference t of the two scores."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Smoothness:
    """The penalty |t|^p of a difference t of scores.

    Parameters
    ----------
    p : float
        Exponent, finite and at least 1, so that the penalty is convex.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.array([-2.0, 0.0, 3.0])
    >>> Smoothness(2).value(t).tolist(), Smoothness(2).gradient(t).tolist()
    ([4.0, 0.0, 9.0], [-4.0, 0.0, 6.0])
    """

    p: float

    def __post_init__(self) -> None:
        """Refuse an exponent for which the penalty is not convex."""
        if not 1 <= self.p < math.inf:
            raise ValueError(
                f"p must be a finite number of at least 1, got {self.p!r}; "
                "pass 1 for absolute or 2 for squared differences."
            )

    def value(self, t: NDArray[Any]) -> NDArray[Any]:
        """Return |t|^p."""
        return np.abs(t) ** self.p

    def gradient(self, t: NDArray[Any]) -> NDArray[Any]:
        """Return p sign(t) |t|^(p-1), 0 at t = 0."""
        return self.p * np.sign(t) * np.abs(t) ** (self.p - 1)

"""How f is smooth over the graph: a power of the differences along edges, or powers of L.

`Power` and `IteratedLaplacian` are the parts that estimators take. `Smoothness` is the formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._util.parameters import check_count, check_flag, check_number
from ._util.parts import Combination, Part


@dataclass(frozen=True)
class Smoothness:
    r"""The penalty of a difference t of scores: a power, or a smooth function close to it.

    Without a width h it is the first function below, with one the second. For p < 2 only the second
    has a second derivative at 0.

    .. math:: |t|^p \qquad\text{or}\qquad (t^2 + h^2)^{p/2} - h^p

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
        """Return a penalty with a second derivative; for p >= 2 it is this penalty itself."""
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


class SmoothnessPart(Part):
    """What the graph term is made of; subclasses make one or more of these a parameter."""

    @property
    def p(self) -> float:
        """The exponent of differences."""
        return 2

    @property
    def degree(self) -> int | str:
        """The power of the Laplacian."""
        return 1

    @property
    def normalized(self) -> bool | str:
        """Whether f(x) is divided by the root of its vertex's degree."""
        return "auto"

    def accepts(self, together: Combination) -> None:
        """Raise ValueError if C_graph="guaranteed", and its theorem does not hold."""
        if together.C_graph == "guaranteed" and (self.normalized is True or self.degree != 1):
            raise ValueError(
                "C_graph='guaranteed' follows a theorem about plain differences, not about "
                f"smoothness={self!r}; pass Power(p, normalized=False), or a number for C_graph."
            )


@dataclass(frozen=True)
class Power(SmoothnessPart):
    r"""A power of the differences of scores, summed over the edges by their weights.

    .. math:: \sum_{(u,v)} \mu_{uv} \left|f(x_u) - f(x_v)\right|^p

    Parameters
    ----------
    p : float, default=2
        Exponent, at least 1.
    normalized : bool or "auto", default="auto"
        Whether f(x) is divided by the root of its vertex's degree before differences are taken.
        "auto" is True for the Newton solvers. `SGD` takes only False.

    Examples
    --------
    >>> from graphkm import GKMClassifier
    >>> GKMClassifier(smoothness=Power(p=1)).get_params()["smoothness__p"]
    1
    """

    p: float = 2
    normalized: bool | str = "auto"

    def __post_init__(self) -> None:
        """Refuse an exponent for which the penalty is not convex."""
        check_number("p", self.p, least=1)
        if self.normalized != "auto":
            check_flag("normalized", self.normalized)


@dataclass(frozen=True)
class IteratedLaplacian(SmoothnessPart):
    r"""A power of the graph's Laplacian L; `Power` of p = 2 is the first degree.

    .. math:: f^T L^\mathrm{degree} f

    The higher the degree, the smoother f is over more than one edge.

    Parameters
    ----------
    degree : int or "auto", default="auto"
        Power of the Laplacian. "auto" is 2 for `Newton`, and 1 for `RowNewton`.
    normalized : bool, default=True
        Whether f(x) is divided by the root of its vertex's degree.

    Examples
    --------
    >>> IteratedLaplacian(degree=3)
    IteratedLaplacian(degree=3, normalized=True)
    """

    degree: int | str = "auto"
    normalized: bool = True

    def __post_init__(self) -> None:
        """Refuse a degree that is no whole number."""
        check_count("degree", self.degree, words=("auto",))
        check_flag("normalized", self.normalized)

"""The losses of the labelled points: one small frozen class each.

``y`` is the target (-1 or +1 in classification, a real number in regression) and
``f`` the score. Every gradient is the derivative in ``f``; at a kink it is the
sub-gradient of the GKM paper.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ._util.parts import Part

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Loss(Part, ABC):
    """A convex loss of a target y and a score f, Lipschitz in f.

    To add a loss, subclass it, state its task and write `value` and `gradient`; for the Newton
    solvers also `curvature`, and `smoothed` if the loss has kinks. A loss with parameters is a
    frozen dataclass.
    """

    name: ClassVar[str] = "custom"
    task: ClassVar[Literal["classification", "regression"]]
    native_code: ClassVar[int | None] = None  # its number in compiled code; None if it has none
    lipschitz: ClassVar[float] = 1.0

    @property
    def parameter(self) -> float:
        """The one number the loss depends on, 0 if it has none."""
        return 0.0

    @abstractmethod
    def value(self, y: Array, f: Array) -> Array:
        """Return the loss of each score."""

    @abstractmethod
    def gradient(self, y: Array, f: Array) -> Array:
        """Return the derivative of the loss in each score."""

    def curvature(self, y: Array, f: Array) -> Array:
        """Return the second derivative of the loss in each score."""
        raise NotImplementedError(
            f"{type(self).__name__} has no curvature, which the Newton solvers need; write that "
            "method, or pass solver='sgd'."
        )

    def smoothed(self, width: float) -> Loss:
        """Return the loss itself if it is smooth, else its Moreau envelope.

        The envelope is the minimum over s of loss(y, s) + (f - s)^2 / (2 width). It has the
        same minima as the loss and lies at most width / 2 below it.
        """
        return self


class Hinge(Loss):
    r"""Hinge loss, that of support vector machines.

    .. math:: \max(0, 1 - y f)

    Examples
    --------
    >>> import numpy as np
    >>> y, f = np.array([1.0, 1.0, -1.0]), np.array([0.25, 1.0, -3.0])
    >>> Hinge().value(y, f).tolist()
    [0.75, 0.0, 0.0]
    >>> Hinge().gradient(y, f).tolist()
    [-1.0, -1.0, 0.0]
    """

    name: ClassVar[str] = "hinge"
    task: ClassVar[Literal["classification", "regression"]] = "classification"
    native_code: ClassVar[int | None] = 0

    def value(self, y: Array, f: Array) -> Array:
        """Return max(0, 1 - y f)."""
        return np.maximum(1 - y * f, 0)

    def gradient(self, y: Array, f: Array) -> Array:
        """Return -y where y f <= 1 (a margin of exactly 1 still pushes), else 0."""
        return np.where(y * f <= 1, -y, 0.0)

    def smoothed(self, width: float) -> Loss:
        """Return the smooth hinge of this width."""
        return SmoothHinge(width)


@dataclass(frozen=True)
class SmoothHinge(Loss):
    r"""Hinge loss whose corner is a parabola of width tau.

    .. math::

        \begin{cases} 0 & m < 0 \\ m^2 / (2 \tau) & 0 \le m \le \tau \\
        m - \tau / 2 & m > \tau \end{cases} \qquad m = 1 - y f

    Parameters
    ----------
    tau : float, default=0.5
        Width of the parabola, positive; the hinge is the limit at 0.

    Examples
    --------
    >>> import numpy as np
    >>> y, f = np.array([1.0, 1.0, 1.0]), np.array([-1.0, 0.75, 2.0])
    >>> SmoothHinge(tau=0.5).value(y, f).tolist()
    [1.75, 0.0625, 0.0]
    >>> SmoothHinge(tau=0.5).gradient(y, f)
    array([-1. , -0.5, -0. ])
    """

    tau: float = 0.5

    name: ClassVar[str] = "smooth_hinge"
    task: ClassVar[Literal["classification", "regression"]] = "classification"
    native_code: ClassVar[int | None] = 1

    def __post_init__(self) -> None:
        """Refuse a width that is not positive and finite."""
        if not 0 < self.tau < math.inf:
            raise ValueError(
                f"tau must be a positive finite number, got {self.tau!r}; "
                "for a sharp corner use Hinge()."
            )

    @property
    def parameter(self) -> float:
        """The width tau."""
        return float(self.tau)

    def value(self, y: Array, f: Array) -> Array:
        """Return c (m - c / 2) / tau, where c is m = 1 - y f clipped to [0, tau]."""
        m = 1 - y * f
        c = _clipped(m, self.tau)
        return (c / self.tau) * (np.maximum(m, 0) - c / 2)

    def gradient(self, y: Array, f: Array) -> Array:
        """Return -y c / tau, where c is 1 - y f clipped to [0, tau]."""
        return -y * (_clipped(1 - y * f, self.tau) / self.tau)

    def curvature(self, y: Array, f: Array) -> Array:
        """Return 1 / tau where 1 - y f lies between 0 and tau, else 0."""
        m = 1 - y * f
        return ((m >= 0) & (m <= self.tau)) / self.tau


class Logistic(Loss):
    r"""Logistic loss, that of logistic regression.

    .. math:: \log(1 + \exp(-y f))

    Examples
    --------
    >>> import numpy as np
    >>> y, f = np.array([1.0, 1.0]), np.array([0.0, -1000.0])
    >>> Logistic().value(y, f).round(4).tolist()
    [0.6931, 1000.0]
    >>> Logistic().gradient(y, f).tolist()
    [-0.5, -1.0]
    """

    name: ClassVar[str] = "logistic"
    task: ClassVar[Literal["classification", "regression"]] = "classification"
    native_code: ClassVar[int | None] = 2

    def value(self, y: Array, f: Array) -> Array:
        """Return log(1 + exp(-y f))."""
        return np.logaddexp(0, -y * f)

    def gradient(self, y: Array, f: Array) -> Array:
        """Return -y / (1 + exp(y f))."""
        return -y * expit(-y * f)

    def curvature(self, y: Array, f: Array) -> Array:
        """Return s (1 - s) with s = 1 / (1 + exp(y f))."""
        return expit(-y * f) * expit(y * f)


class L1(Loss):
    r"""Absolute error.

    .. math:: |y - f|

    Examples
    --------
    >>> import numpy as np
    >>> y, f = np.array([1.0, 1.0]), np.array([3.0, 1.0])
    >>> L1().value(y, f).tolist(), L1().gradient(y, f).tolist()
    ([2.0, 0.0], [1.0, 0.0])
    """

    name: ClassVar[str] = "l1"
    task: ClassVar[Literal["classification", "regression"]] = "regression"
    native_code: ClassVar[int | None] = 3

    def value(self, y: Array, f: Array) -> Array:
        """Return |y - f|."""
        return np.abs(y - f)

    def gradient(self, y: Array, f: Array) -> Array:
        """Return sign(f - y), 0 where they are equal."""
        return np.sign(f - y)

    def smoothed(self, width: float) -> Loss:
        """Return the absolute error with a parabola of this half-width: Huber's loss."""
        return SmoothTube(0.0, width)


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    r"""Absolute error beyond a tube, that of support vector regression.

    .. math:: \max(0, |y - f| - \epsilon)

    Parameters
    ----------
    epsilon : float, default=0.1
        Half-width of the tube in which errors cost nothing, at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> y, f = np.array([1.0, 1.0]), np.array([3.0, 1.25])
    >>> loss = EpsilonInsensitive(epsilon=0.5)
    >>> loss.value(y, f).tolist(), loss.gradient(y, f).tolist()
    ([1.5, 0.0], [1.0, 0.0])
    """

    epsilon: float = 0.1

    name: ClassVar[str] = "epsilon_insensitive"
    task: ClassVar[Literal["classification", "regression"]] = "regression"
    native_code: ClassVar[int | None] = 4

    def __post_init__(self) -> None:
        """Refuse a negative or infinite tube."""
        if not 0 <= self.epsilon < math.inf:
            raise ValueError(
                f"epsilon must be a finite number of at least 0, got {self.epsilon!r}; "
                "pass the largest error that should cost nothing."
            )

    @property
    def parameter(self) -> float:
        """The half-width epsilon."""
        return float(self.epsilon)

    def value(self, y: Array, f: Array) -> Array:
        """Return max(0, |y - f| - epsilon)."""
        return np.maximum(np.abs(y - f) - self.epsilon, 0)

    def gradient(self, y: Array, f: Array) -> Array:
        """Return sign(f - y) where |y - f| > epsilon, else 0."""
        return np.where(np.abs(y - f) > self.epsilon, np.sign(f - y), 0.0)

    def smoothed(self, width: float) -> Loss:
        """Return the tube whose edges are parabolas of this width."""
        return SmoothTube(self.epsilon, width)


@dataclass(frozen=True)
class SmoothTube(Loss):
    r"""Absolute error beyond a tube, with parabolas of width tau at its edges.

    .. math::

        \begin{cases} 0 & r < 0 \\ r^2 / (2 \tau) & 0 \le r \le \tau \\
        r - \tau / 2 & r > \tau \end{cases} \qquad r = |y - f| - \epsilon

    The Newton solvers use it instead of `L1` and `EpsilonInsensitive`.

    Parameters
    ----------
    epsilon : float
        Half-width of the tube.
    tau : float
        Width of the parabolas, positive.

    Examples
    --------
    >>> import numpy as np
    >>> y, f = np.array([1.0, 1.0, 1.0]), np.array([3.0, 1.75, 1.25])
    >>> loss = SmoothTube(epsilon=0.5, tau=0.5)
    >>> loss.value(y, f).tolist(), loss.gradient(y, f).tolist()
    ([1.25, 0.0625, 0.0], [1.0, 0.5, 0.0])
    """

    epsilon: float
    tau: float

    name: ClassVar[str] = "smooth_tube"
    task: ClassVar[Literal["classification", "regression"]] = "regression"

    def value(self, y: Array, f: Array) -> Array:
        """Return c (r - c / 2) / tau, where c is r = |y - f| - epsilon clipped to [0, tau]."""
        r = np.abs(y - f) - self.epsilon
        c = _clipped(r, self.tau)
        return (c / self.tau) * (np.maximum(r, 0) - c / 2)

    def gradient(self, y: Array, f: Array) -> Array:
        """Return sign(f - y) c / tau, where c is |y - f| - epsilon clipped to [0, tau]."""
        return np.sign(f - y) * (_clipped(np.abs(y - f) - self.epsilon, self.tau) / self.tau)

    def curvature(self, y: Array, f: Array) -> Array:
        """Return 1 / tau where |y - f| - epsilon lies between 0 and tau, else 0."""
        r = np.abs(y - f) - self.epsilon
        return ((r >= 0) & (r <= self.tau)) / self.tau


def _clipped(values: Array, most: float) -> Array:
    """Return values clipped to 0 and `most`. For few values, NumPy's clip takes twice as long."""
    return np.minimum(np.maximum(values, 0.0), most)


_LOSSES: tuple[type[Loss], ...] = (Hinge, SmoothHinge, Logistic, L1, EpsilonInsensitive)


def resolve_loss(loss: str | Loss, task: str) -> Loss:
    """Turn a name or an object into the loss of a task.

    Parameters
    ----------
    loss : str or Loss
        "hinge", "smooth_hinge" or "logistic" for classification; "l1" or
        "epsilon_insensitive" for regression; or an object, used as it is.
    task : {"classification", "regression"}
        What the loss is for.

    Returns
    -------
    Loss
        The loss, with default parameters if it was named.

    Raises
    ------
    ValueError
        If the name is unknown or the loss belongs to the other task.

    Examples
    --------
    >>> resolve_loss("smooth_hinge", "classification")
    SmoothHinge(tau=0.5)
    """
    choices = {cls.name: cls for cls in _LOSSES if cls.task == task}
    if isinstance(loss, Loss) and loss.task == task:
        return loss
    if isinstance(loss, str) and loss in choices:
        return choices[loss]()
    listed = ", ".join(repr(name) for name in choices)
    raise ValueError(
        f"loss={loss!r} is no {task} loss; pass one of {listed}, "
        f"or a Loss object whose task is {task!r}."
    )

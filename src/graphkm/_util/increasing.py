"""The zero of an increasing function of one variable."""

from __future__ import annotations

import math
from collections.abc import Callable

_STEPS = 200
_ROUNDING = 1e-15


def root(
    look: Callable[[float], tuple[float, float]], start: float = 0.0, scale: float = 1.0
) -> float:
    """Return the zero of a function that never decreases, by Newton's method within a bracket.

    For piecewise linear functions, such as slopes of squared hinge losses, it finds the exact zero
    after finitely many steps.

    Parameters
    ----------
    look : callable
        Takes x, returns the function and its derivative there; the derivative may be 0.
    start : float, default=0.0
        The first x.
    scale : float, default=1.0
        Largest first step. Further steps grow until the zero is passed.

    Examples
    --------
    >>> root(lambda x: (max(x, 3 * x) - 6, 3.0 if x > 0 else 1.0))
    2.0
    """
    low, high, x, step = -math.inf, math.inf, start, scale
    for _ in range(_STEPS):
        value, slope = look(x)
        if value == 0:
            break
        low, high = (x, high) if value < 0 else (low, x)
        following = x - value / slope if slope > 0 else math.inf
        if math.isinf(high - low):  # no bracket yet: a step has a limit, which grows
            following = min(max(following, x - step), x + step) if slope > 0 else x
            following = x + math.copysign(step, -value) if following == x else following
            step *= 4
        elif not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - x) <= _ROUNDING * abs(x):
            break
        x = following
    return x

"""Checks of arguments that several graphs share."""

from __future__ import annotations

import math
import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_labeled(labeled: ArrayLike, n_vertices: int) -> NDArray[np.bool_]:
    """Return the boolean mask of the labelled rows."""
    mask = np.asarray(labeled)
    if mask.dtype != np.bool_:
        raise TypeError(
            f"labeled has dtype {mask.dtype}; pass a boolean mask, True where a row has a label"
        )
    if mask.shape != (n_vertices,):
        raise ValueError(
            f"labeled has shape {mask.shape}; pass one boolean for each of the {n_vertices} rows"
        )
    return mask


def check_gamma(gamma: float) -> float:
    """Return gamma as a float, if it is finite and not negative."""
    if not _is_real(gamma) or not 0 <= gamma < math.inf:
        raise ValueError(f"gamma={gamma!r} is no bandwidth; pass a finite number >= 0")
    return float(gamma)


def check_radius(radius: float | None) -> float:
    """Return radius as a float, if it is finite and positive."""
    if not _is_real(radius) or not 0 < radius < math.inf:  # type: ignore[operator]
        raise ValueError(
            f"radius={radius!r} is no distance for an epsilon graph; pass a finite number > 0"
        )
    return float(radius)  # type: ignore[arg-type]


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)

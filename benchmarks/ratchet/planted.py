"""Defects that the ratchet must notice, planted into the library of a running process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

TIMES = 10.0  # how much too large the ridge is
HOTTER = 4.0  # how much too large the temperature is


def temperature() -> None:
    """Make probabilities less sure than held-out labels say."""
    from graphkm.estimators import calibration
    from graphkm.judge import mixture

    right, best = calibration._platt, mixture.best_temperature
    mixture.best_temperature = lambda *given: best(*given) / HOTTER

    def wrong(*given: Any) -> tuple[float, Any]:
        slope, offsets = right(*given)
        return slope / HOTTER, offsets / HOTTER

    calibration._platt = wrong


def neighbours() -> None:
    """Shuffle the neighbours: they are those of the rows under other numbers."""
    from graphkm.neighbours.index import NeighbourIndex

    right = NeighbourIndex.neighbours

    def wrong(self: Any, k: int) -> Any:
        near, d2 = right(self, k)
        n = len(near)
        near = np.random.default_rng(0).permutation(n)[near]
        itself = near == np.arange(n)[:, None]
        return np.where(itself, (near + 1) % n, near), d2

    NeighbourIndex.neighbours = wrong


def ridge() -> None:
    """Fit with a ridge ten times as large as the one that was chosen: C is one over it."""
    from graphkm.gkm import base
    from graphkm.kernel_ridge.solvers import FullRidge
    from graphkm.ridge.landmarks import LandmarkBasis

    objective, full, landmarks = base.Objective, FullRidge.fit, LandmarkBasis.fit
    base.Objective = lambda **given: objective(**given | {"C": given["C"] / TIMES})
    FullRidge.fit = lambda self, alpha: full(self, TIMES * alpha)
    LandmarkBasis.fit = lambda self, sums, alpha: landmarks(self, sums, TIMES * alpha)


DEFECTS: dict[str, Callable[[], None]] = {
    "temperature": temperature,
    "neighbours": neighbours,
    "ridge": ridge,
}

"""What labels have changed so far: the curve of accuracy, and whether predictions are steady."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .learning import Learnt
from .targets import changed_share

_LOOK_BACK = 20  # predictions are compared with those of so many labels ago
_ENOUGH = 40  # with fewer labels the page does not advise to stop
_STEADY = 0.01  # the page advises to stop if no larger share of the predictions has changed


class Progress:
    """Remembers what was learnt from fewer labels."""

    def __init__(self) -> None:
        self._earlier: list[tuple[int, NDArray[np.float64]]] = []  # labels, predictions
        self.history: list[dict[str, Any]] = []

    def note(self, learnt: Learnt) -> None:
        """Take note of what was learnt."""
        if learnt.codes is None:
            return
        if not self._earlier or self._earlier[-1][0] != learnt.n_labels:
            self._earlier.append((learnt.n_labels, learnt.codes))
            self._earlier = self._earlier[-2 * _LOOK_BACK :]
        if learnt.accuracy is not None:
            point = {"labels": learnt.n_labels, **learnt.accuracy}
            if self.history and self.history[-1]["labels"] >= learnt.n_labels:
                self.history = [p for p in self.history if p["labels"] < learnt.n_labels]
            self.history.append(point)

    def steadiness(self, now: Learnt) -> dict[str, Any] | None:
        """Return the share of predictions that the last labels changed, and whether it is small."""
        before = [c for n, c in self._earlier if n <= now.n_labels - _LOOK_BACK]
        if now.kind is None or not now.kind.shares_count or now.codes is None or not before:
            return None
        changed = changed_share(before[-1], now.codes)
        return {
            "changed": changed,
            "labels": _LOOK_BACK,
            "enough": changed <= _STEADY and now.n_labels >= _ENOUGH,
        }

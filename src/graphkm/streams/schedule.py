"""How many steps a stream has taken after each of its rows."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_MANY, _RATE = 20000, 5  # steps until which a row has two; after many rows, rows for each step


class Schedule:
    """One step for every labelled row, and more where the plan asks for more.

    Parameters
    ----------
    steps_per_row : float or "auto"
        The plan, counted from the first labelled row on. "auto" takes as many steps for n
        rows as ``fit`` does: 2n up to 20,000, then n / 5.
    half_life : float or None, default=None
        Of a stream that forgets. Then "auto" is a constant rate: the rate of a fit to as many
        rows as the stream remembers. If steps became rarer, it would forget more and more slowly.

    Examples
    --------
    >>> Schedule(0.5).advance(np.array([False, True, False, False, True]))
    array([0, 1, 0, 0, 1])
    >>> Schedule(2.0).advance(np.array([True, False]))
    array([2, 2])
    """

    def __init__(self, steps_per_row: float | str, half_life: float | None = None) -> None:
        self._plan = steps_per_row
        if half_life is not None and isinstance(steps_per_row, str):
            remembered = half_life / log(2)
            self._plan = max(min(2.0, _MANY / remembered), 1 / _RATE)
        self._rows = 0  # from the first labelled one on
        self._labels = 0
        self._ahead = 0  # the most by which the plan was ahead of the labels

    def advance(self, labeled: NDArray[np.bool_]) -> Ints:
        """Return the steps to take after each of the next rows.

        After n rows with L labels they are S_n = max(S_{n-1} + label_n, plan(n)), which is
        L_n + max over m <= n of (plan(m) - L_m).
        """
        begun = np.maximum.accumulate(labeled) if not self._labels else np.ones(len(labeled), bool)
        rows = self._rows + np.cumsum(begun)
        labels = self._labels + np.cumsum(labeled)
        ahead = np.maximum.accumulate(np.append(self._ahead, self.planned(rows) - labels))
        steps = np.diff(ahead) + labeled
        if len(labeled):
            self._rows, self._labels = int(rows[-1]), int(labels[-1])
            self._ahead = int(ahead[-1])
        return np.asarray(steps)

    def planned(self, rows: Ints) -> Ints:
        """Return the steps that are due after so many rows since the first labelled one."""
        if isinstance(self._plan, str):
            return np.maximum(np.minimum(2 * rows, _MANY), rows // _RATE)
        return np.floor(self._plan * rows).astype(np.int64)

    def state(self) -> dict[str, Any]:
        """Return what `restore` takes."""
        return {"rows": self._rows, "labels": self._labels, "ahead": self._ahead}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._rows, self._labels = int(state["rows"]), int(state["labels"])
        self._ahead = int(state["ahead"])

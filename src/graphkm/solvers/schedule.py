"""How many steps a stream has taken after each of its rows."""

from __future__ import annotations

from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_MANY, _RATE = 20000, 5  # up to so many steps two a row, later one every so many rows


class Schedule:
    """One step for every labelled row, and more where those fall behind a plan.

    Parameters
    ----------
    steps_per_row : float or "auto"
        The plan, counted from the first labelled row on; "auto" is as many steps as
        ``fit`` takes for so many rows: 2n up to 20,000, then n / 5.
    half_life : float or None
        With one, "auto" is the rate at which ``fit`` goes over the rows that are remembered: a
        rate that fell with the length of the stream would let it fall behind.

    Examples
    --------
    >>> Schedule(0.5).advance(np.array([False, True, False, False, True]))
    array([0, 1, 0, 0, 1])
    >>> Schedule("auto", half_life=500.0).advance(np.array([True, False]))
    array([2, 2])
    """

    def __init__(self, steps_per_row: float | str, half_life: float | None = None) -> None:
        self._plan = steps_per_row
        if isinstance(steps_per_row, str) and half_life is not None:
            remembered = max(1, ceil(half_life / log(2)))
            self._plan = float(_usual(np.array(remembered)) / remembered)
        self._rows = 0  # since the first labelled one, which counts
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
        ahead = np.maximum.accumulate(np.append(self._ahead, self._planned(rows) - labels))
        steps = np.diff(ahead) + labeled
        if len(labeled):
            self._rows, self._labels = int(rows[-1]), int(labels[-1])
            self._ahead = int(ahead[-1])
        return np.asarray(steps)

    def _planned(self, rows: Ints) -> Ints:
        if isinstance(self._plan, str):
            return _usual(rows)
        return np.floor(self._plan * rows).astype(np.int64)

    def state(self) -> dict[str, Any]:
        """Return what `restore` takes."""
        return {"rows": self._rows, "labels": self._labels, "ahead": self._ahead}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._rows, self._labels = int(state["rows"]), int(state["labels"])
        self._ahead = int(state["ahead"])


def _usual(rows: Ints) -> Ints:
    return np.maximum(np.minimum(2 * rows, _MANY), rows // _RATE)

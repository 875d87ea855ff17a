"""Doubtful labels as a table, and what to do with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..members.member import LEAST
from .noise import Array, Rate

_SHOWN = 20  # lines that are printed


class Nearest(NamedTuple):
    """A labelled row near a doubtful one."""

    row: int
    label: Any
    distance: float


class DoubtfulLabel(NamedTuple):
    """One label, and what speaks against it."""

    row: int
    """The number of the row among all rows of the fit."""
    name: Any
    """Which of several labels or quantities it is; None if rows have one."""
    given: Any
    """The given class; 0 or 1 for one of several labels; a quantity."""
    other: Any
    """The likeliest of the other classes; what the model says of a quantity."""
    given_probability: float
    """The held-out probability of what is given. Of a quantity, how often a right one is as far
    from what the model says."""
    other_probability: float
    """The held-out probability of the other class; NaN for quantities."""
    doubt: float
    """The probability that the label is wrong."""
    near: tuple[Nearest, ...] = ()
    """The nearest labelled rows, if the rows are known."""


class Wrong(NamedTuple):
    """How many labels are wrong."""

    number: float
    """The best guess."""
    low: int
    """The lower end of a 90 % interval."""
    high: int
    """Its upper end."""
    labels: int
    """How many labels were judged."""

    @classmethod
    def of(cls, rate: Rate, labels: int) -> Wrong:
        """Return the number of wrong labels, from their share."""
        low, high = np.floor(rate.low * labels), np.ceil(rate.high * labels)
        return cls(rate.value * labels, int(low), int(high), labels)

    @classmethod
    def sum(cls, columns: Sequence[Wrong]) -> Wrong:
        """Return the number in several columns; the ends are off by the root of their squares."""
        number = float(sum(each.number for each in columns))
        down = np.sqrt(sum((each.number - each.low) ** 2 for each in columns))
        up = np.sqrt(sum((each.high - each.number) ** 2 for each in columns))
        labels = sum(each.labels for each in columns)
        return cls(number, int(np.floor(number - down)), int(np.ceil(number + up)), labels)


class DoubtfulLabels(list[DoubtfulLabel]):
    """Given labels, the most doubtful first; they print as a table.

    Parameters
    ----------
    lines : iterable of DoubtfulLabel
        The labels.
    rows : ndarray of int of shape (l,)
        The numbers of all labelled rows.
    doubts : ndarray of shape (l,)
        Their doubts; of a row with several labels, the mean.
    estimate : Wrong
        How many labels are wrong.

    Examples
    --------
    >>> line = DoubtfulLabel(17, None, "cat", "dog", 0.02, 0.97, 0.91, (Nearest(4, "dog", 0.3),))
    >>> DoubtfulLabels([line], np.array([4, 17]), np.array([0.0, 0.91]), Wrong(1.0, 0, 2, 2))
    About 1 of 2 labels are wrong (90 % interval: 0 to 2).
    row  given  other  given p  other p  doubt  near
    17   cat    dog      0.020    0.970  0.910  4 dog
    """

    def __init__(
        self,
        lines: Iterable[DoubtfulLabel],
        rows: NDArray[np.int64],
        doubts: Array,
        estimate: Wrong,
    ) -> None:
        super().__init__(lines)
        self.rows, self.doubts, self.estimate = rows, doubts, estimate

    def weights(self, n_rows: int) -> Array:
        """Return weights for another fit: 1 - doubt for labelled rows, and 1 for others.

        Doubtful labels are weighed down, and none is left out: the last label of a class stays.

        Parameters
        ----------
        n_rows : int
            The number of all rows of the fit.

        Examples
        --------
        >>> DoubtfulLabels([], np.array([1]), np.array([0.75]), Wrong(1.0, 0, 1, 1)).weights(3)
        array([1.  , 0.25, 1.  ])
        """
        if n_rows <= self.rows.max():
            raise ValueError(
                f"n_rows={n_rows}, but row {self.rows.max()} has a label; pass the number of all "
                "rows of the fit."
            )
        found = np.ones(n_rows)
        found[self.rows] = np.maximum(1.0 - self.doubts, LEAST)
        return found

    def frame(self) -> Any:
        """Return the lines as a pandas frame; neighbours are row numbers."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("frame() needs pandas: pip install pandas") from error
        lines = [line._asdict() | {"near": [each.row for each in line.near]} for line in self]
        return pd.DataFrame(lines, columns=list(DoubtfulLabel._fields))

    def __repr__(self) -> str:
        """Return the table; of many labels the first ones."""
        about = self.estimate
        text = (
            f"About {about.number:.0f} of {about.labels} labels are wrong "
            f"(90 % interval: {about.low} to {about.high})."
        )
        cells = [_cells(line) for line in self[:_SHOWN]]
        heads = ["row", "label", "given", "other", "given p", "other p", "doubt", "near"]
        kept = [k for k in range(len(heads)) if k not in (1, 7) or any(row[k] for row in cells)]
        widths = {k: max(len(row[k]) for row in [heads, *cells]) for k in kept}
        lines = [
            "  ".join(
                row[k].rjust(widths[k]) if k in (4, 5, 6) else row[k].ljust(widths[k]) for k in kept
            ).rstrip()
            for row in [heads, *cells]
        ]
        more = [f"... and {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([text, *lines, *more])


def _cells(line: DoubtfulLabel) -> list[str]:
    def shown(value: Any) -> str:
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    def chance(value: float) -> str:
        return "" if value != value else f"{value:.3f}"  # NaN differs from itself

    near = ", ".join(f"{each.row} {shown(each.label)}" for each in line.near)
    name = "" if line.name is None else str(line.name)
    numbers = map(chance, (line.given_probability, line.other_probability, line.doubt))
    return [str(line.row), name, shown(line.given), shown(line.other), *numbers, near]

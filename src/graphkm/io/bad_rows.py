"""Rows that cannot be used: an error by default; on request left out, counted and reported."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

from .files import DataFileError

_KEPT = 10  # reasons that are kept; more rows are counted


class BadRowWarning(UserWarning):
    """Rows of a file were left out."""


@dataclass
class BadRows:
    """The rows of a file that cannot be used.

    Attributes
    ----------
    name : str
        The file.
    on_bad_row : {"error", "skip"}
        Whether to raise at the first one, or to count them.
    place : str
        The word before a row's number in messages: line or row.
    advice : str
        What an error tells the user to do.
    count : int
        How many there were.
    reasons : list of str
        Place and reason of the first ten.

    Examples
    --------
    >>> bad = BadRows("train.csv", on_bad_row="skip")
    >>> bad.add(7, "a value is missing")
    >>> bad.count, bad.reasons
    (1, ['line 7: a value is missing'])
    """

    name: str
    on_bad_row: str = "error"
    place: str = "line"
    advice: str = "Fix it, or pass on_bad_row='skip' to leave such rows out."
    count: int = 0
    reasons: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.on_bad_row not in ("error", "skip"):
            raise ValueError(f"on_bad_row={self.on_bad_row!r} is neither 'error' nor 'skip'.")

    def add(self, number: int, reason: str) -> None:
        """Count a bad row, or raise."""
        if self.on_bad_row == "error":
            raise DataFileError(f"{self.name}, {self.place} {number}: {reason}. {self.advice}")
        self.count += 1
        if len(self.reasons) < _KEPT:
            self.reasons.append(f"{self.place} {number}: {reason}")

    def report(self) -> None:
        """Warn if rows were left out."""
        if self.count:
            rows = "1 row was" if self.count == 1 else f"{self.count:,} rows were"
            warnings.warn(
                f"{rows} left out of {self.name}; the first: {self.reasons[0]}.",
                BadRowWarning,
                stacklevel=3,
            )

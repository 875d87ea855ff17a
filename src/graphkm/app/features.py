"""The features of a table, and what the page says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.kinds import IMAGE, NUMBER, TEXT, WORD, is_quantity, kinds_line
from ..tables.preparing import check_squares
from ..tables.useless_columns import identifier_doubts
from .material import Material


@dataclass(frozen=True)
class Learnt:
    """The features of a table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Their values.
    names, kinds : list of str
        What they are called, and what they hold.
    places : list of int
        Their places in the file.
    left_out : dict, default={}
        Columns that are not learnt from, and why.
    """

    X: NDArray[Any]
    names: list[str]
    kinds: list[str]
    places: list[int]
    left_out: dict[str, str] = field(default_factory=dict)

    @classmethod
    def nothing(cls, n: int) -> Learnt:
        """Return the features of n rows that have none."""
        return cls(np.empty((n, 0)), [], [], [])

    @property
    def has_numbers(self) -> bool:
        """Whether one of the features is a quantity."""
        return any(map(is_quantity, self.kinds))

    def chosen(self, rows: Sequence[int]) -> Learnt:
        """Return some of the rows."""
        return self if len(rows) == len(self.X) else replace(self, X=self.X[list(rows)])

    def with_column(self, place: int, name: str, kind: str, values: Sequence[str]) -> Learnt:
        """Return the features with one more, where it stands in the file.

        Examples
        --------
        >>> numbers = Learnt(np.array([[1.0], [2.0]]), ["size"], ["number"], [1])
        >>> numbers.with_column(0, "note", "text", ["a b", "c"]).X.tolist()
        [['a b', 1.0], ['c', 2.0]]
        """
        at = sum(other < place for other in self.places)
        column = np.empty((len(values), 1), dtype=object)
        column[:, 0] = values
        return replace(
            self,
            X=np.hstack([self.X[:, :at], column, self.X[:, at:]]),
            names=[*self.names[:at], name, *self.names[at:]],
            kinds=[*self.kinds[:at], kind, *self.kinds[at:]],
            places=[*self.places[:at], place, *self.places[at:]],
        )

    def material(
        self, only_shown: dict[str, str], notes: Sequence[str] = (), **about: Any
    ) -> Material:
        """Return the rows as the page needs them; `notes` tell of a column that is encoded."""
        gaps = self.X != self.X
        plain = all(kind == NUMBER for kind in self.kinds) and not gaps.any()
        no_numbers = [k for k, kind in enumerate(self.kinds) if kind in (WORD, TEXT, IMAGE)]
        check_squares(self.X, self.names, no_numbers, "or leave the column out with --drop.")
        told = only_shown | self.left_out
        said = [*notes, *self._learnt_from(plain)]
        if told:
            listed = ", ".join(f"{name} ({why})" for name, why in told.items())
            said.append(f"Shown, not learnt from: {listed}.")
        if gaps.any():
            columns = int(gaps.any(axis=0).sum())
            said.append(f"Missing values in {columns} of the columns: {gaps.sum():,}, filled in.")
        said += identifier_doubts(self.X, self.names, no_numbers)
        return Material(
            X=self.X,
            names=self.names,
            kinds=() if plain else self.kinds,
            left_out=self.left_out,
            notes=said,
            **about,
        )

    def _learnt_from(self, plain: bool) -> list[str]:
        """Return a note on the columns of a mixed table, or on those beside one that is encoded."""
        own = [
            (kind, name)
            for kind, name in zip(self.kinds, self.names, strict=True)
            if kind not in (TEXT, IMAGE)
        ]
        if plain or not own:
            return []
        line = kinds_line(*map(list, zip(*own, strict=True)))
        if len(own) == len(self.kinds):
            return [f"The model learns from {line}."]
        return [f"Models that you save learn from the other columns too: {line}."]

"""What `explain` returns: one explanation for each row, to print, to draw and to compute with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .frames import as_frame
from .ways import Ways

Array = NDArray[np.float64]


class Vote(NamedTuple):
    """What one member says."""

    member: str
    weight: float
    said: float
    """Its probability of the class, or its quantity."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why one row has its answer.

    Parameters
    ----------
    answer : label or None
        The class that is explained; None for a quantity.
    value : float
        Its probability, or the quantity.
    base : float
        What members say before any label adds to it: equal shares, or what a linear model says of
        the mean labelled row.
    labeled : ndarray of int
        The numbers of the labelled rows.
    labels : ndarray
        Their labels.
    shares : ndarray
        What each of them adds to `value`: above 0 it speaks for the answer, below 0 against it.
    others : dict
        What is no sum over labels, by name.
    votes : list of Vote
        What every member says, the heaviest first.
    columns : dict
        What every column of the table adds, by the members that look at columns (linear models,
        kernel ridge, forests): see ``inspection/column_shares.py``. It is another way to
        divide the same answer: columns and labels are not added up.
    """

    answer: Any
    value: float
    base: float
    labeled: NDArray[np.int64]
    labels: NDArray[Any]
    shares: Array
    others: dict[str, float]
    votes: list[Vote]
    columns: dict[Any, float]
    ways: Ways = field(repr=False)
    row: int = 0

    @property
    def total(self) -> float:
        """The sum of the base, of all labels and of the others: it is `value`."""
        return float(self.base + self.shares.sum() + sum(self.others.values()))

    @property
    def neighbours(self) -> NDArray[np.int64]:
        """Rows of the fit that the row lies among, the nearest first."""
        return self.ways.near(self.row)

    def strongest(self, most: int = 5) -> NDArray[np.int64]:
        """Return the positions of the labels that add or take most, the strongest first."""
        order = np.argsort(-np.abs(self.shares), kind="stable")[:most]
        return order[self.shares[order] != 0]

    def way_from(self, labeled: int) -> list[int]:
        """Return the rows on the way from a labelled row, along the graph of nearest rows."""
        return self.ways.to(self.row, np.array([labeled]))[0]

    def __str__(self) -> str:
        """Return the explanation as text."""
        what = "quantity" if self.answer is None else f"P({self.answer})"
        lines = [f"{what} = {self.value:.3f}, from {self.base:.3f} before labels count"]
        top = self.strongest()
        for place, way in zip(top, self.ways.to(self.row, self.labeled[top]), strict=True):
            by = f"  by way of {_shown(way[1:], self.ways.n_rows)}" if len(way) > 1 else ""
            label = _plain(self.labels[place])
            lines.append(f"  {self.shares[place]:+.3f}  row {self.labeled[place]} ({label}){by}")
        rest = self.shares.sum() - self.shares[top].sum()
        if len(self.shares) > len(top):
            lines.append(f"  {rest:+.3f}  {len(self.shares) - len(top)} other labels")
        lines += [f"  {share:+.3f}  {name}" for name, share in self.others.items()]
        most = sorted(self.columns.items(), key=lambda each: -abs(each[1]))[:5]
        if any(share for _, share in most):
            lines.append("columns: " + ", ".join(f"{name} {share:+.3f}" for name, share in most))
        lines.append("members: weight, and what each says")
        heavy = sorted(self.votes, key=lambda vote: -vote.weight)
        lines += [f"  {vote.weight:.3f}  {vote.said:.3f}  {vote.member}" for vote in heavy[:5]]
        if len(heavy) > 5:
            lines.append(
                f"  {sum(v.weight for v in heavy[5:]):.3f}         {len(heavy) - 5} others"
            )
        return "\n".join(lines)

    __repr__ = __str__


def _plain(label: Any) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)


def _shown(way: Sequence[int], n_rows: int, most: int = 4) -> str:
    """Return the rows of a way; of a long one its two ends."""
    names = [str(each) if each < n_rows else "a label's name" for each in way]
    if len(way) > most:
        return f"{names[0]}, {names[1]}, ... {len(way) - 3} more ..., {names[-1]}"
    return ", ".join(names)


class Explanations(list[Explanation]):
    """Explanations of several rows; ``figure`` is the drawing, if one was asked for."""

    figure: Any = None

    def __repr__(self) -> str:
        """Return all explanations as text."""
        return "\n\n".join(f"row {place}: {each}" for place, each in enumerate(self))

    def frame(self) -> Any:
        """Return a pandas frame: a line for each row and each thing that adds to its answer."""
        lines = []
        for row, each in enumerate(self):
            lines.append((row, each.answer, "base", None, None, each.base))
            for number, label, share in zip(each.labeled, each.labels, each.shares, strict=True):
                lines.append((row, each.answer, "label", number, label, share))
            for name, share in each.others.items():
                lines.append((row, each.answer, name, None, None, share))
        columns = ["row", "answer", "what", "labelled row", "label", "share"]
        return as_frame(dict(zip(columns, zip(*lines, strict=True), strict=True)))

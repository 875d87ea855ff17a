"""Rows in a random order, which people screen to find out how many relevant ones are missed."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..active import Recall, recall_so_far
from ..io import DataFileError
from .output import whole_or_not

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Draw:
    """What the rows tell that were drawn at random.

    Parameters
    ----------
    path : Path
        The file with the random order.
    rows, screened : int
        The rows that were left when it was written, and how many were screened in its order.
    relevant : int
        How many of these are relevant.
    beyond : int
        Rows that were screened out of its order, which do not count.
    bound : Recall
        What follows for the rows that are left.
    target, alpha : float
        The recall that is enough, and the probability to be wrong.
    """

    path: Path
    rows: int
    screened: int
    relevant: int
    beyond: int
    bound: Recall
    target: float
    alpha: float

    @property
    def facts(self) -> dict[str, Any]:
        """All of it, for programs."""
        return asdict(self)

    def told(self, relevant: str) -> list[str]:
        """Return it as sentences."""
        if not self.screened:
            return [
                f"{self.path} has the {self.rows:,} rows that are left in a random order. Screen "
                "them in this order, write their labels into the data, and call this again."
            ]
        sure, least = 100 * (1 - self.alpha), 100 * self.bound.at_least
        lines = [
            f"Of {self.screened:,} rows that were drawn at random, {self.relevant:,} are "
            f"{relevant}. So at most {self.bound.left_at_most:,} more are missed, and at least "
            f"{least:.1f} % are found; this is right with a probability of {sure:g} %, however "
            "often you look.",
            f"That is {'enough: you can stop' if self.bound.enough else 'not enough yet: go on'}; "
            f"the target is {100 * self.target:g} %.",
        ]
        if self.beyond:
            lines.append(
                f"{self.beyond:,} screened rows of {self.path} stand behind one that is not "
                "screened, and do not count: keep to its order."
            )
        return lines


def drawn_rows(
    path: Path,
    called: str,
    names: Sequence[str],
    screened: Mask,
    relevant: Mask,
    target: float,
    alpha: float,
    seed: int,
) -> Draw:
    """Return what a random order tells; write the order if there is none yet.

    Parameters
    ----------
    path : Path
        The file with the random order.
    called : str
        The head of its column: "row", or the column of ids.
    names : sequence of str
        What each row of the data is called.
    screened, relevant : ndarray of bool of shape (n_rows,)
        Which rows are screened, and which of these are relevant.
    target, alpha : float
        As `graphkm.active.recall_so_far` has them.
    seed : int
        Draws the order.
    """
    if not path.exists():
        order = np.random.default_rng(seed).permutation(np.flatnonzero(~screened))
        with whole_or_not(path) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([[called], *([names[row]] for row in order)])
    else:
        order = _read(path, called, names)
    before = np.setdiff1d(np.arange(len(names)), order)
    if not screened[before].all():
        row = names[before[np.argmin(screened[before])]]
        raise DataFileError(
            f"{path} lacks the {called} {row}, which has no label: it was drawn from other rows, "
            "or a label was taken away since. Name another file, and a new order is drawn."
        )
    in_turn = int(np.argmin(np.append(screened[order], False)))
    first = order[:in_turn]
    said = np.append(relevant[before], relevant[first])
    bound = recall_so_far(said, len(names), drawn=in_turn, target=target, alpha=alpha)
    hits, beyond = int(relevant[first].sum()), int(screened[order].sum()) - in_turn
    return Draw(path, len(order), in_turn, hits, beyond, bound, target, alpha)


def _read(path: Path, called: str, names: Sequence[str]) -> NDArray[np.int64]:
    """Return the places of the rows of a file with a random order."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = [line[0] for line in csv.reader(file) if line]
    if not lines or lines[0] != called:
        raise DataFileError(
            f"{path} begins with {lines[0] if lines else ''!r} and not with {called!r}, so it has "
            "no random order of these rows. Name another file, and one is drawn."
        )
    place = {name: row for row, name in enumerate(names)}
    strange = [name for name in lines[1:] if name not in place]
    if strange or len(set(lines)) < len(lines):
        told = f"there is no {called} {strange[0]}" if strange else "a row stands in it twice"
        raise DataFileError(f"{path}: {told}. Name another file, and a new random order is drawn.")
    return np.array([place[name] for name in lines[1:]], dtype=np.int64)

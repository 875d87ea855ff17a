"""A cell is one piece of work that gives one row of results: a choice, a fit, or a figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .methods import METHODS
from .protocol import Protocol
from .sets import SETS

OVER = "over the limit"
NO_FIT = "did not fit"
LIMITED = (OVER, NO_FIT)
"""Statuses of a cell that hit a limit."""

SMALL = 5000
"""On sets of up to this many rows, every run of a fast method chooses its own parameters."""


@dataclass(frozen=True, order=True)
class Cell:
    """One piece of work."""

    kind: Literal["choice", "fit", "convergence", "graph"]
    dataset: str
    method: str
    hidden: int  # per cent of the training rows' labels; 0 if all are used
    run: int  # number of the repetition, from 0

    @property
    def key(self) -> str:
        """The cell's name in the file of results."""
        return f"{self.kind}/{self.dataset}/{self.method}/{self.hidden}/{self.run}"

    @property
    def place(self) -> tuple[int, int, int, int, bool]:
        """The cell's place in the order of work: small sets first, choices before fits."""
        rank = [*METHODS].index(self.method) if self.method in METHODS else -1
        return (list(SETS).index(self.dataset), -self.hidden, rank, self.run, self.kind == "fit")

    def needs(self, protocol: Protocol) -> Cell | None:
        """Return the cell that chooses this one's parameters."""
        if self.kind != "fit" or not METHODS[self.method].stages(protocol):
            return None
        quick = SETS[self.dataset].rows <= SMALL and METHODS[self.method].divisor == 1
        run = self.run if quick or not protocol.choose_once else 0
        return Cell("choice", self.dataset, self.method, self.hidden, run)

    def follows(self) -> Cell | None:
        """Return the run before this one, if there is one."""
        if self.run == 0 or self.kind == "choice":
            return None
        return Cell(self.kind, self.dataset, self.method, self.hidden, self.run - 1)


def fits(
    datasets: tuple[str, ...], methods: tuple[str, ...], hidden: tuple[int, ...],
    protocol: Protocol,
) -> list[Cell]:  # fmt: skip
    """Return the fits of all combinations, and the choices that they need.

    Examples
    --------
    >>> cells = fits(("g50c",), ("gkm-hinge-p1",), (90,), Protocol.named("quick"))
    >>> [cell.key for cell in cells[:2]]
    ['choice/g50c/gkm-hinge-p1/90/0', 'fit/g50c/gkm-hinge-p1/90/0']
    """
    found = [
        Cell("fit", dataset, method, share, run)
        for dataset in datasets
        for method in methods
        for share in ((0,) if METHODS[method].labels == "all" else hidden)
        for run in range(protocol.runs)
    ]
    choices = [need for cell in found if (need := cell.needs(protocol)) is not None]
    return in_order(found + choices)


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """Return every cell once, in the order of work.

    Examples
    --------
    >>> a, b = (Cell("fit", name, "lapsvm", 90, 0) for name in ("covtype", "g50c"))
    >>> [cell.dataset for cell in in_order([a, b, a])]
    ['g50c', 'covtype']
    """
    return sorted(set(cells), key=lambda cell: cell.place)

"""A cell is one piece of work with one row of results: a choice, a fit, or a figure."""

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
"""Sets of up to so many rows: every run of a fast method chooses its own parameters."""


@dataclass(frozen=True, order=True)
class Cell:
    """One piece of work.

    Parameters
    ----------
    kind : {"choice", "fit", "convergence", "graph"}
        What to do.
    dataset : str
        A set's name.
    method : str
        A method's name.
    hidden : int
        Per cent of the training rows' labels that are hidden; 0 if all are used.
    run : int
        Number of the repetition, from 0.
    """

    kind: Literal["choice", "fit", "convergence", "graph"]
    dataset: str
    method: str
    hidden: int
    run: int

    @property
    def key(self) -> str:
        """Its name in the file of results."""
        return f"{self.kind}/{self.dataset}/{self.method}/{self.hidden}/{self.run}"

    @property
    def place(self) -> tuple[int, int, int, int, bool]:
        """Where it stands in the order of work: small sets first, then runs side by side."""
        methods = list(METHODS)
        rank = methods.index(self.method) if self.method in methods else -1
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
    """Return fits of all these combinations, and the choices that they need.

    Examples
    --------
    >>> cells = fits(("g50c",), ("gkm-hinge-p1",), (90,), Protocol.named("quick"))
    >>> [cell.key for cell in cells[:2]]
    ['choice/g50c/gkm-hinge-p1/90/0', 'fit/g50c/gkm-hinge-p1/90/0']
    """
    found = set()
    for dataset in datasets:
        for method in methods:
            shares = (0,) if METHODS[method].labels == "all" else hidden
            found |= {
                Cell("fit", dataset, method, share, run)
                for share in shares
                for run in range(protocol.runs)
            }
    found |= {need for cell in found if (need := cell.needs(protocol)) is not None}
    return in_order(found)


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells without repetition, small sets first.

    Examples
    --------
    >>> a, b = (Cell("fit", name, "lapsvm", 90, 0) for name in ("covtype", "g50c"))
    >>> [cell.dataset for cell in in_order([a, b, a])]
    ['g50c', 'covtype']
    """
    return sorted(set(cells), key=lambda cell: cell.place)

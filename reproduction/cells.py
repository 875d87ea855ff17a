"""A cell is one piece of work that gives one row of results: a choice, a fit, or a figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product

from .methods import METHODS
from .protocol import Protocol
from .sets import SETS, TEST_SHARES

OVER = "over the limit"
NO_FIT = "did not fit"
LIMITED = (OVER, NO_FIT)  # statuses of a cell that hit a limit

SMALL = 5000  # up to so many rows every run of a fast method chooses its own parameters
PRINTED_UP_TO = 10_000  # and up to so many the printed objective is run beside the released one

PARTS = tuple(TEST_SHARES)
OBJECTIVES = ("printed", "released")


@dataclass(frozen=True, order=True)
class Cell:
    """One piece of work."""

    kind: str  # a key of `isolation.WORK`
    dataset: str
    method: str
    hidden: int  # per cent of the training rows' labels; 0 if all are used
    run: int  # number of the repetition, from 0
    part: str = "tenth"  # of the rows for testing: "tenth" or "fifth"
    objective: str = ""  # of the paper's machine: "printed" or "released"
    rows: int = 0  # so many training rows; 0 for all

    @property
    def key(self) -> str:
        """The cell's name in the file of results."""
        return "/".join(map(str, vars(self).values()))

    @property
    def place(self) -> tuple[int, int, int, int, int, bool, str]:
        """The cell's place in the order of work: small sets first, choices before fits."""
        rank = [*METHODS].index(self.method) if self.method in METHODS else -1
        return (list(SETS).index(self.dataset), -self.hidden, self.rows, rank, self.run,
                self.kind == "fit", self.part + self.objective)  # fmt: skip

    def needs(self, protocol: Protocol) -> Cell | None:
        """Return the cell that chooses this one's parameters."""
        if self.kind not in ("fit", "growth") or not METHODS[self.method].stages(protocol):
            return None
        run = self.run if is_quick(self.dataset, self.method) else 0
        return replace(self, kind="choice", rows=0, run=run)

    def follows(self) -> Cell | None:
        """Return the run before this one, or the one on fewer rows, if there is one."""
        if self.run == 0 or self.kind == "choice":
            return None
        rows = sizes_of(self.dataset)[self.run - 1] if self.kind == "growth" else self.rows
        return replace(self, run=self.run - 1, rows=rows)


def is_quick(dataset: str, method: str) -> bool:
    """Return whether there are many runs, each of which chooses its own parameters."""
    quick = METHODS[method].published or method == "svm-labeled"
    return quick and SETS[dataset].rows <= SMALL


def fits(
    datasets: Iterable[str], methods: Iterable[str], hidden: Iterable[int], protocol: Protocol
) -> list[Cell]:
    """Return the fits of all combinations, and the choices that they need."""
    cells = []
    for dataset, method in product(datasets, methods):
        objectives: tuple[str, ...] = ("",)
        if METHODS[method].published:
            objectives = OBJECTIVES if SETS[dataset].rows <= PRINTED_UP_TO else OBJECTIVES[1:]
        shares = (0,) if METHODS[method].labels == "all" else hidden
        runs = range(protocol.quick_runs if is_quick(dataset, method) else protocol.runs)
        cells += [
            Cell("fit", dataset, method, share, run, part, objective)
            for share, run, part, objective in product(shares, runs, PARTS, objectives)
        ]
    return with_choices(cells, protocol)


def sizes_of(dataset: str) -> list[int]:
    """Return the numbers of rows on which costs are measured: 1,000, twice as many, ..., all.

    Those of COVTYPE have 95,000: the paper's 69,498 MB are a matrix of doubles of so many rows.
    """
    rows = SETS[dataset].rows * 9 // 10
    doubled = [1000 * 2**k for k in range(20)]
    return sorted([n for n in (*doubled, 95_000) if n < 0.8 * rows] + [rows])


def with_choices(cells: list[Cell], protocol: Protocol) -> list[Cell]:
    """Return the cells and the choices that they need, in order."""
    choices = [need for cell in cells if (need := cell.needs(protocol)) is not None]
    return in_order(cells + choices)


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """Return every cell once, in the order of work."""
    return sorted(set(cells), key=lambda cell: cell.place)

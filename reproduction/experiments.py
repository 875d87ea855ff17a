"""Which cells make up each table and figure of the paper.

===========  ======================================================
graph        Figure 1: a graph of nearest neighbours
convergence  Figure 2: J against the number of steps
losses       Tables 2 and 3: hinge and logistic loss, p = 1, 2, 3
unlabeled    Table 4 and Figure 3: the share of hidden labels
comparison   Table 5: GKM beside other methods
===========  ======================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from .cells import Cell, fits
from .methods import LOSSES, POWERS
from .protocol import Protocol
from .sets import PAPER_12, PAPER_13

_QUICK_SETS = ("coil20", "g50c")  # of the quick protocol, unless sets are named


@dataclass(frozen=True)
class Experiment:
    """Fits of some methods on some sets."""

    title: str
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    hidden: tuple[int, ...]  # per cent of the labels

    def cells(self, datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
        """Return the cells on these sets, or on the paper's sets if None."""
        return fits(datasets or self.datasets, self.methods, self.hidden, protocol)


class _Graph(Experiment):
    """Figure 1, one cell on one set."""

    def cells(self, datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
        return [Cell("graph", "made_curve", "knn", 0, 0)]


class _Convergence(Experiment):
    """Figure 2: a cell for every loss and p, on G50C or on the generated set like it."""

    def cells(self, datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
        chosen = [name for name in datasets or ("g50c",) if name in self.datasets]
        places = product(chosen, self.methods, self.hidden)
        return [Cell("convergence", *place, 0) for place in places]


_GRID = tuple(f"gkm-{loss}-p{p}" for loss in LOSSES for p in POWERS)
# gkm-no-graph, gkm-best and svm-labeled are not in the paper.
_COMPARED = ("gkm-hinge-p1", "gkm-hinge-p2", "gkm-no-graph", "gkm-best", "lapsvm", "cccp",
             "self-knn", "svm-labeled", "svm-all-labels")  # fmt: skip

GRAPH = _Graph("A spectral graph (Figure 1)", ("made_curve",), ("knn",), (0,))
CONVERGENCE = _Convergence("Convergence (Figure 2)", ("g50c", "made_g50c"), _GRID, (90,))
LOSSES_AND_POWERS = Experiment("Losses and smoothness (Tables 2 and 3)", PAPER_13, _GRID, (90, 80))
UNLABELED = Experiment(
    "Share of hidden labels (Table 4, Figure 3)", PAPER_12, ("gkm-hinge-p1",), (90, 80, 70, 60, 50)
)
COMPARISON = Experiment("Comparison of methods (Table 5)", PAPER_12, _COMPARED, (90, 80))

EXPERIMENTS = {
    "graph": GRAPH,
    "convergence": CONVERGENCE,
    "losses": LOSSES_AND_POWERS,
    "unlabeled": UNLABELED,
    "comparison": COMPARISON,
}


def plan(name: str, datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
    """Return the cells of an experiment, or of "all".

    Examples
    --------
    >>> [cell.key for cell in plan("graph", None, Protocol.named("quick"))]
    ['graph/made_curve/knn/0/0']
    """
    if datasets is None and protocol.name == "quick":
        datasets = _QUICK_SETS
    chosen = EXPERIMENTS.values() if name == "all" else [EXPERIMENTS[name]]
    return [cell for each in chosen for cell in each.cells(datasets, protocol)]

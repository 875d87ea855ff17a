"""Which cells make up each table and figure of the paper.

===========  ======================================================
sets         Table 1: rows, columns and classes of every set
graph        Figure 1: a graph of nearest neighbours
convergence  Figure 2: J against the number of steps
losses       Tables 2 and 3: hinge and logistic loss, p = 1, 2, 3
unlabeled    Table 4 and Figure 3: the share of hidden labels
comparison   Table 5: GKM beside other methods
growth       times and memory on more and more rows of a set
claims       two claims without a table: LapSVM as a special case, and streams
===========  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from .cells import OBJECTIVES, Cell, fits, in_order, sizes_of, with_choices
from .methods import LOSSES, METHODS, POWERS
from .protocol import Protocol
from .sets import PAPER_SETS

GRID = tuple(f"gkm-{loss}-p{p}" for loss in LOSSES for p in POWERS)
# gkm-no-graph, gkm-best and svm-labeled are not in the paper.
COMPARED = ("gkm-hinge-p1", "gkm-hinge-p2", "gkm-no-graph", "gkm-best", "lapsvm", "cccp",
            "self-knn", "svm-labeled", "svm-all-labels")  # fmt: skip
GROWING = ("w8a", "ijcnn1", "cod_rna", "covtype")
RIVALS = ("lapsvm", "cccp", "self-knn", "svm-all-labels")
SHARES = (90, 80, 70, 60, 50)

_CONVERGENT = ("g50c", "made_g50c")
_QUICK_SETS = ("coil20", "g50c")  # of the quick protocol, unless sets are named

Sets = tuple[str, ...]


def _convergence(sets: Sets, protocol: Protocol) -> list[Cell]:
    return [
        Cell("convergence", name, method, 90, 0, objective=objective)
        for name, method, objective in product(_CONVERGENT, GRID, OBJECTIVES)
        if name in sets
    ]


def _growth(sets: Sets, protocol: Protocol) -> list[Cell]:
    machines = [("gkm-hinge-p1", "released"), *((rival, "") for rival in RIVALS)]
    return with_choices([
        Cell("growth", name, method, hidden, run, "tenth", objective, rows)
        for name, (method, objective) in product(GROWING, machines) if name in sets
        for hidden in ((0,) if METHODS[method].labels == "all" else (90, 80))
        for run, rows in enumerate(sizes_of(name))
    ], protocol)  # fmt: skip


def _comparison(sets: Sets, protocol: Protocol) -> list[Cell]:
    """Return the cells of Table 5; on the four largest sets the rivals are part of `growth`."""
    large = tuple(name for name in sets if name in GROWING)
    others = tuple(name for name in sets if name not in GROWING)
    ours = tuple(name for name in COMPARED if name not in RIVALS)
    return fits(others, COMPARED, (90, 80), protocol) + fits(large, ours, (90, 80), protocol)


EXPERIMENTS: dict[str, Callable[[Sets, Protocol], list[Cell]]] = {
    "sets": lambda sets, _: [Cell("size", name, "rows", 0, 0) for name in sets],
    "graph": lambda sets, _: [Cell("graph", "made_curve", "knn", 0, 0)],
    "convergence": _convergence,
    "losses": lambda sets, protocol: fits(sets, GRID, (90, 80), protocol),
    "unlabeled": lambda sets, protocol: fits(sets, ("gkm-hinge-p1",), SHARES, protocol),
    "comparison": _comparison,
    "growth": _growth,
    "claims": lambda sets, _: [
        Cell("claims", name, "lapsvm", 90, 0) for name in _CONVERGENT if name in sets
    ],
}


def plan(name: str, datasets: Sets | None, protocol: Protocol) -> list[Cell]:
    """Return the cells of an experiment, or of "all"."""
    usual = _QUICK_SETS if protocol.name == "quick" else PAPER_SETS
    chosen = EXPERIMENTS.values() if name == "all" else [EXPERIMENTS[name]]
    return in_order(cell for cells in chosen for cell in cells(datasets or usual, protocol))

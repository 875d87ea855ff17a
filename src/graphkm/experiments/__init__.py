"""The paper's experiments, as cells that are run one by one and kept for good.

============  =====================================================================
convergence   Figure 2: J against the number of steps
losses        Tables 2 and 3: hinge and logistic loss, p = 1, 2, 3
unlabeled     Table 4 and Figure 3: the share of hidden labels
comparison    Table 5: GKM beside other methods
graph         Figure 1: a graph of nearest neighbours
sets          data sets, their splits; protocol: how they are run
methods, gkm  what is compared, by name in catalog; tuning: their parameters
cells         the pieces of work; schedule: which of them can run; runner: runs them
isolation     a process per cell; fitting: what is measured in it
ledger        the file of results; environment: what they were made with
paper         the paper's own numbers
report        tables and plots as one HTML page, and in Markdown
============  =====================================================================
"""

from __future__ import annotations

from types import ModuleType

from . import comparison, convergence, graph, losses, unlabeled
from .cells import Cell
from .ledger import Ledger, ResultsError
from .protocol import Protocol
from .runner import run_cells
from .sets import MADE, PAPER_13, SETS

EXPERIMENTS: dict[str, ModuleType] = {
    "graph": graph,
    "convergence": convergence,
    "losses": losses,
    "unlabeled": unlabeled,
    "comparison": comparison,
}
"""One module per experiment; each has `cells(datasets, protocol)`."""

QUICK_SETS = ("coil20", "g50c")
"""What `--quick` looks at unless sets are named."""


def plan(name: str, datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
    """Return the cells of an experiment, or of all.

    Examples
    --------
    >>> [cell.key for cell in plan("graph", None, Protocol.named("quick"))]
    ['graph/made_curve/knn/0/0']
    """
    if datasets is None and protocol.name == "quick":
        datasets = QUICK_SETS
    chosen = EXPERIMENTS.values() if name == "all" else [EXPERIMENTS[name]]
    return [cell for each in chosen for cell in each.cells(datasets, protocol)]


__all__ = [
    "EXPERIMENTS",
    "MADE",
    "PAPER_13",
    "SETS",
    "Cell",
    "Ledger",
    "Protocol",
    "ResultsError",
    "plan",
    "run_cells",
]

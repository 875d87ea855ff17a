"""Table 5: GKM beside the methods it is measured against."""

from __future__ import annotations

from .cells import Cell, fits
from .protocol import Protocol
from .sets import PAPER_12

TITLE = "Comparison of methods (Table 5)"
HIDDEN = (90, 80)
METHOD_NAMES = (
    "gkm-hinge-p1",
    "gkm-hinge-p2",
    "gkm-no-graph",
    "gkm-best",
    "lapsvm",
    "cccp",
    "self-knn",
    "svm-labeled",
    "svm-all-labels",
)


def cells(datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
    """Return the fits of the table, and of three rows that the paper does not have."""
    return fits(datasets or PAPER_12, METHOD_NAMES, HIDDEN, protocol)

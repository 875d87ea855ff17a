"""Table 4 and Figure 3: accuracy and F1 against the share of hidden labels."""

from __future__ import annotations

from .cells import Cell, fits
from .protocol import Protocol
from .sets import PAPER_12

TITLE = "Share of hidden labels (Table 4, Figure 3)"
HIDDEN = (90, 80, 70, 60, 50)
METHOD_NAMES = ("gkm-hinge-p1",)


def cells(datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
    """Return the fits of the table; those at 80 % and 90 % are also in Tables 2, 3 and 5."""
    return fits(datasets or PAPER_12, METHOD_NAMES, HIDDEN, protocol)

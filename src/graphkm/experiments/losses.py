"""Tables 2 and 3: hinge and logistic loss with p = 1, 2, 3 at 80 % and 90 % hidden labels."""

from __future__ import annotations

from .catalog import LOSSES, POWERS
from .cells import Cell, fits
from .protocol import Protocol
from .sets import PAPER_13

TITLE = "Losses and smoothness (Tables 2 and 3)"
HIDDEN = (90, 80)
METHOD_NAMES = tuple(f"gkm-{loss}-p{p}" for loss in LOSSES for p in POWERS)


def cells(datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
    """Return the fits of both tables."""
    return fits(datasets or PAPER_13, METHOD_NAMES, HIDDEN, protocol)

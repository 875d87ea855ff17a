"""Which cells can run now, and which need not run at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .cells import LIMITED, Cell
from .ledger import Row
from .protocol import Protocol

_SHARES = (90, 80, 70, 60, 50)
_SLOW = 0.1  # of the CPU limit


class Ready(NamedTuple):
    """The cell can run, with these parameters."""

    parameters: dict[str, Any]


class Wait(NamedTuple):
    """Another cell must end first."""


class Drop(NamedTuple):
    """The cell is not run and leaves no row."""


class Known(NamedTuple):
    """The cell's result is known without running it."""

    row: Row


Decision = Ready | Wait | Drop | Known


@dataclass(frozen=True)
class Schedule:
    """Decides from the rows so far what to do with a cell.

    A run that hits a limit is not repeated, and not tried with more labels. Unless the protocol is
    "full", a fit that takes more than a tenth of the CPU limit is not repeated either.
    """

    protocol: Protocol
    done: dict[str, Row]  # by key, of cells that need not run again
    open: set[str]  # keys of cells that have not ended yet

    def decide(self, cell: Cell) -> Decision:
        """Return what to do with a cell."""
        before = cell.follows()
        if before is not None and before.key not in self.done:
            return Wait() if before.key in self.open else Drop()
        if before is not None and (self._limited(before) or self._slow(before)):
            return Drop()
        need = cell.needs(self.protocol)
        if need is not None and need.key not in self.done:
            return Wait() if need.key in self.open else Drop()
        if need is not None and self.done[need.key]["status"] != "ok":
            status = self.done[need.key]["status"]
            return Known({"status": status, "reason": "while its parameters were chosen"})
        harder = self._fewer_labels(cell)
        if harder is not None and harder.key in self.open:
            return Wait()
        if harder is not None and self._limited(harder):
            status = self.done[harder.key]["status"]
            return Known(
                {"status": status, "reason": f"so with {harder.hidden} % hidden: not tried"}
            )
        return Ready({} if need is None else self.done[need.key]["parameters"])

    def _limited(self, cell: Cell) -> bool:
        return cell.key in self.done and self.done[cell.key]["status"] in LIMITED

    def _slow(self, cell: Cell) -> bool:
        if self.protocol.name == "full":
            return False
        taken = float(self.done[cell.key].get("cpu_seconds", 0.0))
        return taken > _SLOW * self.protocol.cpu_limit

    def _fewer_labels(self, cell: Cell) -> Cell | None:
        """Return the fit with the fewest labels of those that are planned or done."""
        if cell.kind not in ("fit", "choice") or cell.run > 0 or cell.hidden == 0:
            return None
        for share in _SHARES:
            other = replace(cell, kind="fit", hidden=share)
            if share > cell.hidden and other.key in self.open | set(self.done):
                return other
        return None

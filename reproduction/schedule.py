"""Which cells can run now, and which need not run at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .cells import LIMITED, Cell
from .ledger import Row
from .protocol import Protocol

_SHARES = (90, 80, 70, 60, 50)
_SLOW = 0.1  # of the CPU limit


@dataclass(frozen=True)
class Decision:
    """What to do with a cell.

    "run" it with the parameters in `values`; "wait", since another cell must end first; "drop" it
    without a row; or "keep" `values` as its result without running it.
    """

    action: str
    values: dict[str, Any] = field(default_factory=dict)


WAIT, DROP = Decision("wait"), Decision("drop")


@dataclass(frozen=True)
class Schedule:
    """Decides from the rows so far what to do with a cell.

    A run that hits a limit is not repeated, not tried with more labels, and not on more rows. A fit
    that takes more than a tenth of the CPU limit is not repeated either.
    """

    protocol: Protocol
    done: dict[str, Row]  # by key, of cells that need not run again
    open: set[str]  # keys of cells that have not ended yet

    def decide(self, cell: Cell) -> Decision:
        """Return what to do with a cell."""
        before, need = cell.follows(), cell.needs(self.protocol)
        for other in (before, need):
            if other is not None and other.key not in self.done:
                return WAIT if other.key in self.open else DROP
        if before is not None and self._ends_the_runs(before):
            return DROP
        choice: Row = {} if need is None else self.done[need.key]
        if (status := choice.get("status", "ok")) != "ok":
            reason = "while its parameters were chosen"
            return Decision("keep", {"status": status, "reason": reason})
        harder = self._fewer_labels(cell)
        if harder is not None and harder.key in self.open:
            return WAIT
        if harder is not None and (status := self.done[harder.key]["status"]) in LIMITED:
            reason = f"so with {harder.hidden} % hidden: not tried"
            return Decision("keep", {"status": status, "reason": reason})
        return Decision("run", choice.get("parameters", {}))

    def _ends_the_runs(self, cell: Cell) -> bool:
        row = self.done[cell.key]
        slow = float(row.get("cpu_seconds", 0.0)) > _SLOW * self.protocol.cpu_limit
        return row["status"] in LIMITED or (cell.kind == "fit" and slow)

    def _fewer_labels(self, cell: Cell) -> Cell | None:
        """Return the fit with the fewest labels of those that are planned or done."""
        if cell.kind not in ("fit", "choice") or cell.run > 0 or cell.hidden == 0:
            return None
        for share in _SHARES:
            other = replace(cell, kind="fit", hidden=share)
            if share > cell.hidden and other.key in self.open | set(self.done):
                return other
        return None

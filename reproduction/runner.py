"""Run cells side by side, each in its own process; keep every result as soon as it comes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import joblib

from graphkm.datasets import DatasetError
from graphkm.datasets.locking import exclusive

from .cells import OVER, Cell
from .environment import environment
from .isolation import Job
from .ledger import Ledger, Row
from .protocol import Protocol
from .schedule import Drop, Known, Ready, Schedule, Wait, in_order
from .sets import SETS

_PATIENCE = 4.0  # wall seconds per CPU second allowed, before a process that hangs is ended
_GRACE = 60.0

Tell = Callable[[Row, int, int], None]
"""Called with every new row, the number of cells that have ended, and of all."""


class Runner:
    """Runs the cells of a folder that have no result yet.

    Parameters
    ----------
    ledger : Ledger
        Where results are kept.
    protocol : Protocol
        How cells are run.
    jobs : int
        Processes side by side.
    tell : callable, optional
        Hears of every new row.
    """

    def __init__(
        self, ledger: Ledger, protocol: Protocol, *, jobs: int = 1, tell: Tell | None = None
    ) -> None:
        self._ledger = ledger
        self._protocol = protocol
        self._jobs = jobs
        self._tell = tell
        self.missing: dict[str, str] = {}
        """Sets that could not be read, and why."""

    def run(self, cells: list[Cell]) -> None:
        """Run what has no result yet; errors of an earlier call are tried again."""
        self._ledger.keep_protocol(self._protocol.as_dict())
        with exclusive(self._ledger.folder / "running.lock"), tempfile.TemporaryDirectory() as name:
            self._prepare(cells, Path(name))
            try:
                while self._pending or self._running:
                    waiting = len(self._pending)
                    self._start_jobs()
                    if not self._running and len(self._pending) == waiting:
                        first = self._pending[0].key
                        raise RuntimeError(f"{first} waits for a cell that never runs.")
                    self._collect()
            finally:
                for job in self._running:
                    job.stop()

    def _prepare(self, cells: list[Cell], folder: Path) -> None:
        rows = {row["key"]: row for row in self._ledger.rows()}
        done = {key: row for key, row in rows.items() if row["status"] != "error"}
        cells = in_order(cells)
        self._pending = [cell for cell in cells if cell.key not in done]
        self._total = len(cells)
        self._running: dict[Job, float] = {}
        self._schedule = Schedule(self._protocol, done, {cell.key for cell in self._pending})
        self._data: dict[str, Path] = {}
        self._folder = folder
        self._environment = environment()

    # ------------------------------------------------------------------ start

    def _start_jobs(self) -> None:
        for cell in list(self._pending):
            if len(self._running) >= self._jobs:
                return
            decision = self._schedule.decide(cell)
            if isinstance(decision, Wait):
                continue
            self._pending.remove(cell)
            if isinstance(decision, Drop):
                self._schedule.open.discard(cell.key)
            elif isinstance(decision, Known):
                self._keep(cell, decision.row)
            elif (data := self._file_of(cell.dataset)) is None:
                self._schedule.open.discard(cell.key)
            else:
                self._launch(cell, data, decision)

    def _launch(self, cell: Cell, data: Path, ready: Ready) -> None:
        job = Job(cell, self._protocol, data, ready.parameters)
        self._running[job] = time.monotonic() + _PATIENCE * self._protocol.cpu_limit + _GRACE

    def _file_of(self, name: str) -> Path | None:
        """Return the set as a file that processes can share; None if it cannot be had."""
        if name in self.missing:
            return None
        if name not in self._data:
            try:
                X, y = SETS[name].load()
            except (DatasetError, ImportError) as error:
                self.missing[name] = str(error)
                return None
            path = self._folder / f"{name}.joblib"
            joblib.dump((X, y), path)
            self._data[name] = path
        return self._data[name]

    # ---------------------------------------------------------------- collect

    def _collect(self) -> None:
        if not self._running:
            return
        ready = wait([job.connection for job in self._running], timeout=1.0)
        for job, deadline in list(self._running.items()):
            if job.connection in ready:
                del self._running[job]
                self._keep(job.cell, job.result())
            elif time.monotonic() > deadline:
                del self._running[job]
                job.stop()
                self._keep(job.cell, {"status": OVER, "reason": "by the clock"})

    def _keep(self, cell: Cell, result: Row) -> None:
        row = {
            "key": cell.key,
            **asdict(cell),
            **result,
            "protocol": self._protocol.name,
            "as_printed": self._protocol.as_printed,
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "environment": self._environment,
        }
        self._ledger.append(row)
        self._schedule.done[cell.key] = row
        self._schedule.open.discard(cell.key)
        self._release(cell.dataset)
        if self._tell is not None:
            self._tell(row, self._total - len(self._schedule.open), self._total)

    def _release(self, name: str) -> None:
        """Remove a set's file once no cell needs it."""
        waiting = [cell.dataset for cell in self._pending]
        waiting += [job.cell.dataset for job in self._running]
        if name in self._data and name not in waiting:
            self._data.pop(name).unlink()


def run_cells(
    cells: list[Cell], protocol: Protocol, folder: str | Path, **options: Any
) -> dict[str, str]:
    """Run cells into a folder; return the sets that could not be read, and why."""
    runner = Runner(Ledger(folder), protocol, **options)
    runner.run(cells)
    return runner.missing

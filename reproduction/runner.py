"""Run cells side by side, each in its own process, and keep every result at once."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import joblib

from graphkm.datasets import DatasetError
from graphkm.datasets.storage import exclusive

from .cells import OVER, Cell, in_order
from .isolation import Job
from .ledger import Ledger, Row
from .protocol import Protocol
from .schedule import Schedule
from .sets import SETS

# A process that hangs is killed after _PATIENCE times its CPU limit, plus _GRACE wall seconds.
_PATIENCE, _GRACE = 4.0, 60.0

Tell = Callable[[Row, int, int], None]
"""Called with every new row, the number of cells that have ended, and the number of all cells."""


def run_cells(
    cells: list[Cell], protocol: Protocol, folder: Path, *, jobs: int = 1, tell: Tell | None = None
) -> dict[str, str]:
    """Run cells into a folder; return the sets that could not be read, and why.

    Cells with a result are not run again, unless the result is an error.
    """
    ledger = Ledger(folder)
    ledger.keep_protocol(asdict(protocol))
    with exclusive(ledger.folder / "running.lock"), tempfile.TemporaryDirectory() as temporary:
        runner = _Runner(in_order(cells), protocol, ledger, Path(temporary), tell)
        runner.run(jobs)
    return runner.missing


class _Runner:
    """The cells of one call: those that wait, those that run, and the files of their sets."""

    def __init__(
        self, cells: list[Cell], protocol: Protocol, ledger: Ledger, folder: Path, tell: Tell | None
    ) -> None:
        done = {row["key"]: row for row in ledger.rows() if row["status"] != "error"}
        self._pending = [cell for cell in cells if cell.key not in done]
        self._running: dict[Job, float] = {}  # and their deadlines
        self._total = len(cells)
        self._ledger = ledger
        self._schedule = Schedule(protocol, done, {cell.key for cell in self._pending})
        self._folder = folder
        self._data: dict[str, Path] = {}
        self._tell = tell
        self._environment = environment()
        self.missing: dict[str, str] = {}  # sets that could not be read, and why

    def run(self, jobs: int) -> None:
        """Run all cells, `jobs` of them side by side."""
        try:
            while self._pending or self._running:
                waiting = len(self._pending)
                self._start(jobs)
                if self._running:
                    self._collect()
                elif len(self._pending) == waiting:
                    raise RuntimeError(f"{self._pending[0].key} waits for a cell that never runs.")
        finally:
            for job in self._running:
                job.stop()

    def _start(self, jobs: int) -> None:
        for cell in list(self._pending):
            if len(self._running) >= jobs:
                return
            decision = self._schedule.decide(cell)
            if decision.action == "wait":
                continue
            self._pending.remove(cell)
            if decision.action == "keep":
                self._keep(cell, decision.values)
            elif decision.action == "drop" or (data := self._file_of(cell.dataset)) is None:
                self._schedule.open.discard(cell.key)
            else:
                seconds, _ = self._schedule.protocol.limits_of(cell.kind)
                job = Job(cell, self._schedule.protocol, data, decision.values)
                self._running[job] = time.monotonic() + _PATIENCE * seconds + _GRACE

    def _file_of(self, name: str) -> Path | None:
        """Return the set as a file that processes can share; None if it cannot be read."""
        if name not in self._data and name not in self.missing:
            path = self._folder / f"{name}.joblib"
            try:
                joblib.dump(SETS[name].load(), path)
                self._data[name] = path
            except (DatasetError, ImportError) as error:
                self.missing[name] = str(error)
        return self._data.get(name)

    def _collect(self) -> None:
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
        finished = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = {"key": cell.key, **asdict(cell), **result}
        row |= {"finished": finished, "environment": self._environment}
        self._ledger.append(row)
        self._schedule.done[cell.key] = row
        self._schedule.open.discard(cell.key)
        cells = self._pending + [job.cell for job in self._running]
        if cell.dataset in self._data and all(each.dataset != cell.dataset for each in cells):
            self._data.pop(cell.dataset).unlink()  # no cell needs this file any more
        if self._tell is not None:
            self._tell(row, self._total - len(self._schedule.open), self._total)


def environment() -> dict[str, Any]:
    """Return the processor's name, the number of cores, and versions."""
    packages = ("graphkm", "numpy", "scipy", "scikit-learn")
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    return {"processor": processor(), "cores": os.cpu_count(), "versions": versions}


def processor() -> str:
    """Return the processor's name."""
    if shutil.which("lscpu"):
        english = os.environ | {"LC_ALL": "C"}
        done = subprocess.run(["lscpu"], capture_output=True, text=True, env=english, check=False)
        for line in done.stdout.splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "Model name":
                return value.strip()
    return platform.processor() or platform.machine()

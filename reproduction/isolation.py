"""One cell in a process of its own, on one thread, under limits of time and memory."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from .cells import NO_FIT, OVER, Cell
from .figures import run_claims, run_convergence, run_graph
from .fitting import limit, run_choice, run_fit, run_size
from .protocol import Protocol

_WORKS = (run_size, run_choice, run_fit, run_convergence, run_graph, run_claims)
WORK = {work.__name__.removeprefix("run_"): work for work in _WORKS} | {"growth": run_fit}
"""What each kind of cell does."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Job:
    """A cell at work in another process; `data` is the set, as `joblib.dump` wrote it."""

    def __init__(
        self, cell: Cell, protocol: Protocol, data: Path, parameters: dict[str, Any]
    ) -> None:
        self.cell = cell
        # A fork of a fresh process shares no threads or memory with this one.
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        context: Any = get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload([__name__])
        self.connection, theirs = context.Pipe(duplex=False)
        arguments = (theirs, cell, protocol, data, parameters)
        with _fresh_start():
            self._process = context.Process(target=_work, args=arguments, daemon=True)
            self._process.start()
        theirs.close()

    def result(self) -> dict[str, Any]:
        """Return what the process sent, or how it ended. Call this when the connection is ready."""
        answer: dict[str, Any] | None = None
        with suppress(EOFError, OSError):
            answer = self.connection.recv()
        self._process.join()
        self.connection.close()
        return answer or _how_it_ended(self._process.exitcode)

    def stop(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _work(
    connection: Connection, cell: Cell, protocol: Protocol, data: Path, parameters: dict[str, Any]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the runner ends its jobs itself
    seconds, memory = protocol.limits_of(cell.kind)
    limit("CORE", 0, 0)
    limit("CPU", max(1, seconds), max(1, seconds) + 30)
    if cell.kind not in ("fit", "growth"):  # a fit sets it after its small first fit
        limit("DATA", memory)
    try:
        answer = {"status": "ok", **WORK[cell.kind](data, cell, protocol, parameters)}
    except MemoryError as error:
        answer = {"status": NO_FIT, "reason": str(error)}
    except Exception as error:
        answer = {"status": "error", "reason": f"{type(error).__name__}: {error}"}
        answer["traceback"] = traceback.format_exc()[-2000:]
    connection.send(answer)
    connection.close()


@contextmanager
def _fresh_start() -> Iterator[None]:
    """Let processes that start here use one thread and not import the main program."""
    variables, main = dict(os.environ), sys.modules["__main__"]
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        os.environ.clear()
        os.environ.update(variables)


def _how_it_ended(code: int | None) -> dict[str, Any]:
    if code is None or code >= 0:
        return {"status": "error", "reason": f"the process ended with code {code}"}
    name = signal.Signals(-code).name
    if name == "SIGXCPU":
        return {"status": OVER}
    if name == "SIGKILL":  # the system kills processes when memory runs out
        return {"status": NO_FIT, "reason": "the system ended it"}
    return {"status": "error", "reason": f"{name} ended the process"}

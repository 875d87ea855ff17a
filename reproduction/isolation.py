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
from .figures import run_convergence, run_graph
from .fitting import limit_memory, run_choice, run_fit
from .protocol import Protocol

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Job:
    """A cell at work in another process; `data` is the set, as `joblib.dump` wrote it."""

    def __init__(
        self, cell: Cell, protocol: Protocol, data: Path, parameters: dict[str, Any]
    ) -> None:
        self.cell = cell
        # A fork of a fresh process shares no threads or memory with this one.
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        context = get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload([__name__])
        self.connection, theirs = context.Pipe(duplex=False)
        arguments = (theirs, cell, protocol, data, parameters)
        with _fresh_start():
            self._process = context.Process(target=_work, args=arguments, daemon=True)  # type: ignore[attr-defined]
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
    _limit_time(protocol.cpu_limit)
    if cell.kind != "fit":  # a fit sets this limit itself, after its small first fit
        limit_memory(protocol.memory_limit)
    try:
        answer = {"status": "ok", **_dispatch(cell, protocol, data, parameters)}
    except MemoryError as error:
        answer = {"status": NO_FIT, "reason": str(error)}
    except Exception as error:
        answer = {
            "status": "error",
            "reason": f"{type(error).__name__}: {error}",
            "traceback": traceback.format_exc()[-2000:],
        }
    connection.send(answer)
    connection.close()


def _dispatch(
    cell: Cell, protocol: Protocol, data: Path, parameters: dict[str, Any]
) -> dict[str, Any]:
    if cell.kind == "choice":
        return run_choice(data, cell, protocol)
    if cell.kind == "fit":
        return run_fit(data, cell, protocol, parameters)
    return (run_graph if cell.kind == "graph" else run_convergence)(data, cell, protocol)


def _limit_time(seconds: float) -> None:
    if sys.platform == "win32":  # no such limits there
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft = max(1, round(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 30))


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
        return {"status": "error", "reason": f"ended with code {code}"}
    name = signal.Signals(-code).name
    if name == "SIGXCPU":
        return {"status": OVER}
    if name == "SIGKILL":  # the system kills processes when memory runs out
        return {"status": NO_FIT, "reason": "ended by the system"}
    return {"status": "error", "reason": f"ended by {name}"}

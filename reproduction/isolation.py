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
    """A cell at work in another process.

    Parameters
    ----------
    cell, protocol
        What to do and how.
    data : Path
        The set, as `joblib.dump` wrote it.
    parameters : dict
        For a fit.
    """

    def __init__(
        self, cell: Cell, protocol: Protocol, data: Path, parameters: dict[str, Any],
    ) -> None:  # fmt: skip
        self.cell = cell
        # Jobs are forked from a fresh process, so they share no threads or memory with this one.
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        context = get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload([__name__])
        self.connection, theirs = context.Pipe(duplex=False)
        arguments = (theirs, cell, protocol, data, parameters)
        with _one_thread(), _no_main_module():
            self._process = context.Process(target=_work, args=arguments, daemon=True)  # type: ignore[attr-defined]
            self._process.start()
        theirs.close()

    def result(self) -> dict[str, Any]:
        """Return what it sent, or how it ended; call this when the connection is ready."""
        answer: dict[str, Any] | None = None
        with suppress(EOFError, OSError):
            answer = self.connection.recv()
        self._process.join()
        self.connection.close()
        return answer or _how_it_ended(self._process.exitcode)

    def stop(self) -> None:
        """End it now."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _work(
    connection: Connection, cell: Cell, protocol: Protocol, data: Path,
    parameters: dict[str, Any],
) -> None:  # fmt: skip
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the runner ends its jobs itself
    _limit_time(protocol.cpu_limit)
    if cell.kind != "fit":  # a fit sets the limit itself, after its small first fit
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
    figure = {"convergence": run_convergence, "graph": run_graph}[cell.kind]
    return figure(data, cell, protocol)


def _limit_time(seconds: float) -> None:
    if sys.platform == "win32":  # no such limits there
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft = max(1, round(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 30))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Give processes that start here one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Keep processes that start here from importing the main program, which they do not need."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _how_it_ended(code: int | None) -> dict[str, Any]:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        if name == "SIGXCPU":
            return {"status": OVER}
        if name == "SIGKILL":  # the system's answer to too much memory
            return {"status": NO_FIT, "reason": "ended by the system"}
        return {"status": "error", "reason": f"ended by {name}"}
    return {"status": "error", "reason": f"ended with code {code}"}

"""One fit in a process of its own, under limits of time and memory.

The process is forked once the libraries and the set are loaded, so their loading is in nobody's
time, but the memory they hold is in everybody's peak (the largest resident size of the process).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import platform
import resource
import signal
import time
import traceback
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from threadpoolctl import threadpool_limits

from .cells import Cell
from .methods import METHODS, PACKAGES, SEARCHING
from .neighbours import Search
from .tuning import LARGE

OVER = "over the limit"
NO_FIT = "did not fit"


def search_file(folder: Path, cell: Cell) -> Path:
    """Return where the neighbours of a large set are kept."""
    return folder / f"neighbours_{cell.name}.npz"


def preload(methods: list[str]) -> None:
    """Import the packages once; a missing one shows as the error of its own fits."""
    for name in {PACKAGES[method] for method in methods if method in PACKAGES}:
        with contextlib.suppress(ImportError):
            importlib.import_module("sslearn.wrapper" if name == "sslearn" else name)


def prepare(cell: Cell, methods: list[str], folder: Path) -> None:
    """Search for the neighbours of a large set before any limit counts."""
    file = search_file(folder, cell)
    if cell.X.shape[0] > LARGE and set(methods) & set(SEARCHING) and not file.exists():
        _forked(lambda: Search(cell.X, file)() and {})


def run(
    cell: Cell, split: int, method: str, folder: Path, limit: float, memory: float
) -> dict[str, Any]:
    """Return the row of one fit: what it is, how well it did, what it took."""
    row: dict[str, Any] = {
        "set": cell.name,
        "n_labels": cell.n_labels,
        "split": split,
        "method": method,
    }
    row |= _forked(lambda: _fit(cell, split, method, folder, limit, memory))
    return row | {"versions": _versions(method), "limit": limit, "memory_limit_gb": memory}


def _fit(
    cell: Cell, split: int, method: str, folder: Path, limit: float, memory: float
) -> dict[str, Any]:
    _limit_cpu(limit)
    resource.setrlimit(resource.RLIMIT_AS, (int(memory * 2**30), -1))
    warnings.simplefilter("ignore")
    search = Search(
        cell.X, search_file(folder, cell), lambda spent: _limit_cpu(max(limit - spent, 1))
    )
    y = cell.partly(split)
    wall, cpu = time.perf_counter(), time.process_time()
    labels, chosen = METHODS[method](cell.X, y, search, split)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    hidden = y == -1
    return {
        "status": "ok",
        "accuracy": accuracy_score(cell.y[hidden], labels[hidden]),
        "balanced_accuracy": balanced_accuracy_score(cell.y[hidden], labels[hidden]),
        "seconds": wall + search.borrowed["seconds"],
        "cpu_seconds": cpu + search.borrowed["cpu_seconds"],
        "parameters": chosen,
    }


def _limit_cpu(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(np.ceil(seconds)), hard))


def _forked(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what the work returns in a process of its own, or how it failed; and its peak."""
    reading, writing = os.pipe()
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with open(writing, "w") as pipe, threadpool_limits(1):  # one thread for every method
            json.dump(_outcome(work), pipe, default=_plain)
        os._exit(0)  # without the parent's clean-up
    os.close(writing)
    try:
        with open(reading) as pipe:
            text = pipe.read()
    except BaseException:  # interrupted: leave nobody behind
        os.kill(pid, signal.SIGKILL)
        raise
    _, code, used = os.wait4(pid, 0)
    cpu = used.ru_utime + used.ru_stime
    answer = {"seconds": time.perf_counter() - start, "cpu_seconds": cpu}
    answer |= json.loads(text) if text and code == 0 else {"status": _how_it_ended(code)}
    return answer | {"peak_mb": used.ru_maxrss / 1024}


def _outcome(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return work()
    except MemoryError:
        return {"status": NO_FIT}
    except BaseException as error:  # a peer may also call sys.exit
        return {
            "status": f"error: {type(error).__name__}: {error}"[:300],
            "traceback": traceback.format_exc()[-2000:],
        }


def _how_it_ended(code: int) -> str:
    if os.WIFSIGNALED(code):
        name = signal.Signals(os.WTERMSIG(code)).name
        return {"SIGXCPU": OVER, "SIGKILL": NO_FIT}.get(name, f"error: ended by {name}")
    return f"error: ended with code {os.waitstatus_to_exitcode(code)}"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def _versions(method: str) -> dict[str, str]:
    answer = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", PACKAGES.get(method)):
        if name:
            try:
                answer[name] = version(name)
            except PackageNotFoundError:
                answer[name] = "missing"
    return answer

"""The work of a choice and of a fit: what is measured, and how."""

from __future__ import annotations

import gc
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import f1_score

from graphkm.datasets import make_two_moons

from .cells import Cell
from .methods import METHODS, Context, Method
from .protocol import Protocol
from .sets import Split, make_split, seed_of
from .tuning import choose


def run_choice(data: Path, cell: Cell, protocol: Protocol, _: dict[str, Any]) -> dict[str, Any]:
    """Choose parameters on the training rows of a run."""
    method, context, split = METHODS[cell.method], _context(cell, protocol), _split(data, cell)
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):  # some candidates of a grid are odd
        answer = choose(method, split.X, split.y, context)
        seconds = time.process_time() - start
        best = None
        if method.published:  # whose grid is cheap; the choice does not use this
            (candidates,) = method.stages(protocol)
            test = (split.X_test, split.y_test)
            best = max(method.accuracies(candidates, (split.X, split.y), test, context))
    return answer | {"best_on_test": best, "cpu_seconds": seconds, "seed": context.seed}


def run_size(data: Path, cell: Cell, protocol: Protocol, _: dict[str, Any]) -> dict[str, Any]:
    """Return the rows and columns of a set, and the rows of each class."""
    X, y = joblib.load(data, mmap_mode="r")
    return {"n_rows": X.shape[0], "n_features": X.shape[1], "classes": np.bincount(y)}


def run_fit(
    data: Path, cell: Cell, protocol: Protocol, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Train with given parameters; measure time, memory and accuracy.

    Time is that of `fit` alone, on one thread. Memory is the size of the training rows plus the
    peak of what `fit` allocates. A small fit comes first, so that libraries are loaded before the
    measurement.
    """
    method, context, split = METHODS[cell.method], _context(cell, protocol), _split(data, cell)
    with warnings.catch_warnings(action="ignore"):
        _warm_up(method, parameters, context)
        limit("DATA", context.memory)
        before = _fresh_peak()
        cpu, wall = time.process_time(), time.perf_counter()
        model = method.fit(split.X, split.y, parameters, context)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        peak = _peak()
        predicted = model.predict(split.X_test)
    X = split.X
    rows = sum(a.nbytes for a in ((X.data, X.indices, X.indptr) if issparse(X) else (X,)))
    average = "binary" if len(np.unique(split.truth)) == 2 else "macro"
    support = getattr(getattr(model, "best_estimator_", model), "support_", None)
    return {
        "accuracy": float(np.mean(predicted == split.y_test)),
        "f1": float(f1_score(split.y_test, predicted, average=average, zero_division=0.0)),
        "majority": float(np.bincount(split.y_test).max() / len(split.y_test)),
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "memory_mb": (peak - before + rows) / 1e6 if peak else None,
        "data_mb": rows / 1e6,
        "n_train": len(split.y),
        "n_labeled": int((split.y >= 0).sum()),
        "n_test": len(split.y_test),
        "n_features": int(X.shape[1]),
        "n_support": None if support is None else len(support),
        "seed": context.seed,
        "parameters": parameters or getattr(model, "best_params_", {}),
    }


def limit(kind: str, most: float, beyond: float | None = None) -> None:
    """Let this process take at most so much of "CPU" seconds, "DATA" or "CORE" bytes.

    Mapped files are no "DATA". Use the libraries once before they have this limit: some ask for
    their first buffers again and again if these are refused.
    """
    if sys.platform != "win32":  # which has no such limits
        import resource

        hard = resource.RLIM_INFINITY if beyond is None else int(beyond)
        resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (int(most), hard))


def _split(data: Path, cell: Cell) -> Split:
    """Return a run's rows; those of a growing set are the first ones of the first run."""
    X, y = joblib.load(data, mmap_mode="r")
    run = 0 if cell.rows else cell.run
    split = make_split(X, np.array(y), cell.dataset, cell.hidden, run, cell.part)
    if not cell.rows:
        return split
    return split._replace(**{k: getattr(split, k)[: cell.rows] for k in ("X", "y", "truth")})


def _context(cell: Cell, protocol: Protocol) -> Context:
    seed = seed_of(cell.dataset, cell.run, cell.hidden)
    return Context(protocol, cell.objective, seed, protocol.limits_of(cell.kind)[1])


def _warm_up(method: Method, parameters: dict[str, Any], context: Context) -> None:
    X, y = make_two_moons(60, random_state=0)
    y[::2] = -1
    method.fit(X, y, {**parameters, "gamma": 1.0} if "gamma" in parameters else parameters, context)


def _fresh_peak() -> int:
    """Let the process's peak of memory start anew, where the system can, and return it."""
    gc.collect()
    with suppress(OSError):  # else the peak so far counts
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """Return the most bytes that the process has held; 0 where the system does not say."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    return 0

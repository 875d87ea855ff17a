"""The work of a choice and of a fit: what is measured, and how."""

from __future__ import annotations

import gc
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import f1_score

from graphkm.datasets import make_two_moons

from .cells import SMALL, Cell
from .methods import METHODS, Context, Method, PaperSettings
from .protocol import Protocol
from .sets import SETS, Split, make_split, seed_of
from .tuning import choose

_CHEAP = 20_000  # up to this many training rows, the hidden ones are scored too
_MEGABYTE = 1e6


def run_choice(data: Path, cell: Cell, protocol: Protocol) -> dict[str, Any]:
    """Choose parameters on the training rows of a run."""
    method, context = METHODS[cell.method], _context(cell, protocol)
    split = _split(data, cell)
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):  # some candidates of a grid are odd
        answer = choose(method, split.X, split.y, context)
        seconds = time.process_time() - start
        best = _best_on_test(method, split, context)
    return answer | {"best_on_test": best, "cpu_seconds": seconds, "seed": context.seed}


def run_fit(
    data: Path, cell: Cell, protocol: Protocol, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Train with given parameters; measure time, memory and accuracy.

    Time is that of `fit` alone, on one thread. Memory is the size of the training rows plus the
    peak of what `fit` allocates. A small fit comes first, so that libraries are loaded before the
    measurement.
    """
    method, context = METHODS[cell.method], _context(cell, protocol)
    split = _split(data, cell)
    with warnings.catch_warnings(action="ignore"):
        _warm_up(method, parameters, context)
        limit_memory(protocol.memory_limit)
        before = _start_of_peak()
        cpu, wall = time.process_time(), time.perf_counter()
        model = method.fit(split.X, split.y, parameters, context)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        peak = _memory("VmHWM")
        predicted = model.predict(split.X_test)
        hidden, hidden_accuracy = split.y < 0, None
        if hidden.any() and len(split.y) <= _CHEAP:
            right = model.predict(split.X[hidden]) == split.truth[hidden]
            hidden_accuracy = float(np.mean(right))
    average = "binary" if len(np.unique(split.truth)) == 2 else "macro"
    rows = _bytes(split.X)
    return {
        "accuracy": float(np.mean(predicted == split.y_test)),
        "f1": float(f1_score(split.y_test, predicted, average=average, zero_division=0.0)),
        "hidden_accuracy": hidden_accuracy,
        "cpu_seconds": cpu,
        "wall_seconds": wall,
        "memory_mb": None if peak is None else (peak - before + rows) / _MEGABYTE,
        "data_mb": rows / _MEGABYTE,
        "process_mb": None if peak is None else peak / _MEGABYTE,
        "n_train": len(split.y),
        "n_labeled": int((split.y >= 0).sum()),
        "n_test": len(split.y_test),
        "n_features": int(split.X.shape[1]),
        "n_support": _support(model),
        "seed": context.seed,
        "parameters": parameters or getattr(model, "best_params_", {}),
    }


def limit_memory(limit: float) -> None:
    """Let this process allocate at most `limit` bytes; mapped files do not count.

    Use the libraries once before the call: some ask for their first buffers again and again if
    these are refused.
    """
    if sys.platform == "win32":  # no such limit there
        return
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (int(limit), resource.RLIM_INFINITY))


def _best_on_test(method: Method, split: Split, context: Context) -> float | None:
    """Return the best accuracy of the grid on the test rows: an upper limit for every choice.

    It is computed for GKM on small sets, where it is cheap. The choice does not use it.
    """
    if not isinstance(method, PaperSettings) or len(split.y) > SMALL:
        return None
    (candidates,) = method.stages(context.protocol)
    test = (split.X_test, split.y_test)
    return max(method.accuracies(candidates, (split.X, split.y), test, context))


def _split(data: Path, cell: Cell) -> Split:
    X, y = joblib.load(data, mmap_mode="r")
    return make_split(X, np.array(y), cell.dataset, cell.hidden, cell.run)


def _context(cell: Cell, protocol: Protocol) -> Context:
    steps = SETS[cell.dataset].steps
    return Context(protocol, steps, seed_of(cell.dataset, cell.run, cell.hidden))


def _warm_up(method: Method, parameters: dict[str, Any], context: Context) -> None:
    X, y = make_two_moons(60, random_state=0)
    y[::2] = -1
    method.fit(X, y, {**parameters, "gamma": 1.0} if "gamma" in parameters else parameters, context)


def _support(model: Any) -> int | None:
    model = getattr(model, "best_estimator_", model)
    return len(model.support_) if hasattr(model, "support_") else None


def _bytes(X: Any) -> int:
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if issparse(X) else X.nbytes


# -------------------------------------------------------------------- memory


def _start_of_peak() -> int:
    """Reset the peak and return the memory held now; 0 where the system does not say."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # the peak cannot be reset: count from the peak so far
        return _memory("VmHWM") or 0
    return _memory("VmRSS") or 0


def _memory(entry: str) -> int | None:
    """Return an entry of /proc/self/status in bytes; None where there is none."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    for line in status.read_text().splitlines():
        if line.startswith(f"{entry}:"):
            return 1024 * int(line.split()[1])
    return None

"""The fits of a run, each in a process of its own under limits of time and memory.

The peak memory of a fit (the largest resident size of its process) includes all loaded sets.
"""

from __future__ import annotations

import contextlib
import importlib
import platform
import resource
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sklearn.metrics import accuracy_score, balanced_accuracy_score

from _processes import alone, forked, limit_cpu

from .cells import Cell
from .methods import METHODS, PACKAGES, SEARCHING
from .neighbours import Search
from .tuning import LARGE

Task = tuple[Cell, int, str]  # a cell, the number of a split, a method


def search_file(folder: Path, cell: Cell) -> Path:
    """Return where the neighbours of a large set are kept."""
    return folder / f"neighbours_{cell.name}.npz"


def preload(methods: list[str]) -> None:
    """Import the packages once; a missing one shows as the error of its own fits."""
    for name in {PACKAGES[method] for method in methods if method in PACKAGES}:
        with contextlib.suppress(ImportError):
            importlib.import_module("sslearn.wrapper" if name == "sslearn" else name)


def prepare(tasks: Sequence[Task], folder: Path) -> None:
    """Search for the neighbours of large sets before any limit counts."""
    for cell in {cell.name: cell for cell, _, method in tasks if method in SEARCHING}.values():
        file = search_file(folder, cell)
        if cell.X.shape[0] > LARGE and not file.exists():
            alone(lambda cell=cell, file=file: Search(cell.X, file)() and {})


def run(
    tasks: Sequence[Task], folder: Path, limit: float, memory: float, jobs: int
) -> Iterator[dict[str, Any]]:
    """Yield the row of every fit as it ends: what it is, how well it did, what it took."""
    works = (partial(_fit, *task, folder, limit, memory) for task in tasks)
    for number, answer in forked(works, jobs):
        cell, split, method = tasks[number]
        what = {"set": cell.name, "n_labels": cell.n_labels, "split": split, "method": method}
        limits = {"limit": limit, "memory_limit_gb": memory}
        yield what | answer | {"versions": _versions(method)} | limits


def _fit(
    cell: Cell, split: int, method: str, folder: Path, limit: float, memory: float
) -> dict[str, Any]:
    limit_cpu(limit)
    resource.setrlimit(resource.RLIMIT_AS, (int(memory * 2**30), -1))
    warnings.simplefilter("ignore")
    search = Search(
        cell.X, search_file(folder, cell), lambda spent: limit_cpu(max(limit - spent, 1))
    )
    y = cell.partly(split)
    wall, cpu = time.perf_counter(), time.process_time()
    labels, chosen = METHODS[method](cell.X, y, search, split)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    hidden = y == -1
    return {
        "accuracy": accuracy_score(cell.y[hidden], labels[hidden]),
        "balanced_accuracy": balanced_accuracy_score(cell.y[hidden], labels[hidden]),
        "seconds": wall + search.borrowed["seconds"],
        "cpu_seconds": cpu + search.borrowed["cpu_seconds"],
        "parameters": chosen,
    }


def _versions(method: str) -> dict[str, str]:
    answer = {"python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", PACKAGES.get(method)):
        if name:
            try:
                answer[name] = version(name)
            except PackageNotFoundError:
                answer[name] = "missing"
    return answer

"""The fits of a run, each in a process of its own under limits of time and memory."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import importlib
import importlib.metadata
import importlib.util
import json
import resource
import subprocess
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    label_ranking_loss,
)

from _common import peak_memory
from _processes import alone, forked, limit_cpu

from . import lamda_methods
from .cells import Cell
from .methods import SEARCHING, Method
from .neighbours import Search
from .problem import Problem
from .tuning import LARGE


class Task(NamedTuple):
    """A fit to do."""

    cell: Cell
    split: int
    name: str
    method: Method


class Limits(NamedTuple):
    """What a fit may take: CPU seconds, and GB of address space beyond what is there before."""

    seconds: float
    gigabytes: float


def search_file(folder: Path, cell: Cell) -> Path:
    """Return where the neighbours of a large set are kept."""
    return folder / f"neighbours_{cell.name}.npz"


def preload(methods: Sequence[Method]) -> list[str]:
    """Import the packages once, before processes fork; return those that are not there."""
    missing = []
    modules = {"scikit-learn": "sklearn", "sslearn": "sslearn.wrapper"}
    for package in dict.fromkeys(each.package for each in methods if each.package):
        if package == "LAMDA-SSL":  # it is in another Python
            missing += [] if lamda_methods.PYTHON else [package]
            continue
        try:
            importlib.import_module(modules.get(package, package))
        except ImportError:
            missing.append(package)
    with contextlib.suppress(ImportError):
        import torch

        torch.set_num_threads(1)
    return missing


def prepare(tasks: Sequence[Task], folder: Path) -> None:
    """Search for the neighbours of large sets before any limit counts."""
    cells = {task.cell.name: task.cell for task in tasks if task.name in SEARCHING}
    for cell in cells.values():
        file = search_file(folder, cell)
        if cell.X.shape[0] > LARGE and cell.edges is None and not file.exists():
            alone(lambda cell=cell, file=file: Search(cell.X, file)() and {})


def run(
    tasks: Sequence[Task], folder: Path, limits: Limits, jobs: int, who: str
) -> Iterator[dict[str, Any]]:
    """Yield the line of every fit as it ends: what it is, how well it did, what it took."""
    works = (partial(_fit, task, folder, limits) for task in tasks)
    for number, answer in forked(works, jobs):
        cell, split, name, method = tasks[number]
        status = answer.pop("status").splitlines()[0]
        if status != "ok":  # the process's own figures say nothing of the fit
            answer = {"cpu_seconds": answer["cpu_seconds"], "seconds": answer["seconds"]}
        yield {
            **{"set": cell.name, "labels": cell.n_labels, "split": split},
            **{"draw": cell.draw(split), "method": name, "status": status},
            **{k: f"{v:.4f}" if isinstance(v, float) else v for k, v in answer.items()},
            **{"limit_seconds": f"{limits.seconds:g}", "limit_gb": f"{limits.gigabytes:g}"},
            **{"package": method.package, "version": version(method.package)},
            **{"measured": datetime.date.today().isoformat(), "run": who},
        }


def _fit(task: Task, folder: Path, limits: Limits) -> dict[str, Any]:
    cell = task.cell
    warnings.simplefilter("ignore")
    spent, sizes = time.process_time(), _sizes()
    limit_cpu(spent + limits.seconds)
    most = int(limits.gigabytes * 2**30) + sizes["VmSize"]
    resource.setrlimit(resource.RLIMIT_AS, (most, -1))
    _forget_peak()
    search = Search(
        cell.X, search_file(folder, cell), lambda taken: limit_cpu(max(limits.seconds - taken, 1))
    )
    y = cell.partly(task.split)
    names = cell.names
    if y.ndim == 1:  # a draw may lack a class, and methods count classes from 0 without a gap
        classes = np.unique(y[y != -1])
        y = np.where(y == -1, -1, np.searchsorted(classes, y))
        names = None if names is None else names[classes]
    problem = Problem(cell.X, y, search, task.split, cell.edges, cell.texts, names)
    wall, cpu = time.perf_counter(), time.process_time()
    said, about = task.method.run(problem)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    said = said if y.ndim == 2 else classes[np.asarray(said).astype(int)]
    return {
        **scored(cell, task.split, said, about),
        "cpu_seconds": cpu + search.borrowed["cpu_seconds"],
        "seconds": wall + search.borrowed["seconds"],
        "peak_mb": (peak_memory() - sizes["VmRSS"]) / 1e6,
    }


def scored(cell: Cell, split: int, said: np.ndarray, about: Any) -> dict[str, Any]:
    """Return how good answers are on the tested rows."""
    rows = cell.tested(split)
    truth = cell.y[rows]
    if truth.ndim == 2:
        used = truth.any(axis=0)
        answers = np.asarray(about)[rows][:, used].astype(int)
        f1 = f1_score(truth[:, used], answers, average="macro", zero_division=0)
        return {"macro_f1": 100 * f1, "ranking_loss": label_ranking_loss(truth, said[rows])}
    if np.shape(said) != cell.y.shape:
        raise ValueError(f"answers have the shape {np.shape(said)} and not {cell.y.shape}")
    return {
        "accuracy": 100 * accuracy_score(truth, np.asarray(said)[rows]),
        "balanced_accuracy": 100 * balanced_accuracy_score(truth, np.asarray(said)[rows]),
        "parameters": json.dumps(about, default=_plain),
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def _sizes() -> dict[str, int]:
    """Return how much memory this process holds (VmRSS) and addresses (VmSize), in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = dict(line.split(":", 1) for line in lines if line.startswith("Vm"))
    return {name: 1024 * int(text.split()[0]) for name, text in found.items()}


def _forget_peak() -> None:
    """Let Linux count the peak of memory anew, where it may."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


@cache
def version(package: str) -> str:
    """Return a package's version; of this library, with a sum of its sources."""
    if not package:
        return ""
    if package == "LAMDA-SSL":
        asked = f"import importlib.metadata as m; print(m.version({package!r}))"
        return subprocess.check_output([lamda_methods.PYTHON, "-c", asked], text=True).strip()
    try:
        found = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"
    if package != "graphkm":
        return found
    folder = Path(importlib.util.find_spec(package).origin).parent
    total = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        total.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return f"{found}+{total.hexdigest()[:12]}"

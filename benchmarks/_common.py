"""What the benchmarks share: data, clocks, memory, and how figures are printed and kept.

Times are CPU seconds of the process (`time.process_time`) unless a script says wall time, and
minima of repeated runs, because a busy machine only ever adds to them. Things that are compared
run in turns, so that both meet the same machine.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
sys.path.append(str(ROOT))  # for the package `reproduction`, which is not installed


@dataclass(frozen=True)
class Figure:
    """One measured number, with its target where there is one."""

    name: str
    value: float
    unit: str = ""
    target: float | None = None
    at_least: bool = True

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target

    def row(self) -> list[str]:
        """Return the figure as cells: figure, measured, target, met."""
        unit = f" {self.unit}" if self.unit else ""
        if self.target is None:
            return [self.name, f"{self.value:.4g}{unit}", "", ""]
        sign = ">=" if self.at_least else "<="
        verdict = "yes" if self.met else "no"
        return [self.name, f"{self.value:.4g}{unit}", f"{sign} {self.target:.4g}{unit}", verdict]


COLUMNS = ["figure", "measured", "target", "met"]


class SkipError(Exception):
    """A benchmark that cannot run here; the message says why."""


# ---------------------------------------------------------------------- data


def data_file(name: str) -> Path:
    """Return a file of the data folder: GRAPHKM_DATA, or ../shared/data beside the repository."""
    folder = Path(os.environ.get("GRAPHKM_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / name).exists():
        raise SkipError(
            f"{name} is not in the data folder; set GRAPHKM_DATA to the folder that has it"
        )
    return folder / name


def load_libsvm(name: str, n_features: int) -> tuple[Any, np.ndarray]:
    """Return CSR rows in float32 and labels of a set in LIBSVM format."""
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(data_file(name)), n_features=n_features, dtype=np.float32)


def hide_labels(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return integer labels 0 and 1 with a share of them replaced by -1."""
    codes = (y > 0).astype(np.int64)
    codes[rng.permutation(len(codes))[: round(share * len(codes))]] = -1
    return codes


# -------------------------------------------------------------------- clocks


def seconds(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """Return what one run takes."""
    start = clock()
    work()
    return clock() - start


def in_turns(
    works: Sequence[Callable[[], Any]],
    repeats: int,
    clock: Callable[[], float] = time.process_time,
    pause: float = 0.0,
) -> list[float]:
    """Run the works one after another, several rounds, and return each one's minimum."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for work, taken in zip(works, times, strict=True):
            time.sleep(pause)
            taken.append(seconds(work, clock))
    return [min(taken) for taken in times]


def peak_memory() -> int:
    """Return the most memory the process has held so far, in bytes.

    From Linux's VmHWM where there is one: a child's ``ru_maxrss`` starts at its parent's.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# --------------------------------------------------------------- environment


def environment() -> str:
    """Return one line on the machine: processor, instruction set, NumPy and its BLAS."""
    from graphkm.backends import instruction_set
    from reproduction.runner import processor

    config = np.show_config(mode="dicts") or {}
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return (
        f"{processor()}, {os.cpu_count()} cores, {instruction_set()}; "
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{blas.get('name', 'BLAS')} {blas.get('version', '')}"
    )


# ------------------------------------------------------------------- reports


def table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table with aligned columns."""
    cells = [list(map(str, headers)), *(list(map(str, row)) for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(headers))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def stored(name: str) -> list[dict[str, str]]:
    """Return the lines of a file of results, from which the pages' tables are made."""
    file = RESULTS / f"{name}.csv"
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def store(name: str, rows: Sequence[dict[str, Any]], keys: Sequence[str]) -> None:
    """Put lines into a file of results, in the place of those with the same keys."""
    lines = {tuple(str(row[key]) for key in keys): row for row in [*stored(name), *rows]}
    heads = list(dict.fromkeys(head for row in lines.values() for head in row))
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as stream:
        out = csv.DictWriter(stream, heads, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows(lines.values())


def script(run: Callable[[argparse.Namespace], list[Figure]], **options: dict[str, Any]) -> None:
    """Run a benchmark as a command: ``--quick``, ``--json FILE``, and options of its own."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run of seconds")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    for name, settings in options.items():
        parser.add_argument(f"--{name}", **settings)
    arguments = parser.parse_args()
    print(environment(), flush=True)
    try:
        figures, skipped = run(arguments), None
    except SkipError as reason:
        figures, skipped = [], str(reason)
        print(f"skipped: {reason}")
    if figures:
        print("\n" + table(COLUMNS, [figure.row() for figure in figures]))
    if arguments.json:
        answer = {"skipped": skipped, "figures": [asdict(figure) for figure in figures]}
        arguments.json.write_text(json.dumps(answer))

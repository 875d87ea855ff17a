"""The leaderboard: this library and every rival that installs, on every set, with one protocol.

    cd benchmarks
    pip install -r requirements.txt           # the rivals, beside this library
    python -m leaderboard --short             # a cell of each set
    python -m leaderboard [--jobs 16]         # all cells and draws: days of one core
    python -m leaderboard --add my_method.py --methods my_method --run me
    python -m leaderboard --merge theirs.csv  # checks lines, and takes them over
    python -m leaderboard --store && make -C .. tables      # into the page and its pictures

The sets are read from the folder GRAPHKM_DATA; one that is not there is skipped.

All methods get the same rows, and the same labels of some of them. They choose parameters by these
labels alone (`tuning.py`). Accuracy is that of the other rows, which train without labels.
Every fit runs in a process of its own on one thread, with a limit of CPU seconds and of memory. Its
line goes to results.csv in the output folder at once; what is there is not run again. Failures are
lines too. `results.py` says what a line has. Draws come one after another, each with all cells and
methods, so a run that is stopped leaves whole draws.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from _common import ROOT, SkipError
from leaderboard import report, results
from leaderboard.cells import SHORT, Cell
from leaderboard.methods import METHODS, Method, added, methods_for
from leaderboard.running import Limits, Task, preload, prepare, run
from leaderboard.sets import SETS

_NOT_SHORT = ("ours_cv",)  # it takes long


def names(text: str, known: dict) -> list[str]:
    chosen = text.split(",") if text else list(known)
    unknown = set(chosen) - set(known)
    if unknown:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return chosen


def loaded(wanted: list[str], short: bool) -> Iterator[Cell]:
    """Yield the cells of sets."""
    for name in wanted:
        try:
            cells = SETS[name]()
        except SkipError as reason:
            print(f"{name} skipped: {reason}", flush=True)
            continue
        yield from (cell for cell in cells if not short or SHORT.get(name) == cell.n_labels)


def tasks_of(cells: list[Cell], methods: dict[str, Method], splits: range) -> Iterator[Task]:
    """Yield all fits: one draw of all cells after another."""
    for split in splits:
        for cell in cells:
            if split < len(cell.splits):
                for name, method in methods_for(cell, methods).items():
                    yield Task(cell, split, name, method)


def measure(arguments: argparse.Namespace, methods: dict[str, Method], sets: list[str]) -> None:
    file = arguments.out / "results.csv"
    there = results.read(file)
    again = {results.key(each) for each in there if each["status"].startswith("error")}
    done = {results.key(each) for each in there} - (again if arguments.retry else set())
    missing = preload(list(methods.values()))
    for name, method in list(methods.items()):
        if method.package in missing:
            print(f"{name} skipped: {method.package} is not there")
            del methods[name]
    cells = list(loaded(sets, arguments.short))
    tasks = [
        task
        for task in tasks_of(cells, methods, range(*arguments.splits))
        if (task.cell.name, str(task.cell.n_labels), str(task.split), task.name) not in done
    ]
    prepare(tasks, arguments.out)
    limits = Limits(arguments.limit, arguments.memory)
    for number, line in enumerate(run(tasks, arguments.out, limits, arguments.jobs, arguments.run)):
        results.append(file, line)
        figure = line.get("accuracy") or line.get("macro_f1") or line["status"]
        what = "{set} {labels}, split {split}, {method}".format(**line)
        print(f"{number + 1}/{len(tasks)} {what}: {figure}, {line['cpu_seconds']} s", flush=True)


def merge(arguments: argparse.Namespace, sets: list[str]) -> None:
    file = arguments.out / "results.csv"
    lines = results.read(arguments.merge)
    cells = {(c.name, str(c.n_labels)): c for c in loaded(sets, False)}
    if found := results.complaints(lines, cells):
        raise SystemExit("nothing was taken over\n" + "\n".join(found[:20]))
    results.write(file, results.merged(results.read(file), lines))
    print(f"{len(lines)} lines of {arguments.merge} are in {file}")


def span(text: str) -> tuple[int, int]:
    first, _, last = text.rpartition("-")
    return int(first or 0), int(last) + 1 if first else int(last)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="a cell of each set")
    parser.add_argument("--methods", default="", help="comma-separated; all by default")
    parser.add_argument("--sets", default="", help="comma-separated; all by default")
    parser.add_argument("--splits", type=span, default=(0, 12), help="so many, or from-to, as 3-5")
    parser.add_argument("--jobs", type=int, default=1, help="fits at once; 1 by default")
    parser.add_argument("--limit", type=float, default=900, help="CPU seconds of a fit")
    parser.add_argument("--memory", type=float, default=8, help="GB of a fit")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "leaderboard")
    parser.add_argument("--retry", action="store_true", help="run lines with errors again")
    parser.add_argument("--add", type=Path, nargs="+", default=[], help="files with a method")
    parser.add_argument("--run", default="own", help="the name of this run, for its lines")
    parser.add_argument("--merge", type=Path, help="take over lines of a file; nothing is run")
    parser.add_argument("--report", action="store_true", help="only report what is there")
    parser.add_argument("--store", action="store_true", help="put the results into the pages' file")
    arguments = parser.parse_args()
    every = METHODS | dict(map(added, arguments.add))
    asked = names(arguments.methods, every)
    if arguments.short and not arguments.methods:
        asked = [name for name in asked if name not in _NOT_SHORT]
    sets = names(arguments.sets, SETS)
    arguments.out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the running fit ends too
    if arguments.merge:
        merge(arguments, sets)
    elif not (arguments.report or arguments.store):
        measure(arguments, {name: every[name] for name in asked}, sets)
    print(report.write(arguments.out, store=arguments.store))


if __name__ == "__main__":
    main()

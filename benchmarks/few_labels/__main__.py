"""How accurate semi-supervised classifiers are with few labels, each tuned on those labels alone.

    cd benchmarks
    pip install -r requirements.txt                # the peers, beside this library
    python -m few_labels [--jobs 16] [--methods svc,spreading] [--sets moons,g50c] [--splits 3]
    python -m few_labels --report                  # tables and a plot of what is there
    python -m few_labels --report --store && make -C .. tables     # and into the pages

The sets are read from the folder GRAPHKM_DATA; one that is not there is skipped.

Accuracy is that of the rows whose labels are hidden, and those rows are in training without them.
`cells.py` lists the sets, `row_methods.py`, `kernel_methods.py` and `graph_methods.py` the methods
with their grids of up to about 40 candidates each, `tuning.py` how one is chosen.

Every fit, tuning included, runs in a process of its own on one thread, with a limit of CPU seconds
and of memory; `--jobs` of them run at once. It adds one line to results.jsonl in the output folder
at once; what is there already is not run again. Failures are rows too.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from _common import ROOT, SkipError
from few_labels import report
from few_labels.cells import SETS, Cell
from few_labels.methods import METHODS
from few_labels.running import preload, prepare, run


def names(text: str, known: dict) -> list[str]:
    chosen = text.split(",") if text else list(known)
    unknown = set(chosen) - set(known)
    if unknown:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return chosen


def key(row: dict) -> tuple:
    return row["set"], row["n_labels"], row["split"], row["method"]


def loaded(names: list[str]) -> Iterator[Cell]:
    """Yield the cells of sets, those of the slowest set first."""
    for name in reversed(names):
        try:
            yield from SETS[name]()
        except SkipError as reason:
            print(f"{name} skipped: {reason}")


def measure(arguments: argparse.Namespace, methods: list[str], sets: list[str]) -> None:
    file = arguments.out / "results.jsonl"
    rows = report.read(file)
    done = {key(r) for r in rows if not (arguments.retry and r["status"].startswith("error"))}
    preload(methods)
    tasks = [
        (cell, split, method)
        for cell in loaded(sets)
        if not arguments.labels or cell.n_labels in arguments.labels
        for split in range(min(len(cell.splits), arguments.splits or len(cell.splits)))
        for method in methods
        if (cell.name, cell.n_labels, split, method) not in done
    ]
    prepare(tasks, arguments.out)
    found = run(tasks, arguments.out, arguments.limit, arguments.memory, arguments.jobs)
    for row in tqdm(found, total=len(tasks), mininterval=5):
        with file.open("a") as stream:
            stream.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", default="", help="comma-separated; all by default")
    parser.add_argument("--sets", default="", help="comma-separated; all by default")
    parser.add_argument(
        "--labels",
        type=lambda text: [int(number) for number in text.split(",")],
        help="only cells with these numbers of labels",
    )
    parser.add_argument("--splits", type=int, help="only the first splits of every cell")
    parser.add_argument("--jobs", type=int, default=1, help="fits at once; 1 by default")
    parser.add_argument("--limit", type=float, default=900, help="CPU seconds of a fit")
    parser.add_argument("--memory", type=float, default=16, help="GB of address space of a fit")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "few_labels")
    parser.add_argument("--retry", action="store_true", help="run rows with errors again")
    parser.add_argument("--report", action="store_true", help="only report what is there")
    parser.add_argument("--store", action="store_true", help="put the results into the pages' file")
    arguments = parser.parse_args()
    methods, sets = names(arguments.methods, METHODS), names(arguments.sets, SETS)
    arguments.out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the running fit ends too
    if not arguments.report:
        measure(arguments, methods, sets)
    print(report.write(arguments.out, methods, sets, keep=arguments.store))


if __name__ == "__main__":
    main()

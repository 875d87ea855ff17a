"""The front door on graphs with millions of edges: time and memory, and how they grow.

    python benchmarks/large_graphs.py [--rows 2000000] [--store]
    python benchmarks/large_graphs.py --quick

The graph is drawn at random: 30 edges start at every row, half of them end at a row of the same
class (4 classes), and the others end anywhere. Rows have 10 columns, which say little. 200 rows are
labelled. With graph=None no nearest rows are searched. Wall time is that of all cores of the
process. Memory is the peak of the process, which also holds the data.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings
from functools import partial

import numpy as np

from _common import Figure, script, store, table
from _processes import forked
from graphkm import SemiSupervisedClassifier

EDGES, CLASSES, LABELS = 30, 4, 200


def measured(n: int) -> dict[str, float]:
    """Fit to a graph, and return what it took."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    truth = rng.integers(0, CLASSES, n)
    order = np.argsort(truth, kind="stable")
    first, size = np.searchsorted(truth[order], np.arange(CLASSES)), np.bincount(truth)
    edges = rng.integers(0, n, (EDGES * n, 2), dtype=np.int32)
    same = np.flatnonzero(rng.random(len(edges)) < 0.5)
    own = truth[edges[same, 0]]
    edges[same, 1] = order[first[own] + (rng.random(len(same)) * size[own]).astype(np.int64)]
    X = rng.normal(size=(n, 10)).astype(np.float32)
    X += 0.5 * np.eye(CLASSES, 10, dtype=np.float32)[truth]
    labelled = rng.choice(n, LABELS, replace=False)
    y = np.full(n, -1)
    y[labelled] = truth[labelled]
    del order, own, same
    model = SemiSupervisedClassifier(graph=None, random_state=0)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y, affinity=edges)
    return {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "accuracy": 100 * float(np.mean(model.transduction_ == truth)),
    }


def run(arguments: argparse.Namespace) -> list[Figure]:
    rows = 20_000 if arguments.quick else arguments.rows
    sizes = [rows // part for part in arguments.parts]
    lines, threads = [], len(os.sched_getaffinity(0))
    for number, found in forked((partial(measured, n) for n in sizes), 1, threads):
        if found["status"] != "ok":
            raise SystemExit(found.get("traceback", found["status"]))
        taken = {name: f"{found[name]:.1f}" for name in MEASURED}
        lines.append({"rows": str(sizes[number]), **taken})
        print(*lines[-1].values(), flush=True)
    if arguments.store:
        store("large_graphs", lines, ("rows",))
    print(table(*summary(lines)))
    last = lines[-1]
    return [
        Figure("minutes", float(last["seconds"]) / 60, "min", 15.0, at_least=False),
        Figure("peak memory", float(last["gigabytes"]), "GB", 12.0, at_least=False),
    ]


MEASURED = ("seconds", "cpu", "gigabytes", "accuracy")


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    names = ["rows", "edges", "wall s", "CPU s", "peak GB", "accuracy"]
    cells = []
    for line in sorted(lines, key=lambda line: int(line["rows"])):
        n = int(line["rows"])
        cells.append([f"{n:,}", f"{EDGES * n:,}", *(line[name] for name in MEASURED)])
    return names, cells


if __name__ == "__main__":
    script(
        run,
        rows={"type": int, "default": 2_000_000, "help": "rows of the largest graph"},
        parts={"type": int, "nargs": "+", "default": [8, 4, 2, 1], "help": "shares of the rows"},
        store={"action": "store_true", "help": "keep the results"},
    )

"""The search for the nearest anchors: by products in single precision, and by scikit-learn.

    python benchmarks/anchor_search.py [--rows 50000] [--store]

The rows are those of `dask_scale`. CPU seconds are minima of five rounds in turns, on one thread,
for the nearest anchor (a pass that moves anchors) and for the four nearest (the pass that joins
them). "same" is the share of rows for which both find the same anchors in the same order.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from _common import Figure, in_turns, script, store
from dask_scale.rows import made_rows
from graphkm._util.threads import one_thread
from graphkm.neighbours.candidates import Queries, nearest_of
from graphkm.neighbours.exact import ExactSearch
from graphkm.neighbours.rounded import RoundedSearch


def compared(n: int, d: int, anchors: int, k: int) -> dict[str, object]:
    """Return the CPU seconds of both searches for a million rows."""
    X, _ = made_rows(0, n, d)
    rows = X[:anchors].copy()
    searches = RoundedSearch(rows), ExactSearch(rows)
    works = [partial(nearest_of, each, rows, Queries(X), k, 1) for each in searches]
    with one_thread():
        taken = in_turns(works, 5)
        (mine, _), (theirs, _) = (work() for work in works)
    own, other = (seconds / n * 1e6 for seconds in taken)
    line = {"columns": d, "anchors": anchors, "k": k, "own": round(own, 2)}
    line |= {"scikit_learn": round(other, 2), "ratio": round(other / own, 2)}
    return line | {"same": float(np.mean((mine == theirs).all(axis=1)))}


def run(arguments: argparse.Namespace) -> list[Figure]:
    n = 5000 if arguments.quick else arguments.rows
    cases = [(20, 2000, 1), (20, 2000, 4), (20, 8000, 1), (20, 8000, 4), (100, 2000, 1)]
    lines = [compared(n, *case) for case in cases]
    if arguments.store:
        store("anchor_search", lines, ("columns", "anchors", "k"))
    return [
        Figure(
            f"{line['columns']} columns, {line['anchors']} anchors, k={line['k']}: {name}", value
        )
        for line in lines
        for name, value in line.items()
        if name in ("own", "scikit_learn", "same")
    ]


if __name__ == "__main__":
    script(
        run,
        rows={"type": int, "default": 50_000},
        store={"action": "store_true", "help": "keep the figures in results/anchor_search.csv"},
    )

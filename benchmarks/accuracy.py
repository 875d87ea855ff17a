"""The accuracy ratchet: about 40 cells. It is red if one falls below the stored results.

    make accuracy                       # all cells: up to ten minutes on two cores
    make accuracy ARGS=--short          # the quick cells: about two minutes
    make accuracy ARGS=--update         # also runs the rivals, and writes the results
    make accuracy ARGS="--short --plant ridge"     # must be red; so must neighbours, temperature

`ratchet/cells.py` lists the cells, `ratchet/estimators.py` the estimators, and `ratchet/judging.py`
says what a fall is. The results are in results/accuracy.csv. The sets are read from the folder
GRAPHKM_DATA; without them only the made sets are run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np

from _common import RESULTS, table
from ratchet.cells import CELLS, SHORT
from ratchet.judging import BETTER, Result, judge, read, write
from ratchet.planted import DEFECTS
from ratchet.running import run

FILE = RESULTS / "accuracy.csv"


def planned(short: bool, stored: Sequence[Result]) -> dict[str, Sequence[int]]:
    """Return the cells to run and their splits, the slowest first."""
    cells = [cell for cell in CELLS.values() if cell.name in SHORT or not short]
    cost: dict[str, float] = {}
    for each in stored:
        cost[each.cell] = cost.get(each.cell, 0.0) + each.cpu_seconds * len(each.scores)
    cells.sort(key=lambda cell: -cost.get(cell.name, np.inf))
    return {cell.name: cell.splits for cell in cells}


def show(results: Sequence[Result], stored: Sequence[Result]) -> None:
    """Print what each cell has, and had."""
    known = {each.key: each for each in stored}
    for each in results:
        old = known.get(each.key)
        both = sorted(old.scores.keys() & each.scores.keys()) if old else []
        before = np.mean([old.scores[s] for s in both]) if old and both else np.nan
        print(
            f"{each.cell:34} {each.estimator:16} {each.metric:9} {each.mean:7.2f} "
            f"(before {before:6.2f})  {each.cpu_seconds:5.2f} CPU s a fit",
            flush=True,
        )


def summary(results: Sequence[Result], rivals: Sequence[Result]) -> str:
    """Return the means over cells, and the distances from the best rival of each cell."""
    best: dict[tuple[str, str], float] = {}
    for each in rivals:
        key, sign = (each.cell, each.metric), BETTER[each.metric]
        best[key] = sign * max(sign * each.mean, sign * best.get(key, -sign * np.inf))
    lines = []
    for name, metric in dict.fromkeys(each.key[1:] for each in results if not each.rival):
        own = [each for each in results if each.key[1:] == (name, metric)]
        ahead = {
            each.cell: BETTER[metric] * (each.mean - best[each.cell, metric])
            for each in own
            if (each.cell, metric) in best
        }
        line = [name, metric, len(own), f"{np.mean([each.mean for each in own]):.2f}"]
        line.append(f"{sum(each.cpu_seconds * len(each.scores) for each in own):.0f}")
        if ahead:
            least = min(ahead, key=lambda cell: ahead[cell])
            line += [f"{np.mean(list(ahead.values())):+.2f}", f"{ahead[least]:+.1f} ({least})"]
        lines.append([*line, *[""] * (7 - len(line))])
    heads = ["estimator", "metric", "cells", "mean", "CPU s", "ahead of the best rival", "least"]
    return table(heads, lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="the quick cells alone")
    parser.add_argument("--update", action="store_true", help="write the results file")
    parser.add_argument("--plant", choices=DEFECTS, help="plant a defect: the run must be red")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes; 2 by default")
    arguments = parser.parse_args()
    if arguments.update and (arguments.short or arguments.plant):
        parser.error("--update needs a whole run of the library as it is")
    stored, start = read(FILE), time.monotonic()
    plan = planned(arguments.short, stored)
    results: list[Result] = []
    skipped: dict[str, str] = {}
    options = {"rivals": arguments.update, "defect": arguments.plant, "jobs": arguments.jobs}
    for name, found in run(plan, **options):
        if isinstance(found, str):
            skipped[name] = found
        else:
            show(found, stored)
            results += found
    rivals = [each for each in (results if arguments.update else stored) if each.rival]
    print("\n" + summary(results, rivals) + "\n")
    left_out = (CELLS.keys() - plan.keys()) | skipped.keys()
    failures, risen = judge(results, stored, left_out)
    for line in [*risen, *(f"RED {line}" for line in failures)]:
        print(line)
    if skipped:
        print(f"not run: {', '.join(skipped)}; {next(iter(skipped.values()))}")
    seconds = time.monotonic() - start
    colour = f"red ({len(failures)})" if failures else "green"
    print(f"accuracy: {colour}; {len(plan) - len(skipped)} cells in {seconds:.0f} s")
    if not arguments.update:
        return int(bool(failures))
    if skipped:
        print("Nothing was written: the results of the cells that were not run would be lost.")
        return 1
    order = list(CELLS)
    write(FILE, sorted(results, key=lambda each: order.index(each.cell)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What a fit with `graphkm.dask` would take on many workers: a simulation from measured costs.

    python benchmarks/cluster_plan.py [--rows 10000000000] [--workers 64] [--store]

Costs are those of the largest run in results/dask_scale.csv: CPU seconds per row of every pass, CPU
seconds of the members, and the size of the graph of the anchors. The simulation hands partitions
to workers one after another, adds their results in the tree of `graphkm.dask` (eight at a time),
and counts what crosses the network. Every measured run but the smallest is simulated as well, from
the costs of the next smaller one: so what is predicted stands beside what was measured.

Assumptions, all of them plain:

- A worker has one core, as fast as the measured one, and is never lost.
- A task costs the scheduler 1 ms, one task at a time (Dask's documentation says 200 microseconds
  to 1 ms), beside the work of the workers.
- Making or reading rows costs what it cost in the measured run, whose rows were made by the
  workers. Rows that are read from disks or networks may cost more.
- Every input of a sum crosses the network, at 1 GB/s for each worker; in truth a part of them is on
  the same worker. The anchors go to every worker from one process, one after another.
- A pass waits for the last task of the pass before. The joins of a partition are as large as the
  whole graph, which they are at most.
- The members are fitted by one worker, while the others wait.
"""

from __future__ import annotations

import argparse
import heapq
import math
from itertools import pairwise
from typing import Any, NamedTuple

from _common import store, stored, table

TOGETHER = 8  # sums that one task adds: `dask/runner.py`
PASSES = {"labels": 1, "move": 2, "join": 1}
TASK = 1e-3  # seconds of the scheduler
SPEED = 1e9  # bytes per second
COLUMNS = 20
LABELLED = 8 * (COLUMNS + 3)  # bytes of a labelled row


class Costs(NamedTuple):
    """What was measured."""

    rows: int
    anchors: int
    labels: int
    cpu: dict[str, float]
    """Seconds per row of one pass of each kind."""
    members: float
    joins: float
    """Bytes of the graph of the anchors."""


class Pass(NamedTuple):
    """What one pass takes."""

    seconds: float
    cpu: float
    sent: float


def costs_of(line: dict[str, str]) -> Costs:
    rows = int(line["rows"])
    cpu = {name: float(line[f"cpu_{name}"]) / rows / n for name, n in PASSES.items()}
    sizes = int(line["anchors"]), int(line["labels"])
    return Costs(rows, *sizes, cpu, float(line["cpu_members"]), 1e6 * float(line["joins_mb"]))


def simulated(costs: Costs, kind: str, rows: float, size: int, workers: int) -> Pass:
    """Return what one pass over rows takes, partition by partition and sum by sum."""
    n_parts = math.ceil(rows / size)
    work = costs.cpu[kind] * size
    result = {
        "labels": LABELLED * (costs.labels + costs.anchors) / n_parts,
        "move": 8.0 * costs.anchors * (COLUMNS + 2),
        "join": costs.joins,
    }[kind]
    given = 0.0 if kind == "labels" else 4.0 * costs.anchors * COLUMNS
    free = [given * k / SPEED for k in range(1, workers + 1)]  # the anchors arrive one by one
    heapq.heapify(free)
    scheduler = 0.0
    n_tasks, busy = n_parts, 0.0
    ends = []
    for _ in range(n_parts):
        scheduler += TASK
        end = max(heapq.heappop(free), scheduler) + work
        busy += work
        ends.append(end)
        heapq.heappush(free, end)
    sent = given * workers
    while kind != "labels" and len(ends) > 1:
        groups = [ends[i : i + TOGETHER] for i in range(0, len(ends), TOGETHER)]
        n_tasks += len(groups)
        ends = [max(group) + len(group) * result / SPEED + TASK for group in groups]
        sent += result * sum(map(len, groups))
    if kind == "labels":
        sent += result * n_parts
    return Pass(max(max(ends), TASK * n_tasks), busy, sent)


def plan(costs: Costs, rows: float, size: int, workers: int) -> dict[str, Any]:
    """Return what a whole fit takes."""
    found = {kind: simulated(costs, kind, rows, size, workers) for kind in PASSES}
    seconds = sum(PASSES[kind] * own.seconds for kind, own in found.items()) + costs.members
    line: dict[str, Any] = {"rows": f"{rows:.0f}", "workers": workers, "size": size}
    line |= {"measured_rows": costs.rows, "seconds": round(seconds, 1)}
    line |= {"cpu_hours": round(sum(PASSES[k] * p.cpu for k, p in found.items()) / 3600, 5)}
    for kind, own in found.items():
        line |= {f"{kind}_seconds": round(own.seconds, 1), f"{kind}_gb": round(own.sent / 1e9, 4)}
    return line | {"members_seconds": round(costs.members, 1)}


def checked(smaller: dict[str, str], run: dict[str, str]) -> dict[str, Any]:
    """Return what the costs of a smaller run predict of a run, beside what was measured."""
    found = plan(costs_of(smaller), int(run["rows"]), int(run["size"]), int(run["workers"]))
    cpu = sum(float(run[f"cpu_{kind}"]) for kind in PASSES)
    told = [kind for kind in PASSES if run[f"sent_{kind}"]]  # not all runs could measure it
    sent = sum(float(run[f"sent_{kind}"]) for kind in told) / 1e3
    predicted_sent = sum(PASSES[kind] * found[f"{kind}_gb"] for kind in told)
    return {
        "rows": run["rows"],
        "measured_rows": smaller["rows"],
        "cpu_seconds": round(3600 * found["cpu_hours"], 1),
        "measured_cpu_seconds": round(cpu, 1),
        "gb": round(predicted_sent, 4),
        "measured_gb": round(sent, 4),
        "seconds": found["seconds"],
        "measured_seconds": run["seconds"],
    }


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of the page's table of plans."""
    kinds = {"labels": "labels", "move": "a move", "join": "joining"}
    heads = ["rows", "workers", "hours", "CPU hours of the passes"]
    heads += [f"{name}: seconds; GB sent" for name in kinds.values()] + ["members, seconds"]
    shown = []
    for line in lines:
        passes = [f"{line[f'{kind}_seconds']}; {float(line[f'{kind}_gb']):.3g}" for kind in kinds]
        hours, cpu = float(line["seconds"]) / 3600, float(line["cpu_hours"])
        about = [f"{float(line['rows']):,.0f}", line["workers"], f"{hours:.3g}", f"{cpu:.3g}"]
        shown.append([*about, *passes, line["members_seconds"]])
    return heads, shown


def checks(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of the page's table of predictions that were checked."""
    heads = ["rows", "costs of a run of", "CPU seconds: predicted", "measured"]
    heads += ["GB sent: predicted at most", "measured", "seconds: on idle cores", "measured"]
    pairs = [(key, f"measured_{key}") for key in ("cpu_seconds", "gb", "seconds")]
    shown = [
        [
            *(f"{int(line[key]):,}" for key in ("rows", "measured_rows")),
            *(f"{float(line[key]):,.4g}" for pair in pairs for key in pair),
        ]
        for line in lines
    ]
    return heads, shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e10)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--size", type=int, default=1_000_000, help="rows of a partition")
    parser.add_argument("--store", action="store_true")
    arguments = parser.parse_args()
    measured = sorted(stored("dask_scale"), key=lambda line: int(line["rows"]))
    told = [checked(one, other) for one, other in pairwise(measured)]
    print(table(list(told[0]), [list(line.values()) for line in told]))
    lines = []
    costs = costs_of(measured[-1])
    for rows in (1e8, 1e9, arguments.rows):
        for workers in (2, 8, arguments.workers):
            lines.append(plan(costs, rows, arguments.size, workers))
    print(table(list(lines[0]), [list(line.values()) for line in lines]))
    if arguments.store:
        store("cluster_checks", told, ("rows", "measured_rows"))
        store("cluster_plan", lines, ("rows", "workers", "size", "measured_rows"))


if __name__ == "__main__":
    main()

"""The front door on anchors: accuracy on hidden and on new rows, mild anchors and sharp ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from fields.running import key, read, run_cell
from fields.sets import SETS
from graphkm.graphs import anchors as anchor_nodes
from graphkm.graphs.anchors import NEAR

CELLS = (
    *(("mnist", "100"), ("usps", "100"), ("uspst", "100"), ("digit1", "50")),
    *(("g241c", "200"), ("coil20", "200"), ("svmguide1", "200"), ("ijcnn1", "10%")),
)
TARGETS = {("mnist", "100"): 0.944}


def anchors(file: Path, seeds: range, sets: list[str] | None) -> None:
    """Print mean accuracies of the front door on anchors; rows go to the file."""
    for name, labels in CELLS:
        if sets is not None and name not in sets:
            continue
        X, y = SETS[name]()
        done = {key(row): row for row in read(file)}
        rows = []
        for seed in seeds:
            cell = {"set": name, "n": labels, "seed": seed, "method": "anchors"}
            row = done.get(key(cell)) or run_cell(cell, X, y)
            if key(cell) not in done:
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("a") as out:
                    out.write(json.dumps(row) + "\n")
            rows.append(row)
        hidden, new, cpu = (
            np.mean([row[name] for row in rows]) for name in ("hidden", "test", "cpu")
        )
        target = TARGETS.get((name, labels))
        wanted = f"; at least {100 * target:.1f} wanted" if target else ""
        print(
            f"{name}, {labels} labels, {len(rows)} draws: hidden {100 * hidden:.2f} %, new "
            f"{100 * new:.2f} %, {cpu:.0f} CPU s{wanted}",
            flush=True,
        )


def sharp_anchors(seeds: range, sets: list[str] | None) -> None:
    """Print mean accuracies of the front door on anchors, mild and sharp."""
    used = anchor_nodes.FEW
    for name, labels in (*CELLS, ("mnist", "500")):
        if sets is not None and name not in sets:
            continue
        X, y = SETS[name]()
        for kind, few in (("mild", np.inf), ("sharp", NEAR)):
            anchor_nodes.FEW = few  # type: ignore[assignment]
            rows = [
                run_cell({"set": name, "n": labels, "seed": seed, "method": "anchors"}, X, y)
                for seed in seeds
            ]
            hidden, new = (100 * np.mean([row[key] for row in rows]) for key in ("hidden", "test"))
            print(f"{name}, {labels} labels, {kind}: {hidden:.2f} {new:.2f} %", flush=True)
    anchor_nodes.FEW = used

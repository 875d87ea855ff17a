"""Fields on anchors: accuracy on hidden and on new rows, and the weights of anchors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from fields.running import key, read, run_cell
from fields.sets import SETS
from graphkm.graphs import AnchorNodes
from graphkm.graphs.nodes import faded

CELLS = (
    *(("mnist", "100"), ("usps", "100"), ("uspst", "100"), ("digit1", "50")),
    *(("g241c", "200"), ("coil20", "200"), ("svmguide1", "200"), ("ijcnn1", "10%")),
)
TARGETS = {("mnist", "100"): 0.944}


def anchors(file: Path, seeds: range, sets: list[str] | None) -> None:
    """Print the mean accuracies of `GKMClassifier(graph="anchors")`; rows go to the file."""
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


def by_distance(sharpness: float) -> Any:
    """Return weights exp(-b d^2 / d_4^2) of the three nearest anchors; b = 1 is the library's."""

    def weights(nodes: AnchorNodes, X: Any) -> Any:
        near, d2 = nodes.index.nearest_to(X, 4)
        exponent = -sharpness * d2 / np.maximum(d2[:, -1:], 1e-300)
        return faded(near[:, :3], exponent[:, :3], d2[:, 0], nodes.reach)

    return weights


def by_difference(sharpness: float) -> Any:
    """Return weights exp(-b (d^2 - d_1^2) / (d_4^2 - d_1^2)) of the three nearest anchors."""

    def weights(nodes: AnchorNodes, X: Any) -> Any:
        near, d2 = nodes.index.nearest_to(X, 4)
        farther = d2 - d2[:, :1]
        exponent = -sharpness * farther / np.maximum(farther[:, -1:], 1e-300)
        return faded(near[:, :3], exponent[:, :3], d2[:, 0], nodes.reach)

    return weights


WEIGHTS = {
    **{f"d^2 / d_4^2, b = {b:g}": by_distance(b) for b in (1.0, 2.0)},
    **{f"differences, b = {b:g}": by_difference(b) for b in (1.0, 1.5, 2.0)},
}


def anchor_weights(seeds: range, sets: list[str] | None) -> None:
    """Print mean accuracies of `GKMClassifier(graph="anchors")` with other weights of anchors."""
    used = AnchorNodes.weights
    for name, labels in CELLS:
        if sets is not None and name not in sets:
            continue
        X, y = SETS[name]()
        for kind, weights in WEIGHTS.items():
            AnchorNodes.weights = weights  # type: ignore[method-assign]
            rows = [
                run_cell({"set": name, "n": labels, "seed": seed, "method": "anchors"}, X, y)
                for seed in seeds
            ]
            hidden, new = (100 * np.mean([row[key] for row in rows]) for key in ("hidden", "test"))
            print(f"{name}, {labels} labels, {kind}: {hidden:.2f} {new:.2f} %", flush=True)
    AnchorNodes.weights = used  # type: ignore[method-assign]

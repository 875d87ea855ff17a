"""Growth with the number of rows, and the weights of the edges."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from fields.running import run_cell
from fields.sets import SETS, split
from graphkm import GKMClassifier
from graphkm.graphs import KNN, NeighbourIndex, RowNodes
from graphkm.solvers.field import FieldData, FieldSystem, Strength


def drawn_rows(kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows of 20 columns: a curved sheet of four dimensions, or blobs that overlap."""
    if kind == "blobs":
        X, y = make_blobs(n, 20, centers=50, cluster_std=6.0, random_state=0)
        return X.astype(np.float32), y % 5
    rng = np.random.default_rng(0)
    place = rng.random((n, 4))
    X = np.sin(place @ rng.normal(size=(4, 20)) * 4 + rng.random(20) * 6)
    X += 0.02 * rng.normal(size=X.shape)
    return X.astype(np.float32), (place[:, :2] * 3).astype(int) @ [1, 3] % 5


def growth(file: Path) -> None:
    """Print CPU seconds for 50,000 to 500,000 rows of 20 columns, and the exponent."""
    sizes = [50_000, 100_000, 200_000, 500_000]
    for kind in ("sheet", "blobs"):
        seconds = []
        for n in sizes:
            cell = {"set": "growth", "n": "500", "seed": 0, "method": "own"}
            row = run_cell(cell, *drawn_rows(kind, n))
            print(kind, n, json.dumps(row), flush=True)
            seconds.append(row["cpu"])
        slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
        print(f"{kind}: exponent {slope:.3f}")
        cell = {"set": "growth", "n": "all", "seed": 0, "method": "own"}
        with file.open("a") as out:
            out.write(json.dumps(cell | {"kind": kind, "exponent": slope, "cpu": seconds}) + "\n")


def sharpness() -> None:
    """Print the accuracy of fields alone for several sharpnesses of the edges' weights."""
    for name, labels in (("mnist", "100"), ("ijcnn1", "10%"), ("covtype-7", "10%")):
        X, y = SETS[name]()
        train, _, labeled = split(y, labels, seed=0)
        rows, truth = np.flatnonzero(labeled), y[train]
        values = np.eye(y.max() + 1)[truth[rows]] - 1 / (y.max() + 1)
        index = NeighbourIndex(np.ascontiguousarray(X[train]), n_jobs=-1)
        for factor in (1.0, 4.0, 6.0, 8.0):
            graph = RowNodes.graph(index, 10, factor)
            data = FieldData.of(graph, rows, np.ones(len(rows)), values)
            g = FieldSystem(graph.similarity, n_threads=2).solve(data, Strength(C=3.0, eps=0.01))
            right = np.mean((g.argmax(axis=1) == truth)[~labeled])
            print(f"{name}, {labels} labels, sharpness {factor:g}: {100 * right:.2f} %", flush=True)


def newton_weights() -> None:
    """Print the accuracy of `GKMClassifier` on the small sets for both weights of the edges."""
    for name in ("g50c", "uspst", "digit1", "usps", "g241c", "text", "coil20", "svmguide1"):
        X, y = SETS[name]()
        for labels in ("50", "200"):
            found = {}
            for weights in ("local", "sharp"):
                right = []
                for seed in range(5):
                    train, _, labeled = split(y, labels, seed)
                    model = GKMClassifier(graph=KNN(weights=weights), random_state=seed)
                    model.fit(X[train], np.where(labeled, y[train], -1))
                    right.append(np.mean((model.transduction_ == y[train])[~labeled]))
                found[weights] = f"{100 * np.mean(right):.2f} %"
            print(f"{name}, {labels} labels, GKMClassifier: {found}", flush=True)

"""Figure 1: a graph of nearest neighbours on a set in three dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np

from ..graphs import build_graph
from .cells import Cell
from .protocol import Protocol

TITLE = "A spectral graph (Figure 1)"
NEIGHBORS = 5  # as in the paper's figure


def cells(datasets: tuple[str, ...] | None, protocol: Protocol) -> list[Cell]:
    """Return the one cell there is."""
    return [Cell("graph", "made_curve", "knn", 0, 0)]


def run(data: Path, cell: Cell, protocol: Protocol) -> dict[str, Any]:
    """Return the points, their classes, and the edges with their weights."""
    X, y = joblib.load(data)
    graph = build_graph("knn", X, np.zeros(len(y), bool), gamma="local", n_neighbors=NEIGHBORS)
    u, v, weight = graph.edges()
    return {
        "points": X.round(3),
        "classes": y,
        "edges": np.column_stack([u, v]),
        "weights": weight.round(3),
        "parameters": {"n_neighbors": NEIGHBORS},
    }

"""Which strength of the graph helps, by the number of labels: `GKMClassifier` at several C_graph.

Accuracy on new rows, after training on 900, of the Newton solver with a graph of neighbours.
Columns are C_graph times the number of labels; "default" is what "auto" takes. The first two sets
have no clusters, the others do. They need no network.

    python benchmarks/graph_strength.py [--quick]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from _common import Figure, script, table
from graphkm import GKMClassifier

ROWS, NEW = 900, 600
STRENGTHS = (1e5, 1e4, 1e3, 1e2, 1e1)


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names, rows and labels."""
    n = ROWS + NEW
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    yield "product", X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    options: Any = {"n_informative": 6, "n_clusters_per_class": 3, "random_state": 0}
    yield "mixture", *make_classification(n, 20, **options)
    yield "moons", *make_moons(n, noise=0.25, random_state=0)
    cluster = rng.integers(12, size=n)
    yield "clusters", 2 * rng.normal(size=(12, 10))[cluster] + rng.normal(size=(n, 10)), cluster % 3
    X, y = load_digits(return_X_y=True)
    order = rng.permutation(len(y))[:n]
    yield "digits", scale(X)[order], y[order]


def run(arguments: argparse.Namespace) -> list[Figure]:
    warnings.simplefilter("ignore")
    models = {f"{s:.0e}": {"C_graph": s} for s in STRENGTHS} | {"default": {}}
    rows, found = [], []
    for name, X, truth in sets():
        for n_labeled in (100,) if arguments.quick else (50, 100, 200, 500):
            y = np.where(np.arange(ROWS) < n_labeled, truth[:ROWS], -1)
            svc = SVC().fit(X[:n_labeled], truth[:n_labeled])
            scores = [float(svc.score(X[ROWS:], truth[ROWS:]))]
            for options in models.values():
                scaled = {key: value / n_labeled for key, value in options.items()}
                model = GKMClassifier(**scaled, random_state=0).fit(X[:ROWS], y)
                scores.append(model.score(X[ROWS:], truth[ROWS:]))
            rows.append([f"{name} {n_labeled}", *(f"{100 * s:.1f}" for s in scores)])
            found.append(Figure(f"default accuracy, {name} {n_labeled}", scores[-1]))
    print(table(["set and labels", "SVC", *models], rows))
    return found


if __name__ == "__main__":
    script(run)

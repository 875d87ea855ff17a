"""A workload too large for label propagation: 697,526 rows, 13,731 labels, 2 % positive.

The sizes are those of scikit-learn's issue 6555, where LabelPropagation ran out of 32 GB without
a sign of progress. The rows are made: fifty curved clusters in 15 dimensions, one of them
positive. Everything is timed from the raw rows on, neighbour search included, and progress is
shown. The labelled-only `SVC` sees the same labelled rows, plain and with balanced classes; it is
scored on 50,000 of the hidden rows, as scoring all of them takes it minutes.

    python benchmarks/large_graph.py [--quick]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import SVC

from _common import Figure, peak_memory, script
from graphkm import KNN, GKMClassifier

ROWS, COLUMNS, LABELS, CLUSTERS = 697_526, 15, 13_731, 50
SCORED = 50_000


def made(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in float32, and which are positive: those of the first of fifty clusters."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(CLUSTERS, size=n)
    start = rng.normal(scale=2.0, size=(CLUSTERS, COLUMNS))
    along, bend = rng.normal(size=(2, CLUSTERS, COLUMNS))
    t = rng.uniform(-1.5, 1.5, size=n)[:, None]
    X = start[cluster] + t * along[cluster] + (t**2 - 1) * bend[cluster]
    return (X + rng.normal(scale=1.5, size=X.shape)).astype(np.float32), cluster == 0


def run(arguments: argparse.Namespace) -> list[Figure]:
    scale = 20 if arguments.quick else 1
    n, n_labels = ROWS // scale, LABELS // scale
    X, truth = made(n)
    rng = np.random.default_rng(1)
    labelled = rng.permutation(n)[:n_labels]
    y = np.full(n, -1)
    y[labelled] = truth[labelled]
    hidden = rng.permutation(np.setdiff1d(np.arange(n), labelled))[: SCORED // scale]
    before = peak_memory()
    wall, cpu = time.perf_counter(), time.process_time()
    model = GKMClassifier(
        loss="logistic",
        class_weight="balanced",
        solver="newton",
        C=10.0,
        C_graph=0.1,
        random_state=0,
        verbose=1,
        graph=KNN(n_neighbors=6),
    ).fit(X, y)
    probabilities = model.predict_proba(X)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if not np.isfinite(probabilities).all():
        raise ArithmeticError("a probability is not finite")
    figures = [
        Figure("fit and probabilities of all rows, wall", wall / 60, "min", 10, at_least=False),
        Figure("the same, CPU", cpu / 60, "min"),
        Figure("peak memory", peak_memory() / 2**30, "GB", 4, at_least=False),
        Figure("of it before the fit", before / 2**30, "GB"),
    ]

    def balanced(predicted: np.ndarray) -> float:
        return 100 * balanced_accuracy_score(truth[hidden], predicted)

    ours = balanced(probabilities[hidden].argmax(axis=1))
    for name, weights in (("SVC", None), ("SVC, balanced classes", "balanced")):
        svc = SVC(class_weight=weights).fit(X[labelled], truth[labelled])
        score = balanced(svc.predict(X[hidden]))
        figures.append(Figure(f"balanced accuracy, {name} on the labelled rows", score, "%"))
    figures.append(Figure("balanced accuracy, graphkm", ours, "%", score))
    return figures


if __name__ == "__main__":
    script(run)

"""What a few rows far from all others do to a fit.

    python benchmarks/outliers.py [--quick]

Two moons of 2,000 rows, 40 of them labelled. Some unlabelled rows are moved far away, in random
directions. The script prints the accuracy on the other rows: of `GKMClassifier` with its defaults,
and with a given width of the kernel; of `GKMClassifierCV`; of `SemiSupervisedClassifier` with its
defaults, and with an SVC as its only model; and of an SVC on the labels alone.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from _common import Figure, script, table
from graphkm import GKMClassifier, GKMClassifierCV, SemiSupervisedClassifier

N, LABELS = 2000, 40
FIXED: dict[str, Any] = {"C": 1.0, "C_graph": 0.1, "gamma": 2.0, "random_state": 0}
CASES = ((0, 0.0), (1, 1e2), (1, 1e3), (1, 1e6), (1, 1e12), (20, 1e6), (100, 1e6), (101, 1e6))


def models() -> dict[str, Any]:
    return {
        "GKMClassifier": GKMClassifier(random_state=0),
        "gamma=2": GKMClassifier(**FIXED),
        "gamma=2, double": GKMClassifier(precision="double", **FIXED),
        "gamma=2, sgd": GKMClassifier(solver="sgd", **FIXED),
        "GKMClassifierCV": GKMClassifierCV(random_state=0),
        "SemiSupervisedClassifier": SemiSupervisedClassifier(random_state=0),
        "SVC and graph": SemiSupervisedClassifier(SVC(), random_state=0),
        "SVC, labels alone": SVC(gamma=2.0),
    }


def accuracy(name: str, model: Any, X: np.ndarray, truth: np.ndarray, far: int) -> float:
    y = np.where(np.arange(N) < LABELS, truth, -1)
    if name == "SVC, labels alone":
        model.fit(X[:LABELS], y[:LABELS])
    else:
        model.fit(X, y)
    return float(model.score(X[: N - far], truth[: N - far]))


def run(arguments: argparse.Namespace) -> list[Figure]:
    warnings.simplefilter("ignore")  # about far rows, and parts of a graph without labels
    rows, figures = [], []
    for far, size in CASES[:2] if arguments.quick else CASES:
        X, truth = make_moons(N, noise=0.1, random_state=0)
        if far:
            X[N - far :] = size * np.random.default_rng(0).normal(size=(far, 2))
        what = f"{far} at {size:g}" if far else "none"
        found = {name: accuracy(name, model, X, truth, far) for name, model in models().items()}
        rows.append([what, *(f"{value:.1%}" for value in found.values())])
        print(" | ".join(rows[-1]), flush=True)
        figures += [Figure(f"outliers: {what}, {name}", value) for name, value in found.items()]
    print("\n" + table(["outliers", *models()], rows))
    return figures


if __name__ == "__main__":
    script(run)

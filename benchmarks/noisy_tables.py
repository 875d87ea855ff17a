"""Noisy tables, on which a default must not fall far behind an SVC on the labels alone.

    python benchmarks/noisy_tables.py

"flipped": 1,000 rows of `make_classification` with 24 columns, 70 % of one class, and three labels
in ten drawn by lot; 200 rows are labelled. "linear": 12 Gaussian columns and a noisy linear target,
of 1,000 or 2,500 rows; 120 are labelled. The script takes the accuracy of
`SemiSupervisedClassifier()` on the other rows less that of a default SVC. It prints the mean and
the worst difference over 25 seeds (three with --quick), in how many seeds it is more than five
points below, and how often a model predicts one class only.
"scaled" has a StandardScaler before both.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from _common import Figure, script, table
from graphkm import SemiSupervisedClassifier

SEEDS, FEW_SEEDS = 25, 3
FAR = 0.05  # behind the SVC
HEADERS = ["table", "ours", "SVC", "mean", "worst", "far below", "one class (ours, SVC)"]


def flipped(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    X, y = make_classification(1000, 24, flip_y=0.3, weights=[0.7], random_state=seed)
    return X, y, 200


def linear(seed: int, n: int = 1000) -> tuple[np.ndarray, np.ndarray, int]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    f = X @ rng.normal(size=12)
    return X, (f + f.std() * rng.normal(size=n) > 0).astype(int), 120


TABLES = {
    "flipped, 1,000 rows": flipped,
    "linear, 1,000 rows": linear,
    "linear, 2,500 rows": lambda seed: linear(seed, 2500),
}


def answers(model: Any, X: np.ndarray, y: np.ndarray, shown: int) -> np.ndarray:
    """Return what a model says of the rows without a label."""
    if isinstance(model, SVC):
        return model.fit(X[:shown], y[:shown]).predict(X[shown:])
    return model.fit(X, np.where(np.arange(len(y)) < shown, y, -1)).predict(X[shown:])


def compare(make: Any, scaled: bool, seeds: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the accuracies of ours and SVC, and whether each knows one class only, by seed."""
    right, alone = np.empty((seeds, 2)), np.empty((seeds, 2), dtype=bool)
    for seed in range(seeds):
        X, y, shown = make(seed)
        order = np.random.default_rng(seed).permutation(len(y))
        X, y = X[order], y[order]
        if scaled:
            X = StandardScaler().fit_transform(X)
        for place, model in enumerate((SemiSupervisedClassifier(random_state=0), SVC())):
            said = answers(model, X, y, shown)
            right[seed, place] = np.mean(said == y[shown:])
            alone[seed, place] = len(np.unique(said)) == 1
    return right, alone


def run(arguments: argparse.Namespace) -> list[Figure]:
    warnings.simplefilter("ignore")  # of labels that contradict each other
    seeds, rows, figures = FEW_SEEDS if arguments.quick else SEEDS, [], []
    for name, make in TABLES.items():
        for kind in ("as it is", "scaled"):
            right, alone = compare(make, kind == "scaled", seeds)
            gain, what = right[:, 0] - right[:, 1], f"{name}, {kind}"
            (ours, theirs), (one, other) = right.mean(axis=0), alone.sum(axis=0)
            far = int(np.sum(gain < -FAR))
            cells = [
                f"{ours:.1%}",
                f"{theirs:.1%}",
                *(f"{100 * g:+.1f}" for g in (gain.mean(), gain.min())),
            ]
            rows.append([what, *cells, f"{far} of {seeds}", f"{one}, {other}"])
            print(" | ".join(rows[-1]), flush=True)
            figures += [
                Figure(f"{what}: mean difference", 100 * gain.mean(), "points"),
                Figure(f"{what}: worst difference", 100 * gain.min(), "points"),
                Figure(f"{what}: one class only", int(one), "times"),
            ]
    print("\n" + table(HEADERS, rows) + "\n")
    return figures


if __name__ == "__main__":
    script(run)

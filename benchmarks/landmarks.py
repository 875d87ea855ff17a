"""Which landmarks serve best: J at its minimum and accuracy, for three ways to choose them.

Two thousand rows of each set, 100 labels, 5 seeds; J relative to the exact problem's (all rows are
landmarks), for 200 and 600 landmarks, and seconds of CPU. Lower J is better.

    python benchmarks/landmarks.py
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits, make_moons, make_swiss_roll

from _common import Figure, SkipError, load_libsvm, script, table
from graphkm import KNN, GKMClassifier, Newton
from graphkm.solvers.landmarks import RULES


def sets():
    yield "two moons", *make_moons(2000, noise=0.15, random_state=0)
    X, t = make_swiss_roll(2000, noise=0.5, random_state=0)
    yield "swiss roll", X, (t > np.median(t)).astype(int)
    X, y = load_digits(return_X_y=True)
    yield "digits", X / 16, (y % 2)
    try:
        X, y = load_libsvm("cod-rna_scale.libsvm.bz2", 8)
    except SkipError as reason:
        print(f"cod-rna skipped: {reason}")
        return
    yield "cod-rna", X[:2000].toarray(), (y[:2000] > 0).astype(int)


def fit(X, y, truth, seed, **options):
    hidden = y < 0
    start = time.process_time()
    model = GKMClassifier(
        C=10.0,
        C_graph=10.0,
        solver=Newton(**options),
        random_state=seed,
        graph=KNN(n_neighbors=10),
    ).fit(X, y)
    taken = time.process_time() - start
    return model.objective_, (model.predict(X[hidden]) == truth[hidden]).mean(), taken


def run(arguments: argparse.Namespace) -> list[Figure]:
    warnings.simplefilter("ignore")
    rows, means = [], {rule: [] for rule in RULES}
    for name, X, truth in sets():
        y = np.full(len(truth), -1)
        known = np.random.default_rng(0).permutation(len(truth))[:100]
        y[known] = truth[known]
        exact, accuracy, taken = fit(X, y, truth, 0, n_landmarks=len(y))
        rows.append([name, "all rows", len(y), "1.000", f"{100 * accuracy:.1f}", f"{taken:.2f}"])
        for count in (200, 600):
            for rule in RULES:
                seeds = range(2 if arguments.quick else 5)
                found = [
                    fit(X, y, truth, seed, n_landmarks=count, landmarks=rule) for seed in seeds
                ]
                J, accuracy, taken = np.mean(found, axis=0)
                means[rule].append(J / exact)
                cells = [f"{J / exact:.3f}", f"{100 * accuracy:.1f}", f"{taken:.2f}"]
                rows.append([name, rule, count, *cells])
    print(table(["set", "landmarks", "number", "J / exact J", "accuracy %", "CPU s"], rows))
    return [Figure(f"mean J / exact J, {rule}", float(np.mean(means[rule]))) for rule in RULES]


if __name__ == "__main__":
    script(run)

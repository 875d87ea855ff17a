"""Landmarks: which serve best, and whether a graph that joins them helps a stream.

    python benchmarks/landmarks.py [--part rules,graph] [--rows 15000] [--landmarks 300] [--quick]

"rules": J at its minimum and accuracy, for three ways to choose landmarks. Two thousand rows of
each set, 100 labels, 5 seeds; J relative to the exact problem's (all rows are landmarks), for 200
and 600 landmarks, and seconds of CPU. Lower J is better.

"graph": a stream of sums takes unlabelled rows as landmarks, and for nothing else. A graph over the
landmarks could make f smooth along the rows: its penalty would be K + c K L K instead of K, with L
the Laplacian of their ten nearest neighbours. This prints the accuracy on new rows for several c,
in units in which both terms are equally large. C is chosen for each by the two halves of the sums.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits, make_moons, make_swiss_roll

import stream_sets
from _common import Figure, SkipError, load_libsvm, script, table
from graphkm import KNN, GKMClassifier, Newton
from graphkm.estimators.classes import winning_class
from graphkm.graphs import RowNodes
from graphkm.kernels import SquaredExponential, resolve_gamma
from graphkm.neighbours.index import NeighbourIndex
from graphkm.ridge.sums import RowSums, add, add_rows, choose_C, half_of, no_rows, solve
from graphkm.solvers.landmarks import RULES

STRENGTHS = (0.0, 1.0, 10.0, 100.0)
NEW = 5000
FOR_CLASSES = 3.0  # what streams multiply the chosen C by


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


def rules(arguments: argparse.Namespace) -> list[Figure]:
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


def accuracies(name: str, n: int, m: int, seed: int) -> list[float]:
    """Return the accuracy on new rows for every strength of the graph."""
    rng = np.random.default_rng(seed)
    stream = getattr(stream_sets, name)(n + NEW, rng)
    X, truth = np.asarray(stream.X, dtype=np.float64), stream.truth
    K = len(np.unique(truth))
    labeled = np.flatnonzero(rng.random(n) < stream.share)
    targets = 2.0 * (truth[labeled][:, None] == np.arange(1 if K == 2 else 0, K)) - 1.0
    landmarks = X[rng.permutation(n)[:m]]
    kernel = SquaredExponential(gamma=resolve_gamma("spread", X[:1000]))
    features, judges = kernel(X[labeled], landmarks), half_of(labeled)

    def summed(which: np.ndarray) -> RowSums:
        empty = no_rows(m, targets.shape[1])
        return add_rows(empty, features[which], targets[which], np.ones(int(which.sum())))

    one, other = summed(judges), summed(~judges)
    own = kernel(landmarks, landmarks)
    graph = RowNodes.graph(NeighbourIndex(landmarks), 10, 1.0).laplacian.toarray()
    bent = own @ graph @ own
    found = []
    for strength in STRENGTHS:
        penalty = np.asfortranarray(own + strength * np.trace(own) / np.trace(bent) * bent)
        C = FOR_CLASSES * choose_C(one, other, penalty)
        said = kernel(X[n:], landmarks) @ solve(add(one, other), penalty, C)
        found.append(float(np.mean(winning_class(said) == truth[n:])))
    return found


def graph(arguments: argparse.Namespace) -> list[Figure]:
    n = min(arguments.rows, 2000) if arguments.quick else arguments.rows
    figures = []
    for name in (
        ("moons", "blobs", "rare") if arguments.quick else ("moons", "blobs", "rare", "mnist")
    ):
        seeds = range(1 if arguments.quick else 3)
        each = [accuracies(name, n, arguments.landmarks, seed) for seed in seeds]
        for strength, value in zip(STRENGTHS, np.mean(each, axis=0), strict=True):
            figures.append(Figure(f"{name}, graph of strength {strength:g}", float(value)))
    return figures


PARTS = {"rules": rules, "graph": graph}


def run(arguments: argparse.Namespace) -> list[Figure]:
    parts = arguments.part.split(",")
    return [figure for part in parts for figure in PARTS[part](arguments)]


if __name__ == "__main__":
    script(
        run,
        part={"default": ",".join(PARTS), "help": "rules, graph"},
        rows={"type": int, "default": 15_000},
        landmarks={"type": int, "default": 300},
    )

"""Sums over landmarks, with and without a graph that joins the landmarks.

A stream of sums uses unlabelled rows as landmarks only. A graph over the
landmarks could make f smooth along the rows: its penalty would be K + c K L K instead of K, with L
the Laplacian of their ten nearest neighbours. This prints the accuracy on new rows for several c,
in units in which both terms are equally large. C is chosen for each by the two halves of the sums.

    python benchmarks/landmark_graph.py [--rows 15000] [--landmarks 300]
"""

from __future__ import annotations

import argparse

import numpy as np

import stream_sets
from _common import Figure, script
from graphkm.estimators.classes import winning_class
from graphkm.graphs import RowNodes
from graphkm.kernels import SquaredExponential, resolve_gamma
from graphkm.neighbours.index import NeighbourIndex
from graphkm.ridge.sums import RowSums, add, add_rows, choose_C, half_of, no_rows, solve

STRENGTHS = (0.0, 1.0, 10.0, 100.0)
NEW = 5000
FOR_CLASSES = 3.0  # streams of classes multiply the chosen C by this


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


def run(arguments: argparse.Namespace) -> list[Figure]:
    figures = []
    for name in ("moons", "blobs", "rare", "mnist"):
        each = [accuracies(name, arguments.rows, arguments.landmarks, seed) for seed in range(3)]
        for strength, value in zip(STRENGTHS, np.mean(each, axis=0), strict=True):
            figures.append(Figure(f"{name}, graph of strength {strength:g}", float(value)))
    return figures


if __name__ == "__main__":
    script(
        run,
        rows={"type": int, "default": 15_000},
        landmarks={"type": int, "default": 300},
    )

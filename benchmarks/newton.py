"""The batch solver's cost: where its time goes, how it grows, and what a grid adds.

Three figures for p = 2 on made data of COVTYPE's width (54 columns, ten clusters), with the kNN
graph given and 1,000 landmarks:

- the share of a fit's CPU time inside BLAS, LAPACK and the fused kernel product at 100,000 rows,
  on one thread: the calls into them are timed one by one (small products aside);
- the exponent of CPU time in the number of rows, from 25,000 to 200,000: 1 means twice the rows
  take twice the time;
- a grid of 25 pairs of C and C_graph at one gamma against a single fit, the search's own fit
  included.

    python benchmarks/newton.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from _common import Figure, script
from graphkm import GKMClassifier, GKMClassifierCV, IteratedLaplacian, Newton
from graphkm.backends.native import NativeStore
from graphkm.graphs import knn_graph
from graphkm.solvers import graph_kernel, landmark_features

LANDMARKS, COLUMNS, CLUSTERS = 1000, 54, 10


def made(n: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return rows, labels with 200 of them known, and the graph's weights."""
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=1.5, size=(CLUSTERS, COLUMNS))
    cluster = rng.integers(CLUSTERS, size=n)
    X = (centres[cluster] + rng.normal(size=(n, COLUMNS))).astype(np.float32)
    y = np.full(n, -1)
    y[:200] = cluster[:200] % 2
    graph = knn_graph(X, y >= 0, 6, "local", n_jobs=-1)
    return X, y, graph.to_sparse()


def fit(X: np.ndarray, y: np.ndarray, W: Any) -> GKMClassifier:
    model = GKMClassifier(
        solver=Newton(n_landmarks=LANDMARKS),
        random_state=0,
        smoothness=IteratedLaplacian(degree=2),
    )
    return model.fit(X, y, affinity=W)


class Stopwatch:
    """Counts the CPU time inside the functions it wraps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inside = False

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time counted, nested calls once."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return function(*args, **kwargs)
            self._inside, start = True, time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.process_time() - start
                self._inside = False

        return timed


@contextmanager
def watched() -> Iterator[Stopwatch]:
    """Time every call into BLAS, LAPACK and the fused product while inside."""
    watch = Stopwatch()
    places = [
        (landmark_features, "product"),
        (landmark_features, "dpstrf"),
        (landmark_features, "solve_triangular"),
        (graph_kernel, "solve_triangular"),
        (graph_kernel, "safe_cholesky"),
        (graph_kernel, "qr"),
    ]
    kept = [(place, name, getattr(place, name)) for place, name in places]
    values = NativeStore.values
    for place, name, function in kept:
        setattr(place, name, watch.wrap(function))
    NativeStore.values = watch.wrap(values)
    try:
        yield watch
    finally:
        NativeStore.values = values
        for place, name, function in kept:
            setattr(place, name, function)


def cpu(function: Callable[[], Any]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def run(arguments: argparse.Namespace) -> list[Figure]:
    quick = arguments.quick
    sizes = [2500, 5000, 10000] if quick else [25_000, 50_000, 100_000, 200_000]
    figures = []
    with threadpool_limits(1):
        times = {}
        for n in sizes:
            data = made(n)
            times[n] = min(cpu(lambda data=data: fit(*data)) for _ in range(2))
            figures.append(Figure(f"fit of {n:,} rows", times[n], "CPU s"))
            if n == sizes[-2]:
                with watched() as watch:
                    whole = cpu(lambda data=data: fit(*data))
                share = 100 * watch.seconds / whole
                figures.append(Figure(f"in BLAS or the product, {n:,} rows", share, "%", 60))
        slope = np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0]
        figures.append(Figure("exponent of time in rows", slope, "", 1.1, at_least=False))
        X, y, W = made(sizes[0])
        solver = Newton(n_landmarks=LANDMARKS)
        search = GKMClassifierCV(
            GKMClassifier(solver=solver, class_weight="balanced"),
            Cs=np.logspace(-1, 3, 5),
            C_graphs=np.logspace(0, 4, 5),
            gammas=["spread"],
            graphs=[(6, 2)],
            random_state=0,
        )
        grid = min(cpu(lambda: search.fit(X, y, affinity=W)) for _ in range(2))
        figures.append(
            Figure(
                f"grid of 25 / one fit, {sizes[0]:,} rows",
                grid / times[sizes[0]],
                "x",
                3,
                at_least=False,
            )
        )
    return figures


if __name__ == "__main__":
    script(run)

"""Fits with `graphkm.dask` on a cluster of worker processes on this machine.

The rows are made on the workers: two classes, each of twenty closed curves in some dimensions with
noise. A few rows are labelled. Measured are

- seconds of the fit, and CPU seconds of the workers, by pass and for each million rows;
- the largest memory of a worker;
- accuracy on 20,000 new rows, beside that of two rivals, which are always reported: the local
  estimator with a kNN graph on a sample of 100,000 rows and all labels, and the kernel machine on
  the labels alone.

``--compare`` fits the local estimator with the same anchors to all rows, which must fit in memory,
and reports how far its field and its decisions differ. ``--data mnist`` takes MNIST from the data
folder (raw pixels, 63,000 rows for training) instead.

    python benchmarks/dask_scale.py --rows 1000000 --anchors 2000 --labels 500 --workers 2
    python benchmarks/dask_scale.py --data mnist --anchors 20000 --labels 100
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask.utils import key_split
from distributed import Client, LocalCluster, get_task_stream

import graphkm
from _common import Figure, script
from fields.sets import SETS, split
from graphkm.dask import GraphCorrectedClassifier
from graphkm.graphs import Anchors

CURVES, HARMONICS, NOISE = 40, 3, 0.5
NEW, SAMPLE = 20_000, 100_000
MNIST_TARGET = 0.944


def made_rows(start: int, stop: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of curves by their numbers, and their classes."""
    shape = np.random.default_rng(0).normal(size=(CURVES, 2 * HARMONICS, d)) / np.sqrt(HARMONICS)
    rng = np.random.default_rng([1, start])
    curve, t = rng.integers(CURVES, size=stop - start), rng.uniform(0, 2 * np.pi, stop - start)
    waves = [wave(k * t) for k in range(1, HARMONICS + 1) for wave in (np.cos, np.sin)]
    X = np.einsum("ni,nid->nd", np.array(waves).T, shape[curve])
    X += NOISE * rng.normal(size=X.shape)
    return X.astype(np.float32), curve % 2


def place_of(block_info: Any) -> tuple[int, int]:
    start, stop = block_info[None]["array-location"][0]
    return start, stop


def block_of_rows(d: int, block_info: Any = None) -> np.ndarray:
    return made_rows(*place_of(block_info), d)[0]


def block_of_labels(d: int, every: int, block_info: Any = None) -> np.ndarray:
    start, stop = place_of(block_info)
    return np.where(np.arange(start, stop) % every == 0, made_rows(start, stop, d)[1], -1)


def block_of_file(path: str, block_info: Any = None) -> np.ndarray:
    start, stop = place_of(block_info)
    return np.array(np.load(path, mmap_mode="r")[start:stop])


class Made:
    """Rows made on the workers."""

    def __init__(self, n: int, d: int, n_labeled: int, size: int) -> None:
        chunks = tuple(min(size, n - start) for start in range(0, n, size))
        every = max(1, n // n_labeled)
        self.rows = da.map_blocks(
            block_of_rows, d=d, chunks=(chunks, (d,)), dtype=np.float32, meta=np.empty((0, 0))
        )
        self.labels = da.map_blocks(
            block_of_labels, d=d, every=every, chunks=(chunks,), dtype=np.int64, meta=np.empty(0)
        )
        self.new, self.truth = made_rows(10**12, 10**12 + NEW, d)


class Mnist:
    """MNIST in a file, from which workers read their rows."""

    def __init__(self, labels: str, size: int, folder: Path) -> None:
        X, y = SETS["mnist"]()
        train, test, labeled = split(y, labels, seed=0)
        self.hidden, self.own = ~labeled, y[train]
        np.save(folder / "rows.npy", np.ascontiguousarray(X[train], dtype=np.float32))
        chunks = tuple(min(size, len(train) - start) for start in range(0, len(train), size))
        self.rows = da.map_blocks(
            block_of_file,
            path=str(folder / "rows.npy"),
            chunks=(chunks, X.shape[1:]),
            dtype=np.float32,
            meta=np.empty((0, 0), np.float32),
        )
        self.labels = da.from_array(np.where(labeled, y[train], -1), chunks=(chunks,))
        self.new, self.truth = np.asarray(X[test], dtype=np.float32), y[test]


def largest_memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # GiB


def fit(data: Any, arguments: argparse.Namespace, figures: list[Figure]) -> Any:
    """Fit on a cluster, and add what it cost."""
    model = GraphCorrectedClassifier(n_anchors=arguments.anchors, random_state=0)
    n = data.rows.shape[0]
    with (
        LocalCluster(
            n_workers=arguments.workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(made_rows, 0, 10, 2)  # imports
        before = client.run(time.process_time)
        with get_task_stream(client) as stream:
            start = time.perf_counter()
            model.fit(data.rows, data.labels)
            wall = time.perf_counter() - start
        after = client.run(time.process_time)
        cpu = sum(after[worker] - before[worker] for worker in after)
        memory = max(client.run(largest_memory).values())
        seconds: dict[str, float] = defaultdict(float)
        for task in stream.data:
            for part in task["startstops"]:
                if part["action"] == "compute":
                    seconds[key_split(task["key"])] += part["stop"] - part["start"]
        for name, value in sorted(seconds.items(), key=lambda item: -item[1])[:8]:
            print(f"{name}: {value:.1f} s in tasks")
        start = time.perf_counter()
        answers = model.predict(data.rows)
        ones = np.bincount(answers.compute()) if n <= 10**6 else None
        print(f"predict: {time.perf_counter() - start:.1f} s, classes {ones}")
        if hasattr(data, "hidden"):
            right = (answers.compute() == data.own)[data.hidden].mean()
            figures.append(Figure("hidden rows", right, target=MNIST_TARGET))
    for power in (7, 8, 9):
        hours = cpu / n * 10**power / 3600
        print(f"10^{power} such rows, on paper: {hours:.2g} CPU hours")
    figures += [
        Figure("fit", wall, "s"),
        Figure("CPU of the workers per million rows", cpu / n * 1e6, "s"),
        Figure("largest memory of a worker", memory, "GiB", target=1.0, at_least=False),
    ]
    return model


def rivals(data: Any, model: Any, figures: list[Figure]) -> None:
    """Add the accuracy of the model, and of what needs no cluster."""
    new, truth = data.new, data.truth
    local = model.to_local()
    target = MNIST_TARGET if hasattr(data, "hidden") else None
    figures.append(Figure("new rows", np.mean(local.predict(new) == truth), target=target))
    figures.append(
        Figure("labels alone, new rows", np.mean(local.estimator_.predict(new) == truth))
    )
    y = data.labels.compute()
    n = len(y)
    sample = np.random.default_rng(0).permutation(n)[:SAMPLE]
    kept = np.union1d(np.flatnonzero(y >= 0), sample)
    start = time.perf_counter()
    X = np.concatenate(
        [
            np.asarray(block.compute(scheduler="sync"))[kept[(kept >= low) & (kept < high)] - low]
            for block, low, high in blocks(data.rows)
        ]
    )
    rival = graphkm.GraphCorrectedClassifier(random_state=0).fit(X, y[kept])
    figures.append(Figure(f"sample of {len(kept):,} rows, fit", time.perf_counter() - start, "s"))
    figures.append(Figure("sample, new rows", np.mean(rival.predict(new) == truth)))


def blocks(rows: Any) -> Any:
    low = 0
    for number, size in enumerate(rows.chunks[0]):
        yield rows.blocks[number], low, low + size
        low += size


def compare(data: Any, model: Any, arguments: argparse.Namespace, figures: list[Figure]) -> None:
    """Add how far the local estimator with the same anchors differs."""
    X, y = data.rows.compute(scheduler="sync"), data.labels.compute(scheduler="sync")
    local = graphkm.GraphCorrectedClassifier(
        graph=Anchors(n_anchors=arguments.anchors), random_state=0
    )
    start = time.perf_counter()
    local.fit(X, y)
    figures.append(Figure("local fit to all rows", time.perf_counter() - start, "s"))
    one, two = model.to_local(), local
    if two.field_ is not None:
        size = np.abs(two.field_.values).max()
        apart = float(np.abs(one.field_.values - two.field_.values).max() / size)
        figures.append(Figure("field, largest relative difference", apart, "", 1e-6, False))
    same = np.mean(one.predict(data.new) == two.predict(data.new))
    figures.append(Figure("new rows with the same decision", same, "", 1.0))


def run(arguments: argparse.Namespace) -> list[Figure]:
    if arguments.quick:
        arguments.rows, arguments.anchors, arguments.size = 20_000, 200, 5000
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as folder:
        if arguments.data == "mnist":
            data: Any = Mnist(str(arguments.labels), arguments.size, Path(folder))
        else:
            data = Made(arguments.rows, arguments.features, arguments.labels, arguments.size)
        model = fit(data, arguments, figures)
        print(f"chosen: {model.best_params_}, held-out gain {model.unlabeled_gain_:.4f}")
        if not arguments.alone:
            rivals(data, model, figures)
        if arguments.compare:
            compare(data, model, arguments, figures)
    return figures


if __name__ == "__main__":
    script(
        run,
        data={"choices": ["made", "mnist"], "default": "made"},
        rows={"type": int, "default": 1_000_000},
        features={"type": int, "default": 20},
        labels={"type": int, "default": 500},
        anchors={"type": int, "default": 2000},
        workers={"type": int, "default": 2},
        size={"type": int, "default": 50_000, "help": "rows of a partition"},
        compare={"action": "store_true", "help": "with the local estimator on all rows"},
        alone={"action": "store_true", "help": "without the rivals"},
    )

"""A fit on a cluster of processes, and the rivals that need none."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import numpy as np
from dask.utils import key_split
from distributed import Client, LocalCluster, get_task_stream

import graphkm
from _common import Figure, peak_memory
from dask_scale.rows import gathered, made_rows

SAMPLE = 100_000
PASSES = ("find-labels", "sum-rows", "join-anchors")


class Cost:
    """What a fit took.

    Attributes: seconds of the fit, CPU seconds of all workers, the largest memory of a worker in
    GiB, and seconds from the first task of the passes over rows to the last.
    """

    def __init__(self, wall: float, cpu: float, memory: float, stream: list[Any]) -> None:
        self.wall, self.cpu, self.memory = wall, cpu, memory
        seconds: dict[str, float] = defaultdict(float)
        spans: dict[str, list[float]] = defaultdict(list)
        for task in stream:
            name = key_split(task["key"]).removeprefix("graphkm-")
            for part in task["startstops"]:
                if part["action"] == "compute":
                    seconds[name] += part["stop"] - part["start"]
                    spans[name] += [part["start"], part["stop"]]
        for name, value in sorted(seconds.items(), key=lambda item: -item[1])[:8]:
            print(f"{name}: {value:.1f} s in tasks")
        used = [moment for name in PASSES for moment in spans[name]]
        self.passes = max(used) - min(used)


def fit(model: Any, data: Any, n_workers: int) -> tuple[Cost, Any]:
    """Fit on a cluster, and return what it took, and answers for all rows if these are few."""
    cluster = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, **cluster) as started, Client(started) as client:
        client.run(made_rows, 0, 10, 2)  # imports
        before = client.run(time.process_time)
        with get_task_stream(client) as stream:
            start = time.perf_counter()
            model.fit(data.rows, data.labels)
            wall = time.perf_counter() - start
        after = client.run(time.process_time)
        cpu = sum(after[worker] - before[worker] for worker in after)
        memory = max(client.run(peak_memory).values()) / 2**30
        start = time.perf_counter()
        answers = model.predict(data.rows).compute() if data.rows.shape[0] <= 10**6 else None
        print(f"predict: {time.perf_counter() - start:.1f} s", flush=True)
    return Cost(wall, cpu, memory, stream.data), answers


def sampled(data: Any, estimator: Any = "auto") -> tuple[float, Any, int]:
    """Fit the local estimator to a sample of 100,000 rows, and return seconds and model.

    All labels are in it, unless they are more than rows of the sample.
    """
    y = data.labels.compute()
    labeled = np.flatnonzero(y >= 0)
    kept = np.random.default_rng(0).permutation(len(y))[:SAMPLE]
    kept = np.sort(kept) if len(labeled) > SAMPLE else np.union1d(labeled, kept)
    X = gathered(data, kept)
    start = time.perf_counter()
    rival = graphkm.SemiSupervisedClassifier(estimator, random_state=0).fit(X, y[kept])
    return time.perf_counter() - start, rival, len(kept)


def labels_alone(data: Any, estimator: Any = "auto") -> Any:
    """Return the models of the labelled rows, without a graph."""
    y = data.labels.compute()
    labeled = np.flatnonzero(y >= 0)
    model = graphkm.SemiSupervisedClassifier(estimator, graph=None, random_state=0)
    return model.fit(gathered(data, labeled), y[labeled])


def accuracies(name: str, model: Any, data: Any, answers: Any, **target: Any) -> list[Figure]:
    """Return the accuracy on new rows, and on hidden ones where their labels are known."""
    new = float(np.mean(model.predict(data.new) == data.truth))
    figures = [Figure(f"{name}, new rows", new, **target)]
    if answers is not None and hasattr(data, "hidden"):
        right = float((answers == data.own)[data.hidden].mean())
        figures.insert(0, Figure(f"{name}, hidden rows", right, **target))
    return figures

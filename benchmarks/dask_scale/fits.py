"""A fit on a cluster of processes, and the rivals that need none."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from dask import delayed
from dask.utils import key_split
from distributed import Client, LocalCluster, get_task_stream

import graphkm
from _common import Figure, peak_memory
from dask_scale.rows import gathered, made_rows
from graphkm.dask.passes import Passes

SAMPLE = 100_000
PASSES = ("find-labels", "sum-rows", "join-anchors")
KINDS = ("labels", "move", "join", "members")


class Cost:
    """What a fit took.

    Parameters
    ----------
    wall : float
        Seconds of the fit.
    cpu : dict
        CPU seconds of all workers by pass: "labels", "move" (all moves together), "join", and
        "members" for what one worker does with the labelled rows.
    memory : dict
        The most memory in GiB that a "worker" and the "client" have held.
    sent : dict
        Megabytes that workers sent each other, by the same passes.
    joins : float
        Megabytes of the graph of the anchors.
    passes : float
        Seconds from the first task of the passes over rows to the last.
    """

    def __init__(
        self,
        wall: float,
        clocks: Clocks,
        memory: dict[str, float],
        stream: list[Any],
    ) -> None:
        self.wall, self.memory, self.joins = wall, memory, clocks.joins
        self.cpu, self.sent = ({k: own[k] for k in KINDS} for own in (clocks.cpu, clocks.sent))
        used = [
            moment
            for task in stream
            for part in task["startstops"]
            if part["action"] == "compute"
            and key_split(task["key"]).removeprefix("graphkm-") in PASSES
            for moment in (part["start"], part["stop"])
        ]
        self.passes = max(used) - min(used)


class Clocks:
    """CPU seconds of all workers and what they send, by the methods of `Passes` that wait."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.cpu: dict[str, float] = defaultdict(float)
        self.sent: dict[str, float] = defaultdict(float)
        self.joins = 0.0

    def now(self) -> np.ndarray:
        """Return the CPU seconds of all workers so far, and the megabytes that they sent."""
        return np.sum(list(self.client.run(spent).values()), axis=0)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Measure what runs meanwhile."""
        methods = {"known": "labels", "_moved": "move", "_joins": "join"}
        before = {name: getattr(Passes, name) for name in methods}
        for name, called in methods.items():
            setattr(Passes, name, self._timed(before[name], called))
        start = self.now()
        try:
            yield
        finally:
            for name, method in before.items():
                setattr(Passes, name, method)
        taken = [sum(own.values()) for own in (self.cpu, self.sent)]
        self.cpu["members"], self.sent["members"] = self.now() - start - taken

    def _timed(self, method: Any, called: str) -> Any:
        def work(*args: Any) -> Any:
            start = self.now()
            found = method(*args)
            cpu, sent = self.now() - start
            self.cpu[called] += cpu
            self.sent[called] += sent
            if called == "join":
                self.joins = self.client.compute(delayed(megabytes)(found)).result()
            print(f"{called}: {cpu:.1f} CPU seconds, {sent:.2f} MB sent", flush=True)
            return found

        return work


def spent(dask_worker: Any) -> tuple[float, float]:
    """Return the CPU seconds of a worker so far, and the megabytes that it sent to others."""
    return time.process_time(), dask_worker.transfer_outgoing_bytes_total / 1e6


def megabytes(matrix: Any) -> float:
    return float(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes) / 1e6


def fit(model: Any, data: Any, n_workers: int, memory: str | None = None) -> tuple[Cost, Any]:
    """Fit on a cluster, and return what it took, and answers for all rows if these are few."""
    cluster = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    cluster |= {} if memory is None else {"memory_limit": memory}
    with LocalCluster(n_workers=n_workers, **cluster) as started, Client(started) as client:
        client.run(made_rows, 0, 10, 2)  # imports
        clocks = Clocks(client)
        with get_task_stream(client) as stream, clocks.watching():
            start = time.perf_counter()
            model.fit(data.rows, data.labels)
            wall = time.perf_counter() - start
        peaks = {"worker": max(client.run(peak_memory).values()), "client": peak_memory()}
        start = time.perf_counter()
        answers = model.predict(data.rows).compute() if data.rows.shape[0] <= 10**5 else None
        print(f"predict: {time.perf_counter() - start:.1f} s", flush=True)
    held = {name: value / 2**30 for name, value in peaks.items()}
    return Cost(wall, clocks, held, stream.data), answers


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

"""A fit over partitions: passes over the rows, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from dask.utils import format_bytes
from numpy.typing import NDArray

from ..graphs import Anchors
from ..graphs.anchors import drawn_rows
from ..machines.class_weights import ClassWeight
from ..machines.labels import checked_classes, refuse_ambiguous
from ..semi.block_rows import find_known, joined
from .collections import Partitioned
from .many_labels import ManyLabels, bytes_of
from .runner import Runner
from .tasks import (
    add_joins,
    add_sums,
    first_anchors,
    fit_model,
    graph_of,
    join_anchors,
    move_anchors,
    nodes_at,
    sum_by_anchor,
    summary_of,
)


class Labels(NamedTuple):
    """How many labels there are."""

    counts: list[int]
    """Of every partition."""
    n_bytes: int
    """What the labelled rows take."""
    n_classes: int

    def require(self, label_memory: int, *, gathered: bool) -> None:
        """Raise if one worker may not hold what it has to: the labelled rows, if `gathered`."""
        n = sum(self.counts)
        n_bytes = self.n_bytes if gathered else bytes_of(n, self.n_classes)
        if n_bytes <= label_memory:
            return
        held = f"The {n:,} labelled rows take {format_bytes(n_bytes)}, and one worker fits the "
        held += "estimator to them"
        if not gathered:
            held = f"What is known of the {n:,} labels takes {format_bytes(n_bytes)} on one worker"
        raise ValueError(
            f"{held}, which may hold {format_bytes(label_memory)}. Pass a larger label_memory if a "
            "worker has it, or mark more rows as unlabelled: a random part of so many labels "
            "teaches nearly as much. The library's own machine (estimator=None) leaves the rows of "
            "many labels in their partitions."
        )


class Passes:
    """The passes over the rows of one fit.

    Each pass reads all partitions again, unless they are persisted. Between passes only sums, the
    anchors and the labelled rows are kept.

    Parameters
    ----------
    data : Partitioned
        Rows, labels and weights.
    runner : Runner
        Runs the tasks.
    """

    def __init__(self, data: Partitioned, runner: Runner) -> None:
        self._data, self._runner = data, runner

    def fit(
        self, models: Sequence[Any], seed: int, label_memory: int, *, classes: bool
    ) -> list[Delayed]:
        """Return the local models, fitted to the rows of all partitions, each as a `Fitted`.

        Parameters
        ----------
        models : list of GraphCorrectedClassifier or GraphCorrectedRegressor
            Unfitted; their graphs are `Anchors` that move equally often. All share the passes, the
            mark of unlabelled rows and the weights of classes.
        seed : int
            Decides where anchors start.
        label_memory : int
            Bytes of labelled rows that one worker may hold.
        classes : bool
            Whether targets are classes.
        """
        n, unlabeled = sum(self._data.lengths), models[0].unlabeled
        sets: list[Anchors] = list(dict.fromkeys(model.graph for model in models))
        starts = [drawn_rows(n, anchors.count(n), seed) for anchors in sets]
        known = self._known(starts, unlabeled, classes, models[0].class_weight_inside())
        labels = self._labels(known, n, unlabeled, classes)
        machines = [model.in_parts(seed, sum(labels.counts)) for model in models]
        for machine in machines:
            labels.require(label_memory, gathered=machine is None)
        points = self._task("first-anchors", first_anchors, known)
        for _ in range(sets[0].passes):
            points = self._moved(points)
        nodes = self._task("place-nodes", nodes_at, points)
        joins = self._joins(nodes)
        graphs = [self._runner.task("graph", graph_of, nodes, joins, i) for i in range(len(sets))]
        many = ManyLabels(known, labels.counts, self._data.dtype, self._runner)
        fits = []
        for model, machine in zip(models, machines, strict=True):
            graph = graphs[sets.index(model.graph)]
            if machine is None:
                about = (model, graph, known, self._data.dtype)
                fits.append(self._runner.task("fit-model", fit_model, *about))
            else:
                fits.append(many.fitted(model, machine, graph))
        return self._runner.keep(fits)

    def _known(
        self,
        starts: Sequence[NDArray[np.int64]],
        unlabeled: Any,
        classes: bool,
        class_weight: ClassWeight,
    ) -> list[Delayed]:
        """Return, of every partition, what is labelled and where anchors start."""
        data = self._data
        ends = np.cumsum(data.lengths)
        own = [np.split(start, np.searchsorted(start, ends[:-1])) for start in starts]
        tasks = []
        for number, (rows, labels) in enumerate(zip(data.rows, data.labels, strict=True)):
            weights = None if data.weights is None else data.weights[number]
            first = ends[number] - data.lengths[number]
            places = [each[number] - first for each in own]
            given = (rows, labels, weights, places, f"Partition {number}", data.dtype)
            about = (unlabeled, classes, class_weight)
            tasks.append(self._runner.task("find-labels", find_known, *given, *about))
        return self._runner.keep(tasks)

    def _labels(self, known: list[Delayed], n: int, unlabeled: Any, classes: bool) -> Labels:
        """Return how many labels there are; raise if they are missing or ambiguous."""
        tasks = [self._runner.task("count-labels", summary_of, each, classes) for each in known]
        sizes = self._runner.bring(tasks)
        labels = Labels([size.n_rows for size in sizes], sum(size.n_bytes for size in sizes), 0)
        if not sum(labels.counts):
            raise ValueError(
                f"None of the {n:,} rows is labelled: y holds only missing values or the marker "
                f"unlabeled={unlabeled!r}, or sample_weight is 0, or class_weight, wherever it "
                "holds others. Label some rows of every class, or name the right marker."
            )
        if classes:
            values = joined([size.values for size in sizes])
            refuse_ambiguous(joined([values, *(size.marker for size in sizes)]), unlabeled)
            labels = labels._replace(n_classes=len(checked_classes(values)))
        return labels

    def _moved(self, points: Delayed) -> Delayed:
        """Return the anchors at the means of their rows: one pass."""
        parts = [
            self._runner.task("sum-rows", sum_by_anchor, rows, points, number, self._data.dtype)
            for number, rows in enumerate(self._data.rows)
        ]
        sums = self._runner.tree("add-sums", add_sums, parts)
        return self._task("move-anchors", move_anchors, points, sums)

    def _joins(self, nodes: Delayed) -> Delayed:
        """Return Z'Z of all rows for every set: one pass."""
        parts = [
            self._runner.task("join-anchors", join_anchors, rows, nodes, number, self._data.dtype)
            for number, rows in enumerate(self._data.rows)
        ]
        (joins,) = self._runner.keep([self._runner.tree("add-joins", add_joins, parts)])
        return joins

    def _task(self, name: str, function: Callable[..., Any], *args: Any) -> Delayed:
        """Return the result of a task, computed now, which stays where it is."""
        (kept,) = self._runner.keep([self._runner.task(name, function, *args)])
        return kept

"""A fit over partitions: passes over the rows, one after another."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from dask.delayed import Delayed
from dask.utils import format_bytes
from numpy.typing import NDArray

from ..gkm.corrected import checked_classes
from ..graphs import Anchors
from ..graphs.anchors import drawn_rows
from ..machines.labels import refuse_ambiguous
from .collections import Partitioned
from .runner import Runner
from .tasks import (
    add_joins,
    add_sums,
    find_known,
    first_anchors,
    fit_model,
    join_anchors,
    joined,
    move_anchors,
    nodes_at,
    sum_by_anchor,
    summary_of,
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
        self,
        model: Any,
        anchors: Anchors,
        seed: int,
        label_memory: int,
        *,
        classes: bool,
    ) -> Any:
        """Return the local model, fitted to the rows of all partitions.

        Parameters
        ----------
        model : GraphCorrectedClassifier or GraphCorrectedRegressor
            Unfitted.
        anchors : Anchors
            How many there are, and how often they move.
        seed : int
            Decides where they start.
        label_memory : int
            Bytes of labelled rows that one worker may hold.
        classes : bool
            Whether targets are classes.
        """
        n = sum(self._data.lengths)
        start = drawn_rows(n, anchors.count(n), seed)
        known = self._known(start, model.unlabeled, classes)
        self._check_labels(known, n, label_memory, model.unlabeled, classes)
        points = self._task("first-anchors", first_anchors, known)
        for _ in range(anchors.passes):
            points = self._moved(points)
        nodes = self._task("place-nodes", nodes_at, points)
        joins = self._joins(nodes)
        task = self._runner.task(
            "fit-model", fit_model, model, nodes, joins, known, self._data.dtype
        )
        (fitted,) = self._runner.bring([task])
        for category, message in fitted.warnings:
            warnings.warn(message, category, stacklevel=4)
        return fitted.model

    def _known(self, start: NDArray[np.int64], unlabeled: Any, classes: bool) -> list[Delayed]:
        """Return, of every partition, what is labelled and where anchors start."""
        data = self._data
        ends = np.cumsum(data.lengths)
        own = np.split(start, np.searchsorted(start, ends[:-1]))
        tasks = []
        for number, (rows, labels) in enumerate(zip(data.rows, data.labels, strict=True)):
            weights = None if data.weights is None else data.weights[number]
            places = own[number] - (ends[number] - data.lengths[number])
            about = (rows, labels, weights, places, number, data.dtype, unlabeled, classes)
            tasks.append(self._runner.task("find-labels", find_known, *about))
        return self._runner.keep(tasks)

    def _check_labels(
        self, known: list[Delayed], n: int, label_memory: int, unlabeled: Any, classes: bool
    ) -> None:
        """Raise if labels are missing or ambiguous, or if one worker may not hold their rows."""
        tasks = [self._runner.task("count-labels", summary_of, each, classes) for each in known]
        sizes = self._runner.bring(tasks)
        n_labeled = sum(size.n_rows for size in sizes)
        n_bytes = sum(size.n_bytes for size in sizes)
        if n_labeled == 0:
            raise ValueError(
                f"None of the {n:,} rows is labelled: y holds only missing values or the marker "
                f"unlabeled={unlabeled!r}, or sample_weight is 0 wherever it holds others. Label "
                "some rows of every class, or name the right marker."
            )
        if classes:
            values = joined([size.values for size in sizes])
            refuse_ambiguous(joined([values, *(size.marker for size in sizes)]), unlabeled)
            checked_classes(values)
        if n_bytes > label_memory:
            raise ValueError(
                f"The {n_labeled:,} labelled rows take {format_bytes(n_bytes)}, and one worker "
                "fits the estimator to them, which may hold "
                f"{format_bytes(label_memory)}. Pass a larger label_memory if a worker has it, or "
                "mark more rows as unlabelled: a random part of so many labels teaches nearly as "
                "much."
            )

    def _moved(self, points: Delayed) -> Delayed:
        """Return the anchors at the means of their rows: one pass."""
        parts = [
            self._runner.task("sum-rows", sum_by_anchor, rows, points, number, self._data.dtype)
            for number, rows in enumerate(self._data.rows)
        ]
        sums = self._runner.tree("add-sums", add_sums, parts)
        return self._task("move-anchors", move_anchors, points, sums)

    def _joins(self, nodes: Delayed) -> Delayed:
        """Return Z'Z of all rows: one pass."""
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

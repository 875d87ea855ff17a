"""A fit over partitions: passes over the rows, one after another."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from dask.delayed import Delayed
from dask.utils import format_bytes
from numpy.typing import NDArray

from ..estimators.given_rows import require_labels
from ..estimators.labels import checked_classes, refuse_ambiguous
from ..graphs.anchors import drawn_rows
from ..semi.block_labels import QUANTITIES, joined, targets_of
from ..semi.block_rows import find_known
from .collections import Partitioned
from .fusing import fused
from .runner import Runner
from .tasks import (
    Summary,
    add_sums,
    add_tables,
    first_anchors,
    fit_model,
    join_anchors,
    move_anchors,
    nodes_at,
    some_labelled,
    sum_by_anchor,
    summary_of,
    without_empty,
)

_DRAW = 1
"""What decides which labelled rows are drawn if they are too many: not what decides the anchors."""


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

    def fit(self, model: Any, seed: int, label_memory: int) -> Delayed:
        """Return the local model, fitted to the rows of all partitions, as a task.

        Parameters
        ----------
        model : SemiSupervisedClassifier or SemiSupervisedRegressor
            Unfitted; its graph is an `Anchors`.
        seed : int
            Decides where anchors start, and the draws of the model.
        label_memory : int
            Bytes of labelled rows that one worker may hold.
        """
        n = sum(self._data.lengths)
        start = drawn_rows(n, model.graph.count(n), seed)
        known = self.known(start, model, label_memory)
        nodes, joins = self.anchors(known, model.graph.passes)
        about = (model, seed, nodes, joins, known, self._data.lengths, self._data.dtype)
        return self._runner.task("fit-model", fit_model, *about)

    def known(self, start: NDArray[np.int64], model: Any, label_memory: int) -> list[Delayed]:
        """Return, of every partition, what is labelled and where anchors start; check it."""
        if sum(self._data.lengths) < 2:
            raise ValueError("X has 1 row, which has no neighbours; pass 2 or more.")
        known = self._known(start, model)
        sizes = self._sizes(known, model)
        if any(size.shares for size in sizes):  # rows of zeros are no labels then
            tasks = [self._runner.task("drop-rows", without_empty, each) for each in known]
            known = self._runner.keep(tasks)
            sizes = self._sizes(known, model)
        self._check_labels(sizes, model)
        return self._that_fit(known, sizes, model, label_memory)

    def anchors(self, known: list[Delayed], passes: int) -> tuple[Delayed, Delayed]:
        """Return the nodes at the anchors after some moves, and Z'Z of all rows."""
        points = self._task("first-anchors", first_anchors, known)
        for _ in range(passes):
            points = self._moved(points)
        nodes = self._task("place-nodes", nodes_at, points)
        return nodes, self._joins(nodes)

    def _known(self, start: NDArray[np.int64], model: Any) -> list[Delayed]:
        """Return, of every partition, what is labelled and where anchors start."""
        data = self._data
        ends = np.cumsum(data.lengths)
        own = np.split(start, np.searchsorted(start, ends[:-1]))
        tasks = []
        for number, (rows, labels) in enumerate(zip(data.rows, data.labels, strict=True)):
            weights = None if data.weights is None else data.weights[number]
            places = own[number] - (ends[number] - data.lengths[number])
            given = (rows, labels, weights, places, f"Partition {number}", data.dtype)
            about = (model.unlabeled, targets_of(model))
            tasks.append(self._runner.task("find-labels", find_known, *given, *about))
        return self._runner.keep(fused(tasks))

    def _sizes(self, known: list[Delayed], model: Any) -> list[Summary]:
        """Return how much is labelled in every partition."""
        targets = targets_of(model)
        tasks = [self._runner.task("count-labels", summary_of, each, targets) for each in known]
        return self._runner.bring(tasks)

    def _check_labels(self, sizes: list[Summary], model: Any) -> None:
        """Raise if labels are missing or ambiguous."""
        n = sum(size.n_rows for size in sizes)
        require_labels(np.arange(n), sum(self._data.lengths), model.unlabeled)
        values = joined([size.values for size in sizes])  # raises if columns differ
        if isinstance(values, np.ndarray) and targets_of(model) != QUANTITIES:
            refuse_ambiguous(joined([values, *(size.marker for size in sizes)]), model.unlabeled)
            checked_classes(values)

    def _that_fit(
        self, known: list[Delayed], sizes: list[Summary], model: Any, label_memory: int
    ) -> list[Delayed]:
        """Return the labelled rows, or a random part of them that one worker may hold."""
        n, n_bytes = sum(size.n_rows for size in sizes), sum(size.n_bytes for size in sizes)
        if n_bytes <= label_memory:
            return known
        n_kept = int(n * (label_memory / n_bytes))
        if not n_kept:
            raise ValueError(
                f"label_memory allows {format_bytes(label_memory)}, which is less than one "
                "labelled row takes; pass more."
            )
        warnings.warn(
            f"The {n:,} labelled rows take {format_bytes(n_bytes)}, and one worker fits the "
            f"members to them; label_memory allows {format_bytes(label_memory)}. So the members "
            f"learn from {n_kept:,} labelled rows, drawn at random; the graph sees all rows.",
            UserWarning,
            stacklevel=5,
        )
        drawn = drawn_rows(n, n_kept, _DRAW)
        ends = np.cumsum([size.n_rows for size in sizes])
        own = np.split(drawn, np.searchsorted(drawn, ends[:-1]))
        kept = self._runner.keep(
            [
                self._runner.task("draw-labels", some_labelled, each, places - (end - size.n_rows))
                for each, places, end, size in zip(known, own, ends, sizes, strict=True)
            ]
        )
        self._check_classes(sizes, self._sizes(kept, model), model)
        return kept

    def _check_classes(self, before: list[Summary], after: list[Summary], model: Any) -> None:
        """Raise if a draw has lost a class, which the model would never tell."""
        if targets_of(model) == QUANTITIES:
            return
        every, left = (joined([size.values for size in sizes]) for sizes in (before, after))
        if not (isinstance(every, np.ndarray) and isinstance(left, np.ndarray)):
            return
        lost = sorted({*every.tolist()} - {*left.tolist()})
        if lost:
            raise ValueError(
                f"A random part of the labelled rows that fits into label_memory has none of the "
                f"class {lost[0]!r} ({len(lost):,} of {len(set(every.tolist())):,} classes are "
                "lost). Pass a larger label_memory, or mark rows of larger classes as unlabelled."
            )

    def _moved(self, points: Delayed) -> Delayed:
        """Return the anchors at the means of their rows: one pass."""
        parts = [
            self._runner.task("sum-rows", sum_by_anchor, rows, points, number, self._data.dtype)
            for number, rows in enumerate(self._data.rows)
        ]
        sums = self._runner.tree("add-sums", add_sums, fused(parts))
        return self._task("move-anchors", move_anchors, points, sums)

    def _joins(self, nodes: Delayed) -> Delayed:
        """Return Z'Z of all rows: one pass."""
        parts = [
            self._runner.task("join-anchors", join_anchors, rows, nodes, number, self._data.dtype)
            for number, rows in enumerate(self._data.rows)
        ]
        (joins,) = self._runner.keep([self._runner.tree("add-joins", add_tables, fused(parts))])
        return joins

    def _task(self, name: str, function: Callable[..., Any], *args: Any) -> Delayed:
        """Return the result of a task, computed now, which stays where it is."""
        (kept,) = self._runner.keep([self._runner.task(name, function, *args)])
        return kept

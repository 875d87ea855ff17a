"""A machine of the library's own, fitted by sums over labelled rows that stay in their partitions.

A machine on landmarks needs K_l'K_l and K_l'Y from the labelled rows, and gives each of them a
held-out prediction. Only a sample of rows, and for every label a few numbers leave the partitions:
its place on the anchors, and what the machine says of it. How the machine is chosen and what is
done with its errors is the same as with gathered rows.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed
from numpy.typing import NDArray
from sklearn.base import clone

from .._order import middle_of, places_of
from ..graphs.anchors import NEAR
from ..graphs.distinct import Copies, row_marks
from ..machines.checks import check_range
from ..machines.ridge_base import BaseKernelRidge
from ..semi.block_rows import Known, as_numbers, stacked
from .runner import Runner
from .tasks import Fitted, Graph, fitted_with, joined_labels

_TASKS = 64  # that sum over labels; each gives a matrix of all landmarks


def bytes_of(n_labeled: int, n_classes: int) -> int:
    """Return what one worker holds of the labels: places on anchors, shares, targets, weights."""
    return n_labeled * (NEAR * 8 + 8 + 3 * 8 * max(1, n_classes))


class Begun(NamedTuple):
    """A machine whose gamma is chosen, and what it learns of every label."""

    machine: BaseKernelRidge
    choice: Any
    basis: Any
    copies: Copies
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]
    middle: NDArray[np.float64]
    """Of the rows that have chosen; folds are drawn in the order of distances from it."""


class Solved(NamedTuple):
    """A machine with its f."""

    machine: BaseKernelRidge
    fit: Any


class ManyLabels:
    """The labelled rows of all partitions.

    Parameters
    ----------
    known : list of Delayed
        Of every partition, what is `Known`.
    counts : list of int
        Labelled rows of every partition.
    dtype : dtype
        How rows are seen.
    runner : Runner
        Runs the tasks.
    """

    def __init__(self, known: list[Delayed], counts: list[int], dtype: Any, runner: Runner) -> None:
        self._known, self._dtype, self._runner = known, dtype, runner
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._labels = [runner.task("take-labels", labels_of, each) for each in known]

    @cached_property
    def _copies(self) -> Copies:
        """Which labelled rows are equal, in any partitions."""
        marks = [
            self._runner.task("mark-labels", marks_of, each, self._dtype) for each in self._known
        ]
        return Copies.of(np.concatenate(self._runner.bring(marks)))

    def fitted(self, model: Any, machine: BaseKernelRidge, graph: Delayed) -> Delayed:
        """Return a task that gives the fitted model; all that it needs is computed now."""
        runner, starts, copies = self._runner, self._starts, self._copies
        n = len(copies.first)
        order = machine.drawn(n)[: machine.n_chosen_on(n)]
        samples = self._sample(copies.first[np.sort(order)])
        about = (machine, self._labels, samples, order, copies)
        begun = self._now("choose-kernel", choose_kernel, *about)
        size = -(-len(self._known) // _TASKS)
        parts = [
            runner.task(
                "sum-labels", sum_labels, self._known[i : i + size], begun, starts[i], self._dtype
            )
            for i in range(0, len(self._known), size)
        ]
        sums = runner.tree("add-label-sums", add_label_sums, parts)
        solved = self._now("solve-machine", solve_machine, begun, sums, order)
        held = [
            runner.task("hold-out-labels", hold_out, each, begun, solved, graph, start, self._dtype)
            for each, start in zip(self._known, starts[:-1], strict=True)
        ]
        return runner.task("fit-model", fit_field, model, graph, begun, solved, held, self._labels)

    def _sample(self, chosen: NDArray[np.int64]) -> list[Delayed]:
        """Return labelled rows by their numbers, in rising order, from the partitions."""
        own = np.split(chosen, np.searchsorted(chosen, self._starts[1:-1]))
        return [
            self._runner.task("sample-labels", rows_at, each, places - start)
            for each, places, start in zip(self._known, own, self._starts[:-1], strict=True)
        ]

    def _now(self, name: str, function: Any, *args: Any) -> Delayed:
        (kept,) = self._runner.keep([self._runner.task(name, function, *args)])
        return kept


def labels_of(known: Known) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Return the labels of a partition, and their weights."""
    return known.labels, known.weights


def marks_of(known: Known, dtype: Any) -> NDArray[np.uint64]:
    """Return a number for every labelled row of a partition: equal rows have equal ones."""
    return row_marks(as_numbers(known.rows, dtype, "The labelled part"))


def rows_at(known: Known, places: NDArray[np.int64]) -> Any:
    """Return some labelled rows of a partition as they are given."""
    return known.rows.iloc[places] if hasattr(known.rows, "iloc") else known.rows[places]


def choose_kernel(
    machine: BaseKernelRidge,
    labels: Sequence[tuple[Any, Any]],
    samples: Sequence[Any],
    order: NDArray[np.int64],
    copies: Copies,
) -> Begun:
    """Return the machine with its gamma and landmarks, chosen on a sample of the labelled rows."""
    machine = clone(machine)
    y, given = joined_labels(labels)
    targets, weights = machine.encode(y, np.ones(len(y)) if given is None else given)
    means, sums = copies.pooled(targets, weights)
    chosen, n = np.sort(order), len(copies.first)
    choice, basis = machine.choose_on(
        stacked(samples), means[chosen], sums[chosen], np.searchsorted(chosen, order), n
    )
    middle = middle_of(choice.problem.X)
    return Begun(machine, choice, basis, copies, targets, weights, middle)


def sum_labels(parts: Sequence[Known], begun: Begun, start: int, dtype: Any) -> Any:
    """Return the machine's sums over the labelled rows of some partitions, one after another."""
    sums = []
    for part in parts:
        rows = as_numbers(part.rows, dtype, "The labelled part")
        if rows.shape[0]:
            check_range(rows, np.dtype(np.float64))
        own = slice(start, start + rows.shape[0])
        sums.append(begun.basis.sums(rows, begun.targets[own], begun.weights[own]))
        start = own.stop
    return add_label_sums(sums)


def add_label_sums(parts: Sequence[Any]) -> Any:
    """Return sums of sums."""
    return reduce(lambda one, other: one.plus(other), parts)


def solve_machine(begun: Begun, sums: Any, order: NDArray[np.int64]) -> Solved:
    """Return the machine with the f that the sums give."""
    machine = copy.copy(begun.machine)
    support = begun.copies.first[np.sort(order[: len(sums.gram)])]
    return Solved(machine, machine.fit_sums(begun.choice, begun.basis, sums, support))


def hold_out(
    known: Known, begun: Begun, solved: Solved, graph: Graph, start: int, dtype: Any
) -> tuple[NDArray[np.float64], Any, NDArray[np.float64]]:
    """Return what the machine says of each label without it, its anchors' weights and its place."""
    rows = as_numbers(known.rows, dtype, "The labelled part")
    own = begun.copies.place[start : start + rows.shape[0]]
    means, sums = begun.copies.pooled(begun.targets, begun.weights)
    held = begun.basis.held_out(solved.fit, rows, means[own], sums[own])
    anchors = graph.nodes.weights(rows).astype(np.float32)
    return held, anchors, places_of(rows, begun.middle)


def fit_field(
    model: Any,
    graph: Graph,
    begun: Begun,
    solved: Solved,
    every: Sequence[tuple[NDArray[np.float64], Any, NDArray[np.float64]]],
    labels: Sequence[tuple[Any, Any]],
) -> Fitted:
    """Return the model with the field that the errors of its machine give."""
    held, anchors, places = zip(*every, strict=True)
    machine = copy.copy(solved.machine)
    copies = begun.copies
    of_sets = np.concatenate(held)[copies.first]
    machine.set_held_out(of_sets, copies, begun.targets, begun.weights)
    whole = graph.nodes.graph_of(graph.joins, sp.vstack(anchors, format="csr"))
    drawn = copies.in_order(np.concatenate(places))
    return fitted_with(model.fit_machine, whole, machine, drawn, *joined_labels(labels))

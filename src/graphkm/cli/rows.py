"""Whole files as arrays, and what their labels say about the task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from ..io import DataFileError
from ..machines.labels import missing_mask
from .errors import UsageError
from .memory import Memory
from .options import Task, TrainingFileOptions
from .printing import progress_bar
from .tables import Table, open_known, open_training

MANY = 20  # different whole numbers, from which they may be counts as well as classes


@dataclass(frozen=True)
class Rows:
    """What there is to learn from.

    Attributes
    ----------
    X : ndarray or csr_matrix
    y : ndarray
        Floats with NaN, or objects with None, where a row is unlabelled.
    memory : Memory
        What the model must remember of the file.
    """

    X: Any
    y: NDArray[Any]
    memory: Memory

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Where y holds a label."""
        return ~missing_mask(self.y)

    @property
    def classes(self) -> list[Any]:
        """The different labels."""
        return list(np.unique(self.y[self.labeled]))


def read_rows(
    path: str, options: TrainingFileOptions, task: Task, unlabeled_data: str | None = None
) -> Rows:
    """Read a file to learn from, and a second one of unlabelled rows if there is one."""
    labels = "number" if task is Task.regress else "auto"
    with open_training(path, options, labels) as table:
        X, y = joined(table)
    memory = remember(table, X, y, options, task)
    if unlabeled_data is not None:
        skip = options.skip_bad_rows
        with open_known(unlabeled_data, options, memory, labels=False, skip=skip) as second:
            more = joined(second)[0]
        X = vstack([X, more], format="csr") if issparse(X) else np.concatenate([X, more])
        empty = np.full(more.shape[0], np.nan if y.dtype.kind == "f" else None, dtype=y.dtype)
        y = np.concatenate([y, empty])
    rows = Rows(X, y, replace(memory, n_rows=len(y), n_labeled=int((~missing_mask(y)).sum())))
    check_labels(rows, table.name)
    return rows


def joined(table: Table) -> tuple[Any, NDArray[Any]]:
    """Return all rows of a table; an error if there are none."""
    Xs, ys = [], []
    with progress_bar(f"reading {table.name}", "rows") as bar:
        for X, y in table.pieces:
            Xs.append(X)
            ys.append(y)
            bar.update(len(y))
    if not Xs:
        raise DataFileError(f"{table.name} holds no rows.")
    if len(Xs) == 1:
        return Xs[0], ys[0]
    X = vstack(Xs, format="csr") if issparse(Xs[0]) else np.concatenate(Xs)
    return X, np.concatenate(ys)


def remember(
    table: Table, X: Any, y: NDArray[Any], options: TrainingFileOptions, task: Task
) -> Memory:
    """Return what a model must know of its file."""
    layout = table.layout
    known = y[~missing_mask(y)]
    return Memory(
        task=decide_task(known, task, table.name),
        format=table.format,
        columns=None if layout is None or layout.names is None else list(layout.names),
        n_features=X.shape[1],
        label=None if layout is None else layout.label_name,
        labels="number" if known.dtype.kind == "f" else "text",
        unlabeled=options.unlabeled,
        zero_based=table.zero_based,
        sparse=issparse(X),
    )


def decide_task(known: NDArray[Any], task: Task, name: str) -> str:
    """Return "classify" or "regress", by what labels there are.

    Examples
    --------
    >>> decide_task(np.array([1.0, 2.0]), Task.auto, "a.csv")
    'classify'
    >>> decide_task(np.array([1.5, 2.0]), Task.auto, "a.csv")
    'regress'
    """
    if task is not Task.auto:
        return task.value
    if known.dtype.kind != "f":
        return "classify"
    if (known % 1 != 0).any():
        return "regress"
    n = len(np.unique(known))
    if n > MANY:
        raise UsageError(
            f"{name}: its labels are {n} different whole numbers, which may be classes or "
            "quantities; pass --task classify or --task regress."
        )
    return "classify"


def check_labels(rows: Rows, name: str) -> None:
    """Raise unless there is something to learn."""
    if not rows.labeled.any():
        raise DataFileError(
            f"{name}: none of its {len(rows.y):,} rows has a label. Label some rows of every "
            "class, or name the label's column with --label."
        )
    if rows.memory.task == "classify" and len(rows.classes) < 2:
        only = label_text(rows.classes[0])
        raise DataFileError(
            f"{name}: all {int(rows.labeled.sum()):,} labelled rows are of one class, {only}; "
            "there must be two at least."
        )


def label_text(value: Any) -> str:
    """Return a label as files have it: whole numbers without a point.

    Examples
    --------
    >>> label_text(3.0), label_text(0.5), label_text("cat")
    ('3', '0.5', 'cat')
    """
    return str(label_value(value))


def label_value(value: Any) -> int | float | str:
    """Return a label as Python's own number or text, whole numbers as integers."""
    if isinstance(value, str):
        return str(value)
    number = float(value)
    return int(number) if number.is_integer() else number


def label_values(labels: Iterable[Any]) -> list[int | float | str]:
    """Return labels as JSON holds them."""
    return [label_value(value) for value in labels]

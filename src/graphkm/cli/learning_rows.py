"""Rows to learn from: whole files as arrays, and the task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..estimators.labels import missing_mask
from ..io import DataFileError
from ..io.columns import listed
from ..io.kinds import are_dates
from ..tables.naming import is_usual_label
from ..tables.several_labels import split_names, table_of_names
from ..tables.treatments import are_texts
from ..tables.useless_columns import constant_columns
from .label_columns import LabelFrame, check_table, decide_several
from .model_files import FileNote
from .opening import Source
from .options import LearningFileOptions, Task, TrainingFileOptions, UsageError
from .row_table import Table
from .whole_files import missing_policy, read_any, table_note

_MANY = 20  # up to so many different whole numbers are classes; more may be quantities
_SHOWN = 10  # classes in a summary


@dataclass(frozen=True)
class Rows:
    """Rows to learn from, and the note that goes into the model file."""

    X: Any  # ndarray or csr_matrix
    # Floats, or objects; NaN or None where a row is unlabelled. Several labels have a column each.
    y: NDArray[Any]
    note: FileNote

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Where y holds a label."""
        return labeled_rows(self.y)

    @property
    def target(self) -> Any:
        """What a fit takes as y: columns of labels have their names."""
        return LabelFrame(self.y, self.note.targets) if self.note.several else self.y

    @property
    def classes(self) -> list[Any]:
        """The different labels."""
        return list(np.unique(self.y[self.labeled]))

    @property
    def names(self) -> list[str]:
        """The names of the features, or their numbers from 1."""
        return self.note.columns or [str(k + 1) for k in range(self.note.n_features)]

    @property
    def n_gaps(self) -> int:
        """The number of missing values."""
        return int(self.missing.sum())

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where a value is filled in; an empty text stays as it is."""
        if issparse(self.X):
            return np.zeros((0, 0), dtype=bool)
        others = [k for k in range(self.X.shape[1]) if k not in self.note.encoded]
        return np.asarray(self.X[:, others] != self.X[:, others])

    def chosen(self, which: NDArray[Any]) -> Rows:
        """Return some of the rows."""
        y = self.y[which]
        return Rows(self.X[which], y, _counted(self.note, y))

    def hiding(self, places: NDArray[np.int64]) -> Rows:
        """Return all rows, some of them without their labels."""
        y = self.y.copy()
        y[places] = np.nan if y.dtype.kind == "f" else None
        return Rows(self.X, y, _counted(self.note, y))


def read_rows(
    source: Source, options: LearningFileOptions, task: Task, unlabeled: Source | None = None
) -> Rows:
    """Read a file to learn from, and a second file of unlabelled rows if one is given."""
    labels = "number" if task is Task.regress else "auto"
    if options.separator is not None:
        labels = "text"
    table, (X, y) = read_any(source, options, labels, unlabeled)
    if options.separator is not None or options.labels is not None:
        y, note = _several(table, X, y, options, task)
    else:
        note = file_note(table, X, y, options, task)
    rows = Rows(X, y, _counted(note, y))
    check_labels(rows, table.name)
    return rows if issparse(X) else _without_constants(rows, table.name)


def _counted(note: FileNote, y: NDArray[Any]) -> FileNote:
    return replace(note, n_rows=len(y), n_labeled=int(labeled_rows(y).sum()))


def labeled_rows(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows have a label, or one of several.

    Examples
    --------
    >>> labeled_rows(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    array([ True, False])
    """
    known = ~missing_mask(y)
    return np.asarray(known.any(axis=1)) if y.ndim == 2 else known


def _several(
    table: Table, X: Any, y: NDArray[Any], options: LearningFileOptions, task: Task
) -> tuple[NDArray[np.float64], FileNote]:
    """Return a column for each of several labels or quantities, and the note on the file."""
    note, columns = table_note(table, X, options), table.columns
    assert columns is not None  # LIBSVM files have one label
    if options.separator is None:
        called = columns.head.names or range(1, columns.head.width + 1)
        names = [str(called[k]) for k in columns.labels]
        about: dict[str, Any] = {"task": decide_several(y, names, task, table.name)}
    else:
        lists = [split_names(word, options.separator) or () for word in y.tolist()]
        names = sorted({name for each in lists for name in each})
        guessed = options.label is None and not is_usual_label(columns.label_name)
        y = table_of_names(y.tolist(), options.separator, names)
        about = {"task": "classify", "separator": options.separator, "guessed": guessed}
    mixed = bool(table.treatment.kinds)
    return y, replace(
        note,
        targets=names,
        labels="number" if options.separator is None else "text",
        missing=missing_policy(options, found_some=mixed),
        **about,
    )


def _without_constants(rows: Rows, name: str) -> Rows:
    """Leave out columns with one value only: a model cannot learn what other values mean."""
    note, X = rows.note, rows.X
    out = constant_columns(X)
    if len(out) == X.shape[1]:
        told = listed([f"{rows.names[k]} ({why})" for k, why in out.items()])
        raise DataFileError(
            f"{name}: every column has the same value in all rows, so there is nothing to "
            f"learn from: {told}. Are --label and --delimiter right?"
        )
    if note.columns is None or not out:
        return rows
    stay = [k for k in range(X.shape[1]) if k not in out]
    kept = replace(
        note,
        columns=[note.columns[k] for k in stay],
        kinds=[note.kinds[k] for k in stay] if note.kinds else [],
        n_features=len(stay),
        left_out=note.left_out | {note.columns[k]: why for k, why in out.items()},
    )
    return replace(rows, X=X[:, stay], note=kept)


def file_note(
    table: Table, X: Any, y: NDArray[Any], options: TrainingFileOptions, task: Task
) -> FileNote:
    """Return the note on a training file."""
    columns = table.columns
    known = y[~missing_mask(y)]
    label = None if columns is None else columns.label_name
    guessed = columns is not None and options.label is None and not is_usual_label(label)
    mixed = bool(table.treatment.kinds)
    return replace(
        table_note(table, X, options),
        task=decide_task(known, task, table.name, label if guessed else None),
        labels="number" if known.dtype.kind == "f" else "text",
        guessed=guessed,
        missing=missing_policy(options, found_some=mixed) if columns is not None else "error",
    )


def decide_task(
    known: NDArray[Any],
    task: Task,
    name: str,
    guessed: str | int | None = None,
    n_labeled: int | None = None,
) -> str:
    """Return "classify" or "regress": the given task, or the one that fits the labels.

    `guessed` is the label's column if it was a guess. Such a column is not regressed unasked.
    If `known` holds each label once, `n_labeled` is the number of all labels.

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
        _refuse_texts(np.unique(known), n_labeled or len(known), name, guessed)
        return "classify"
    fractions = bool((known % 1 != 0).any())
    n = len(np.unique(known))
    if guessed is not None and (fractions or n > _MANY):
        raise UsageError(
            f"{name}: no column is called label. The last one, {guessed!r}, holds {n:,} different "
            f"numbers; if it is the label, pass --label {guessed}, else name the right column."
        )
    if fractions:
        return "regress"
    if n > _MANY:
        raise UsageError(
            f"{name}: its labels are {n} different whole numbers, which may be classes or "
            "quantities; pass --task classify or --task regress."
        )
    return "classify"


def _refuse_texts(
    different: NDArray[Any], n_labeled: int, name: str, guessed: str | int | None
) -> None:
    """Raise if labels are dates or texts; a few of them may be classes."""
    dates = len(different) > _MANY and are_dates(different.tolist())
    if not dates and not are_texts(len(different), n_labeled):
        return
    column = "its labels are" if guessed is None else f"its last column, {guessed!r}, holds"
    raise UsageError(
        f"{name}: {column} {len(different):,} different {'dates' if dates else 'texts'} in "
        f"{n_labeled:,} labelled rows, like {str(different[0])[:40]!r}, which are no classes. Name "
        "the label's column with --label; to predict a date, make a number of it, such as the days "
        "until then. If each of them is a class, pass --task classify."
    )


def check_labels(rows: Rows, name: str) -> None:
    """Raise if there are no labels, or labels of one class only."""
    if rows.note.several:
        return check_table(rows.y, rows.note.targets, name)
    if not rows.labeled.any():
        raise DataFileError(
            f"{name}: none of its {len(rows.y):,} rows has a label. Label some rows of every "
            "class, or name the label's column with --label."
        )
    if rows.note.task == "classify" and len(rows.classes) < 2:
        only = label_text(rows.classes[0])
        raise DataFileError(
            f"{name}: all {int(rows.labeled.sum()):,} labelled rows are of one class, {only}; "
            "two classes are needed."
        )


def label_text(value: Any) -> str:
    """Return a label as text, as files have it: whole numbers without a point.

    Examples
    --------
    >>> label_text(3.0), label_text(0.5), label_text("cat")
    ('3', '0.5', 'cat')
    """
    return str(_label_value(value))


def label_values(labels: Iterable[Any]) -> list[int | float | str]:
    """Return labels as JSON can hold them."""
    return [_label_value(value) for value in labels]


def _label_value(value: Any) -> int | float | str:
    if isinstance(value, str):
        return str(value)
    number = float(value)
    return int(number) if number.is_integer() else number

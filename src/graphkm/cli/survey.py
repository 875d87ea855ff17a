"""One look through a file before it is streamed: its classes, its width, its length."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..io import DataFileError
from ..io.libsvm import file_width
from ..machines.labels import missing_mask
from .options import Format, Task, TrainingFileOptions, UsageError
from .output import progress_bar
from .rows import decide_task
from .tables import open_training

_WIDEST = 2**31 - 2  # what indices of LIBSVM files can be
_KEPT = 1000  # different labels


@dataclass(frozen=True)
class Survey:
    """What is known of a stream before it is learnt; None where nothing is known.

    Attributes
    ----------
    task : str, optional
    labels : str
        "number", "text", or "auto" if the first ones will tell.
    classes : ndarray, optional
    n_rows, n_features : int, optional
    zero_based : bool, optional
    """

    task: str | None = None
    labels: str = "auto"
    classes: Any = None
    n_rows: int | None = None
    n_features: int | None = None
    zero_based: bool | None = None

    @classmethod
    def of_classes(cls, given: list[str] | None, task: Task, files: TrainingFileOptions) -> Survey:
        """Return what options alone tell of standard input.

        Examples
        --------
        >>> found = Survey.of_classes(["1", "2"], Task.auto, TrainingFileOptions())
        >>> found.labels, found.classes
        ('number', array([1., 2.]))
        """
        if files.format is Format.libsvm and files.features is None:
            raise UsageError(
                "A LIBSVM stream does not tell how many features will come; pass --features N."
            )
        from_zero = bool(files.zero_based)
        start = cls(n_features=files.features, zero_based=from_zero)
        if task is Task.regress:
            return replace(start, task="regress", labels="number")
        return start if given is None else start.with_classes(given)

    def with_classes(self, given: list[str]) -> Survey:
        """Return it with classes that were named."""
        names = [name.strip() for name in given if name.strip()]
        try:
            numbers = np.unique([float(name) for name in names])
        except ValueError:
            kind, classes = "text", np.unique(names)
        else:
            kind, classes = "number", numbers
        if self.labels == "text" and kind == "number":
            kind, classes = "text", np.unique(names)
        if len(classes) < 2:
            raise UsageError(f"--classes {','.join(given)}: there must be two at least.")
        return replace(self, task="classify", labels=kind, classes=classes)


def survey(path: str, files: TrainingFileOptions, task: Task) -> Survey:
    """Read a file through, keeping nothing but what a stream must know."""
    as_wide_as_can_be = replace(files, features=_WIDEST, zero_based=True)  # for LIBSVM
    known: Any = np.empty(0)
    n_rows, lowest, highest = 0, _WIDEST, -1
    labels = "number" if task is Task.regress else "auto"
    with (
        open_training(path, as_wide_as_can_be, labels) as table,
        progress_bar("reading", "rows") as bar,
    ):
        for X, y in table.pieces:
            n_rows += len(y)
            found = y[~missing_mask(y)]
            if len(found) and len(known) <= _KEPT:
                known = np.unique(np.concatenate([known, found]) if len(known) else found)
            if table.format == "libsvm" and X.nnz:
                lowest = min(lowest, int(X.indices.min()))
                highest = max(highest, int(X.indices.max()))
            bar.update(len(y))
    if n_rows == 0:
        raise DataFileError(f"{table.name} holds no rows.")
    if len(known) == 0:
        raise DataFileError(f"{table.name}: none of its {n_rows:,} rows has a label.")
    chosen = decide_task(known, task, table.name)
    seen = Survey(
        task=chosen,
        labels="number" if known.dtype.kind == "f" else "text",
        classes=known if chosen == "classify" else None,
        n_rows=n_rows,
    )
    if table.format != "libsvm":
        return seen
    from_zero = files.zero_based
    if from_zero is None:
        from_zero = lowest == 0 or 0 in table.dropped
    kept = highest + 1 if from_zero else highest
    width = file_width(max(kept, 1), table.dropped, from_zero)
    return replace(seen, n_features=files.features or width, zero_based=from_zero)

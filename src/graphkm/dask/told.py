"""What a fitted model tells of a row, and what the labels of a partition say of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimators.targets import known_targets
from ..members.member import Kind
from ..semi.block_labels import are_columns, split_labels
from ..semi.label_tables import Table, table_of, table_of_lists
from ..semi.target import Target, label_target, share_target


class Told(NamedTuple):
    """What is predicted: classes, several labels, or quantities.

    Parameters
    ----------
    kind : {"classes", "labels", "quantities"}
        What it is.
    names : ndarray or None
        Names of classes, labels or several quantities; None for one quantity.
    """

    kind: Kind
    names: NDArray[Any] | None

    @classmethod
    def by(cls, model: Any, y: Any) -> Told:
        """Return what a model tells, which was fitted to y."""
        mixture = model.mixture_
        if mixture.kind != "quantities":
            return cls(mixture.kind, model.classes_)
        width = len(mixture.prior)
        names = list(y.columns) if hasattr(y, "columns") else list(range(width))
        return cls("quantities", np.asarray(names) if width > 1 else None)

    @property
    def columns(self) -> list[Any] | None:
        """Names of the columns of predictions; None if there is one value for each row."""
        if self.kind == "classes" or self.names is None:
            return None
        return list(self.names.tolist())

    @property
    def dtype(self) -> Any:
        """The type of predictions."""
        if self.kind == "classes":
            assert self.names is not None
            return self.names.dtype
        return np.dtype(np.int64 if self.kind == "labels" else np.float64)

    def check(self, y: Any) -> None:
        """Raise if a collection of labels has other columns than the model tells."""
        n_columns = int(y.shape[1]) if getattr(y, "ndim", 1) == 2 else 1
        wanted = 1 if self.names is None else len(self.names)
        lists = self.kind == "labels" and n_columns == 1
        one = self.kind == "classes" and n_columns == 1
        if n_columns != wanted and not (lists or one):
            raise ValueError(
                f"y has {n_columns} columns, and the model has learnt {wanted}; pass one for each."
            )

    def target(self, labels: Any, unlabeled: Any) -> Target:
        """Return the labels of a partition."""
        if self.kind == "classes":
            return self._classes(labels, unlabeled)
        if self.names is None:
            mask, known = known_targets(labels, unlabeled)
            return Target(np.flatnonzero(mask), known[:, None], "quantities")
        if len(getattr(labels, "shape", (0,))) == 1:
            table = table_of_lists(labels, self.names)  # they may all be missing
        else:
            table = table_of(labels, unlabeled, self.names)
        return label_target(table, _all(table))._replace(kind=self.kind)

    def _classes(self, labels: Any, unlabeled: Any) -> Target:
        assert self.names is not None
        if are_columns(labels):
            table = table_of(labels, unlabeled, self.names)
            return share_target(table, _all(table), self.names)
        mask, known = split_labels(labels, unlabeled, "classes")
        assert isinstance(known, np.ndarray)
        return Target(np.flatnonzero(mask), known, "classes")


def _all(table: Table) -> NDArray[np.bool_]:
    return np.ones(table.shape[0], dtype=bool)

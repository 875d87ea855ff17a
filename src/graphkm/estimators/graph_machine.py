"""Kernel machines that follow a graph of all rows: their own, or one that is given."""

from __future__ import annotations

from typing import Any

from ..graphs import GraphPart
from ..graphs.affinity import summed_affinity
from ..graphs.given_edges import Ids
from ..graphs.row_ids import without_ids
from .kernel_machine import KernelMachine


class GraphMachine(KernelMachine):
    """A kernel machine with the parameter `graph`, whose `fit` takes an affinity instead."""

    graph: str | GraphPart

    def _rows_of_fit(self, X: Any, affinity: Any, ids: Any) -> tuple[Any, Any]:
        """Return the rows, checked, and the weights of the given graph; None if there is none."""
        if affinity is None:
            if ids is not None:
                raise ValueError("ids name the rows of an affinity; pass both, or none of them.")
            return self._validate_rows(X, reset=True), None
        if X is None:
            raise ValueError(
                f"X is None, and {type(self).__name__} needs rows; SemiSupervisedClassifier and "
                "SemiSupervisedRegressor learn from edges alone."
            )
        X, names = without_ids(X, ids)
        rows = self._validate_rows(X, reset=True)
        return rows, summed_affinity(affinity, Ids(rows.shape[0], names))

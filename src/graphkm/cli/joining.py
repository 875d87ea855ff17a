"""Graphs of the rows to learn from, which --edges gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graphs.given_edges import Ids, weights_of
from ..io import DataFileError
from .edge_files import Calls, EdgeList, read_edges
from .options import Missing, TrainingFileOptions, UsageError


@dataclass(frozen=True)
class GivenGraphs:
    """Graphs of all rows to learn from."""

    weights: dict[str, Any] = field(default_factory=dict)  # by name, CSR arrays
    counts: dict[str, int] = field(default_factory=dict)  # of edges in the files
    ids: NDArray[Any] | None = None  # what edges call the rows; None for their numbers

    @property
    def for_fit(self) -> dict[str, Any]:
        """What `fit` takes besides rows and labels."""
        return {"affinity": self.weights, "ids": self.ids} if self.weights else {}


def check_edges(method: str, files: TrainingFileOptions) -> None:
    """Raise if a method takes no edges, or if rows that edges lead to may be left out."""
    if method != "mixture":
        raise UsageError(
            f"--edges belongs to --method mixture, and the method is {method}, which makes a graph "
            "of the features itself. Leave --edges out, or --method."
        )
    if files.skip_bad_rows or files.missing is Missing.drop:
        option = "--skip-bad-rows" if files.skip_bad_rows else "--missing drop"
        raise UsageError(
            f"{option} leaves rows out, and edges that lead to them would end nowhere. Leave it "
            "out; --missing impute fills missing values in."
        )


def read_graphs(
    paths: Mapping[str, str], ids: NDArray[Any] | None, n_rows: int, column: str | None
) -> GivenGraphs:
    """Read the graphs of all rows to learn from.

    Parameters
    ----------
    paths : dict of str
        The files by the names of their graphs.
    ids : ndarray or None
        What edges call the rows; None for their numbers.
    n_rows : int
        How many rows there are.
    column : str or None
        The column of ids.
    """
    if not paths:
        return GivenGraphs()
    rows = Ids(n_rows, ids)
    told = (
        f"Edges have the numbers of rows, from 0 to {n_rows - 1}, unless --id names their column."
    )
    calls = calls_of(rows, told, column)
    weights, counts = {}, {}
    for name, path in paths.items():
        edges = read_edges(path, calls)
        found = weights_in(path, edges, rows)
        if not found.nnz - np.count_nonzero(found.diagonal()):
            raise DataFileError(
                f"{path} joins no row to another one: its edges have weight 0, or the same row at "
                "both ends. Leave it out, or correct it."
            )
        weights[name], counts[name] = found, len(edges.edge_weight)
    return GivenGraphs(weights, counts, ids)


def calls_of(rows: Ids, numbers: str, column: str | None, more: Sequence[str] = ()) -> Calls:
    """Return what edges may call rows.

    `numbers` is the advice where that is their numbers, and `more` are ids of new rows.
    """
    if rows.names is None:
        return Calls(None, numbers)
    told = f"Edges have the ids of the column {column!r}, like {rows.names[0].item()!r}."
    if rows.names.dtype.kind in "iu":
        return Calls(None, told)
    return Calls(frozenset(rows.names.tolist()).union(more), told)


def weights_in(path: str, edges: EdgeList, rows: Ids, known: Ids | None = None) -> Any:
    """Return the weights of a file's edges; raise for one that leads nowhere. See `weights_of`."""
    try:
        return weights_of(edges, rows, known)
    except ValueError as error:
        raise DataFileError(f"{path}: {error}") from error

"""Edges that join the rows of a file to the rows that a model has learnt from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..graphs.given_edges import Ids
from ..io.kinds import number_text
from .edge_files import read_edges
from .joining import calls_of, weights_in
from .model_files import FileNote, last_step
from .options import FileOptions, UsageError
from .output import say
from .row_files import open_known, read_whole
from .row_ids import all_whole, as_ids, check_ids
from .row_table import Table


@dataclass(frozen=True)
class Links:
    """Edges of the rows of a file to the rows that a model knows.

    Without any, a model is asked about features alone.
    """

    weights: dict[str, Any] = field(default_factory=dict)  # by name, CSR arrays

    def ask(self, model: Any, method: str, X: Any, rows: Any) -> NDArray[Any]:
        """Return what a method of a model says of rows, whose numbers in the file are given."""
        if not self.weights:
            return np.asarray(getattr(model, method)(X))
        last = last_step(model)
        prepared = X if last is model else model[:-1].transform(X)
        some = {name: each[rows] for name, each in self.weights.items()}
        return np.asarray(getattr(last, method)(prepared, affinity=some))


def known_rows(model: Any) -> Ids | None:
    """Return what edges call the rows that a model knows; None if it knows no edges."""
    linked = getattr(getattr(last_step(model), "mixture_", None), "linked", None)
    return None if linked is None else linked.ids


def note_no_edges(model: Any, path: Path) -> None:
    """Tell that a model would take edges, where none are given."""
    if known_rows(model) is not None:
        say(
            f"note: {path} has learnt from edges, and none are given here; the features of rows "
            "decide alone."
        )


@contextmanager
def open_joined(
    data: str,
    files: FileOptions,
    fitted: Any,
    note: FileNote,
    paths: Mapping[str, str],
    *,
    model: Path,
    kept: Sequence[tuple[str, str]] = (),
    labels: bool = False,
) -> Iterator[tuple[Table, Links]]:
    """Open a file for a model as `open_known` does, with the edges of its rows.

    Parameters
    ----------
    data, files, note, kept, labels
        As `open_known` takes them. If edges call rows by ids, these are the first kept column.
    fitted : estimator or Pipeline
        The model.
    paths : dict of str
        The files of edges by the names of their graphs. With edges, all rows are held in memory.
    model : Path
        The file of the model, for messages.
    """
    if not paths:
        note_no_edges(fitted, model)
        with open_known(data, files, note, labels=labels, kept=kept) as table:
            yield table, Links()
        return
    column = kept[0][0] if kept and kept[0][1] == "--id" else None
    _check_joined(fitted, model, column)
    note = replace(note, id=column)  # it is no feature, whatever the model was trained on
    with open_known(data, files, note, labels=labels, kept=kept) as table:
        X, y = read_whole(table)
        ids = None if column is None else [cells[0] for cells in table.kept]
        if column is not None and ids is not None:
            check_ids(ids, table.name, column)
        links = read_links(paths, fitted, len(y), ids, column)
        yield replace(table, pieces=iter([(X, y)])), links


def _check_joined(model: Any, path: Path, id: str | None) -> None:
    """Raise if new rows cannot be joined to those of a model."""
    known = known_rows(model)
    if known is None:
        raise UsageError(
            f"--edges: {path} was trained without edges, so new rows cannot be joined to known "
            "ones. Leave --edges out, or train with --edges."
        )
    if known.names is not None and id is None:
        raise UsageError(
            f"--edges: {path} calls its rows by ids, like {known.names[0].item()!r}. Name the "
            "column of the new rows' ids with --id."
        )


def read_links(
    paths: Mapping[str, str], model: Any, n_rows: int, ids: Sequence[str] | None, column: str | None
) -> Links:
    """Read edges that join the rows of a file to those that a model knows.

    A row with the id of a known row is that row: it gets what the fit says of it.

    Parameters
    ----------
    paths : dict of str
        The files by the names of their graphs.
    model : estimator or Pipeline
        It has learnt from edges.
    n_rows : int
        How many rows the file has.
    ids : list of str or None
        Their ids; None for their numbers.
    column : str or None
        The column of ids.
    """
    rows, known = _of_one_kind(n_rows, ids, known_rows(model))
    told = "An edge has the number of a new row, and then that of a row of training, both from 0."
    calls = calls_of(known, told, column, ids or ())
    found = {
        name: weights_in(path, read_edges(path, calls), rows, known) for name, path in paths.items()
    }
    if rows.names is None:
        return Links(found)
    own = known.among(rows.names)
    if (own >= 0).any():
        say(
            f"note: {int((own >= 0).sum()):,} of {n_rows:,} rows have ids of rows that the model "
            "has learnt from; they get what the fit says of them."
        )
    return Links({name: _to_themselves(weights, own) for name, weights in found.items()})


def _of_one_kind(n_rows: int, ids: Sequence[str] | None, known: Any) -> tuple[Ids, Ids]:
    """Return what edges call new rows and known rows: numbers in both, or texts in both."""
    if ids is None:
        return Ids(n_rows), known
    names = range(len(known)) if known.names is None else known.names.tolist()
    words = [number_text(name) if isinstance(name, float) else str(name) for name in names]
    whole = all_whole(words) and all_whole(ids)
    made = as_ids if whole else _as_texts
    return Ids(n_rows, made(ids)), Ids(len(words), made(words))


def _as_texts(found: Sequence[str]) -> NDArray[Any]:
    return np.array(found, dtype=str)


def _to_themselves(weights: Any, own: NDArray[np.int64]) -> Any:
    """Join rows that the model knows to themselves alone; `own` has their places, or -1."""
    places = np.flatnonzero(own >= 0)
    themselves = sp.csr_array(
        (np.ones(len(places), dtype=weights.dtype), (places, own[places])), shape=weights.shape
    )
    return sp.csr_array(sp.diags_array((own < 0).astype(weights.dtype)) @ weights + themselves)

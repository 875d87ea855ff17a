"""Files of edges: tables with two ends, and a weight if there is one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..io import DataFileError
from ..io.cells import Cells, Column, texts
from ..io.columns import Columns, Head, listed
from ..io.csv import UNNAMED, is_number
from ..io.files import STDIN
from ..io.kinds import NUMBER, values
from ..io.row_files import OpenTable
from .opening import Source, reading
from .options import FileOptions, UsageError
from .row_files import reading_bar

_ENDS = ("source", "target")
_WEIGHT = "weight"
_PACKED = (".gz", ".bz2", ".xz")
_ALL = "all"  # the library's name for all graphs at once
_EXACT = 2**53  # whole numbers up to here are exact as floats
_SHAPE = "name two columns source and target (and one weight), or keep two or three columns."


class EdgeList(NamedTuple):
    """Edges one by one. Graphs of PyTorch Geometric have the same names, and fit takes both."""

    edge_index: NDArray[Any]  # of shape (2, n_edges)
    edge_weight: NDArray[np.float64]


def named_files(given: Sequence[str], *others: str | None) -> dict[str, str]:
    """Return the paths of --edges by the names of their graphs.

    Parameters
    ----------
    given : list of str
        What --edges was given: FILE or NAME=FILE. A file without a name has its own.
    *others : str or None
        Other files that the command reads.

    Examples
    --------
    >>> named_files(["data/cites.csv.gz", "friends=edges.tsv"])
    {'cites': 'data/cites.csv.gz', 'friends': 'edges.tsv'}
    """
    found: dict[str, str] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not sign or os.path.exists(text):
            name, path = _own_name(text), text
        if not (name.strip() and path):
            raise UsageError(f"--edges {text}: write --edges FILE or --edges NAME=FILE.")
        if name in found or name == _ALL:
            taken = "stands for all graphs at once" if name == _ALL else "is another graph"
            raise UsageError(f"--edges {text}: {name} {taken}; write --edges NAME=FILE.")
        found[name] = path
    if [*found.values(), *others].count(STDIN) > 1:
        raise UsageError("- stands for standard input, which can be read only once; name files.")
    return found


def _own_name(path: str) -> str:
    if path == STDIN:
        return "given"
    name = PurePath(path)
    return (PurePath(name.stem) if name.suffix in _PACKED else name).stem


@dataclass(frozen=True)
class Calls:
    """What the ends of edges may be.

    Parameters
    ----------
    words : set of str or None
        The ids of rows; None if they are whole numbers.
    advice : str
        What to do about an end that is something else.
    """

    words: frozenset[str] | None
    advice: str

    def has(self, cell: str) -> bool:
        """Return whether a cell may be an end, and not the name of a column."""
        return is_number(cell) if self.words is None else cell in self.words


def read_edges(path: str, calls: Calls) -> EdgeList:
    """Read a file of edges. Ends are whole numbers, or texts as the file has them."""
    source = Source.at(path)
    chosen = _look(source, calls)
    options = FileOptions(header=chosen.header)
    found = []
    with (
        source.open(options, advice=calls.advice) as opened,
        reading_bar(opened.name) as bar,
    ):
        for piece in _pieces(opened, chosen, options, calls):
            found.append(piece)
            bar.update(len(piece.edge_weight))
    if not found:
        raise DataFileError(f"{opened.name} holds no edges.")
    return EdgeList(
        np.concatenate([each.edge_index for each in found], axis=1),
        np.concatenate([each.edge_weight for each in found]),
    )


# ------------------------------------------------------------------ which columns


@dataclass(frozen=True)
class _Chosen:
    """Chooses two ends, and the weight if there is one."""

    places: tuple[int, ...]
    header: bool

    def likely_label(self, width: int) -> None:
        return None

    def choose(self, head: Head) -> Columns:
        return Columns(head, self.places, None)


class _Anything:
    """Chooses nothing: for a look at the head of a table."""

    def likely_label(self, width: int) -> None:
        return None

    def choose(self, head: Head) -> Columns:
        return Columns(head, (), None)


def _look(source: Source, calls: Calls) -> _Chosen:
    """Return where the ends are, and whether the first line of CSV holds names.

    It does if neither end is an id. So no guess is needed, as it is for other tables.
    """
    options = FileOptions(header=False)
    with source.open(options) as opened:
        if opened.format == "libsvm":
            raise DataFileError(f"{opened.name} looks like LIBSVM, which has no edges; {_SHAPE}")
        head = opened.cells(_Anything(), **reading(options))[0].head
    names = [name.strip() for name in head.names or head.first_row]
    index = {k for k, name in enumerate(names) if k in head.index or name in UNNAMED}
    if set(_ENDS) <= set(names):
        rest = [k for k, name in enumerate(names) if name not in _ENDS and k not in index]
        weight = [k for k in rest if names[k] == _WEIGHT] or (rest if len(rest) == 1 else [])
        return _Chosen((*map(names.index, _ENDS), *weight[:1]), header=True)
    places = tuple(k for k in range(head.width) if k not in head.index)
    if len(places) not in (2, 3):
        count = f"{len(places)} column{'s' * (len(places) != 1)}"
        raise DataFileError(f"{head.file} has {count} ({listed(names)}); {_SHAPE}")
    named = head.names is not None or not any(calls.has(names[k]) for k in places[:2])
    return _Chosen(places, named)


# ------------------------------------------------------------------ which edges


def _pieces(opened: OpenTable, chosen: _Chosen, options: FileOptions, calls: Calls) -> Any:
    if calls.words is None and opened.format == "csv":  # the compiled parser reads numbers
        _, rows = opened.columns(chosen, labels="number", **reading(options))
        return (_edges(opened, X.T[:2], *X.T[2:]) for X, _ in rows)
    _, pieces = opened.cells(chosen, **reading(options))
    return (_from_cells(opened, piece, chosen.places, calls) for piece in pieces)


def _from_cells(opened: OpenTable, piece: Cells, places: tuple[int, ...], calls: Calls) -> EdgeList:
    u, v, *weights = (piece.columns[k] for k in places)
    numbers = [_numbers(opened, each, piece.places) for each in weights]
    if calls.words is None:
        return _edges(opened, [_numbers(opened, each, piece.places) for each in (u, v)], *numbers)
    ends = np.array([texts(u), texts(v)], dtype=object)
    return EdgeList(ends, numbers[0] if numbers else np.ones(ends.shape[1]))


def _numbers(opened: OpenTable, column: Column, places: list[int]) -> NDArray[np.float64]:
    """Return cells as numbers; raise if one is missing, or none."""
    if not isinstance(column, list) and column.kind != NUMBER:
        column = column.texts()
    found, wrong = values(column, NUMBER) if isinstance(column, list) else (column.numbers(), {})
    wrong |= {
        int(k): "a value is missing" for k in np.flatnonzero(np.isnan(found)) if k not in wrong
    }
    for place in sorted(wrong):
        opened.bad_rows.add(places[place], wrong[place])
    return found


def _edges(opened: OpenTable, ends: Any, *weight: NDArray[np.float64]) -> EdgeList:
    """Return edges whose ends are whole numbers; raise for any other number."""
    found = np.asarray(ends)
    strange = found[(found != np.floor(found)) | (np.abs(found) > _EXACT)]
    if len(strange):
        raise DataFileError(
            f"{opened.name}: an edge ends at {strange[0]}, which is no whole number. "
            f"{opened.bad_rows.advice}"
        )
    return EdgeList(found.astype(np.int64), weight[0] if weight else np.ones(found.shape[1]))

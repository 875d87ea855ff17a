"""Which columns of a table are features, in which order, and which one is the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..io import DataFileError
from .errors import UsageError
from .memory import Memory

USUAL_LABEL = "label"
_SHOWN = 8  # names that a message repeats


@dataclass(frozen=True)
class Head:
    """What the beginning of a table tells.

    Attributes
    ----------
    file : str
        What messages call it.
    names : sequence of str, optional
        Of all columns; None where there are no names.
    width : int
        The number of columns.
    """

    file: str
    names: Sequence[str] | None
    width: int


@dataclass(frozen=True)
class Layout:
    """Positions in a table, from 0.

    Attributes
    ----------
    features : tuple of int
        The features' columns, in the order the model has them.
    label : int, optional
        None: there is none.
    names : tuple of str, optional
        The features' names.
    label_name : str or int, optional
        The label's column as a user calls it.
    """

    features: tuple[int, ...]
    label: int | None
    names: tuple[str, ...] | None = None
    label_name: str | int | None = None

    @property
    def kept(self) -> list[int]:
        """Columns that are read, as they stand in the file."""
        return sorted((*self.features, *(() if self.label is None else (self.label,))))

    @property
    def order(self) -> list[int] | None:
        """The features' places among those of the file; None if nothing is to be moved."""
        places = {column: k for k, column in enumerate(sorted(self.features))}
        order = [places[column] for column in self.features]
        return None if order == sorted(order) else order


def find_column(head: Head, wanted: str, flag: str) -> int:
    """Return the position of a column given by its name or its number from 1.

    Examples
    --------
    >>> find_column(Head("a.csv", ["x", "z"], 2), "z", "--label")
    1
    >>> find_column(Head("a.csv", None, 2), "-1", "--label")
    1
    """
    names = list(head.names or ())
    if names.count(wanted) > 1:
        raise DataFileError(f"{head.file}: several columns are called {wanted!r}; rename them.")
    if wanted in names:
        return names.index(wanted)
    try:
        number = int(wanted)
    except ValueError:
        number = 0
    if not 1 <= abs(number) <= head.width:
        kind = f"the columns are {_listed(names)}" if names else f"they are {head.width}, nameless"
        raise UsageError(f"{flag} {wanted}: {head.file} has no such column; {kind}.")
    return number - 1 if number > 0 else head.width + number


def training_layout(head: Head, label: str | None, drop: Sequence[str]) -> Layout:
    """Return the layout of a table to learn from: all columns but the label are features."""
    dropped = {find_column(head, column, "--drop") for column in drop}
    if label is not None:
        position = find_column(head, label, "--label")
    elif head.names is not None and USUAL_LABEL in head.names:
        position = find_column(head, USUAL_LABEL, "--label")
    else:
        position = max((k for k in range(head.width) if k not in dropped), default=0)
    features = tuple(k for k in range(head.width) if k != position and k not in dropped)
    if not features:
        raise DataFileError(
            f"{head.file}: no feature is left beside the label; its first line has {head.width} "
            "column(s). Is --delimiter right?"
        )
    if head.names is None:
        return Layout(features, position, None, position + 1)
    names = tuple(head.names[k] for k in features)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataFileError(f"{head.file}: several columns are called {twice!r}; rename them.")
    return Layout(features, position, names, head.names[position])


def known_layout(head: Head, memory: Memory, label: str | None, drop: Sequence[str]) -> Layout:
    """Return the layout of a table for a model that knows its columns."""
    if memory.columns is None or head.names is None:
        return _by_position(head, memory, label, drop)
    missing = [name for name in memory.columns if name not in head.names]
    if missing:
        raise DataFileError(
            f"{head.file} lacks {len(missing)} of the model's {len(memory.columns)} columns: "
            f"{_listed(missing)}."
        )
    features = tuple(find_column(head, name, "--drop") for name in memory.columns)
    position = None
    if label is not None:
        position = find_column(head, label, "--label")
    elif memory.label in head.names:
        position = find_column(head, str(memory.label), "--label")
    return Layout(features, position, tuple(memory.columns))


def _by_position(head: Head, memory: Memory, label: str | None, drop: Sequence[str]) -> Layout:
    """Return the layout where one of the two has no names: the columns' order must be the same."""
    dropped = {find_column(head, column, "--drop") for column in drop}
    left = [k for k in range(head.width) if k not in dropped]
    position = None
    if label is not None:
        position = find_column(head, label, "--label")
    elif head.names is not None and USUAL_LABEL in head.names:
        position = find_column(head, USUAL_LABEL, "--label")
    elif len(left) == memory.n_features + 1:
        numbered = isinstance(memory.label, int) and memory.label - 1 in left
        position = int(memory.label) - 1 if numbered else left[-1]  # type: ignore[arg-type]
    features = tuple(k for k in left if k != position)
    if len(features) != memory.n_features:
        raise DataFileError(
            f"{head.file} has {len(features)} columns of features, and the model knows "
            f"{memory.n_features}. Are --delimiter, --label and --drop right?"
        )
    return Layout(features, position)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")

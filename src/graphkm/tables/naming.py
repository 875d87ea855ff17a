"""Columns by their names: the one that an option names, and the one that is called label."""

from __future__ import annotations

from collections.abc import Sequence

from ..io.columns import Head, listed
from ..io.files import DataFileError

USUAL_LABEL = "label"


class UnknownColumnError(DataFileError):
    """An option names a column that the table does not have."""


def check_names(file: str, names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataFileError(f"{file}: several columns are called {twice!r}; rename them.")


def find_column(head: Head, wanted: str, flag: str = "--label") -> int:
    """Return the position of a column given by its name or its number from 1.

    Examples
    --------
    >>> find_column(Head("a.csv", ["x", "z"], 2), "z")
    1
    >>> find_column(Head("a.csv", None, 2), "-1")
    1
    """
    names = list(head.names or ())
    if wanted in names:
        check_names(head.file, [name for name in names if name == wanted])
        return names.index(wanted)
    try:
        number = int(wanted)
    except ValueError:
        number = 0
    if not 1 <= abs(number) <= head.width:
        kind = (
            f"the columns are {listed(names)}"
            if names
            else f"it has {head.width} columns without names"
        )
        raise UnknownColumnError(f"{flag} {wanted}: {head.file} has no such column; {kind}.")
    return number - 1 if number > 0 else head.width + number


def is_usual_label(name: str | int | None) -> bool:
    """Return whether a column's name says that it holds the label: label, Label or LABEL."""
    return isinstance(name, str) and name.lower() == USUAL_LABEL


def label_column(head: Head, label: str | None) -> int | None:
    """Return the position of the given label, or of the column called label."""
    usual = [name for name in head.names or () if is_usual_label(name)]
    if label is None and usual:
        label = USUAL_LABEL if USUAL_LABEL in usual else usual[0]
        if label != USUAL_LABEL and len(usual) > 1:
            raise DataFileError(
                f"{head.file}: several columns may hold the label ({listed(usual)}); name one with "
                "--label."
            )
    return None if label is None else find_column(head, label)

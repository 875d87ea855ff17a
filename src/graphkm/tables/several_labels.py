"""Several labels of a row: a column for each of them, or one column with their names.

A column for each holds 0 and 1, yes and no, or true and false; other numbers are quantities. One
column holds names with a separator between them, and `NONE` where a row has none of the labels. An
empty cell is unknown in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..io.bad_rows import BadRows
from ..io.cells import Cells, Column, texts
from ..io.columns import Columns
from ..io.files import DataFileError
from ..io.kinds import EMPTY, NUMBER, TRUTH, WORD, label_word, values
from .label_kinds import label_kind, number_labels

Array = NDArray[np.float64]

NONE = "-"
"""The cell of a row that has none of the labels, where one column holds their names."""

_TRUTHS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_TRUTHS |= {"1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0}


def label_table(cells: Cells, columns: Columns, unlabeled: str | None, bad_rows: BadRows) -> Array:
    """Return a column of numbers for each column of labels, NaN where a label is not known.

    Parameters
    ----------
    cells : Cells
        Rows of the table.
    columns : Columns
        Its `labels` are read.
    unlabeled : str or None
        What else marks a label that is not known.
    bad_rows : BadRows
        The file's name in messages.
    """
    out = np.empty((len(cells.places), len(columns.labels)))
    for place, k in enumerate(columns.labels):
        column = cells.columns[k]
        if not isinstance(column, list) and column.kind in (NUMBER, TRUTH):
            out[:, place] = number_labels(column.numbers(), unlabeled, bad_rows)
            continue
        out[:, place], wrong = _numbers(column, unlabeled)
        for row, word in wrong.items():
            raise DataFileError(
                f"{bad_rows.name}, {bad_rows.place} {cells.places[row]}: {word[:40]!r} in the "
                f"column {columns.name_of(k)} is no label: labels are 0 or 1, yes or no, true or "
                "false, and empty where they are not known; quantities are numbers."
            )
    return out


def _numbers(column: Column, unlabeled: str | None) -> tuple[Array, dict[int, str]]:
    """Return a column of labels as numbers, and the cells that are none, by their rows.

    Examples
    --------
    >>> _numbers(["yes", "", "No"], None)
    (array([ 1., nan,  0.]), {})
    >>> _numbers(["yes", "maybe"], None)
    (array([ 1., nan]), {1: 'maybe'})
    """
    words = [label_word(word, unlabeled) for word in texts(column)]
    kind = label_kind(words)
    if kind not in (WORD, EMPTY):
        return values([word or "" for word in words], kind)[0], {}
    found = [np.nan if word is None else _TRUTHS.get(word.lower(), np.nan) for word in words]
    wrong = {
        row: word
        for row, word in enumerate(words)
        if word is not None and word.lower() not in _TRUTHS
    }
    return np.array(found), wrong


def split_names(word: str | None, separator: str) -> list[str] | None:
    """Return the names of labels in a cell; None if the labels of its row are not known.

    Examples
    --------
    >>> split_names("red; blue", ";"), split_names("-", ";"), split_names(None, ";")
    (['red', 'blue'], [], None)
    """
    if word is None:
        return None
    parts = [part.strip() for part in word.split(separator)]
    return [name for name in parts if name and name != NONE]


def joined_names(names: Iterable[str], separator: str) -> str:
    """Return names of labels as one cell.

    Examples
    --------
    >>> joined_names(["red", "blue"], ";"), joined_names([], ";")
    ('red;blue', '-')
    """
    return separator.join(names) or NONE


def table_of_names(words: Iterable[str | None], separator: str, names: Sequence[str]) -> Array:
    """Return a column for each label from cells with their names; other names do not count.

    Examples
    --------
    >>> table_of_names(["b;c", None, "-"], ";", ["a", "b"])
    array([[ 0.,  1.],
           [nan, nan],
           [ 0.,  0.]])
    """
    lists = [split_names(word, separator) for word in words]
    to = {name: place for place, name in enumerate(names)}
    out = np.full((len(lists), len(names)), np.nan)
    for row, each in enumerate(lists):
        if each is not None:
            out[row] = 0.0
            out[row, [to[name] for name in each if name in to]] = 1.0
    return out

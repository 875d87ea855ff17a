"""What becomes of a table's columns: which are numbers or categories, and which are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.bad_rows import BadRows
from ..io.cells import Cells, Column, texts
from ..io.columns import Columns, Head
from ..io.files import DataFileError
from ..io.kinds import (
    DATE,
    EMPTY,
    IMAGE,
    MISSING,
    NUMBER,
    TEXT,
    WORD,
    is_date,
    kind_of,
    values,
)
from .naming import UnknownColumnError, find_column

_FEW = 20  # up to so many different words are categories, however few rows there are
DIFFERENT_TEXTS = "different texts"
"""What the reason to leave out a column of texts says."""
_FLAGS = {TEXT: "--text", IMAGE: "--images"}
_OBJECTS = (WORD, TEXT, IMAGE)  # kinds whose cells stay texts
NO_ENCODED: Mapping[str, str] = MappingProxyType({})
"""No column is encoded."""


class NoFeaturesError(DataFileError):
    """No column of a table is left to learn from."""


@dataclass(frozen=True)
class Treatment:
    """How the columns of a table are treated."""

    kinds: tuple[str, ...] = ()  # of the features, in their order
    left_out: dict[str, str] = field(default_factory=dict)  # names of columns, and why
    label: str = NUMBER  # how labels that are numbers are written


def treat(
    cells: Cells, columns: Columns, categorical: str, encoded: Mapping[str, str] = NO_ENCODED
) -> tuple[Columns, Treatment]:
    """Return the columns to learn from, and their kinds.

    `categorical` is "auto", "none", or the names of the columns that are categories. `encoded` has
    the names of the columns that are texts or paths of pictures, and their kinds.
    """
    named = _named(columns, categorical)
    encoders = encoded_places(columns.head, encoded)
    for k in encoders.keys() - {*columns.features}:
        raise UnknownColumnError(
            f"{_FLAGS[encoders[k]]}: the column {columns.name_of(k)} is the label, or is left out."
        )
    kinds: dict[int, str] = {}
    left_out: dict[str, str] = {}
    for k in columns.features:
        if k in encoders:
            kinds[k] = encoders[k]
            continue
        call, column = columns.name_of(k), cells.columns[k]
        kind, why = (WORD, "") if k in named else _kind(column, call, columns.head.file)
        if kind == WORD and k not in named:
            why = _refuse_or_leave(column, k, columns, categorical)
        if kind == EMPTY:
            why = "no value"
        if not why:
            kinds[k] = kind
        elif columns.head.names is None:
            raise DataFileError(
                f"{columns.head.file}: the column number {k + 1} has {why}; leave it out with "
                f"--drop {k + 1}."
            )
        else:
            left_out[columns.head.names[k]] = why
    if not kinds:
        raise NoFeaturesError(
            f"{columns.head.file}: no feature is left beside the label; "
            + "; ".join(f"{name!r} has {why}" for name, why in left_out.items())
            + ". Name columns of words that are features with --categorical."
        )
    return replace(columns, features=tuple(kinds)), Treatment(tuple(kinds.values()), left_out)


def names_columns(categorical: str) -> bool:
    """Return whether an option of categories names columns; it may be "auto" or "none".

    Examples
    --------
    >>> names_columns("auto"), names_columns("hue,kind")
    (False, True)
    """
    return categorical not in ("auto", "none")


def _named(columns: Columns, categorical: str) -> set[int]:
    if not names_columns(categorical):
        return set()
    names = [name.strip() for name in categorical.split(",") if name.strip()]
    found = {find_column(columns.head, name, "--categorical") for name in names}
    for k in found - set(columns.features):
        raise UnknownColumnError(
            f"--categorical: the column {columns.name_of(k)} is the label, or is left out."
        )
    return found


def encoded_places(head: Head, encoded: Mapping[str, str]) -> dict[int, str]:
    """Return the kinds of the columns that are encoded, by their places.

    Examples
    --------
    >>> encoded_places(Head("a.csv", ["review", "stars"], 2), {"review": "text"})
    {0: 'text'}
    """
    return {find_column(head, name, _FLAGS[kind]): kind for name, kind in encoded.items()}


def _kind(column: Column, call: str, file: str) -> tuple[str, str]:
    """Return the kind of a column, and no reason to leave it out."""
    if not isinstance(column, list):
        return (EMPTY if column.empty else column.kind), ""
    try:
        return kind_of(column), ""
    except ValueError as error:
        raise DataFileError(
            f"{file}: in the column {call}, {error}, or leave it out with --drop."
        ) from None


def _refuse_or_leave(column: Any, k: int, columns: Columns, categorical: str) -> str:
    """Return why a column of words is left out, if it is; raise if words are not wanted."""
    present = [word for word in column if word not in MISSING]
    different = len(set(present))
    if categorical != "auto":
        advice = "--categorical none" if categorical == "none" else "not named in --categorical"
        raise DataFileError(
            f"{columns.head.file}: the column {columns.name_of(k)} holds words ({present[0]!r}), "
            f"and is {advice}. Name it there, or leave it out with --drop."
        )
    if are_texts(different, len(present)):
        return f"{different:,} {DIFFERENT_TEXTS} in {len(present):,} rows"
    return ""


def are_texts(n_different: int, n: int) -> bool:
    """Return whether n words, `n_different` of them different, are texts and not categories.

    Examples
    --------
    >>> are_texts(12, 12), are_texts(300, 400), are_texts(300, 4000)
    (False, True, False)
    """
    return n_different > _FEW and 2 * n_different > n


def rows_of(
    cells: Cells,
    columns: Columns,
    kinds: Sequence[str],
    missing: str,
    bad_rows: BadRows,
    gaps: BadRows | None = None,
    folder: Path | None = None,
) -> tuple[Any, Cells]:
    """Return the features of some rows, and their cells without the bad rows.

    The features are floats, or objects if some are categories; a missing value is NaN. Unless it is
    filled in later, its row is left out and added to `gaps`; without `gaps`, to `bad_rows`. Paths
    of pictures are seen from `folder`; a picture that cannot be read makes a bad row.
    """
    features, bad, gone = [], dict[int, str](), dict[int, str]()
    for k, kind in _pairs(columns, kinds):
        _check_kind(cells.columns[k], kind, columns, k)
        values, wrong = _feature(cells.columns[k], kind, folder)
        features.append(values)
        where = f"in column {_in_column(columns, k)}"
        for place, reason in wrong.items():
            bad.setdefault(place, f"{reason}, {where}")
        for place in np.flatnonzero(values != values).tolist() if missing != "impute" else ():
            gone.setdefault(place, f"a value is missing, {where}")
    for place in sorted(bad | gone):
        told, reason = (bad_rows, bad[place]) if place in bad else (gaps or bad_rows, gone[place])
        told.add(cells.places[place], reason)
    good = np.ones(len(cells.places), dtype=bool)
    good[list(bad | gone)] = False
    X = np.empty((len(good), len(features)), dtype=object if {*kinds} & {*_OBJECTS} else np.float64)
    for j, values in enumerate(features):
        X[:, j] = values
    return X[good], cells.chosen(good)


def _pairs(columns: Columns, kinds: Sequence[str]) -> list[tuple[int, str]]:
    return list(zip(columns.features, kinds or [NUMBER] * len(columns.features), strict=True))


def _check_kind(column: Column, kind: str, columns: Columns, k: int) -> None:
    """Raise if Parquet has dates where numbers are expected, or numbers where dates are."""
    if isinstance(column, list) or kind in _OBJECTS or column.empty:
        return
    if (column.kind == DATE) != is_date(kind):
        found, wanted = ("dates", "numbers") if column.kind == DATE else ("numbers", "dates")
        raise DataFileError(
            f"{columns.head.file}: the column {columns.name_of(k)} holds {found}, where the model "
            f"knows {wanted}."
        )


def _in_column(columns: Columns, k: int) -> str:
    return str(k + 1) if columns.head.names is None else repr(columns.head.names[k])


def _feature(column: Column, kind: str, folder: Path | None) -> tuple[NDArray[Any], dict[int, str]]:
    """Return the values of a feature, and complaints about some of them."""
    if kind == IMAGE:
        return _pictures(texts(column), folder)
    if kind in _OBJECTS:
        gaps = MISSING if kind == WORD else ("",)  # a text may well be ?
        out = np.empty(len(column), dtype=object)
        out[:] = [np.nan if word in gaps else word for word in texts(column)]
        return out, {}
    if isinstance(column, list):
        return values(column, kind)
    numbers = column.numbers()
    infinite = np.flatnonzero(np.isinf(numbers)).tolist()
    return numbers, {place: f"the value of {numbers[place]} is not finite" for place in infinite}


def _pictures(names: list[str], folder: Path | None) -> tuple[NDArray[Any], dict[int, str]]:
    """Return absolute paths of pictures, and complaints about those that cannot be read."""
    from ..embed import broken_pictures

    where = (folder or Path()).absolute()
    out = np.empty(len(names), dtype=object)
    out[:] = [str(where / name) for name in names]
    broken = broken_pictures(out)
    wrong = {place: why.partition(". Replace")[0] for place, why in broken.items()}
    return out, wrong | {k: "no picture is named" for k, name in enumerate(names) if not name}

"""What the cells of a column hold: numbers, numbers with a decimal comma, dates, or words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

NUMBER, COMMA, WORD, EMPTY = "number", "decimal comma", "word", "empty"
DAYS = "days"  # a date of Parquet
MISSING = frozenset(
    ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None")
)
"""Cells that stand for a missing value."""

_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")  # 1,234: a fraction, or more than a thousand
_START = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400.0  # seconds
_SHOWN = 10  # names of columns in a summary
_ISO = "YYYY-MM-DD"
_DATES = {
    _ISO: None,  # and a time, as ISO 8601 writes it
    "YYYY/MM/DD": "%Y/%m/%d",
    "DD.MM.YYYY": "%d.%m.%Y",
    "DD.MM.YYYY hh:mm": "%d.%m.%Y %H:%M",
    "DD/MM/YYYY": "%d/%m/%Y",
    "MM/DD/YYYY": "%m/%d/%Y",
}


def kind_of(cells: Sequence[str]) -> str:
    """Return the kind of a column: one that fits all its cells, words if there is no other.

    Raises
    ------
    ValueError
        If all cells fit two kinds that differ in their values.

    Examples
    --------
    >>> kind_of(["1", "NA", "2.5"]), kind_of(["1,5", "2"]), kind_of(["31.12.2024", "?"])
    ('number', 'decimal comma', 'DD.MM.YYYY')
    >>> kind_of(["red", "1"]), kind_of(["", "NA"])
    ('word', 'empty')
    """
    found = set(cells) - MISSING
    if not found:
        return EMPTY
    if all(map(_is_number, found)):
        return NUMBER
    if all(map(_COMMA.fullmatch, found)):
        commas = [cell for cell in found if "," in cell]
        if all(map(_GROUPED.fullmatch, commas)) and not any("." in cell for cell in found):
            raise ValueError(
                f"{commas[0]!r} may be a fraction or a number above a thousand; write it without "
                "a comma"
            )
        return COMMA
    dates = [name for name in _DATES if _fits(name, found)]
    if len(dates) > 1:
        example = next(iter(found))
        raise ValueError(f"{example!r} may be {dates[0]} or {dates[1]}; write YYYY-MM-DD")
    return dates[0] if dates else WORD


def is_word(cell: str) -> bool:
    """Return whether a cell holds neither a number nor a date, and is not missing.

    Examples
    --------
    >>> is_word("red"), is_word("2,5"), is_word("2024-12-31"), is_word("NA")
    (True, False, False, False)
    """
    try:
        return kind_of([cell]) == WORD
    except ValueError:  # a number or a date of two kinds
        return False


def is_decimal_comma(cell: str) -> bool:
    """Return whether a cell is a number with a decimal comma."""
    return "," in cell and _COMMA.fullmatch(cell) is not None


def _fits(kind: str, cells: set[str]) -> bool:
    read = _reader(kind)
    try:
        for cell in cells:
            read(cell)
    except ValueError:
        return False
    return True


def _is_number(cell: str) -> bool:
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def values(cells: Sequence[str], kind: str) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Return cells as numbers, dates as days since 1970, and what is wrong with some of them.

    A missing value is NaN, and so is a wrong one; its complaint has its place.

    Examples
    --------
    >>> values(["1.234,5", "", "x"], "decimal comma")
    (array([1234.5,    nan,    nan]), {2: "the value of 'x' is not a number with a decimal comma"})
    >>> values(["1970-01-02 12:00"], "YYYY-MM-DD")
    (array([1.5]), {})
    """
    read = _reader(kind)
    wrong: dict[int, str] = {}
    try:
        out = np.array([np.nan if cell in MISSING else read(cell) for cell in cells])
    except ValueError:
        what = "a number" if kind in (NUMBER, COMMA) else f"a date like {kind}"
        what = f"{what} with a decimal comma" if kind == COMMA else what
        out = np.full(len(cells), np.nan)
        for place, cell in enumerate(cells):
            try:
                out[place] = np.nan if cell in MISSING else read(cell)
            except ValueError:
                wrong[place] = f"the value of {cell[:40]!r} is not {what}"
    for place in np.flatnonzero(~np.isfinite(out)).tolist():
        if cells[place] not in MISSING:
            wrong.setdefault(place, f"the value of {cells[place][:40]!r} is not finite")
    return out, wrong


def _reader(kind: str) -> Callable[[str], float]:
    if kind == NUMBER:
        return _number
    if kind == COMMA:
        return _comma_number
    return cache(_iso_days if kind == _ISO else partial(_days, format=_DATES[kind]))


def _number(cell: str) -> float:
    if "_" in cell:  # which Python allows in numbers
        raise ValueError(cell)
    return float(cell)


def _comma_number(cell: str) -> float:
    if not _COMMA.fullmatch(cell):
        raise ValueError(cell)
    return float(cell.replace(".", "").replace(",", "."))


def _iso_days(cell: str) -> float:
    if "-" not in cell:
        raise ValueError(cell)
    return _since_start(datetime.fromisoformat(cell))


def _days(cell: str, format: str | None) -> float:
    assert format is not None
    return _since_start(datetime.strptime(cell, format))


def _since_start(moment: datetime) -> float:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _START).total_seconds() / _DAY


def kinds_line(kinds: Sequence[str], names: Sequence[str]) -> str:
    """Return how many columns are of which kind; without kinds all are numbers.

    Examples
    --------
    >>> kinds_line(["number", "word", "number"], ["size", "colour", "age"])
    '2 numbers, 1 category (colour)'
    """
    by_kind: dict[str, list[str]] = {}
    for kind, name in zip(kinds or [NUMBER] * len(names), names, strict=True):
        by_kind.setdefault(kind, []).append(name)
    parts = []
    for kind, members in by_kind.items():
        n, shown = len(members), ", ".join(members[:_SHOWN]) + ", ..." * (len(members) > _SHOWN)
        if kind == NUMBER:
            parts.append(f"{n:,} number{'s' * (n != 1)}")
        elif kind == WORD:
            parts.append(f"{n:,} categor{'y' if n == 1 else 'ies'} ({shown})")
        else:
            what = "with decimal commas" if kind == COMMA else f"date{'s' * (n != 1)} like {kind}"
            parts.append(f"{n:,} {what} ({shown})")
    return ", ".join(parts)

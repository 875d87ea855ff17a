"""What the cells of a column hold: numbers, amounts, dates, true and false, or words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .amounts import amount_kind, amount_reader, is_amount

NUMBER, COMMA, WORD, EMPTY = "number", "decimal comma", "word", "empty"
TRUTH = "true or false"
TEXT, IMAGE = "text", "image"  # only where a user says so: encoders make numbers of them
DATE = "YYYY-MM-DD"  # and a time, as ISO 8601 writes it
MISSING = frozenset(
    ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None")
)
"""Cells that stand for a missing value, and for a missing label."""

_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?([eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")  # 1,234: a fraction, or more than a thousand
_START = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400.0  # seconds
_SHOWN = 10  # names of columns in a summary
_TRUTHS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
_DATES = {
    DATE: None,
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
    >>> kind_of(["red", "1"]), kind_of(["", "NA"]), kind_of(["True", "False"])
    ('word', 'empty', 'true or false')
    >>> kind_of(["EUR 1,234.50", "EUR 7"])
    'EUR 1,234.5'
    """
    found = set(cells) - MISSING
    if not found:
        return EMPTY
    if all(map(_is_number, found)):
        return NUMBER
    if all(cell.lower() in _TRUTHS for cell in found):
        return TRUTH
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
    return dates[0] if dates else amount_kind(found) or WORD


def is_date(kind: str) -> bool:
    """Return whether a kind of columns is one of dates."""
    return kind in _DATES


def are_dates(cells: Sequence[str]) -> bool:
    """Return whether cells can all be read as dates of one kind.

    Examples
    --------
    >>> are_dates(["01/02/2024", "03/04/2024"]), are_dates(["2024-12-31", "cat"])
    (True, False)
    """
    return any(_fits(kind, set(cells)) for kind in _DATES)


def is_quantity(kind: str) -> bool:
    """Return whether cells of a kind are numbers, whatever stands around their digits."""
    return kind in (NUMBER, COMMA, EMPTY) or is_amount(kind)


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


def label_word(word: str, unlabeled: str | None) -> str | None:
    """Return a label, or None where there is none.

    Examples
    --------
    >>> label_word("cat", None), label_word("<NA>", None), label_word("-1", "-1")
    ('cat', None, None)
    """
    missing = word in MISSING or word.lower() == "nan" or word == unlabeled
    return None if missing else word


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
    """Return cells as numbers, dates as days since 1970, and complaints about wrong cells.

    Missing and wrong values are NaN. Complaints are found by the places of their cells.

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
        what = _called(kind)
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


def _called(kind: str) -> str:
    """Return what a cell of a kind is called in a message."""
    special = {NUMBER: "a number", COMMA: "a number with a decimal comma", TRUTH: TRUTH}
    return special.get(kind) or f"{'an amount' if is_amount(kind) else 'a date'} like {kind}"


def _reader(kind: str) -> Callable[[str], float]:
    if kind == NUMBER:
        return _number
    if kind == COMMA:
        return _comma_number
    if kind == TRUTH:
        return _truth
    if is_amount(kind):
        return amount_reader(kind)
    return cache(_iso_days if kind == DATE else partial(_days, format=_DATES[kind]))


def _number(cell: str) -> float:
    if "_" in cell:  # which Python allows in numbers
        raise ValueError(cell)
    return float(cell)


def _comma_number(cell: str) -> float:
    if not _COMMA.fullmatch(cell):
        raise ValueError(cell)
    return float(cell.replace(".", "").replace(",", "."))


def _truth(cell: str) -> float:
    if cell.lower() not in _TRUTHS:
        raise ValueError(cell)
    return _TRUTHS[cell.lower()]


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
        elif kind in (TEXT, IMAGE):
            parts.append(f"{n:,} {kind}{'s' * (n != 1)} ({shown})")
        elif kind == WORD:
            parts.append(f"{n:,} categor{'y' if n == 1 else 'ies'} ({shown})")
        elif kind in (COMMA, TRUTH):
            parts.append(f"{n:,} {'with decimal commas' if kind == COMMA else kind} ({shown})")
        else:
            what = ("amount" if is_amount(kind) else "date") + "s" * (n != 1)
            parts.append(f"{n:,} {what} like {kind} ({shown})")
    return ", ".join(parts)


def number_text(value: Any) -> str:
    """Return a number as files have it: short, and the same when read again.

    Examples
    --------
    >>> number_text(3.0), number_text(0.1), number_text(float("nan"))
    ('3', '0.1', '')
    """
    number = float(value)
    if math.isnan(number):
        return ""
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)

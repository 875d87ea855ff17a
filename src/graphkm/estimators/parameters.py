"""Checks of constructor parameters, with messages that name the value and the remedy."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any


def check_number(name: str, value: Any, *, least: float, strictly: bool = False) -> float:
    """Return a finite number of at least (or strictly above) `least`.

    Examples
    --------
    >>> check_number("C", 2, least=0, strictly=True)
    2.0
    >>> check_number("p", 0.5, least=1)
    Traceback (most recent call last):
    ...
    ValueError: p must be a finite number >= 1, got 0.5.
    """
    relation = ">" if strictly else ">="
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not math.isfinite(value)
        or value < least
        or (strictly and value == least)
    ):
        raise ValueError(f"{name} must be a finite number {relation} {least:g}, got {value!r}.")
    return float(value)


def check_count(name: str, value: Any, *, least: int = 1) -> int:
    """Return a whole number of at least `least`.

    Examples
    --------
    >>> check_count("max_iter", 10)
    10
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}.")
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return one of the words allowed.

    Examples
    --------
    >>> check_choice("precision", "half", ("single", "double"))
    Traceback (most recent call last):
    ...
    ValueError: precision must be one of 'single', 'double', got 'half'.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value

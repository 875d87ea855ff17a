"""Checks of constructor parameters, with messages that name the value and the remedy."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np


def refuse_masked(name: str, values: Any) -> None:
    """Raise if an array has masked values; as a plain array it would show them.

    Examples
    --------
    >>> refuse_masked("X", np.ma.array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
    ...
    ValueError: 1 of the 2 values of X are masked; fill them, or drop their rows.
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{np.ma.count_masked(values):,} of the {values.size:,} values of {name} are masked; "
            "fill them, or drop their rows."
        )


def unmasked(labels: Any) -> Any:
    """Return labels with None in place of masked ones; return anything else as it is.

    Examples
    --------
    >>> unmasked(np.ma.array([0, 1, 1], mask=[False, False, True]))
    array([0, 1, None], dtype=object)
    """
    if not isinstance(labels, np.ma.MaskedArray):
        return labels
    if labels.dtype.kind == "f":
        return labels.filled(np.nan)
    if not np.ma.is_masked(labels):
        return labels.data
    known = labels.data.astype(object)
    known[np.ma.getmaskarray(labels)] = None
    return known


def check_number(
    name: str, value: Any, *, least: float, strictly: bool = False, words: tuple[str, ...] = ()
) -> Any:
    """Return a finite number of at least (or strictly above) `least`, or one of the words.

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
    if isinstance(value, str) and value in words:
        return value
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not math.isfinite(value)
        or value < least
        or (strictly and value == least)
    ):
        raise ValueError(
            f"{name} must be {_either(words)}a finite number {relation} {least:g}, got {value!r}."
        )
    return float(value)


def check_count(name: str, value: Any, *, least: int = 1, words: tuple[str, ...] = ()) -> Any:
    """Return a whole number of at least `least`, or one of the words.

    Examples
    --------
    >>> check_count("max_iter", 10)
    10
    >>> check_count("max_iter", 0, words=("auto",))
    Traceback (most recent call last):
    ...
    ValueError: max_iter must be 'auto' or a whole number >= 1, got 0.
    """
    if isinstance(value, str) and value in words:
        return value
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(
            f"{name} must be {_either(words)}a whole number >= {least}, got {value!r}."
        )
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


def check_flag(name: str, value: Any) -> bool:
    """Return True or False.

    Examples
    --------
    >>> check_flag("fit_intercept", "no")
    Traceback (most recent call last):
    ...
    ValueError: fit_intercept must be True or False, got 'no'.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def count_threads(n_jobs: Any, cores: int) -> int:
    """Return the threads of `n_jobs`: None and -1 are every core, -2 every core but one.

    Examples
    --------
    >>> count_threads(None, 8), count_threads(2, 8), count_threads(-2, 8)
    (8, 2, 7)
    """
    if n_jobs is None:
        return cores
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            f"n_jobs must be a whole number other than 0, or None for every core, got {n_jobs!r}."
        )
    threads = int(n_jobs)
    return threads if threads > 0 else max(1, cores + 1 + threads)


def _either(words: tuple[str, ...]) -> str:
    return "".join(f"{word!r} or " for word in words)

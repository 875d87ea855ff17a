"""Columns that tell nothing of the label: those with one value, and identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.kinds import number_text


def constant_columns(X: Any) -> dict[int, str]:
    """Return the features that have one value in all rows, and the reason.

    A missing number does not count as another value: the only one is filled in for it.

    Examples
    --------
    >>> constant_columns(np.array([[1.0, 2.0], [np.nan, 3.0]]))
    {0: 'one value only, 1'}
    """
    return {k: f"one value only, {shown}" for k in range(X.shape[1]) if (shown := _only(X[:, k]))}


def _only(column: NDArray[Any]) -> str:
    """Return the only value of a column as text; "" if it has several."""
    present = column[column == column]
    first = present[0] if len(present) else np.nan
    if isinstance(first, str):
        return first if bool((column == first).all()) else ""
    return number_text(first) if bool((present == first).all()) else ""


def identifier_doubts(X: NDArray[Any], names: Sequence[str], words: Sequence[int]) -> list[str]:
    """Return a sentence for every feature of numbers that looks like an identifier."""
    return [
        f"{name} has a new whole number in every row, and was taken as a feature; if it "
        f"identifies rows, pass --id {name}."
        for k, name in enumerate(names)
        if k not in words and like_an_identifier(name, X[:, k].astype(np.float64))
    ]


def like_an_identifier(name: str, column: NDArray[Any]) -> bool:
    """Return whether a feature looks like an identifier: a new whole number in every row.

    Examples
    --------
    >>> like_an_identifier("customer_id", np.array([7.0, 5.0, 9.0]))
    True
    >>> like_an_identifier("width", np.array([7.0, 5.0, 9.0]))
    False
    """
    word = name.lower()
    called = word in ("id", "index", "row", "nr", "no", "number", "key") or word.endswith("id")
    whole = called and bool((column % 1 == 0).all())
    return whole and len(np.unique(column)) == len(column)

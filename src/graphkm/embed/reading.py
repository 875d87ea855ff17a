"""Lists, arrays, columns and frames of texts, checked and as a list of texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.parameters import unmasked

LONGEST = 20_000
"""So many characters of a text count: time and memory stay bounded, whatever a text holds."""
_SHOWN = 40  # characters of a wrong value in a message


def as_texts(X: Any) -> list[str]:
    """Return texts; what is missing (None, NaN, masked) is the empty text, and so is a blank one.

    Parameters
    ----------
    X : list, 1-D array, Series, or frame or 2-D array of one column
        The texts.

    Examples
    --------
    >>> as_texts(["a b", None, float("nan"), " "])
    ['a b', '', '', '']
    >>> as_texts(["a", 3])
    Traceback (most recent call last):
    ...
    TypeError: Row 1 is not a text but an int: 3. Turn it into a text with str(), or leave it out.
    """
    if isinstance(X, str | bytes):
        raise TypeError(f"Give a list of texts, not one text: [{_short(X)}].")
    if X is None or not hasattr(X, "__iter__"):
        raise TypeError(f"Give a list of texts, not {type(X).__name__}.")
    return [_as_text(row, value) for row, value in enumerate(listed(X))]


def cut(texts: list[str]) -> list[str]:
    """Return the beginnings of texts that count.

    Examples
    --------
    >>> len(cut(["a" * 50_000])[0])
    20000
    """
    return [text[:LONGEST] for text in texts]


def listed(X: Any) -> list[Any]:
    """Return the values of a list, an array, a column or a frame of one column."""
    if not hasattr(X, "shape"):
        return list(X)
    values = np.asarray(unmasked(X), dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"Texts have to be one column, but these have the shape {values.shape}. "
            "Choose the column that holds them."
        )
    return values.tolist()


def _as_text(row: int, value: Any) -> str:
    if isinstance(value, str):
        text = str(value)
        if not text.isascii():  # halves of surrogate pairs have no bytes in any encoding
            text = text.encode("utf-8", "replace").decode("utf-8")
        return "" if text.isspace() else text
    if _is_missing(value):
        return ""
    kind = type(value).__name__
    article = "an" if kind[0] in "aeiou" else "a"
    remedy = "Decode it with its encoding" if isinstance(value, bytes) else "Turn it into a text"
    how = "" if isinstance(value, bytes) else " with str()"
    raise TypeError(
        f"Row {row:,} is not a text but {article} {kind}: {_short(value)}. "
        f"{remedy}{how}, or leave it out."
    )


def _is_missing(value: Any) -> bool:
    # pandas.NA and NaT, without importing pandas
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."

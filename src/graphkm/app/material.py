"""Rows as they are learnt from, and as they are shown."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

_CELLS = 200  # columns of a row that are shown
_LETTERS = 5000  # of a text that is shown
_HASHED = 64  # rows that tell one file from another


@dataclass(frozen=True)
class Material:
    """All rows of a file or a folder.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        What is learnt from, as it stands in the file.
    names : sequence of str
        The columns of X.
    shown : callable
        Takes a row's number, and returns its cells: pairs of a column's name and its text.
    given : ndarray of object of shape (n_samples,)
        Labels that the file has already, as texts; None elsewhere.
    label : str
        What the label's column is called.
    kept : sequence of str, default=()
        Columns beside X that belong into the file of labels, such as the path of an image.
    text, image : str or None
        The column that is shown as text, or as an image.
    images : callable or None
        Takes a row's number, and returns the path of its image, or None.
    alike : bool
        Whether the columns of X share one unit, as pixels do; others are standardised.
    notes : sequence of str
        What the person should know about how the file was read.
    """

    X: Any
    names: Sequence[str]
    shown: Callable[[int], list[tuple[str, str]]]
    given: NDArray[np.object_]
    label: str = "label"
    kept: Sequence[str] = ()
    text: str | None = None
    image: str | None = None
    images: Callable[[int], Path | None] | None = None
    alike: bool = False
    notes: Sequence[str] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.X.shape[0])

    def fingerprint(self) -> str:
        """Return what tells these rows from others: their number, width, and some of them."""
        n = len(self)
        some = np.unique(np.linspace(0, n - 1, min(n, _HASHED)).astype(int))
        rows = self.X[some]
        values = rows.toarray() if issparse(rows) else np.asarray(rows)
        mark = hashlib.sha256(repr((n, list(self.names))).encode())
        mark.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        for row in some.tolist():
            mark.update(repr(self.shown(row)).encode())
        return mark.hexdigest()

    def columns(self) -> list[str]:
        """Return the header of the file of labels."""
        return [*self.kept, *self.names, self.label]

    def line(self, row: int, answer: str) -> list[str]:
        """Return a labelled row for the file of labels."""
        kept = dict(self.shown(row)) if self.kept else {}
        values = self.X[[row]]
        numbers = (values.toarray() if issparse(values) else np.asarray(values)).ravel()
        return [*(kept.get(name, "") for name in self.kept), *map(number_text, numbers), answer]

    def page(self, row: int, order: Sequence[str] = ()) -> dict[str, Any]:
        """Return a row as the page shows it; columns in `order` come first."""
        cells = self.shown(row)
        text = None
        if self.text is not None:
            text = next((value for name, value in cells if name == self.text), "")[:_LETTERS]
        hidden = {self.text, self.image}
        place = {name: k for k, name in enumerate(order)}
        left = [cell for cell in cells if cell[0] not in hidden]
        left.sort(key=lambda cell: place.get(cell[0], len(place)))
        return {
            "row": row,
            "cells": left[:_CELLS],
            "more": max(0, len(left) - _CELLS),
            "text": text,
            "image": self.images is not None,
        }


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

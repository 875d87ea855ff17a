"""Rows as they are learnt from, and as they are shown."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline

from ..io.kinds import WORD, number_text
from ..tables.preparing import make_scaler, steps_before, usual_scale

_CELLS = 200  # columns of a row that are shown, at most
_SNIPPET = 160  # letters of a text in a list, at most
_LETTERS = 5000  # letters of a text or a cell that are shown, at most
_HASHED = 64  # rows whose cells go into the fingerprint


@dataclass(frozen=True)
class Material:
    """All rows of a file or a folder.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        What a saved model learns from, as it stands in the file: numbers and words, NaN where one
        is missing, texts, and absolute paths of pictures.
    names : sequence of str
        The columns of X.
    shown : callable
        Takes a row's number, and returns its cells: pairs of a column's name and its text.
    given : ndarray of object of shape (n_samples,)
        Labels that the file has already, as texts; None elsewhere.
    written : callable
        Takes a row's number, and returns its cells in the file of labels, without the label.
    header : sequence of str or None
        The names of these cells; None if the file has no names.
    kinds : sequence of str, default=()
        What the columns of X hold (`graphkm.io.kinds`); empty if all are numbers without gaps.
    left_out : dict, default={}
        Columns that are shown and not learnt from, and why.
    label : str
        What the label's column is called.
    text, image : str or None
        The column that is shown as text, or as an image.
    images : callable or None
        Takes a row's number, and returns the path of its image, or None.
    vectors : ndarray of shape (n_samples, n_vector) or None
        What an encoder made of the column of texts or pictures.
    encoder : str
        The encoder's model, as in `graphkm.embed`.
    format : {"csv", "parquet", "libsvm", "folder"}
        The format of the file.
    zero_based : bool
        Whether indices of LIBSVM count from 0.
    notes : sequence of str
        What the person should know about how the file was read.
    """

    X: Any
    names: Sequence[str]
    shown: Callable[[int], list[tuple[str, str]]]
    given: NDArray[np.object_]
    written: Callable[[int], list[str]]
    header: Sequence[str] | None
    kinds: Sequence[str] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    label: str = "label"
    text: str | None = None
    image: str | None = None
    images: Callable[[int], Path | None] | None = None
    vectors: NDArray[np.float32] | None = None
    encoder: str = "auto"
    format: str = "csv"
    zero_based: bool = False
    notes: Sequence[str] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.X.shape[0])

    def fingerprint(self) -> str:
        """Return a hash that tells these rows from others: of their number and some cells."""
        n = len(self)
        mark = hashlib.sha256(str(n).encode())
        for row in np.unique(np.linspace(0, n - 1, min(n, _HASHED)).astype(int)).tolist():
            mark.update(repr(self.shown(row)).encode(errors="backslashreplace"))
        return mark.hexdigest()

    def columns(self, *more: str) -> list[str] | None:
        """Return the header of the file of labels; None if the rows have none.

        Columns after the label have the names in `more`, unless the table has such a column.
        """
        if self.header is None:
            return None
        names = [*self.header, self.label]
        for name in more:
            names.append(name if name not in names else f"{name}_{len(names)}")
        return names

    def line(self, row: int, *answer: str) -> list[str]:
        """Return a labelled row for the file of labels; no cell has more than one line."""
        return [" ".join(cell.splitlines()) for cell in (*self.written(row), *answer)]

    def snippet(self, row: int) -> str | None:
        """Return the beginning of a row's text, in one line; None if rows are no texts."""
        if self.text is None:
            return None
        text = dict(self.shown(row)).get(self.text, "")
        words = " ".join(text[: 10 * _SNIPPET].split())
        return _cut(words, _SNIPPET)

    def page(self, row: int, order: Sequence[str] = ()) -> dict[str, Any]:
        """Return a row as the page shows it; columns in `order` come first."""
        cells = self.shown(row)
        text = None
        if self.text is not None:
            text = _cut(next((value for name, value in cells if name == self.text), ""), _LETTERS)
        hidden = {self.text, self.image}
        place = {name: k for k, name in enumerate(order)}
        left = [cell for cell in cells if cell[0] not in hidden]
        left.sort(key=lambda cell: place.get(cell[0], len(place)))
        return {
            "row": row,
            "cells": [(name, _cut(value, _LETTERS)) for name, value in left[:_CELLS]],
            "more": max(0, len(left) - _CELLS),
            "text": text,
            "image": self.images is not None,
        }


def in_units(material: Material) -> tuple[Any, list[str]]:
    """Return the rows as numbers in comparable units, and the table's column of each number.

    Texts and pictures are the encoder's vectors, which come from no single column. Tables are
    prepared as `graphkm train` prepares them.
    """
    X, names = material.X, list(material.names)
    if material.vectors is not None:
        return material.vectors, []
    if issparse(X):
        scaler = make_scaler(usual_scale(X))
        return X if scaler is None else scaler.fit_transform(X), names
    words = [k for k, kind in enumerate(material.kinds) if kind == WORD]
    steps = Pipeline(steps_before("standard", words, bool(material.kinds), X))
    numbers = steps.fit_transform(X)
    if words:
        encoder = steps[-1].named_transformers_["categories"][-1]
        widths = [len(categories) for categories in encoder.categories_]
        names = [name for k, name in enumerate(names) if k not in words]
        for k, width in zip(words, widths, strict=True):
            names += [material.names[k]] * width
    return numbers, names


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rstrip() + " …"


def numbers_of(X: Any, row: int) -> list[str]:
    """Return a row of numbers as texts."""
    values = X[[row]]
    return [number_text(v) for v in (values.toarray() if issparse(values) else values).ravel()]

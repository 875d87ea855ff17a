"""What a model says of several labels or quantities, as columns of an output."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tables.several_labels import joined_names
from .model_files import FileNote


def several_header(note: FileNote, proba: bool = False) -> list[str]:
    """Return the names of the columns: one for each label, or one with the names of labels."""
    said = ["prediction"] if note.separator is not None else note.targets
    return [*said, *(f"probability_{name}" for name in note.targets if proba)]


def several_rows(
    note: FileNote, answers: NDArray[Any], shares: NDArray[np.float64] | None = None
) -> list[list[Any]]:
    """Return a row of these columns for every row of answers.

    Parameters
    ----------
    note : FileNote
        The model's.
    answers : ndarray of shape (n, n_targets)
        Labels, 0 or 1, or quantities.
    shares : ndarray of shape (n, n_targets), optional
        Probabilities of the labels.
    """
    said: list[list[Any]] = answers.tolist()
    if note.separator is not None:
        names = note.targets
        said = [[joined_names(_having(names, row), note.separator)] for row in said]
    if shares is None:
        return said
    return [[*row, *more] for row, more in zip(said, shares.tolist(), strict=True)]


def _having(names: list[str], row: list[int]) -> list[str]:
    return [name for name, has in zip(names, row, strict=True) if has]

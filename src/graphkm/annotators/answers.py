"""Answers as people have them: who said what of which row, checked and counted."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..estimators.labels import as_label_array, missing_mask, plain_labels
from ..graphs.given_edges import Ids

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

COLUMNS = ("row", "annotator", "answer")


class RepeatedAnswersWarning(UserWarning):
    """Somebody gave the same answer to the same row more than once."""


@dataclass(frozen=True)
class Answers:
    """Answers, as numbers of rows, of annotators and of classes.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        The rows that have answers, sorted, as the answers call them.
    annotators : ndarray of shape (n_annotators,)
        Who answered, sorted.
    classes : ndarray of shape (n_classes,)
        What was answered, sorted.
    row, annotator, answer : ndarray of int of shape (n_answers,)
        Positions in the three, one for each answer.
    """

    rows: NDArray[Any]
    annotators: NDArray[Any]
    classes: NDArray[Any]
    row: Codes
    annotator: Codes
    answer: Codes

    @cached_property
    def counts(self) -> sparse.csr_array:
        """How often each annotator gave each answer: (n_rows, n_annotators * n_classes), sparse."""
        k, ones = len(self.classes), np.ones(len(self.row))
        shape = len(self.rows), len(self.annotators) * k
        found = sparse.csr_array((ones, (self.row, self.annotator * k + self.answer)), shape=shape)
        found.sum_duplicates()
        return found

    @cached_property
    def votes(self) -> Array:
        """How often each row got each answer, of shape (n_rows, n_classes)."""
        k = len(self.classes)
        cells = np.bincount(self.row * k + self.answer, minlength=len(self.rows) * k)
        return cells.reshape(-1, k).astype(np.float64)

    @cached_property
    def given(self) -> Array:
        """How often each annotator gave each answer, of shape (n_annotators, n_classes)."""
        return np.asarray(self.counts.sum(axis=0)).reshape(len(self.annotators), -1)

    @cached_property
    def per_annotator(self) -> Array:
        """How many answers each annotator gave."""
        return np.bincount(self.annotator, minlength=len(self.annotators)).astype(np.float64)

    @cached_property
    def seen(self) -> sparse.csr_array:
        """How often each annotator answered each row: (n_rows, n_annotators), sparse."""
        shape = len(self.rows), len(self.annotators)
        ones = np.ones(len(self.row))
        found = sparse.csr_array((ones, (self.row, self.annotator)), shape=shape)
        found.sum_duplicates()
        return found


def read_answers(answers: Any, columns: tuple[str, str, str] = COLUMNS) -> Answers:
    """Return answers as numbers; raise an error for a person where they cannot be used.

    Parameters
    ----------
    answers : frame, mapping, or tuple of three arrays
        One line for each answer: the row, who answered, and the answer. All lines count. If
        somebody answered a row twice, both answers do, as in the paper of Dawid and Skene.
    columns : tuple of three str
        The names of the columns of a frame, in this order: row, annotator, answer.

    Examples
    --------
    >>> found = read_answers(([4, 4, 7], ["eva", "tom", "eva"], ["cat", "dog", "cat"]))
    >>> found.rows, found.votes
    (array([4, 7]), array([[1., 1.],
           [1., 0.]]))
    """
    parts = _three(answers, columns)
    values = [_plain(part, name) for part, name in zip(parts, columns, strict=True)]
    lengths = [len(part) for part in values]
    if len(set(lengths)) > 1:
        told = ", ".join(f"{n:,} of {name!r}" for n, name in zip(lengths, columns, strict=True))
        raise ValueError(f"Answers need as many values of every kind, got {told}.")
    if not lengths[0]:
        raise ValueError("There are no answers; pass one line for each: row, annotator, answer.")
    (rows, row), (names, who), (classes, what) = (
        np.unique(part, return_inverse=True) for part in values
    )
    found = Answers(rows, names, classes, row, who, what)
    _check(found)
    return found


def _three(answers: Any, columns: tuple[str, str, str]) -> list[Any]:
    """Return the columns of row, annotator and answer."""
    if len(columns) != 3 or isinstance(columns, str):
        raise ValueError(f"columns are three names: row, annotator, answer; got {columns!r}.")
    if hasattr(answers, "columns") or isinstance(answers, Mapping):
        there = list(getattr(answers, "columns", answers))
        missing = [name for name in columns if name not in there]
        if missing:
            raise ValueError(
                f"Answers have no column {', '.join(map(repr, missing))}; their columns are "
                f"{', '.join(map(repr, there))}. Pass columns=(row, annotator, answer) with the "
                "names that they have."
            )
        return [answers[name] for name in columns]
    if isinstance(answers, tuple | list) and len(answers) == 3:
        return list(answers)
    raise TypeError(
        "Answers are a frame with the columns row, annotator and answer, or a tuple of three "
        f"arrays; got {type(answers).__name__}."
    )


def _plain(part: Any, name: str) -> NDArray[Any]:
    """Return a column as an array of one type without gaps."""
    values = as_label_array(part)
    gaps = np.flatnonzero(missing_mask(values))
    if len(gaps):
        raise ValueError(
            f"{len(gaps):,} answers have an empty cell in {name!r}, the first in line "
            f"{gaps[0]:,} (counted from 0). Leave these lines out."
        )
    try:
        values = plain_labels(values)
    except ValueError as error:
        raise ValueError(f"{name!r} mixes texts with numbers; pass one kind.") from error
    if values.dtype.kind == "f" and (values == np.round(values)).all():
        values = values.astype(np.int64)  # gaps of another column, or a reader, made floats of them
    return values


def _check(answers: Answers) -> None:
    """Raise if there is nothing to learn; warn if lines look as if they were read twice."""
    if len(answers.classes) < 2:
        raise ValueError(
            f"All answers are {answers.classes.tolist()[0]!r}; at least two classes are needed."
        )
    if len(answers.annotators) < 2:
        raise ValueError(
            f"All answers are of {answers.annotators.tolist()[0]!r}. Who is reliable shows only "
            "between two annotators or more; fit SemiSupervisedClassifier to these answers as "
            "labels."
        )
    again = len(answers.row) - answers.counts.nnz
    if again:
        warnings.warn(
            f"{again:,} answers repeat what the same annotator said of the same row. Each counts "
            "as a further answer; leave them out if the same lines were read twice.",
            RepeatedAnswersWarning,
            stacklevel=4,
        )


def places_in(answers: Answers, ids: Ids) -> Codes:
    """Return which rows of X the answers are about.

    Parameters
    ----------
    answers : Answers
    ids : Ids
        What the rows of X are called.

    Examples
    --------
    >>> answers = read_answers(([1, 9], ["eva", "tom"], [0, 1]))
    >>> places_in(answers, Ids(5))
    Traceback (most recent call last):
    ...
    ValueError: 1 of the 2 rows with answers is no row of X (9); X has the rows 0 to 4.
    """
    found = ids.among(answers.rows)
    unknown = answers.rows[found < 0].tolist()
    if unknown:
        shown = ", ".join(map(repr, unknown[:3])) + ", ..." * (len(unknown) > 3)
        are = "is no row" if len(unknown) == 1 else "are no rows"
        rows = f"the rows 0 to {len(ids) - 1:,}" if ids.names is None else "other ids"
        raise ValueError(
            f"{len(unknown):,} of the {len(answers.rows):,} rows with answers {are} of X "
            f"({shown}); X has {rows}."
        )
    return found

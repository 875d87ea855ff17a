"""Labelled rows that a model does not learn from, and is tested on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io import DataFileError
from ..semi.judging import rarest_label
from .learning_rows import Rows
from .model_files import last_step

# Where a model keeps what it says of the rows that it has learnt from.
_FITTED = {"predict": "transduction_", "predict_proba": "label_distributions_"}


@dataclass(frozen=True)
class HeldOut:
    """Labels that a model has not seen."""

    y: NDArray[Any]
    # Takes the fitted model, and the name of a method: predict or predict_proba.
    answers: Callable[[Any, str], NDArray[Any]]


def drawn_rows(rows: Rows, share: float, seed: int) -> NDArray[np.int64]:
    """Return the numbers of rows that make up a share of the labelled ones.

    Every class gives the same share and keeps at least one row. Of several labels of a row the
    rarest counts as its class.
    """
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(rows.labeled)]
    if rows.note.task == "classify" and rows.note.several:
        rare = np.where(rows.labeled, rarest_label(rows.y), -2)
        groups = [np.flatnonzero(rare == label) for label in np.unique(rare[rare > -2])]
    elif rows.note.task == "classify":
        groups = [np.flatnonzero(rows.y == label) for label in rows.classes]
    taken = [
        rng.permutation(group)[: min(round(share * len(group)), len(group) - 1)] for group in groups
    ]
    out = np.sort(np.concatenate(taken))
    if len(out) == 0:
        raise DataFileError(f"--holdout {share}: too few rows are labelled to hold any out.")
    return out


def left_out(rows: Rows, places: NDArray[np.int64]) -> tuple[Rows, HeldOut]:
    """Return the rows without some of them, and these to test on."""
    stays = np.ones(len(rows.y), dtype=bool)
    stays[places] = False
    X = rows.X[places]
    return rows.chosen(stays), HeldOut(
        rows.y[places], lambda model, method: getattr(model, method)(X)
    )


def labels_hidden(rows: Rows, places: NDArray[np.int64]) -> tuple[Rows, HeldOut]:
    """Return all rows, some of them without labels, and these labels to test on.

    Rows that edges lead to stay where they are: without them the graph would be another one.
    """
    truth = rows.y[places]
    return rows.hiding(places), HeldOut(
        truth,
        lambda model, method: np.asarray(getattr(last_step(model), _FITTED[method]))[places],
    )

"""Fits: rows held out first, a scaler in front, interruptions and warnings in plain words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..io import DataFileError
from .options import Scale
from .rows import Rows
from .scaling import behind_scaler, choose_scale, make_scaler


def hold_out(rows: Rows, share: float, seed: int) -> tuple[Rows, Rows | None]:
    """Return rows to learn from, and a share of the labelled ones to test on.

    Of every class the same share is held out, and one row at least stays.
    """
    if share == 0.0:
        return rows, None
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(rows.labeled)]
    if rows.memory.task == "classify":
        groups = [np.flatnonzero(rows.y == label) for label in rows.classes]
    taken = [
        rng.permutation(group)[: min(round(share * len(group)), len(group) - 1)] for group in groups
    ]
    out = np.sort(np.concatenate(taken))
    if len(out) == 0:
        raise DataFileError(f"--holdout {share}: so few rows are labelled that none can be spared.")
    stays = np.ones(len(rows.y), dtype=bool)
    stays[out] = False
    memory = replace(
        rows.memory,
        n_rows=int(stays.sum()),
        n_labeled=int((rows.labeled & stays).sum()),
    )
    return Rows(rows.X[stays], rows.y[stays], memory), Rows(rows.X[out], rows.y[out], memory)


def fit_behind_scaler(estimator: Any, scale: Scale, rows: Rows) -> tuple[Any, str]:
    """Return the fitted model, its scaler in front, and which scaler that is."""
    chosen = choose_scale(scale, rows.X)
    model = behind_scaler(make_scaler(chosen), estimator)
    return model.fit(rows.X, rows.y), chosen

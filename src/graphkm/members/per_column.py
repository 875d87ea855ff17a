"""A model for each column: several labels of a row, or several quantities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..judge.held_out import HeldOut, class_shares
from .member import Array, Kind, Known


class PerColumn:
    """Models of several columns.

    Parameters
    ----------
    columns : list of HeldOut or float
        The model of every column; a number where all labels of a column are the same.
    kind : {"labels", "quantities"}
        What columns hold.
    """

    def __init__(self, columns: Sequence[HeldOut | float], kind: Kind) -> None:
        self.columns, self.kind = list(columns), kind

    def values(self, X: Any) -> Array:
        """Return a column for each: the share of a label, or a quantity."""
        found = np.empty((X.shape[0], len(self.columns)))
        for place, held in enumerate(self.columns):
            if not isinstance(held, HeldOut):
                found[:, place] = held
            elif self.kind == "labels":
                found[:, place] = class_shares(held, X, np.arange(2))[:, 1]
            else:
                found[:, place] = held.quantities(X)[:, 0]
        return found


def hold_out_columns(
    known: Known, hold_out: Callable[[Known, NDArray[np.int64]], HeldOut]
) -> HeldOut:
    """Fit a model to every column, and return them with what they say of held-out rows.

    Parameters
    ----------
    known : Known
        The labelled rows.
    hold_out : callable
        Fits the model to one column, whose known rows it gets, and their places.

    Returns
    -------
    HeldOut
        Rows where a column is not known have zeros there.
    """
    columns: list[HeldOut | float] = []
    values, how = np.zeros(known.y.shape), ["prior"]
    for place in range(known.y.shape[1]):
        told = np.flatnonzero(~np.isnan(known.y[:, place]))
        if not len(told):
            columns.append(0.5 if known.kind == "labels" else 0.0)
            continue
        own = known.column(place)
        if own.classes is not None and not np.ptp(own.y):
            columns.append(float(own.usual[1]))
            values[told, place] = own.usual[1]
            continue
        held = hold_out(own, told)
        values[told, place] = held.values[:, -1]
        columns.append(replace(held, values=np.empty((0, 0))))
        how.append(held.how)
    return HeldOut(PerColumn(columns, known.kind), values, how[-1])

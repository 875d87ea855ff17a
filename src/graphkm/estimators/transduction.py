"""The labels of training rows, which a fitted model remembers.

To compute them may take longer than the fit. So they are computed when they are first asked for, or
when the model is copied or saved. Until then the model keeps a copy of the rows. Large tables are
not copied: if one has changed since, an error says so, and a copy of the model has no such labels.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..backends import active, config_context

Answers = NDArray[Any]

_LARGE = 2**24  # rows of more bytes are not copied
_BLOCK = 2**20  # bytes looked at together


class ChangedRowsError(AttributeError):
    """The rows of a fit were too large to be copied, and have changed since."""


def transduced(model: Any) -> Answers | None:
    """Return the training rows' class numbers or targets; None if they are not known."""
    found = vars(model).get("_transduced")
    if callable(found):
        found = model._transduced = found(model)
    known: Answers | None = found
    return known


def kept_transduced(model: Any) -> Answers | None:
    """Return what a copy or a file can hold; None if it is not known, or rows have changed."""
    try:
        return transduced(model)
    except ChangedRowsError:
        return None


def set_transduced(model: Any, found: Answers) -> None:
    """Keep the training rows' class numbers or targets."""
    model._transduced = found


def forget_transduced(model: Any) -> None:
    """Forget the training rows' class numbers or targets of an earlier fit."""
    vars(model).pop("_transduced", None)


def transduce_later(model: Any, rows: Any, find: Callable[[Any, Any], Answers]) -> None:
    """Let `find` compute them from the model and a copy of the rows, when they are asked for.

    `find` must not refer to the model itself: Python would free a circle of references late.
    """
    own, mark, device = rows, None, active().name
    if _size(rows) > _LARGE:
        mark = _mark(rows)
    else:
        own = rows.clone() if hasattr(rows, "clone") else rows.copy()

    def found(model: Any) -> Answers:
        if mark is not None and _mark(own) != mark:
            raise ChangedRowsError(
                "transduction_ is not known: X has changed since fit, and was too large to "
                "be copied. Call predict on the rows as they were."
            )
        with config_context(device=device):
            return find(model, own)

    model._transduced = found


def state_of_copy(state: dict[str, Any], found: Answers | None) -> dict[str, Any]:
    """Return a model's state as a copy or a pickle has it: with what `kept_transduced` found.

    Examples
    --------
    >>> state_of_copy({"C": 1.0, "_transduced": len}, None)
    {'C': 1.0}
    """
    others = {name: value for name, value in state.items() if name != "_transduced"}
    return others if found is None else others | {"_transduced": found}


def _size(rows: Any) -> int:
    """Return the bytes of an array or a CSR matrix; 0 for a frame, whose copy is cheap to make."""
    if isinstance(rows, dict):  # of several views
        return sum(map(_size, rows.values()))
    if issparse(rows):
        return int(rows.data.nbytes + rows.indices.nbytes)
    return rows.nbytes if isinstance(rows, np.ndarray) else 0


def _arrays(rows: Any) -> list[Any]:
    """Return the arrays that hold rows; a frame among several views has none."""
    if isinstance(rows, dict):
        return [part for each in rows.values() for part in _arrays(each)]
    if issparse(rows):
        return [rows.data, rows.indices, rows.indptr]
    return [rows] if isinstance(rows, np.ndarray) else []


def _mark(rows: Any) -> int:
    """Return a number that changes when the rows do."""
    mark = 0
    for part in _arrays(rows):
        step = max(1, _BLOCK * len(part) // max(1, part.nbytes))
        for start in range(0, len(part), step):
            mark = zlib.crc32(np.ascontiguousarray(part[start : start + step]).data, mark)
    return mark

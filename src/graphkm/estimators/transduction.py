"""The labels of training rows, which a fitted model remembers."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..backends import active, config_context

Answers = NDArray[Any]

_LARGE = 2**24  # bytes of rows that are not copied
_BLOCK = 2**20  # bytes looked at together


class ChangedRowsError(AttributeError):
    """The rows of a fit were too large to be copied, and have changed since."""


class Remembering:
    """Remembers class numbers or targets of the training rows.

    Computing them may take longer than the fit. So they are computed when they are first asked for,
    or when the model is copied or saved, from a copy of the rows that is dropped then. Large rows
    are not copied: if they have changed meanwhile, an error says so, and a copy of the model has
    none.
    """

    _transduced: Answers | Callable[[Any], Answers] | None = None

    def transduced(self) -> Answers | None:
        """Return the training rows' class numbers or targets; None if they are not known."""
        found = self._transduced
        if callable(found):
            found = self._transduced = found(self)
        return found

    def kept_transduced(self) -> Answers | None:
        """Return what a copy or a file can hold; None also if the rows have changed."""
        try:
            return self.transduced()
        except ChangedRowsError:
            return None

    def set_transduced(self, found: Answers | Callable[[Any], Any] | None) -> None:
        """Keep the training rows' class numbers or targets, or forget those of an earlier fit.

        A function is called with the model when they are asked for. It must not know the model
        itself: a circle of references would keep both until Python's collector runs.
        """
        if found is None:
            self.__dict__.pop("_transduced", None)
        else:
            self._transduced = found

    def transduce_later(self, rows: Any, find: Callable[[Any, Any], Answers]) -> None:
        """Compute them with `find` from the model and a copy of the rows when asked for."""
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

        self._transduced = found

    def __getstate__(self) -> Any:
        """Compute what a copy or a file has to hold."""
        lost = self.kept_transduced() is None
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if not lost or name != "_transduced"}


def _size(rows: Any) -> int:
    """Return the bytes of an array or a CSR matrix; 0 for a frame, whose copy is cheap to make."""
    if issparse(rows):
        return int(rows.data.nbytes + rows.indices.nbytes)
    return rows.nbytes if isinstance(rows, np.ndarray) else 0


def _mark(rows: Any) -> int:
    """Return a number that changes when the rows do."""
    parts = (rows.data, rows.indices, rows.indptr) if issparse(rows) else (rows,)
    mark = 0
    for part in parts:
        step = max(1, _BLOCK * len(part) // max(1, part.nbytes))
        for start in range(0, len(part), step):
            mark = zlib.crc32(np.ascontiguousarray(part[start : start + step]).data, mark)
    return mark

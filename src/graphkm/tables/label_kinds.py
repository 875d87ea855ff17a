"""What labels are: numbers, however they are written, or words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..io.bad_rows import BadRows
from ..io.columns import mark_unlabeled
from ..io.files import DataFileError
from ..io.kinds import NUMBER, WORD, is_quantity, kind_of

_EXACT = 2**53  # whole numbers up to here are exact as floats


def label_kind(words: Sequence[str | None]) -> str:
    """Return what labels are: numbers, however they are written, or words.

    Examples
    --------
    >>> label_kind(["1,5", None]), label_kind(["12 %"]), label_kind(["2024-12-31"])
    ('decimal comma', '1,234.5 %', 'word')
    """
    try:
        kind = kind_of([word for word in words if word is not None])
    except ValueError:
        return WORD
    return kind if is_quantity(kind) else WORD


def number_labels(
    column: NDArray[np.float64], unlabeled: str | None, bad_rows: BadRows
) -> NDArray[np.float64]:
    """Return a column of numbers as labels, NaN where a label is missing."""
    if np.abs(column[np.isfinite(column)]).max(initial=0.0) > _EXACT:
        raise DataFileError(f"{bad_rows.name}: labels are beyond 2**53; store them as text.")
    mark = None if unlabeled is None or kind_of([unlabeled]) != NUMBER else float(unlabeled)
    return mark_unlabeled(column.copy(), mark)

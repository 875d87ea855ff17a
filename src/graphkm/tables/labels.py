"""Labels of the rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.bad_rows import BadRows
from ..io.cells import Cells, texts
from ..io.columns import Columns
from ..io.files import DataFileError
from ..io.kinds import EMPTY, NUMBER, TRUTH, WORD, label_word, values
from .label_kinds import label_kind, number_labels
from .several_labels import label_table


def labels_of(
    cells: Cells, columns: Columns, labels: str, unlabeled: str | None, bad_rows: BadRows
) -> NDArray[Any]:
    """Return labels: floats with NaN, or texts with None; as the compiled parser reads them.

    If several columns hold labels, there is a column of floats for each.
    """
    n = len(cells.places)
    if columns.labels:
        return label_table(cells, columns, unlabeled, bad_rows)
    if columns.label is None:
        return np.full(n, np.nan)
    column = cells.columns[columns.label]
    numeric = {"text": (), "auto": (NUMBER,), "number": (NUMBER, TRUTH)}[labels]
    if not isinstance(column, list) and column.kind in numeric:
        return number_labels(column.numbers(), unlabeled, bad_rows)
    words = [label_word(word, unlabeled) for word in texts(column)]
    kind = label_kind(words)
    if labels == "text" or (labels == "auto" and kind == WORD):
        y = np.empty(n, dtype=object)
        y[:] = words
        return y
    out, wrong = values([word or "" for word in words], NUMBER if kind in (WORD, EMPTY) else kind)
    for place, reason in sorted(wrong.items()):
        said = reason.replace("the value of", "the label")
        raise DataFileError(f"{bad_rows.name}, {bad_rows.place} {cells.places[place]}: {said}.")
    return out

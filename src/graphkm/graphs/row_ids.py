"""What edges call the rows of a table: the ids of a column, of an index, or none."""

from __future__ import annotations

from typing import Any

import numpy as np


def without_ids(X: Any, ids: Any) -> tuple[Any, Any]:
    """Return rows without their column of ids, and the ids; None for the numbers of the rows.

    Parameters
    ----------
    X : array, frame, CSR matrix or None
        The rows.
    ids : array-like, str or None
        One id for each row, the name of a column of X, or None: a frame of pandas then has the
        ids of its index.
    """
    if isinstance(ids, str):
        if not hasattr(X, "columns") or ids not in list(X.columns):
            raise ValueError(f"ids={ids!r} is no column of X; pass one, or an id for each row.")
        column = X[ids]
        return X.drop(columns=ids) if hasattr(X, "iloc") else X.drop(ids), column.to_numpy()
    if ids is None and hasattr(X, "iloc"):
        names = np.asarray(X.index)
        counted = names.dtype.kind in "iu" and np.array_equal(names, np.arange(len(names)))
        return X, None if counted else names
    return X, ids

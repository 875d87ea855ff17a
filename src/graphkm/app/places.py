"""Where rows are on the map."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD

SIZE = 1000
"""Places are whole numbers from 0 to this."""

_OUTSIDE = 0.5  # percent of the rows on each side that lie at the border


def map_places(rows: Any) -> NDArray[np.int64]:
    """Return a place for every row: its two leading principal components.

    Examples
    --------
    >>> map_places(np.array([[0.0, 0.0], [5.0, 0.0], [10.0, 1.0]])).shape
    (3, 2)
    """
    if not issparse(rows) and np.ptp(rows) == 0:  # all alike
        found = np.zeros((len(rows), 2))
    elif rows.shape[1] < 2:
        values = rows.toarray() if issparse(rows) else np.asarray(rows)
        found = np.column_stack([values[:, 0], np.zeros(len(values))])
    else:
        kind = TruncatedSVD if issparse(rows) else PCA
        found = kind(2, random_state=0).fit_transform(rows)
    least, most = np.percentile(found, [_OUTSIDE, 100 - _OUTSIDE], axis=0)
    size = np.where(most > least, most - least, 1.0)
    return np.asarray(np.clip((found - least) / size, 0, 1) * SIZE).round().astype(np.int64)

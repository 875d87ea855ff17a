"""A fingerprint of arrays, the same however they are stored.

Public homes and local copies pack the same numbers differently: recompressed, with other
spacing, dense or sparse. What must agree is what a user computes with, so that is what is hashed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_BLOCK = 2**20  # numbers converted at a time, so that large arrays are not

Arrays = Mapping[str, Any]
"""Arrays by name, dense or sparse: what one file holds."""


def content_digest(arrays: Arrays) -> str:
    """Return the SHA-256 of named arrays: of their names, shapes and values, not their dtypes.

    Examples
    --------
    >>> dense = np.array([[0, 1], [2, 0]])
    >>> content_digest({"X": dense}) == content_digest({"X": dense.astype(np.float32)})
    True
    >>> content_digest({"X": dense}) == content_digest({"X": dense.T})
    False
    """
    sha = hashlib.sha256()
    for name in sorted(arrays):
        values = arrays[name]
        kind = "sparse" if sparse.issparse(values) else "dense"
        sha.update(f"{name} {kind} {tuple(map(int, values.shape))};".encode())
        for part in _canonical(values):
            _update(sha, part)
    return sha.hexdigest()


def _canonical(values: Any) -> tuple[NDArray[Any], ...]:
    if not sparse.issparse(values):
        return (np.asarray(values),)
    rows = values.tocsr(copy=True)
    rows.sum_duplicates()  # sorts the columns as well
    rows.eliminate_zeros()
    return rows.indptr, rows.indices, rows.data


def _update(sha: Any, values: NDArray[Any]) -> None:
    flat = values.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        # Adding 0.0 turns -0.0, which equals 0.0 but has other bytes, into 0.0.
        sha.update((flat[start : start + _BLOCK].astype("<f8") + 0.0).tobytes())

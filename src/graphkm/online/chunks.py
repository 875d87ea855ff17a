"""Chunks: rows that arrive together, and their position in the stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from numpy.typing import NDArray

from ..io.row_files import joined


class Chunk(NamedTuple):
    """Consecutive rows of a stream.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (n, n_features)
    y : ndarray of shape (n,)
        Labels: floats, NaN where unknown; or texts, None where unknown.
    first_row : int
        The number of rows before it. Bad rows that were left out do not count.
    """

    X: Any
    y: NDArray[Any]
    first_row: int = 0


def cut_into_chunks(
    pieces: Iterable[tuple[Any, NDArray[Any]]], chunk_size: int, start: int = 0
) -> Iterator[Chunk]:
    """Cut pieces of any size into chunks of `chunk_size` rows; the last may be shorter.

    Parameters
    ----------
    pieces : iterable of (X, y)
    chunk_size : int
    start : int
        The first row of the first chunk.

    Raises
    ------
    ValueError
        If there are fewer than `start` rows.

    Examples
    --------
    >>> import numpy as np
    >>> pieces = [(np.arange(3.0)[:, None], np.arange(3)), (np.arange(3.0, 5)[:, None], [3, 4])]
    >>> [(chunk.first_row, list(chunk.X.ravel())) for chunk in cut_into_chunks(pieces, 2, 1)]
    [(1, [np.float64(1.0), np.float64(2.0)]), (3, [np.float64(3.0), np.float64(4.0)])]
    """
    waiting: list[tuple[Any, NDArray[Any]]] = []
    row, n_waiting, to_skip = start, 0, start
    for X, y in pieces:
        skipped = min(to_skip, len(y))
        to_skip -= skipped
        if skipped < len(y):
            waiting.append((X[skipped:], y[skipped:]) if skipped else (X, y))
            n_waiting += len(y) - skipped
        if n_waiting < chunk_size:
            continue
        X, y = joined(waiting)
        n_whole = n_waiting - n_waiting % chunk_size
        for first in range(0, n_whole, chunk_size):
            yield Chunk(X[first : first + chunk_size], y[first : first + chunk_size], row + first)
        row += n_whole
        n_waiting -= n_whole
        # A copy: a view would keep the rows already yielded in memory.
        waiting = [(X[n_whole:].copy(), y[n_whole:].copy())] if n_waiting else []
    if to_skip:
        raise ValueError(f"start={start}, but the stream has only {start - to_skip} rows.")
    if waiting:
        yield Chunk(*joined(waiting), row)

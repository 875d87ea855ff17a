"""LIBSVM's text format: `label index:value ...`, one row per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._native import parse_libsvm
from .bad_rows import BadRows
from .columns import mark_unlabeled
from .files import DataFileError, open_source, source_name
from .text import Lines, line_blocks

_INT32 = np.iinfo(np.int32)

# Labels, the number of values of every row, indices, values.
Arrays = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]


def read_libsvm(
    source: Any,
    *,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    unlabeled: float | None = None,
    on_bad_row: str = "error",
    drop: Sequence[int] = (),
) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    r"""Return a whole file in LIBSVM's format as CSR rows and labels.

    It agrees with `sklearn.datasets.load_svmlight_file` where both read a file, but is stricter:
    NaN, infinite values, underscores in numbers and signs of indices are bad rows. A comment
    begins with ``#``. A number after ``qid:`` is checked and dropped.

    Parameters
    ----------
    source : path, "-" or binary file
        Compressed with gzip, bz2 or xz, or not; "-" is standard input.
    n_features : int, optional
        The number of features of the file. Default: as many as its indices and `drop` need.
    zero_based : bool or "auto"
        Whether indices count from 0. "auto": if there is an index 0.
    unlabeled : float, optional
        A label that marks unlabelled rows, besides ``?`` and NaN.
    on_bad_row : {"error", "skip"}
        Raise at a line that cannot be used, or leave such lines out and warn of them.
    drop : sequence of int
        Features to skip, by their indices in the file. X has no columns for them. Their values may
        be any text without blanks.

    Returns
    -------
    X : csr_matrix of float64, with sorted indices of 32 bits where they suffice
    y : ndarray of float64
        NaN where a row is unlabelled.

    Examples
    --------
    >>> import io
    >>> X, y = read_libsvm(io.BytesIO(b"+1 1:0.5 3:2\n?  2:1  # unlabelled\n"))
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> y
    array([ 1., nan])
    >>> read_libsvm(io.BytesIO(b"1 1:0.5 2:red 3:2\n"), drop=[2])[0].toarray()
    array([[0.5, 2. ]])
    """
    check_indices(n_features, zero_based)
    bad_rows = BadRows(source_name(source), on_bad_row)
    with open_source(source) as opened:
        lines = Lines(line_blocks(opened), bad_rows)
        X, y, _ = whole_libsvm(lines, zero_based, unlabeled, n_features, drop)
    bad_rows.report()
    return X, y


def whole_libsvm(
    lines: Lines,
    zero_based: bool | str,
    unlabeled: float | None,
    n_features: int | None = None,
    drop: Sequence[int] = (),
) -> tuple[sparse.csr_matrix, NDArray[np.float64], bool]:
    """Return all rows and labels, and whether indices count from 0; see `read_libsvm`."""
    first = int(zero_based is False)
    last = _INT32.max if n_features is None else n_features - (zero_based is True)
    arrays = list(lines.parse(LibsvmParser(first, last, drop)))
    y, counts, indices, values = _joined(arrays)
    from_zero = zero_based is True
    if zero_based == "auto" and (len(indices) or drop):
        from_zero = 0 in drop or bool((indices == 0).any())
        indices -= not from_zero
    needed = file_width(int(indices.max()) + 1 if len(indices) else 0, drop, from_zero)
    if n_features is not None and needed > n_features:
        raise DataFileError(
            f"{lines.bad_rows.name} has indices from 0 to {needed - 1}, hence {needed} features "
            f"where n_features={n_features}. Pass n_features={needed}."
        )
    X = _csr(counts, indices, values, (n_features or needed) - len(set(drop)))
    return X, mark_unlabeled(y, unlabeled), from_zero


def libsvm_pieces(
    lines: Lines,
    n_features: int,
    zero_based: bool,
    unlabeled: float | None,
    drop: Sequence[int] = (),
) -> Iterator[tuple[sparse.csr_matrix, NDArray[np.float64]]]:
    """Yield CSR rows and labels in pieces; see `read_libsvm`."""
    first = int(not zero_based)
    parser = LibsvmParser(first, n_features - 1 + first, drop)
    width = n_features - len(set(drop))
    for y, counts, indices, values in lines.parse(parser):
        yield _csr(counts, indices, values, width), mark_unlabeled(y, unlabeled)


def file_width(n_kept: int, drop: Sequence[int], zero_based: bool) -> int:
    """Return the number of features of a file: `n_kept` and the dropped ones.

    A dropped feature counts even if no row has it.

    Examples
    --------
    >>> file_width(5, [2], False), file_width(5, [9], False), file_width(5, [9], True)
    (6, 9, 10)
    """
    return max(n_kept + len(set(drop)), max(drop, default=-1) + zero_based)


def check_indices(n_features: Any, zero_based: Any) -> None:
    """Raise if the options of a LIBSVM file are invalid."""
    if zero_based not in (True, False, "auto"):
        raise ValueError(f"zero_based={zero_based!r} is none of True, False and 'auto'.")
    if n_features is not None and not 1 <= n_features <= _INT32.max:
        raise ValueError(f"n_features={n_features!r} must lie between 1 and {_INT32.max}.")


class LibsvmParser:
    """The compiled parser, and arrays that it fills again for every block."""

    def __init__(self, first: int, last: int, drop: Sequence[int] = ()) -> None:
        self._first, self._last = first, last
        beyond = [index for index in drop if not first <= index <= last]
        if beyond:
            raise ValueError(
                f"drop={beyond[0]!r}: there is no such feature; they are numbered from {first} to "
                f"{last}."
            )
        self._dropped = np.unique(np.array(drop, np.int32))
        self._make_room(0)

    def reserve(self, text: bytes) -> None:
        """Make room for the most rows (2 bytes each) and values (4 bytes each) in the text."""
        if len(text) > self._size:
            self._make_room(len(text))

    def _make_room(self, size: int) -> None:
        self._size = size
        self._labels = np.empty(size // 2 + 1)
        self._indptr = np.zeros(size // 2 + 2, np.int32)
        self._indices = np.empty(size // 4 + 1, np.int32)
        self._values = np.empty(size // 4 + 1)

    def resume(self, text: bytes, offset: int, row: int) -> tuple[int, int, int, int, int, int]:
        """Continue at an offset."""
        arrays = (self._labels, self._indptr, self._indices, self._values)
        return parse_libsvm(text, offset, row, *arrays, self._first, self._last, self._dropped)

    def take(self, text: bytes, n_rows: int) -> Arrays:
        """Return copies of the rows read."""
        counts, n = np.diff(self._indptr[: n_rows + 1]), int(self._indptr[n_rows])
        labels = self._labels[:n_rows].copy()
        return labels, counts, self._indices[:n].copy(), self._values[:n].copy()

    def text(self, part: bytes) -> str:
        """Return a part of a block as text, whatever its bytes."""
        return part.decode("utf-8", "backslashreplace")

    def facts(self, text: str, before: str) -> dict[str, Any]:
        """Return values for the message of a complaint; an index tells where it is."""
        return {"n_features": self._last + 1 - self._first, "where": ""}


def _joined(arrays: list[Arrays]) -> Arrays:
    if not arrays:
        return np.empty(0), np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    # One array at a time: its parts are freed before the next is joined.
    columns: list[Any] = [list(column) for column in zip(*arrays, strict=True)]
    arrays.clear()
    for k in range(4):
        columns[k] = np.concatenate(columns[k])
    return tuple(columns)  # type: ignore[return-value]


def _csr(
    counts: NDArray[np.int32],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    n_features: int,
) -> sparse.csr_matrix:
    dtype = np.int32 if len(values) <= _INT32.max else np.int64
    indptr = np.zeros(len(counts) + 1, dtype)
    np.cumsum(counts, out=indptr[1:])
    X = sparse.csr_matrix((values, indices, indptr), shape=(len(counts), n_features), copy=False)
    X.has_sorted_indices = X.has_canonical_format = True  # checked by the parser
    return X

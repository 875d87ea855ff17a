"""LIBSVM files: whole where their width is to be found out, else in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scipy import sparse

from ..io import BadRows, DataFileError, read_libsvm
from ..io.files import OpenFile
from ..io.libsvm import libsvm_pieces


def libsvm_pieces_of(
    source: Any, bad_rows: BadRows, n_features: int, zero_based: bool, unlabeled: float | None
) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of a file whose width is known; those that are wider are bad."""
    opened = OpenFile(source, source.name, compressed=True)
    yield from libsvm_pieces(
        opened, bad_rows, n_features=n_features, zero_based=zero_based, unlabeled=unlabeled
    )


def whole_libsvm(
    source: Any,
    n_features: int | None,
    zero_based: bool | None,
    unlabeled: float | None,
    on_bad_row: str,
) -> tuple[Any, Any, bool]:
    r"""Return rows, labels, and whether indices count from 0: if there is an index 0.

    Examples
    --------
    >>> import io
    >>> X, y, from_zero = whole_libsvm(io.BytesIO(b"1 1:2 3:4\n"), None, None, None, "error")
    >>> X.toarray(), y, from_zero
    (array([[2., 0., 4.]]), array([1.]), False)
    """
    X, y = read_libsvm(
        source, zero_based=zero_based is not False, unlabeled=unlabeled, on_bad_row=on_bad_row
    )
    from_zero = bool(zero_based) or (zero_based is None and X.nnz > 0 and int(X.indices.min()) == 0)
    if zero_based is None and not from_zero:
        parts = (X.data, X.indices - 1, X.indptr)
        X = sparse.csr_matrix(parts, shape=(X.shape[0], max(X.shape[1] - 1, 0)))
    width = X.shape[1] if n_features is None else n_features
    if width < X.shape[1]:
        name = getattr(source, "name", "the file")
        raise DataFileError(f"{name} has {X.shape[1]} features, more than --features {width}.")
    if width == 0:
        raise DataFileError(f"{getattr(source, 'name', 'the file')} holds no values of features.")
    X.resize(X.shape[0], width)
    return X, y, from_zero

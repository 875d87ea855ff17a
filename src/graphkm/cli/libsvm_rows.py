"""Rows of LIBSVM files, read with the command line's options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..io import DataFileError
from ..io.columns import Piece
from ..io.libsvm import libsvm_pieces, whole_libsvm
from ..io.row_files import OpenTable
from .options import UsageError


def libsvm_rows(
    opened: OpenTable,
    unlabeled: str | None,
    n_features: int | None,
    zero_based: bool | None,
    dropped: tuple[int, ...],
) -> tuple[Iterator[Piece], bool]:
    """Return the rows of a LIBSVM file, and whether its indices count from 0.

    If the number of features or the first index is not given, all rows come in one piece.
    """
    mark = _as_number(unlabeled)
    if n_features is not None and zero_based is not None:
        pieces = libsvm_pieces(opened.lines, n_features, zero_based, mark, dropped)
    else:
        counting = "auto" if zero_based is None else zero_based
        X, y, zero_based = whole_libsvm(opened.lines, counting, mark, drop=dropped)
        found = X.shape[1] + len(dropped)
        n_features = n_features or found
        if n_features < found:
            raise DataFileError(
                f"{opened.name} has {found} features, more than --features {n_features}."
            )
        X.resize(X.shape[0], n_features - len(dropped))
        pieces = iter([(X, y)])
    if n_features == len(dropped):
        beside = " beside those dropped" if dropped else ""
        raise DataFileError(f"{opened.name} holds no values of features{beside}.")
    return pieces, zero_based


def libsvm_indices(drop: Sequence[str] | None) -> tuple[int, ...]:
    """Return the indices of a LIBSVM file that --drop names.

    Examples
    --------
    >>> libsvm_indices(["7", "3", "7"])
    (3, 7)
    """
    wrong = [index for index in drop or () if not (index.isascii() and index.isdigit())]
    if wrong:
        raise UsageError(
            f"--drop {wrong[0]}: features of LIBSVM files have no names; pass the feature's index."
        )
    return tuple(sorted({int(index) for index in drop or ()}))


def _as_number(mark: str | None) -> float | None:
    if mark is None or mark in ("?", ""):
        return None
    try:
        return float(mark)
    except ValueError:
        raise UsageError(f"--unlabeled {mark}: labels of LIBSVM files are numbers.") from None

"""Parquet files, in batches of rows, through pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bad_rows import BadRows
from .files import STDIN, DataFileError, binary_file
from .libsvm import mark_unlabeled
from .tables import Piece, label_column


def parquet_pieces(
    source: Any,
    bad_rows: BadRows,
    *,
    label: str | int | None,
    labels: str,
    n_features: int | None,
    unlabeled: Any,
    batch_size: int,
    columns: list[str] | None = None,
) -> Iterator[Piece]:
    """Yield rows and labels of a Parquet file; see `graphkm.online.read_stream`.

    With `columns` it reads only these, which are in the file's order.
    """
    pa = _pyarrow()
    from pyarrow import parquet

    name = bad_rows.name
    try:
        # pre_buffer would hold whole row groups.
        with parquet.ParquetFile(_seekable(source, name), pre_buffer=False) as file:
            schema = file.schema_arrow
            if columns is not None:
                schema = pa.schema([schema.field(column) for column in columns])
            column = label_column(schema.names, label, name, named=True)
            _check_schema(schema, column, n_features, name)
            first_row = 0
            for batch in file.iter_batches(batch_size=batch_size, columns=columns):
                y = _labels(batch, column, labels, unlabeled, name)
                X = _features(batch, column)
                good = _finite_rows(X, first_row, bad_rows)
                first_row += len(X)
                yield (X, y) if good.all() else (X[good], y[good])
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:  # names may be damaged, too
        if isinstance(error, OSError) and error.errno is not None:
            raise  # no such file, or the disk's fault
        raise DataFileError(f"{name} cannot be read as Parquet ({error}).") from error


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "Parquet files need pyarrow, which is not installed. Install it with "
            'pip install "graphkm[io]", or convert the file to CSV.'
        ) from error
    return pyarrow


def _seekable(source: Any, name: str) -> Any:
    if isinstance(source, str | os.PathLike) and source != STDIN:
        return os.fspath(source)
    file = binary_file(source)
    if not file.seekable():
        raise DataFileError(
            f"{name}: Parquet keeps its contents' list at the end, so that it cannot be read from "
            "a pipe. Save it to a file first."
        )
    return file


def _check_schema(schema: Any, column: int, n_features: int | None, name: str) -> None:
    import pyarrow as pa

    for k, field in enumerate(schema):
        kind = field.type
        numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if k != column and not (numeric or pa.types.is_boolean(kind)):
            raise DataFileError(
                f"{name}: column {field.name!r} holds {kind}, not numbers. Encode it as numbers, "
                "leave it out, or name it as the label's column with label=."
            )
    found = len(schema) - (column >= 0)
    if found < 1 or (n_features is not None and found != n_features):
        wanted = "at least 1" if n_features is None else f"n_features={n_features}"
        raise DataFileError(f"{name} has {found} features where {wanted} must be.")


def _features(batch: Any, column: int) -> NDArray[np.float64]:
    import pyarrow as pa

    chosen = [k for k in range(batch.num_columns) if k != column]
    X = np.empty((batch.num_rows, len(chosen)))
    for out, k in enumerate(chosen):
        # A missing value becomes NaN, and a bad row.
        X[:, out] = batch.column(k).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return X


def _finite_rows(X: NDArray[np.float64], first_row: int, bad_rows: BadRows) -> NDArray[np.bool_]:
    good: NDArray[np.bool_] = np.isfinite(X).all(axis=1)  # type: ignore[assignment]
    for row in np.flatnonzero(~good):
        k = int(np.argmin(np.isfinite(X[row])))
        bad_rows.add(first_row + int(row), f"feature {k} is missing or not finite ({X[row, k]})")
    return good


def _labels(batch: Any, column: int, labels: str, unlabeled: Any, name: str) -> NDArray[Any]:
    import pyarrow as pa

    if column < 0:
        return np.full(batch.num_rows, np.nan)
    values = batch.column(column)
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return _numbers(values, labels, unlabeled, name)
    marks = (None, "", "?", None if unlabeled is None else str(unlabeled))
    words = [None if word in marks else word for word in values.to_pylist()]
    if not all(word is None or isinstance(word, str) for word in words) or labels == "number":
        raise DataFileError(f"{name}: the label's column holds {kind}, neither numbers nor text.")
    y = np.full(len(words), None, dtype=object)
    y[:] = words
    return y


def _numbers(values: Any, labels: str, unlabeled: Any, name: str) -> NDArray[np.float64]:
    import pyarrow as pa

    if labels == "text":
        raise DataFileError(f"{name}: labels='text', but the label's column holds {values.type}.")
    y = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False).copy()
    if np.abs(y[np.isfinite(y)]).max(initial=0.0) > 2**53 and pa.types.is_integer(values.type):
        raise DataFileError(
            f"{name}: the label's column holds integers beyond 2**53, which floats cannot tell "
            "apart. Store the labels as text."
        )
    if np.isinf(y).any():
        raise DataFileError(f"{name}: the label's column holds an infinite number.")
    return y if isinstance(unlabeled, str) else mark_unlabeled(y, unlabeled)

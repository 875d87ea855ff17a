"""Parquet files, in batches of rows, through pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bad_rows import BadRows
from .columns import Chooser, Columns, Head, Piece, mark_unlabeled
from .files import STDIN, DataFileError, binary_file
from .kinds import DATE, NUMBER, TRUTH, label_word, number_text

_BATCH = 2**14  # rows


def parquet_table(
    source: Any, bad_rows: BadRows, chooser: Chooser, *, labels: str, unlabeled: Any
) -> tuple[Columns, Iterator[Piece]]:
    """Return the columns of a Parquet file, and its rows in pieces; see `csv_table`."""
    file, head = open_parquet(source, bad_rows.name)
    columns = chooser.choose(head)
    _check_features(file.schema_arrow, columns)
    return columns, _pieces(file, columns, bad_rows, labels, unlabeled)


@dataclass(frozen=True)
class RowGroups:
    """Some row groups of a Parquet file, as a source of rows."""

    path: str
    start: int
    stop: int


def open_parquet(source: Any, name: str) -> tuple[Any, Head]:
    """Return an open file and its columns; of `RowGroups`, the file reads these alone."""
    with _readable(name):
        from pyarrow import parquet

        groups = isinstance(source, RowGroups)
        place = source.path if groups else _seekable(source, name)
        # With pre_buffer, pyarrow would hold whole row groups.
        file = parquet.ParquetFile(place, pre_buffer=False)
        if groups:
            some = range(source.start, source.stop)
            file.iter_batches = partial(file.iter_batches, row_groups=list(some))
        schema = file.schema_arrow
        truths = [k for k, kind in enumerate(schema.types) if str(kind) == "bool"]
        names = schema.names
        return file, Head(name, names, len(names), index=_index(schema), truths=tuple(truths))


def _index(schema: Any) -> tuple[int, ...]:
    """Return the columns in which pandas has put the index of a frame."""
    try:
        told = (schema.pandas_metadata or {}).get("index_columns", ())
    except (ValueError, AttributeError):  # damaged
        told = ()
    names = [name for name in told if isinstance(name, str)]
    return tuple(k for k, name in enumerate(schema.names) if name in names)


def parquet_columns(file: Any, columns: Columns, name: str) -> Iterator[tuple[dict[int, Any], int]]:
    """Yield the columns that are read, by position, as arrays of pyarrow; and their length."""
    names, read = columns.head.names or (), columns.read
    wanted = None if len(read) == len(names) else [names[k] for k in read]
    with file, _readable(name):
        for batch in file.iter_batches(batch_size=_BATCH, columns=wanted):
            yield dict(zip(read, batch.columns, strict=True)), batch.num_rows


def _pieces(
    file: Any, columns: Columns, bad_rows: BadRows, labels: str, unlabeled: Any
) -> Iterator[Piece]:
    first_row = 0
    for arrays, n_rows in parquet_columns(file, columns, bad_rows.name):
        with _readable(bad_rows.name):
            X = _features([arrays[k] for k in columns.features])
            if columns.label is None:
                y: NDArray[Any] = np.full(n_rows, np.nan)
            else:
                y = _labels(arrays[columns.label], labels, unlabeled, bad_rows.name)
        good = _finite_rows(X, first_row, bad_rows)
        first_row += n_rows
        yield (X, y) if good.all() else (X[good], y[good])


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn pyarrow's errors into `DataFileError`."""
    pa = _pyarrow()
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:  # column names may be damaged
        if isinstance(error, OSError) and error.errno is not None:
            raise  # there is no such file, or the disk fails
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
            f"{name}: Parquet keeps its table of contents at the end, so it cannot be read from a "
            "pipe. Save it to a file first."
        )
    return file


def _check_features(schema: Any, columns: Columns) -> None:
    import pyarrow as pa

    for k in columns.features:
        field = schema.field(k)
        if not (_is_number(field.type) or pa.types.is_boolean(field.type)):
            raise DataFileError(
                f"{columns.head.file}: column {field.name!r} holds {field.type}, not numbers. "
                "Encode it as numbers, leave it out, or name it as the label's column with label=."
            )


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _features(arrays: list[Any]) -> NDArray[np.float64]:
    X = np.empty((len(arrays[0]), len(arrays)))
    for k, values in enumerate(arrays):
        X[:, k] = _floats(values)  # a missing value becomes NaN, which makes a bad row
    return X


def _floats(values: Any) -> NDArray[np.float64]:
    import pyarrow as pa

    found: NDArray[np.float64] = values.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return found


def _finite_rows(X: NDArray[np.float64], first_row: int, bad_rows: BadRows) -> NDArray[np.bool_]:
    good: NDArray[np.bool_] = np.isfinite(X).all(axis=1)  # type: ignore[assignment]
    for row in np.flatnonzero(~good):
        k = int(np.argmin(np.isfinite(X[row])))
        bad_rows.add(first_row + int(row), f"feature {k} is missing or not finite ({X[row, k]})")
    return good


def _labels(values: Any, labels: str, unlabeled: Any, name: str) -> NDArray[Any]:
    import pyarrow as pa

    kind = values.type
    if _is_number(kind) or (pa.types.is_boolean(kind) and labels == "number"):
        return _numbers(values, labels, unlabeled, name)
    if pa.types.is_boolean(kind):
        values = pa.array([text or None for text in TypedColumn(values, TRUTH).texts()])
    words = values.to_pylist()
    if not all(word is None or isinstance(word, str) for word in words) or labels == "number":
        raise DataFileError(f"{name}: the labels are {kind}; store them as numbers or text.")
    y = np.full(len(words), None, dtype=object)
    y[:] = [label_word(word or "", unlabeled) for word in words]
    return y


def _numbers(values: Any, labels: str, unlabeled: Any, name: str) -> NDArray[np.float64]:
    import pyarrow as pa

    if labels == "text":
        raise DataFileError(f"{name}: labels='text', but labels are {values.type}; pass 'number'.")
    y = _floats(values).copy()
    if np.abs(y[np.isfinite(y)]).max(initial=0.0) > 2**53 and pa.types.is_integer(values.type):
        raise DataFileError(
            f"{name}: the label's column holds integers beyond 2**53, which floats cannot tell "
            "apart. Store the labels as text."
        )
    if np.isinf(y).any():
        raise DataFileError(f"{name}: a label is infinite; correct it, or leave it out.")
    return mark_unlabeled(y, _as_number(unlabeled))


def _as_number(mark: Any) -> Any:
    """Return a marker as a number; None if it is none.

    Examples
    --------
    >>> _as_number("-1"), _as_number("unknown"), _as_number(None)
    (-1.0, None, None)
    """
    try:
        return float(mark) if isinstance(mark, str) else mark
    except ValueError:
        return None


# ------------------------------------------------------------- typed columns


@dataclass(frozen=True)
class TypedColumn:
    """A column whose values are not texts, and the texts that CSV has for them."""

    values: Any  # an array of pyarrow
    kind: str  # a number, a truth value or a date

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    @property
    def empty(self) -> bool:
        """Whether every value is missing."""
        return bool(np.isnan(self.numbers()).all())

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as numbers, dates as days since 1970; NaN where one is missing."""
        import pyarrow as pa

        if self.kind != DATE:
            return _floats(self.values)
        micros = self.values.cast(pa.timestamp("us"), safe=False).cast(pa.int64(), safe=False)
        return _floats(micros) / 86_400e6

    def texts(self) -> list[str]:
        """Return the values exactly, as pandas would write them to CSV; "" where one is missing."""
        import pyarrow as pa

        if pa.types.is_timestamp(self.values.type):
            return _times(self.values.cast(pa.string()).to_pylist())
        write = number_text if pa.types.is_floating(self.values.type) else str
        return ["" if value is None else write(value) for value in self.values.to_pylist()]

    def chosen(self, rows: NDArray[np.bool_]) -> TypedColumn:
        """Return some of the rows."""
        import pyarrow as pa

        return TypedColumn(self.values.filter(pa.array(rows)), self.kind)

    def joined(self, parts: list[TypedColumn]) -> TypedColumn:
        """Return several pieces of the same column as one."""
        import pyarrow as pa

        return TypedColumn(pa.concat_arrays([part.values for part in parts]), self.kind)


def typed(values: Any) -> TypedColumn | None:
    """Return an array of pyarrow as a column; None if it holds texts, or anything else."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return TypedColumn(values, DATE)
    if pa.types.is_boolean(kind):
        return TypedColumn(values, TRUTH)
    return TypedColumn(values, NUMBER) if _is_number(kind) or pa.types.is_decimal(kind) else None


def _times(found: list[str | None]) -> list[str]:
    """Return times without zeros at their ends: dates alone if no row has a time of the day."""
    texts = []
    for text in found:
        seconds, point, part = (text or "").removesuffix("Z").partition(".")
        part = part.rstrip("0")
        zone = "+00:00" * (text or "").endswith("Z")
        texts.append(seconds + point * bool(part) + part + zone)
    midnight = " 00:00:00"
    if all(text.endswith(midnight) or not text for text in texts):
        return [text.removesuffix(midnight) for text in texts]
    return texts

"""Parquet files: their columns and their rows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

from ..io import BadRows, DataFileError
from ..io.parquet import parquet_pieces
from .layout import Head, Layout

_BATCH = 2**14


def parquet_table(
    source: str | io.BytesIO,
    unlabeled: str | None,
    bad_rows: BadRows,
    lay_out: Callable[[Head], Layout],
    labels: str,
) -> tuple[Layout, Iterator[tuple[Any, Any]]]:
    """Return a table's columns and its rows, in pieces."""
    schema = _schema(source, bad_rows.name)
    layout = lay_out(Head(bad_rows.name, schema.names, len(schema.names)))
    label = None if layout.label is None else schema.names[layout.label]
    mark: str | float | None = unlabeled
    if label is not None and unlabeled is not None and _is_numeric(schema.field(label).type):
        mark = _number(unlabeled)
    return layout, parquet_pieces(
        source,
        bad_rows,
        label=label,
        labels=labels,
        n_features=len(layout.features),
        unlabeled=mark,
        batch_size=_BATCH,
        columns=[schema.names[k] for k in layout.kept],
    )


def _schema(source: str | io.BytesIO, name: str) -> Any:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            'Parquet files need pyarrow, which is not installed; run pip install "graphkm[cli]", '
            "or convert the file to CSV."
        ) from error
    try:
        return parquet.read_schema(source)
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataFileError(f"{name} cannot be read as Parquet ({error}).") from error


def _is_numeric(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # which no number equals

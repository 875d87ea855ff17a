"""Tables with a column of texts to material: texts are shown, and learnt from by their words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..io import DataFileError
from ..io.columns import Head
from ..io.csv import likely_delimiter
from ..io.naming import check_names, find_column, label_column
from .material import Material, numbers_of
from .tables import TableReading, cell_text, given_labels

_WORDS = 100  # columns that texts become
_FEATURES = 20_000  # words that are looked at


def read_texts(path: Path, format: str, options: TableReading) -> Material:
    """Return the rows of a table whose column `options.text` is learnt from.

    A text in quotes may have several lines.
    """
    table = _read(path, format, options.delimiter)
    names = [str(name) for name in table.column_names]
    head = Head(str(path), names, len(names))
    text = find_column(head, options.text or "", "--text")
    label = label_column(head, options.label)
    check_names(str(path), names)
    n = table.num_rows
    if n < 2:
        raise DataFileError(f"{path}: it has {n} rows; two at least are needed.")
    columns = [(name, table.column(k)) for k, name in enumerate(names) if k != label]
    texts = [cell_text(value) for value in table.column(text).to_pylist()]
    given = np.full(n, None, dtype=object)
    if label is not None:
        found = [cell_text(value) for value in table.column(label).to_pylist()]
        given = given_labels(found, options, path)
    X, words = _words(texts)
    return Material(
        X=X,
        names=words,
        shown=lambda row: [(name, cell_text(column[row].as_py())) for name, column in columns],
        given=given,
        written=lambda row: [texts[row], *numbers_of(X, row)],
        header=[names[text], *words],
        label="label" if label is None else names[label],
        text=names[text],
        alike=True,
        format=format,
        notes=[f"The model learns from the words of {names[text]}."],
    )


def _read(path: Path, format: str, delimiter: str | None) -> Any:
    try:
        import pyarrow as pa
        from pyarrow import csv, parquet
    except ImportError as error:
        raise ImportError('--text needs pyarrow: pip install "graphkm[app]"') from error
    try:
        if format == "parquet":
            return parquet.read_table(path)
        parse = csv.ParseOptions(delimiter=delimiter or _delimiter(path), newlines_in_values=True)
        convert = csv.ConvertOptions(strings_can_be_null=False, null_values=["", "?", "nan", "NaN"])
        return csv.read_csv(path, parse_options=parse, convert_options=convert)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        first = str(error).split("\n")[0]
        raise DataFileError(f"{path}: it cannot be read as {format}: {first}") from error


def _delimiter(path: Path) -> str:
    if path.suffix in (".gz", ".bz2", ".zst"):
        return ","
    with path.open(encoding="utf-8", errors="replace") as file:
        return likely_delimiter([file.readline(), ""])


def _words(texts: Sequence[str]) -> tuple[NDArray[np.float64], list[str]]:
    """Return texts as numbers: weights of words, in their leading directions."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        weights = TfidfVectorizer(max_features=_FEATURES, sublinear_tf=True).fit_transform(texts)
    except ValueError as error:
        raise DataFileError(f"the texts hold no words to learn from: {error}") from error
    width = min(_WORDS, min(weights.shape) - 1)
    if width < 1 or not issparse(weights):
        found = np.asarray(weights.todense(), dtype=np.float64)
    else:
        found = np.asarray(TruncatedSVD(width, random_state=0).fit_transform(weights))
    return found, [f"words_{k + 1}" for k in range(found.shape[1])]

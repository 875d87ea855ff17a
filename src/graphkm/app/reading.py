"""Files and folders to material: CSV, Parquet, LIBSVM, images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..io import DataFileError, read_libsvm
from ..io.columns import listed
from ..io.files import format_by_name
from .images import ImageFolder, image_names, pixel_names, pixels
from .material import Material, number_text

_WORDS = 100  # columns that texts become
_WORD = "words_{}"  # what they are called
_FEATURES = 20_000  # words that are looked at
_UNKNOWN = ("", "?", "nan", "NaN", "NA")


def read_material(
    path: Path,
    *,
    format: str | None = None,
    label: str | None = None,
    images: str | None = None,
    text: str | None = None,
    delimiter: str | None = None,
) -> Material:
    """Return the rows of a file, or the images of a folder.

    Parameters
    ----------
    path : Path
        CSV, Parquet or LIBSVM; or a folder of images.
    format : {"csv", "parquet", "libsvm"}, optional
        What the file is; None judges by its name, and takes others for CSV.
    label : str, optional
        The column of labels that are known; None is the one called "label", if there is one.
    images, text : str, optional
        A column of paths of images, relative to the file's folder, or of texts.
    delimiter : str, optional
        What separates the fields of CSV; None judges by the first line.
    """
    if path.is_dir():
        return _folder(path)
    format = format or format_by_name(str(path)) or "csv"
    if format == "libsvm":
        if images or text:
            raise DataFileError(f"{path}: LIBSVM rows have no columns of images or texts.")
        return _libsvm(path)
    table = _read_table(path, format, delimiter)
    return _table(path, table, label, images, text)


def _folder(folder: Path) -> Material:
    names = image_names(folder)
    if len(names) < 2:
        raise DataFileError(f"{folder}: it holds {len(names)} images; two at least are needed.")
    where = ImageFolder(folder, names)
    X = pixels([folder / name for name in names])
    return Material(
        X=X,
        names=pixel_names(),
        shown=lambda row: [("image", names[row])],
        given=np.full(len(names), None, dtype=object),
        kept=("image",),
        image="image",
        images=where,
        alike=True,
        notes=["The model learns from the pixels, in grey, 28 x 28."],
    )


def _libsvm(path: Path) -> Material:
    X, y = read_libsvm(path)
    names = [str(k + 1) for k in range(X.shape[1])]

    def shown(row: int) -> list[tuple[str, str]]:
        one = X[[row]]
        pairs = zip(one.indices.tolist(), one.data.tolist(), strict=True)
        return [(names[k], number_text(value)) for k, value in pairs]

    numbers = np.asarray(y, dtype=np.float64)
    given = np.array([number_text(v) or None for v in numbers], dtype=object)
    return Material(X=X, names=names, shown=shown, given=given)


# ------------------------------------------------------------------- tables


def _read_table(path: Path, format: str, delimiter: str | None) -> Any:
    try:
        import pyarrow as pa
        from pyarrow import csv, parquet
    except ImportError as error:
        raise ImportError('the labelling page needs pyarrow: pip install "graphkm[app]"') from error
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
        first = file.readline()
    return max(",;\t|", key=first.count)


def _table(
    path: Path, table: Any, label: str | None, images: str | None, text: str | None
) -> Material:
    names = [str(name) for name in table.column_names]
    for wanted, option in ((label, "--label"), (images, "--images"), (text, "--text")):
        if wanted is not None and wanted not in names:
            raise DataFileError(
                f"{option} {wanted}: {path} has no such column; it has {listed(names)}."
            )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataFileError(f"{path}: several columns are called {twice!r}; rename them.")
    if table.num_rows < 2:
        raise DataFileError(f"{path}: it has {table.num_rows} rows; two at least are needed.")
    label = label if label is not None else next((n for n in names if n.lower() == "label"), None)
    cells = [name for name in names if name != label]
    columns = {name: table.column(name) for name in cells}

    def shown(row: int) -> list[tuple[str, str]]:
        return [(name, _cell(column[row].as_py())) for name, column in columns.items()]

    known = _given(table.column(label)) if label else np.full(table.num_rows, None, dtype=object)
    where = None
    if images is not None:
        where = ImageFolder(path.parent, [_cell(v) for v in columns[images].to_pylist()])
    X, features, notes = _features(path, columns, images, text, where)
    return Material(
        X=X,
        names=features,
        shown=shown,
        given=known,
        label=label or "label",
        kept=[name for name in (images, text) if name is not None],
        text=text,
        image=images,
        images=where,
        alike=features[:1] in ([_WORD.format(1)], pixel_names()[:1]),
        notes=notes,
    )


def _given(column: Any) -> NDArray[np.object_]:
    """Return labels as texts, None where there is none."""
    texts = [_cell(value) for value in column.to_pylist()]
    return np.array([None if t in _UNKNOWN else t for t in texts], dtype=object)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    return number_text(value) if isinstance(value, int | float) else str(value)


def _features(
    path: Path,
    columns: dict[str, Any],
    images: str | None,
    text: str | None,
    where: ImageFolder | None,
) -> tuple[Any, list[str], list[str]]:
    """Return what is learnt from: numbers of the table; without any, words or pixels."""
    import pyarrow.types as kinds

    numeric = [
        name
        for name, column in columns.items()
        if kinds.is_integer(column.type)
        or kinds.is_floating(column.type)
        or kinds.is_boolean(column.type)
    ]
    other = [name for name in columns if name not in numeric and name not in (images, text)]
    notes = []
    if other:
        notes.append(f"Columns that are not numbers are shown, not learnt from: {listed(other)}.")
    if text is not None:
        X, names = _words([_cell(v) for v in columns[text].to_pylist()])
        notes.append(f"The model learns from the words of {text}.")
        return X, names, notes
    if numeric:
        X, filled = _numbers([columns[name] for name in numeric])
        if filled:
            notes.append(f"{filled:,} missing values are replaced by their column's median.")
        return X, numeric, notes
    if where is None:
        raise DataFileError(f"{path}: no column holds numbers; name one with --text or --images.")
    paths = [where(row) for row in range(len(columns[images or ""]))]
    missing = next((k for k, place in enumerate(paths) if place is None), None)
    if missing is not None:
        name = _cell(columns[images or ""][missing].as_py())
        raise DataFileError(
            f"{path}: row {missing + 1} names the image {name!r}, which is not a picture inside "
            f"{path.resolve().parent}."
        )
    return pixels([p for p in paths if p is not None]), pixel_names(), notes


def _numbers(columns: Sequence[Any]) -> tuple[NDArray[np.float64], int]:
    """Return columns side by side, with medians where values are missing, and how many were."""
    import pyarrow as pa

    X = np.empty((len(columns[0]), len(columns)))
    for k, column in enumerate(columns):
        numbers = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
        X[:, k] = numbers.cast(pa.float64(), safe=False).to_numpy()  # NaN where there is none
    X[~np.isfinite(X)] = np.nan
    missing = np.isnan(X)
    filled = int(missing.sum())
    if filled:
        for k in np.flatnonzero(missing.any(axis=0)).tolist():
            known = X[~missing[:, k], k]
            X[missing[:, k], k] = np.median(known) if len(known) else 0.0
    return X, filled


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
        return found, [_WORD.format(k + 1) for k in range(found.shape[1])]
    found = TruncatedSVD(width, random_state=0).fit_transform(weights)
    return np.asarray(found), [_WORD.format(k + 1) for k in range(width)]

"""Files and folders to material."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..io import DataFileError
from ..io.files import format_by_name
from ..io.kinds import number_text
from ..io.libsvm import whole_libsvm
from ..io.row_files import open_table
from .encoding import Encoding
from .folder_material import read_folder_rows
from .material import Material, numbers_of
from .table_material import TableReading, read_table


def read_material(
    path: Path,
    format: str | None = None,
    *,
    encoder: str = "auto",
    verbose: int = 0,
    **options: object,
) -> Material:
    """Return the rows of a file, or the pictures or texts of a folder.

    Parameters
    ----------
    path : Path
        CSV, Parquet or LIBSVM; or a folder of pictures or of text files.
    format : {"csv", "parquet", "libsvm"}, optional
        What the file is; None judges by its name, else by its text.
    encoder : str, default="auto"
        The model that makes vectors of texts or pictures, as in `graphkm.embed`.
    verbose : int, default=0
        Whether a progress bar is shown while it does.
    **options
        Of a table: see `TableReading`.
    """
    chosen = TableReading(**options)  # type: ignore[arg-type]
    encoding = Encoding(encoder, verbose)
    if path.is_dir():
        _refuse(path, chosen, "a folder")
        return read_folder_rows(path, encoding)
    format = format or format_by_name(str(path))
    if format is None:
        with open_table(path, encoding=chosen.encoding) as opened:
            format = opened.format
    if format == "libsvm":
        _refuse(path, chosen, "LIBSVM")
        return _libsvm(path, chosen.unlabeled)
    return read_table(path, format, chosen, encoding)


def _refuse(path: Path, options: TableReading, what: str) -> None:
    """Raise for options that are about columns."""
    given = {
        "--label": options.label,
        "--images": options.images,
        "--text": options.text,
        "--drop": options.drop,
        "--id": options.id,
    }
    for flag, value in given.items():
        if value:
            raise DataFileError(f"{path} is {what}, whose rows have no named columns: drop {flag}.")


def _libsvm(path: Path, unlabeled: str | None) -> Material:
    with open_table(path, "libsvm", advice="Fix it.") as opened:
        X, y, zero_based = whole_libsvm(opened.lines, "auto", None)
    if X.shape[0] < 2 or X.shape[1] < 1:
        raise DataFileError(
            f"{path}: it has {X.shape[0]} rows of {X.shape[1]} features; two rows at least, and a "
            "feature, are needed."
        )
    names = [str(k + (not zero_based)) for k in range(X.shape[1])]

    def shown(row: int) -> list[tuple[str, str]]:
        one = X[[row]]
        pairs = zip(one.indices.tolist(), one.data.tolist(), strict=True)
        return [(names[k], number_text(value)) for k, value in pairs]

    given = np.array([number_text(value) or None for value in y], dtype=object)
    if unlabeled is not None:
        given[[label is not None and _same(label, unlabeled) for label in given]] = None
    return Material(
        X=X,
        names=names,
        shown=shown,
        given=given,
        written=lambda row: numbers_of(X, row),
        header=names,
        format="libsvm",
        zero_based=zero_based,
    )


def _same(label: str, mark: str) -> bool:
    try:
        return float(label) == float(mark)
    except ValueError:
        return label == mark

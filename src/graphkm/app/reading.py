"""Files and folders to material: tables, texts, LIBSVM, images."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..io import DataFileError
from ..io.files import format_by_name
from ..io.kinds import number_text
from ..io.libsvm import whole_libsvm
from ..io.row_files import open_table
from .images import ImageFolder, image_names, pixel_names, pixels
from .material import Material, numbers_of
from .table_material import TableReading, read_table
from .texts import read_texts


def read_material(path: Path, format: str | None = None, **options: object) -> Material:
    """Return the rows of a file, or the images of a folder.

    Parameters
    ----------
    path : Path
        CSV, Parquet or LIBSVM; or a folder of images.
    format : {"csv", "parquet", "libsvm"}, optional
        What the file is; None judges by its name, else by its text.
    **options
        Of a table: see `TableReading`.
    """
    chosen = TableReading(**options)  # type: ignore[arg-type]
    if path.is_dir():
        _refuse(path, chosen, "a folder of images")
        return _folder(path)
    format = format or format_by_name(str(path))
    if format is None:
        with open_table(path, encoding=chosen.encoding) as opened:
            format = opened.format
    if format == "libsvm":
        _refuse(path, chosen, "LIBSVM")
        return _libsvm(path, chosen.unlabeled)
    return (
        read_table(path, format, chosen)
        if chosen.text is None
        else read_texts(path, format, chosen)
    )


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


def _folder(folder: Path) -> Material:
    names = image_names(folder)
    if len(names) < 2:
        raise DataFileError(f"{folder}: it holds {len(names)} images; two at least are needed.")
    X, whole, notes = pixels([folder / name for name in names])
    names = [names[k] for k in whole]
    return Material(
        X=X,
        names=pixel_names(),
        shown=lambda row: [("image", names[row])],
        given=np.full(len(names), None, dtype=object),
        written=lambda row: [names[row], *numbers_of(X, row)],
        header=["image", *pixel_names()],
        image="image",
        images=ImageFolder(folder, names),
        alike=True,
        notes=["The model learns from the pixels, in grey, 28 x 28.", *notes],
    )


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

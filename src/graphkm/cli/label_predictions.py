"""Predictions of all rows of the labelling page, in a table of their own."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..app.material import Material

CHUNK = 10_000  # rows that are predicted at a time


def predictions_path(out: Path) -> Path:
    """Return where predictions are written: beside the file of labels.

    Examples
    --------
    >>> predictions_path(Path("labels.csv")).name
    'labels.predictions.csv'
    """
    return out.with_name(f"{out.stem}.predictions{out.suffix}")


def predictor(rows: Material, model: Path, out: Path) -> Callable[[dict[int, str]], str]:
    """Return a function that writes what a saved model says of all rows, and tells of it.

    It takes the labels by row. The file has the columns of the rows, as they stand in the table, or
    a file's path in its folder; then the label, the prediction, and the prediction's probability.
    A file that is there already stays as OUT.previous.
    """

    def write(labels: dict[int, str]) -> str:
        from .model_files import read_model
        from .output import whole_or_not

        fitted, note = read_model(model)
        replaced = out.exists()
        sure = note.task == "classify" and hasattr(fitted, "predict_proba")
        with whole_or_not(out, keep_previous=True) as file:
            writer = csv.writer(file, lineterminator="\n")
            header = _header(rows, sure)
            if header is not None:
                writer.writerow(header)
            for row, said in enumerate(_said(fitted, rows.X, sure)):
                cells = _cells(rows, row)
                writer.writerow(_clean([*cells, labels.get(row, ""), *said]))
        kept = f" The file before it is {out.name}.previous." * replaced
        return (
            f"{out} holds the predictions of all {len(rows):,} rows by the model in {model}.{kept}"
        )

    return write


def _header(rows: Material, sure: bool) -> list[str] | None:
    """Return the names of the columns; those that are added differ from those of the table."""
    own = ["row"] if rows.format == "libsvm" else rows.header
    if own is None:
        return None
    names = [*own, rows.label]
    for name in ("prediction", "probability")[: 1 + sure]:
        names.append(name if name not in names else f"{name}_{len(names)}")
    return _clean(names)


def _cells(rows: Material, row: int) -> list[str]:
    """Return what names a row: its cells, or its number if it has thousands of them."""
    return [str(row + 1)] if rows.format == "libsvm" else rows.written(row)


def _clean(cells: Sequence[str]) -> list[str]:
    """Return cells of one line each, as in the file of labels; file names may not be text."""
    return [" ".join(cell.splitlines()).encode(errors="replace").decode() for cell in cells]


def _said(fitted: Any, X: Any, sure: bool) -> Iterator[list[str]]:
    """Yield a row's prediction and its probability, or the quantity alone."""
    import numpy as np

    from ..io.kinds import number_text
    from .learning_rows import label_text

    for start in range(0, X.shape[0], CHUNK):
        some = X[start : start + CHUNK]
        predicted = fitted.predict(some)
        if not sure:
            yield from ([number_text(value)] for value in predicted.tolist())
            continue
        codes = np.searchsorted(fitted.classes_, predicted)
        chances = fitted.predict_proba(some)[np.arange(len(codes)), codes]
        for label, chance in zip(predicted, chances.tolist(), strict=True):
            yield [label_text(label), f"{chance:.4f}"]

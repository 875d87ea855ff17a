"""Predictions of all rows of the labelling page, in a table of their own."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..app.material import Material
    from .model_files import FileNote

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
    a file's path in its folder; then the label, the prediction, and the prediction's probability,
    or that of every label where rows have several. A file that is there
    already stays as OUT.previous.
    """

    def write(labels: dict[int, str]) -> str:
        from .model_files import read_model
        from .output import whole_or_not

        fitted, note = read_model(model)
        replaced = out.exists()
        answers = _answers(fitted, note)
        with whole_or_not(out, keep_previous=True) as file:
            writer = csv.writer(file, lineterminator="\n")
            header = _header(rows, answers.names)
            if header is not None:
                writer.writerow(header)
            for row, said in enumerate(answers.said(rows.X)):
                cells = _cells(rows, row)
                writer.writerow(_clean([*cells, labels.get(row, ""), *said]))
        kept = f" The file before it is {out.name}.previous." * replaced
        return (
            f"{out} holds the predictions of all {len(rows):,} rows by the model in {model}.{kept}"
        )

    return write


def _header(rows: Material, added: Sequence[str]) -> list[str] | None:
    """Return the names of the columns; those that are added differ from those of the table."""
    own = ["row"] if rows.format == "libsvm" else rows.header
    if own is None:
        return None
    names = [*own, rows.label]
    for name in added:
        names.append(name if name not in names else f"{name}_{len(names)}")
    return _clean(names)


def _cells(rows: Material, row: int) -> list[str]:
    """Return what names a row: its cells, or its number if it has thousands of them."""
    return [str(row + 1)] if rows.format == "libsvm" else rows.written(row)


def _clean(cells: Sequence[str]) -> list[str]:
    """Return cells of one line each, as in the file of labels; file names may not be text."""
    return [" ".join(cell.splitlines()).encode(errors="replace").decode() for cell in cells]


class _Answers(NamedTuple):
    """What a model says of rows, as cells."""

    names: list[str]
    of: Callable[[Any], Iterable[list[str]]]

    def said(self, X: Any) -> Iterator[list[str]]:
        """Yield the cells of every row."""
        for start in range(0, X.shape[0], CHUNK):
            yield from self.of(X[start : start + CHUNK])


def _answers(fitted: Any, note: FileNote) -> _Answers:
    """Return the columns that tell of a model's answers, and what makes their cells."""
    from .several_answers import several_header

    if note.several:
        return _Answers(several_header(note, proba=True), partial(_labels, fitted, note))
    if note.task == "classify" and hasattr(fitted, "predict_proba"):
        return _Answers(["prediction", "probability"], partial(_classes, fitted))
    return _Answers(["prediction"], partial(_quantities, fitted))


def _quantities(fitted: Any, X: Any) -> list[list[str]]:
    from ..io.kinds import number_text

    return [[number_text(value)] for value in fitted.predict(X).tolist()]


def _classes(fitted: Any, X: Any) -> list[list[str]]:
    """Return classes and their probabilities."""
    import numpy as np

    from .learning_rows import label_text

    predicted = fitted.predict(X)
    codes = np.searchsorted(fitted.classes_, predicted)
    chances = fitted.predict_proba(X)[np.arange(len(codes)), codes]
    pairs = zip(predicted, chances.tolist(), strict=True)
    return [[label_text(label), f"{chance:.4f}"] for label, chance in pairs]


def _labels(fitted: Any, note: FileNote, X: Any) -> list[list[str]]:
    """Return the names of several labels, and the probability of each."""
    from .several_answers import several_rows

    found = several_rows(note, fitted.predict(X), fitted.predict_proba(X))
    return [[said, *(f"{chance:.4f}" for chance in chances)] for said, *chances in found]

"""A model and rows of a file, for what is told of a model by its held-out labels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scipy.sparse import issparse

from ..exchange.storable import MIXED
from ..io.files import source_name
from ..io.kinds import IMAGE
from ..report import Subject
from ..report.html import joined
from ..report.pictures import picture
from ..report.subject import word
from .model_files import FileNote, last_step
from .options import FileOptions, UsageError
from .prediction_rows import kept_columns
from .row_files import open_known, read_whole

_CELLS = 6  # columns of a row that are shown
_LONGEST = 300  # letters of a cell that are shown


def check_mixture(model: Any, path: Path) -> None:
    """Raise if a model holds no labels out."""
    last = last_step(model)
    if not isinstance(last, MIXED):
        raise UsageError(
            f"{path} holds a {type(last).__name__}, which holds no labels out. Train a model with "
            "--method mixture, or test this one with graphkm evaluate."
        )


def subject_of(fitted: Any, note: FileNote, data: str, files: FileOptions) -> Subject:
    """Return a model and the rows of a file, read as a whole."""
    with open_known(data, files, note, kept=kept_columns(None, None, note)) as table:
        X, y = read_whole(table)
    told = table.columns is None or table.columns.label is not None or table.columns.labels
    last = last_step(fitted)
    return Subject(
        last,
        X if last is fitted else fitted[:-1].transform(X),
        y if told else None,
        cells=X,
        columns=note.columns or [],
        kinds=note.kinds,
        called=[cells[0] for cells in table.kept] if table.kept_names else None,
        targets=note.targets,
        source=Path(source_name(data)).name,
        n_fit=note.n_rows or None,
    )


def shown_cells(note: FileNote) -> Callable[[Any], Any]:
    """Return a function that tells what a row holds: its picture, its text, or its first cells."""
    names = note.columns or [str(k + 1) for k in range(note.n_features)]
    # Texts and pictures say more of a row than numbers.
    order = sorted(range(len(names)), key=lambda k: k not in note.encoded)[:_CELLS]

    def cell(value: Any, place: int) -> Any:
        if note.encoded.get(place) == IMAGE:
            return picture(value)
        text = "" if value is None else word(value)
        text = f"{text[:_LONGEST]}..." if len(text) > _LONGEST else text
        return text if len(names) == 1 else f"{names[place]}: {text}"

    def shown(cells: Any) -> Any:
        if issparse(cells):
            return ""
        parts = [cell(cells[place], place) for place in order]
        return joined(part for k, each in enumerate(parts) for part in (", " * (k > 0), each))

    return shown

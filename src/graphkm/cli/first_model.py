"""A model from before, which chooses the first rows of the labelling page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import TableOptions, UsageError

if TYPE_CHECKING:
    from ..app.learning import FirstModel
    from ..app.material import Material
    from .model_files import FileNote


def first_model(
    path: Path,
    data: Path,
    rows: Material,
    files: TableOptions,
    asked: list[str] | None,
    regression: bool,
) -> FirstModel | None:
    """Return the model that chooses the first rows; raise if its columns or labels are others."""
    from ..active import uncertainty
    from ..app.learning import FirstModel
    from .learning_rows import label_text
    from .links import note_no_edges
    from .model_files import read_model
    from .output import say

    fitted, note = read_model(path)
    if (note.task == "regress") is not regression:
        kind, advice = ("quantities", "pass") if note.task == "regress" else ("classes", "drop")
        raise UsageError(
            f"--model {path}: it is a model of {kind}; {advice} --regression, or name another file."
        )
    classes = [label_text(name) for name in getattr(fitted, "classes_", ())]
    foreign = [name for name in classes if asked is not None and name not in asked]
    if foreign:
        raise UsageError(
            f"--model {path}: it knows the class {foreign[0]}, which --classes does not name. Add "
            "it to --classes, or name another file."
        )
    X = _rows_for(path, note, data, rows, files)
    if regression:
        why = "a model of quantities does not say how sure it is"
        say(f"note: {path} does not choose the first rows: {why}.")
        return None
    note_no_edges(fitted, path)
    what = "rows with different labels" if note.several else "labels of two classes"
    said = f"Until {what} are known, {path.name} chooses the rows."
    return FirstModel(lambda some: uncertainty(fitted, X[some]), classes, said, note.several)


def check_first(first: FirstModel | None, several: bool) -> None:
    """Raise if only one of a model from before and the page has several labels per row."""
    if first is None or first.several is several:
        return
    has, rows = (
        ("several labels", "one class") if first.several else ("one class", "several labels")
    )
    raise UsageError(
        f"--model: its rows have {has} each, and those of the page {rows}. Name another file."
    )


def _rows_for(path: Path, note: FileNote, data: Path, rows: Material, files: TableOptions) -> Any:
    """Return the rows as a model from before takes them; raise if it has learnt from others."""
    from ..io import DataFileError
    from .row_files import open_known, read_whole

    if rows.format == "folder":
        if list(note.kinds) != list(rows.kinds):
            columns = ", ".join(note.columns or []) or f"{note.n_features:,} columns"
            raise UsageError(
                f"--model {path}: it has learnt from {columns}, and {data} holds "
                f"{rows.kinds[0]}s. Name another file."
            )
        return rows.X
    try:
        with open_known(str(data), files, note, labels=False) as table:
            X = read_whole(table)[0]
    except DataFileError as error:
        raise UsageError(f"--model {path} does not fit these rows: {error}") from error
    if X.shape[0] != len(rows):  # pictures that cannot be read are not shown
        raise UsageError(
            f"--model {path}: it reads {X.shape[0]:,} rows, and {len(rows):,} can be shown. Take "
            f"rows without a readable picture out of {data}."
        )
    return X

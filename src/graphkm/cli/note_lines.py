"""What summaries say of the label's column, of given edges, and of encoders."""

from __future__ import annotations

from dataclasses import replace

from ..io.columns import listed
from .model_files import FOLDER, FileNote
from .options import UsageError, listed_names


def label_line(note: FileNote) -> str | None:
    """Return what a summary says of the label's column."""
    if note.label_columns:
        return f"{len(note.targets):,} columns: {listed(note.targets)}"
    if note.label is None:
        return None
    if note.format == FOLDER:
        return "the sub-folders"
    column = repr(note.label) if isinstance(note.label, str) else f"number {note.label}"
    guess = ", a guess: it is the last one; --label names another"
    names = "" if note.separator is None else f", names with {note.separator!r} between them"
    return f"the column {column}{names}{guess if note.guessed else ''}"


def with_asked_labels(note: FileNote, labels: str | None, label: str | None) -> FileNote:
    """Return a model's note, with the columns of labels of another file if an option names them."""
    if labels is None:
        if label is not None and note.label_columns:
            raise UsageError(
                f"--label {label}: the model has several columns of labels; --labels names them."
            )
        return note
    if not note.label_columns:
        raise UsageError("--labels: the model has one column of labels; name it with --label.")
    names = listed_names(labels)
    if len(names) != len(note.targets):
        raise UsageError(
            f"--labels {labels}: it names {len(names)} columns, and the model has "
            f"{len(note.targets)}: {listed(note.targets)}."
        )
    return replace(note, targets=names)


def edges_line(note: FileNote) -> str | None:
    """Return what a summary says of the graphs of --edges."""
    if not note.edges:
        return None
    called = "by their numbers" if note.id is None else f"by the column {note.id!r}"
    told = ", ".join(f"{name} ({count:,})" for name, count in note.edges.items())
    return f"{told}; they call rows {called}"


def encoder_lines(note: FileNote) -> dict[str, str | None]:
    """Return what a summary says of texts and of pictures: their columns, and their encoders."""
    names = note.columns or [str(k + 1) for k in range(note.n_features)]
    lines: dict[str, str | None] = {}
    for k, kind in note.encoded.items():
        own = [each for each in note.encoders.values() if each.get("column") in (names[k], None)]
        told = " and ".join(map(_called, own))
        lines[f"{kind}s"] = f"{names[k]}, by {told}" * (note.format != FOLDER) or f"by {told}"
    return lines


def _called(encoder: dict[str, str | None]) -> str:
    name, digest = encoder["model"], encoder["hash"]
    return f"{name} (hash {digest[:12]})" if digest else f"{name}"

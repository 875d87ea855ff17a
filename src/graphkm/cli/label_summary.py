"""What summaries say of the label's column."""

from __future__ import annotations

from .model_files import FileNote


def label_line(note: FileNote) -> str | None:
    """Return what a summary says of the label's column."""
    if note.label is None:
        return None
    column = repr(note.label) if isinstance(note.label, str) else f"number {note.label}"
    guess = ", a guess: it is the last one; --label names another"
    return f"the column {column}{guess if note.guessed else ''}"

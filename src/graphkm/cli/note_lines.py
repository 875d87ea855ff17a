"""What summaries say of the label's column, and of given edges."""

from __future__ import annotations

from .model_files import FileNote


def label_line(note: FileNote) -> str | None:
    """Return what a summary says of the label's column."""
    if note.label is None:
        return None
    column = repr(note.label) if isinstance(note.label, str) else f"number {note.label}"
    guess = ", a guess: it is the last one; --label names another"
    return f"the column {column}{guess if note.guessed else ''}"


def edges_line(note: FileNote) -> str | None:
    """Return what a summary says of the graphs of --edges."""
    if not note.edges:
        return None
    called = "by their numbers" if note.id is None else f"by the column {note.id!r}"
    told = ", ".join(f"{name} ({count:,})" for name, count in note.edges.items())
    return f"{told}; they call rows {called}"

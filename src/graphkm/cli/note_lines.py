"""What summaries say of the label's column, of given edges, and of encoders."""

from __future__ import annotations

from .model_files import FOLDER, FileNote


def label_line(note: FileNote) -> str | None:
    """Return what a summary says of the label's column."""
    if note.label is None:
        return None
    if note.format == FOLDER:
        return "the sub-folders"
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

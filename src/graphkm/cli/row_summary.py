"""What summaries say of the rows to learn from."""

from __future__ import annotations

from shlex import quote
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..io.kinds import kinds_line
from ..tables.treatments import DIFFERENT_TEXTS
from ..tables.useless_columns import identifier_doubts
from .label_columns import counted_labels, counted_quantities, facts_of, table_doubts
from .learning_rows import Rows, label_text, label_values
from .model_files import FileNote
from .note_lines import edges_line, label_line

_SHOWN = 10  # classes in a summary


def summary_lines(rows: Rows) -> dict[str, str | None]:
    """Return a summary for people."""
    n_labeled = int(rows.labeled.sum())
    width = f"{rows.note.n_features:,} feature{'s' * (rows.note.n_features != 1)}"
    return {
        "rows": _counted_texts(rows.note, len(rows.y)) or f"{len(rows.y):,} with {width}",
        "encoding": None if rows.note.encoding == "utf-8" else rows.note.encoding,
        "columns": _columns(rows),
        "left out": _left_out(rows),
        "missing": _gaps(rows),
        "label": label_line(rows.note),
        "labelled": f"{n_labeled:,} ({100 * n_labeled / len(rows.y):.3g} %)",
        "edges": edges_line(rows.note),
        **_answers(rows),
    }


def summary_facts(rows: Rows) -> dict[str, Any]:
    """Return a summary for programs."""
    facts: dict[str, Any] = {
        "task": rows.note.task,
        "rows": len(rows.y),
        "labelled": int(rows.labeled.sum()),
        "features": rows.note.n_features,
        "label": rows.note.label,
        "label_guessed": rows.note.guessed,
        "encoding": rows.note.encoding,
        "kinds": dict(zip(rows.names, rows.note.kinds, strict=bool(rows.note.kinds))),
        "categories": [rows.names[k] for k in rows.note.words],
        "left_out": rows.note.left_out,
        "missing_values": rows.n_gaps,
        "edges": rows.note.edges,
    }
    if rows.note.several:
        return facts | _several_facts(rows)
    if rows.note.task == "classify":
        facts["classes"] = label_values(rows.classes)
    return facts


def _several_facts(rows: Rows) -> dict[str, Any]:
    named = "labels" if rows.note.task == "classify" else "targets"
    return {named: rows.note.targets, "separator": rows.note.separator} | facts_of(
        rows.y, rows.note.targets, rows.note.task
    )


def doubts(rows: Rows) -> list[str]:
    """Return what the user should look at: choices that were made unasked."""
    said = _several_doubts(rows) if rows.note.several else []
    for mark in {-1, "-1"} & set(rows.classes if _many_classes(rows) else ()):
        said.append(
            f"{mark} was read as a class; if it marks unlabelled rows, pass --unlabeled {mark}."
        )
    if issparse(rows.X):
        return said
    no_numbers = [*rows.note.words, *rows.note.encoded]
    return said + identifier_doubts(rows.X, rows.names, no_numbers)


def _several_doubts(rows: Rows) -> list[str]:
    """Return what is odd about several labels: quantities have nothing of that kind."""
    if rows.note.task == "regress":
        return []
    said, separator = table_doubts(rows.y, rows.note.targets), rows.note.separator
    if separator is not None and not (np.nansum(rows.y, axis=1) > 1).any():
        said.append(
            f"no row has two labels, because {separator!r} is in no cell of the label's column; is "
            "--separator right?"
        )
    return said


def _many_classes(rows: Rows) -> bool:
    return rows.note.task == "classify" and not rows.note.several and len(rows.classes) > 2


def _columns(rows: Rows) -> str | None:
    if rows.note.plain or len(rows.note.encoded) == rows.note.n_features:
        return None
    return kinds_line(rows.note.kinds, rows.names)


def _left_out(rows: Rows) -> str | None:
    told = ", ".join(f"{name} ({why})" for name, why in rows.note.left_out.items())
    texts = [name for name, why in rows.note.left_out.items() if DIFFERENT_TEXTS in why]
    advice = f"; to learn from texts, pass --text {quote(texts[-1])}" if texts else ""
    return f"{told}{advice}" or None


def _gaps(rows: Rows) -> str | None:
    if not rows.n_gaps:
        return None
    columns = int(rows.missing.any(axis=0).sum())
    values = f"{rows.n_gaps:,} value{'s' * (rows.n_gaps != 1)}"
    return f"{values} of {columns} column{'s' * (columns != 1)}, filled in"


def _answers(rows: Rows) -> dict[str, str]:
    """Return the classes, labels or quantities, and how many rows know each."""
    classify = rows.note.task == "classify"
    if rows.note.several:
        name, counted = ("labels", counted_labels) if classify else ("targets", counted_quantities)
        return {name: counted(rows.y, rows.note.targets)}
    return {"classes": _counted_classes(rows)} if classify else {"targets": _targets(rows)}


def _counted_classes(rows: Rows) -> str:
    values, counts = np.unique(rows.y[rows.labeled], return_counts=True)
    listed = [f"{label_text(v)} ({n:,})" for v, n in zip(values, counts, strict=True)]
    more = ", ..." if len(listed) > _SHOWN else ""
    return f"{len(values)}: {', '.join(listed[:_SHOWN])}{more}"


def _targets(rows: Rows) -> str:
    known = rows.y[rows.labeled]
    return f"numbers from {known.min():.6g} to {known.max():.6g}, median {np.median(known):.6g}"


def _counted_texts(note: FileNote, n: int) -> str | None:
    """Return how many texts or pictures there are, if rows consist of nothing else."""
    return f"{n:,} {note.kinds[0]}s" if len(note.encoded) == note.n_features == 1 else None

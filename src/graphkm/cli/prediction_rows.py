"""Rows of predictions, and the names of their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .further_columns import Further
    from .links import Links
    from .model_files import FileNote

CHUNK = 10_000
"""Rows in memory at a time."""


def kept_columns(id: str | None, keep: str | None, note: FileNote) -> list[tuple[str, str]]:
    """Return the columns that are copied to the output, each with the option that names it.

    The identifier of training has no option: it is copied if DATA has it.
    """
    first = id if id is not None else note.id
    names = [name.strip() for name in (keep or "").split(",") if name.strip()]
    wanted = [] if first is None else [(first, "--id" if id is not None else "")]
    return wanted + [(name, "--keep") for name in names if name != first]


def header(model: Any, note: FileNote, proba: bool = False) -> list[str]:
    """Return the names of the output's columns."""
    from .learning_rows import label_text
    from .several_answers import several_header

    if note.several:
        return several_header(note, proba)
    if not hasattr(model, "classes_"):
        return ["prediction"]
    words = [label_text(label) for label in model.classes_]
    scores = ["decision"] if len(words) == 2 else [f"decision_{word}" for word in words]
    return ["prediction", *scores, *(f"probability_{word}" for word in words if proba)]


def predictions(
    model: Any,
    note: FileNote,
    pieces: Any,
    proba: bool,
    links: Links,
    further: Sequence[Further] = (),
) -> Iterator[list[list[Any]]]:
    """Yield rows of predictions for pieces of a table, in chunks."""
    import numpy as np

    from ..estimators.classes import winning_class
    from ..online.chunks import cut_into_chunks
    from .learning_rows import label_text
    from .model_files import last_step
    from .output import progress_bar
    from .several_answers import several_rows

    # Machines that may have a field, and mixtures, decide by their own predict, not by scores.
    own = any(hasattr(last_step(model), name) for name in ("field_", "mixture_"))
    words = [label_text(label) for label in getattr(model, "classes_", ())]
    with progress_bar("predicting", "rows") as bar:
        for X, _, first in cut_into_chunks(pieces, CHUNK):
            ask = partial(links.ask, model, X=X, rows=slice(first, first + X.shape[0]))
            if note.several:
                shares = ask("predict_proba") if proba else None
                rows = several_rows(note, ask("predict"), shares)
            elif words:
                scores = ask("decision_function").reshape(X.shape[0], -1)
                codes = (
                    np.searchsorted(model.classes_, ask("predict"))
                    if own
                    else winning_class(scores)
                )
                if proba:
                    scores = np.hstack([scores, ask("predict_proba")])
                rows = [[words[k], *row] for k, row in zip(codes, scores.tolist(), strict=True)]
            else:
                rows = [[value] for value in ask("predict").tolist()]
            for each in further:
                more = each.rows(X, ask)
                rows = [[*row, *cells] for row, cells in zip(rows, more, strict=True)]
            yield rows
            bar.update(len(rows))

"""`graphkm info`: what a model file holds."""

from __future__ import annotations

from typing import Any

from .options import AsJson, Model
from .spreading import spread

EXAMPLES = ("graphkm info moons.gkm", "graphkm info moons.gkm --json")

_SHOWN = 12  # columns in the summary


@spread
def info(model: Model, as_json: AsJson = False) -> None:
    """Tell what a model was trained on, how, and what files it takes."""
    from .learning_rows import label_text, label_values
    from .model_files import (
        FOLDER,
        described_model,
        found_facts,
        last_step,
        read_model,
        shown_parameters,
    )
    from .note_lines import edges_line, encoder_lines, label_line
    from .output import show

    fitted, note = read_model(model)
    estimator = last_step(fitted)
    classes = list(getattr(fitted, "classes_", ()))
    centres = len(getattr(estimator, "support_", ()))
    size = model.stat().st_size
    show(
        {"model": f"{model} ({size / 1024:,.0f} KiB, graphkm {note.version or 'unknown'})"}
        | described_model(fitted, note)
        | {
            "task": _task(note),
            **_answers(note, [label_text(label) for label in classes]),
            "trained on": origin(note),
            "features": None if note.format == FOLDER else _features(note),
            **encoder_lines(note),
            **_treatments(note),
            "edges": edges_line(note),
            "label": label_line(note),
            "unlabelled": None if note.unlabeled is None else f"marked {note.unlabeled}",
            "centres": f"{centres:,}" if centres else None,
        },
        {
            "model": model,
            "bytes": size,
            "estimator": type(estimator).__name__,
            "parameters": shown_parameters(estimator),
            "classes": label_values(classes),
            "centres": centres,
        }
        | found_facts(fitted)
        | vars(note),
        as_json,
    )


def _task(note: Any) -> str:
    if note.several:
        return "several labels per row" if note.task == "classify" else "several numbers per row"
    return "classes" if note.task == "classify" else "numbers"


def _answers(note: Any, classes: list[str]) -> dict[str, str | None]:
    """Return the names of classes, of several labels, or of several quantities."""
    if note.several:
        return {"labels" if classes else "targets": ", ".join(note.targets)}
    return {"classes": ", ".join(classes) or None}


def origin(note: Any) -> str | None:
    """Return what a model was trained on."""
    from .model_files import FOLDER

    if not note.n_rows:
        return None
    rows = f"{note.n_rows:,} rows, {note.n_labeled:,} of them labelled"
    format = {"parquet": "Parquet", FOLDER: "a folder"}.get(note.format, note.format.upper())
    encoding = f", {note.encoding}" if note.encoding not in (None, "utf-8") else ""
    return f"{rows} ({format}{encoding})"


def _treatments(note: Any) -> dict[str, str | None]:
    """Return what becomes of the columns of a table."""
    if note.plain:
        return {"missing": "an error" if note.columns else None} | _left_out(note)
    from ..io.kinds import kinds_line

    if len(note.encoded) == note.n_features:  # there are no other columns
        return _left_out(note)
    names = note.columns or [str(k + 1) for k in range(note.n_features)]
    gaps = "filled in (numbers by the median, categories as one of their own)"
    return {
        "columns": kinds_line(note.kinds, names),
        "missing": gaps if note.missing == "impute" else "an error",
    } | _left_out(note)


def _left_out(note: Any) -> dict[str, str | None]:
    told = [f"{name} ({why})" for name, why in note.left_out.items()]
    return {"left out": ", ".join(told) or None, "identifier": note.id}


def _features(note: Any) -> str:
    if note.columns is None:
        return f"{note.n_features:,}, without names"
    more = ", ..." if len(note.columns) > _SHOWN else ""
    return f"{note.n_features:,}: {', '.join(note.columns[:_SHOWN])}{more}"

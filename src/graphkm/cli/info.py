"""`graphkm info`: what a model file holds."""

from __future__ import annotations

from typing import Any

from .grouping import spread
from .options import AsJson, Model

EXAMPLE = "graphkm info moons.gkm"
MORE_EXAMPLES = ("graphkm info moons.gkm --json",)

_SHOWN = 12  # columns that are listed


@spread
def info(model: Model, as_json: AsJson = False) -> None:
    """Tell what a model was trained on, how, and what files it takes."""
    from .describing import described_estimator
    from .methods import shown_parameters
    from .model_files import read_model
    from .printing import show
    from .rows import label_text, label_values
    from .scaling import last_step

    fitted, memory = read_model(model)
    estimator = last_step(fitted)
    classes = list(getattr(fitted, "classes_", ()))
    centres = len(getattr(estimator, "support_", ()))
    size = model.stat().st_size
    show(
        {"model": f"{model} ({size / 1024:,.0f} KiB, graphkm {memory.version or 'unknown'})"}
        | described_estimator(fitted, memory)
        | {
            "task": "classes" if memory.task == "classify" else "numbers",
            "classes": ", ".join(map(label_text, classes)) if classes else None,
            "trained on": _origin(memory),
            "features": _features(memory),
            "label": None if memory.label is None else f"column {memory.label}",
            "unlabelled": None if memory.unlabeled is None else f"marked {memory.unlabeled}",
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
        | vars(memory),
        as_json,
    )


def _origin(memory: Any) -> str | None:
    if not memory.n_rows:
        return None
    rows = f"{memory.n_rows:,} rows, {memory.n_labeled:,} of them labelled"
    return f"{rows} ({memory.format.upper() if memory.format != 'parquet' else 'Parquet'})"


def _features(memory: Any) -> str:
    if memory.columns is None:
        return f"{memory.n_features:,}, without names"
    more = ", ..." if len(memory.columns) > _SHOWN else ""
    return f"{memory.n_features:,}: {', '.join(memory.columns[:_SHOWN])}{more}"

"""Rows and models in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from .memory import Memory
from .methods import shown_parameters
from .rows import Rows, label_text, label_values
from .scaling import last_step

_SHOWN = 10  # classes that are counted one by one


def described_rows(rows: Rows) -> dict[str, str | None]:
    """Return lines on what there is to learn from."""
    n_labeled = int(rows.labeled.sum())
    width = f"{rows.memory.n_features:,} feature{'s' * (rows.memory.n_features != 1)}"
    return {
        "rows": f"{len(rows.y):,} with {width}",
        "labelled": f"{n_labeled:,} ({100 * n_labeled / len(rows.y):.3g} %)",
        "classes": _classes(rows) if rows.memory.task == "classify" else None,
        "targets": None if rows.memory.task == "classify" else _targets(rows),
    }


def _classes(rows: Rows) -> str:
    values, counts = np.unique(rows.y[rows.labeled], return_counts=True)
    listed = [f"{label_text(v)} ({n:,})" for v, n in zip(values, counts, strict=True)]
    more = ", ..." if len(listed) > _SHOWN else ""
    return f"{len(values)}: {', '.join(listed[:_SHOWN])}{more}"


def _targets(rows: Rows) -> str:
    known = rows.y[rows.labeled]
    return f"numbers from {known.min():.6g} to {known.max():.6g}, median {np.median(known):.6g}"


def described_estimator(model: Any, memory: Memory) -> dict[str, str | None]:
    """Return lines on a fitted model."""
    estimator = last_step(model)
    parameters = shown_parameters(estimator)
    settings = ", ".join(f"{k}={v}" for k, v in parameters.items() if k != "random_state")
    return {
        "method": type(estimator).__name__ + (f" with {settings}" if settings else ""),
        "scaling": memory.scale,
    }


def row_facts(rows: Rows) -> dict[str, Any]:
    """Return the same for programs."""
    facts: dict[str, Any] = {
        "task": rows.memory.task,
        "rows": len(rows.y),
        "labelled": int(rows.labeled.sum()),
        "features": rows.memory.n_features,
    }
    if rows.memory.task == "classify":
        facts["classes"] = label_values(rows.classes)
    return facts

"""Model files: the model and what the command line remembers, in one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import graphkm

from .memory import Memory
from .scaling import last_step


def write_model(model: Any, path: Path, memory: Memory) -> None:
    """Write a model, all or nothing."""
    from ..exchange import save_model

    memory = replace(memory, version=graphkm.__version__)
    estimator = last_step(model)
    here = {"verbose": 0, "n_jobs": None}  # of this terminal and this machine
    estimator.set_params(**{k: v for k, v in here.items() if k in estimator.get_params()})
    save_model(model, path, note=memory.to_note())


def read_model(path: Path) -> tuple[Any, Memory]:
    """Return a model and what it remembers."""
    from ..exchange.files import load_with_note

    model, note = load_with_note(path)
    return model, Memory.from_note(note, model)

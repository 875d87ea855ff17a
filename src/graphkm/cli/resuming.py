"""What a checkpoint was begun with: a stream goes on only with the same settings."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._files import destination, previous_path
from .errors import UsageError
from .writing import whole_or_not


def check_same_settings(checkpoint: Path, settings: dict[str, Any]) -> None:
    """Raise if a checkpoint was begun otherwise; note the settings if there is none.

    The model's own parameters are checked by `graphkm.online.train`.
    """
    beside = _beside(checkpoint)
    if not checkpoint.exists():
        with whole_or_not(beside) as file:
            json.dump(settings, file, indent=1)
        return
    if not beside.exists():
        raise UsageError(
            f"{beside}, which tells how the checkpoint {checkpoint} was begun, is missing; pass "
            "--restart to begin anew, or another --checkpoint."
        )
    before = json.loads(beside.read_text(encoding="utf-8"))
    for name, value in settings.items():
        if before.get(name) != value:
            raise UsageError(
                f"The checkpoint {checkpoint} was begun with {name} {before.get(name)!r}, which is "
                f"{value!r} now; pass the same, or --restart to begin anew."
            )


def forget(checkpoint: Path) -> None:
    """Remove a checkpoint and what belongs to it."""
    for path in (checkpoint, previous_path(checkpoint), _beside(checkpoint)):
        with suppress(FileNotFoundError):
            destination(path).unlink()


def _beside(checkpoint: Path) -> Path:
    return checkpoint.with_name(checkpoint.name + ".json")

"""Which model of texts a name, a folder, a file or a callable means."""

from __future__ import annotations

from typing import Any

from .encoder import Encoder, MissingModelError
from .word_pieces import word_pieces


def find_text_model(model: Any) -> Encoder:
    """Return the model that is meant."""
    if callable(model):
        name = getattr(model, "__qualname__", type(model).__name__)
        return Encoder(name, None, None, model)
    if model == "auto":
        return word_pieces()
    raise MissingModelError(model)

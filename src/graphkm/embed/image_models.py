"""Which model of images a name, a file or a callable means."""

from __future__ import annotations

from typing import Any

from .encoder import Encoder, MissingModelError, digest
from .pixels import CELL, DIRECTIONS, gradient_histograms, grey_values, pixels_and_gradients

_OWN = ("auto", "pixels", "gradients")


def find_image_model(model: Any, size: int) -> Encoder:
    """Return the model that is meant."""
    if callable(model):
        name = getattr(model, "__qualname__", type(model).__name__)
        return Encoder(name, None, None, model)
    if model in _OWN:
        return _own_model(model, size)
    raise MissingModelError(model)


def _own_model(model: str, size: int) -> Encoder:
    """Return pixels, gradients or both, which need no file."""
    n_gradients = (size // CELL - 1) ** 2 * 4 * DIRECTIONS
    n_features = {"pixels": size**2, "gradients": n_gradients, "auto": size**2 + n_gradients}
    of_grey = {
        "pixels": lambda grey: grey.reshape(len(grey), -1),
        "gradients": gradient_histograms,
        "auto": pixels_and_gradients,
    }[model]

    def encode(pictures: list[Any]) -> Any:
        return of_grey(grey_values(pictures, size))

    name = f"{'pixels and gradients' if model == 'auto' else model} {size}"
    return Encoder(name, digest(f"images 1, {name}"), n_features[model], encode)

"""Which model of images a name, a file or a callable means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .encoder import Encoder, MissingModelError, digest, of_callable
from .image_libraries import LIBRARIES
from .onnx_images import onnx_image_model
from .pixels import N_GRADIENTS, gradient_histograms, grey_values, pixels_and_gradients

_OWN = ("auto", "pixels", "gradients")


def find_image_model(model: Any, size: int) -> Encoder:
    """Return the model that is meant: a callable, one of our own, a network or a file."""
    if callable(model):
        return of_callable(model)
    if not isinstance(model, str | os.PathLike) or not os.fspath(model):
        raise TypeError(
            f"model has to be one of {', '.join(map(repr, _OWN))}, 'timm:NAME', "
            f"'torchvision:NAME', a file in ONNX or a function, got {model!r}."
        )
    name = os.fspath(model)
    if name in _OWN:
        return _own_model(name, size)
    kind, _, rest = name.partition(":")
    if kind in LIBRARIES:
        return LIBRARIES[kind](rest)
    place = Path(rest if kind == "onnx" else name).expanduser()
    if place.is_file():
        return onnx_image_model(place)
    raise MissingModelError(
        f"There is no file {place}. A model of images is one of {', '.join(_OWN)}, timm:NAME, "
        "torchvision:NAME, a file in ONNX or a function."
    )


def _own_model(model: str, size: int) -> Encoder:
    """Return pixels, gradients or both, which need no file."""
    n_features = {"pixels": size**2, "gradients": N_GRADIENTS, "auto": size**2 + N_GRADIENTS}
    of_grey = {
        "pixels": lambda grey: grey.reshape(len(grey), -1),
        "gradients": gradient_histograms,
        "auto": pixels_and_gradients,
    }[model]

    def encode(pictures: list[Any]) -> Any:
        return of_grey(grey_values(pictures, size))

    name = f"{'pixels and gradients' if model == 'auto' else model} {size}"
    return Encoder(name, digest(f"images 1, {name}"), n_features[model], encode)

"""Networks for images in ONNX, run by onnxruntime."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoder import Encoder, MissingModelError, digest
from .onnx_files import fixed, open_session, parts_of, run_session

_USUAL_SIDE = 224
_MEAN = np.array([0.485, 0.456, 0.406], np.float32)  # of ImageNet's colours
_SPREAD = np.array([0.229, 0.224, 0.225], np.float32)


def onnx_image_model(path: Path) -> Encoder:
    """Return the model of a file: input (batch, 3, height, width) in ImageNet's units.

    An image is scaled so that it covers the input, and its centre is taken. The first output is the
    vector; one with places becomes the mean over its places.
    """
    load = cache(lambda: _Network(path))
    settings = "onnx image, centre, ImageNet"
    return Encoder(
        f"onnx:{path.name}", digest(settings, parts_of(path)), None, lambda images: load()(images)
    )


def centred(image: Any, height: int, width: int) -> NDArray[np.float32]:
    """Return the centre of an image as an array (3, height, width) in ImageNet's units."""
    scale = max(width / image.width, height / image.height)
    wide, high = max(width, round(image.width * scale)), max(height, round(image.height * scale))
    left, top = (wide - width) // 2, (high - height) // 2
    scaled = image.convert("RGB").resize((wide, high))
    values = np.asarray(scaled.crop((left, top, left + width, top + height)), np.float32)
    coloured: NDArray[np.float32] = (values / np.float32(255) - _MEAN) / _SPREAD
    return coloured.transpose(2, 0, 1)


class _Network:
    """A session of onnxruntime, and the shape of its input."""

    def __init__(self, path: Path) -> None:
        self.path, self.session = path, open_session(path)
        nodes = self.session.get_inputs()
        shape = nodes[0].shape if len(nodes) == 1 else []
        if len(shape) != 4 or fixed(shape[1]) not in (3, None):
            found = ", ".join(f"{node.name} {node.shape}" for node in nodes)
            raise MissingModelError(
                f"{path} has the inputs {found}. An image model has to have one, of the shape "
                "(batch, 3, height, width): export it with the channels first."
            )
        self.name, self.kind = nodes[0].name, nodes[0].type
        self.n_images = fixed(shape[0])
        self.height, self.width = (fixed(side) or _USUAL_SIDE for side in shape[2:])

    def __call__(self, images: list[Any]) -> NDArray:
        """Return a row for each image."""
        values = np.stack([centred(image, self.height, self.width) for image in images])
        if self.kind == "tensor(float16)":
            values = values.astype(np.float16)
        step = self.n_images or len(values)
        if len(values) % step:
            raise ValueError(f"The graph takes {step} images at a time; export it for any number.")
        runs = [self._run(values[start : start + step]) for start in range(0, len(values), step)]
        return np.concatenate(runs)

    def _run(self, values: NDArray) -> NDArray:
        output = self.session.get_outputs()[0].name
        given = {self.name: values}
        first = run_session(self.session, self.path, output, given).astype(np.float32)
        return first.mean(axis=(2, 3)) if first.ndim == 4 else first.reshape(len(values), -1)

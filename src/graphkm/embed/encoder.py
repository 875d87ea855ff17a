"""What a model is here: a name for people, a hash, and a function from items to rows."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]

_BLOCK = 2**20  # bytes that are hashed at a time


@dataclass(frozen=True)
class Encoder:
    """A model that is known, and loaded when its function is first called.

    Parameters
    ----------
    name : str
        What people call it.
    hash : str or None
        SHA-256 of all that decides the vectors. None if that is not known: nothing is cached then.
    n_features : int or None
        The length of a vector, if it is known without computing one.
    encode : callable
        It takes a list of texts or images and returns one row for each.
    """

    name: str
    hash: str | None
    n_features: int | None
    encode: Callable[[list[Any]], Any]

    def rows(self, items: list[Any]) -> Rows:
        """Return the rows of some items, checked."""
        rows = np.asarray(self.encode(items))
        if rows.ndim != 2 or len(rows) != len(items) or rows.dtype.kind not in "fiub":
            raise ValueError(
                f"The model {self.name} returned an array of shape {rows.shape} and type "
                f"{rows.dtype} for {len(items):,} items. It has to return one row of numbers "
                "for each."
            )
        if not np.isfinite(rows).all():
            raise ValueError(f"The model {self.name} returned values that are not finite.")
        return rows.astype(np.float32)


class MissingModelError(ValueError):
    """A model cannot be found or loaded; the message says what to do."""


def digest(settings: str, files: Mapping[str, Path] = MappingProxyType({})) -> str:
    """Return the SHA-256 of settings and of files by their names, wherever they lie.

    Examples
    --------
    >>> digest("mean")[:8]
    '82523fae'
    """
    total = hashlib.sha256(settings.encode())
    for name in sorted(files):
        total.update(f"\0{name}\0{file_digest(files[name])}".encode())
    return total.hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, read in blocks."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            total.update(block)
    return total.hexdigest()


def weights_digest(settings: str, weights: dict[str, Any]) -> str:
    """Return the SHA-256 of settings and of the tensors or arrays of a loaded network."""
    total = hashlib.sha256(settings.encode())
    for name in sorted(weights):
        values = weights[name]
        if hasattr(values, "detach"):  # a tensor of PyTorch; NumPy does not know all its types
            values = values.detach().cpu().float().numpy()
        array = np.ascontiguousarray(values)
        total.update(f"\0{name}\0{array.dtype}\0{array.shape}\0".encode())
        total.update(array.data)
    return total.hexdigest()


def needed(package: str, why: str, install: str) -> Any:
    """Return a package, imported; raise ImportError that says how to install it.

    Examples
    --------
    >>> needed("math", "Counting", "python").pi
    3.14
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f"{why} needs {package}: run pip install {install}") from error


def read_notes(path: Path) -> Any:
    """Return what a file in JSON holds; a file that is not there says nothing."""
    try:
        return json.loads(path.read_text("utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise MissingModelError(
            f"{path} is not JSON ({first_line(error)}). Download the model again."
        ) from error


def of_callable(function: Any) -> Encoder:
    """Return a function of the user's as a model, which has no hash."""
    name = getattr(function, "__qualname__", type(function).__name__)
    return Encoder(name, None, None, function)


def first_line(error: Exception) -> str:
    """Return the beginning of what went wrong: libraries add pages to it."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__

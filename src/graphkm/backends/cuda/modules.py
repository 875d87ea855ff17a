"""CUDA sources, compiled for the card at hand when they are first used."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from ..._util.memory import format_bytes
from ..base import DeviceError

_NEGLIGIBLE = 2**25  # bytes up to which the card's free memory is not looked at

TILE = 128
"""Queries and centres of a tile in tiles.cu."""

STAGES = {4: 3, 2: 2}
"""Slabs of a tile that are in shared memory at a time, by the bytes of a number."""

TILE_BYTES = {4: 3 * 2 * TILE * 24 * 4, 2: 2 * 2 * TILE * 40 * 4}
"""Shared memory that the slabs take."""


def require_card() -> Any:
    """Return CuPy if it is installed and sees a card; DeviceError says what is missing.

    Examples
    --------
    >>> try:
    ...     cupy = require_card()
    ... except DeviceError:
    ...     cupy = None
    """
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(
            "device='cuda' needs CuPy, which is not installed; pip install graphkm[cuda], or pass "
            "device='cpu'."
        ) from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy's own error, and those of a missing driver
        raise DeviceError(
            f"device='cuda' needs an NVIDIA card, and none can be used here: {error}. Check the "
            "driver with nvidia-smi, or pass device='cpu'."
        ) from error
    if count == 0:
        raise DeviceError(
            "device='cuda' needs an NVIDIA card, and none is here; pass device='cpu'."
        )
    return cupy


@cache
def kernel(file: str, name: str, **macros: Any) -> Any:
    """Return a function of a CUDA source that was compiled with these macros."""
    return _module(file, tuple(sorted(macros.items()))).get_function(name)


@cache
def _module(file: str, macros: tuple[tuple[str, Any], ...]) -> Any:
    cupy = require_card()
    code = files(__package__).joinpath(file).read_text()
    options = ("-std=c++17", *(f"-D{name}={value}" for name, value in macros))
    return cupy.RawModule(code=code, options=options)


@cache
def multiprocessors() -> int:
    """Return how many multiprocessors the card has."""
    cupy = require_card()
    return int(cupy.cuda.Device().attributes["MultiProcessorCount"])


def require_card_memory(n_bytes: int, what: str, advice: str) -> None:
    """Raise MemoryError if the card has less memory than this, from 32 MiB on.

    Memory that CuPy keeps for later use counts as free.
    """
    if n_bytes < _NEGLIGIBLE:
        return
    cupy = require_card()
    free = cupy.cuda.runtime.memGetInfo()[0]
    free += cupy.get_default_memory_pool().free_bytes()
    if n_bytes > free:
        raise MemoryError(
            f"{what} needs about {format_bytes(n_bytes)} on the card, but only "
            f"{format_bytes(free)} of its memory is free. {advice}"
        )

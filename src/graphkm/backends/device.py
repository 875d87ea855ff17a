"""Which backend computes: the processor, or a card."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache

from .base import Backend, DeviceError
from .host import HostBackend

DEVICES = ("cpu", "cuda", "auto")
"""The names of devices. "auto" is the card if there is one."""

_asked: ContextVar[str | None] = ContextVar("graphkm_device", default=None)


@contextmanager
def config_context(*, device: str) -> Iterator[None]:
    """Compute on this device until the context ends.

    Rows that are on a card already, as CuPy arrays or torch tensors, need no context. It is for
    NumPy arrays, frames and sparse matrices. It does not reach threads that start inside it. The
    environment variable ``GRAPHKM_DEVICE`` has the same effect on a whole process.

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"}
        "cuda" needs the extra ``graphkm[cuda]`` and a card. "auto" takes the card if there is one.

    Examples
    --------
    >>> import graphkm
    >>> with graphkm.config_context(device="auto"):
    ...     pass
    """
    token = _asked.set(_checked(device, "device"))
    try:
        backend_for(device)
        yield
    finally:
        _asked.reset(token)


def active() -> Backend:
    """Return the backend that computes here.

    Examples
    --------
    >>> active().name in ("cpu", "cuda")
    True
    """
    asked = _asked.get()
    if asked is None:
        asked = _checked(os.environ.get("GRAPHKM_DEVICE", "cpu"), "GRAPHKM_DEVICE")
    return backend_for(asked)


@cache
def backend_for(device: str) -> Backend:
    """Return the one backend of a device; DeviceError says why there is none."""
    if device == "cpu":
        return HostBackend()
    if device == "auto":
        with suppress(DeviceError):
            return backend_for("cuda")
        return backend_for("cpu")
    from .cuda import CudaBackend

    return CudaBackend()


def _checked(device: str, name: str) -> str:
    if device not in DEVICES:
        raise ValueError(f"{name}={device!r}; pass one of {', '.join(map(repr, DEVICES))}.")
    return device

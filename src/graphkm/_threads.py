"""The threads of the libraries below us."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from threadpoolctl import ThreadpoolController

_SMALL = 1024**3  # multiplications of a product that gains nothing from more threads
_one: ContextVar[bool] = ContextVar("graphkm_one_thread", default=False)  # as set by a caller


@cache
def thread_pools() -> ThreadpoolController:
    """Return the handle of the loaded thread pools; finding them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def blas_threads_for(rows: int, columns: int) -> Iterator[None]:
    """Let BLAS use one thread while it works on A'A, if that is little work for A of this shape.

    If other programs keep the cores busy, threads wait for each other on small pieces of work:
    that costs milliseconds per call. Every fit and every search runs in such a context, made for
    its largest matrix. Parts of a large fit that work on small matrices have their own. One inside
    another costs nothing.

    Examples
    --------
    >>> with blas_threads_for(10, 10):
    ...     pass
    """
    if _one.get() or rows * columns**2 > _SMALL:
        yield
        return
    token = _one.set(True)
    try:
        with thread_pools().limit(limits=1, user_api="blas"):
            yield
    finally:
        _one.reset(token)

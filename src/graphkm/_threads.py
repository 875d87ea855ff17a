"""The threads of the libraries below us."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_SMALL = 1024**3  # multiplications of a product that gains nothing from more threads


@cache
def thread_pools() -> ThreadpoolController:
    """Return the handle of the loaded thread pools; finding them takes milliseconds."""
    return ThreadpoolController()


def blas_threads_for(rows: int, columns: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread if A'A is little work for A of this shape.

    If other programs keep the cores busy, threads wait for each other on small pieces of work:
    that costs milliseconds per call. Every fit and every search runs in such a context, made for
    its largest matrix. Parts of a large fit that work on small matrices have their own.

    Examples
    --------
    >>> with blas_threads_for(10, 10):
    ...     pass
    """
    if rows * columns**2 > _SMALL:
        return nullcontext()
    return thread_pools().limit(limits=1, user_api="blas")

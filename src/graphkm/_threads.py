"""The threads of the libraries below us."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_SMALL = 1024  # rows of a matrix whose products and factors gain nothing from more threads


@cache
def thread_pools() -> ThreadpoolController:
    """Return the handle of the loaded thread pools, which takes milliseconds to find."""
    return ThreadpoolController()


def blas_threads_for(size: int) -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread if matrices of this size are small.

    Threads that wait for each other on tiny pieces of work cost milliseconds a call where other
    programs keep the cores busy.

    Examples
    --------
    >>> with blas_threads_for(10):
    ...     pass
    """
    if size > _SMALL:
        return nullcontext()
    return thread_pools().limit(limits=1, user_api="blas")

"""The threads of the libraries below us."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_SMALL = 1024**3  # multiplications of a product that gains nothing from more threads

_CHANGING = Lock()
_users: set[object] = set()  # all who need BLAS on one thread now, in any thread of the process
_before: dict[str, tuple[Any, int]] = {}  # the limited libraries, and how many threads they had


@cache
def thread_pools() -> ThreadpoolController:
    """Return the handle of the loaded thread pools; finding them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def blas_threads_for(rows: int, columns: int) -> Iterator[None]:
    """Let BLAS use one thread, if A'A is little work for an A of this shape.

    If other programs keep the cores busy, threads wait for each other on small pieces of work: that
    costs milliseconds per call. Every fit and every search runs in such a context, made for its
    largest matrix. Parts of a large fit that work on small matrices have a context of their own. A
    context inside another costs microseconds.

    Examples
    --------
    >>> with blas_threads_for(10, 10):
    ...     pass
    """
    if rows * columns**2 > _SMALL:
        yield
        return
    with one_blas_thread():
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and OpenMP use one thread, whichever library has loaded them, and whenever.

    Examples
    --------
    >>> with one_thread():
    ...     pass
    """
    pools = ThreadpoolController()
    # OpenMP keeps a number for each thread: so this limit does not change other threads.
    with one_blas_thread(_blas(pools)), pools.limit(limits=1, user_api="openmp"):
        yield


@contextmanager
def one_blas_thread(libraries: Sequence[Any] | None = None) -> Iterator[None]:
    """Let these libraries of BLAS use one thread; those that `thread_pools` found by default.

    BLAS has one number of threads for the whole process. It is set when the first user comes, and
    restored when the last user leaves, whoever that is. Only a BLAS on OpenMP has a number for each
    thread.
    """
    user = object()
    libraries = _known_blas() if libraries is None else libraries
    own = [(each, each.num_threads) for each in libraries if _is_of_thread(each)]
    try:
        for library, _ in own:
            library.set_num_threads(1)
        with _CHANGING:
            _users.add(user)
            for library in libraries:
                if not _is_of_thread(library) and (threads := library.num_threads) > 1:
                    library.set_num_threads(1)
                    # Another thread may have limited it with threadpoolctl: then it stays as it is.
                    if library.num_threads == 1:
                        _before[library.filepath] = library, threads
        yield
    finally:
        with _CHANGING:
            _users.discard(user)
            while _before and not _users:
                _restore(*_before.popitem()[1])
        for library, threads in own:
            library.set_num_threads(threads)


def _blas(pools: ThreadpoolController) -> list[Any]:
    return list(pools.select(user_api="blas").lib_controllers)


@cache
def _known_blas() -> list[Any]:
    return _blas(thread_pools())


def _is_of_thread(library: Any) -> bool:
    return getattr(library, "threading_layer", None) == "openmp"


def _restore(library: Any, threads: int) -> None:
    """Set the threads of a library that any thread has limited."""
    # From 3.8 on, threadpoolctl obeys only the thread that set the first limit, until it is told
    # that this thread is done.
    done = getattr(library, "clear_controlling_thread", lambda force: None)
    done(force=True)
    library.set_num_threads(threads)
    done(force=True)

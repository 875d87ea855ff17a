"""The threads of the libraries below us."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from threading import Lock, get_ident
from typing import Any

from threadpoolctl import ThreadpoolController

_SMALL = 4096**3  # multiplications that take one thread a second or two

_CHANGING = Lock()
_users: list[_User] = []  # all who need BLAS on one thread now, in any thread of the process
_before: dict[str, tuple[Any, int]] = {}  # the limited libraries, and how many threads they had


@dataclass(eq=False)
class _User:
    """Who needs some libraries of BLAS on one thread."""

    libraries: Sequence[Any]
    thread: int = field(default_factory=get_ident)
    own: list[tuple[Any, int]] = field(default_factory=list)
    """Libraries with a number for each thread, and the number of this thread before."""


@cache
def thread_pools() -> ThreadpoolController:
    """Return the handle of the loaded thread pools; finding them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def blas_threads_for(rows: int, columns: int) -> Iterator[None]:
    """Let BLAS use one thread, or all threads if A'A is much work for an A of this shape.

    Every fit and every prediction runs in `one_blas_thread` (`estimators.array_kinds`), because
    threads wait for each other at every step of a factorisation: where other programs keep the
    cores busy, that costs ten times the work. Parts of a fit that may be large have a context of
    this kind. It lifts the limits of its own thread, and those of other threads stay. A context
    inside another costs microseconds.

    Examples
    --------
    >>> with blas_threads_for(10, 10):
    ...     pass
    """
    if rows * columns**2 <= _SMALL:
        with one_blas_thread():
            yield
        return
    users = [user for user in list(_users) if user.thread == get_ident()]
    _leave(users)
    try:
        yield
    finally:
        _enter(users)


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
    user = _User(_known_blas() if libraries is None else libraries)
    try:
        _enter([user])
        yield
    finally:
        _leave([user])


def _enter(users: Sequence[_User]) -> None:
    """Limit the libraries of users in this thread."""
    for user in users:
        user.own = [(each, each.num_threads) for each in user.libraries if _is_of_thread(each)]
        for library, _ in user.own:
            library.set_num_threads(1)
    with _CHANGING:
        _users.extend(users)
        for library in chain.from_iterable(user.libraries for user in users):
            if not _is_of_thread(library) and (threads := library.num_threads) > 1:
                library.set_num_threads(1)
                # Another thread may have limited it with threadpoolctl: then it stays as it is.
                if library.num_threads == 1:
                    _before[library.filepath] = library, threads


def _leave(users: Sequence[_User]) -> None:
    """Restore what users in this thread have limited, unless others need the limit, too."""
    with _CHANGING:
        _users[:] = [user for user in _users if user not in users]
        while _before and not _users:
            _restore(*_before.popitem()[1])
    for user in reversed(users):
        for library, threads in user.own:
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

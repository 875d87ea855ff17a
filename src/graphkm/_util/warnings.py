"""Warnings of one thread, collected or hidden, while other threads warn as usual.

`warnings.catch_warnings` replaces the filters of the whole process. Two threads that do so at a
time leave each other's filters behind, and catch each other's warnings. Here one filter comes
before all others while anybody needs it. The thread that warns decides what it catches.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, local
from typing import Any

Takes = Callable[[type[Warning], str | None], bool]
Heard = list[tuple[type[Warning], str]]

_takes: ContextVar[Takes | None] = ContextVar("graphkm_takes_warnings", default=None)
_asked = local()  # Python asks a filter for the text, which is kept, then for the category
_CHANGING = Lock()
_users: set[object] = set()


class _Text:
    """Takes the place of a filter's regular expression."""

    pattern = ""  # scikit-learn reads this when it copies filters to its workers

    def match(self, text: str) -> bool:
        _asked.text = text
        return True


class _OfThread(type):
    def __subclasscheck__(cls, category: type) -> bool:
        takes, text = _takes.get(), vars(_asked).pop("text", None)
        return takes is not None and takes(category, text)


class _Taken(Warning, metaclass=_OfThread):
    """Takes the place of a filter's category: all warnings that the thread catches."""


_FILTER = ("ignore", _Text(), _Taken, None, 0)


@contextmanager
def quiet(*texts: str, category: type[Warning] = Warning) -> Iterator[None]:
    """Hide warnings of this thread.

    Parameters
    ----------
    *texts : str
        Regular expressions. One of them must match the beginning of a text. Without any, all do.
    category : type, default=Warning
        Only warnings of this category are hidden.

    Examples
    --------
    >>> with quiet("Nobody", category=UserWarning):
    ...     warnings.warn("Nobody asked for this.", stacklevel=1)
    """
    wanted = [re.compile(text, re.IGNORECASE) for text in texts]

    def takes(kind: type[Warning], text: str | None) -> bool:
        fits = not wanted or (text is not None and any(each.match(text) for each in wanted))
        return fits and issubclass(kind, category)

    with _taking(takes):
        yield


@contextmanager
def heard() -> Iterator[Heard]:
    """Collect the warnings of this thread, instead of showing them.

    Examples
    --------
    >>> with heard() as found:
    ...     warnings.warn("The graph is empty.", stacklevel=1)
    >>> found
    [(<class 'UserWarning'>, 'The graph is empty.')]
    """
    found: Heard = []

    def takes(kind: type[Warning], text: str | None) -> bool:
        if text is not None:
            found.append((kind, text))
        return text is not None

    with _taking(takes):
        # After a change of the filters, Python shows warnings again that it has shown already.
        warnings.simplefilter("ignore", _Taken, append=True)
        yield found


@contextmanager
def _taking(takes: Takes) -> Iterator[None]:
    user, outer = object(), _takes.get()
    token = _takes.set(lambda *asked: takes(*asked) or (outer is not None and outer(*asked)))
    try:
        with _CHANGING:
            _users.add(user)
            filters: Any = warnings.filters
            if filters[:1] != [_FILTER]:
                filters.insert(0, _FILTER)
        yield
    finally:
        _takes.reset(token)
        with _CHANGING:
            _users.discard(user)
            if not _users:
                filters = warnings.filters
                filters[:] = [each for each in filters if each[2] is not _Taken]

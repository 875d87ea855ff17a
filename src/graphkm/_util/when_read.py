"""Attributes that are computed when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class WhenRead:
    """An attribute that is computed when it is first read, unless it has been set before.

    Assignments, `vars` and pickles treat it like any other attribute. `hasattr` reads it: Python
    has no other way to ask. So `fill` has to return at once while there is nothing to compute from.
    ``name in vars(owner)`` tells without work whether the value is there.

    Parameters
    ----------
    fill : callable
        It takes the object and sets the attribute, or returns at once if there is no value for it.
        It may set several attributes: reading another of them then costs nothing.

    Examples
    --------
    >>> class Square:
    ...     def measure(self):
    ...         if hasattr(self, "side"):
    ...             self.area = self.side**2
    ...
    ...     area = WhenRead(measure)
    >>> square = Square()
    >>> hasattr(square, "area")
    False
    >>> square.side = 3
    >>> square.area, vars(square)
    (9, {'side': 3, 'area': 9})
    """

    def __init__(self, fill: Callable[[Any], Any]) -> None:
        self.fill = fill

    def __set_name__(self, owner: type, name: str) -> None:
        """Keep the name of the attribute."""
        self.name = name

    # There is no __set__. So once a value is set, Python reads it without calling this method.
    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """Compute the value, and return it; raise the usual error if there is none."""
        if owner is None:
            return self
        self.fill(owner)
        if self.name not in vars(owner):
            raise AttributeError(
                f"{type(owner).__name__!r} object has no attribute {self.name!r}",
                name=self.name,
                obj=owner,
            )
        return vars(owner)[self.name]

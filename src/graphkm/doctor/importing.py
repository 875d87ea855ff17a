"""A child's answers: whether packages can be imported, and which versions they say they are."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .children import answer


def imported(name: str) -> dict[str, Any]:
    """Import a module and return its version.

    Examples
    --------
    >>> imported("json")
    {'version': '2.0.9'}
    """
    return {"version": getattr(import_module(name), "__version__", None)}


if __name__ == "__main__":
    answer(imported)

"""Groups of options, written once, as parameters of sub-commands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def spread(work: Callable[..., None]) -> Callable[..., None]:
    """Return `work` with the fields of its dataclass parameters as parameters of their own.

    typer makes an option of every parameter, but cannot make options of a dataclass.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    >>> @spread
    ... def draw(name: str, size: Size):
    ...     print(name, size)
    >>> str(inspect.signature(draw))
    '(*, name: str, width: int = 1)'
    >>> draw(name="x", width=2)
    x Size(width=2)
    """
    hints = get_type_hints(work, include_extras=True)
    parameters, groups = [], {}
    for parameter in inspect.signature(work).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            groups[parameter.name] = kind
            types = get_type_hints(kind, include_extras=True)
            found = [(f.name, types[f.name], f.default) for f in fields(kind)]
        else:
            found = [(parameter.name, kind, parameter.default)]
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=type, default=value)
            for name, type, value in found
        ]

    @functools.wraps(work)
    def run(**values: Any) -> None:
        made = {
            name: kind(**{f.name: values.pop(f.name) for f in fields(kind)})  # type: ignore[operator]
            for name, kind in groups.items()
        }
        work(**values, **made)

    del run.__wrapped__  # type: ignore[attr-defined]  # typer would read its signature instead
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run

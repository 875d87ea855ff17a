"""Summaries for people, JSON for programs, progress where a terminal shows it."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from typing import Any

from .. import _progress


def show(lines: Mapping[str, str | None], facts: Mapping[str, Any], as_json: bool) -> None:
    """Print a summary: lines for people, or the facts as one JSON object.

    Examples
    --------
    >>> show({"rows": "1,000", "classes": None, "time": "1.2 s"}, {"rows": 1000}, False)
    rows  1,000
    time  1.2 s
    >>> show({}, {"rows": 1000, "gain": float("nan")}, True)
    {"rows": 1000, "gain": null}
    """
    if as_json:
        print(json.dumps(_plain(facts)))
        return
    shown = {name: text for name, text in lines.items() if text is not None}
    width = max(map(len, shown), default=0)
    for name, text in shown.items():
        print(f"{name:{width}}  {text}")


def say(text: str) -> None:
    """Print a remark on standard error, where it cannot get among the results."""
    print(f"graphkm: {text}", file=sys.stderr)


def percent(share: float) -> str:
    """Return a share in percent, with two digits behind the point.

    Examples
    --------
    >>> percent(0.97594)
    '97.59 %'
    """
    return f"{100 * share:.2f} %"


def progress_bar(what: str, unit: str, total: int | None = None) -> Any:
    """Return a bar on standard error, which is silent unless that is a terminal."""
    shown = sys.stderr.isatty()
    return _progress.progress_bar(shown, desc=what, unit=f" {unit}", total=total, leave=False)


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it: no NaN, no types of NumPy."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else repr(value)

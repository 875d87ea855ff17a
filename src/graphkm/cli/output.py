"""Output: summaries for people, JSON for programs, progress, files."""

from __future__ import annotations

import io
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .._util import progress as _progress
from .._util.files import replacing, writable_place
from ..io.files import STDIN
from .options import UsageError

STDOUT = "-"
_ONE_LINE = 10**6  # characters; longer than any row of a summary


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
    print_table([(name, text) for name, text in lines.items() if text is not None])


def print_table(rows: Sequence[Sequence[str]], *, justify: str = "left") -> None:
    """Print cells in columns: wrapped to fit a terminal, one line per row elsewhere.

    `justify` is for all columns but the first.

    Examples
    --------
    >>> print_table([("", "cat", "dog"), ("cat", "12", "0")], justify="right")
         cat  dog
    cat   12    0
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    for k in range(len(rows[0]) if rows else 0):
        table.add_column(justify="left" if k == 0 else justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(width=None if sys.stdout.isatty() else _ONE_LINE)
    with console.capture() as printed:
        console.print(table)
    for line in printed.get().splitlines():
        print(line.rstrip())


def say(text: str) -> None:
    """Print a remark on standard error."""
    print(f"graphkm: {text}", file=sys.stderr)


def percent(share: float) -> str:
    """Return a share in percent, with two decimals.

    Examples
    --------
    >>> percent(0.97594)
    '97.59 %'
    """
    return f"{100 * share:.2f} %"


def progress_bar(what: str, unit: str, total: int | None = None) -> Any:
    """Return a progress bar on standard error. Only terminals show it."""
    shown = sys.stderr.isatty()
    return _progress.progress_bar(shown, desc=what, unit=f" {unit}", total=total, leave=False)


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold: no NaN, no types of NumPy."""
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


@contextmanager
def whole_or_not(path: Path | None, *, keep_previous: bool = False) -> Iterator[IO[str]]:
    """Yield a text file that appears at its path once it is complete, or standard output.

    `keep_previous` keeps the file that it replaces as PATH.previous.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_or_not(Path(folder, "a")) as file:
    ...         _ = file.write("x")
    ...     Path(folder, "a").read_text(), len(os.listdir(folder))
    ('x', 1)
    """
    if path is None or str(path) == STDOUT:
        yield sys.stdout
        sys.stdout.flush()
        return
    with replacing(path, keep_previous=keep_previous) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()  # this flushes it


def check_output(path: Path, *inputs: str | os.PathLike[str] | None) -> None:
    """Raise before long work if the path cannot be written or is one of the inputs."""
    if str(path) == STDOUT:
        raise UsageError("- stands for standard output, and this needs a file; name one.")
    try:
        place = writable_place(path)
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder; name a file.") from None
    for source in inputs:
        if source is None or str(source) == STDIN or not place.is_file():
            continue
        if os.path.exists(source) and os.path.samefile(place, source):
            raise UsageError(f"{path} is an input, and would be replaced; name another file.")

"""Where output goes, and what is refused before long work."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .._files import replacing, writable_place
from ..io.files import STDIN
from .errors import UsageError

STDOUT = "-"


@contextmanager
def whole_or_not(path: Path | None) -> Iterator[IO[str]]:
    """Yield a text file that takes its place when all is written; standard output without a path.

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
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()  # which flushes it


def check_output(path: Path, *inputs: str | os.PathLike[str] | None) -> None:
    """Raise before long work whose result could not be written, or would replace what it reads."""
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
            raise UsageError(f"{path} is read, and would be replaced; name another file.")

"""Output files that are there whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .errors import UsageError


@contextmanager
def whole_or_not(path: Path | None) -> Iterator[IO[str]]:
    """Yield a text file that gets its name when all is written; standard output without a path.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_or_not(Path(folder, "a")) as file:
    ...         _ = file.write("x")
    ...     Path(folder, "a").read_text(), len(os.listdir(folder))
    ('x', 1)
    """
    if path is None or str(path) == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    require_folder(path)
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "w", newline="", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def require_folder(path: Path) -> None:
    """Raise before long work whose result could not be written."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "there is no such folder", str(path.parent))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(13, "the folder cannot be written to", str(path.parent))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Images of rows: only from the folder given, and only files that browsers show as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..io import DataFileError

# Not svg: it may hold scripts.
TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
}
_NAMED = 10  # broken images that are named; more are counted
SIDE = 28
"""A model learns from grey images with so many pixels to a side, like those of MNIST."""


class ImageFolder:
    """The images of rows, by their names in the data.

    A name that leads out of the folder, by dots, by a link or by an absolute path, has no image.

    Parameters
    ----------
    folder : Path
        Where images are.
    names : sequence of str
        The path of every row's image, relative to the folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.png").write_bytes(b"x")
    ...     found = ImageFolder(Path(place), ["a.png", "../a.png", "b.png", "/etc/passwd"])
    ...     [found(k) is not None for k in range(4)]
    [True, False, False, False]
    """

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._folder, self._names = folder.resolve(), names

    def __call__(self, row: int) -> Path | None:
        """Return the file of a row's image, or None."""
        try:
            place = (self._folder / self._names[row]).resolve()
            inside = place.is_relative_to(self._folder) and place.is_file()
        except (OSError, ValueError):  # a name that no file can have
            return None
        return place if inside and place.suffix.lower() in TYPES else None


def image_names(folder: Path) -> list[str]:
    """Return the images of a folder and its sub-folders, in order."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    inside = ImageFolder(folder, names)
    return [name for row, name in enumerate(names) if inside(row) is not None]


def pixels(paths: Sequence[Path]) -> tuple[NDArray[np.float32], list[int], list[str]]:
    """Return images as rows, the places of their paths, and a note on images that are broken.

    A row has grey values from 0 to 1 of 28 x 28 pixels. Raises DataFileError if fewer than two
    images can be read.
    """
    from PIL import Image

    rows = np.empty((len(paths), SIDE * SIDE), np.float32)
    broken: dict[int, Exception] = {}
    for k, path in enumerate(paths):
        try:
            with Image.open(path) as image:
                grey = image.convert("L").resize((SIDE, SIDE))
        except Exception as error:  # decoders raise whatever they stumble over
            broken[k] = error
        else:
            rows[k] = np.asarray(grey, dtype=np.float32).ravel() / 255.0
    if not broken:
        return rows, list(range(len(paths))), []
    first = next(iter(broken))
    why = f"{paths[first]} cannot be read as a picture ({broken[first]})."
    if len(paths) - len(broken) < 2:
        raise DataFileError(f"{why} Give at least two that can be read.")
    whole = [k for k in range(len(paths)) if k not in broken]
    names = ", ".join(paths[k].name for k in list(broken)[:_NAMED])
    more = f" and {len(broken) - _NAMED:,} more" * (len(broken) > _NAMED)
    left_out = f"Left out, because they cannot be read as pictures: {names}{more}."
    return rows[whole], whole, [left_out.encode(errors="replace").decode()]


def pixel_names() -> list[str]:
    """Return the names of the columns that `pixels` makes."""
    return [f"pixel_{k + 1}" for k in range(SIDE * SIDE)]

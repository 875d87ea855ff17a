"""Images of rows: only from the folder given, and only files that browsers show as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

# Not svg: it may hold scripts.
TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
}
_NAMED = 10  # images that are named in a note; more are counted


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


def few_names(names: Sequence[str]) -> str:
    """Return the first names for a note, and how many more there are.

    Examples
    --------
    >>> few_names([f"{k}.png" for k in range(12)])[-23:]
    '8.png, 9.png and 2 more'
    """
    more = f" and {len(names) - _NAMED:,} more" * (len(names) > _NAMED)
    return (", ".join(names[:_NAMED]) + more).encode(errors="replace").decode()

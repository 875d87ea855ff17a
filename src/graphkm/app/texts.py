"""What rows say, for those who look for words in them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from .material import Material

_LETTERS = 20_000  # letters of a row that are searched, at most
_SNIPPET = 160  # letters of a row that are listed


class Texts:
    """What rows say, in a form in which upper and lower case are the same.

    Parameters
    ----------
    material : Material
        The rows.
    """

    def __init__(self, material: Material) -> None:
        self._material, self._known = material, dict[int, str]()

    def having(self, rows: Iterable[int], words: str) -> Iterator[int]:
        """Yield those of the rows in which all words stand."""
        wanted = _folded(words).split()
        for row in rows:
            if not wanted or all(word in self._text(row) for word in wanted):
                yield row

    def snippet(self, row: int) -> str:
        """Return the beginning of a row, in one line."""
        text = self._material.snippet(row)
        if text is None:
            cells = self._material.shown(row)[:8]
            text = " · ".join(f"{name}: {value}" for name, value in cells)
        return text if len(text) <= _SNIPPET else text[:_SNIPPET].rstrip() + " …"

    def _text(self, row: int) -> str:
        """Return a row's text; it is kept, because the next search wants it again."""
        found = self._known.get(row)
        if found is None:
            cells = "\n".join(value for _, value in self._material.shown(row))
            found = self._known[row] = _folded(cells[:_LETTERS])
        return found


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()

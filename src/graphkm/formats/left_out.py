"""What a format cannot carry: counted, and told in words. Nothing is dropped silently."""

from __future__ import annotations

from collections import Counter


class LeftOut:
    """Counts what is left out.

    Parameters
    ----------
    why : str
        Who cannot carry it, as in "COCO has no place for".

    Examples
    --------
    >>> left = LeftOut("COCO has no place for")
    >>> left.add("skips"); left.add("skips"); left.add("scores")
    >>> left.notes
    ('COCO has no place for skips (2), scores (1): they were left out.',)
    """

    def __init__(self, why: str) -> None:
        self._why, self._counts = why, Counter[str]()

    def add(self, what: str, n: int = 1) -> None:
        """Count n things of a kind, which is named in the plural."""
        self._counts[what] += n

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence, or none."""
        told = [f"{what} ({n:,})" for what, n in self._counts.items() if n]
        return (f"{self._why} {', '.join(told)}: they were left out.",) if told else ()

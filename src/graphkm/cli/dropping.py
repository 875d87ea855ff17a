"""CSV without some of its columns, block by block, whatever these hold."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence


class Blocks:
    """Blocks of whole lines as the file that readers take."""

    def __init__(self, blocks: Iterable[bytes], name: str) -> None:
        self._blocks = iter(blocks)
        self.name = name

    def read(self, size: int = -1) -> bytes:
        """Return the next block, and nothing at the end; a block is as long as it is."""
        return next(self._blocks, b"")


def keep_columns(
    blocks: Iterable[bytes], kept: Sequence[int], width: int, delimiter: str
) -> Iterator[bytes]:
    r"""Yield the blocks of a table with the columns `kept` only; lines stay lines.

    Examples
    --------
    >>> list(keep_columns([b'id,x,y\n"a, b",1,2\n', b'c,3,4\n'], [1, 2], 3, ","))
    [b'x,y\n1,2\n', b'3,4\n']
    """
    for block in blocks:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        lines = block.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
        for row in csv.reader(lines, delimiter=delimiter):
            writer.writerow(_kept(row, kept, width))
        yield out.getvalue().encode("utf-8", "surrogateescape")


def _kept(row: list[str], kept: Sequence[int], width: int) -> list[str]:
    if len(row) == width:
        return [row[k] for k in kept]
    # A wrong number of fields must stay wrong, for the parser to complain of.
    return row if len(row) != len(kept) else [*row, ""]

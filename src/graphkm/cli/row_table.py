"""An open file or folder of rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..io.columns import Columns, Piece
from ..io.row_files import OpenTable
from ..tables.treatments import Treatment


@dataclass(frozen=True)
class Table:
    """An open file of rows."""

    name: str  # in messages
    format: str  # libsvm, csv, parquet or folder
    pieces: Iterator[Piece]  # labels are floats with NaN, or texts with None
    columns: Columns | None = None  # None for LIBSVM
    zero_based: bool = False  # LIBSVM: whether indices count from 0
    dropped: tuple[int, ...] = ()  # LIBSVM: indices of skipped features
    # Of a table that is not all plain numbers.
    treatment: Treatment = field(default_factory=Treatment)
    kept: deque[tuple[str, ...]] = field(default_factory=deque)  # cells to copy, of rows read
    opened: OpenTable | None = None  # tells the encoding

    @property
    def encoding(self) -> str | None:
        """The encoding of CSV, as far as it was read; None for other formats."""
        return None if self.opened is None else self.opened.encoding

    def with_pieces(self, pieces: Iterator[Piece]) -> Table:
        """Return the table with these rows; they are read after it was made."""
        return replace(self, pieces=pieces)

    @property
    def kept_names(self) -> list[str]:
        """The names of the columns to copy, or their numbers from 1."""
        if self.columns is None:
            return []
        names = self.columns.head.names
        return [str(k + 1) if names is None else names[k] for k in self.columns.kept]

"""Text in blocks of whole lines, and the loop that continues after bad ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from .bad_rows import BadRows
from .encodings import TextEncoding
from .files import DataFileError, OpenFile

BLOCK = 2**18  # bytes; the parser's arrays for a block fit into the second-level cache
MAX_LINE = 2**26  # bytes
FOLD = b"\xff"  # a newline inside quotes, in UTF-8, which never has this byte; see `records`
_SHOWN = 40  # characters of a text in a message

# In the order of `Complaint` in native/text_lines.hpp
_REASONS = (
    "",
    "the label {text} is not a number",
    "the label {text} is infinite",
    "{text} is not of the form index:value",
    "the index of {text} is not a whole number",
    "the index of {text} is above 2147483647, the largest there can be",
    "the index of {text} is 0, but indices count from 1 (if this file's count from 0, pass "
    "zero_based=True)",
    "the index of {text} is beyond the {n_features} features there are (n_features)",
    "the index of {text} is not above the one before it; they must increase along a line",
    "the value of {text} is not a number{where}",
    "the value of {text} is not finite{where}",
    "{text} is not a whole number after qid:",
    "there are {n_fields} fields where {n_columns} are expected: {text}",
    "a value is missing (NaN, ? or an empty field){where}",
    "the quotes of {text} are not closed, or more text follows them",
)


class LineParser(Protocol):
    """A compiled parser and the arrays it fills."""

    def reserve(self, text: bytes) -> None:
        """Make room for all that a block can hold."""

    def resume(self, text: bytes, offset: int, row: int) -> tuple[int, int, int, int, int, int]:
        """Return offset, lines read, rows, complaint, and begin and end of the text it is about."""

    def take(self, text: bytes, n_rows: int) -> Any:
        """Return copies of the rows read."""

    def text(self, part: bytes) -> str:
        """Return a part of a block as text."""

    def facts(self, text: str, before: str) -> dict[str, Any]:
        """Return values for the message of a complaint about a text, with the line before it."""


def line_blocks(
    opened: OpenFile, size: int = BLOCK, encoding: TextEncoding | None = None
) -> Iterator[bytes]:
    r"""Yield a file in blocks of about `size` bytes that end with a newline.

    The blocks are UTF-8 if the encoding is given, or if a mark tells it.

    Examples
    --------
    >>> import io
    >>> list(line_blocks(OpenFile(io.BytesIO(b"1 1:2\n-1 3:4"), "x", False), 8))
    [b'1 1:2\n', b'-1 3:4\n']
    """
    pending: list[bytes] = []
    n_pending = 0
    for data in (encoding or TextEncoding()).chunks(opened, size):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield b"".join([*pending, data[:cut]])
            pending, n_pending = [], 0
        if cut < len(data):
            pending.append(data[cut:])
            n_pending += len(data) - cut
        if n_pending > MAX_LINE:
            raise DataFileError(
                f"{opened.name} has a line of more than {MAX_LINE:,} bytes, which is too long for "
                "text. Is it of another format? Then pass format=."
            )
    if pending:
        yield b"".join([*pending, b"\n"])


@dataclass
class Lines:
    """The rest of a text file, in blocks."""

    blocks: Iterator[bytes]  # of whole lines
    bad_rows: BadRows  # of lines read so far
    n_before: int = 0  # lines before the first block
    encoding: TextEncoding = field(default_factory=TextEncoding)
    folded: bool = False  # whether newlines inside quotes are `FOLD`

    def parse(self, parser: LineParser) -> Iterator[Any]:
        """Yield the rows of every block."""
        line = self.n_before
        for text in self.blocks:
            parser.reserve(text)
            offset = row = 0
            while offset < len(text):
                first = offset
                offset, n_lines, row, code, begin, end = parser.resume(text, offset, row)
                line += n_lines
                if code:
                    start = text.rfind(b"\n", 0, begin) + 1
                    place = line + self._n_folds(text, first, start)
                    about = text[begin:end], text[start:begin]
                    self.bad_rows.add(place, explain(code, *about, parser))
                line += self._n_folds(text, first, offset)
            if row:
                yield parser.take(text, row)

    def _n_folds(self, text: bytes, begin: int, end: int) -> int:
        return text.count(FOLD, begin, end) if self.folded else 0


def explain(code: int, about: bytes, before: bytes, parser: LineParser) -> str:
    """Return a complaint of the compiled parser in words."""
    text, rest = (parser.text(part) for part in (about, before))
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return _REASONS[code].format(text=repr(shown), **parser.facts(text, rest))

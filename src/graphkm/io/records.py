"""Rows of CSV as lines: a text in quotes may have newlines, which the parser does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

from .text import FOLD, MAX_LINE

_FOLDED = FOLD.decode("utf-8", "surrogateescape")


class _Shapes:
    """Patterns of lines and rows with one delimiter. None of them ever backtracks."""

    def __init__(self, delimiter: str) -> None:
        sign = re.escape(delimiter)
        blank = rf"[^\S\n{sign}]*+"
        closed = rf'{blank}"[^"\n]*+(?:""[^"\n]*+)*+"[^{sign}\n]*+'  # more text may follow
        plain = rf'(?!{blank}")[^{sign}\n]*+'
        field = rf'(?>{blank}"[^"]*+(?:""[^"]*+)*+"{blank}(?=[{sign}\n])|{closed}|{plain})'
        self.open = _compiled(  # a line whose last field does not end
            rf'^(?:(?>{closed}|{plain}){sign})*+{blank}"[^"\n]*+(?:""[^"\n]*+)*+$'
        )
        self.row = _compiled(rf"{field}(?:{sign}{field})*+\n")
        self.beginning = _compiled(rf'(?:{field}{sign})*+{blank}"[^"]*+(?:""[^"]*+)*+\Z')
        self.field = _compiled(rf"{field}(?:{sign}|\n)")


def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode(), re.MULTILINE)


_shapes = cache(_Shapes)


def first_row(text: bytes, more: Iterator[bytes], delimiter: str) -> tuple[bytes, bytes]:
    r"""Return the first row of a text, folded, and the text with the blocks that the row needs.

    Examples
    --------
    >>> first_row(b'"size\n', iter([b'(cm)",label\n1,a\n']), ",")
    (b'"size\xff(cm)",label\n', b'"size\n(cm)",label\n1,a\n')
    """
    shapes = _shapes(delimiter)
    if shapes.open.match(text):
        whole = text
        while shapes.beginning.match(whole) and (blocks := _more(more, MAX_LINE - len(whole))):
            whole = b"".join([whole, *blocks])
        row = shapes.row.match(whole)
        if row is not None:
            return _folded(row[0]), whole
        text = whole
    return text[: text.index(b"\n") + 1], text


def _folded(row: bytes) -> bytes:
    return row[:-1].replace(b"\n", FOLD) + b"\n"


def folded(blocks: Iterator[bytes], delimiter: str, width: int) -> Iterator[bytes]:
    r"""Yield blocks in which every row is one line: newlines inside quotes are `FOLD`.

    Lines are joined only if they make a row of `width` fields. Otherwise an open quote stays in its
    line, where the parser finds the error, and the lines below are read as usual.

    Examples
    --------
    >>> list(folded(iter([b'1,"a\n', b'b"\n2,c\n']), ",", 2))
    [b'1,"a\xffb"\n2,c\n']
    >>> list(folded(iter([b'1,"a\n2,c\n']), ",", 2))
    [b'1,"a\n2,c\n']
    """
    shapes = _shapes(delimiter)
    while (block := next(blocks, None)) is not None:
        parts, done, start = [], 0, 0
        while b'"' in block and (line := shapes.open.search(block, start)):
            row = shapes.row.match(block, line.start())
            if row is not None and len(shapes.field.findall(row[0])) == width:
                parts += [block[done : line.start()], _folded(row[0])]
                done = start = row.end()
            elif row is None and shapes.beginning.match(block, line.start()):
                parts.append(block[done : line.start()])
                block, done = block[line.start() :], 0
                more = _more(blocks, MAX_LINE - len(block))
                if more and b'"' in more[-1]:
                    block, start = b"".join([block, *more]), 0
                    continue
                blocks = chain(more, blocks)  # nothing closes the quote
                start = block.index(b"\n") + 1
                parts.append(block[:start])
                block, start = block[start:], 0
            else:
                start = line.end() + 1
        whole = b"".join([*parts, block[done:]])
        if whole:
            yield whole


def _more(blocks: Iterator[bytes], size: int) -> list[bytes]:
    """Return the next blocks, up to one with a quote, or to about `size` bytes."""
    found: list[bytes] = []
    while size > 0 and (block := next(blocks, None)) is not None:
        found.append(block)
        size -= len(block)
        if b'"' in block:
            break
    return found


def rows_of_block(block: bytes) -> list[str]:
    """Return the rows of a folded block; `unfolded` restores their newlines."""
    return block.decode("utf-8", "surrogateescape").split("\n")[:-1]


def n_folds(row: str) -> int:
    """Return how many newlines a row has inside quotes."""
    return row.count(_FOLDED)


def unfolded(text: str) -> str:
    r"""Return a text with its newlines.

    Examples
    --------
    >>> unfolded(b"a\xffb".decode("utf-8", "surrogateescape"))
    'a\nb'
    """
    return text.replace(_FOLDED, "\n")

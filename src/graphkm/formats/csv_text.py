"""CSV as text, every cell as it is: newlines, spaces and quotes stay."""

from __future__ import annotations

import csv
import io
import sys

from ..io.csv import likely_delimiter
from .shape import AnnotationsError
from .tables import Lines
from .values import plain_text

_QUOTED = frozenset(',;\t|"\r\n')


def read_csv(text: str, name: str) -> Lines:
    r"""Return the header and the lines of a text; blank lines do not count.

    Examples
    --------
    >>> read_csv('text,label\n"a\nb",pos\n', "a.csv").lines
    [['a\nb', 'pos']]
    """
    csv.field_size_limit(sys.maxsize)
    start = text.lstrip("\r\n")
    sign = likely_delimiter(start.split("\n", 2)[:2] if start else [""])
    found = csv.reader(io.StringIO(start, newline=""), delimiter=sign, strict=True)
    try:
        lines = [line for line in found if line]
    except csv.Error as error:
        raise AnnotationsError(f"{name}, line {found.line_num}: it is no CSV ({error}).") from error
    if not lines:
        raise AnnotationsError(f"{name} holds no rows.")
    header = lines[0]
    for place, line in enumerate(lines[1:], 1):
        if len(line) != len(header):
            raise AnnotationsError(
                f"{name}, row {place}: it has {len(line)} cells, and the header {len(header)}."
            )
    return Lines(header, lines[1:])


def write_csv(table: Lines) -> str:
    r"""Return a table as text.

    Examples
    --------
    >>> write_csv(Lines(["text", "label"], [["a\nb", "pos"], [" c", ""]]))
    'text,label\n"a\nb",pos\n" c",\n'
    """
    return "".join(map(_line, [table.header, *table.lines]))


def _line(cells: list[object]) -> str:
    text = ",".join(_cell(plain_text(cell)) for cell in cells)
    return f"{text or chr(34) * 2}\n"  # a blank line would be no row


def _cell(text: str) -> str:
    if _QUOTED & set(text) or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text

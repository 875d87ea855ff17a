"""Lines of the journal: JSON with a checksum."""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

SUM = re.compile(rb', "crc32": "([0-9a-f]{8})"}')
"""The checksum at the end of a line."""


def with_checksum(text: bytes) -> bytes:
    """Return an object of JSON with the checksum of its text as its last entry.

    Examples
    --------
    >>> with_checksum(b'{"row": 1}')
    b'{"row": 1, "crc32": "01964fb4"}'
    """
    return text[:-1] + b', "crc32": "%08x"}' % zlib.crc32(text[:-1])


def read_line(line: bytes, signed: bool) -> Any:
    """Return what a line says; it must have a checksum if one before it had (`signed`)."""
    found = SUM.search(line)
    if found is None and signed:
        raise ValueError("it has no checksum")
    if found is None:
        return json.loads(line)
    text = line[: found.start()] + b"}"
    if with_checksum(text) != line:
        raise ValueError("its checksum is not that of its text")
    return json.loads(text)

"""Pages of the guide with files and commands: what they say against what is printed."""

from __future__ import annotations

import re

BLOCK = re.compile(
    r"```(?:\{code-block\} text\n:caption: (?P<file>\S+)\n\n"
    r"|console\n\$ graphkm (?P<command>[^\n]+)\n)"
    r"(?P<text>.*?)```",
    re.DOTALL,
)


def parts(text):
    """Return the words and the numbers of an output, without what differs between machines."""
    text = re.sub(r"^time .*$|\(\d+ KiB, graphkm \S+\)", "", text, flags=re.MULTILINE)
    cells = re.split(r"[\s,]+", text.strip())
    exact = [cell for cell in cells if not re.fullmatch(r"-?\d+\.\d{3,}", cell)]
    return exact, [float(cell) for cell in cells if re.fullmatch(r"-?\d+\.\d{3,}", cell)]

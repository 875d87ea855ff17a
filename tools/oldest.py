"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

    python tools/oldest.py > oldest.txt
    pip install --constraint oldest.txt ".[all]"

`make test-oldest` does that in an environment of its own, and runs a part of the tests there.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOR_WORK = ("docs", "test", "dev", "cuda")  # and a card
FRAMES = ("pandas", "polars")  # people bring them: no extra but that for tests has them


def oldest(project: dict) -> list[str]:
    """Return a line for each requirement that has a lowest version."""
    extras = project["optional-dependencies"]
    chosen = [text for name, group in extras.items() if name not in FOR_WORK for text in group]
    frames = [text for text in extras["test"] if text.startswith(FRAMES)]
    found = {}
    for text in (*project["dependencies"], *chosen, *frames):
        if ";" not in text and (lowest := re.match(r"([\w.-]+)(?:\[.*\])?[>=]=([\w.]+)$", text)):
            found[lowest[1]] = f"{lowest[1]}=={lowest[2]}"
    return sorted(found.values())


if __name__ == "__main__":
    print(*oldest(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]), sep="\n")

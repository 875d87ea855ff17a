"""Write what the changelog says of a version, for the announcement of a release.

    python tools/release_notes.py v0.2.0 notes.md

It fails if the tag is not that of the version in pyproject.toml, or if the changelog does not begin
with a section for it. So a wrong tag publishes nothing.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def notes(changelog: str, version: str) -> str:
    """Return the section of a version, which must be the first one."""
    _, heading, text, *_ = [*HEADING.split(changelog), "", ""]
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading):
        raise SystemExit(f"The changelog begins with {heading!r}, and not with {version} (date).")
    return text.strip() + "\n"


def main(tag: str, path: str) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if tag != f"v{version}":
        raise SystemExit(f"The tag is {tag}, and the version is {version}: tag v{version}.")
    text = notes((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    Path(path).write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

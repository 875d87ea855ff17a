"""Time a new user's way: a fresh clone, the demo, the first own table, the first predictions.

    python tools/first_steps.py

Everything happens in a temporary folder; packages come from pip's cache or from the network. It
prints seconds on the clock for each step. The table is that of docs/guide/tables.md.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = re.compile(r"```\{code-block\} text\n:caption: (\S+)\n\n(.*?)```", re.DOTALL)
COMMANDS = re.compile(r"^\$ graphkm (.+)$", re.MULTILINE)


def step(name: str, *command: str | Path, cwd: Path) -> float:
    """Run a command as a user does, print how long it took, and return it."""
    start = time.perf_counter()
    subprocess.run([str(part) for part in command], cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    print(f"{seconds:7.1f} s  {name}", flush=True)
    return seconds


def main() -> None:
    page = (ROOT / "docs/guide/tables.md").read_text("utf-8")
    with tempfile.TemporaryDirectory() as name:
        clone = Path(name, "graphkm")
        total = step("git clone", "git", "clone", "--quiet", ROOT, clone, cwd=Path(name))
        total += step("make demo", "make", "demo", f"PYTHON={sys.executable}", cwd=clone)
        binaries = clone / ".venv" / "bin"
        install = (binaries / "python", "-m", "pip", "install", "--quiet", ".[cli]")
        total += step('pip install ".[cli]"', *install, cwd=clone)
        for file, text in FILES.findall(page):
            (clone / file).write_text(text)
        for command in COMMANDS.findall(page):
            total += step(f"graphkm {command}", binaries / "graphkm", *command.split(), cwd=clone)
        print(f"{total:7.1f} s  in all")


if __name__ == "__main__":
    main()

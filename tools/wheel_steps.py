"""From a wheel to a trained model: sizes, seconds, and what an import costs.

    python tools/wheel_steps.py dist/graphkm-0.2.0-cp311-cp311-linux_x86_64.whl

It makes two fresh environments, installs the wheel alone in one and `graphkm[all]` in the other,
and prints seconds on the clock and of processor time ("user"). Packages come from pip's cache or
from the network. The first own table is that of docs/guide/tables.md. Import times are the least of
three, by `python -X importtime`, after a first import that fills the caches.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from first_steps import COMMANDS, FILES, ROOT

FIT = """
from sklearn.datasets import load_digits
from graphkm import SemiSupervisedClassifier
from graphkm.datasets import hide_labels
X, truth = load_digits(return_X_y=True)
y = hide_labels(truth, n_per_class=3, random_state=0)
model = SemiSupervisedClassifier(random_state=0).fit(X, y)
print(f"{model.score(X[y < 0], truth[y < 0]):.3f} of the hidden digits are right")
"""
IMPORTS = (
    "import numpy",
    "import sklearn",
    "from sklearn.svm import SVC",
    "from sklearn.semi_supervised import LabelSpreading",
    "import graphkm",
    "from graphkm import SemiSupervisedClassifier",
)


def step(name: str, *command: str | Path, cwd: Path) -> float:
    """Run a command as a user does, print what it took, and return its user time."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, check=True, capture_output=True, text=True
    )
    seconds = time.perf_counter() - start
    user = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    print(f"{seconds:7.1f} s  {user:7.1f} s user  {name}", flush=True)
    if "right" in done.stdout:
        print(" " * 27 + next(line for line in done.stdout.splitlines() if "right" in line))
    return user


def environment(folder: Path) -> Path:
    """Return the folder of programs of a fresh environment."""
    venv.create(folder, with_pip=True)
    return folder / "bin"


def import_milliseconds(python: Path, statement: str, folder: Path) -> float:
    """Return the least of three times of the statement's imports, in milliseconds."""
    times = []
    for _ in range(4):
        done = subprocess.run(
            [python, "-X", "importtime", "-c", statement],
            cwd=folder, check=True, capture_output=True, text=True,
        )  # fmt: skip
        # A module that no other one imports stands at the left; "site" is Python's own start.
        tops = re.findall(r"^import time: +\d+ \| +(\d+) \| (\S+)$", done.stderr, re.MULTILINE)
        times.append(sum(int(each) for each, name in _own(tops)) / 1000)
    return min(times[1:])


def _own(tops: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out what Python imports before any program."""
    last = max((k for k, (_, name) in enumerate(tops) if name == "site"), default=-1)
    return tops[last + 1 :]


def size(folder: Path, name: str) -> float:
    """Return the megabytes of a package that is installed."""
    (package,) = folder.glob(f"lib/python*/site-packages/{name}")
    return sum(each.stat().st_size for each in package.rglob("*") if each.is_file()) / 1e6


def wheel_alone(wheel: Path, folder: Path) -> None:
    """Install, import and fit the library without extras."""
    print("The wheel alone")
    programs = environment(folder / "alone")
    python = programs / "python"
    total = step("pip install WHEEL", python, "-m", "pip", "install", wheel, cwd=folder)
    total += step("first fit: 1,797 digits, 30 labels", python, "-c", FIT, cwd=folder)
    print(f"           {total:7.1f} s user  in all")
    print(f"{size(folder / 'alone', 'graphkm'):7.1f} MB installed")
    for statement in IMPORTS:
        print(f"{import_milliseconds(python, statement, folder):7.0f} ms  {statement}")


def with_all_extras(wheel: Path, folder: Path) -> None:
    """Install `graphkm[all]`, and train on the first own table."""
    print("The wheel with all extras")
    programs = environment(folder / "all")
    python = programs / "python"
    install = (python, "-m", "pip", "install", f"{wheel}[all]")
    total = step('pip install "WHEEL[all]"', *install, cwd=folder)
    page = (ROOT / "docs/guide/tables.md").read_text("utf-8")
    for file, text in FILES.findall(page):
        (folder / file).write_text(text)
    for command in COMMANDS.findall(page)[:2]:
        total += step(f"graphkm {command}", programs / "graphkm", *command.split(), cwd=folder)
    print(f"           {total:7.1f} s user  in all")
    step("graphkm doctor", programs / "graphkm", "doctor", cwd=folder)


def main(path: str) -> None:
    wheel = Path(path).resolve()
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    with tempfile.TemporaryDirectory() as name:
        wheel_alone(wheel, Path(name))
        with_all_extras(wheel, Path(name))


if __name__ == "__main__":
    main(*sys.argv[1:])

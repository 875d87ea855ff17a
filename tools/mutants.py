"""Are the tests strong enough? Plant one small defect at a time and see whether a test finds it.

    python tools/mutants.py                  # all of them, against the tests as they are
    python tools/mutants.py --tests HEAD~3   # against the tests of an earlier commit
    python tools/mutants.py --only csv.hpp   # those of one file

A mutant is a piece of text that stands once in a file, what takes its place, and the tests that
must find it. Each runs in a copy of the sources; nothing here is changed. In compiled code both
texts are expressions of one type: all of them are built at once, and GRAPHKM_MUTANT says which of
them counts. It ends with 1 if a mutant survives, or if its text is no longer to be found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from mutant_table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parent.parent
_HANGS = 1200  # seconds after which a mutant counts as found: it keeps a test from ending
# An editable install finds its own files before all others; copies must not import those.
_ISOLATE = (
    "import sys\n"
    "sys.meta_path[:] = [f for f in sys.meta_path if 'ScikitBuild' not in type(f).__name__]\n"
)
_SWITCH = """#pragma once
#ifdef __cplusplus
#include <cstdlib>
inline const int graphkm_mutant =
    std::getenv("GRAPHKM_MUTANT") ? std::atoi(std::getenv("GRAPHKM_MUTANT")) : 0;
#endif
"""


class Outcome(NamedTuple):
    """What became of a mutant: "killed", "SURVIVED", or what else happened."""

    verdict: str
    seconds: float
    said: str


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    numbered = [(k, m) for k, m in enumerate(MUTANTS, 1) if options.only in m.file]
    missing = [sentence for _, mutant in numbered for sentence in _complaints(mutant)]
    if missing:
        print(*missing, sep="\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        base = _copy(Path(folder), options.tests, [m for _, m in numbered])
        whole = sorted({test for _, mutant in numbered for test in mutant.tests})
        clean = _run(base, 0, whole)
        print(f"without a mutant: {clean.said}", flush=True)
        if clean.verdict != "SURVIVED":
            print("The tests fail without any mutant, so that a failure says nothing. Mend them.")
            return 1
        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(lambda pair: _try(base, *pair), numbered))
    survivors = [m for (_, m), o in zip(numbered, outcomes, strict=True) if o.verdict != "killed"]
    print(f"{len(outcomes) - len(survivors)} of {len(outcomes)} mutants were killed")
    return int(bool(survivors))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", metavar="REV", help="take the tests of this commit")
    parser.add_argument("--only", default="", metavar="FILE", help="mutants of files named so")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried at the same time")
    return parser.parse_args(arguments)


def _complaints(mutant: Mutant) -> Iterable[str]:
    """Say what is wrong with an entry of the table."""
    count = (ROOT / mutant.file).read_text().count(mutant.old)
    if count != 1:
        yield (
            f"{mutant.file} holds the text {mutant.old!r} {count} times, and a mutant "
            "needs it once. Bring its entry in tools/mutant_table.py up to date."
        )


# ------------------------------------------------------------------ copies


def _copy(folder: Path, revision: str | None, mutants: list[Mutant]) -> Path:
    """Return a copy of the package and its tests, compiled code with all its mutants included."""
    base = folder / "base"
    base.mkdir()
    shutil.copy(ROOT / "pyproject.toml", base)
    (folder / "sitecustomize.py").write_text(_ISOLATE)
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for part in ("src", "native", "benchmarks"):
        shutil.copytree(ROOT / part, base / part, ignore=ignored)
    if revision is None:
        shutil.copytree(ROOT / "tests", base / "tests", ignore=ignored)
    else:
        packed = subprocess.run(
            ["git", "archive", revision, "tests"], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "-x"], cwd=base, check=True, input=packed.stdout)
    _build(base, mutants)
    return base


def _build(base: Path, mutants: list[Mutant]) -> None:
    """Compile the package's module with every mutant behind a switch."""
    switch = base / "native" / "mutant.hpp"
    switch.write_text(_SWITCH)
    for number, mutant in enumerate(MUTANTS, 1):
        if mutant in mutants and mutant.is_native:
            both = f"(graphkm_mutant == {number} ? ({mutant.new}) : ({mutant.old}))"
            _replace(base / mutant.file, mutant.old, both)
    shutil.copy(ROOT / "CMakeLists.txt", base)
    configure = [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"]
    for command in (
        ["cmake", "-S", ".", "-B", "build", *configure, f"-DCMAKE_CXX_FLAGS=-include {switch}"],
        ["cmake", "--build", "build", "--parallel", "2"],
    ):
        subprocess.run(command, cwd=base, check=True, stdout=subprocess.DEVNULL)
    (built,) = (base / "build").glob("_native*.so")
    shutil.copy(built, base / "src" / "graphkm")


def _replace(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


# ------------------------------------------------------------------ runs


def _try(base: Path, number: int, mutant: Mutant) -> Outcome:
    """Run the tests of one mutant and say what they found."""
    place = base
    if not mutant.is_native:
        place = base.with_name(str(number))
        shutil.copytree(base, place, ignore=shutil.ignore_patterns("build", "native"))
        _replace(place / mutant.file, mutant.old, mutant.new)
    outcome = _run(place, number, mutant.tests)
    if not mutant.is_native:
        shutil.rmtree(place)
    print(
        f"{number:3} {outcome.verdict:9} {outcome.seconds:5.0f} s  {mutant.file}: "
        f"{mutant.old!r} -> {mutant.new!r}  [{outcome.said}]",
        flush=True,
    )
    return outcome


def _run(place: Path, number: int, tests: Iterable[str]) -> Outcome:
    command = [sys.executable, "-m", "pytest", "-x", "-m", "not slow", "-p", "no:cacheprovider"]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(place.parent), str(place / "src")]),
        "GRAPHKM_MUTANT": str(number),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    begin = time.monotonic()
    try:
        run = subprocess.run(
            [*command, *(f"tests/{test}" for test in tests)],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_HANGS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome("killed", time.monotonic() - begin, "a test did not end")
    verdict = {0: "SURVIVED", 1: "killed"}.get(run.returncode, f"ended with {run.returncode}")
    failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    last = (failed or run.stdout.splitlines() or [run.stderr])[-1]
    return Outcome(verdict, time.monotonic() - begin, last[:150])


if __name__ == "__main__":
    sys.exit(main())

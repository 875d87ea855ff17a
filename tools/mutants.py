"""Are the tests strong enough? Plant one small defect at a time and see whether a test finds it.

    python tools/mutants.py                  # all of them, against the tests as they are
    python tools/mutants.py --tests HEAD~3   # against the tests of an earlier commit
    python tools/mutants.py --only csv.hpp   # those of one file

A mutant is a piece of text that stands once in a file, what takes its place, and the tests that
must find it. Each runs in a copy of the sources; nothing here is changed. In compiled code both
texts are expressions of one type: all mutants are built at once, and GRAPHKM_MUTANT chooses one.
The script ends with 1 if a mutant survives, or if its text is no longer found.
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
_HANGS = 1200  # seconds after which a mutant counts as found: some make a test run for ever
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
    missing = [sentence for _, mutant in numbered for sentence in complaints(mutant)]
    if missing:
        print(*missing, sep="\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        base = _copy(Path(folder), options.tests)
        if not (options.trust or _passes(base, [m for _, m in numbered])):
            return 1
        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(lambda pair: _try(base, *pair), numbered))
    survivors = [m for (_, m), o in zip(numbered, outcomes, strict=True) if o.verdict != "killed"]
    print(f"{len(outcomes) - len(survivors)} of {len(outcomes)} mutants were killed")
    return int(bool(survivors))


def _passes(base: Path, mutants: list[Mutant]) -> bool:
    """Say whether the tests pass without a mutant; if not, a failure would prove nothing."""
    clean = _run(base, 0, sorted({test for mutant in mutants for test in mutant.tests}))
    print(f"without a mutant: {clean.said}", flush=True)
    return clean.verdict == "SURVIVED"


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", metavar="REV", help="take the tests of this commit")
    parser.add_argument("--only", default="", metavar="FILE", help="mutants of files named so")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried at the same time")
    parser.add_argument("--trust", action="store_true", help="the tests pass without a mutant")
    return parser.parse_args(arguments)


def complaints(mutant: Mutant) -> Iterable[str]:
    """Say what is wrong with an entry of the table."""
    for path in (mutant.file, *(f"tests/{test}" for test in mutant.tests)):
        if not (ROOT / path).is_file():
            yield f"{path} of the mutant {mutant.old!r} is not there."
            return
    count = (ROOT / mutant.file).read_text().count(mutant.old)
    if count != 1:
        yield (
            f"{mutant.file} holds the text {mutant.old!r} {count} times, and a mutant "
            "needs it once. Bring its entry in tools/mutant_table.py up to date."
        )


# ------------------------------------------------------------------ copies


def _copy(folder: Path, revision: str | None) -> Path:
    """Return a copy of the package and its tests, with the compiled mutants in it."""
    base = folder / "base"
    base.mkdir()
    shutil.copy(ROOT / "pyproject.toml", base)
    (folder / "sitecustomize.py").write_text(_ISOLATE)
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    for part in ("src", "benchmarks"):
        shutil.copytree(ROOT / part, base / part, ignore=ignored)
    if revision is None:
        shutil.copytree(ROOT / "tests", base / "tests", ignore=ignored)
    else:
        packed = subprocess.run(
            ["git", "archive", revision, "tests"], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "-x"], cwd=base, check=True, input=packed.stdout)
    shutil.copy(_build(), base / "src" / "graphkm")
    return base


def _build() -> Path:
    """Return the package's module, compiled with every mutant behind a switch.

    The build lies in build/mutants, where the next run finds it: only what has changed since is
    written and compiled.
    """
    sources = {path: path.read_text() for path in (ROOT / "native").rglob("*") if path.is_file()}
    sources[ROOT / "CMakeLists.txt"] = (ROOT / "CMakeLists.txt").read_text()
    sources[ROOT / "native" / "mutant.hpp"] = _SWITCH
    for number, mutant in enumerate(MUTANTS, 1):
        if mutant.is_native:
            both = f"(graphkm_mutant == {number} ? ({mutant.new}) : ({mutant.old}))"
            text = sources[ROOT / mutant.file]
            sources[ROOT / mutant.file] = text.replace(mutant.old, both)
    place = ROOT / "build" / "mutants"
    for path, text in sources.items():
        _write(place / path.relative_to(ROOT), text)
    configure = [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"]
    configure.append(f"-DCMAKE_CXX_FLAGS=-Wno-psabi -include {place / 'native' / 'mutant.hpp'}")
    for command in (
        ["cmake", "-S", ".", "-B", "built", *configure],
        ["cmake", "--build", "built", "--parallel"],
    ):
        subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
    (module,) = (place / "built").glob("_native*.so")
    return module


def _write(path: Path, text: str) -> None:
    """Write a file unless it holds this text already."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


# ------------------------------------------------------------------ runs


def _try(base: Path, number: int, mutant: Mutant) -> Outcome:
    """Run the tests of one mutant and say what they found."""
    place = base
    if not mutant.is_native:
        place = base.with_name(str(number))
        shutil.copytree(base, place)
        path = place / mutant.file
        path.write_text(path.read_text().replace(mutant.old, mutant.new))
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

"""Damaged model and data files, ten thousand of each, under limits of memory and time.

Every file must be read, or refused with the one error that its reader promises. A crash, an
exception of another type, an allocation beyond the limit and a file that takes too long are
failures. The script prints their numbers and how to repeat them, and fails.

The files are read in a process of their own. If a file ends it, it starts again after that file.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

MORE = 2**30  # bytes of address space that a process may take beyond those at its start
PATIENCE = 20  # seconds for one file


def address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def read_files(group: str, first: int, last: int, seed: int, answers: Any) -> None:
    """Try the cases one by one and send what becomes of them."""
    from file_fuzzing import read_good_file, run_case

    with tempfile.TemporaryDirectory() as folder:
        read_good_file(group, Path(folder))  # loads what a first call loads
        limit = address_space() + MORE
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for index in range(first, last):
            try:
                answers.send((index, *run_case(group, index, Path(folder), seed)))
            except MemoryError:
                answers.send((index, "any", "MEMORY: " + traceback.format_exc(limit=-3)))
            except Exception:
                answers.send((index, "any", "UNEXPECTED: " + traceback.format_exc(limit=-3)))


def fuzz(group: str, n_files: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Return how many files were accepted, refused and failed, and what went wrong."""
    context = multiprocessing.get_context("spawn")
    counts: Counter[str] = Counter()
    failures: list[str] = []
    first = 0
    while first < n_files:
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=read_files, args=(group, first, n_files, seed, sender))
        child.start()
        sender.close()
        fate = "CRASH"
        while True:
            try:
                if not receiver.poll(PATIENCE if first else 10 * PATIENCE):
                    fate = "HANG"
                    break
                index, name, outcome = receiver.recv()
            except EOFError:
                break
            first = index + 1
            counts[f"{name}: {outcome}" if outcome[0].islower() else outcome.split(":")[0]] += 1
            if outcome[0].isupper():
                failures.append(f"{group} {index}: {outcome}")
        child.kill()
        child.join()
        if first < n_files:
            counts[fate] += 1
            failures.append(f"{group} {first}: {fate} (exit status {child.exitcode})")
            first += 1
    return counts, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000, help="of each group")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs=2, metavar=("GROUP", "INDEX"), help="one case, in here")
    options = parser.parse_args()
    if options.only:
        from file_fuzzing import run_case

        with tempfile.TemporaryDirectory() as folder:
            print(*run_case(options.only[0], int(options.only[1]), Path(folder), options.seed))
        return
    bad = 0
    for group in ("models", "data"):
        counts, failures = fuzz(group, options.files, options.seed)
        print(f"{group}: {options.files:,} files, seed {options.seed}")
        for what, count in sorted(counts.items()):
            print(f"  {count:6,}  {what}")
        accepted = sum(n for what, n in counts.items() if what.endswith("accepted"))
        refused = sum(n for what, n in counts.items() if what.endswith("refused"))
        print(
            f"  accepted {accepted:,}, refused with a message {refused:,}, failures {len(failures)}"
        )
        print(*failures[:20], sep="\n")
        bad += len(failures)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()

"""Draws of data sets: each is measured in a process of its own, and kept in a file at once."""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from _common import ROOT
from _processes import forked
from table_sets import SETS

Line = dict[str, Any]

OPTIONS: dict[str, dict[str, Any]] = {
    "sets": {"help": "names, separated by commas"},
    "first": {"type": int, "default": 0, "help": "the first draw"},
    "jobs": {"type": int, "default": 1, "help": "draws at once; 1 by default"},
    "out": {"type": Path, "default": ROOT / "out", "help": "the folder of draws"},
    "report": {"action": "store_true", "help": "no fits, only what is there"},
    "store": {"action": "store_true", "help": "put the results into the pages' file"},
}


@cache
def loaded(name: str) -> tuple[Any, np.ndarray]:
    """Return up to 20,000 rows of a set, and their classes."""
    X, y = SETS[name]()
    some = np.random.default_rng(0).permutation(len(y))[:20_000]
    return X[some], y[some]


def order_of(name: str, draw: int) -> np.ndarray:
    """Return the rows of a set in the order of a draw."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), draw])
    return rng.permutation(len(loaded(name)[1]))


def lines_of(file: Path) -> dict[tuple[str, int], Line]:
    """Return the draws that a file has."""
    lines = map(json.loads, file.read_text().splitlines()) if file.exists() else ()
    return {(line["set"], line["draw"]): line for line in lines}


def measure(
    what: str, work: Callable[[str, int], Line], names: list[str], arguments: argparse.Namespace
) -> dict[str, list[Line]]:
    """Run a work for each set and draw that the file does not have; return all draws by set."""
    names = arguments.sets.split(",") if arguments.sets else names
    names = names[:1] if arguments.quick else names
    draws = range(arguments.first, arguments.first + (1 if arguments.quick else arguments.draws))
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / f"{what}.jsonl"
    there = lines_of(file)
    wanted = [(name, draw) for draw in draws for name in names if (name, draw) not in there]
    if not arguments.report:
        for name in names:
            loaded(name)  # before processes fork
        for number, answer in forked((partial(work, *task) for task in wanted), arguments.jobs):
            if answer["status"] != "ok":
                raise SystemExit(answer.get("traceback", answer["status"]))
            name, draw = wanted[number]
            with file.open("a") as out:
                out.write(json.dumps({"set": name, "draw": draw} | answer) + "\n")
            print(name, draw, f"{answer['cpu_seconds']:.1f} s", flush=True)
    found = {key: each for key, each in lines_of(file).items() if key[1] in draws}
    return {name: [each for key, each in found.items() if key[0] == name] for name in names}

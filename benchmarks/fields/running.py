"""Every fit in a process of its own, with a limit of CPU seconds; results are kept."""

from __future__ import annotations

import json
import multiprocessing
import resource
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from _common import SkipError
from fields.methods import BASES, PEERS, measured, peer
from fields.sets import LARGE, SETS

TIMES = 10  # what a peer may take, in units of our time
LIMIT = 900  # CPU seconds of one fit


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def cells(part: str, seeds: range) -> Iterator[dict[str, Any]]:
    """Yield what is to be run: a set, its labels, a seed and a method."""
    if part == "main":
        sizes = {"mnist": ("100", "500", "10%")}
        for name in LARGE:
            for labels in sizes.get(name, ("10%",)):
                for seed in seeds:
                    for method in ("own", "gkm", "tuned svc"):
                        yield {"set": name, "n": labels, "seed": seed, "method": method}
    if part == "peers":
        for cell in cells("main", seeds[:1]):
            if cell["method"] == "own":
                yield from (cell | {"method": method} for method in PEERS)
    if part == "bases":
        for name in SETS:
            for labels in ("50", "200", "10%"):
                for seed in seeds:
                    for method in BASES:
                        yield {"set": name, "n": labels, "seed": seed, "method": method}


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["set"], row["n"], row["seed"], row["method"]


def run_cell(cell: dict[str, Any], X: Any, y: np.ndarray, limit: int = LIMIT) -> dict[str, Any]:
    """Return the row of one cell, measured in a process of its own."""
    measure = peer if cell["method"] in PEERS else measured
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        warnings.simplefilter("ignore")
        try:
            there.send(measure(X, y, cell["n"], cell["seed"], cell["method"]))
        except Exception as error:  # a failure is a row too
            there.send({"error": f"{type(error).__name__}: {error}"[:200]})

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    there.close()
    try:
        row = here.recv()
    except EOFError:
        row = {"error": f"over {limit} CPU s"}
    process.join()
    return cell | row


def suits(cell: dict[str, Any], X: Any, y: np.ndarray) -> bool:
    """Return whether a cell makes sense: enough rows, and a model that takes them."""
    enough = cell["n"] == "10%" or int(cell["n"]) <= len(y) // 3
    labels = 0.09 * len(y) if cell["n"] == "10%" else int(cell["n"])
    return (
        enough
        and labels >= 2 * len(np.unique(y))
        and not (cell["method"] == "boosting" and sp.issparse(X))
        and not (cell["method"] == "svc" and labels > 20_000)
    )


def limit_of(cell: dict[str, Any], rows: list[dict[str, Any]]) -> int:
    """Return the CPU seconds that a cell may take."""
    ours = [row["cpu"] for row in rows if key(row) == key(cell | {"method": "own"})]
    return max(1, round(TIMES * ours[0])) if cell["method"] in PEERS and ours else LIMIT


def run(parts: list[str], chosen: dict[str, list[str]], seeds: range, file: Path) -> None:
    done = {key(row) for row in read(file)}
    file.parent.mkdir(parents=True, exist_ok=True)
    every = [cell for part in parts for cell in cells(part, seeds)]
    wanted = [
        cell for cell in every if all(cell[name] in values for name, values in chosen.items())
    ]
    for name in dict.fromkeys(cell["set"] for cell in wanted):
        todo = [cell for cell in wanted if cell["set"] == name and key(cell) not in done]
        if not todo:
            continue
        try:
            X, y = SETS[name]()
        except SkipError as reason:
            print(f"{name} skipped: {reason}")
            continue
        for cell in todo:
            if suits(cell, X, y):
                row = run_cell(cell, X, y, limit_of(cell, read(file)))
                with file.open("a") as out:
                    out.write(json.dumps(row) + "\n")
                print(json.dumps(row), flush=True)

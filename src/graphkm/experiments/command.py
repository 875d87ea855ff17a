"""What `graphkm reproduce` does, apart from reading the command line."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ..datasets import DatasetError
from . import EXPERIMENTS, MADE, SETS, Protocol, plan, run_cells
from .ledger import Row

Say = Callable[[str], None]


def reproduce(
    name: str,
    *,
    datasets: list[str] | None,
    protocol_name: str,
    as_printed: bool,
    folder: Path | None,
    jobs: int,
    minutes: float | None,
    memory: float,
    say: Say,
) -> Path:
    """Run an experiment, or "all", into a folder; return the folder."""
    if name not in (*EXPERIMENTS, "all"):
        known = ", ".join((*EXPERIMENTS, "all"))
        raise ValueError(f"There is no experiment {name!r}; the names are {known}.")
    limits = {"memory_limit": memory * 1e9} | (
        {} if minutes is None else {"cpu_limit": 60 * minutes}
    )
    protocol = Protocol.named(protocol_name, as_printed=as_printed, **limits)
    chosen = _known_sets(datasets)
    cells = plan(name, chosen, protocol)
    if not cells:
        raise ValueError(f"The experiment {name} does not use {', '.join(chosen or ())}.")
    folder = folder or Path("out") / f"{protocol_name}{'-as-printed' * as_printed}"
    say(f"{protocol.describe()}\nResults: {folder}")
    start = time.monotonic()
    missing = run_cells(cells, protocol, folder, jobs=jobs, tell=lambda *news: say(_line(*news)))
    say(f"Done in {time.monotonic() - start:.0f} s. For tables and plots: graphkm report {folder}")
    if missing:
        raise DatasetError(_what_is_missing(missing))
    return folder


def _known_sets(datasets: list[str] | None) -> tuple[str, ...] | None:
    if not datasets:
        return None
    names = tuple(name for text in datasets for name in text.replace(",", " ").split())
    for name in names:
        if name not in SETS:
            raise ValueError(f"There is no set {name!r} here; the names are {', '.join(SETS)}.")
    return names


def _what_is_missing(missing: dict[str, str]) -> str:
    first, *others = missing
    more = f" The same holds for {', '.join(others)}." if others else ""
    return (
        f"Results are kept, but {first} could not be read: {missing[first]}{more} "
        f"Then run the same command again. --datasets {','.join(MADE[:2])} needs no files."
    )


def _line(row: Row, ended: int, total: int) -> str:
    """Return a line on a result."""
    what = f"{row['dataset']} {row['method']}" + f" {row['hidden']} %" * (row["hidden"] > 0)
    found = row["status"]
    if found == "ok" and row["kind"] == "fit":
        found = f"{100 * row['accuracy']:.2f} %, {row['cpu_seconds']:.3f} s"
    elif found == "ok" and row["kind"] == "choice":
        values = ", ".join(f"{name} {value:g}" for name, value in row["parameters"].items())
        found = f"chosen in {row['cpu_seconds']:.1f} s: {values}"
    if row["kind"] == "fit":
        what += f", run {row['run'] + 1}"
    reason = f" ({row['reason']})" if "reason" in row else ""
    return f"[{ended}/{total}] {what}: {found}{reason}"

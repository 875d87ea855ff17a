"""The file of results: one line per fit, which anybody can add to.

=================  ===============================================================================
set, labels        the cell: a name of `sets.py` and a number of labels
split, draw        the split's number, and a sum of its labelled and tested rows
method             the name of a method
status             "ok", "over the limit" (of CPU time), "did not fit" (into memory) or "error: ..."
accuracy           in %, of the tested rows
balanced_accuracy  in %, the mean over classes
macro_f1           in %, of several labels per row: over labels that occur among the tested rows
ranking_loss       of several labels per row: the share of pairs of labels in the wrong order
cpu_seconds        of the fit with its tuning and its predictions, on one thread
seconds            the same by the wall clock
peak_mb            the memory that the fit took beyond data and libraries, at its peak
limit_seconds      the limit of CPU time
limit_gb           the limit of memory
parameters         what tuning chose, as JSON
package, version   where the method comes from; ours has a sum of its sources behind the version
measured           the day
run                who measured: seconds of different runs cannot be compared
=================  ===============================================================================

What a line has no value for is empty.
"""

from __future__ import annotations

import csv
import datetime
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .cells import Cell

COLUMNS = (
    *("set", "labels", "split", "draw", "method", "status"),
    *("accuracy", "balanced_accuracy", "macro_f1", "ranking_loss"),
    *("cpu_seconds", "seconds", "peak_mb", "limit_seconds", "limit_gb"),
    *("parameters", "package", "version", "measured", "run"),
)
KEYS = ("set", "labels", "split", "method")
_RANGES = {
    **dict.fromkeys(("accuracy", "balanced_accuracy", "macro_f1"), (0.0, 100.0)),
    "ranking_loss": (0.0, 1.0),
    **dict.fromkeys(("cpu_seconds", "seconds", "peak_mb"), (0.0, math.inf)),
    **dict.fromkeys(("limit_seconds", "limit_gb"), (0.0, math.inf)),
}
_ENDS = ("ok", "over the limit", "did not fit", "error: ")

Line = dict[str, str]


def key(line: Line) -> tuple[str, ...]:
    """Return what a line is about."""
    return tuple(str(line[name]) for name in KEYS)


def read(file: Path) -> list[Line]:
    """Return the lines of a file, the last one of each fit."""
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        heads = reader.fieldnames or []
        if missing := set(COLUMNS) - set(heads):
            raise SystemExit(f"{file} lacks the columns {', '.join(sorted(missing))}")
        # A line that a stopped run left half written has fewer fields.
        lines = [line for line in reader if None not in line.values()]
    return list({key(line): line for line in lines}.values())


def append(file: Path, line: dict[str, Any]) -> None:
    """Add a line to a file at once; a new file gets its heads."""
    new = not file.exists() or file.stat().st_size == 0
    torn = not new and not file.read_bytes().endswith(b"\n")
    with file.open("a", newline="", encoding="utf-8") as stream:
        if torn:
            stream.write("\n")
        out = csv.DictWriter(stream, COLUMNS, restval="", lineterminator="\n")
        if new:
            out.writeheader()
        out.writerow(line)


def write(file: Path, lines: Iterable[Line]) -> None:
    """Write lines in place of a file's; the old file stands until the new one is whole."""
    part = file.with_suffix(".part")
    with part.open("w", newline="", encoding="utf-8") as stream:
        out = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(lines)
    part.replace(file)


def merged(old: Sequence[Line], new: Sequence[Line]) -> list[Line]:
    """Return the lines of both; a new one takes the place of an old one about the same fit."""
    return list({key(line): line for line in (*old, *new)}.values())


def complaints(lines: Sequence[Line], cells: dict[tuple[str, str], Cell]) -> list[str]:
    """Return what is wrong with lines, each with its number; nothing where all is well."""
    found, seen, versions = [], {}, {}
    for number, line in enumerate(lines, start=2):
        found += [f"line {number}: {what}" for what in _wrong(line, cells)]
        first = seen.setdefault(key(line), number)
        if first != number:
            found.append(f"line {number}: the same fit as line {first}")
        versions.setdefault((line["method"], line["package"]), set()).add(line["version"])
    for (method, _), each in versions.items():
        if len(each) > 1:
            found.append(f"{method} has lines of the versions {', '.join(sorted(each))}")
    return found


def _wrong(line: Line, cells: dict[tuple[str, str], Cell]) -> list[str]:
    cell = cells.get((line["set"], line["labels"]))
    if cell is None:
        return [f"there is no cell {line['set']!r} with {line['labels']!r} labels"]
    found = []
    splits = [str(k) for k in range(len(cell.splits))]
    if line["split"] not in splits:
        found.append(f"split is {line['split']!r}; {line['set']} has {', '.join(splits)}")
    elif line["draw"] != cell.draw(int(line["split"])):
        found.append(f"draw is {line['draw']!r}: these are other rows than the protocol's")
    if not line["method"]:
        found.append("method is empty")
    if not line["status"].startswith(_ENDS):
        found.append(f"status is {line['status']!r}; it is one of {', '.join(_ENDS)}")
    needed = "macro_f1" if cell.y.ndim == 2 else "accuracy"
    if line["status"] == "ok" and not line[needed]:
        found.append(f"status is ok, and {needed} is empty")
    for name, (least, most) in _RANGES.items():
        if line[name] and not _between(line[name], least, most):
            found.append(f"{name} is {line[name]!r}; it is from {least:g} to {most:g}")
    try:
        datetime.date.fromisoformat(line["measured"])
    except ValueError:
        found.append(f"measured is {line['measured']!r}; a day is written as 2026-01-31")
    return found


def _between(text: str, least: float, most: float) -> bool:
    try:
        return least <= float(text) <= most
    except ValueError:
        return False

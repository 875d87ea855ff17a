"""From the file of results to tables and pictures.

A cell's means are over the splits that every method has finished there, so that all are compared on
the same ones. A method with fewer than half of the splits does not hold the others back: its mean
is over the splits that it has, and the table says so. Time and memory are those of fits that
worked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from _common import RESULTS, ROOT

from . import plot, results, tables
from .cells import KIND_OF, KINDS
from .methods import METHODS, NAMES, ROW_KINDS

SCORES = ("accuracy", "balanced_accuracy", "macro_f1", "ranking_loss")
# Methods that do some cells alone: two classes, graphs, or texts.
_SOME = {name for name, each in METHODS.items() if each.two_classes or each.kinds != ROW_KINDS}
_OWN = "own"  # the run of the stored file; methods of others have their run behind the name


def write(folder: Path, *, store: bool) -> str:
    """Return a report of a folder's results; with `store`, they go into the page's file."""
    lines = results.read(folder / "results.csv")
    if not lines:
        return "no results yet"
    if store:
        file = RESULTS / "leaderboard.csv"
        lines = whole(results.merged(results.read(file), lines))
        if mixed := _mixed(lines):
            raise SystemExit(f"lines of several versions cannot be stored: {mixed}")
        order = {name: place for place, name in enumerate(KIND_OF)}
        lines.sort(key=lambda line: (order[line["set"]], int(line["labels"]), int(line["split"])))
        results.write(file, lines)
        draw(ROOT / "docs", frame(lines))
    found = frame(lines)
    sections = [f"## {kind}\n\n{tables.across(own)}" for kind, own in by_kind(found).items()]
    return "\n\n".join(["## All cells", tables.board(single(found)), *sections])


def whole(lines: Sequence[results.Line]) -> list[results.Line]:
    """Return the lines of draws that have every method of their kind but those of two classes.

    A draw that a stopped run left with some of its methods would bend ranks.
    """
    draws: dict[tuple[str, str, str], set[str]] = {}
    every: dict[bool, set[str]] = {}
    for line in lines:
        if line["run"] == _OWN and line["method"] not in _SOME:
            draws.setdefault((line["set"], line["labels"], line["split"]), set()).add(
                line["method"]
            )
            every.setdefault(KIND_OF[line["set"]] == "several labels", set()).add(line["method"])
    kept = {
        draw
        for draw, found in draws.items()
        if found >= every[KIND_OF[draw[0]] == "several labels"]
    }
    return [line for line in lines if (line["set"], line["labels"], line["split"]) in kept]


def _mixed(lines: Sequence[results.Line]) -> str:
    """Return the methods that have lines of several versions."""
    versions: dict[str, set[str]] = {}
    for line in lines:
        versions.setdefault(line["method"], set()).add(line["version"])
    return ", ".join(name for name, found in versions.items() if len(found) > 1)


def frame(lines: Sequence[results.Line]) -> pd.DataFrame:
    """Return one line per cell and method."""
    every = pd.DataFrame(lines)
    numbers = [*SCORES, "cpu_seconds", "seconds", "peak_mb", "labels", "split"]
    every[numbers] = every[numbers].apply(pd.to_numeric)
    others = every["run"] != _OWN
    title = every["method"].map(NAMES).fillna(every["method"])
    every["method"] = title.where(~others, title + " (" + every["run"] + ")")
    return tables.frame_of(summarised(compared(every)))


def by_kind(found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the lines of each kind of set, of which there are some."""
    kinds = found["set"].map(KIND_OF)
    return {kind: found[kinds == kind] for kind in KINDS if (kinds == kind).any()}


def single(found: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of cells with one label per row."""
    return found[found["set"].map(KIND_OF) != "several labels"]


def compared(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the splits that all methods of their cell have."""
    parts = []
    for _, cell in frame.groupby(["set", "labels"], sort=False):
        done = cell.groupby("method")["split"].nunique()
        regular = done.index[2 * done >= done.max()]
        counts = cell[cell["method"].isin(regular)].groupby("split")["method"].nunique()
        kept = counts.index[counts == len(regular)]
        chosen = cell["split"].isin(kept) | ~cell["method"].isin(regular)
        parts.append(cell[chosen].assign(splits=len(kept)))
    return pd.concat(parts)


def summarised(common: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one line per cell and method: what the tables are made of."""
    lines = []
    for (name, labels, method), own in common.groupby(["set", "labels", "method"], sort=False):
        worked = own[own["status"] == "ok"]
        line = {"set": name, "labels": labels, "method": method, "splits": own["splits"].iloc[0]}
        line |= {"tried": len(own), "worked": len(worked), "status": "ok"}
        if worked.empty:
            status = own["status"].iloc[0]
            line["status"] = "failed" if status.startswith("error") else status
        for column in SCORES:
            line[column] = worked[column].mean()
            line[f"{column}_sd"] = worked[column].std(ddof=1)
        for column in ("seconds", "cpu_seconds", "peak_mb"):
            line[column] = worked[column].median()
        lines.append(line)
    return lines


def draw(folder: Path, found: pd.DataFrame) -> None:
    """Draw the pictures of the page."""
    own = single(found)
    plot.ranks_and_costs(tables.standings(own), folder / "leaderboard.png")
    plot.cells(tables.wide(own, "accuracy"), folder / "leaderboard_cells.png")

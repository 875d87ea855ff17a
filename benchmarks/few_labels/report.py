"""Tables of the results: accuracy, ranks, differences, time and memory.

A cell's means are over the splits that every method has finished there, so that all are compared on
the same ones. A method with fewer than half of the splits does not hold the others back: its mean
is over the splits that it has, and the table says so. "±" is the standard deviation over splits. A
method without a result in a cell has the reason there, and one with some results their number.
Ranks are among the methods tried on a cell; one that failed comes last. Time and memory are those
of fits that worked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from _common import store, table

from . import tables
from .cells import SETS
from .methods import NAMES
from .plot import draw

OURS = NAMES["ours"]
RIVALS = (NAMES["ours_cv"], NAMES["forest"], NAMES["spreading"], tables.BASELINE)


def read(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a results file, the last one of each fit."""
    lines = file.read_text().splitlines() if file.exists() else []
    rows = {}
    for row in map(json.loads, lines):
        rows[row["set"], row["n_labels"], row["split"], row["method"]] = row
    return list(rows.values())


def write(folder: Path, methods: list[str], sets: list[str], *, keep: bool) -> str:
    """Write report.md, results.csv and few_labels.png; return the report.

    With `keep` the results also go into benchmarks/results, which the pages show.
    """
    rows = [
        row
        for row in read(folder / "results.jsonl")
        if row["method"] in methods and row["set"] in sets
    ]
    if not rows:
        return "no results yet"
    frame = pd.DataFrame(rows).replace({"method": NAMES})
    frame = frame.sort_values(
        ["set", "n_labels", "method", "split"],
        key=lambda c: c.map(_order(c.name)) if c.name in ("set", "method") else c,
    )
    frame.to_csv(folder / "results.csv", index=False)
    common = compared(frame)
    lines = summarised(common)
    if keep:
        store("few_labels", lines, tables.KEYS)
    draw(tables.wide(tables.frame_of(lines), "accuracy") / 100, folder / "few_labels.png")
    text = "\n\n".join(_sections(common, lines)) + "\n"
    (folder / "report.md").write_text(text)
    return text


def compared(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the splits that all methods of their cell have; add the cell's name."""
    parts = []
    for (name, n_labels), cell in frame.groupby(["set", "n_labels"], sort=False):
        done = cell.groupby("method")["split"].nunique()
        regular = done.index[2 * done >= done.max()]
        counts = cell[cell["method"].isin(regular)].groupby("split")["method"].nunique()
        kept = counts.index[counts == len(regular)]
        chosen = cell["split"].isin(kept) | ~cell["method"].isin(regular)
        parts.append(cell[chosen].assign(cell=f"{name} {n_labels}", splits=len(kept)))
    return pd.concat(parts)


def summarised(common: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one line per cell and method: what the tables and the pages are made of."""
    lines = []
    for (name, n_labels, method), own in common.groupby(["set", "n_labels", "method"], sort=False):
        worked = own[own["status"] == "ok"]
        line = {"set": name, "labels": n_labels, "method": method, "splits": own["splits"].iloc[0]}
        line |= {"tried": len(own), "worked": len(worked), "status": "ok"}
        if worked.empty:
            status = own["status"].iloc[0]
            line["status"] = "failed" if status.startswith("error") else status
        for column in ("accuracy", "balanced_accuracy"):
            line[column] = round(100 * worked[column].mean(), 3)
            line[f"{column}_sd"] = round(100 * worked[column].std(ddof=1), 3)
        for column in ("seconds", "cpu_seconds", "peak_mb"):
            line[column] = float(f"{worked[column].median():.4g}")
        scores = zip(worked["split"], 100 * worked["accuracy"], strict=True)
        line["scores"] = " ".join(f"{split}:{score:.3f}" for split, score in scores)
        lines.append({key: "" if value != value else value for key, value in line.items()})
    return lines


def _sections(common: pd.DataFrame, lines: list[dict[str, Any]]) -> list[str]:
    frame = tables.frame_of(lines)
    sections = [
        "## Accuracy on the unlabelled rows, %",
        tables.spread(frame, "accuracy"),
        "## Balanced accuracy, %",
        tables.spread(frame, "balanced_accuracy"),
        "## Over all cells",
        tables.summary(frame),
    ]
    for rival in RIVALS:
        if {OURS, rival} <= set(frame["method"]):
            sections += [f"## {OURS} minus {rival}, points", _paired(common, rival)]
    for column, title in (
        ("seconds", "Wall seconds"),
        ("cpu_seconds", "CPU seconds"),
        ("peak_mb", "Peak memory in MB"),
    ):
        sections += [f"## {title} of a fit with its tuning, median over splits"]
        sections += [tables.medians(frame, column)]
    return sections


def _paired(common: pd.DataFrame, rival: str) -> str:
    lines = []
    for cell, rows in common[common["status"] == "ok"].groupby("cell", sort=False):
        wide = 100 * rows.pivot_table(index="split", columns="method", values="accuracy")
        if not {OURS, rival} <= set(wide):
            continue
        lead = (wide[OURS] - wide[rival]).dropna()
        error = lead.std(ddof=1) / np.sqrt(len(lead)) if len(lead) > 1 else np.nan
        lines.append([cell, str(len(lead)), f"{lead.mean():+.2f}", f"{error:.2f}"])
    return table(["set, labels", "splits", "difference", "standard error"], lines)


def _order(column: str) -> dict[str, int]:
    return {name: i for i, name in enumerate(SETS if column == "set" else NAMES.values())}

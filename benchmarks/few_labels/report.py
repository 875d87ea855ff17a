"""Tables of the results: accuracy, ranks, differences, time and memory.

A cell's means are over the splits that every method has finished there, so that all are compared on
the same ones. A method with fewer than half of the splits does not hold the others back: its mean
is over what it has, and says so. "±" is the standard deviation over splits. A method without any
result there says why; one with some says how many. A rank is that among the methods tried on a
cell; one that failed comes last. Time and memory are those of fits that worked.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from _common import table

from .cells import SETS
from .methods import NAMES
from .plot import draw

BASELINE = NAMES["svc"]
OURS = NAMES["ours_cv"]
RIVALS = (NAMES["spreading"], BASELINE)


def read(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a results file, the last one of each fit."""
    lines = file.read_text().splitlines() if file.exists() else []
    rows = {}
    for row in map(json.loads, lines):
        rows[row["set"], row["n_labels"], row["split"], row["method"]] = row
    return list(rows.values())


def write(folder: Path, methods: list[str], sets: list[str]) -> str:
    """Write report.md, results.csv and few_labels.png; return the report."""
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
    accuracy = means(common, "accuracy")
    draw(accuracy, folder / "few_labels.png")
    text = "\n\n".join(_sections(common, accuracy)) + "\n"
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


def means(common: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column's mean over the splits that worked: cells x methods."""
    worked = common[common["status"] == "ok"]
    answer = worked.pivot_table(index="cell", columns="method", values=column, sort=False)
    # A cell in which everything failed stays in the tables.
    present = [m for m in NAMES.values() if m in set(common["method"])]
    return answer.reindex(index=common["cell"].unique(), columns=present)


def _sections(common: pd.DataFrame, accuracy: pd.DataFrame) -> list[str]:
    sections = [
        "## Accuracy on the unlabelled rows, %",
        _spread(common, "accuracy", accuracy),
        "## Balanced accuracy, %",
        _spread(common, "balanced_accuracy", means(common, "balanced_accuracy")),
        "## Over all cells",
        _summary(common, accuracy),
    ]
    for rival in RIVALS:
        if OURS in accuracy and rival in accuracy:
            sections += [f"## {OURS} minus {rival}, points", _paired(common, rival)]
    for column, title in (
        ("seconds", "Wall seconds"),
        ("cpu_seconds", "CPU seconds"),
        ("peak_mb", "Peak memory in MB"),
    ):
        sections += [f"## {title} of a fit with its tuning, median over splits"]
        sections += [_medians(common, column, accuracy)]
    return sections


def _spread(common: pd.DataFrame, column: str, values: pd.DataFrame) -> str:
    lines = []
    for cell in values.index:
        rows = common[common["cell"] == cell]
        top = values.loc[cell].max()
        line = [cell, str(rows["splits"].iloc[0])]
        for method in values.columns:
            own = rows[rows["method"] == method]
            line.append(_entry(own, column, values.loc[cell, method] >= top - 1e-9))
        lines.append(line)
    return table(["set, labels", "splits", *values.columns], lines)


def _entry(own: pd.DataFrame, column: str, is_best: bool) -> str:
    worked = own.loc[own["status"] == "ok", column] * 100
    if worked.empty:
        return _why_not(own)
    text = f"{worked.mean():.1f}"
    text = f"**{text}**" if is_best else text
    if len(worked) > 1:
        text += f" ± {worked.std(ddof=1):.1f}"
    if len(worked) < len(own):
        return f"{text} ({len(worked)} of {len(own)})"
    return text if len(own) == own["splits"].iloc[0] else f"{text} (splits: {len(own)})"


def _summary(common: pd.DataFrame, accuracy: pd.DataFrame) -> str:
    tried = common.pivot_table(index="cell", columns="method", values="split", aggfunc="count")
    tried = tried.reindex(index=accuracy.index, columns=accuracy.columns).notna()
    ranks = accuracy.fillna(-1).where(tried).rank(axis=1, ascending=False).mean()
    lines = []
    for method in accuracy.columns:
        line = [method, f"{ranks[method]:.2f}", str(accuracy[method].notna().sum())]
        if BASELINE in accuracy:
            lead = (100 * (accuracy[method] - accuracy[BASELINE])).dropna()
            line += (
                ["-", "-"]
                if lead.empty
                else [f"{lead.mean():+.1f}", f"{lead.min():+.1f} ({lead.idxmin()})"]
            )
        lines.append(line)
    heads = ["method", "mean rank among those tried", "cells with results"]
    heads += [f"mean minus {BASELINE}", f"worst minus {BASELINE}"] * (BASELINE in accuracy)
    return table(heads, lines)


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


def _medians(common: pd.DataFrame, column: str, accuracy: pd.DataFrame) -> str:
    lines = []
    for cell in accuracy.index:
        rows = common[common["cell"] == cell]
        own = (rows[rows["method"] == method] for method in accuracy.columns)
        lines.append([cell, *(_median(part, column) for part in own)])
    return table(["set, labels", *accuracy.columns], lines)


def _median(own: pd.DataFrame, column: str) -> str:
    worked = own.loc[own["status"] == "ok", column]
    if worked.empty:
        return _why_not(own)
    value = worked.median()
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _why_not(own: pd.DataFrame) -> str:
    if own.empty:
        return "-"
    status = own["status"].iloc[0]
    return "failed" if status.startswith("error") else status


def _order(column: str) -> dict[str, int]:
    return {name: i for i, name in enumerate(SETS if column == "set" else NAMES.values())}

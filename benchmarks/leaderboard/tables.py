"""The tables of the leaderboard, from one line per cell and method.

A line has means and standard deviations over splits in %, and medians of seconds and memory.
"tried" counts the method's splits, "worked" those with a result, "splits" those that the methods
are compared on. What has no result has its reason as "status".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from _common import table

from .methods import GROUPS, METHODS, NAMES

BASELINE = NAMES["svc"]
ALONE = [each.title for each in METHODS.values() if each.group == GROUPS[0]]
OURS = [each.title for each in METHODS.values() if each.group == GROUPS[2]]
GROUP_OF = {each.title: each.group for each in METHODS.values()}
_MOST = 0.9  # of all cells: a method with fewer has no part in the ranks of the others


def frame_of(lines: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return lines as a frame: numbers are numbers, and every line knows its cell."""
    frame = pd.DataFrame(lines)
    for name in frame.columns.difference(["set", "method", "status", "scores"]):
        frame[name] = pd.to_numeric(frame[name])
    return frame.assign(cell=frame["set"] + " " + frame["labels"].astype(str))


def wide(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column as cells x methods, those of others last."""
    there = list(dict.fromkeys(frame["method"]))
    known = [name for name in dict.fromkeys(NAMES.values()) if name in there]
    values = frame.pivot(index="cell", columns="method", values=column)
    others = [name for name in there if name not in known]
    return values.reindex(index=frame["cell"].unique(), columns=[*known, *others])


def spread(frame: pd.DataFrame, column: str) -> str:
    """Return means with their deviations; the best of a cell is bold."""
    values = wide(frame, column)
    lines = []
    for cell, own in frame.groupby("cell", sort=False):
        entries = {row["method"]: row for row in own.to_dict("records")}
        line = [cell, str(own["splits"].iloc[0])]
        for method in values.columns:
            is_best = values.loc[cell, method] >= values.loc[cell].max() - 1e-9
            line.append(_entry(entries.get(method), column, is_best))
        lines.append(line)
    return table(["set, labels", "splits", *values.columns], lines)


def across(frame: pd.DataFrame, column: str = "accuracy") -> str:
    """Return the same with methods down and cells across, without deviations."""
    values, status = wide(frame, column).T, wide(frame, "status").T
    best = values.max(axis=0)
    lines = []
    for method in values.index:
        line = [method]
        for cell in values.columns:
            value = values.loc[method, cell]
            text = f"{value:.1f}" if value < best[cell] - 1e-9 else f"**{value:.1f}**"
            line.append(text if np.isfinite(value) else _missing(status.loc[method, cell]))
        lines.append(line)
    return table(["method", *values.columns], lines)


def _missing(status: Any) -> str:
    return "-" if pd.isna(status) or status == "ok" else str(status)


def _entry(row: dict[str, Any] | None, column: str, is_best: bool) -> str:
    if row is None:
        return "-"
    if not row["worked"]:
        return str(row["status"])
    text = f"**{row[column]:.1f}**" if is_best else f"{row[column]:.1f}"
    if row["worked"] > 1:
        text += f" ± {row[column + '_sd']:.1f}"
    if row["worked"] < row["tried"]:
        return f"{text} ({row['worked']} of {row['tried']})"
    return text if row["tried"] == row["splits"] else f"{text} (splits: {row['tried']})"


def ranks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return every method's mean rank and how far it is from the baseline.

    A rank is that among the methods tried on a cell; one that failed comes last.
    """
    accuracy, tried = wide(frame, "accuracy"), wide(frame, "tried").notna()
    rank = accuracy.fillna(-1).where(tried).rank(axis=1, ascending=False).mean()
    answer = pd.DataFrame({"rank": rank, "cells": tried.sum()})
    if BASELINE in accuracy:
        lead = accuracy.sub(accuracy[BASELINE], axis=0)
        lead = lead.loc[:, lead.notna().any()]
        answer["gain"], answer["worst"] = lead.mean(), lead.min()
        answer["worst_cell"] = lead.idxmin()
    return answer


def summary(frame: pd.DataFrame) -> str:
    """Return ranks and distances from the baseline over all cells."""
    found = ranks(frame)
    heads, lines = ["method", "mean rank", "cells"], []
    if "gain" in found:
        heads += [f"mean minus {BASELINE}", f"worst minus {BASELINE}"]
    for method, row in found.iterrows():
        line = [method, f"{row['rank']:.2f}", str(row["cells"])]
        if "gain" in found:
            missing = pd.isna(row["gain"])
            worst = "-" if missing else f"{row['worst']:+.1f} ({row['worst_cell']})"
            line += ["-" if missing else f"{row['gain']:+.1f}", worst]
        lines.append(line)
    return table(heads, lines)


def standings(frame: pd.DataFrame, column: str = "accuracy") -> pd.DataFrame:
    """Return the board: ranks, wins, distances from the best model of labels alone, and costs.

    Ranks count the methods that were tried on nearly all cells, on the cells where all of these
    were. Every other method gets the rank that it would have among them, on its own cells. What
    failed comes last. The best model of labels alone is that of each cell, known in hindsight.
    """
    values, tried = wide(frame, column), wide(frame, "tried").notna()
    full = tried.columns[tried.mean() >= _MOST]
    common = tried[full].all(axis=1)
    usual = values[[name for name in ALONE if name in full]].max(axis=1)
    costs = {name: wide(frame, name).median() for name in ("cpu_seconds", "peak_mb")}
    lines = {}
    for method in values:
        cells = common & tried[method]
        among = values.loc[cells, [*full.difference([method]), method]].fillna(-1)
        rank = among.rank(axis=1, ascending=False)[method]
        lead = (values[method] - usual)[cells].dropna()
        lines[method] = {
            "main": method in full,
            "rank": rank.mean(),
            "wins": int((among[method] >= among.max(axis=1) - 1e-9).sum()),
            "cells": int(cells.sum()),
            "failed": int((tried[method] & values[method].isna())[cells].sum()),
            # A mean without the cells that failed could not be compared with the others.
            "accuracy": values.loc[cells, method].mean(skipna=False),
            "gain": lead.mean() if len(lead) else np.nan,
            "worst": f"{lead.min():+.1f} ({lead.idxmin()})" if len(lead) else "-",
            **{name: found[method] for name, found in costs.items()},
        }
    found = pd.DataFrame(lines).T.infer_objects()
    return found.sort_values(["main", "rank"], ascending=[False, True])


def board(frame: pd.DataFrame) -> str:
    """Return the standings as a table."""
    lines = []
    for method, row in standings(frame).iterrows():
        if not row["cells"]:
            continue
        lines.append(
            [
                method,
                GROUP_OF.get(method, "not said"),
                "-" if pd.isna(row["accuracy"]) else f"{row['accuracy']:.1f}",
                f"{row['rank']:.2f}",
                _median(row["cpu_seconds"]),
                _median(row["peak_mb"]),
                str(row["wins"]),
                str(row["cells"]),
                str(row["failed"] or ""),
                "-" if pd.isna(row["gain"]) else f"{row['gain']:+.1f}",
                row["worst"],
            ]
        )
    heads = ["method", "learns from", "mean accuracy", "mean rank", "CPU s", "MB", "wins", "cells"]
    return table([*heads, "failed", "mean lead", "worst lead"], lines)


def medians(frame: pd.DataFrame, column: str) -> str:
    """Return medians over splits."""
    values, status = wide(frame, column), wide(frame, "status")
    lines = [
        [
            cell,
            *(
                _median(values.loc[cell, m])
                if np.isfinite(values.loc[cell, m])
                else _missing(status.loc[cell, m])
                for m in values.columns
            ),
        ]
        for cell in values.index
    ]
    return table(["set, labels", *values.columns], lines)


def _median(value: float) -> str:
    if not np.isfinite(value):
        return "-"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"

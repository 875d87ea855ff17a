"""The tables of few_labels, from one line per cell and method.

A line has the mean and the standard deviation over splits in %, medians of seconds and memory, and
in "scores" the accuracy of every split (older lines have none).
"tried" counts the method's splits, "worked" those with a result, "splits" those that the methods
are compared on. What has no result has its reason as "status".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from _common import table

from .methods import NAMES

BASELINE = NAMES["svc"]
KEYS = ("set", "labels", "method")
WITHOUT_CLUSTERS = ("australian", "svmguide3", "a1a", "mushrooms", "ijcnn1", "cod-rna")


def frame_of(lines: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return lines as a frame: numbers are numbers, and every line knows its cell."""
    frame = pd.DataFrame(lines)
    for name in frame.columns.difference(["set", "method", "status", "scores"]):
        frame[name] = pd.to_numeric(frame[name])
    return frame.assign(cell=frame["set"] + " " + frame["labels"].astype(str))


def wide(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column as cells x methods."""
    present = [name for name in NAMES.values() if name in set(frame["method"])]
    values = frame.pivot(index="cell", columns="method", values=column)
    return values.reindex(index=frame["cell"].unique(), columns=present)


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


def beside(frame: pd.DataFrame, methods: Sequence[str]) -> str:
    """Return how far methods are from the baseline, for cells where one of them was run."""
    accuracy = wide(frame, "accuracy")
    methods = [name for name in methods if name in accuracy]
    lead = accuracy.sub(accuracy[BASELINE], axis=0)[methods].dropna(how="all")
    lines = [
        [cell, *("-" if np.isnan(v) else f"{v:+.1f}" for v in row)]
        for cell, row in zip(lead.index, lead.to_numpy(), strict=True)
    ]
    return table(["set, labels", *(f"{name} minus {BASELINE}" for name in methods)], lines)


def medians(frame: pd.DataFrame, column: str) -> str:
    """Return medians over splits."""
    values, status = wide(frame, column), wide(frame, "status")
    lines = [
        [cell, *(_median(values.loc[cell, m], status.loc[cell, m]) for m in values.columns)]
        for cell in values.index
    ]
    return table(["set, labels", *values.columns], lines)


def _median(value: float, status: Any) -> str:
    if np.isfinite(value):
        return f"{value:.3g}" if value < 100 else f"{value:.0f}"
    return "-" if pd.isna(status) else str(status)

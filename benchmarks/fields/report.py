"""Tables of what was run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fields.methods import BASES
from fields.running import read


def mean(rows: list[dict[str, Any]], name: str) -> float:
    return float(np.mean([row.get(name, np.nan) for row in rows]))


def report(file: Path) -> None:
    rows = [row for row in read(file) if row["set"] != "growth"]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["set"], row["n"], row["method"]), []).append(row)
    report_main({name: group for name, group in groups.items() if name[2] not in BASES})
    report_bases({name: group for name, group in groups.items() if name[2] in BASES})


def report_main(groups: dict[tuple[Any, ...], list[dict[str, Any]]]) -> None:
    print("| set | labels | method | hidden | test | CPU s | MB | calibration error | seeds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (name, n, method), group in groups.items():
        failed = [row["error"] for row in group if "error" in row]
        shown = [
            f"{100 * mean(group, 'hidden'):.2f}",
            f"{100 * mean(group, 'test'):.2f}",
            f"{mean(group, 'cpu'):.1f}",
            f"{mean(group, 'mb'):.0f}",
            f"{mean(group, 'ece'):.3f}",
        ]
        shown = [failed[0], "", "", "", ""] if failed else shown
        shown = ["" if text == "nan" else text for text in shown]
        print(f"| {name} | {n} | {method} | {' | '.join(shown)} | {len(group)} |")


def report_bases(groups: dict[tuple[Any, ...], list[dict[str, Any]]]) -> None:
    print("\n| set | labels | base | alone hidden / test | with a field | difference | cost |")
    print("|---|---|---|---|---|---|---|")
    differences, errors = [], []
    for (name, n, method), group in groups.items():
        group = [row for row in group if "error" not in row]
        if not group:
            continue
        h, t, bh, bt = (
            100 * mean(group, each) for each in ("hidden", "test", "base_hidden", "base_test")
        )
        times = mean(group, "cpu") / max(1e-3, mean(group, "cpu_base"))
        differences.append((h - bh, t - bt))
        errors.append(mean(group, "ece"))
        print(
            f"| {name} | {n} | {method} | {bh:.1f} / {bt:.1f} | {h:.1f} / {t:.1f} | "
            f"{h - bh:+.1f} / {t - bt:+.1f} | {times:.1f} x |"
        )
    if differences:
        hidden, test = np.array(differences).T
        low = [f"{int((each < -0.5).sum())}" for each in (hidden, test)]
        print(
            f"\n{len(hidden)} rows. More than 0.5 points below the base: {low[0]} on hidden, "
            f"{low[1]} on test rows. Least differences: {hidden.min():+.1f}, {test.min():+.1f}. "
            f"Means: {hidden.mean():+.1f}, {test.mean():+.1f}. Mean calibration error: "
            f"{np.mean(errors):.3f}."
        )

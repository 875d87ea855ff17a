"""Tables of what was run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from _common import store
from fields import tables
from fields.methods import BASES
from fields.running import read

Groups = dict[tuple[Any, ...], list[dict[str, Any]]]
KEYS = {
    "fields_main": ("set", "labels"),
    "fields_peers": ("set", "labels"),
    "fields_growth": ("rows",),
}


def mean(rows: list[dict[str, Any]], name: str) -> float:
    return float(np.mean([row.get(name, np.nan) for row in rows]))


def report(file: Path, keep: bool = False) -> None:
    """Print the tables; with `keep` they go into benchmarks/results, which the pages show."""
    rows = read(file)
    groups: Groups = {}
    for row in rows:
        if row["set"] != "growth":
            groups.setdefault((row["set"], row["n"], row["method"]), []).append(row)
    lines = {"fields_main": main_lines(groups), "fields_peers": peer_lines(groups)}
    lines["fields_growth"], bases = growth_lines(rows), base_lines(groups)
    report_main({name: group for name, group in groups.items() if name[2] not in BASES})
    print(f"\n{tables.main(lines['fields_main'])}\n\n{tables.peers(lines['fields_peers'])}")
    for many in (False, True):
        if any((line["set"] in tables.MANY) == many for line in bases):
            print(f"\n{tables.bases(bases, many=many)}\n\n{tables.gains(bases, many=many)}")
    print(f"\n{tables.growth(lines['fields_growth'])}")
    if keep:
        for name, own in lines.items():
            store(name, own, KEYS[name])


def report_main(groups: Groups) -> None:
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


def main_lines(groups: Groups) -> list[dict[str, str]]:
    """Return our classifier beside the tuned SVC: means over draws."""
    lines = []
    for (name, n, method), own in groups.items():
        if method != "own" or any("error" in row for row in own):
            continue
        svc = [row for row in groups.get((name, n, "tuned svc"), []) if "error" not in row]
        lines.append(
            {
                "set": name,
                "rows": f"{mean(own, 'rows'):.0f}",
                "labels": f"{mean(own, 'labels'):.0f}",
                "hidden": f"{100 * mean(own, 'hidden'):.2f}",
                "test": f"{100 * mean(own, 'test'):.2f}",
                "cpu_seconds": f"{mean(own, 'cpu'):.1f}",
                "mb": f"{mean(own, 'mb'):.0f}",
                "calibration_error": f"{mean(own, 'ece'):.3f}",
                "svc_test": f"{100 * mean(svc, 'test'):.2f}" if svc else "",
                "svc_cpu_seconds": f"{mean(svc, 'cpu'):.0f}" if svc else "",
            }
        )
    return lines


def peer_lines(groups: Groups) -> list[dict[str, str]]:
    """Return what the peers reach on the hidden rows of the first draw."""
    lines = []
    for (name, n, method), own in groups.items():
        if method == "own" and "error" not in own[0]:
            beside = {each: groups.get((name, n, each), [None])[0] for each in tables.PEERS}
            labels = {"set": name, "labels": str(own[0]["labels"])}
            lines.append(labels | {each: _reached(row) for each, row in beside.items()})
    return lines


def _reached(row: dict[str, Any] | None) -> str:
    if row is None:
        return "not run"
    return row.get("error") or f"{100 * row['hidden']:.1f} in {row['cpu']:.0f} s"


def base_lines(groups: Groups) -> list[dict[str, str]]:
    """Return other models alone and as `estimator`: means over draws."""
    lines = []
    for (name, n, method), group in groups.items():
        own = [row for row in group if "error" not in row]
        if method not in BASES or not own:
            continue
        values = {each: 100 * mean(own, each) for each in ("base_hidden", "base_test")}
        values |= {each: 100 * mean(own, each) for each in ("hidden", "test")}
        line = {"set": name, "labels": n, "base": method}
        line |= {each: f"{value:.1f}" for each, value in values.items()}
        for each in ("hidden", "test"):
            line[f"{each}_gain"] = f"{values[each] - values[f'base_{each}']:+.1f}"
        line["cost"] = f"{mean(own, 'cpu') / max(1e-3, mean(own, 'cpu_base')):.1f}"
        lines.append(line)
    return lines


def growth_lines(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return CPU seconds by the number of rows."""
    titles = {
        "sheet": ("a curved sheet with noise", "4 dimensions"),
        "blobs": ("Gaussian blobs that overlap", "20 dimensions"),
    }
    return [
        {
            "rows": titles[row["kind"]][0],
            "inside": titles[row["kind"]][1],
            "cpu_seconds": ", ".join(f"{each:.1f}" for each in row["cpu"]),
            "exponent": f"{row['exponent']:.2f}",
        }
        for row in rows
        if row["set"] == "growth" and "exponent" in row
    ]

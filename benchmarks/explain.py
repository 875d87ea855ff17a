"""Do the labels that speak most for an answer decide it? They are deleted, and a model refitted.

    python benchmarks/explain.py [--quick] [--draws 4] [--jobs 16] [--sets usps,g50c] [--out DIR]
    python benchmarks/explain.py --draws 4 --report --store && make tables         # the page

Of 250 rows of a set 40 have a label, at random. Eight rows without a label are explained. They are
drawn from that third whose answers are least sure, because the others hardly ever change. For each
of them, five labels are deleted, and a new model is fitted to the others. A figure is the share of
rows whose answer changes, in %. Labels decide an answer if it changes without them.

=====================  =============================================================
explained              the five that `explain` says speak most for the answer
nearest of the class   the five labelled rows of the answer's class nearest to the row
nearest                the five nearest of any class
random                 any five; four draws, and each tells of all explained rows
=====================  =============================================================

Every draw adds one line to DIR/explain.jsonl at once, and what is there is not run again.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from _common import Figure, script, store, table
from _draws import OPTIONS, loaded, measure, order_of
from graphkm import SemiSupervisedClassifier
from graphkm.inspection import explain

CELLS = {"g50c": 40, "digit1": 40, "usps": 40, "australian": 40}
"""The sets, and how many labels are drawn."""

ROWS, EXPLAINED, DELETED, RANDOM = 250, 8, 5, 4
WAYS = ("explained", "nearest of the class", "nearest", "random")
KEYS = ("set", "labels", "way")


class Refits:
    """Answers of fits without some labels; each fit is made once."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.X, self.y = X, y
        self.made: dict[tuple[int, ...], np.ndarray] = {}

    def without(self, gone: np.ndarray) -> np.ndarray:
        """Return the answers of all rows without these labels.

        They are the only class that is left, if there is one.
        """
        key = tuple(sorted(gone.tolist()))
        if key not in self.made:
            y = self.y.copy()
            y[gone] = -1
            left = np.unique(y[y >= 0])
            if len(left) == 1:
                self.made[key] = np.full(len(y), left[0])
            else:
                self.made[key] = fitted(self.X, y).predict(self.X)
        return self.made[key]


def fitted(X: np.ndarray, y: np.ndarray) -> SemiSupervisedClassifier:
    return SemiSupervisedClassifier(random_state=0, n_jobs=1).fit(X, y)


def nearest(why: Any, X: np.ndarray, row: int) -> np.ndarray:
    """Return the labelled rows, the nearest to a row first."""
    away = ((X[why.labeled] - X[row]) ** 2).sum(axis=1)
    return np.asarray(why.labeled[np.argsort(away, kind="stable")])


def answered(name: str, draw: int) -> dict[str, Any]:
    """Return the share of answers that change, for each way of deleting labels."""
    warnings.simplefilter("ignore")
    X, truth = loaded(name)
    order = order_of(name, draw)[:ROWS]
    X, y = np.asarray(X[order], dtype=np.float64), truth[order].copy()
    y[CELLS[name] :] = -1
    model = fitted(X, y)
    sure = model.predict_proba(X).max(axis=1)
    hidden = np.flatnonzero(y < 0)
    unsure = hidden[np.argsort(sure[hidden], kind="stable")][: len(hidden) // 3]
    rng = np.random.default_rng(draw)
    rows = rng.permutation(unsure)[:EXPLAINED]
    refits = Refits(X, y)
    by_chance = [rng.permutation(np.flatnonzero(y >= 0))[:DELETED] for _ in range(RANDOM)]
    changed: dict[str, list[bool]] = {way: [] for way in WAYS}
    for row, why in zip(rows.tolist(), explain(model, X[rows]), strict=True):
        strongest = why.labeled[np.argsort(-why.shares, kind="stable")]
        near = nearest(why, X, row)
        for way, gone in zip(WAYS, (strongest, near[y[near] == why.answer], near), strict=False):
            changed[way].append(refits.without(gone[:DELETED])[row] != why.answer)
        changed["random"] += [refits.without(gone)[row] != why.answer for gone in by_chance]
    return {way: float(np.mean(each)) for way, each in changed.items()}


def run(arguments: argparse.Namespace) -> list[Figure]:
    return report(measure("explain", answered, list(CELLS), arguments), arguments.store)


def report(kept: dict[str, list[dict[str, Any]]], keep: bool) -> list[Figure]:
    """Print the shares by set, and return how many more answers the explained labels decide."""
    cells = [
        dict(zip(KEYS, (name, CELLS[name], way), strict=True))
        | {"draws": len(own), "rows": EXPLAINED * len(own)}
        | {"changed": f"{100 * np.mean([each[way] for each in own]):.1f}"}
        for name, own in kept.items()
        for way in (WAYS if own else ())
    ]
    if not cells:
        return []
    print(table(*summary([{key: str(each[key]) for key in each} for each in cells])))
    if keep:
        store("explain", cells, KEYS)
    means = {
        way: np.mean([float(each["changed"]) for each in cells if each["way"] == way])
        for way in WAYS
    }
    return [
        Figure(f"more changed answers than {way}", float(means[WAYS[0]] - means[way]), "%", 0.0)
        for way in WAYS[1:]
    ]


def summary(rows: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and lines of the page's table."""
    found = {(row["set"], row["way"]): row for row in rows}
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        own = found[name, WAYS[0]]
        figures = [found[name, way]["changed"] for way in WAYS]
        lines.append([name, own["labels"], own["draws"], own["rows"], *figures])
    if lines:
        values = np.array([line[4:] for line in lines], dtype=float).mean(axis=0)
        lines.append(["mean", "", "", "", *(f"{each:.1f}" for each in values)])
    return ["set", "labels", "draws", "rows", *(f"{way} %" for way in WAYS)], lines


if __name__ == "__main__":
    script(run, draws={"type": int, "default": 4}, **OPTIONS)

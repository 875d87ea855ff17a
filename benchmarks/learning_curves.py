"""Whether a learning curve foretells the accuracy with more labels.

    python benchmarks/learning_curves.py [--quick] [--draws 20] [--jobs 16] [--out DIR]
    python benchmarks/learning_curves.py --draws 20 --report --store && make tables    # the page

A model learns from up to 1,000 rows, n of them labelled at random. `learning_curve` gives 80 %
intervals for 2n and for n + 100 labels. Two truths are compared with them: the accuracy of this
very draw, extended to as many labels; and the mean of these accuracies over all draws. Accuracies
are those of the rows of the fit that have no label in any of the fits. Every draw adds one line to
DIR/curves.jsonl at once, and what is there is not run again. Draws from 1,000 on are for choices
(`--first 1000`).
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from _common import Figure, script, store, table
from _draws import OPTIONS, loaded, measure, order_of
from graphkm import SemiSupervisedClassifier
from graphkm.inspection import learning_curve

CELLS = {
    "g50c": 50,
    "digit1": 50,
    "usps": 100,
    "svmguide1": 100,
    "australian": 50,
    "covtype-7": 200,
}
ROWS = 1000
KEYS = ("set", "labels", "more")


def foretold(name: str, draw: int) -> dict[str, Any]:
    """Return the intervals of one draw, and the accuracies with more labels."""
    warnings.simplefilter("ignore")
    X, y = loaded(name)
    n = CELLS[name]
    order = order_of(name, draw)[:ROWS]
    X, y = X[order], y[order]
    more = sorted({n, 100})
    hidden = np.arange(len(y)) >= n + more[-1]

    def fitted(labels: int) -> Any:
        partly = np.where(np.arange(len(y)) < labels, y, -1)
        return SemiSupervisedClassifier(random_state=draw, n_jobs=1).fit(X, partly)

    model = fitted(n)
    curve = learning_curve(model, X, more=more, random_state=draw)
    models = [model, *(fitted(n + each) for each in more)]
    return {
        "more": [0, *more],
        "low": curve.low.tolist(),
        "high": curve.high.tolist(),
        "expected": curve.expected.tolist(),
        "truth": [each.score(X[hidden], y[hidden]) for each in models],
    }


def run(arguments: argparse.Namespace) -> list[Figure]:
    return report(measure("curves", foretold, list(CELLS), arguments), arguments.store)


def cells_of(name: str, own: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how often intervals have the truth, and how wide they are."""
    low, high, truth = (np.array([each[key] for each in own]) for key in ("low", "high", "truth"))
    expected = np.array([each["expected"] for each in own])
    mean = truth.mean(axis=0)
    inside = (low <= mean) & (mean <= high), (low <= truth) & (truth <= high)
    found = []
    for place, more in enumerate(own[0]["more"]):
        figures = {
            "mean inside": inside[0][:, place].mean(),
            "draw inside": inside[1][:, place].mean(),
            "width": (high - low)[:, place].mean(),
            "truth": mean[place],
            "expected": expected[:, place].mean(),
        }
        found.append(
            dict(zip(KEYS, (name, CELLS[name], more), strict=True))
            | {"draws": len(own)}
            | {key: f"{100 * value:.1f}" for key, value in figures.items()}
        )
    return found


def report(kept: dict[str, list[dict[str, Any]]], keep: bool) -> list[Figure]:
    """Print the shares by set, and return their means over sets, for more labels."""
    cells = [cell for name, own in kept.items() if own for cell in cells_of(name, own)]
    if not cells:
        return []
    print(table(list(cells[0]), [list(each.values()) for each in cells]))
    if keep:
        store("learning_curves", cells, KEYS)
    later = [each for each in cells if each["more"]]
    return [
        Figure(
            f"{words}, per cent of intervals", float(np.mean([float(each[key]) for each in later]))
        )
        for key, words in (
            ("mean inside", "the mean accuracy of draws is inside"),
            ("draw inside", "the accuracy of this draw is inside"),
        )
    ]


def summary(rows: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and lines of the page's table."""
    heads = ["set", "labels", "more", "draws", "accuracy %", "foretold %", "width %"]
    keys = ("set", "labels", "more", "draws", "truth", "expected", "width")
    ends = ("mean inside", "draw inside")
    later = [row for row in rows if row["more"] != "0"]
    lines = [[row[key] for key in (*keys, *ends)] for row in later]
    if later:
        means = [f"{np.mean([float(row[key]) for row in later]):.1f}" for key in ends]
        lines.append(["all", *[""] * (len(keys) - 1), *means])
    return [*heads, "mean inside %", "draw inside %"], lines


if __name__ == "__main__":
    script(run, draws={"type": int, "default": 20}, **OPTIONS)

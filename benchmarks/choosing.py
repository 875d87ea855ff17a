"""How fields that follow clusters are chosen: rules compared on draws that no table reports.

    python benchmarks/choosing.py [--sets moons,a1a] [--bases own,forest] [--draws 3] [--first 0]
    python benchmarks/choosing.py --report

Drawn data of many kinds (`choosing/made.py`) and 1,500 rows of every development set, with 10,
30, 100 and 200 labels. For every model one line says how accurate it is alone on hidden rows, how
accurate with its field, and by how many standard errors the field wins on held-out labels. The
report compares hurdles. The tables of `fields.py` and `few_labels.py` are from other draws.
"""

from __future__ import annotations

import argparse
import itertools
import json
import zlib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from _common import ROOT, SkipError
from choosing.made import CLUSTERED, MADE
from fields.sets import SETS
from graphkm import GraphCorrectedClassifier
from graphkm.gkm import blend, corrected_base

BASES = {
    "own": lambda: None,
    "forest": lambda: RandomForestClassifier(random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=1000),
}
HURDLES = (0.0, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)  # standard errors
ROWS = 1500


def drawn(name: str, draw: int) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng([zlib.crc32(name.encode()), draw])
    if name in MADE:
        return MADE[name](rng)
    X, y = SETS[name]()
    rows = np.sort(rng.permutation(X.shape[0])[:ROWS])
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def labelled(y: np.ndarray, count: int, draw: int) -> np.ndarray:
    """Return labels with -1 where hidden; two of every class are known at least."""
    rng = np.random.default_rng([count, draw])
    known = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:2] for c in np.unique(y)])
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), known))
    known = np.concatenate([known, others[: max(0, count - len(known))]])
    return np.where(np.isin(np.arange(len(y)), known), y, -1)


class Remembered(blend.Blend):
    """Always takes a field, and keeps by how many standard errors it beats the model."""

    surely = 0.0

    def judge(self, folds: Any, loss: Any) -> Any:
        """Judge as ever, and take the best field."""
        judged = super().judge(folds, loss)
        best = 1 + int(np.argmin(judged.losses[1:]))
        lost = [loss(judged.outputs[place], judged.rows)[0] for place in (0, best)]
        gains = lost[0] - lost[1]
        Remembered.surely = float(gains.mean() / max(gains.std() / len(gains) ** 0.5, 1e-9))
        return replace(judged, best=best)


def measured(X: Any, y: np.ndarray, partly: np.ndarray, base: str) -> dict[str, float]:
    hidden = partly < 0
    corrected_base.Blend = Remembered
    model = GraphCorrectedClassifier(BASES[base](), random_state=0).fit(X, partly)
    return {
        "alone": float(np.mean(model.estimator_.predict(X[hidden]) == y[hidden])),
        "with": float(np.mean(model.predict(X[hidden]) == y[hidden])),
        "claimed": model.best_score_,
        "surely": Remembered.surely,
        "claimed_alone": float(model.cv_results_["mean_test_score"][0]),
        "weight": model.estimator_weight_,
    }


def report(file: Path) -> None:
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    print("| standard errors | mean | 10 labels | clustered | flat | cells < -0.5 | worst |")
    print("|---|---|---|---|---|---|---|")
    for hurdle in HURDLES:
        cells = defaultdict(list)
        for row in rows:
            gain = row["with"] - row["alone"] if row["surely"] > hurdle else 0.0
            cells[row["set"], row["labels"], row["base"]].append(100 * gain)
        mean = {cell: float(np.mean(gains)) for cell, gains in cells.items()}
        flat = [gain for cell, gain in mean.items() if kind_of(cell[0]) == "flat"]
        grouped = [gain for cell, gain in mean.items() if kind_of(cell[0]) == "clustered"]
        few = [gain for cell, gain in mean.items() if cell[1] == 10]
        judged = sorted((gain, cell) for cell, gain in mean.items() if cell[1] >= 30)
        worst = ", ".join(f"{' '.join(map(str, cell))} {gain:+.1f}" for gain, cell in judged[:5])
        below = sum(gain < -0.5 for gain, _ in judged)
        means = (np.mean(each) for each in (list(mean.values()), few, grouped, flat))
        shown = " | ".join(f"{each:+.2f}" for each in means)
        print(f"| {hurdle} | {shown} | {below} of {len(judged)} | {worst} |")
    for count in sorted({row["labels"] for row in rows}):
        own = [row for row in rows if row["labels"] == count]
        claimed, true = (100 * np.mean([row[name] for row in own]) for name in ("claimed", "with"))
        print(f"{count} labels: the sum claims {claimed:.1f} %, and has {true:.1f} %")
        for kind in ("clustered", "flat", "real"):
            every = [row for row in own if kind_of(row["set"]) == kind]
            taken = [100 * (row["with"] - row["alone"]) for row in every if row["surely"] > 1]
            share = 100 * len(taken) / max(1, len(every))
            print(f"    {kind}: taken in {share:.0f} %, with a gain of {np.mean(taken):.1f} points")


def kind_of(name: str) -> str:
    return "clustered" if name in CLUSTERED else "flat" if name in MADE else "real"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = list(MADE) + [name for name in SETS if name != "covtype-2"]
    parser.add_argument("--sets", default=",".join(names))
    parser.add_argument("--bases", default=",".join(BASES))
    parser.add_argument("--labels", default="10,30,100,200")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="the number of the first draw")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "choosing")
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    file = arguments.out / "results.jsonl"
    if arguments.report:
        report(file)
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    every = itertools.product(
        arguments.sets.split(","), range(arguments.first, arguments.first + arguments.draws)
    )
    for name, draw in every:
        try:
            X, y = drawn(name, draw)
        except SkipError as reason:
            print(f"{name} skipped: {reason}")
            continue
        for count in map(int, arguments.labels.split(",")):
            if not 2 * len(np.unique(y)) <= count <= len(y) // 4:
                continue
            partly = labelled(y, count, draw)
            for base in arguments.bases.split(","):
                cell = {"set": name, "draw": draw, "labels": count, "base": base}
                cell |= measured(X, y, partly, base)
                with file.open("a") as out:
                    out.write(json.dumps(cell) + "\n")
                print(cell, flush=True)


if __name__ == "__main__":
    main()

"""Which rows to label next: labels needed for the accuracy of 200 random ones.

    python benchmarks/active.py [--sets digit1,usps] [--model gkm|svc|forest] [--seeds 3]
    python benchmarks/active.py --report           # the table of what is there

Of every set, up to 1,000 rows may be labelled and others, up to 1,000, are for testing only. The
target is the mean accuracy on the test rows with 200 labels drawn at random. "suggest" is
`graphkm.active.suggest` from its cold start on, "uncertainty" takes the rows with the smallest
margins after ten random ones. Both add batches of ten, and the model is fitted anew after each.
The number of labels is the first at which the accuracy (mean over seeds, and over three batches in
a row) reaches the target; a method that does not get there with 240 labels counts as 250.

Results are kept in out/active/results.jsonl, and what is there is not run again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

from _common import ROOT, Figure, SkipError, script, table
from graphkm import GKMClassifier
from graphkm.active import Cover, suggest, uncertainty
from leaderboard.row_sets import SETS

FILE = ROOT / "out" / "active" / "results.jsonl"
ROWS, BATCH, TARGET, MOST, MISSED = 1000, 10, 200, 240, 250
RANDOM = (50, 100, TARGET)
MODELS = {
    "gkm": lambda: GKMClassifier(random_state=0),
    "svc": lambda: SVC(C=10.0, decision_function_shape="ovr"),
    "forest": lambda: RandomForestClassifier(200, random_state=0),
}


class Race:
    """One method on one draw of rows to label and rows to test on."""

    def __init__(self, X: Any, y: np.ndarray, seed: int, model: str, method: str) -> None:
        self.rng = np.random.default_rng(seed)
        order = self.rng.permutation(len(y))
        test = order[: min(len(y) // 3, ROWS)]
        pool = order[len(test) : len(test) + ROWS]
        self.X, self.y, self.test_X, self.test_y = X[pool], y[pool], X[test], y[test]
        self.model_name, self.method = model, method
        self.known = np.full(len(pool), -1)
        self.model: Any = None
        self.cover = Cover(self.X) if method == "suggest" else None

    def step(self, n: int) -> float:
        """Label n more rows, and return the accuracy on the test rows."""
        chosen = self.next_rows(n)
        self.known[chosen] = self.y[chosen]
        given = self.known[self.known >= 0]
        if (given == given[0]).all():  # nothing to learn from yet
            return float(np.mean(self.test_y == given[0]))
        self.model = MODELS[self.model_name]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.model_name == "gkm":
                self.model.fit(self.X, self.known)
            else:
                self.model.fit(self.X[self.known >= 0], given)
        return float(np.mean(self.model.predict(self.test_X) == self.test_y))

    def next_rows(self, n: int) -> np.ndarray:
        """Return the rows that the method labels next."""
        free = self.rng.permutation(np.flatnonzero(self.known < 0))
        if self.method == "suggest":
            return suggest(self.model, self.X, n, y=self.known, cover=self.cover)
        if self.method == "random" or self.model is None:
            return free[:n]
        return free[np.argsort(-uncertainty(self.model, self.X)[free], kind="stable")[:n]]


def at_random(X: Any, y: np.ndarray, model: str, seeds: int) -> dict[str, list[float]]:
    """Return accuracies with random labels, one per seed for each number of labels."""
    found: dict[str, list[float]] = {}
    for n in RANDOM:
        draws = range(2 * seeds if n == TARGET else seeds)
        found[str(n)] = [Race(X, y, seed, model, "random").step(n) for seed in draws]
    return found


def raced(
    X: Any, y: np.ndarray, model: str, method: str, seeds: int, target: float
) -> dict[str, Any]:
    """Return the mean curve of a method, up to where it reaches the target."""
    races = [Race(X, y, seed, model, method) for seed in range(seeds)]
    curve: list[float] = []
    while len(curve) * BATCH < MOST and (len(curve) < 12 or not reached(curve, target)):
        curve.append(float(np.mean([race.step(BATCH) for race in races])))
    return {"curve": curve, "labels": reached(curve, target) or MISSED}


def reached(curve: list[float], target: float) -> int | None:
    """Return the labels at which a curve, smoothed over three batches, reaches the target."""
    smooth = np.convolve(curve, np.ones(3) / 3, "valid") if len(curve) > 2 else np.empty(0)
    found = np.flatnonzero(smooth >= target - 1e-9)
    return BATCH * (int(found[0]) + 2) if len(found) else None


def run_set(name: str, model: str, seeds: int) -> dict[str, Any]:
    cell = SETS[name]()[0]
    by_chance = at_random(cell.X, cell.y, model, seeds)
    target = float(np.mean(by_chance[str(TARGET)]))
    found = {
        method: raced(cell.X, cell.y, model, method, seeds, target)
        for method in ("suggest", "uncertainty")
    }
    return {"set": name, "model": model, "seeds": seeds, "random": by_chance, **found}


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def report(model: str, results: list[dict[str, Any]]) -> list[Figure]:
    """Print the table of a model, and return its means as figures."""
    mine = [row for row in results if row["model"] == model]
    if not mine:
        return []
    methods, lines = ("suggest", "uncertainty"), []
    for row in mine:
        by_chance = [f"{100 * np.mean(row['random'][str(n)]):.1f}" for n in RANDOM]
        curves = [
            f"{100 * row[m]['curve'][n // BATCH - 1]:.1f}" for m in methods for n in (50, 100)
        ]
        needed = [shown(row[m]["labels"]) for m in methods]
        lines.append([row["set"], *by_chance, *curves, *needed])
    means = {m: float(np.mean([row[m]["labels"] for row in mine])) for m in methods}
    lines.append(["mean labels", *[""] * 7, *(f"{means[m]:.0f}" for m in methods)])
    head = ["set", *(f"random {n}" for n in RANDOM), "suggest 50", "100", "uncertainty 50", "100"]
    print(f"\n{model}\n" + table([*head, "suggest: labels", "uncertainty: labels"], lines))
    return [
        Figure(f"{m}, {model}: labels", means[m], "", 120 if m == "suggest" else None, False)
        for m in methods
    ]


def shown(labels: int) -> str:
    return f"> {MOST}" if labels == MISSED else str(labels)


def run(arguments: argparse.Namespace) -> list[Figure]:
    names = arguments.sets.split(",") if arguments.sets else list(SETS)
    names = ["moons"] if arguments.quick else names
    models = arguments.model.split(",")
    FILE.parent.mkdir(parents=True, exist_ok=True)
    for model in models if not arguments.report else ():
        done = {(row["set"], row["model"]) for row in rows_of(FILE)}
        for name in names:
            if (name, model) in done:
                continue
            try:
                row = run_set(name, model, 1 if arguments.quick else arguments.seeds)
            except SkipError as reason:
                print(f"{name} skipped: {reason}")
                continue
            with FILE.open("a") as out:
                out.write(json.dumps(row) + "\n")
            print(name, {m: row[m]["labels"] for m in ("suggest", "uncertainty")}, flush=True)
    return [figure for model in models for figure in report(model, rows_of(FILE))]


if __name__ == "__main__":
    script(
        run,
        sets={"help": "comma-separated; all by default"},
        model={"default": "gkm", "help": "gkm, svc or forest, comma-separated"},
        seeds={"type": int, "default": 3},
        report={"action": "store_true", "help": "only print what is there"},
    )

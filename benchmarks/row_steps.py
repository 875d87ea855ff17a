"""The front door on both sides of its thresholds, where accuracy must not jump.

    python benchmarks/row_steps.py [--jobs 16] [--draws 10] [--steps "rows-4000;labels-50"]
    python benchmarks/row_steps.py --quick

`STEPS` lists rows and labels on each side of a threshold of docs/decisions.md. One side has the
first n rows of a draw, the other the same rows and one row (or one label) more, so a difference
comes from the threshold. Made sets of 20 columns: moons with noise, blobs, a noisy linear table and
groups (`make_classification`); and the digits of scikit-learn where there are enough of them.
Printed, and kept in results/row_steps.csv with `--store`, are means over draws: the accuracy on 500
new rows on either side, the difference with its standard error, and CPU seconds of `fit` on one
thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_blobs, make_classification, make_moons

from _common import Figure, script, store, table
from _processes import forked
from graphkm import SemiSupervisedClassifier
from graphkm.judge import folds, held_out
from graphkm.members import features
from graphkm.semi import member_list

NEW = 500
FAR = 2.0  # points by which accuracy may change at a threshold

Side = tuple[int, int]  # rows, labels


def both(rows: int, labels: int, more_rows: int = 0, more_labels: int = 0) -> tuple[Side, Side]:
    return (rows, labels), (rows + more_rows, labels + more_labels)


STEPS: dict[str, tuple[Side, Side]] = {
    f"labels-{folds.FEWEST}": both(600, folds.FEWEST - 1, more_labels=1),
    f"labels-{member_list.MANY}": both(1000, member_list.MANY - 1, more_labels=1),
    f"labels-{folds._FEW}": both(1000, folds._FEW, more_labels=1),
    f"labels-{features.LARGEST}": both(1000, features.LARGEST, more_labels=1),
    f"labels-{features.LARGEST}, many rows": both(4500, features.LARGEST, more_labels=1),
    f"labels-{held_out.CHOSEN}": both(1000, held_out.CHOSEN - 1, more_labels=1),
    f"rows-{features.LANDMARKS}": both(features.LANDMARKS, 100, more_rows=1),
    f"rows-{features.MOST}": both(features.MOST, 100, more_rows=1),
    f"rows-{features.MOST}, many labels": both(features.MOST, 600, more_rows=1),
}


def moons(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_moons(n, noise=0.2, random_state=seed)
    return np.hstack([X, 0.1 * np.random.default_rng(seed).normal(size=(n, 18))]), y


def linear(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    f = X @ rng.normal(size=20)
    return X, (f + f.std() * rng.normal(size=n) > 0).astype(int)


def groups(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        n, 20, n_informative=8, n_clusters_per_class=3, flip_y=0.02, random_state=seed
    )


def blobs(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(n, 20, centers=12, cluster_std=5.0, random_state=seed)
    return X, y % 3


def digits(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[order] / 16, y[order]


KINDS: dict[str, Callable[[int, int], tuple[np.ndarray, np.ndarray]]] = {
    "moons": moons,
    "blobs": blobs,
    "linear": linear,
    "groups": groups,
    "digits": digits,
}


def measured(step: str, kind: str, side: int, seed: int) -> dict[str, Any]:
    """Return accuracy on new rows and CPU seconds of one fit."""
    warnings.simplefilter("ignore")
    most = max(rows for rows, _ in STEPS[step])
    rows, labels = STEPS[step][side]
    X, truth = KINDS[kind](most + NEW, seed)
    first = np.unique(truth[:most], return_index=True)[1]  # a label of each class
    order = np.append(first, np.setdiff1d(np.arange(len(truth)), first))
    X, truth = X[order], truth[order]
    y = np.where(np.arange(rows) < labels, truth[:rows], -1)
    start = time.process_time()
    model = SemiSupervisedClassifier(random_state=seed, n_jobs=1).fit(X[:rows], y)
    seconds = time.process_time() - start
    return {"accuracy": 100 * model.score(X[most:], truth[most:]), "cpu": seconds}


def suits(step: str, kind: str) -> bool:
    """Return whether there are enough rows; and labels, of which digits need two of each class."""
    (rows, labels), _ = STEPS[step]
    return kind != "digits" or (rows <= 1200 and labels >= 40)


def line(step: str, kind: str, found: np.ndarray) -> dict[str, str]:
    """Return the means of a step over draws; `found` is draws x sides x (accuracy, CPU)."""
    gain = found[:, 1, 0] - found[:, 0, 0]
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
    (a, s), (b, t) = found.mean(axis=0)
    return {
        "step": step,
        "kind": kind,
        "before": f"{a:.2f}",
        "after": f"{b:.2f}",
        "difference": f"{gain.mean():+.2f}",
        "standard_error": f"{error:.2f}",
        "cpu_before": f"{s:.2f}",
        "cpu_after": f"{t:.2f}",
    }


def run(arguments: argparse.Namespace) -> list[Figure]:
    steps = arguments.steps.split(";") if arguments.steps else list(STEPS)
    steps, draws = (steps[:1], 1) if arguments.quick else (steps, arguments.draws)
    cells = [(step, kind) for step in steps for kind in KINDS if suits(step, kind)]
    wanted = [(*cell, side, seed) for cell in cells for side in (0, 1) for seed in range(draws)]
    wanted.sort(key=lambda task: -STEPS[task[0]][0][0])  # the slow ones first
    found = {cell: np.full((draws, 2, 2), np.nan) for cell in cells}
    for number, answer in forked((partial(measured, *task) for task in wanted), arguments.jobs):
        step, kind, side, seed = wanted[number]
        if answer["status"] != "ok":
            raise SystemExit(answer.get("traceback", answer["status"]))
        found[step, kind][seed, side] = answer["accuracy"], answer["cpu"]
    lines = [line(*cell, own) for cell, own in found.items()]
    if arguments.store:
        store("row_steps", lines, ("step", "kind"))
    print(table(list(lines[0]), [list(each.values()) for each in lines]))
    worst = max(abs(float(each["difference"])) for each in lines)
    return [Figure("largest difference at a threshold", worst, "points", FAR, at_least=False)]


if __name__ == "__main__":
    script(
        run,
        steps={"help": "names, separated by semicolons; all by default"},
        draws={"type": int, "default": 10},
        jobs={"type": int, "default": 1, "help": "fits at once; 1 by default"},
        store={"action": "store_true", "help": "keep the results"},
    )

"""The front door on its own: its score on pure noise, and the cost of a fit.

    python benchmarks/front_door.py [--seeds 200] [--repeats 5]     # about four minutes

"noise" is the mean of `best_score_` where labels have no signal: 300 rows, 40 labels of two
classes, one draw for each seed. The right answer is 50 %. "fit" is the CPU time of a fit to 2,000
rows of 20 columns with 100 labels on one thread, the minimum of several: with all usual models, and
with one.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from _common import Figure, script
from graphkm import SemiSupervisedClassifier


def noise(seeds: int) -> tuple[float, float]:
    """Return the mean held-out accuracy on noise, in percent, and its standard error."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 5)), np.full(300, -1)
        y[rng.permutation(300)[:40]] = np.arange(40) % 2
        models = [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=seed)]
        model = SemiSupervisedClassifier(models, random_state=seed, n_jobs=1).fit(X, y)
        found.append(100 * model.best_score_)
    return float(np.mean(found)), float(np.std(found) / np.sqrt(len(found)))


def cpu_seconds(estimator: Any, repeats: int) -> float:
    """Return the least CPU time of a fit."""
    X, truth = make_classification(2000, 20, n_informative=8, random_state=0)
    y = np.where(np.arange(2000) < 100, truth, -1)
    found = []
    for seed in range(repeats):
        start = time.process_time()
        SemiSupervisedClassifier(estimator, random_state=seed, n_jobs=1).fit(X, y)
        found.append(time.process_time() - start)
    return min(found)


def run(arguments: argparse.Namespace) -> list[Figure]:
    seeds, repeats = (4, 1) if arguments.quick else (arguments.seeds, arguments.repeats)
    mean, error = noise(seeds)
    print(f"best_score_ on noise: {mean:.2f} +- {error:.2f} %, {seeds} seeds")
    return [
        Figure("noise, points from 50 %", abs(mean - 50), "points", 1.5, at_least=False),
        Figure("fit, usual models", cpu_seconds("auto", repeats), "CPU s", 4, at_least=False),
        Figure("fit, one model", cpu_seconds(LogisticRegression(), repeats), "CPU s", 1, False),
    ]


if __name__ == "__main__":
    script(
        run,
        seeds={"type": int, "default": 200, "help": "draws of noise"},
        repeats={"type": int, "default": 5, "help": "fits"},
    )

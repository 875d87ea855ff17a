"""Classes with an order: a classifier that knows the order, beside one that does not.

    python benchmarks/ordered.py [--draws 10] [--jobs 2]

Quantities are cut into five classes of equal size: the progress of diabetes (442 rows of
scikit-learn) and Friedman's first function with noise (600 rows). 30 or 100 rows are labelled
(seeds 0 to 9). The mean absolute error is that of all other rows, in classes. "unordered" is the
same classifier without `ordered`. "regressor" learns the numbers of the classes as quantities, and
rounds.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial

import numpy as np

from _common import Figure, script, table
from _processes import forked
from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor

CLASSES = 5
WAYS = ("ordered", "unordered", "regressor", "logistic")


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of one scale, and classes from 0 to 4."""
    from sklearn.datasets import load_diabetes, make_friedman1
    from sklearn.preprocessing import StandardScaler

    about = {"n_samples": 600, "noise": 2.0, "random_state": 0}
    X, t = load_diabetes(return_X_y=True) if name == "diabetes" else make_friedman1(**about)
    edges = np.quantile(t, np.arange(1, CLASSES) / CLASSES)
    return StandardScaler().fit_transform(X), np.digitize(t, edges)


def measured(name: str, labels: int, seed: int) -> dict[str, float]:
    """Return the mean absolute errors, and the accuracies, of one draw."""
    from sklearn.linear_model import LogisticRegression

    warnings.simplefilter("ignore")
    X, truth = read(name)
    rows = np.random.default_rng(seed).permutation(len(X))[:labels]
    y = np.full(len(X), -1)
    y[rows] = truth[rows]
    model = SemiSupervisedClassifier(ordered=True, random_state=0, n_jobs=1).fit(X, y)
    plain = SemiSupervisedClassifier(random_state=0, n_jobs=1).fit(X, y)
    numbers = SemiSupervisedRegressor(random_state=0, n_jobs=1)
    numbers.fit(X, np.where(y < 0, np.nan, y))
    line = LogisticRegression(max_iter=1000).fit(X[rows], truth[rows])
    answers = {
        "ordered": model.predict(X),
        "unordered": plain.predict(X),
        "regressor": np.clip(np.round(numbers.predict(X)), 0, CLASSES - 1),
        "logistic": line.predict(X),
    }
    rest = y < 0
    error = {way: float(np.abs(said - truth)[rest].mean()) for way, said in answers.items()}
    right = {f"{way} right": float((said == truth)[rest].mean()) for way, said in answers.items()}
    return error | right


def run(arguments: argparse.Namespace) -> list[Figure]:
    draws = range(1 if arguments.quick else arguments.draws)
    cells = [(name, labels) for name in ("diabetes", "friedman") for labels in (30, 100)]
    wanted = [(*cell, seed) for cell in cells for seed in draws]
    found: dict[tuple[str, int], list[dict[str, float]]] = {}
    for number, answer in forked((partial(measured, *each) for each in wanted), arguments.jobs):
        if answer["status"] != "ok":
            raise SystemExit(answer.get("traceback", answer["status"]))
        found.setdefault(wanted[number][:2], []).append(answer)
    rows = []
    for name, labels in cells:
        own = found[name, labels]
        means = [np.mean([each[way] for each in own]) for way in WAYS]
        right = [np.mean([each[f"{way} right"] for each in own]) for way in WAYS]
        shown = [f"{e:.3f} ({100 * r:.1f} %)" for e, r in zip(means, right, strict=True)]
        rows.append([f"{name}, {labels} labels", *shown])
    print(table(["mean absolute error (accuracy)", *WAYS], rows))
    return []


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 10, "help": "draws of labels"},
        jobs={"type": int, "default": 1, "help": "fits at once; 1 by default"},
    )

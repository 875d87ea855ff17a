"""The baselines: errors on official splits, time against LAMDA-SSL, and growth with the rows.

Errors are those of the unlabelled rows, with the default parameters on every set; these were
chosen on random draws of labels (docs/guide/solvers.md tells what these splits had to do with
early stopping). LAMDA-SSL runs in an environment of its
own: ``--lamda PYTHON`` names its interpreter (LAMDA-SSL 1.0.2, scikit-learn 1.2 and NumPy 1.23 go
together); without it that part is left out. Its LapSVM runs with its defaults, and with a
kNN graph like ours; the faster one counts. 80 % of the labels are hidden, as in the GKM paper.
Fits that take longer than ``--patience`` seconds count as that long.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import SelfTrainingClassifier
from threadpoolctl import threadpool_limits

from _common import Figure, hide_labels, in_turns, load_libsvm, script, seconds
from graphkm.baselines import LaplacianSVC, TransductiveSVC
from leaderboard.row_sets import SETS

TARGETS = {"digit1": 3.5, "usps": 5.2, "g50c": 6.5}
KNN = {
    "distance_function": "knn",
    "neighbor_mode": "connectivity",
    "n_neighbor": 20,
    "gamma_A": 1e-4,
    "gamma_I": 1.0,
}
LIKE_OURS: dict[str, list[dict[str, Any]]] = {"LapSVM": [{}, KNN], "TSVM": [{}]}
PEER = Path(__file__).with_name("lamda_peer.py")


def self_knn() -> SelfTrainingClassifier:
    return SelfTrainingClassifier(KNeighborsClassifier(), max_iter=None)


def error(model: Any, X: Any, y: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of unlabelled rows, in per cent, that a fit gets wrong."""
    hidden = y < 0
    return 100 * float(np.mean(model.fit(X, y).predict(X)[hidden] != truth[hidden]))


def errors(quick: bool) -> list[Figure]:
    """Return the mean errors on the official splits."""
    figures = []
    for name, target in TARGETS.items():
        cell = SETS[name]()[-1]
        splits = range(2 if quick else len(cell.splits))
        for make in (LaplacianSVC, self_knn):
            found = [error(make(), cell.X, cell.partly(s), cell.y) for s in splits]
            label = f"{make.__name__}, {name}, {cell.n_labels} labels, {len(found)} splits"
            goal = target if make is LaplacianSVC else None
            figures.append(Figure(label, float(np.mean(found)), "% wrong", goal, at_least=False))
    return figures


def paper_sets() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return rows, labels with 80 % hidden, and all labels."""
    X, y = load_libsvm("a1a.libsvm.bz2", 123)
    g50c = SETS["g50c"]()[0]
    rows = {"A1A": (X.toarray().astype(float), y), "G50C": (g50c.X, g50c.y)}
    hidden = {}
    for name, (X, y) in rows.items():
        truth = (y > 0).astype(np.int64)
        hidden[name] = (X, hide_labels(y, 0.8, np.random.default_rng(0)), truth)
    return hidden


def peer(python: str, method: str, data: tuple, repeats: int, patience: float) -> dict[str, float]:
    """Return the CPU seconds and the error of LAMDA-SSL's faster setting."""
    X, y, truth = data
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.npz"
        np.savez(file, X=X, y=y, truth=truth)
        for options in LIKE_OURS[method]:
            command = [python, PEER, method, file, json.dumps(options), str(repeats)]
            try:
                done = subprocess.run(command, capture_output=True, timeout=patience, check=True)
                answers.append(json.loads(done.stdout.decode().splitlines()[-1]))
            except subprocess.TimeoutExpired:
                answers.append({"seconds": patience, "error": float("nan")})
    return min(answers, key=lambda answer: answer["seconds"])


def against_lamda(arguments: argparse.Namespace) -> list[Figure]:
    """Return how many times faster ours are, in the same run."""
    ours: dict[str, Callable[[], Any]] = {"LapSVM": LaplacianSVC, "TSVM": TransductiveSVC}
    figures = []
    for name, (X, y, truth) in paper_sets().items():
        for method, make in ours.items():
            data, repeats = (X, y, truth), 1 if arguments.quick else 2
            theirs = peer(arguments.lamda, method, data, repeats, arguments.patience)
            (mine,) = in_turns([lambda X=X, y=y, make=make: make().fit(X, y)], 5)
            wrong = error(make(), X, y, truth)
            figures += [
                Figure(f"LAMDA-SSL {method}, {name}", theirs["seconds"], "CPU s"),
                Figure(f"LAMDA-SSL {method}, {name}, error", 100 * theirs["error"], "%"),
                Figure(f"ours, {name}", mine, "CPU s"),
                Figure(f"ours, {name}, error", wrong, "%"),
                Figure(f"{method} / ours, {name}", theirs["seconds"] / mine, "x", 20),
            ]
    return figures


def growth(quick: bool) -> list[Figure]:
    """Return the exponent of the time of a fit in the number of rows."""
    sizes = [1000, 2000, 4000] if quick else [2500, 5000, 10_000, 20_000]
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=1.5, size=(10, 20))
    figures, times = [], []
    for n in sizes:
        cluster = rng.integers(10, size=n)
        X = centres[cluster] + rng.normal(size=(n, 20))
        y = np.where(np.arange(n) < 100, cluster % 2, -1)
        times.append(seconds(lambda X=X, y=y: LaplacianSVC(solver="cg", n_jobs=1).fit(X, y)))
        figures.append(Figure(f"LaplacianSVC, {n:,} rows", times[-1], "CPU s"))
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    return [*figures, Figure("exponent of time in rows", slope, "", 2.0, at_least=False)]


def run(arguments: argparse.Namespace) -> list[Figure]:
    figures = []
    with threadpool_limits(1):
        if "errors" in arguments.parts:
            figures += errors(arguments.quick)
        if "growth" in arguments.parts:
            figures += growth(arguments.quick)
        if "lamda" in arguments.parts and arguments.lamda:
            figures += against_lamda(arguments)
    return figures


if __name__ == "__main__":
    script(
        run,
        lamda={"help": "Python of an environment with LAMDA-SSL"},
        patience={"type": float, "default": 300.0, "help": "seconds for one method of LAMDA-SSL"},
        parts={"nargs": "+", "default": ["errors", "growth", "lamda"], "help": "what to measure"},
    )

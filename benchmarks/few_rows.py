"""How the defaults do on few rows, and how often a warning says that the graph overrules labels.

    python benchmarks/few_rows.py [--draws 5] [--quick]    # 6 to 200 rows of ten sets
    python benchmarks/few_rows.py --warnings [--draws 2]   # development sets of ordinary size

Rows are drawn from ten sets, with clusters and without; every class has a label, and three rows in
ten have one. For each method: the share of given labels that its predictions agree with, and the
accuracy on the other rows, means over sets and draws. "as for many rows" is what the defaults were
before they followed the number of rows: 10 neighbours and C_graph = 1e5 / l.

With --warnings the defaults are fitted to the sets of `leaderboard`, with the labels as they are
and with a fifth of them drawn anew, and the warnings of overruled labels are counted.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from _common import Figure, SkipError, script
from graphkm import KNN, GKMClassifier, GKMClassifierCV, SemiSupervisedClassifier
from graphkm.baselines import LaplacianSVC
from graphkm.kernels import resolve_gamma
from leaderboard.row_sets import SETS

SIZES = (6, 10, 14, 20, 30, 50, 100, 200)
OVERRULED = "The graph overrules the labels"


def sources() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield rows and classes: made ones without clusters and with them, then real ones."""
    X = np.random.default_rng(0).normal(size=(3000, 4))
    yield X, (X[:, 0] + X[:, 1] > 0).astype(int)
    yield X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    yield datasets.make_circles(3000, noise=0.08, factor=0.5, random_state=0)
    yield datasets.make_moons(3000, noise=0.15, random_state=0)
    blobs = {"n_samples": 3000, "random_state": 1}
    yield datasets.make_blobs(centers=2, n_features=2, cluster_std=1.0, **blobs)
    yield datasets.make_blobs(centers=3, n_features=5, cluster_std=2.5, **blobs)
    for load in (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer):
        X, y = load(return_X_y=True)
        yield StandardScaler().fit_transform(X), y
    X, y = datasets.load_digits(return_X_y=True)
    yield X[y < 3] / 16, y[y < 3]


def draw(
    X: np.ndarray, y: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return n rows, their classes, and which of them are labelled: one of every class at least."""
    while True:
        rows = rng.choice(len(X), n, replace=False)
        labeled = np.zeros(n, bool)
        labeled[np.unique(y[rows], return_index=True)[1]] = True
        if labeled.sum() == len(np.unique(y)) < n:
            break
    more = max(0, round(0.3 * n) - int(labeled.sum()))
    labeled[rng.permutation(np.flatnonzero(~labeled))[:more]] = True
    return X[rows], y[rows], labeled


def models(X: np.ndarray, n_labeled: int) -> dict[str, object]:
    before = {"graph": KNN(n_neighbors=10), "C_graph": 1e5 / n_labeled}
    return {
        "SemiSupervised": SemiSupervisedClassifier(random_state=0),
        "SVC on the labels": SVC(C=10.0, gamma=resolve_gamma("spread", X)),
        "GKMClassifier": GKMClassifier(random_state=0),
        "as for many rows": GKMClassifier(**before, random_state=0),
        "GKMClassifierCV": GKMClassifierCV(random_state=0),
        "LaplacianSVC": LaplacianSVC(),
    }


def few_rows(n_draws: int, sizes: Sequence[int]) -> list[Figure]:
    warnings.simplefilter("ignore")
    figures = []
    for n in sizes:
        found: dict[str, list[tuple[float, float]]] = {}
        for i, (X, y) in enumerate(sources()):
            for j in range(n_draws if len(X) > n else 0):
                rows, truth, labeled = draw(X, y, n, np.random.default_rng([i, j, n]))
                for name, model in models(rows, int(labeled.sum())).items():
                    if isinstance(model, SVC):
                        model.fit(rows[labeled], truth[labeled])
                    else:
                        model.fit(rows, np.where(labeled, truth, -1))
                    hits = model.predict(rows) == truth
                    found.setdefault(name, []).append((hits[labeled].mean(), hits[~labeled].mean()))
        print(f"{n} rows: labels kept / accuracy on the others, %")
        for name, values in found.items():
            kept, accuracy = 100 * np.mean(values, axis=0)
            print(f"  {name:18} {kept:5.1f} / {accuracy:.1f}", flush=True)
            figures.append(Figure(f"{n} rows, {name}: accuracy", float(accuracy), "%"))
    return figures


def overruled(n_draws: int) -> list[Figure]:
    counts = {"as they are": [0, 0], "a fifth drawn anew": [0, 0]}
    for name in SETS:
        try:
            cells = SETS[name]() if name != "mnist" else []
        except SkipError as reason:
            print(f"{name} skipped: {reason}")
            continue
        for cell in cells:
            for split in range(min(n_draws, len(cell.splits))):
                rng = np.random.default_rng(split)
                for noise, count in zip((0.0, 0.2), counts.values(), strict=True):
                    y = cell.partly(split)
                    known = np.flatnonzero(y >= 0)
                    anew = known[rng.random(len(known)) < noise]
                    y[anew] = rng.permutation(cell.y)[: len(anew)]
                    if len(np.unique(y[known])) == 1:
                        continue
                    with warnings.catch_warnings(record=True) as seen:
                        warnings.simplefilter("always")
                        GKMClassifier(random_state=0).fit(cell.X, y)
                    fired = [str(w.message) for w in seen if str(w.message).startswith(OVERRULED)]
                    count[0] += len(fired)
                    count[1] += 1
                    for message in fired:
                        print(f"{name}, {cell.n_labels} labels, noise {noise}: {message}")
    for labels, (fired, fits) in counts.items():
        print(f"labels {labels}: {fired} warnings in {fits} fits", flush=True)
    return [Figure(f"warnings, labels {labels}", fired) for labels, (fired, _) in counts.items()]


def run(arguments: argparse.Namespace) -> list[Figure]:
    if arguments.warnings:
        return overruled(arguments.draws)
    return few_rows(*(1, SIZES[:2]) if arguments.quick else (arguments.draws, SIZES))


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 5, "help": "draws of every set"},
        warnings={"action": "store_true", "help": "count warnings on larger sets"},
    )

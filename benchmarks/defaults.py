"""Which defaults of the paper's machine serve untuned.

    python benchmarks/defaults.py [--part classes,regression,few_targets] [--quick]
                                  [--splits 5] [--only step,p] [--grid]

"classes" and "regression" are about the stochastic solver, by accuracy over development sets. Every
candidate changes one thing of the defaults. Sets with official splits use them; the others hide
labels at random. Features are standardised. Accuracy is measured on the unlabelled rows. The last
columns are the mean over the sets and the mean difference from `SVC(C=1, gamma="scale")` fitted on
the labelled rows alone; of regression, R^2 and `SVR`.

"few_targets" sets `GKMRegressor()` as it comes against machines without a graph: R^2 on the rows
without a target, mean over seeds, which draw the known targets and the rows of the synthetic sets.
Columns of X are standardised over all rows, targets over the known ones. SVR, kernel ridge and
nearest neighbours see the known targets only, and have the same gamma; the sets need no network.
With ``--grid`` also other constants than the defaults: C in units of the smoothed kernel, C_graph
times the number of known targets.
"""

from __future__ import annotations

import argparse
import bz2
import lzma
import os
import pathlib
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.io import loadmat
from sklearn.datasets import (
    load_diabetes,
    load_svmlight_file,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_moons,
    make_s_curve,
    make_swiss_roll,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from tqdm import tqdm

from _common import Figure, script, table
from graphkm import SGD, GKMClassifier, GKMRegressor

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("GRAPHKM_DATA", ROOT.parent / "shared" / "data"))

BASE = {"solver": SGD(), "C": 1.0, "C_graph": 0.1, "gamma": "scale"}

CANDIDATES = {
    "defaults": {},
    "C_graph": {f"C_graph={c:g}": {"C_graph": c} for c in (0, 0.01, 0.1, 1, 10, 100)},
    "C": {f"C={c:g}": {"C": c, "C_graph": c} for c in (0.1, 1, 10, 100)},
    "p": {f"p={p}": {"smoothness": p} for p in (1, 1.5, 2, 3)},
    "graph": {g: {"graph": g} for g in ("knn", "full", "bipartite")},
    "n_neighbors": {f"k={k}": {"graph__n_neighbors": k} for k in (3, 5, 10, 20)},
    "weights": {f"weights={g:g}": {"graph__weights": g} for g in (0.0,)},
    "edge_sampling": {"by weight": {"solver__edge_sampling": "weight"}},
    "step": {s: {"solver__step": s} for s in ("explicit", "implicit")},
    "fit_intercept": {"intercept": {"fit_intercept": True}},
    "loss": {loss: {"loss": loss} for loss in ("smooth_hinge", "logistic")},
    "max_iter": {f"T={t}": {"solver__max_iter": t} for t in (1000, 3000, 10000, 30000)},
}


def mat(name):
    with lzma.open(DATA / name) as file:
        return loadmat(file)


def official(name, splits=None):
    """Return a set whose file (or a second one) holds index lists of labelled rows, from 1."""
    data = mat(name)
    lists = mat(splits) if splits else data
    X = np.asarray(data["X"].todense() if hasattr(data["X"], "todense") else data["X"], float)
    y = np.asarray(data["y"]).ravel()
    X = X if X.shape[0] == len(y) else X.T
    return X, np.unique(y, return_inverse=True)[1], np.atleast_2d(lists["idxLabs"]).astype(int) - 1


def hidden(X, y, n_labeled, seed=0, n_splits=10):
    """Random splits with at least one labelled row of every class."""
    y = np.unique(y, return_inverse=True)[1]
    rng, rows = np.random.default_rng(seed), []
    while len(rows) < n_splits:
        chosen = rng.choice(len(y), n_labeled, replace=False)
        if len(np.unique(y[chosen])) == y.max() + 1:
            rows.append(chosen)
    return X, y, np.array(rows)


def libsvm(name, n_labeled, n_features=None, n_rows=None):
    with bz2.open(DATA / f"{name}.libsvm.bz2") as file:
        X, y = load_svmlight_file(file, n_features=n_features)
    rows = np.random.default_rng(1).permutation(X.shape[0])[:n_rows]
    return hidden(np.asarray(X[rows].todense()), y[rows], n_labeled)


def sets():
    yield "moons", hidden(*make_moons(500, noise=0.15, random_state=0), 6)
    if not DATA.is_dir():
        return
    yield "G50C", official("g50c_lds.mat.xz")
    yield "USPST", official("uspst_lds.mat.xz")
    for number, name in ((1, "digit1"), (2, "usps"), (5, "g241c")):
        base = f"ssl-book/set{number}_{name}"
        yield name, official(f"{base}.mat.xz", f"{base}_splits_labeled100.mat.xz")
    yield "australian", libsvm("australian_scale", 69)
    yield "a1a", libsvm("a1a", 160, 123)
    yield "svmguide1", libsvm("svmguide1", 60)
    yield "mushrooms", libsvm("mushrooms", 80, n_rows=4000)
    yield "ijcnn1", libsvm("ijcnn1", 500, n_rows=5000)


REGRESSION = {
    "defaults": {},
    **{f"C_graph={c:g}": {"C_graph": c} for c in (0, 0.001, 0.01, 0.1, 1)},
    "C=10": {"C": 10, "C_graph": 0.1},
    "no intercept": {"fit_intercept": False},
    "explicit": {"solver__step": "explicit"},
}


def regression_sets():
    """Yield sets that need no download, each with a tenth of its targets known."""
    yield "diabetes", load_diabetes(return_X_y=True)
    yield "friedman1", make_friedman1(1000, noise=1.0, random_state=0)
    yield "friedman2", make_friedman2(1000, noise=100.0, random_state=0)
    yield "friedman3", make_friedman3(1000, noise=0.2, random_state=0)
    X, position = make_swiss_roll(1000, noise=0.5, random_state=0)
    yield "swiss roll", (X, position)


def regression(arguments):
    """Print R^2 on the rows without a target, features and targets standardised."""
    n_splits = 1 if arguments.quick else arguments.splits
    rows = {name: {} for name in ("SVR on labelled rows", *REGRESSION)}
    for set_name, (X, y) in regression_sets():
        X, y = StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
        for name in rows:
            values = []
            for i in range(n_splits):
                known = np.random.default_rng(i).random(len(y)) < 0.1
                if name.startswith("SVR"):
                    model = SVR().fit(X[known], y[known])
                else:
                    model = GKMRegressor(random_state=i, **{**BASE, "C_graph": 0.01})
                    model.set_params(**REGRESSION[name])
                    model.fit(X, np.where(known, y, np.nan))
                values.append(r2_score(y[~known], model.predict(X[~known])))
            rows[name][set_name] = 100 * np.mean(values)
    return report(rows, "SVR on labelled rows")


def report(rows, baseline):
    """Print a table, and return the means of its rows."""
    names = list(rows[baseline])
    print(f"{'':22}" + "".join(f"{n[:9]:>10}" for n in names) + f"{'mean':>8}{'gain':>8}")
    base = np.array(list(rows[baseline].values()))
    for name, row in rows.items():
        values = np.array(list(row.values()))
        cells = "".join(f"{v:10.2f}" for v in values)
        print(f"{name:22}{cells}{values.mean():8.2f}{(values - base).mean():+8.2f}")
    return [Figure(name, float(np.mean(list(row.values()))), "%") for name, row in rows.items()]


def accuracy(model, X, y, rows):
    partly = np.full(len(y), -1)
    partly[rows] = y[rows]
    rest = np.ones(len(y), bool)
    rest[rows] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(model, SVC):
            return model.fit(X[rows], y[rows]).score(X[rest], y[rest])
        try:
            return model.fit(X, partly).score(X[rest], y[rest])
        except ArithmeticError:
            return np.nan  # diverged


def classes(arguments):
    """Print accuracy on the unlabelled rows."""
    groups = arguments.only.split(",") if arguments.only else list(CANDIDATES)
    settings = {"SVC on labelled rows": None, "defaults": {}}
    for group in ["step"] if arguments.quick else groups:
        settings.update(CANDIDATES[group])
    found = {name: {} for name in settings}
    for set_name, (X, y, splits) in islice(sets(), 1 if arguments.quick else None):
        X = StandardScaler().fit_transform(X).astype(np.float32)
        for name, parameters in tqdm(settings.items(), desc=set_name, leave=False):
            values = []
            for i, rows in enumerate(splits[: 1 if arguments.quick else arguments.splits]):
                model = SVC()
                if parameters is not None:
                    model = GKMClassifier(random_state=i, **BASE).set_params(**parameters)
                values.append(accuracy(model, X, y, rows))
            found[name][set_name] = 100 * np.mean(values)
    return report(found, "SVC on labelled rows")


# --------------------------------------------------------------- few targets

ROWS = 600
COSTS, STRENGTHS = (1.0, 10.0, 100.0), (1e1, 1e2, 1e3, 1e4, 1e5)
Maker = Callable[[], Any]


def target_sets(seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names, rows and targets."""
    yield "friedman1", *make_friedman1(ROWS, noise=1.0, random_state=seed)
    yield "friedman2", *make_friedman2(ROWS, noise=50.0, random_state=seed)
    yield "swiss roll", *make_swiss_roll(ROWS, noise=0.5, random_state=seed)
    yield "s curve", *make_s_curve(ROWS, noise=0.1, random_state=seed)
    yield "diabetes", *load_diabetes(return_X_y=True)


def rivals() -> dict[str, Maker]:
    """Return the models compared; gamma is one over the number of columns for all of them."""
    return {
        "GKMRegressor": lambda: GKMRegressor(random_state=0),
        "no graph": lambda: GKMRegressor(C_graph=0, random_state=0),
        "SVR": lambda: SVR(gamma="scale"),
        "SVR, C=10": lambda: SVR(gamma="scale", C=10.0),
        "kernel ridge": lambda: KernelRidge(kernel="rbf", alpha=0.1),
        "5 neighbours": lambda: KNeighborsRegressor(5, weights="distance"),
    }


def variants() -> dict[str, Maker]:
    """Return `GKMRegressor` with other constants in the place of its defaults."""

    def variant(C: float, strength: float) -> Any:
        def costs(smoothed: bool, rows: bool, sizes: Any) -> tuple[float, float]:
            return C, strength / sizes.n_labeled

        class Variant(GKMRegressor):
            def fit(self, *given: Any) -> Any:
                with patch("graphkm.gkm.plan.default_costs", costs):
                    return super().fit(*given)

        return Variant(random_state=0)

    return {
        f"C={C:g}, C_graph l={strength:.0e}": lambda C=C, strength=strength: variant(C, strength)
        for C in COSTS
        for strength in STRENGTHS
    }


def score(model: Any, X: np.ndarray, truth: np.ndarray, known: np.ndarray) -> float:
    """Return R^2 on the rows whose targets are hidden."""
    y = np.full(len(truth), np.nan)
    y[known] = (truth[known] - truth[known].mean()) / truth[known].std()
    hidden = np.isnan(y)
    if isinstance(model, GKMRegressor):
        model.fit(X, y)
    else:
        model.fit(X[known], y[known])
    found = truth[known].mean() + truth[known].std() * model.predict(X[hidden])
    return float(r2_score(truth[hidden], found))


def few_targets(arguments: argparse.Namespace) -> list[Figure]:
    warnings.simplefilter("ignore")
    compared = rivals() | (variants() if arguments.grid else {})
    found: dict[tuple[str, str, int], list[float]] = {}
    for seed in range(1 if arguments.quick else 5):
        for name, X, truth in target_sets(seed):
            X = (X - X.mean(axis=0)) / X.std(axis=0)
            for n_known in (50,) if arguments.quick else (50, 100, 200):
                known = np.random.default_rng(seed).permutation(len(truth))[:n_known]
                for what, make in compared.items():
                    r2 = score(make(), X, truth, known)
                    found.setdefault((what, name, n_known), []).append(r2)
    cases = list(dict.fromkeys((name, n_known) for _, name, n_known in found))
    means = {w: [float(np.mean(found[w, *case])) for case in cases] for w in compared}
    best = np.max(list(means.values()), axis=0)
    print(
        table(
            ["model", *(f"{name} {n_known}" for name, n_known in cases), "mean", "behind the best"],
            [
                [
                    w,
                    *(f"{r2:.3f}" for r2 in row),
                    f"{np.mean(row):.3f}",
                    f"{np.mean(best - row):.3f}",
                ]
                for w, row in means.items()
            ],
        )
    )
    return [Figure(f"mean R^2, {w}", float(np.mean(row))) for w, row in means.items()]


PARTS = {"classes": classes, "regression": regression, "few_targets": few_targets}


def run(arguments: argparse.Namespace) -> list[Figure]:
    parts = arguments.part.split(",")
    return [figure for part in parts for figure in PARTS[part](arguments)]


if __name__ == "__main__":
    script(
        run,
        part={"default": ",".join(PARTS), "help": ", ".join(PARTS)},
        splits={"type": int, "default": 5},
        only={"default": "", "help": "of classes: comma-separated groups of candidates"},
        grid={"action": "store_true", "help": "of few_targets: constants around the defaults too"},
    )

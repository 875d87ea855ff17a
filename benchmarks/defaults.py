"""Which defaults of the stochastic solver serve untuned, by accuracy over development sets.

Every candidate changes one thing of the defaults. Sets with official splits use them; the
others hide labels at random. Features are standardised. Accuracy is measured on the
unlabelled rows. The last columns are the mean over the sets and the mean difference from
`SVC(C=1, gamma="scale")` fitted on the labelled rows alone.

    python benchmarks/defaults.py [--splits 5] [--only step,p] [--regression]
"""

import argparse
import bz2
import lzma
import os
import pathlib
import warnings

import numpy as np
from scipy.io import loadmat
from sklearn.datasets import (
    load_diabetes,
    load_svmlight_file,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_moons,
    make_swiss_roll,
)
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from tqdm import tqdm

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


def regression(n_splits):
    """Print R^2 on the rows without a target, features and targets standardised."""
    table = {name: {} for name in ("SVR on labelled rows", *REGRESSION)}
    for set_name, (X, y) in regression_sets():
        X, y = StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
        for name in table:
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
            table[name][set_name] = 100 * np.mean(values)
    report(table, "SVR on labelled rows")


def report(table, baseline):
    names = list(table[baseline])
    print(f"{'':22}" + "".join(f"{n[:9]:>10}" for n in names) + f"{'mean':>8}{'gain':>8}")
    base = np.array(list(table[baseline].values()))
    for name, row in table.items():
        values = np.array(list(row.values()))
        cells = "".join(f"{v:10.2f}" for v in values)
        print(f"{name:22}{cells}{values.mean():8.2f}{(values - base).mean():+8.2f}")


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", default="", help="comma-separated groups of candidates")
    parser.add_argument("--regression", action="store_true", help="GKMRegressor's instead")
    arguments = parser.parse_args()
    if arguments.regression:
        return regression(arguments.splits)
    groups = arguments.only.split(",") if arguments.only else list(CANDIDATES)
    settings = {"SVC on labelled rows": None, "defaults": {}}
    for group in groups:
        settings.update(CANDIDATES[group])
    table = {name: {} for name in settings}
    for set_name, (X, y, splits) in sets():
        X = StandardScaler().fit_transform(X).astype(np.float32)
        for name, parameters in tqdm(settings.items(), desc=set_name, leave=False):
            values = []
            for i, rows in enumerate(splits[: arguments.splits]):
                model = SVC()
                if parameters is not None:
                    model = GKMClassifier(random_state=i, **BASE).set_params(**parameters)
                values.append(accuracy(model, X, y, rows))
            table[name][set_name] = 100 * np.mean(values)
    report(table, "SVC on labelled rows")


if __name__ == "__main__":
    main()

"""Models corrected over a graph: accuracy on hidden and on new rows, and what they cost.

    python benchmarks/fields.py [--part main,peers,bases,growth] [--sets mnist,ijcnn1] [--seeds 3]
    python benchmarks/fields.py --report           # tables of what is there

The sets are read from the folder GRAPHKM_DATA; one that is not there is skipped. Of every set 90 %
of the rows are for training. Labels are a tenth of these, or 50 or 200 of them, drawn at random;
100 and 500 are drawn class by class.
"hidden" is the accuracy on training rows whose labels were hidden, "test" that on the other tenth
of the rows, which no fit has seen.

Every fit runs in a process of its own and adds one line to out/fields/results.jsonl at once; what
is there already is not run again. CPU seconds are those of `fit` with everything in it: neighbours,
the model, its held-out predictions, the choice of the strength. Memory is the rise of the process's
peak during `fit`.

`main` compares the library's own machine with a field, and `GKMClassifier()`, with an SVC whose
gamma and C are chosen by grid search on the labels. `peers` runs the rivals of `few_labels` on the
first draw; each may take ten times the CPU time of our own machine there. `bases` corrects other
models. `growth` doubles the rows of a drawn set. `sharpness` prints fields alone for several
weights of the edges. "ece" in a line of results is the expected calibration error of
`predict_proba` on test rows.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from _common import ROOT, SkipError, data_file, load_libsvm
from few_labels.cells import SETS as SMALL
from few_labels.methods import METHODS
from few_labels.neighbours import Search
from graphkm import GKMClassifier, GraphCorrectedClassifier
from graphkm.graphs import KNN, NeighbourIndex, RowNodes
from graphkm.solvers.field import FieldData, FieldSystem, Strength

OUT = ROOT / "out" / "fields"
DRAWN_AT_RANDOM = ("50", "200")
LIMIT = 900  # CPU seconds of one fit


# ---------------------------------------------------------------------- data


def codes(y: np.ndarray) -> np.ndarray:
    return np.unique(y, return_inverse=True)[1]


def covtype(classes: int) -> tuple[Any, np.ndarray]:
    import pandas as pd

    table = pd.read_csv(data_file("covtype.csv.xz")).to_numpy()
    X = table[:, :-1].astype(np.float32)
    y = table[:, -1]
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), codes(y == 2 if classes == 2 else y)


def dense(name: str, d: int) -> tuple[Any, np.ndarray]:
    X, y = load_libsvm(f"{name}.libsvm.bz2", d)
    return X.toarray(), codes(y)


def sparse(names: tuple[str, ...], d: int) -> tuple[Any, np.ndarray]:
    parts = [load_libsvm(f"{name}.libsvm.bz2", d) for name in names]
    return sp.csr_matrix(sp.vstack([X for X, _ in parts])), codes(
        np.concatenate([y for _, y in parts])
    )


def standardised(name: str, d: int) -> tuple[Any, np.ndarray]:
    X, y = dense(name, d)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), y


def small(name: str) -> tuple[Any, np.ndarray]:
    cell = SMALL[name]()[0]
    return cell.X, cell.y


LARGE: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "mushrooms": lambda: sparse(("mushrooms",), 112),
    "ijcnn1": lambda: dense("ijcnn1", 22),
    "cod-rna": lambda: dense("cod-rna_scale", 8),
    "a1a": lambda: sparse(("a1a", "a1a.t"), 123),
    "w8a": lambda: sparse(("w8a",), 300),
    "mnist": lambda: small("mnist"),
    "covtype-2": lambda: covtype(2),
    "covtype-7": lambda: covtype(7),
}
TABULAR: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "australian": lambda: dense("australian_scale", 14),
    "svmguide1": lambda: standardised("svmguide1", 4),
    "svmguide2": lambda: dense("svmguide2", 20),
    "svmguide3": lambda: dense("svmguide3", 22),
} | {
    name: (lambda name=name: small(name))
    for name in ("g50c", "uspst", "digit1", "usps", "g241c", "text", "coil20")
}
SETS = TABULAR | LARGE


def split(y: np.ndarray, labels: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows, test rows, and which training rows are labelled."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    cut = int(0.9 * len(y))
    train, test = order[:cut], order[cut:]
    if labels == "10%":
        return train, test, rng.random(cut) < 0.1
    labeled = np.zeros(cut, dtype=bool)
    classes, count = np.unique(y[train]), int(labels)
    if labels in DRAWN_AT_RANDOM:  # but at least one of every class
        for c in classes:
            labeled[rng.choice(np.flatnonzero(y[train] == c))] = True
        others = rng.permutation(np.flatnonzero(~labeled))
        labeled[others[: max(0, count - len(classes))]] = True
        return train, test, labeled
    for c in classes:
        own = np.flatnonzero(y[train] == c)
        size = min(count // len(classes), len(own))
        labeled[rng.choice(own, size, replace=False)] = True
    return train, test, labeled


# ---------------------------------------------------------------------- methods


def tuned_svc(X: Any, y: np.ndarray, seed: int) -> Any:
    """Return an SVC on the labelled rows, chosen by grid search; gammas in units of the spread."""
    rows, known = X[y >= 0], y[y >= 0]
    squares = rows.multiply(rows) if sp.issparse(rows) else np.square(rows, dtype=np.float64)
    spread = float((np.asarray(squares.mean(axis=0)) - np.square(rows.mean(axis=0))).sum())
    folds = int(min(5, np.bincount(known).min()))
    grid = {"gamma": np.array([0.3, 1, 3, 10, 30]) / spread, "C": [0.1, 1, 10, 100, 1000]}
    if folds < 2:
        return SVC(gamma=1 / spread).fit(rows, known)
    if len(known) > 10_000:  # the grid on a tenth of the labels: all would take hours
        some = np.random.default_rng(seed).permutation(len(known))[: len(known) // 10]
        best = GridSearchCV(SVC(), grid, cv=3).fit(rows[some], known[some]).best_params_
        return SVC(**best, cache_size=500).fit(rows, known)
    return GridSearchCV(SVC(cache_size=500), grid, cv=folds).fit(rows, known)


BASES: dict[str, Callable[[], Any]] = {
    "svc": lambda: SVC(),
    "forest": lambda: RandomForestClassifier(random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=1000),
}


PEERS = ("spreading", "laplace", "poisson", "self_training", "tri_training")
TIMES = 10  # what a peer may take, in units of our time


def fitted(method: str, X: Any, y: np.ndarray, seed: int) -> Any:
    if method == "tuned svc":
        return tuned_svc(X, y, seed)
    if method == "gkm":
        return GKMClassifier(random_state=seed).fit(X, y)
    if method == "anchors":
        return GraphCorrectedClassifier(graph="anchors", random_state=seed).fit(X, y)
    base = BASES[method]() if method in BASES else None
    return GraphCorrectedClassifier(base, random_state=seed).fit(X, y)


def measured(X: Any, y: np.ndarray, labels: str, seed: int, method: str) -> dict[str, Any]:
    """Return accuracies and costs of one fit."""
    train, test, labeled = split(y, labels, seed)
    A, partly = X[train], np.where(labeled, y[train], -1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    model = fitted(method, A, partly, seed)
    row: dict[str, Any] = {
        "labels": int(labeled.sum()),
        "rows": len(train),
        "cpu": time.process_time() - start,
        "mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }
    if method == "tuned svc" and len(test) > 20_000:  # predicting half a million rows takes hours
        test = test[:20_000]
    start = time.process_time()
    row["test"] = float(np.mean(model.predict(X[test]) == y[test]))
    row["cpu_test"] = time.process_time() - start
    if method != "tuned svc":
        hidden = ~labeled
        row["hidden"] = float(np.mean(model.transduction_[hidden] == y[train][hidden]))
    corrected = getattr(model, "corrected_", model)
    if isinstance(corrected, GraphCorrectedClassifier):
        row["choice"] = corrected.best_params_
        row["gain"] = corrected.unlabeled_gain_
        row |= calibration(corrected, X[test], y[test])
    if method in BASES:
        start = time.process_time()
        alone = BASES[method]().fit(A[labeled], partly[labeled])
        row["cpu_base"] = time.process_time() - start
        row["base_test"] = float(np.mean(alone.predict(X[test]) == y[test]))
        some = np.flatnonzero(~labeled)[:50_000]
        row["base_hidden"] = float(np.mean(alone.predict(A[some]) == y[train][some]))
    return row


def peer(X: Any, y: np.ndarray, labels: str, seed: int, method: str) -> dict[str, Any]:
    """Return accuracy and cost of a peer, which labels the training rows only."""
    train, _, labeled = split(y, labels, seed)
    partly = np.where(labeled, y[train], -1)
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        found, _ = METHODS[method](X[train], partly, Search(X[train], Path(folder) / "a.npz"), seed)
    return {
        "labels": int(labeled.sum()),
        "rows": len(train),
        "cpu": time.process_time() - start,
        "hidden": float(np.mean(found[~labeled] == y[train][~labeled])),
    }


def calibration(model: Any, X: Any, y: np.ndarray) -> dict[str, float]:
    """Return the mean top probability, and the expected calibration error over ten bins."""
    X, y = X[:20_000], y[:20_000]
    shares = model.predict_proba(X)
    top, right = shares.max(axis=1), model.classes_[shares.argmax(axis=1)] == y
    place = np.minimum((10 * top).astype(int), 9)
    error = sum(
        abs(top[place == b].mean() - right[place == b].mean()) * np.mean(place == b)
        for b in np.unique(place)
    )
    return {"confidence": float(top.mean()), "ece": float(error)}


# ---------------------------------------------------------------------- running


def cells(part: str, seeds: int) -> Iterator[dict[str, Any]]:
    """Yield what is to be run: a set, its labels, a seed and a method."""
    if part == "main":
        sizes = {"mnist": ("100", "500", "10%")}
        for name in LARGE:
            for labels in sizes.get(name, ("10%",)):
                for seed in range(seeds):
                    for method in ("own", "gkm", "tuned svc"):
                        yield {"set": name, "n": labels, "seed": seed, "method": method}
    if part == "peers":
        for cell in cells("main", 1):
            if cell["method"] == "own":
                yield from (cell | {"method": method} for method in PEERS)
    if part == "bases":
        for name in SETS:
            for labels in ("50", "200", "10%"):
                for seed in range(seeds):
                    for method in BASES:
                        yield {"set": name, "n": labels, "seed": seed, "method": method}


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["set"], row["n"], row["seed"], row["method"]


def run_cell(cell: dict[str, Any], X: Any, y: np.ndarray, limit: int = LIMIT) -> dict[str, Any]:
    """Return the row of one cell, measured in a process of its own."""
    measure = peer if cell["method"] in PEERS else measured
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        warnings.simplefilter("ignore")
        try:
            there.send(measure(X, y, cell["n"], cell["seed"], cell["method"]))
        except Exception as error:  # a failure is a row too
            there.send({"error": f"{type(error).__name__}: {error}"[:200]})

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    there.close()
    try:
        row = here.recv()
    except EOFError:
        row = {"error": f"over {limit} CPU s"}
    process.join()
    return cell | row


def suits(cell: dict[str, Any], X: Any, y: np.ndarray) -> bool:
    """Return whether a cell makes sense: enough rows, and a model that takes them."""
    enough = cell["n"] == "10%" or int(cell["n"]) <= len(y) // 3
    labels = 0.09 * len(y) if cell["n"] == "10%" else int(cell["n"])
    return (
        enough
        and labels >= 2 * len(np.unique(y))
        and not (cell["method"] == "boosting" and sp.issparse(X))
        and not (cell["method"] == "svc" and labels > 20_000)
    )


def limit_of(cell: dict[str, Any], rows: list[dict[str, Any]]) -> int:
    """Return the CPU seconds that a cell may take."""
    ours = [row["cpu"] for row in rows if key(row) == key(cell | {"method": "own"})]
    return max(1, round(TIMES * ours[0])) if cell["method"] in PEERS and ours else LIMIT


def run(parts: list[str], chosen: dict[str, list[str]], seeds: int, file: Path) -> None:
    done = {key(row) for row in read(file)}
    file.parent.mkdir(parents=True, exist_ok=True)
    every = [cell for part in parts for cell in cells(part, seeds)]
    wanted = [
        cell for cell in every if all(cell[name] in values for name, values in chosen.items())
    ]
    for name in dict.fromkeys(cell["set"] for cell in wanted):
        todo = [cell for cell in wanted if cell["set"] == name and key(cell) not in done]
        if not todo:
            continue
        try:
            X, y = SETS[name]()
        except SkipError as reason:
            print(f"{name} skipped: {reason}")
            continue
        for cell in todo:
            if suits(cell, X, y):
                row = run_cell(cell, X, y, limit_of(cell, read(file)))
                with file.open("a") as out:
                    out.write(json.dumps(row) + "\n")
                print(json.dumps(row), flush=True)


def drawn_rows(kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n rows of 20 columns: a curved sheet of four dimensions, or blobs that overlap."""
    if kind == "blobs":
        X, y = make_blobs(n, 20, centers=50, cluster_std=6.0, random_state=0)
        return X.astype(np.float32), y % 5
    rng = np.random.default_rng(0)
    place = rng.random((n, 4))
    X = np.sin(place @ rng.normal(size=(4, 20)) * 4 + rng.random(20) * 6)
    X += 0.02 * rng.normal(size=X.shape)
    return X.astype(np.float32), (place[:, :2] * 3).astype(int) @ [1, 3] % 5


def growth(file: Path) -> None:
    """Print CPU seconds for 50,000 to 500,000 rows of 20 columns, and the exponent."""
    sizes = [50_000, 100_000, 200_000, 500_000]
    for kind in ("sheet", "blobs"):
        seconds = []
        for n in sizes:
            cell = {"set": "growth", "n": "500", "seed": 0, "method": "own"}
            row = run_cell(cell, *drawn_rows(kind, n))
            print(kind, n, json.dumps(row), flush=True)
            seconds.append(row["cpu"])
        slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
        print(f"{kind}: exponent {slope:.3f}")
        cell = {"set": "growth", "n": "all", "seed": 0, "method": "own"}
        with file.open("a") as out:
            out.write(json.dumps(cell | {"kind": kind, "exponent": slope, "cpu": seconds}) + "\n")


def sharpness() -> None:
    """Print the accuracy of fields alone for several sharpnesses of the edges' weights."""
    for name, labels in (("mnist", "100"), ("ijcnn1", "10%"), ("covtype-7", "10%")):
        X, y = SETS[name]()
        train, _, labeled = split(y, labels, seed=0)
        rows, truth = np.flatnonzero(labeled), y[train]
        values = np.eye(y.max() + 1)[truth[rows]] - 1 / (y.max() + 1)
        index = NeighbourIndex(np.ascontiguousarray(X[train]), n_jobs=-1)
        for factor in (1.0, 4.0, 6.0, 8.0):
            graph = RowNodes.graph(index, 10, factor)
            data = FieldData.of(graph, rows, np.ones(len(rows)), values)
            g = FieldSystem(graph.similarity, n_threads=2).solve(data, Strength(C=3.0, eps=0.01))
            right = np.mean((g.argmax(axis=1) == truth)[~labeled])
            print(f"{name}, {labels} labels, sharpness {factor:g}: {100 * right:.2f} %", flush=True)


def newton_weights() -> None:
    """Print the accuracy of `GKMClassifier` on the small sets for both weights of the edges."""
    for name in ("g50c", "uspst", "digit1", "usps", "g241c", "text", "coil20", "svmguide1"):
        X, y = SETS[name]()
        for labels in ("50", "200"):
            found = {}
            for weights in ("local", "sharp"):
                right = []
                for seed in range(5):
                    train, _, labeled = split(y, labels, seed)
                    model = GKMClassifier(graph=KNN(weights=weights), random_state=seed)
                    model.fit(X[train], np.where(labeled, y[train], -1))
                    right.append(np.mean((model.transduction_ == y[train])[~labeled]))
                found[weights] = f"{100 * np.mean(right):.2f} %"
            print(f"{name}, {labels} labels, GKMClassifier: {found}", flush=True)


# ---------------------------------------------------------------------- report


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def mean(rows: list[dict[str, Any]], name: str) -> float:
    return float(np.mean([row.get(name, np.nan) for row in rows]))


def report(file: Path) -> None:
    rows = [row for row in read(file) if row["set"] != "growth"]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["set"], row["n"], row["method"]), []).append(row)
    report_main({name: group for name, group in groups.items() if name[2] not in BASES})
    report_bases({name: group for name, group in groups.items() if name[2] in BASES})


def report_main(groups: dict[tuple[Any, ...], list[dict[str, Any]]]) -> None:
    print("| set | labels | method | hidden | test | CPU s | MB | calibration error | seeds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (name, n, method), group in groups.items():
        failed = [row["error"] for row in group if "error" in row]
        shown = [
            f"{100 * mean(group, 'hidden'):.2f}",
            f"{100 * mean(group, 'test'):.2f}",
            f"{mean(group, 'cpu'):.1f}",
            f"{mean(group, 'mb'):.0f}",
            f"{mean(group, 'ece'):.3f}",
        ]
        shown = [failed[0], "", "", "", ""] if failed else shown
        shown = ["" if text == "nan" else text for text in shown]
        print(f"| {name} | {n} | {method} | {' | '.join(shown)} | {len(group)} |")


def report_bases(groups: dict[tuple[Any, ...], list[dict[str, Any]]]) -> None:
    print("\n| set | labels | base | alone hidden / test | with a field | difference | cost |")
    print("|---|---|---|---|---|---|---|")
    differences, errors = [], []
    for (name, n, method), group in groups.items():
        group = [row for row in group if "error" not in row]
        if not group:
            continue
        h, t, bh, bt = (
            100 * mean(group, each) for each in ("hidden", "test", "base_hidden", "base_test")
        )
        times = mean(group, "cpu") / max(1e-3, mean(group, "cpu_base"))
        differences.append((h - bh, t - bt))
        errors.append(mean(group, "ece"))
        print(
            f"| {name} | {n} | {method} | {bh:.1f} / {bt:.1f} | {h:.1f} / {t:.1f} | "
            f"{h - bh:+.1f} / {t - bt:+.1f} | {times:.1f} x |"
        )
    if differences:
        hidden, test = np.array(differences).T
        low = [f"{int((each < -0.5).sum())}" for each in (hidden, test)]
        print(
            f"\n{len(hidden)} rows. More than 0.5 points below the base: {low[0]} on hidden, "
            f"{low[1]} on test rows. Least differences: {hidden.min():+.1f}, {test.min():+.1f}. "
            f"Means: {hidden.mean():+.1f}, {test.mean():+.1f}. Mean calibration error: "
            f"{np.mean(errors):.3f}."
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--part", default="main,peers,bases", help="main, peers, bases, growth, sharpness"
    )
    parser.add_argument("--sets", help="mushrooms,mnist,...; all by default")
    parser.add_argument("--labels", help="50,200,100,500,10%%; all by default")
    parser.add_argument("--methods", help="own,gkm,tuned svc,forest,...; all by default")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    results = arguments.out / "results.jsonl"
    if arguments.report:
        report(results)
        raise SystemExit
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
    parts = arguments.part.split(",")
    asked = {"set": arguments.sets, "n": arguments.labels, "method": arguments.methods}
    chosen = {name: text.split(",") for name, text in asked.items() if text}
    run(parts, chosen, arguments.seeds, results)
    if "sharpness" in parts:
        sharpness()
        newton_weights()
    if "growth" in parts:
        growth(results)

"""Large tables: the front door on rows that no fit has seen, and what it costs.

    python benchmarks/large_tables.py [--sets ijcnn1,w8a] [--methods own,forest] [--seeds 3]
    python benchmarks/large_tables.py --jobs 4 --threads 4         # four fits at once
    python benchmarks/large_tables.py --sets mnist-500 --methods own --device cuda
    python benchmarks/large_tables.py --store && make tables       # and into the page

The sets are read from the folder GRAPHKM_DATA; one that is not there is skipped. Of every set 90 %
of the rows are for training, and a tenth of these has a label; MNIST has 50 labels of each class.
The other rows are new. The draws start at 200: no choice has seen them. The forest and boosting are
those of scikit-learn as they come, fitted to the labelled rows alone.

"sheet" and "blobs" are drawn, of 50,000 to 500,000 rows with 500 labels, and only our classifier is
fitted to them: they show how its time grows.

Every fit runs in a process of its own. CPU seconds and seconds are those of `fit`, with everything
in it; memory is the peak of the process, rows included. `--device cuda` computes on a card, after a
first fit to 5,000 rows that loads it, and is a method of its own in the results, "own on a card".
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import graphkm
from _common import SkipError, environment, peak_memory, store, table
from _processes import forked
from table_sets import LARGE, split

SIZES = {"50k": 50_000, "100k": 100_000, "200k": 200_000, "500k": 500_000}
FIRST = 200  # the first draw: `label_models.py` has those from 100 on
KEYS = ("set", "method", "seed")
WARM_UP = 5000


def drawn(kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of 20 columns: a curved sheet of four dimensions, or blobs that overlap."""
    n = n * 10 // 9  # a tenth is for testing
    if kind == "blobs":
        X, y = make_blobs(n, 20, centers=50, cluster_std=6.0, random_state=0)
        return X.astype(np.float32), y % 5
    rng = np.random.default_rng(0)
    place = rng.random((n, 4))
    X = np.sin(place @ rng.normal(size=(4, 20)) * 4 + rng.random(20) * 6)
    X += 0.02 * rng.normal(size=X.shape)
    return X.astype(np.float32), (place[:, :2] * 3).astype(int) @ [1, 3] % 5


TABLES = ("covtype-2", "covtype-7", "ijcnn1", "cod-rna", "a1a", "w8a", "mushrooms")
CELLS: dict[str, tuple[Callable[[], Any], str]] = {
    **{name: (LARGE[name], "10%") for name in TABLES},
    "mnist-500": (LARGE["mnist"], "500"),
    **{
        f"{kind}-{size}": (partial(drawn, kind, n), "500")
        for kind in ("sheet", "blobs")
        for size, n in SIZES.items()
    },
}
METHODS = ("own", "forest", "boosting")


def model_of(method: str, seed: int, threads: int) -> Any:
    if method == "forest":
        return RandomForestClassifier(random_state=seed, n_jobs=threads)
    if method == "boosting":
        return HistGradientBoostingClassifier(random_state=seed)
    return graphkm.SemiSupervisedClassifier(random_state=seed, n_jobs=threads)


def dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X


def measured(
    X: Any, y: np.ndarray, labels: str, seed: int, method: str, threads: int, device: str
) -> dict[str, Any]:
    """Return accuracies and costs of one fit."""
    warnings.simplefilter("ignore")
    train, test, labeled = split(y, labels, seed)
    A, partly = X[train], np.where(labeled, y[train], -1)
    if method != "own":
        A, partly = dense(A[labeled]), partly[labeled]
    with graphkm.config_context(device=device):
        if device != "cpu":
            some = np.union1d(np.flatnonzero(labeled)[:WARM_UP], np.arange(WARM_UP))
            model_of(method, seed, threads).fit(A[some], partly[some])
        wall, cpu = time.perf_counter(), cpu_seconds()
        model = model_of(method, seed, threads).fit(A, partly)
        row: dict[str, Any] = {
            "rows": len(train),
            "labels": int(labeled.sum()),
            "seconds": time.perf_counter() - wall,
            "cpu_seconds": cpu_seconds() - cpu,
        }
        new = X[test] if method == "own" else dense(X[test])
        row["new"] = 100 * float(np.mean(model.predict(new) == y[test]))
    row["peak_mb"] = peak_memory() / 2**20
    if method == "own":
        row["hidden"] = 100 * float(np.mean((model.transduction_ == y[train])[~labeled]))
        row["members"] = " ".join(f"{m.name}:{m.weight:.2f}" for m in model.members_[:5])
    return row


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of those that it has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def tasks(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield set, method and draw of every fit."""
    for name in arguments.sets.split(","):
        is_table = not name.startswith(("sheet", "blobs"))
        for seed in range(FIRST, FIRST + (arguments.seeds if is_table else 1)):
            for method in arguments.methods.split(",") if is_table else ("own",):
                yield {"set": name, "method": method, "seed": seed}


def run(arguments: argparse.Namespace, name: str, own: list[dict[str, Any]]) -> Iterator[dict]:
    """Yield the lines of one set, which is loaded for all its fits."""
    load, labels = CELLS[name]
    try:
        X, y = load()
    except SkipError as reason:
        print(f"{name} skipped: {reason}")
        return
    options = {"threads": arguments.threads, "device": arguments.device}
    works = (
        partial(measured, X, y, labels, task["seed"], task["method"], **options) for task in own
    )
    for number, answer in forked(works, arguments.jobs, arguments.threads):
        line = own[number] | {"threads": arguments.threads} | answer
        if arguments.device != "cpu":
            line["method"] += " on a card"
        if line.pop("status") != "ok":
            print(line, answer["status"], flush=True)
            continue
        for key, digits in (("seconds", 2), ("cpu_seconds", 2), ("new", 3), ("hidden", 3)):
            line[key] = f"{line[key]:.{digits}f}" if key in line else ""
        line["peak_mb"] = f"{line['peak_mb']:.0f}"
        print(line, flush=True)
        yield line


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default=",".join(CELLS), help="comma-separated; all by default")
    parser.add_argument("--methods", default=",".join(METHODS), help="own, forest, boosting")
    parser.add_argument("--seeds", type=int, default=3, help="how many draws; 3 by default")
    parser.add_argument("--jobs", type=int, default=1, help="fits at once; 1 by default")
    parser.add_argument("--threads", type=int, default=1, help="of each fit; 1 by default")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--store", action="store_true", help="put the results into the page's file")
    arguments = parser.parse_args()
    print(environment(), flush=True)
    wanted = list(tasks(arguments))
    lines = []
    for name in dict.fromkeys(task["set"] for task in wanted):
        own = [task for task in wanted if task["set"] == name]
        for line in run(arguments, name, own):
            lines.append(line)
            if arguments.store:
                store("large_tables", [line], KEYS)
    heads = (*KEYS, "rows", "labels", "new", "hidden", "cpu_seconds", "seconds", "peak_mb")
    print("\n" + table(heads, [[line[head] for head in heads] for line in lines]))


if __name__ == "__main__":
    main()

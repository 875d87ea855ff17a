"""Fits with `graphkm.dask` on a cluster of worker processes on this machine.

The rows are made on the workers: two classes, each of twenty closed curves in some dimensions with
noise. A few rows are labelled. Measured are

- seconds of the fit, and CPU seconds of the workers, by pass and for each million rows. All members
  are fitted that a local fit on anchors would have, and held-out labels weigh them;
- the largest memory of a worker, which may have ``--memory``, and of the client;
- accuracy on 20,000 new rows, beside that of two rivals, which are always reported: the local
  estimator with a kNN graph on a sample of 100,000 rows and all labels (unless these are more), and
  the models of the labels alone.

``--compare`` fits the local estimator with the same anchors to all rows, which must fit in memory,
and reports how far its weights, its probabilities and its decisions differ. ``--speedup`` fits with
one worker and with two, and compares the seconds of the passes over the rows. ``--mnist`` and
``--covtype`` take these sets from the folder GRAPHKM_DATA instead (nine tenths of the rows for
training; 100 and 500 labels, and a tenth of them). MNIST is compared with the local estimator on
all rows, and COVTYPE has a forest as its model, or an SVC with ``--base svc``.

    cd benchmarks
    python -m dask_scale --rows 1000000 --anchors 2000 --labels 500 --workers 2
    python -m dask_scale --rows 10000000 --size 250000 --store && make -C .. tables
    python -m dask_scale --rows 100000000 --size 250000 --store    # an hour of two cores at most
    python -m dask_scale --speedup
    python -m dask_scale --mnist --workers 2
    python -m dask_scale --covtype --workers 2
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import graphkm
from _common import Figure, script, store
from dask_scale.fits import Cost, accuracies, fit, labels_alone, sampled
from dask_scale.rows import Made, Stored
from graphkm.dask import SemiSupervisedClassifier
from graphkm.graphs import Anchors

MNIST_TARGETS = {"100": 0.005, "500": 0.01}  # below the local estimator on all rows
COVTYPE_TARGET = 0.895


def costs(cost: Cost, n: int) -> list[Figure]:
    whole = sum(cost.cpu.values())
    each = [Figure(f"CPU, {name}", value, "s") for name, value in cost.cpu.items()]
    return [
        *each,
        Figure("fit", cost.wall, "s"),
        Figure("passes over the rows", cost.passes, "s"),
        Figure("CPU of the workers per million rows", whole / n * 1e6, "s"),
        Figure("sent between workers", sum(cost.sent.values()), "MB"),
        Figure("largest memory of a worker", cost.memory["worker"], "GiB", 2.0, at_least=False),
        Figure("largest memory of the client", cost.memory["client"], "GiB", 2.0, at_least=False),
    ]


def show(model: Any) -> None:
    print(model.members_)
    print(f"held-out gain {model.unlabeled_gain_:.4f}", flush=True)


def rival(data: Any, estimator: Any = "auto") -> list[Figure]:
    seconds, model, n = sampled(data, estimator)
    name = f"sample of {n:,} rows"
    return [Figure(f"{name}, fit", seconds, "s"), *accuracies(name, model, data, None)]


def made(arguments: argparse.Namespace) -> list[Figure]:
    data = Made(arguments.rows, arguments.features, arguments.labels, arguments.size)
    model = SemiSupervisedClassifier(graph=Anchors(arguments.anchors), random_state=0, verbose=1)
    cost, _ = fit(model, data, arguments.workers, arguments.memory)
    show(model)
    figures = costs(cost, arguments.rows)
    local = model.to_local()
    found = accuracies("Dask", local, data, None)
    found += accuracies("labels alone", labels_alone(data), data, None)
    found += [] if arguments.alone else rival(data)
    figures += found
    if arguments.store:
        line = {"rows": arguments.rows, "anchors": arguments.anchors, "labels": arguments.labels}
        line |= {"size": arguments.size, "workers": arguments.workers}
        line |= {"seconds": round(cost.wall, 1), "passes": round(cost.passes, 1)}
        line |= {f"cpu_{name}": round(value, 2) for name, value in cost.cpu.items()}
        line |= {f"{name}_gib": round(value, 2) for name, value in cost.memory.items()}
        line |= {"joins_mb": round(cost.joins, 2)}
        line |= {f"sent_{name}": round(value, 3) for name, value in cost.sent.items()}
        kinds = [("Dask", "accuracy"), ("labels alone", "labels_alone"), ("sample", "sample")]
        for begin, key in kinds:
            own = [each.value for each in found if each.name.startswith(begin) and not each.unit]
            line[key] = round(own[0], 4) if own else ""
        store("dask_scale", [line], ("rows", "anchors", "workers"))
    return figures + (compare(data, local, arguments.anchors) if arguments.compare else [])


def compare(data: Any, one: Any, n_anchors: int) -> list[Figure]:
    """Return how far the local estimator with the same anchors differs."""
    X, y = data.rows.compute(scheduler="sync"), data.labels.compute(scheduler="sync")
    two = graphkm.SemiSupervisedClassifier(graph=Anchors(n_anchors), random_state=0)
    start = time.perf_counter()
    two.fit(X, y)
    figures = [Figure("local fit to all rows", time.perf_counter() - start, "s")]
    mine, other = ({each.name: each.weight for each in own.members_} for own in (one, two))
    apart = max(abs(mine[name] - weight) for name, weight in other.items())
    figures.append(Figure("weights of members, largest difference", apart, "", 1e-6, False))
    apart = float(np.abs(one.predict_proba(data.new) - two.predict_proba(data.new)).max())
    figures.append(Figure("probabilities, largest difference", apart, "", 1e-6, False))
    same = float(np.mean(one.predict(data.new) == two.predict(data.new)))
    return [*figures, Figure("new rows with the same decision", same, "", 1.0)]


def speedup(arguments: argparse.Namespace) -> list[Figure]:
    figures, walls = [], {}
    for workers in (1, 2):
        data = Made(arguments.rows, arguments.features, arguments.labels, arguments.size)
        model = SemiSupervisedClassifier(graph=Anchors(arguments.anchors), random_state=0)
        walls[workers] = fit(model, data, workers)[0].passes
        figures.append(Figure(f"passes, {workers} workers", walls[workers], "s"))
    return [*figures, Figure("times as fast with 2 workers", walls[1] / walls[2], "", 1.8)]


def mnist(arguments: argparse.Namespace, folder: Path) -> list[Figure]:
    figures = []
    for labels, below in MNIST_TARGETS.items():
        data = Stored("mnist", labels, arguments.size, folder)
        model = SemiSupervisedClassifier(graph=Anchors(arguments.anchors), random_state=0)
        cost, answers = fit(model, data, arguments.workers)
        show(model)
        n, y = data.rows.shape[0], data.labels.compute()
        X = data.rows.compute(scheduler="sync")
        local = graphkm.SemiSupervisedClassifier(random_state=0).fit(X, y)
        name = f"{labels} labels, local on all rows"
        every = accuracies(name, local, data, local.transduction_)
        figures += every
        found = accuracies(f"{labels} labels, Dask", model.to_local(), data, answers)
        for mine, other in zip(found, every, strict=True):
            figures.append(Figure(mine.name, mine.value, "", round(other.value - below, 4)))
        figures += costs(cost, n)
        seconds, small, size = sampled(data)
        name = f"{labels} labels, sample of {size:,} rows"
        figures += [Figure(f"{name}, fit", seconds, "s"), *accuracies(name, small, data, None)]
    return figures


def covtype(arguments: argparse.Namespace, folder: Path) -> list[Figure]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.svm import SVC

    bases = {
        "forest": RandomForestClassifier(random_state=0, n_jobs=1),
        "svc": SVC(C=10.0, gamma=30.0, cache_size=1000),
    }
    base = bases[arguments.base]
    data = Stored("covtype-2", "10%", arguments.size, folder)
    # An SVC of so many labels takes minutes for each fold.
    cv = 2 if arguments.base == "svc" else None
    anchors = Anchors(arguments.anchors)
    model = SemiSupervisedClassifier(base, graph=anchors, cv=cv, random_state=0)
    cost, answers = fit(model, data, arguments.workers)
    show(model)
    alone = accuracies(f"{arguments.base} alone", labels_alone(data, base), data, None)
    target = {"target": max(COVTYPE_TARGET, alone[0].value)}
    found = accuracies("Dask", model.to_local(), data, answers, **target)
    return [*costs(cost, data.rows.shape[0]), *alone, *found, *rival(data, base)]


def run(arguments: argparse.Namespace) -> list[Figure]:
    anchors, size = (64_000, 20_000) if arguments.covtype else (20_000, 10_000)
    if not (arguments.mnist or arguments.covtype):
        anchors, size = 2000, 50_000
    arguments.anchors, arguments.size = arguments.anchors or anchors, arguments.size or size
    if arguments.quick:
        arguments.rows, arguments.anchors, arguments.size = 20_000, 200, 5000
        return made(arguments)
    if arguments.speedup:
        return speedup(arguments)
    if not (arguments.mnist or arguments.covtype):
        return made(arguments)
    with tempfile.TemporaryDirectory() as folder:
        return (mnist if arguments.mnist else covtype)(arguments, Path(folder))


if __name__ == "__main__":
    script(
        run,
        mnist={"action": "store_true", "help": "MNIST instead of made rows"},
        covtype={"action": "store_true", "help": "COVTYPE instead of made rows"},
        base={"choices": ["forest", "svc"], "default": "forest"},
        rows={"type": int, "default": 1_000_000},
        features={"type": int, "default": 20},
        labels={"type": int, "default": 500},
        anchors={"type": int, "help": "2,000; of MNIST 20,000, of COVTYPE 64,000"},
        workers={"type": int, "default": 2},
        size={"type": int, "help": "rows of a partition"},
        compare={"action": "store_true", "help": "with the local estimator on all rows"},
        speedup={"action": "store_true", "help": "one worker against two"},
        memory={"default": "2GB", "help": "the limit of a worker's memory"},
        store={"action": "store_true", "help": "keep the figures in results/dask_scale.csv"},
        alone={"action": "store_true", "help": "without the sample"},
    )

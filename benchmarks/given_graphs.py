"""The front door on given graphs: citations, and graphs whose neighbours differ in class.

    python benchmarks/given_graphs.py [--draws 20] [--store]
    python benchmarks/given_graphs.py --quick
    python benchmarks/given_graphs.py --picture docs/guide/citations.png

Cora (2,708 papers, 7 classes) has a public split with 20 labels of each class, and random draws of
as many (seeds 0 to 19). Texas and film have neighbours that mostly differ in class; their three
splits are those of Geom-GCN (Pei et al., 2020). "Features" is the same estimator without the graph,
"edges" the graph without rows. Accuracy in % is that of the test rows of a split, and of all
unlabelled rows of a draw. The labels of the training split alone are used: none of validation or
test rows has a part in any choice.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from _common import Figure, data_file, script, store, table
from _processes import forked
from graphkm import SemiSupervisedClassifier

WAYS = ("graph", "features", "edges")
PER_CLASS = 20


class Graph(NamedTuple):
    """Rows, classes and edges."""

    X: Any
    y: np.ndarray
    edges: np.ndarray
    splits: dict[str, tuple[np.ndarray, np.ndarray]]


def read(name: str) -> Graph:
    with np.load(data_file(f"graphs/{name}.npz")) as data:
        parts = data["values"], data["indices"], data["indptr"]
        X = sp.csr_array(parts, shape=tuple(data["shape"]))
        if "train" in data:
            splits = {"public": (data["train"], data["test"])}
        else:
            splits = {f"split {k}": (data[f"train{k}"], data[f"test{k}"]) for k in range(3)}
        return Graph(X, data["y"].astype(int), data["edges"], splits)


def drawn(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a draw of so many labels of each class, and all other rows."""
    rng = np.random.default_rng(seed)
    rows = [rng.choice(np.flatnonzero(y == c), PER_CLASS, replace=False) for c in np.unique(y)]
    train = np.concatenate(rows)
    return train, np.setdiff1d(np.arange(len(y)), train)


def tasks(draws: int, seeds: int) -> Iterator[tuple[str, str, tuple[np.ndarray, np.ndarray]]]:
    for name in ("cora", "texas", "film"):
        graph = read(name)
        for split, rows in graph.splits.items():
            yield name, split, rows
        if name == "cora":
            for seed in range(seeds, seeds + draws):
                yield name, f"draw {seed}", drawn(graph.y, seed)


def measured(name: str, train: np.ndarray, test: np.ndarray, way: str) -> dict[str, float]:
    """Return accuracy and CPU seconds of one fit."""
    warnings.simplefilter("ignore")
    graph = read(name)
    y = np.full(len(graph.y), -1)
    y[train] = graph.y[train]
    model = SemiSupervisedClassifier(random_state=0, n_jobs=1)
    start = time.process_time()
    if way == "features":
        model.fit(graph.X, y)
    else:
        model.fit(None if way == "edges" else graph.X, y, affinity=graph.edges)
    spent = time.process_time() - start
    hits = model.transduction_[test] == graph.y[test]
    return {"accuracy": 100 * hits.mean(), "cpu": spent}


def run(arguments: argparse.Namespace) -> list[Figure]:
    if arguments.picture is not None:
        draw(arguments.picture)
        return []
    wanted = [
        (name, split, rows, way)
        for name, split, rows in tasks(0 if arguments.quick else arguments.draws, arguments.seeds)
        for way in WAYS
        if not (name == "film" and (way == "edges" or arguments.quick))
    ]
    jobs = (partial(measured, name, *rows, way) for name, _, rows, way in wanted)
    lines = []
    for number, answer in forked(jobs, arguments.jobs):
        if answer["status"] != "ok":
            raise SystemExit(answer.get("traceback", answer["status"]))
        name, split, _, way = wanted[number]
        accuracy, cpu = f"{answer['accuracy']:.2f}", f"{answer['cpu']:.2f}"
        lines.append({"set": name, "split": split, "way": way, "accuracy": accuracy, "cpu": cpu})
    lines.sort(key=lambda line: (line["set"], line["split"], line["way"]))
    if arguments.store:
        store("given_graphs", lines, ("set", "split", "way"))
    print(table(*summary(lines)))
    return figures(lines)


def draw(path: Path) -> None:
    """Draw the public split of Cora: what features, edges, and both together tell."""
    import matplotlib.pyplot as plt
    from sklearn.decomposition import TruncatedSVD
    from sklearn.manifold import TSNE

    from graphkm.fields.system import FieldSystem
    from graphkm.graphs.given import GivenGraph

    warnings.simplefilter("ignore")
    graph = read("cora")
    n, (train, test) = len(graph.y), graph.splits["public"]
    ones = np.ones(len(graph.edges))
    own = GivenGraph("cites", sp.csr_array((ones, tuple(graph.edges.T)), shape=(n, n)))
    rows = TruncatedSVD(50, random_state=0).fit_transform(graph.X).astype(np.float32)
    far = FieldSystem(own.similarity).applied(rows, 0.1)
    at = TSNE(init="pca", random_state=0).fit_transform(far)
    y = np.full(n, -1)
    y[train] = graph.y[train]
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
    for way, axis in zip(("features", "edges", "graph"), axes, strict=True):
        model = SemiSupervisedClassifier(random_state=0)
        given = {} if way == "features" else {"affinity": graph.edges}
        model.fit(None if way == "edges" else graph.X, y, **given)
        said = model.transduction_
        right = 100 * np.mean(said[test] == graph.y[test])
        if way != "features":
            axis.plot(*at[graph.edges].transpose(2, 1, 0), color="0.85", linewidth=0.2, zorder=0)
        axis.scatter(*at.T, c=said, cmap="tab10", s=3, vmax=9)
        axis.scatter(*at[train].T, c=graph.y[train], cmap="tab10", s=22, edgecolor="k", vmax=9)
        title = {"features": "Words", "edges": "Citations", "graph": "Words and citations"}[way]
        axis.set_title(f"{title}: {right:.1f} % right")
        axis.set_axis_off()
    figure.savefig(path, dpi=110)


def means(lines: list[dict[str, str]], key: str = "accuracy") -> dict[tuple[str, str, str], float]:
    """Return means by set, kind of split and way."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for line in lines:
        place = line["set"], line["split"].split()[0], line["way"]
        found.setdefault(place, []).append(float(line[key]))
    return {place: float(np.mean(values)) for place, values in found.items()}


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    accuracy, cpu = means(lines), means(lines, "cpu")
    kinds = {"public": "public split", "draw": "random draws", "split": "three splits"}
    rows = []
    for name, kind in dict.fromkeys(place[:2] for place in accuracy):
        row = [name, kinds[kind]]
        for way in WAYS:
            place = name, kind, way
            row.append(f"{accuracy[place]:.1f} ({cpu[place]:.1f} s)" if place in accuracy else "")
        rows.append(row)
    return ["set", "splits", *WAYS], rows


def figures(lines: list[dict[str, str]]) -> list[Figure]:
    found, cpu = means(lines), means(lines, "cpu")
    ours = [
        Figure("Cora, public split", found["cora", "public", "graph"], "%", 85.0),
        Figure("Cora without features", found["cora", "public", "edges"], "%", 74.0),
        Figure("CPU s on Cora", cpu["cora", "public", "graph"], "s", 10.0, at_least=False),
    ]
    if ("cora", "draw", "graph") in found:
        ours.append(Figure("Cora, random draws", found["cora", "draw", "graph"], "%", 82.0))
    for name, least in (("texas", 0.0), ("film", -1.0)):
        if (name, "split", "graph") in found:
            gain = found[name, "split", "graph"] - found[name, "split", "features"]
            ours.append(Figure(f"{name}, beside features alone", gain, "points", least))
    return ours


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 20, "help": "random draws of Cora"},
        seeds={"type": int, "default": 0, "help": "the seed of the first draw"},
        jobs={"type": int, "default": 1, "help": "fits at once; 1 by default"},
        store={"action": "store_true", "help": "keep the results"},
        picture={"type": Path, "help": "draw the public split of Cora, and do nothing else"},
    )

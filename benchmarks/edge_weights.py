"""How sharp the weights of a graph's edges are: fields alone, the paper's machine, anchors.

    python benchmarks/edge_weights.py [--part rows,machine,anchors] [--sets mnist] [--draws 3]

"rows" prints the accuracy of a field alone for several sharpnesses, "machine" that of
`GKMClassifier` with local and with sharp weights, and "anchors" that of the front door on mild and
on sharp anchors (hidden and new rows). The sets are read from the folder GRAPHKM_DATA.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np

from _common import Figure, script
from graphkm import GKMClassifier, SemiSupervisedClassifier
from graphkm.fields.system import FieldData, FieldSystem, Strength
from graphkm.graphs import KNN, RowNodes
from graphkm.graphs import anchors as anchor_nodes
from graphkm.neighbours.index import NeighbourIndex
from table_sets import SETS, split

OF_ROWS = (("mnist", "100"), ("ijcnn1", "10%"), ("covtype-7", "10%"))
OF_MACHINES = ("g50c", "uspst", "digit1", "usps", "g241c", "text", "coil20", "svmguide1")
OF_ANCHORS = (
    *(("mnist", "100"), ("mnist", "500"), ("usps", "100"), ("uspst", "100"), ("digit1", "50")),
    *(("g241c", "200"), ("coil20", "200"), ("svmguide1", "200"), ("ijcnn1", "10%")),
)


def told(name: str, share: float) -> Figure:
    """Print what was found at once, because the whole takes long."""
    print(f"{name}: {100 * share:.2f} %", flush=True)
    return Figure(name, 100 * float(share), "%")


def rows(name: str, labels: str, _: int) -> Iterator[Figure]:
    X, y = SETS[name]()
    train, _, labeled = split(y, labels, seed=0)
    known, truth = np.flatnonzero(labeled), y[train]
    values = np.eye(y.max() + 1)[truth[known]] - 1 / (y.max() + 1)
    index = NeighbourIndex(np.ascontiguousarray(X[train]), n_jobs=-1)
    for factor in (1.0, 4.0, 6.0, 8.0):
        graph = RowNodes.graph(index, 10, factor)
        data = FieldData.of(graph, known, np.ones(len(known)), values)
        g = FieldSystem(graph.similarity, n_threads=2).solve(data, Strength(C=3.0, eps=0.01))
        right = np.mean((g.argmax(axis=1) == truth)[~labeled])
        yield told(f"field, {name}, {labels} labels, sharpness {factor:g}", right)


def machine(name: str, labels: str, draws: int) -> Iterator[Figure]:
    X, y = SETS[name]()
    for weights in ("local", "sharp"):
        right = []
        for seed in range(draws):
            train, _, labeled = split(y, labels, seed)
            model = GKMClassifier(graph=KNN(weights=weights), random_state=seed)
            model.fit(X[train], np.where(labeled, y[train], -1))
            right.append(np.mean((model.transduction_ == y[train])[~labeled]))
        yield told(f"machine, {name}, {labels} labels, {weights}", np.mean(right))


def anchors(name: str, labels: str, draws: int) -> Iterator[Figure]:
    X, y = SETS[name]()
    used = anchor_nodes.FEW
    for kind, few in (("mild", np.inf), ("sharp", anchor_nodes.NEAR)):
        anchor_nodes.FEW = few  # type: ignore[assignment]
        found = []
        for seed in range(draws):
            train, test, labeled = split(y, labels, seed)
            model = SemiSupervisedClassifier(graph="anchors", random_state=seed)
            model.fit(X[train], np.where(labeled, y[train], -1))
            hidden = np.mean((model.transduction_ == y[train])[~labeled])
            found.append((hidden, np.mean(model.predict(X[test]) == y[test])))
        hidden, new = np.mean(found, axis=0)
        yield told(f"anchors, {name}, {labels} labels, {kind}", hidden)
        yield told(f"anchors, {name}, {labels} labels, {kind}, new rows", new)
    anchor_nodes.FEW = used


PARTS = {
    "rows": (rows, OF_ROWS),
    "machine": (machine, tuple((name, n) for name in OF_MACHINES for n in ("50", "200"))),
    "anchors": (anchors, OF_ANCHORS),
}


def run(arguments: argparse.Namespace) -> list[Figure]:
    warnings.simplefilter("ignore")
    sets, figures = arguments.sets.split(",") if arguments.sets else None, []
    for part in arguments.part.split(","):
        measure, cells = PARTS[part]
        chosen = [cell for cell in cells if sets is None or cell[0] in sets]
        for name, labels in [("g50c", "50")] if arguments.quick else chosen:
            figures += measure(name, labels, 1 if arguments.quick else arguments.draws)
    return figures


if __name__ == "__main__":
    script(
        run,
        part={"default": ",".join(PARTS), "help": "rows, machine, anchors"},
        sets={"help": "comma-separated; all by default"},
        draws={"type": int, "default": 3},
    )

"""How sharp the weights of a graph's edges are: fields alone, the paper's machine, anchors.

    python benchmarks/edge_weights.py [--part rows,machine,anchors] [--sets mnist] [--draws 3]

"rows" prints the accuracy of a field alone for several sharpnesses, "machine" that of
`GKMClassifier` with local and with sharp weights, and "anchors" that of the front door on mild and
on sharp anchors (hidden and new rows). The sets are read from the folder GRAPHKM_DATA.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

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


def rows(name: str, labels: str, _: int) -> None:
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
        print(f"{name}, {labels} labels, sharpness {factor:g}: {100 * right:.2f} %", flush=True)


def machine(name: str, labels: str, draws: int) -> None:
    X, y = SETS[name]()
    for weights in ("local", "sharp"):
        right = []
        for seed in range(draws):
            train, _, labeled = split(y, labels, seed)
            model = GKMClassifier(graph=KNN(weights=weights), random_state=seed)
            model.fit(X[train], np.where(labeled, y[train], -1))
            right.append(np.mean((model.transduction_ == y[train])[~labeled]))
        print(f"{name}, {labels} labels, {weights}: {100 * np.mean(right):.2f} %", flush=True)


def anchors(name: str, labels: str, draws: int) -> None:
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
        hidden, new = 100 * np.mean(found, axis=0)
        print(f"{name}, {labels} labels, {kind}: {hidden:.2f} {new:.2f} %", flush=True)
    anchor_nodes.FEW = used


PARTS = {
    "rows": (rows, OF_ROWS),
    "machine": (machine, tuple((name, n) for name in OF_MACHINES for n in ("50", "200"))),
    "anchors": (anchors, OF_ANCHORS),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", default=",".join(PARTS), help="rows, machine, anchors")
    parser.add_argument("--sets", help="comma-separated; all by default")
    parser.add_argument("--draws", type=int, default=3)
    arguments = parser.parse_args()
    for part in arguments.part.split(","):
        measure, cells = PARTS[part]
        for name, labels in cells:
            if not arguments.sets or name in arguments.sets.split(","):
                measure(name, labels, arguments.draws)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

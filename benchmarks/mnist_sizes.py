"""All of MNIST with few labels, and the sizes of its classes: known, wrong by a fifth, or unknown.

`class_sizes.py --mnist` prints this, and `--cuts` compares cuts alone. What does not depend on
labels is computed once for all fits: the graph, its leading eigenvectors, and those of all pairs.
Members that do not depend on sizes are fitted once for each draw. A training row is its own node,
so no neighbours of it are searched again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from graphkm import SemiSupervisedClassifier
from graphkm.fields.sized_cuts import cut_to_sizes
from graphkm.fields.system import FieldSystem
from graphkm.graphs import KNN, RowNodes
from graphkm.judge.sizes import SLACK
from graphkm.members import features
from graphkm.semi import member_list, mixed
from leaderboard.cells import equal
from leaderboard.row_sets import SETS


class OwnNodes(RowNodes):
    """Nodes that know the training rows."""

    def weights(self, X: Any) -> Any:
        """Return the weights of the nodes at rows."""
        n = self.points.shape[0]
        return sp.eye_array(n, format="csr") if X.shape[0] == n else super().weights(X)


class OneGraph(KNN):
    """A graph of nearest rows that is made once."""

    made: ClassVar[dict[str, Any]] = {}

    def nodes(self, X: Any, kept: Any = None, **about: Any) -> Any:
        """Return the graph, joined to some rows."""
        if not self.made:
            graph = super().nodes(X, **about)
            old = graph.nodes
            nodes = OwnNodes(old.index, old.n_neighbors, old.reach, old.sharpness)
            nodes.counts = old.counts
            self.made["graph"] = graph._replace(nodes=nodes)
        graph = self.made["graph"]
        return graph._replace(rows=graph.rows[kept])


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that keeps its answers, by the numbers and shapes among its arguments."""
    kept: dict[Any, Any] = {}

    def answer(*given: Any) -> Any:
        key = tuple(getattr(each, "shape", each) for each in given)
        if key not in kept:
            kept[key] = function(*given)
        return kept[key]

    return answer


class OneSpectrum(features.KernelSpectrum):
    """Eigenvectors of all pairs, whose values at all rows are kept."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self._everywhere: Any = None

    def at(self, X: Any) -> Any:
        """Return the eigenvectors at rows."""
        if X.shape[0] < 10_000:
            return super().at(X)
        if self._everywhere is None:
            self._everywhere = super().at(X)
        return self._everywhere


class PerDraw:
    """A function that keeps its answers until the next draw, by what `key` says of arguments."""

    every: ClassVar[list[PerDraw]] = []

    def __init__(self, function: Callable[..., Any], key: Callable[..., Any]) -> None:
        self.function, self.key, self.kept = function, key, dict[Any, Any]()
        self.every.append(self)

    def __call__(self, *given: Any, **more: Any) -> Any:
        """Return what the function says, or has said."""
        key = self.key(*given)
        if key not in self.kept:
            found = self.function(*given, **more)
            self.kept[key] = given, list(found) if isinstance(found, Iterator) else found
        return self.kept[key][1]


@cache
def _prepare() -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and their classes; from here on, what needs no labels is kept."""
    features.leading_vectors = once(features.leading_vectors)
    features.KernelSpectrum = once(OneSpectrum)
    for name in ("model_members", "cluster_members", "diffused_members"):
        found = PerDraw(getattr(member_list, name), lambda *given: "")
        setattr(member_list, name, found)
    of_model = PerDraw(member_list.residual_members, lambda known, scope, model: model is None)
    member_list.residual_members = of_model
    mixed.model_scores = PerDraw(mixed.model_scores, lambda model, rows, _: (id(model), len(rows)))
    cell = SETS["mnist"]()[0]
    return cell.X, cell.y


def accuracies(
    per_class: int, seeds: range, mistaken: Callable[[np.ndarray, int], np.ndarray]
) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield the accuracies of every draw, in percent."""
    X, truth = _prepare()
    sizes = np.bincount(truth) / len(truth)
    for seed in seeds:
        rows = equal(truth, per_class, seed + 1)[seed]
        y = np.full(len(truth), -1)
        y[rows] = truth[rows]
        rest, found = y == -1, {}
        for each in PerDraw.every:
            each.kept.clear()
        ways = {"none": None, "given": sizes, "given, wrong": mistaken(sizes, seed)}
        for name, given in ways.items():
            asked = None if given is None else dict(enumerate(given))
            model = SemiSupervisedClassifier(
                graph=OneGraph(), class_sizes=asked, random_state=0, n_jobs=1
            ).fit(X, y)
            found[name] = 100 * float(np.mean(model.transduction_[rest] == truth[rest]))
        yield seed, found


CHOICES = (
    (0.1, 10),
    (0.05, 10),
    (0.2, 10),
    (0.1, 5),
    (0.1, 20),
)  # price and steps; the first is ours


def cuts(
    per_class: int, seeds: range, mistaken: Callable[[np.ndarray, int], np.ndarray]
) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield the accuracies of cuts alone, with other prices and steps."""
    X, truth = _prepare()
    sizes = np.bincount(truth) / len(truth)
    for seed in seeds:
        rows = equal(truth, per_class, seed + 1)[seed]
        rest, found = np.setdiff1d(np.arange(len(truth)), rows), {}
        graph = OneGraph().nodes(X, rows)
        about = graph, np.arange(len(rows)), np.eye(len(sizes))[truth[rows]]
        system = FieldSystem(graph.similarity)
        for price, steps in CHOICES:
            for name, given in (("", sizes), (", wrong", mistaken(sizes, seed))):
                how = {"slack": SLACK, "price": price, "steps": steps}
                said = cut_to_sizes(system, *about, given, **how).argmax(axis=1)
                right = 100 * float(np.mean(said[rest] == truth[rest]))
                found[f"price {price:g}, {steps} steps{name}"] = right
        yield seed, found

"""Graphs as parts of an estimator: what joins rows, and how heavy the edges are."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._util.parameters import check_choice, check_count, check_number
from .._util.parts import Combination, Sizes, part_by_name
from ..kernels import resolve_gamma
from ..neighbours.arguments import NEIGHBORS, default_neighbors
from ..neighbours.distinct import distinct_rows
from ..neighbours.index import NeighbourIndex, Neighbours, choose_search
from .base import Graph
from .bipartite import BipartiteGraph
from .full import FullGraph
from .implicit import ImplicitGraph
from .neighbors import epsilon_graph, knn_graph, neighbour_graph
from .node_parts import Anchors
from .nodes import SHARPNESS, NodeGraph, RowNodes
from .part_kinds import GraphPart, NodesPart


class _Weighted(GraphPart):
    """A graph whose weights are mu_uv = exp(-gamma ||x_u - x_v||^2)."""

    weights: float | str
    _words: ClassVar[tuple[str, ...]] = ("auto", "kernel")

    def __post_init__(self) -> None:
        if self.weights in ("local", "sharp") and self.weights not in self._words:
            raise ValueError(
                f"weights={self.weights!r} takes its bandwidths from nearest neighbours, which "
                f"{type(self).__name__} does not search for; pass a number, 'kernel' or KNN()."
            )
        check_number("weights", self.weights, least=0, words=self._words)

    def weighted(self, gamma: float, *, local: bool) -> Self:
        return self.with_params(weights=gamma) if self.weights in ("auto", "kernel") else self

    def build(
        self,
        X: Any,
        labeled: ArrayLike,
        *,
        affinity: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Graph:
        """Return the graph. Weights that are not filled in take the gamma "spread" of the rows."""
        if affinity is not None:
            raise ValueError(f"{type(self).__name__} takes no affinity, which Affinity() does.")
        weights = self.weights
        if weights in ("auto", "kernel"):
            weights = self.weighted(resolve_gamma("spread", X), local=True).weights
        return self._join(X, labeled, weights, n_jobs, verbose)

    @abstractmethod
    def _join(
        self, X: Any, labeled: ArrayLike, gamma: Any, n_jobs: int | None, verbose: bool
    ) -> Graph:
        """Return the graph whose weights have this gamma, or are "local"."""


@dataclass(frozen=True)
class KNN(_Weighted, NodesPart):
    """Join two rows if either is among the other's k nearest.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        k. "auto" is 10, but at most the root of the number of rows: among a dozen rows ten
        neighbours are nearly all of them. In a stream it is 10.
    weights : float, "local", "sharp", "kernel" or "auto", default="auto"
        A number g weighs edges by exp(-g ||x_u - x_v||^2). "kernel" takes g from the rbf
        kernel, and from gamma="spread" for other kernels. "local" weighs by
        exp(-||x_u - x_v||^2 / (s_u s_v)), with s_u the distance of u from its k-th neighbour
        (Zelnik-Manor and Perona, 2004), and "sharp" by the sixth power of that. "auto" is
        "sharp" for fields, "local" for the Newton solvers, else "kernel".
    search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found. "approximate" finds nearly all of them. "auto" takes it for
        10,000 dense rows or more with more than four columns, and is exact else.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> KNN(n_neighbors=1, weights=1.0).build(X, np.array([True, False, False])).edges().v
    array([1, 2])
    """

    n_neighbors: int | str = "auto"
    weights: float | str = "auto"
    search: str = "auto"
    listed: ClassVar[bool] = True
    stream_kind: ClassVar[str | None] = "knn"
    _words: ClassVar[tuple[str, ...]] = ("auto", "local", "sharp", "kernel")

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        check_count("n_neighbors", self.n_neighbors, words=("auto",))
        check_choice("search", self.search, ("auto", "exact", "approximate"))

    def planned(self, sizes: Sizes, X: Any) -> Self:
        """Return the part with its neighbours and their search filled in; a stream has 0 rows."""
        k, search = self.n_neighbors, self.search
        if k == "auto":
            k = default_neighbors(sizes.n_rows) if sizes.n_rows else NEIGHBORS
        if search == "auto":
            search = choose_search(X) if sizes.n_rows else "exact"
        return replace(self, n_neighbors=k, search=search)

    def weighted(self, gamma: float, *, local: bool) -> Self:
        """Return the part with its weights filled in."""
        if self.weights == "auto" and local:
            return replace(self, weights="local")
        return super().weighted(gamma, local=local)

    def accepts(self, together: Combination) -> None:
        """Raise ValueError if the graph does not go with the other parts."""
        super().accepts(together)
        if together.streaming and self.weights in ("local", "sharp"):
            raise ValueError(
                f"weights={self.weights!r} needs the neighbours of every row, which a stream "
                "changes; pass a number, or 'kernel' for the kernel's bandwidth."
            )

    def _join(
        self, X: Any, labeled: ArrayLike, gamma: Any, n_jobs: int | None, verbose: bool
    ) -> Graph:
        k, method = self.n_neighbors, self.search
        return knn_graph(X, labeled, k, gamma, n_jobs, method=method, verbose=verbose)  # type: ignore[arg-type]

    def nodes(
        self,
        X: Any,
        kept: NDArray[np.int64] | None = None,
        *,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> NodeGraph:
        """Return every row as a node; copies of a row share one."""
        sharpness = {"auto": SHARPNESS, "sharp": SHARPNESS, "local": 1.0}.get(self.weights)  # type: ignore[arg-type]
        if sharpness is None:
            raise ValueError(
                f"weights={self.weights!r} has one bandwidth for all rows, but every node of a "
                "field needs a bandwidth of its own; pass 'sharp' or 'local'."
            )
        first, place = distinct_rows(X)
        m = len(first)
        points = X if m == X.shape[0] else X[first]
        k = default_neighbors(m) if self.n_neighbors == "auto" else int(self.n_neighbors)
        index = NeighbourIndex(points, self.search, n_jobs, verbose)  # type: ignore[arg-type]
        graph = RowNodes.graph(index, min(k, m - 1), sharpness)
        assert isinstance(graph.nodes, RowNodes)
        graph.nodes.counts, graph.nodes.numbers = np.bincount(place), first
        return graph._replace(rows=graph.rows[place if kept is None else place[kept]])

    def of_neighbours(self, neighbours: Neighbours, labeled: NDArray[np.bool_]) -> Graph:
        """Return the graph from neighbours that are known, perhaps more than k for each row."""
        assert not isinstance(self.n_neighbors, str)
        return neighbour_graph(neighbours.first(self.n_neighbors), labeled, self.weights)


@dataclass(frozen=True)
class Epsilon(_Weighted):
    """Join two rows if their distance is at most `radius`.

    Parameters
    ----------
    radius : float
        The largest distance.
    weights : float, "kernel" or "auto", default="auto"
        As in `KNN`; "auto" is "kernel".

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> Epsilon(radius=1.5, weights=1.0).build(X, np.array([True, False, False])).n_edges
    1
    """

    radius: float
    weights: float | str = "auto"
    listed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        super().__post_init__()
        check_number("radius", self.radius, least=0, strictly=True)

    def _join(
        self, X: Any, labeled: ArrayLike, gamma: Any, n_jobs: int | None, verbose: bool
    ) -> Graph:
        return epsilon_graph(X, labeled, self.radius, gamma, n_jobs)


class _ByFormula(_Weighted):
    """A graph whose edges follow a formula, and are not stored."""

    _graph: ClassVar[type[ImplicitGraph]]

    def _join(
        self, X: Any, labeled: ArrayLike, gamma: Any, n_jobs: int | None, verbose: bool
    ) -> Graph:
        return self._graph(X, labeled, gamma)


@dataclass(frozen=True)
class Full(_ByFormula):
    """Join all pairs of rows. Edges are computed when they are drawn, and nothing is stored.

    Parameters
    ----------
    weights : float, "kernel" or "auto", default="auto"
        As in `KNN`; "auto" is "kernel".

    Examples
    --------
    >>> Full(weights=1.0).build(np.array([[0.0], [1.0], [3.0]]), np.array([True, True, False]))
    FullGraph(n_vertices=3, n_edges=2)
    """

    weights: float | str = "auto"
    stream_kind: ClassVar[str | None] = "full"
    _graph: ClassVar[type[ImplicitGraph]] = FullGraph


@dataclass(frozen=True)
class Bipartite(_ByFormula):
    """Join every labelled row with every unlabelled one; nothing is stored.

    Parameters
    ----------
    weights : float, "kernel" or "auto", default="auto"
        As in `KNN`; "auto" is "kernel".

    Examples
    --------
    >>> Bipartite(weights=1.0).build(np.eye(3), np.array([True, True, False])).n_edges
    2
    """

    weights: float | str = "auto"
    stream_kind: ClassVar[str | None] = "bipartite"
    _graph: ClassVar[type[ImplicitGraph]] = BipartiteGraph


GRAPHS = {
    "knn": KNN(),
    "full": Full(),
    "bipartite": Bipartite(),
}
"""The graphs that a name stands for."""


def resolve_graph(graph: str | GraphPart) -> GraphPart:
    """Return the part that a name stands for, or the part itself.

    Examples
    --------
    >>> resolve_graph("knn")
    KNN(n_neighbors='auto', weights='auto', search='auto')
    """
    if isinstance(graph, str) and graph == "epsilon":
        raise ValueError("graph='epsilon' needs a distance; pass graph=Epsilon(radius=...).")
    if isinstance(graph, Anchors) or (isinstance(graph, str) and graph == "anchors"):
        raise ValueError(
            f"graph={graph!r} joins nodes, not rows; only SemiSupervisedClassifier and "
            "SemiSupervisedRegressor take it. Pass graph='knn'."
        )
    part: GraphPart = part_by_name("graph", graph, GraphPart, GRAPHS)
    return part


NODES = {"knn": KNN(), "anchors": Anchors()}
"""The nodes that a name stands for."""


def resolve_nodes(graph: str | NodesPart) -> NodesPart:
    """Return the part that a name stands for, or the part itself.

    Examples
    --------
    >>> resolve_nodes("anchors")
    Anchors(n_anchors='auto', passes=2)
    """
    part: NodesPart = part_by_name("graph", graph, NodesPart, NODES)
    return part

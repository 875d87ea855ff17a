"""The candidates of a model search, and the work that they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.threads import blas_threads_for
from ..expansion import KernelExpansion
from ..fields.kernel import FieldKernel
from ..graphs import KNN, Bipartite, Graph, ListedGraph, graph_or_given
from ..kernels import Kernel, resolve_gamma, resolve_kernel
from ..neighbours.arguments import NEIGHBORS, default_neighbors
from ..neighbours.index import NeighbourIndex, Neighbours
from ..objective import Objective
from ..smoothness import IteratedLaplacian, Smoothness
from ..solvers import Newton, RowNewton
from ..solvers.graph_kernel import GraphKernel, graph_form
from ..solvers.landmark_features import LandmarkFeatures
from ..solvers.row_newton import row_system
from .base import BaseGKM, Problem
from .plan import Plan, bandwidth

# The default values, in order of preference. C is in units of one over the mean kernel value of the
# labelled rows, C_graph in units of its usual value, and gamma in units of "spread".
_CS = (10.0, 100.0, 1.0, 1000.0)
_C_GRAPHS = (1.0, 100.0, 0.01)
_GAMMAS = (1.0, 3.0, 1.0 / 3.0, 10.0)  # with a graph the first only: each is a pass over the data
_GRAPHS = ((6, 2), (12, 4), (50, 8), (6, 1), (12, 1), (2, 1))  # `RowNewton` takes degree 1 only


@dataclass(frozen=True)
class Grid:
    """The values that are tried: the given ones, or the defaults in the units of the data.

    Order matters: of candidates that are judged equal, the first one wins.
    """

    given_Cs: Sequence[float] | None = None
    given_C_graphs: Sequence[float] | None = None
    given_gammas: Sequence[float | str] | None = None
    given_graphs: Sequence[tuple[int, int]] | None = None

    def Cs(self, scale: float) -> NDArray[np.float64]:
        """Return the values of C; `scale` is the mean kernel value of the labelled points."""
        if self.given_Cs is not None:
            return np.asarray(self.given_Cs, dtype=np.float64)
        return np.asarray(_CS) / scale

    def C_graphs(self, usual: float) -> list[float]:
        """Return the values of C_graph, without 0, which is always tried; `usual` is "auto"."""
        if self.given_C_graphs is not None:
            return [float(value) for value in self.given_C_graphs if value > 0]
        return [value * usual for value in _C_GRAPHS]

    def gammas(self, kernel: Kernel, X: Any, *, without_graph: bool = False) -> list[float | None]:
        """Return the values of gamma; None for a kernel that has none."""
        if kernel.with_gamma(1.0) is kernel:
            return [None]
        if self.given_gammas is not None:
            return [resolve_gamma(gamma, X) for gamma in self.given_gammas]  # type: ignore[arg-type]
        spread = resolve_gamma("spread", X)
        return [factor * spread for factor in (_GAMMAS if without_graph else _GAMMAS[:1])]

    def graphs(self, n: int, *, neighbours: bool, rows: bool = False) -> list[tuple[int, int]]:
        """Return pairs of a number of neighbours and a degree of the Laplacian."""
        given = self.given_graphs
        if given is None:
            share = default_neighbors(n) / NEIGHBORS
            usual = [pair for pair in _GRAPHS if pair[1] == 1 or not rows]
            given = [(max(1, round(share * k)), degree) for k, degree in usual]
        if not neighbours:  # the graph is fixed; only the degree varies
            return [(1, degree) for degree in dict.fromkeys(degree for _, degree in given)]
        return list(dict.fromkeys((min(int(k), n - 1), int(degree)) for k, degree in given))


@dataclass(frozen=True)
class Family:
    """Candidates that differ in C alone.

    Parameters
    ----------
    parameters : dict
        The parameters of the estimator that they set, without C.
    Cs : ndarray
        The values of C.
    phi : ndarray of shape (n_labeled, n_features) or None
        Features of the labelled rows, which include the graph; None if there are none.
    """

    parameters: dict[str, Any]
    Cs: NDArray[np.float64]
    phi: NDArray[np.float64] | None = None

    def candidates(self) -> list[dict[str, Any]]:
        """Return every candidate as parameters of the estimator."""
        return [{**self.parameters, "C": C} for C in self.Cs.tolist()]


class Candidates:
    """Families of candidates, which share as much work as possible.

    Features take one pass over the data per gamma and graph. Each C_graph then takes one
    factorisation. A row whose label is held out counts as unlabelled, so edges between labelled
    rows are kept.

    For a p other than 2, or a stochastic solver, there are no features, and C is in units of the
    plain kernel.

    Parameters
    ----------
    template : BaseGKM
        The estimator, with everything that is not searched.
    problem : Problem
        All of the data.
    plan : Plan
        The template's plan for the problem.
    grid : Grid
        The values that are tried.
    """

    def __init__(
        self,
        template: BaseGKM,
        problem: Problem,
        plan: Plan,
        grid: Grid,
    ) -> None:
        self._template, self._problem, self._plan, self._grid = template, problem, plan, grid
        self._labeled = np.flatnonzero(problem.labeled)
        self._rows = isinstance(plan.solver, RowNewton)
        self._kernel = resolve_kernel(template.kernel)
        self._graph_part = graph_or_given(template.graph, problem.affinity)

    def __iter__(self) -> Iterator[Family]:
        """Yield every family; candidates without a graph come last."""
        yield from self._with_features() if self.have_features else self._without_features()

    def __len__(self) -> int:
        """Return the number of candidates of all families."""

        def pairs(*, without_graph: bool) -> int:
            gammas = self._grid.gammas(self._kernel, self._problem.X, without_graph=without_graph)
            return len(gammas) * len(self._grid.Cs(1.0))

        graphs = len(self._graphs()) * len(self._C_graphs()) if self.has_graphs else 0
        return graphs * pairs(without_graph=False) + pairs(without_graph=True)

    @property
    def have_features(self) -> bool:
        """Whether families have features, which the closed form needs."""
        return isinstance(self._plan.solver, Newton | RowNewton) and self._plan.smoothness.p == 2

    @property
    def has_graphs(self) -> bool:
        """Whether any candidate has a graph."""
        return not self._problem.labeled.all() and len(self._C_graphs()) > 0

    def _C_graphs(self) -> list[float]:
        return self._grid.C_graphs(float(self._plan.C_graph))

    def _graphs(self) -> list[tuple[int, int]]:
        n, knn = self._problem.X.shape[0], isinstance(self._graph_part, KNN)
        graphs = self._grid.graphs(n, neighbours=knn, rows=self._rows)
        if isinstance(self._template.smoothness, IteratedLaplacian):
            return graphs
        return [(k, 1) for k in dict.fromkeys(k for k, _ in graphs)]

    @cached_property
    def neighbours(self) -> Neighbours | None:
        """The nearest rows of every row. One search serves all candidates and fits."""
        if not isinstance(self._graph_part, KNN) or not self.has_graphs:
            return None
        template, method = self._template, self._graph_part.search
        threads, verbose = template.n_threads(), bool(template.verbose)
        index = NeighbourIndex(self._problem.X, method, threads, verbose)  # type: ignore[arg-type]
        return Neighbours.of(index, max(k for k, _ in self._graphs()))

    # ------------------------------------------------------------------ with features

    def _with_features(self) -> Iterator[Family]:
        X = self._problem.X
        if self.has_graphs:
            for gamma in self._grid.gammas(self._kernel, X):
                families = self._of_rows if self._rows else self._of_landmarks
                yield from families(self._objective(gamma), gamma)
        for gamma in self._grid.gammas(self._kernel, X, without_graph=True):
            yield self._without_graph(gamma)

    def _of_landmarks(self, objective: Objective, gamma: float | None) -> Iterator[Family]:
        """Yield families whose graph smooths the function of the landmarks."""
        solver = self._plan.solver
        assert isinstance(solver, Newton)
        features = solver.features(objective, self._template.resources())
        labeled = features.kernels_at(self._labeled)
        for k, degree in self._graphs():
            problem = replace(objective, graph=self._graph(k, objective.kernel), degree=degree)
            form = graph_form(problem, features, self._template.verbose)
            for C_graph, factor in self._factors(problem):
                kernel = GraphKernel(features.gram, labeled, form, factor)
                parameters = self._named(k, degree, C_graph, gamma)
                yield Family(parameters, self._grid.Cs(kernel.scale), kernel.phi)

    def _of_rows(self, objective: Objective, gamma: float | None) -> Iterator[Family]:
        """Yield families whose graph smooths the rows' own scores."""
        for k, degree in self._graphs():
            graph = self._graph(k, objective.kernel)
            assert isinstance(graph, ListedGraph)
            system = row_system(graph, degree, self._template.n_threads())
            for C_graph, factor in self._factors(replace(objective, graph=graph)):
                with self._few_threads():
                    kernel = FieldKernel(system, 2.0 * factor, self._labeled)
                parameters = self._named(k, degree, C_graph, gamma)
                yield Family(parameters, self._grid.Cs(kernel.scale), kernel.phi)

    def _factors(self, objective: Objective) -> Iterator[tuple[float, float]]:
        """Yield every C_graph, and the factor of the graph's form."""
        for C_graph in self._C_graphs():
            factor = replace(objective, C_graph=np.array([C_graph])).graph_factor[0]
            yield C_graph, float(factor)

    def _without_graph(self, gamma: float | None) -> Family:
        """Return the candidates without a graph, which need only the labelled rows."""
        objective = self._objective(gamma)
        with self._few_threads():
            features = LandmarkFeatures(objective, self._labeled, 1e-12, self._template.n_threads())
            kernel = GraphKernel(features.gram, features.kernels_at(self._labeled), None, 0.0)
        parameters = self._named(None, None, 0.0, gamma)
        return Family(parameters, self._grid.Cs(kernel.scale), kernel.phi)

    def _few_threads(self) -> AbstractContextManager[Any]:
        """Return a context with few threads, for small matrices between labelled rows."""
        return blas_threads_for(len(self._labeled), len(self._labeled))

    def _named(
        self, k: int | None, degree: int | None, C_graph: float, gamma: float | None
    ) -> dict[str, Any]:
        """Return the parameters by their names in the estimator; None leaves one out."""
        iterated = isinstance(self._template.smoothness, IteratedLaplacian)
        known = {
            "graph__n_neighbors": k if isinstance(self._graph_part, KNN) else None,
            "smoothness__degree": degree if iterated else None,
            "C_graph": C_graph,
            "gamma": gamma,
        }
        return {name: value for name, value in known.items() if value is not None}

    def _objective(self, gamma: float | None) -> Objective:
        problem, kernel = self._problem, self._kernel
        return Objective(
            X=problem.X,
            labeled=self._labeled,
            targets=problem.targets,
            weights=problem.weights,
            kernel=kernel if gamma is None else kernel.with_gamma(gamma),
            offset=float(self._template.fit_intercept),
            loss=problem.loss,
            smoothness=Smoothness(2),
            C=np.ones(problem.targets.shape[1]),
            C_graph=np.ones(problem.targets.shape[1]),
            normalized=bool(self._plan.smoothness.normalized),
        )

    def _graph(self, k: int, kernel: Kernel) -> Graph:
        X, part = self._problem.X, self._graph_part
        nobody = np.zeros(X.shape[0], dtype=bool)
        part = part.weighted(bandwidth(kernel, X), local=True)
        if isinstance(part, KNN) and self.neighbours is not None:
            return part.with_params(n_neighbors=k).of_neighbours(self.neighbours, nobody)
        return part.build(
            X,
            self._problem.labeled if isinstance(part, Bipartite) else nobody,
            affinity=self._problem.affinity,
            n_jobs=self._template.n_threads(),
        )

    # ------------------------------------------------------------------ without features

    def _without_features(self) -> Iterator[Family]:
        if self.has_graphs:
            graphs = [k for k, _ in self._graphs()]
            C_graphs = self._C_graphs()
            for (gamma, C), k, C_graph in product(self._in_units(), graphs, C_graphs):
                yield Family(self._named(k, None, C_graph, gamma), np.array([C]))
        for gamma, C in self._in_units(without_graph=True):
            yield Family(self._named(None, None, 0.0, gamma), np.array([C]))

    def _in_units(self, *, without_graph: bool = False) -> Iterator[tuple[float | None, float]]:
        """Yield all pairs of gamma and C, with C in units of the kernel with that gamma."""
        X = self._problem.X
        for gamma in self._grid.gammas(self._kernel, X, without_graph=without_graph):
            for C in self._grid.Cs(self._mean_kernel(gamma)).tolist():
                yield gamma, C

    def _mean_kernel(self, gamma: float | None) -> float:
        """Return the mean over the labelled rows of k(x, x)."""
        kernel = self._kernel if gamma is None else self._kernel.with_gamma(gamma)
        offset = float(self._template.fit_intercept)
        f = KernelExpansion(kernel, self._problem.X, 1, offset=offset)
        return float(f.diagonal(self._labeled).mean()) or 1.0
